"""Levels of ranks, rows of other devices, and the settings that a metric shows."""

import numpy as np
import pytest
import torch
from torchmetrics import MetricCollection

from ngram_metrics import Bleu, ChrF, ROUGEScore, ignite
from ngram_metrics.hugging_face import Reward


@pytest.mark.parametrize(
    "options", [{"average": "none"}, {"confidence": 0.9}, {"average": "none", "compute_on_cpu": True}]
)
def test_rows_of_another_device_go_to_where_the_own_ones_are(options, monkeypatch):
    """The meta device stands for another one. It has no data, so the settings cannot be compared there."""
    ids = torch.tensor([[1, 2, 3]])
    metric, other = (ChrF(device=device, pad_id=0, **options) for device in ("meta", "cpu"))
    other.update(ids, ids)
    monkeypatch.setattr(metric, "_check_settings", lambda settings, described: None)
    metric.merge_state(other)
    assert [rows.device.type for rows in metric.rows] == ["cpu" if "compute_on_cpu" in options else "meta"]
    assert metric.row.device.type == "meta"


@pytest.mark.parametrize(
    ("metric", "shown"),
    [
        (Bleu(), "Bleu()"),
        (Bleu(average="none"), "Bleu(average='none')"),
        (Bleu(smooth="none", effective_order=False), "Bleu(smooth='none', effective_order=False)"),
        (ignite.Bleu(smooth="exp", tokenizer="13a"), "ngram_metrics.ignite.Bleu(smooth='exp', tokenizer='13a')"),
        (Bleu(2, weights=[1, 2], device="cpu"), "Bleu(ngram=2, weights=(1.0, 2.0))"),
        (ChrF(word_order=2, pad_id=[0, 1], confidence=0.9), "ChrF(word_order=2, pad_id=(0, 1), confidence=0.9)"),
        (
            ROUGEScore(rouge_keys="rougeL", normalizer=str.lower),
            "ROUGEScore(normalizer=str.lower, rouge_keys=('rougeL',))",
        ),
        (ROUGEScore(accumulate="avg"), "ROUGEScore(accumulate='avg')"),
    ],
)
def test_a_metric_shows_the_settings_that_differ(metric, shown):
    assert repr(metric) == shown


class OfOurs(Bleu):
    """With parameters of its own."""

    def __init__(self, *names: str, depth: int = 2, **options: object) -> None:
        super().__init__(ngram=depth)


def test_a_subclass_with_parameters_of_its_own_is_shown():
    assert repr(torch.nn.ModuleList([OfOurs("a", depth=3)])) == "ModuleList(\n  (0): OfOurs()\n)"


def test_chrf_with_two_word_orders_is_called_chrf_plus_plus():
    named = {order: list(ChrF(word_order=order).scorer.values) for order in (0, 1, 2, 3)}
    assert named == {0: ["chrf"], 1: ["chrf"], 2: ["chrf++"], 3: ["chrf"]}
    metric = ChrF(word_order=np.int64(2), confidence=0.9)
    metric.update(["a b"], ["a c"])
    assert list(metric.compute()) == ["chrf++", "chrf++_low", "chrf++_high"]
    assert Reward(ChrF(word_order=2)).__name__ == "chrf++"
    beside = MetricCollection({"one": ChrF(confidence=0.9), "two": ChrF(word_order=2, confidence=0.9)})
    beside.update(["a b"], ["a c"])
    assert list(beside.compute()) == [f"{name}{end}" for name in ("chrf", "chrf++") for end in ("", "_low", "_high")]
