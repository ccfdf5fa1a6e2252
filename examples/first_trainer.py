"""BLEU and chrF in Hugging Face's Seq2SeqTrainer: counted batch by batch, with early stopping and the best checkpoint.

    pip install -e ".[report,tensorboard]" "transformers>=4.45" "accelerate>=1.1"
    python examples/first_trainer.py
    torchrun --nproc-per-node 2 examples/first_trainer.py

A tiny T5 that reads bytes learns to repeat sentences, in about a minute on a CPU. Nothing is downloaded. Replace the
model, the tokenizer and the data with yours. The lines about metrics are marked with (1) to (6).
"""

import argparse

try:
    from transformers import (
        ByT5Tokenizer,
        DataCollatorForSeq2Seq,
        EarlyStoppingCallback,
        Seq2SeqTrainer,
        Seq2SeqTrainingArguments,
        T5Config,
        T5ForConditionalGeneration,
        set_seed,
    )
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is not installed: pip install 'transformers>=4.45' 'accelerate>=1.1'") from error

from ngram_metrics import Bleu, ChrF, evaluate
from ngram_metrics.hugging_face import ComputeMetrics

TEXTS = ["the cat sat", "the cat ran home", "the dog sat", "the dog", "the cat sat here", "the cow sat", "the cat"]
TEXTS += ["the cat sat on the mat", "a cat sat", "the cat ran", "the dog ran home"]


def main() -> None:
    """Train until chrF stops rising."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="runs/first_trainer", help="folder for the checkpoints")
    arguments = parser.parse_args()
    set_seed(0)
    tokenizer = ByT5Tokenizer()
    sizes = {"vocab_size": 384, "d_model": 32, "d_ff": 32, "d_kv": 16, "num_heads": 2, "num_layers": 1}
    model = T5ForConditionalGeneration(T5Config(**sizes, decoder_start_token_id=0, dropout_rate=0.0))
    # (1) Decodes ids, without -100. TensorBoard gets 6 samples, and the folder all outputs.
    outputs = f"{arguments.out}/outputs"
    compute_metrics = ComputeMetrics({"bleu": Bleu(), "chrf": ChrF()}, tokenizer, samples=3, outputs=outputs)
    data = [{"input_ids": tokenizer(text).input_ids, "labels": tokenizer(text).input_ids} for text in TEXTS]
    trainer = Seq2SeqTrainer(
        model=model,
        args=Seq2SeqTrainingArguments(
            output_dir=arguments.out,
            use_cpu=True,
            num_train_epochs=3,
            learning_rate=1e-2,
            predict_with_generate=True,  # (2) otherwise the predictions are logits, not generated text
            generation_max_length=40,
            batch_eval_metrics=True,  # (3) counts batch by batch, and removes the repeats of several processes
            eval_strategy="epoch",
            save_strategy="epoch",
            save_total_limit=1,
            metric_for_best_model="chrf",  # (4) logged as eval_chrf; higher is better
            greater_is_better=True,
            load_best_model_at_end=True,
            report_to="tensorboard",
        ),
        train_dataset=data * 16,
        eval_dataset=data,
        data_collator=DataCollatorForSeq2Seq(tokenizer, model),
        processing_class=tokenizer,
        compute_metrics=compute_metrics,
        callbacks=[EarlyStoppingCallback(early_stopping_patience=2)],
    )
    compute_metrics.attach(trainer)  # (5) after each evaluation
    trainer.train()
    scores = trainer.evaluate()
    if trainer.is_world_process_zero():
        print("best:", trainer.state.best_model_checkpoint)
        print({name: round(scores[name], 3) for name in ("eval_bleu", "eval_chrf")})
        evaluate(outputs).write_report(f"{arguments.out}/steps.html")  # (6) compares the evaluations


if __name__ == "__main__":
    main()
