"""The code of docs/guides/hugging_face.md, run as it stands there, reports the scores of what the models wrote."""

import os
from pathlib import Path
from typing import Any

import pytest
import sacrebleu
import torch
from documentation import DOCS, blocks
from programs import OFFLINE
from ranks import on_ranks

from ngram_metrics.functional import bleu_score, ngram_overlap, rouge_score

TEXTS = ["the cat sat", "the cat ran home", "the dog sat", "the dog", "the cat sat here", "the cow sat", "the cat"]
TEXTS += ["the cat sat on the mat", "a cat sat", "the cat ran", "the dog ran home"]  # more than the 8 of one batch
NO_TOKENS = {-100, 0, 1}  # ByT5: padding, which the decoder also starts with, and end


def run_recipe(folder: Path) -> dict[str, Any]:
    """In a process of its own: what the Trainer sets up lasts as long as the process, and its imports warn."""
    os.environ.update(OFFLINE)
    from transformers import ByT5Tokenizer, T5Config, T5ForConditionalGeneration

    torch.manual_seed(0)
    tokenizer = ByT5Tokenizer()  # bytes: needs no file
    sizes = {"vocab_size": 384, "d_model": 32, "d_ff": 32, "d_kv": 16, "num_heads": 2, "num_layers": 1}
    ids = [tokenizer(text).input_ids for text in TEXTS]
    samples = [{"input_ids": row, "labels": row} for row in ids]
    names: dict[str, Any] = {
        "tokenizer": tokenizer,
        "model": T5ForConditionalGeneration(T5Config(**sizes, decoder_start_token_id=0, dropout_rate=0.0)),
        "training_data": samples * 16,
        "validation_data": samples,
        "folder": str(folder / "trainer"),
        "learning_rate": 1e-2,
    }
    # The first is a script by itself, which test_guides.py runs, and the last has examples, which doctest runs.
    _, generating, without_repeats, training, of_ids, _ = blocks(DOCS / "guides" / "hugging_face.md", "python")
    for block in (generating, without_repeats, training, of_ids):
        exec(block, names)

    trainer = names["trainer"]
    writer = names["WithoutRepeats"](
        names["model"], trainer.args, trainer.data_collator, eval_dataset=samples, processing_class=tokenizer
    )
    rows = writer.predict(samples).predictions.tolist()
    return {
        "log": trainer.state.log_history,
        "best": trainer.state.best_metric,
        "scores_of_ids": names["scores_of_ids"],
        "generated": rows,
        "texts": [tokenizer.decode([token for token in row if token >= 0], skip_special_tokens=True) for row in rows],
        "labels": ids,
        "processes": trainer.args.world_size,
        "batches": len(trainer.get_eval_dataloader()),
    }


def tokens(rows: list[list[int]]) -> list[list[int]]:
    return [[token for token in row if token not in NO_TOKENS] for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
def test_scores_are_those_of_what_the_models_wrote(processes: int, tmp_path: Path):
    pytest.importorskip("transformers", reason="its Trainer runs")
    pytest.importorskip("accelerate", reason="the Trainer needs it")
    result, *_ = on_ranks(run_recipe, tmp_path, size=processes)
    assert result["processes"] == processes
    assert result["batches"] > 1 or processes > 1
    # The best model, which is the one loaded at the end, wrote these texts: the highest of the scores that were logged.
    texts = result["texts"]
    chrf = sacrebleu.corpus_chrf(texts, [TEXTS]).score / 100
    assert chrf > 0.1
    logged = [entry for entry in result["log"] if "eval_chrf" in entry]
    assert 1 <= len(logged) <= 3
    best = max(logged, key=lambda entry: entry["eval_chrf"])
    assert best["eval_chrf"] == result["best"] == pytest.approx(chrf, abs=1e-6)
    assert best["eval_bleu"] == pytest.approx(sacrebleu.corpus_bleu(texts, [TEXTS]).score / 100, abs=1e-6)
    for name, value in rouge_score(texts, TEXTS, rouge_keys=("rouge1", "rougeL")).items():
        assert best[f"eval_rouge_{name}"] == pytest.approx(value.item(), abs=1e-6)

    scores = result["scores_of_ids"]
    sides = (tokens(result["generated"]), tokens(result["labels"]))
    bleu = bleu_score(*sides, average="micro", smooth="exp").item()
    assert bleu > 0
    assert scores["eval_bleu"] == pytest.approx(bleu, abs=1e-6)
    assert scores["eval_overlap"] == pytest.approx(ngram_overlap(*sides, ngram=2).item(), abs=1e-6)
    rouge = rouge_score(*sides, rouge_keys="rougeL")["rougeL_fmeasure"].item()
    assert scores["eval_rouge_rougeL_fmeasure"] == pytest.approx(rouge, abs=1e-6)
