"""BLEU and chrF of what a causal model generates, in Hugging Face's Trainer or TRL's SFTTrainer.

    pip install -e ".[tensorboard]" "trl>=1.16"
    python examples/first_causal.py
    torchrun --nproc-per-node 2 examples/first_causal.py --sft

A tiny GPT-2 that reads bytes learns answers by heart, in less than a minute on a CPU. Nothing is downloaded. Replace
the model, the tokenizer and the data with yours. The lines about metrics are marked with (1) to (5).
"""

import argparse

try:
    import transformers
    import trl
    from datasets import Dataset
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is not installed: pip install 'trl>=1.16', which brings the others") from error

from ngram_metrics import Bleu, ChrF
from ngram_metrics.hugging_face import ComputeMetrics, Generates

ANIMALS = {"cat": "meow", "brown dog": "woof woof", "cow": "moo", "duck": "quack", "old owl": "hoo hoo", "bee": "buzz"}
ANIMALS |= {"lion": "roar", "grey mouse": "squeak", "horse": "neigh", "sheep": "baa", "little frog": "ribbit"}


class GeneratingTrainer(Generates, transformers.Trainer):  # (1) its predictions are what the model writes
    """Trainer."""


class GeneratingSFTTrainer(Generates, trl.SFTTrainer):
    """TRL's."""


def make_trainer(folder: str, metrics: dict, is_sft: bool) -> transformers.Trainer:
    """Return a trainer of either class, for the same data."""
    transformers.set_seed(0)
    tokenizer = transformers.ByT5Tokenizer()
    sizes = {"vocab_size": 384, "n_embd": 64, "n_layer": 2, "n_head": 2, "n_positions": 128}
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes, bos_token_id=None, eos_token_id=1))
    rows = [{"prompt": f"the {name} says: ", "completion": f"{sound}, {sound}"} for name, sound in ANIMALS.items()]
    options = {
        "output_dir": folder,
        "use_cpu": True,
        "report_to": "tensorboard",
        "learning_rate": 3e-3,
        "num_train_epochs": 4,
    }
    options |= {"eval_strategy": "epoch", "save_strategy": "epoch", "save_total_limit": 1, "bf16": False}
    options |= {"metric_for_best_model": "chrf", "greater_is_better": True, "load_best_model_at_end": True}  # (4)
    options |= {"batch_eval_metrics": True, "per_device_eval_batch_size": 2}  # (3) counts batch by batch
    # TensorBoard gets 6 samples; a folder gets all outputs, which ngram_metrics.evaluate compares.
    scores = ComputeMetrics(metrics, tokenizer, samples=3, outputs=f"{folder}/outputs")
    shared = {"model": model, "processing_class": tokenizer, "compute_metrics": scores}
    if is_sft:  # its collator sets the labels of a prompt to -100
        data = {"train_dataset": Dataset.from_list(rows * 16), "eval_dataset": Dataset.from_list(rows)}
        trainer = GeneratingSFTTrainer(args=trl.SFTConfig(**options), **data, **shared)
    else:
        data = []
        for row in rows:
            prompt, answer = (tokenizer(text, add_special_tokens=False).input_ids for text in row.values())
            data.append({"input_ids": [*prompt, *answer, 1], "labels": [-100] * len(prompt) + [*answer, 1]})
        shared |= {"args": transformers.TrainingArguments(**options), "train_dataset": data * 16, "eval_dataset": data}
        trainer = GeneratingTrainer(data_collator=transformers.DataCollatorForSeq2Seq(tokenizer), **shared)
    trainer.generation_kwargs = {"max_new_tokens": 40}  # (2) arguments of model.generate; decoding is greedy
    scores.attach(trainer)  # (5) after each evaluation
    return trainer


def main() -> None:
    """Train, and keep the checkpoint with the highest chrF."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sft", action="store_true", help="with TRL's SFTTrainer")
    parser.add_argument("--out", default="runs/first_causal", help="folder for the checkpoints")
    arguments = parser.parse_args()
    trainer = make_trainer(arguments.out, {"bleu": Bleu(), "chrf": ChrF()}, arguments.sft)
    trainer.train()
    scores = trainer.evaluate()
    if trainer.is_world_process_zero():
        print("best:", trainer.state.best_model_checkpoint)
        print({name: round(scores[name], 3) for name in ("eval_bleu", "eval_chrf")})


if __name__ == "__main__":
    main()
