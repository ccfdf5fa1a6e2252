"""Every metric with ``confidence``: the value and the ends of its interval, whatever the metric's life."""

import itertools
from typing import Any

import numpy as np
import pytest
import torch
from metrics.apis import FUNCTIONS
from metrics.cases import Case, assert_same, each_metric_of_one_value
from rouge_score.rouge_scorer import RougeScorer
from systems import output, references
from torchmetrics import MetricCollection

from ngram_metrics import ChrF, NgramOverlap, ROUGEScore
from ngram_metrics import ignite as for_ignite

REFERENCES = references(150)
OUTPUT = output(REFERENCES, 0.3, seed=10)


def _filled(metric: Any) -> Any:
    metric.update(OUTPUT, REFERENCES)
    return metric


@each_metric_of_one_value
def test_each_value_stands_beside_the_ends_of_its_interval(case: Case, average: str):
    plain, value = case.value(average), case.filled(average, confidence=0.95).compute()
    named = plain if isinstance(plain, dict) else dict.fromkeys(case.make(average).scorer.values, plain)
    assert list(value) == [name + end for name in named for end in ("", "_low", "_high")]
    for name, score in named.items():
        assert_same(value[name], score)
        low, high = value[f"{name}_low"], value[f"{name}_high"]
        assert low.dtype == high.dtype == torch.float64
        assert low.shape == high.shape == ()
        assert 0 <= low <= high <= 1
    assert any(value[f"{name}_low"] < value[f"{name}_high"] for name in named)


def test_the_interval_of_a_mean_is_that_of_resampled_means_within_chance():
    """Every value of ROUGE, against plain loops over rouge_score."""
    keys = ("rouge1", "rouge2", "rougeL")
    scorer = RougeScorer(keys)
    scored = [scorer.score(target, line) for target, line in zip(REFERENCES, OUTPUT, strict=True)]
    value = _filled(ROUGEScore(rouge_keys=keys, confidence=0.9)).compute()
    drawn = np.random.default_rng(7).integers(len(scored), size=(4000, len(scored)))
    for key, part in itertools.product(keys, ("fmeasure", "precision", "recall")):
        scores = np.array([getattr(one[key], part) for one in scored])
        means = sorted(scores[drawn].mean(1))
        low, high = means[200], means[-201]
        assert value[f"{key}_{part}"].item() == pytest.approx(scores.mean(), abs=1e-12)
        assert value[f"{key}_{part}_low"].item() == pytest.approx(low, abs=0.15 * (high - low) / 2)
        assert value[f"{key}_{part}_high"].item() == pytest.approx(high, abs=0.15 * (high - low) / 2)


@each_metric_of_one_value
def test_levels_share_a_group_and_keep_their_intervals(case: Case, average: str):
    metrics = {"wide": case.make(average, confidence=0.99), "narrow": case.make(average, confidence=0.5)}
    collection = MetricCollection({**metrics, "plain": case.make(average)})
    for batch in case.batches:
        collection.update(*batch)
    assert sorted(map(sorted, collection.compute_groups.values())) == [["narrow", "wide"], ["plain"]]
    values = collection.compute()
    for name, level in (("wide", 0.99), ("narrow", 0.5)):
        for key, score in case.filled(average, confidence=level).compute().items():
            found = values[f"{name}_{key}"] if f"{name}_{key}" in values else values[key]
            assert_same(found, score)


def test_several_samples_a_sentence_are_resampled_each():
    generator = torch.Generator().manual_seed(1)
    preds, target = (
        torch.randint(1, 9, (20, 4, 6), generator=generator),
        torch.randint(1, 9, (20, 6), generator=generator),
    )
    samples, flat = NgramOverlap(pad_id=0, confidence=0.95), NgramOverlap(pad_id=0, confidence=0.95)
    samples.update(preds, target)
    flat.update(preds.flatten(0, 1), target.repeat_interleave(4, 0))
    assert_same(samples.compute(), flat.compute())


def test_the_generator_of_the_caller_is_not_touched():
    state = torch.get_rng_state()
    _filled(ChrF(confidence=0.95)).compute()
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("metric", FUNCTIONS)
def test_a_confidence_that_is_none_is_refused(metric: type):
    for module in (metric, getattr(for_ignite, metric.__name__)):
        with pytest.raises(ValueError, match=r"confidence must be between 0 and 1, such as 0\.95 \(got: 95\)"):
            module(confidence=95)
    with pytest.raises(ValueError, match="average='none' gives a score for each segment"):
        metric(average="none", confidence=0.95)


@pytest.mark.parametrize("metric", FUNCTIONS)
def test_rows_are_kept_only_where_asked_for(metric: type):
    for made in (metric(), getattr(for_ignite, metric.__name__)()):
        with pytest.raises(ValueError, match=r"keeps sums only: construct it with confidence=0\.95"):
            made.segment_rows()
    assert _filled(metric(confidence=0.95)).segment_rows().shape[0] == len(OUTPUT)
    assert _filled(metric(average="none")).segment_rows().shape[0] == len(OUTPUT)
