"""Counts stay exact past 2^31 and 2^53, and means of millions of scores past any rounding that shows.

2^24 is where float32 begins to lose ones, 2^31 is where int32 ends, 2^53 where float64 begins to lose ones. No test can
count so far, so states are set just below each bound, as a checkpoint or another rank would bring them, and go on.
"""

import math
from fractions import Fraction
from typing import Any

import oracles
import pytest
import torch
from layouts import array_batch, tensor_batch
from metrics.cases import Case, each_case, each_metric, states_of
from torch import Tensor

from ngram_metrics import Bleu, NgramOverlap

BOUNDS = (2**24, 2**31, 2**53)


def near(metric: Any, bound: int) -> dict[str, Tensor]:
    """States as of a metric that has counted to 3 below the bound, in every count and in the sentences."""
    states = {name: state for name, state in states_of(metric).items() if name != "callables"}
    for name in ("row", "segments"):
        if states[name].dtype == torch.int64:
            states[name] = torch.full_like(states[name], bound - 3)
    return states


@each_metric
def test_no_count_is_lost_at_a_bound(case: Case, average: str):
    """Where a float32, an int32 or a float64 would lose some: in updates, and in a merge of either into the other."""
    once = case.filled(average, [case.whole])
    counts, sentences = once.row.tolist(), int(once.segments)
    for bound in BOUNDS:
        metric = case.make(average)
        metric.load_states(near(once, bound))
        for _ in range(3):
            metric.update(*case.whole)
        small, large = case.make(average), case.make(average)
        large.load_states(near(once, bound))
        for merged, other in ((case.make(average), large), (large, once), (small, large)):
            merged.merge_state(other)
        for total, times in ((metric, 3), (large, 1), (small, 1)):
            if total.row.dtype == torch.int64:  # some rows hold scores
                assert total.row.tolist() == [bound - 3 + times * count for count in counts]
            assert int(total.segments) == bound - 3 + times * sentences
            assert (total.row.dtype, total.segments.dtype) == (once.row.dtype, torch.int64)


@each_case
def test_the_corpus_score_of_huge_counts_is_that_of_their_ratios(case: Case):
    """Counts a thousand billion times as large, in the same proportions, give the same score."""
    if "micro" not in case.averages:
        return
    options = {"confidence": None, **({"smooth": "no_smooth"} if case.metric is Bleu else {})}
    expected = case.make("micro", **options)
    expected.update(*case.whole)
    for bound in BOUNDS:
        metric = case.make("micro", **options)
        states = expected.saved_states()
        for name in ("row", "segments"):
            states[name] = states[name] * max(1, bound // max(expected.row.tolist()))
        metric.load_states(states)
        torch.testing.assert_close(metric.compute(), expected.compute(), rtol=1e-12, atol=0)


def test_a_score_past_2_to_the_53_is_that_of_exact_fractions():
    """One match in three, of counts that a float64 still holds and of counts that it rounds."""
    for scale in (2**40, 2**53 + 1, 3 * 2**59 + 7):
        metric = NgramOverlap(average="micro")
        metric.update(["a"], ["a"])
        states = metric.saved_states()
        states["row"] = torch.tensor([scale // 3, scale, scale - 2])
        states["segments"] = torch.tensor(scale)
        metric.load_states(states)
        expected = Fraction(2 * (scale // 3), 2 * scale - 2)
        assert metric.compute().item() == pytest.approx(float(expected), rel=1e-15)


def test_a_document_has_more_matches_than_2_to_the_16():
    long, longer = [1] * (2**17 + 3), [1] * (2**17 + 12)
    segments = [(long, [longer]), (longer, [long]), (longer, [[1], long])]
    for batch in (array_batch(segments[:2]), array_batch(segments), tensor_batch(segments)):
        rows = batch.count_matches(2).tolist()
        assert rows == [[len(long), len(long) - 1]] * len(rows)


@pytest.mark.parametrize(
    "sentences", [pytest.param(200_000, id="2*10^5"), pytest.param(10**7, id="10^7", marks=pytest.mark.slow)]
)
def test_the_mean_of_many_sentences_is_that_of_an_exact_sum(sentences: int):
    generator = torch.Generator().manual_seed(0)
    sides = torch.randint(1, 7, (2, 48, 6), generator=generator)  # 48 pairs of 6 ids without padding
    scores = [oracles.overlap(*oracles.overlap_counts(*pair, 1)) for pair in zip(*sides.tolist(), strict=True)]
    assert len(set(scores)) > 3
    metric, seen = NgramOverlap(pad_id=0), torch.zeros(48, dtype=torch.int64)
    for _ in range(20):
        # Uneven shares of the pairs, and another order in each batch.
        chosen = (torch.rand(sentences // 20, generator=generator) ** 2 * 48).long()
        metric.update(*sides[:, chosen])
        seen += chosen.bincount(minlength=48)
    assert int(seen.sum()) == int(metric.segments) == sentences
    # The exact sum, rounded once, of as many floats as there are sentences.
    exact = math.fsum(score for score, times in zip(scores, seen.tolist(), strict=True) for _ in range(times))
    assert abs(metric.compute().item() - exact / sentences) < 1e-9
