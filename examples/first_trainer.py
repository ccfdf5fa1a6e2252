"""BLEU and chrF in Hugging Face's Seq2SeqTrainer: counted batch by batch, with early stopping and the best checkpoint.

    pip install -e . "transformers>=4.45" "accelerate>=1.1"
    python examples/first_trainer.py
    torchrun --nproc-per-node 2 examples/first_trainer.py

A tiny T5 that reads bytes learns to repeat sentences, in about a minute on a CPU; nothing is downloaded. Put your
model, tokenizer and data in their places; what concerns the metrics is marked with (1) to (5).
"""

import argparse

import torch
from torchmetrics import MetricCollection
from transformers import (
    ByT5Tokenizer,
    DataCollatorForSeq2Seq,
    EarlyStoppingCallback,
    EvalPrediction,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    T5Config,
    T5ForConditionalGeneration,
    set_seed,
)

from ngram_metrics import Bleu, ChrF

TEXTS = ["the cat sat", "the cat ran home", "the dog sat", "the dog", "the cat sat here", "the cow sat", "the cat"]
TEXTS += ["the cat sat on the mat", "a cat sat", "the cat ran", "the dog ran home"]


class TextScores:
    """A `compute_metrics` that counts batch after batch, so that no predictions are kept."""

    def __init__(self, tokenizer: ByT5Tokenizer) -> None:
        self.tokenizer = tokenizer
        # (1) The Trainer hands every process the batches of all: the metrics must not add them up again.
        self.metrics = MetricCollection(
            {
                "bleu": Bleu(average="micro", smooth="exp", tokenizer="13a", sync_on_compute=False),
                "chrf": ChrF(sync_on_compute=False),
            }
        )

    def __call__(self, prediction: EvalPrediction, compute_result: bool = True) -> dict[str, float]:
        """Count a batch; after the last one, return the scores of all."""
        self.metrics.update(self.decode(prediction.predictions), self.decode(prediction.label_ids))
        if not compute_result:
            return {}
        values = {name: value.item() for name, value in self.metrics.compute().items()}
        self.metrics.reset()
        return values

    def decode(self, ids: torch.Tensor) -> list[str]:
        """Return the texts. (2) Labels are masked with -100, which a tokenizer does not know."""
        ids = torch.as_tensor(ids)
        return self.tokenizer.batch_decode(
            ids.where(ids >= 0, self.tokenizer.pad_token_id).tolist(), skip_special_tokens=True
        )


def main() -> None:
    """Train until chrF stops rising."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="runs/first_trainer", help="folder for the checkpoints")
    arguments = parser.parse_args()
    set_seed(0)
    tokenizer = ByT5Tokenizer()
    sizes = {"vocab_size": 384, "d_model": 32, "d_ff": 32, "d_kv": 16, "num_heads": 2, "num_layers": 1}
    model = T5ForConditionalGeneration(T5Config(**sizes, decoder_start_token_id=0, dropout_rate=0.0))
    data = [{"input_ids": tokenizer(text).input_ids, "labels": tokenizer(text).input_ids} for text in TEXTS]
    trainer = Seq2SeqTrainer(
        model=model,
        args=Seq2SeqTrainingArguments(
            output_dir=arguments.out,
            use_cpu=True,
            num_train_epochs=3,
            learning_rate=1e-2,
            predict_with_generate=True,  # (3) generated text, not the likeliest token after each true one
            generation_max_length=40,
            batch_eval_metrics=True,  # (4) calls compute_metrics after each batch
            eval_strategy="epoch",
            save_strategy="epoch",
            save_total_limit=1,
            metric_for_best_model="chrf",  # (5) logged as eval_chrf; higher is better
            greater_is_better=True,
            load_best_model_at_end=True,
            report_to="none",
        ),
        train_dataset=data * 16,
        eval_dataset=data,
        data_collator=DataCollatorForSeq2Seq(tokenizer, model),
        processing_class=tokenizer,
        compute_metrics=TextScores(tokenizer),
        callbacks=[EarlyStoppingCallback(early_stopping_patience=2)],
    )
    trainer.train()
    scores = trainer.evaluate()
    if trainer.is_world_process_zero():
        print("best:", trainer.state.best_model_checkpoint)
        print({name: round(scores[name], 3) for name in ("eval_bleu", "eval_chrf")})


if __name__ == "__main__":
    main()
