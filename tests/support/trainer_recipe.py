"""Run the code of docs/guides/hugging_face.md on tiny models, and write what it reported as JSON.

A process of its own: what the Trainer sets up lasts as long as the process, and its imports warn.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

import torch
from transformers import ByT5Tokenizer, GPT2Config, GPT2LMHeadModel, T5Config, T5ForConditionalGeneration

TEXTS = ["the cat sat", "the cat ran home", "the dog sat", "the dog", "the cat sat here", "the cow sat", "the cat"]
TEXTS += ["the cat sat on the mat", "a cat sat", "the cat ran", "the dog ran home"]  # more than the 8 of one batch
BLOCKS = 4


def samples(tokenizer: Any) -> list[dict[str, list[int]]]:
    return [{"input_ids": tokenizer(text).input_ids, "labels": tokenizer(text).input_ids} for text in TEXTS]


def causal_samples(tokenizer: Any) -> list[dict[str, list[int]]]:
    """Rows of one length: a prompt of two ids, which no label asks for, and the text, padded."""
    rows = [tokenizer(text).input_ids for text in TEXTS]
    width = max(map(len, rows))
    padding = [[0] * (width - len(row)) for row in rows]
    return [
        {"input_ids": [50, 51, *row, *rest], "labels": [-100, -100, *row, *(-100 for _ in rest)]}
        for row, rest in zip(rows, padding, strict=True)
    ]


def main(page: Path, folder: Path) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    tokenizer = ByT5Tokenizer()  # bytes: needs no file
    sizes = {"vocab_size": 384, "d_model": 32, "d_ff": 32, "d_kv": 16, "num_heads": 2, "num_layers": 1}
    model = T5ForConditionalGeneration(T5Config(**sizes, decoder_start_token_id=0, dropout_rate=0.0))
    causal_model = GPT2LMHeadModel(GPT2Config(vocab_size=384, n_embd=16, n_layer=1, n_head=2, n_positions=64))
    names: dict[str, Any] = {
        "tokenizer": tokenizer,
        "model": model,
        "causal_model": causal_model,
        "training_data": samples(tokenizer) * 16,
        "validation_data": samples(tokenizer),
        "causal_data": causal_samples(tokenizer),
        "folder": str(folder / "trainer"),
        "learning_rate": 1e-2,
    }
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) == BLOCKS
    for block in blocks:
        exec(compile(block, str(page), "exec"), names)

    trainer = names["trainer"]
    without_repeats = names["WithoutRepeats"](
        model, trainer.args, trainer.data_collator, eval_dataset=names["validation_data"], processing_class=tokenizer
    )
    generated = without_repeats.predict(names["validation_data"])
    rows = generated.predictions.tolist()
    with torch.no_grad():
        logits = causal_model.eval()(torch.tensor([row["input_ids"] for row in names["causal_data"]])).logits
    result = {
        "log": trainer.state.log_history,
        "best": trainer.state.best_metric,
        "scores_of_ids": names["scores_of_ids"],
        "causal_scores": names["causal_scores"],
        "generated": rows,
        "texts": [tokenizer.decode([token for token in row if token >= 0], skip_special_tokens=True) for row in rows],
        "labels": [row["labels"] for row in samples(tokenizer)],
        "causal_generated": logits.argmax(-1).tolist(),
        "causal_labels": [row["labels"] for row in names["causal_data"]],
        "references": TEXTS,
        "processes": trainer.args.world_size,
        "batches": len(trainer.get_eval_dataloader()),
    }
    if trainer.is_world_process_zero():
        (folder / "result.json").write_text(json.dumps(result))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
