"""The classes: their options by name, the settings that they show, and what is refused at once."""

from typing import Any

import numpy as np
import pytest
import torch
from torchmetrics import MetricCollection

from ngram_metrics import Bleu, ChrF, ROUGEScore
from ngram_metrics.hugging_face import Reward

pytest.importorskip("ignite", reason="the classes for ignite are tested")

from ngram_metrics import ignite
from ngram_metrics.ignite import drop_in


@pytest.mark.parametrize(
    ("metric", "shown"),
    [
        (Bleu(), "Bleu()"),
        (Bleu(average="none"), "Bleu(average='none')"),
        (Bleu(smooth="none", effective_order=False), "Bleu(smooth='none')"),
        (Bleu(average="macro", effective_order=False), "Bleu(average='macro', effective_order=False)"),
        (Bleu(smooth="smooth2"), "Bleu(smooth='add-k', smooth_value=1.0)"),
        (Bleu(tokenizer=None, pad_id=0), "Bleu(tokenizer='none', pad_id=(0,))"),
        (ignite.Bleu(tokenizer="zh"), "ngram_metrics.ignite.Bleu(tokenizer='zh')"),
        (drop_in.Bleu(), "ngram_metrics.ignite.drop_in.Bleu()"),
        (
            drop_in.Bleu(smooth="exp", tokenizer="13a"),
            "ngram_metrics.ignite.drop_in.Bleu(smooth='exp', tokenizer='13a')",
        ),
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


@pytest.mark.parametrize(("average", "means"), [("micro", False), ("macro", True), ("none", True)])
def test_an_effective_order_of_none_is_the_setting_that_it_means(average: Any, means: bool):
    default, same, other = (Bleu(average=average, effective_order=order) for order in (None, means, not means))
    assert default.settings.equal(same.settings)
    assert default.signature == same.signature
    assert not default.settings.equal(other.settings)
    assert default.signature != other.signature
    same.update(["a b"], ["a b c"])
    same.persistent(True)
    default.load_state_dict(same.state_dict())
    assert default.compute().equal(same.compute())
