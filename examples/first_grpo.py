"""chrF and BLEU as rewards in TRL's GRPOTrainer: a policy learns a text from nothing but its scores.

    pip install -e . "trl>=1.16"
    python examples/first_grpo.py

The policy is a tiny GPT-2 of eight words, which is trained in about a minute on a CPU. Nothing is downloaded. Replace
the model, the tokenizer and the data with yours. The lines about rewards are marked with (1) to (3).
"""

import argparse
import json
from pathlib import Path

try:
    from datasets import Dataset
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, set_seed
    from trl import GRPOConfig, GRPOTrainer
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is not installed: pip install 'trl>=1.16', which brings the others") from error

from ngram_metrics import Bleu, ChrF
from ngram_metrics.hugging_face import Reward

WORDS = ["[PAD]", "[END]", "the", "cat", "sat", "on", "a", "mat"]


def main() -> None:
    """Train, and print the mean rewards of the first steps and of the last."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=60, help="steps of the optimizer")
    parser.add_argument("--out", default="runs/first_grpo", help="folder for the trainer's log")
    arguments = parser.parse_args()
    set_seed(0)
    words = Tokenizer(WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[END]"))
    words.pre_tokenizer = Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="[PAD]", eos_token="[END]")
    policy = GPT2LMHeadModel(GPT2Config(vocab_size=len(WORDS), n_embd=32, n_layer=1, n_head=2, n_positions=32))

    # (1) A completion is compared with the column `reference`. `reference_ids` has the same texts as ids.
    answer = "sat on a mat"
    rows = {"prompt": "the cat", "reference": answer, "reference_ids": tokenizer(answer).input_ids}
    data = Dataset.from_list([rows] * 8)

    # (2) BLEU of ids. With add-k each right id raises the reward.
    rewards = [Reward(ChrF()), Reward(Bleu(smooth="add-k"), references="reference_ids", from_ids=True)]
    trainer = GRPOTrainer(
        model=policy,
        reward_funcs=rewards,  # (3) logged as rewards/chrf/mean and rewards/bleu/mean
        args=GRPOConfig(
            output_dir=arguments.out,
            per_device_train_batch_size=32,
            num_generations=32,  # completions of a prompt, whose rewards are compared with each other
            max_completion_length=6,
            learning_rate=3e-2,
            lr_scheduler_type="constant",
            max_steps=arguments.steps,
            logging_steps=1,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            use_cpu=True,
            bf16=False,
        ),
        train_dataset=data,
        processing_class=tokenizer,
    )
    trainer.train()
    log = [step for step in trainer.state.log_history if "reward" in step]
    Path(arguments.out).mkdir(parents=True, exist_ok=True)
    (Path(arguments.out) / "log.json").write_text(json.dumps(log))
    few = max(1, len(log) // 10)
    for name in ("rewards/chrf/mean", "rewards/bleu/mean"):
        first, last = (sum(step[name] for step in steps) / few for steps in (log[:few], log[-few:]))
        print(f"{name} {first:.2f} -> {last:.2f}")


if __name__ == "__main__":
    main()
