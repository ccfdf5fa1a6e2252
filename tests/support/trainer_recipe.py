"""Run the code of docs/guides/hugging_face.md on tiny models, and write what it reported as JSON.

A process of its own: what the Trainer sets up lasts as long as the process, and its imports warn.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

import torch
from transformers import ByT5Tokenizer, T5Config, T5ForConditionalGeneration

TEXTS = ["the cat sat", "the cat ran home", "the dog sat", "the dog", "the cat sat here", "the cow sat", "the cat"]
TEXTS += ["the cat sat on the mat", "a cat sat", "the cat ran", "the dog ran home"]  # more than the 8 of one batch
BLOCKS = 3


def samples(tokenizer: Any) -> list[dict[str, list[int]]]:
    return [{"input_ids": tokenizer(text).input_ids, "labels": tokenizer(text).input_ids} for text in TEXTS]


def main(page: Path, folder: Path) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    tokenizer = ByT5Tokenizer()  # bytes: needs no file
    sizes = {"vocab_size": 384, "d_model": 32, "d_ff": 32, "d_kv": 16, "num_heads": 2, "num_layers": 1}
    model = T5ForConditionalGeneration(T5Config(**sizes, decoder_start_token_id=0, dropout_rate=0.0))
    names: dict[str, Any] = {
        "tokenizer": tokenizer,
        "model": model,
        "training_data": samples(tokenizer) * 16,
        "validation_data": samples(tokenizer),
        "folder": str(folder / "trainer"),
        "learning_rate": 1e-2,
    }
    # The first is a script by itself, which test_guides.py runs.
    _, *blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) == BLOCKS
    for block in blocks:
        exec(compile(block, str(page), "exec"), names)

    trainer = names["trainer"]
    without_repeats = names["WithoutRepeats"](
        model, trainer.args, trainer.data_collator, eval_dataset=names["validation_data"], processing_class=tokenizer
    )
    generated = without_repeats.predict(names["validation_data"])
    rows = generated.predictions.tolist()
    result = {
        "log": trainer.state.log_history,
        "best": trainer.state.best_metric,
        "scores_of_ids": names["scores_of_ids"],
        "generated": rows,
        "texts": [tokenizer.decode([token for token in row if token >= 0], skip_special_tokens=True) for row in rows],
        "labels": [row["labels"] for row in samples(tokenizer)],
        "references": TEXTS,
        "processes": trainer.args.world_size,
        "batches": len(trainer.get_eval_dataloader()),
    }
    if trainer.is_world_process_zero():
        (folder / "result.json").write_text(json.dumps(result))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
