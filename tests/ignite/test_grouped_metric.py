"""The metric of groups in an ignite engine."""

from typing import Any

import pytest

import ngram_metrics

pytest.importorskip("ignite", reason="the classes for ignite are tested")

from ignite.engine import Engine
from ignite.exceptions import NotComputableError

from ngram_metrics.ignite import Bleu, ChrF, GroupedMetric, ROUGEScore

PREDS = ["das alte Haus steht leer", "la maison est vide", "das Haus ist leer"]
TARGET = ["das alte Haus ist leer", "la maison est belle", "das Haus war leer"]
GROUPS = ["de", "fr", "de"]


def expected(metric: Any) -> dict[str, float]:
    grouped = ngram_metrics.GroupedMetric(metric, ["de", "fr"])
    grouped.update(PREDS, TARGET, GROUPS)
    return {name: value.item() for name, value in grouped.compute().items()}


def test_an_engine_reports_each_group_beside_other_metrics():
    evaluator = Engine(lambda engine, batch: dict(zip(("y_pred", "y", "groups"), batch, strict=True)))
    GroupedMetric(ChrF(), ["de", "fr"]).attach(evaluator, "quality")
    GroupedMetric(ROUGEScore(rouge_keys="rougeL")["rougeL_fmeasure"], ["de", "fr"]).attach(evaluator, "rouge")
    Bleu(average="micro", smooth="exp", tokenizer="13a").attach(evaluator, "bleu")
    values = evaluator.run([(PREDS[:2], TARGET[:2], GROUPS[:2]), (PREDS[2:], TARGET[2:], GROUPS[2:])]).metrics
    chrf = expected(ngram_metrics.ChrF())
    rouge = expected(ngram_metrics.ROUGEScore()["rougeL_fmeasure"])
    for suffix in ("de", "fr", "mean", "all"):
        assert values[f"quality_{suffix}"] == pytest.approx(chrf[f"chrf_{suffix}"], abs=1e-12)
        assert values[f"rouge_{suffix}"] == pytest.approx(rouge[f"rougeL_fmeasure_{suffix}"], abs=1e-12)
    assert values["quality"] == {name: values[name.replace("chrf", "quality")] for name in chrf}
    assert 0 < values["bleu"] < 1


def test_a_metric_takes_a_tuple_or_a_dict_and_one_value_can_be_taken():
    metric = GroupedMetric(ngram_metrics.ChrF(), ["de", "fr"])
    mean = metric["chrf_mean"]
    with pytest.raises(NotComputableError, match="GroupedMetric must have at least one example"):
        metric.compute()
    metric.update((PREDS, TARGET, GROUPS))
    assert metric.compute() == pytest.approx(expected(ngram_metrics.ChrF()), abs=1e-12)
    assert mean.compute() == metric.compute()["chrf_mean"]
    metric.update({"y_pred": PREDS, "y": TARGET, "groups": GROUPS})
    assert metric.compute() == pytest.approx(expected(ngram_metrics.ChrF()), abs=1e-12)
    for wrong in ((PREDS, TARGET), {"y_pred": PREDS, "y": TARGET}):
        with pytest.raises(TypeError, match=r"expected metric\.update\(\(y_pred, y, groups\)\)"):
            metric.update(wrong)
    assert repr(metric) == "ngram_metrics.ignite.GroupedMetric(ChrF(), ['de', 'fr'])"
