"""Levels of ranks, rows of other devices, and the settings that a metric shows."""

import pytest
import torch

from ngram_metrics import Bleu, ChrF, ROUGEScore


@pytest.mark.parametrize(
    "options", [{"average": "none"}, {"confidence": 0.9}, {"average": "none", "compute_on_cpu": True}]
)
def test_rows_of_another_device_go_to_where_the_own_ones_are(options, monkeypatch):
    """The meta device stands for another one. It has no data, so the settings cannot be compared there."""
    ids = torch.tensor([[1, 2, 3]])
    metric, other = (ChrF(device=device, pad_id=0, **options) for device in ("meta", "cpu"))
    other.update(ids, ids)
    monkeypatch.setattr(metric, "_check_settings", lambda settings: None)
    metric.merge_state(other)
    assert [rows.device.type for rows in metric.rows] == ["cpu" if "compute_on_cpu" in options else "meta"]
    assert metric.row.device.type == "meta"


@pytest.mark.parametrize(
    ("metric", "shown"),
    [
        (Bleu(), "Bleu()"),
        (Bleu(smooth="exp", average="micro", tokenizer="13a"), "Bleu(smooth='exp', average='micro', tokenizer='13a')"),
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
