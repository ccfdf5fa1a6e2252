"""A Trainer that scores what a model generates, and rewards as TRL asks for them; run by torchrun or alone."""

import json
import sys
from typing import Any

import torch
from accelerate import PartialState
from torch import Tensor
from torchmetrics import Metric
from transformers import (
    ByT5Tokenizer,
    DataCollatorForSeq2Seq,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    T5Config,
    T5ForConditionalGeneration,
    set_seed,
)

from ngram_metrics import ChrF
from ngram_metrics.hugging_face import ComputeMetrics, Reward


class Segments(Metric):
    """The number of segments that were given."""

    def __init__(self) -> None:
        super().__init__()
        self.add_state("count", torch.tensor(0), "sum")

    def update(self, preds: list[str], target: list[str]) -> None:
        self.count = self.count + len(preds)

    def compute(self) -> Tensor:
        return self.count


class WithoutRepeats(Seq2SeqTrainer):
    """As docs/guides/hugging_face.md shows."""

    def evaluation_loop(self, *args: Any, **options: Any) -> Any:
        self.gather_function = self.accelerator.gather_for_metrics
        return super().evaluation_loop(*args, **options)


TEXTS = [
    f"the {animal} {verb} here {number}" for number in range(3) for animal in ("cat", "dog") for verb in ("sat", "ran")
]


def main(folder: str) -> None:
    set_seed(0)
    tokenizer = ByT5Tokenizer()
    sizes = {"vocab_size": 384, "d_model": 8, "d_ff": 8, "d_kv": 4, "num_heads": 2, "num_layers": 1}
    model = T5ForConditionalGeneration(T5Config(**sizes, decoder_start_token_id=0, dropout_rate=0.0))
    texts = TEXTS[:11]  # no multiple of the processes and of the batches
    data: Any = [{"input_ids": tokenizer(text).input_ids, "labels": tokenizer(text).input_ids} for text in texts]
    found: dict[str, Any] = {}
    for at_once in (False, True):
        options: dict[str, Any] = {"predict_with_generate": True, "generation_max_length": 12, "use_cpu": True}
        options |= {"batch_eval_metrics": not at_once, "per_device_eval_batch_size": 2, "report_to": "none"}
        trainer = (WithoutRepeats if at_once else Seq2SeqTrainer)(
            model=model,
            args=Seq2SeqTrainingArguments(folder, **options),
            data_collator=DataCollatorForSeq2Seq(tokenizer, model),
            compute_metrics=ComputeMetrics({"segments": Segments(), "chrf": ChrF(confidence=0.9)}, tokenizer),
        )
        values = trainer.evaluate(data)
        found[f"at once: {at_once}"] = {
            name: value for name, value in values.items() if name.startswith(("eval_segments", "eval_chrf"))
        }
    state = PartialState()
    # Each process rewards the completions that it has generated, and TRL gathers the rewards.
    mine = list(range(len(texts)))[state.process_index :: state.num_processes]
    rewards = Reward(ChrF())(
        completions=[texts[number][2:] for number in mine],
        completion_ids=[[1]] * len(mine),
        reference=[texts[number] for number in mine],
    )
    parts: list[Any] = [None] * state.num_processes
    if state.num_processes > 1:
        torch.distributed.all_gather_object(parts, dict(zip(mine, rewards, strict=True)))
    else:
        parts = [dict(zip(mine, rewards, strict=True))]
    whole = {number: reward for part in parts for number, reward in part.items()}
    found["rewards"] = [whole[number] for number in range(len(texts))]
    if state.is_main_process:
        print(json.dumps({"processes": state.num_processes, **found}))
    state.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
