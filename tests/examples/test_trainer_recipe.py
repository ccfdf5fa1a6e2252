"""The code of docs/guides/hugging_face.md, run as it stands there, reports the scores of what the models wrote."""

import importlib.util
import json
from pathlib import Path

import pytest
import sacrebleu
from programs import ROOT, SUPPORT, TORCHRUN, start

from ngram_metrics.functional import bleu_score, ngram_overlap, rouge_score

NO_TOKENS = {-100, 0, 1}  # ByT5: padding, which the decoder also starts with, and end

if importlib.util.find_spec("transformers") is None or importlib.util.find_spec("accelerate") is None:
    pytest.skip("the Trainer needs transformers and accelerate", allow_module_level=True)


def recipe(folder: Path, launch: tuple[str, ...] = ()) -> dict:
    start(
        SUPPORT / "trainer_recipe.py",
        ROOT / "docs" / "guides" / "hugging_face.md",
        folder,
        launch=launch,
        folder=folder,
    )
    return json.loads((folder / "result.json").read_text())


def tokens(rows: list[list[int]]) -> list[list[int]]:
    return [[token for token in row if token not in NO_TOKENS] for row in rows]


def check(result: dict) -> None:
    texts, references = result["texts"], result["references"]
    assert len(texts) == len(references)
    # The best model, which is the one loaded at the end, wrote these texts: the highest of the scores that were logged.
    chrf = sacrebleu.corpus_chrf(texts, [references]).score / 100
    assert chrf > 0.1
    logged = [entry for entry in result["log"] if "eval_chrf" in entry]
    assert 1 <= len(logged) <= 3
    best = max(logged, key=lambda entry: entry["eval_chrf"])
    assert best["eval_chrf"] == result["best"] == pytest.approx(chrf, abs=1e-6)
    assert best["eval_bleu"] == pytest.approx(sacrebleu.corpus_bleu(texts, [references]).score / 100, abs=1e-6)
    rouge = rouge_score(texts, references, rouge_keys=("rouge1", "rougeL"))
    assert {name: best[f"eval_rouge_{name}"] for name in rouge} == pytest.approx(
        {name: value.item() for name, value in rouge.items()}, abs=1e-6
    )

    check_ids(result["scores_of_ids"], tokens(result["generated"]), tokens(result["labels"]))


def check_ids(scores: dict[str, float], written: list[list[int]], references: list[list[int]]) -> None:
    bleu = bleu_score(written, references, average="micro", smooth="exp").item()
    assert bleu > 0
    assert scores["eval_bleu"] == pytest.approx(bleu, abs=1e-6)
    assert scores["eval_overlap"] == pytest.approx(ngram_overlap(written, references, ngram=2).item(), abs=1e-6)
    rouge = rouge_score(written, references, rouge_keys="rougeL")["rougeL_fmeasure"].item()
    assert scores["eval_rouge_rougeL_fmeasure"] == pytest.approx(rouge, abs=1e-6)


@pytest.mark.programs
def test_scores_are_those_of_what_the_models_wrote(tmp_path: Path):
    result = recipe(tmp_path)
    assert result["batches"] > 1
    check(result)


@pytest.mark.slow
def test_two_processes_report_each_sentence_once(tmp_path: Path):
    result = recipe(tmp_path, TORCHRUN)
    assert result["processes"] == 2
    check(result)
