"""Train a tiny model with TRL's GRPOTrainer and rewards of the package, and write the trainer's log as JSON.

A process of its own: what the trainer sets up lasts as long as the process, and its imports warn.
"""

import json
import sys
from pathlib import Path

from ngram_metrics import Bleu, ChrF
from ngram_metrics.hugging_face import Reward

WORDS = ["[PAD]", "[END]", *["the", "cat", "sat", "on", "a", "mat"]]


def main(folder: Path) -> None:
    # Here, because pytest imports every file of the tests, also where TRL is not installed.
    from datasets import Dataset
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
    from trl import GRPOConfig, GRPOTrainer

    words = Tokenizer(WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[END]"))
    words.pre_tokenizer = Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="[PAD]", eos_token="[END]")
    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(WORDS), n_embd=16, n_layer=1, n_head=2, n_positions=32))
    data = Dataset.from_dict(
        {"prompt": ["the cat"] * 4, "reference": ["sat on a mat"] * 4, "wanted": [[4, 5, 6, 7]] * 4}
    )
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=[Reward(ChrF()), Reward(Bleu(smooth="add-k"), references="wanted", from_ids=True)],
        args=GRPOConfig(
            output_dir=str(folder),
            per_device_train_batch_size=4,
            num_generations=4,
            max_completion_length=6,
            max_steps=2,
            logging_steps=1,
            report_to="none",
            use_cpu=True,
            bf16=False,
        ),
        train_dataset=data,
        processing_class=tokenizer,
    )
    trainer.train()
    (folder / "log.json").write_text(json.dumps(trainer.state.log_history))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
