"""The interval of a difference."""

import random
from typing import Any

import numpy as np
import pytest
from paired import OUTPUTS, REFERENCES, counted
from sacrebleu.metrics import BLEU, CHRF

from ngram_metrics import Bleu, ChrF, evaluate
from ngram_metrics._core.metrics.rouge import make_rouge
from ngram_metrics._core.scoring.paired import compare_with_baseline, pair_rows
from ngram_metrics._core.scoring.resampling import bootstrap_weights, swaps

METRICS: dict[str, Any] = {"bleu": (Bleu, BLEU), "chrf": (ChrF, CHRF)}


def _resampled_differences(peer: Any, lines: list[str], base: list[str], draws: int) -> np.ndarray:
    """The differences of resampled corpora, from the counts that sacrebleu keeps for each segment."""
    ours, theirs = (np.array(peer._extract_corpus_statistics(texts, [REFERENCES])) for texts in (lines, base))
    chance = np.random.default_rng(7)
    differences = []
    for _ in range(draws):
        drawn = chance.integers(len(ours), size=len(ours))
        scores = [peer._compute_score_from_stats(counts[drawn].sum(0).tolist()).score for counts in (ours, theirs)]
        differences.append(scores[0] - scores[1])
    return np.array(differences) / 100


@pytest.mark.parametrize("name", METRICS)
def test_intervals_of_differences_are_those_of_resampled_counts_of_sacrebleu(name: str):
    make, peer = METRICS[name]
    found = evaluate(OUTPUTS, REFERENCES, {name: make()}).results
    for system in ("alike", "close", "far"):
        result = found[system][name]
        expected = _resampled_differences(peer(), OUTPUTS[system], OUTPUTS["base"], 2000)
        spread = expected.std()
        # The standard error of an end is 0.085 deviations of 1,000 draws.
        assert result.difference_low == pytest.approx(np.quantile(expected, 0.025), abs=0.4 * spread)
        assert result.difference_high == pytest.approx(np.quantile(expected, 0.975), abs=0.4 * spread)
        assert result.difference_low < result.difference < result.difference_high
    base = found["base"][name]
    assert (base.difference_low, base.difference_high) == (None, None)


def test_equal_systems_differ_by_nothing_in_all_resamples():
    systems = {"base": OUTPUTS["base"], "far": OUTPUTS["far"], "same": list(OUTPUTS["base"])}
    found = evaluate(systems, REFERENCES, "bleu,rouge").results["same"]
    for result in found.values():
        assert (result.difference_low, result.difference_high) == (0, 0)


def test_a_difference_in_the_last_bit_is_none():
    rows = np.random.default_rng(3).random((60, 1, 3)).repeat(2, 1)
    rows[:, 1] = np.nextafter(rows[:, 0], 1)
    measure = make_rouge(rouge_keys="rouge1", accumulate="avg").measure
    (found,) = compare_with_baseline([pair_rows(measure, "macro", rows)], None, None, 0.95, 1)
    assert not found["difference_low"].any()
    assert not found["difference_high"].any()


@pytest.mark.parametrize("clusters", [None, [index // 3 for index in range(150)]], ids=["segments", "clusters"])
def test_intervals_of_differences_depend_on_no_order(clusters: Any):
    order = random.Random(3).sample(range(150), 150)
    shuffled = {name: [lines[index] for index in order] for name, lines in OUTPUTS.items()}
    labels = None if clusters is None else [clusters[index] for index in order]
    found = evaluate(OUTPUTS, REFERENCES, "bleu,rouge", clusters=clusters).results
    again = evaluate(shuffled, [REFERENCES[index] for index in order], "bleu,rouge", clusters=labels).results
    for system, values in found.items():
        for value, result in values.items():
            other = again[system][value]
            parts = [(each.score, each.difference_low, each.difference_high) for each in (result, other)]
            assert parts[0] == parts[1]


def test_without_a_level_there_is_no_interval_and_groups_have_no_p_value():
    found = evaluate(OUTPUTS, REFERENCES, "chrf", confidence=None).results["far"]["chrf"]
    assert found.difference is not None
    assert (found.difference_low, found.difference_high) == (None, None)
    groups = evaluate(OUTPUTS, REFERENCES, "chrf", groups=[index % 2 for index in range(150)]).groups
    for results in groups.values():
        result = results["far"]["chrf"]
        assert result.difference_low < result.difference < result.difference_high
        assert result.p_value is None


@pytest.mark.parametrize("draw", [swaps, bootstrap_weights])
@pytest.mark.parametrize("huge", [0, 1 << 24])
def test_sums_are_exact_whatever_the_size_of_counts(draw: Any, huge: int):
    tested = pair_rows(
        ChrF().scorer.measure,
        "micro",
        np.stack([metric.segment_rows().numpy() for metric in counted(ChrF).values()], 1),
    )
    tested.values[7, 1] += huge + 1
    weights = next(draw(150, 100, 1))
    expected = np.einsum("dc,csw->dsw", weights.astype(object), tested.values.astype(object))
    ((sums, segments),) = tested.blocks(weights)
    assert np.array_equal(sums, expected.astype(float))
    assert np.array_equal(segments[:, 0], weights.sum(1))
