"""What ``examples/first_causal.py`` trains, how many segments each evaluation counts, and what the model writes.

Run by torchrun or alone. The texts are generated one by one, so without padding.
"""

import json
import runpy
import sys
from typing import Any

import torch
from accelerate import PartialState
from programs import EXAMPLES
from trainer_program import Segments

from ngram_metrics import ChrF


def main(folder: str, is_sft: bool) -> None:
    example = runpy.run_path(str(EXAMPLES / "first_causal.py"))
    trainer = example["make_trainer"](folder, {"segments": Segments(), "chrf": ChrF()}, is_sft)
    trainer.train()
    values = trainer.evaluate()
    tokenizer, texts = trainer.processing_class, []
    for name in example["ANIMALS"]:
        prompt = torch.tensor([tokenizer(f"the {name} says: ", add_special_tokens=False).input_ids])
        ids = trainer.model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=40, do_sample=False)
        texts.append(tokenizer.decode(ids[0, prompt.shape[1] :], skip_special_tokens=True))
    state = PartialState()
    if state.is_main_process:
        result: dict[str, Any] = {"processes": state.num_processes, "values": values, "texts": texts}
        result["best"] = trainer.state.best_metric
        result["log"] = [entry for entry in trainer.state.log_history if "eval_chrf" in entry]
        result["references"] = [f"{sound}, {sound}" for sound in example["ANIMALS"].values()]
        print(json.dumps(result))
    state.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] == "sft")
