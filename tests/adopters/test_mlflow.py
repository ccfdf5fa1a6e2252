"""MLflow's ``eval_fn``: the rows and the mean of ``mlflow.metrics.bleu()``, and the BLEU of the corpus."""

import sys
from dataclasses import dataclass
from statistics import fmean
from types import ModuleType
from typing import Any

import pytest
from documentation import run_recipe
from sacrebleu.metrics import BLEU
from systems import output, references

pytest.importorskip("pandas", reason="its columns are passed")

import pandas

#: The last is shorter than an order of n-grams.
REFERENCES = [*references(31), "It rained."]
WRITTEN = [*output(REFERENCES[:-1], 0.2, seed=1), "It rained."]


@dataclass
class MetricValue:
    """What an ``eval_fn`` returns: three of the fields of mlflow/metrics/base.py of MLflow 3.17.2."""

    scores: list[float] | None = None
    justifications: list[str] | None = None
    aggregate_results: dict[str, float] | None = None


@pytest.fixture
def eval_fn(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The recipe, with stand-ins for what it imports: MLflow brings 20 packages of web servers and clouds."""
    module = ModuleType("mlflow.metrics")
    vars(module).update(MetricValue=MetricValue, make_metric=dict)
    monkeypatch.setitem(sys.modules, "mlflow", ModuleType("mlflow"))
    monkeypatch.setitem(sys.modules, "mlflow.metrics", module)
    return run_recipe("MLflow")["eval_fn"]


def test_rows_and_mean_are_those_of_its_own_bleu(eval_fn: Any):
    """``_bleu_eval_fn`` of mlflow/metrics/metric_definitions.py of MLflow 3.17.2 takes the unsmoothed BLEU of each row.

    Its words are those of sacrebleu's 13a, as in the file metrics/bleu/tokenizer_13a.py of evaluate 0.4.
    """
    value = eval_fn(pandas.Series(WRITTEN), pandas.Series(REFERENCES), {})
    unsmoothed = BLEU(smooth_method="none")
    rows = [
        unsmoothed.corpus_score([text], [[reference]]).score / 100
        for text, reference in zip(WRITTEN, REFERENCES, strict=True)
    ]
    assert 0 < sum(score == 0 for score in rows) < len(rows)
    corpus = BLEU().corpus_score(WRITTEN, [REFERENCES]).score / 100
    assert value.scores == pytest.approx(rows, rel=1e-12)
    assert value.aggregate_results == pytest.approx({"mean": fmean(rows), "corpus": corpus}, rel=1e-12)
