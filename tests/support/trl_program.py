"""TRL's GRPOTrainer with two rewards, and what it asked them; run by torchrun or alone, it downloads nothing."""

import json
import sys
from pathlib import Path
from typing import Any

from accelerate import PartialState
from datasets import Dataset
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, set_seed
from trl import GRPOConfig, GRPOTrainer

from ngram_metrics import Bleu, ChrF
from ngram_metrics.hugging_face import Reward

WORDS = ["[PAD]", "[END]", "the", "cat", "sat", "on", "a", "mat"]
REFERENCES = ["sat on a mat", "sat on the cat", "on a cat", "a mat sat on the cat"]


class Recorded(Reward):
    """A reward that notes the completions it is asked for."""

    def __call__(self, completions: Any = (), completion_ids: Any = (), **columns: Any) -> list[float | None]:
        rewards = super().__call__(completions, completion_ids, **columns)
        self.calls.append([list(completions), list(map(list, completion_ids)), list(columns["reference"])])
        return rewards


def main(folder: Path) -> None:
    set_seed(0)
    words = Tokenizer(WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[END]"))
    words.pre_tokenizer = Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="[PAD]", eos_token="[END]")
    policy = GPT2LMHeadModel(GPT2Config(vocab_size=len(WORDS), n_embd=16, n_layer=1, n_head=2, n_positions=32))
    rows = [{"prompt": "the cat", "reference": text, "reference_ids": tokenizer(text).input_ids} for text in REFERENCES]
    rewards = [Recorded(ChrF()), Recorded(Bleu(smooth="add-k"), references="reference_ids", from_ids=True)]
    for reward in rewards:
        reward.calls = []
    trainer = GRPOTrainer(
        model=policy,
        reward_funcs=rewards,
        args=GRPOConfig(
            output_dir=str(folder),
            per_device_train_batch_size=4,
            num_generations=4,
            max_completion_length=6,
            max_steps=2,
            logging_steps=1,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            use_cpu=True,
            bf16=False,
        ),
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
    )
    trainer.train()
    state = PartialState()
    result = {
        "processes": state.num_processes,
        "log": [step for step in trainer.state.log_history if "reward" in step],
        "calls": [reward.calls for reward in rewards],
    }
    (folder / f"{state.process_index}.json").write_text(json.dumps(result))
    state.wait_for_everyone()
    state.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
