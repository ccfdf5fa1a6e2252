r"""N-gram overlap: the Dice coefficient of two multisets of n-grams.

Definition. With c the matches of one order, each n-gram counted as often as it stands in both sides, h the n-grams of
the hypothesis and r those of the reference,

.. math:: \text{overlap} = \frac{2 c}{h + r}

Conventions. Scores lie in 0..1. Where neither side has an n-gram of the order the score is 0. Of several references a
sentence takes the one with the highest score, the first on ties.

Differences from torch-ngram, whose ``get_score`` this replaces:

1. Order 1 there counts every pair of equal tokens, so that repeats are counted many times, and caps the result at 1.
2. Longer orders there compare n-grams by the cosine of their ids in floating point, which takes (1, 2) and (2, 4) for
   equal and may miss equal ones; an n-gram of the hypothesis counts whenever it stands anywhere in the reference,
   however often it was counted before. Here ids are compared exactly and counts are clipped.
3. An order longer than a text is cut down to the text's length there; here such a text has no n-grams and scores 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from ngram_metrics.counting.matches import ngram_totals
from ngram_metrics.scores.measure import PairCounts, score_dtype
from ngram_metrics.scores.pair_measure import OrderMeasure
from ngram_metrics.scores.rows import Layout


class OverlapStatistics(NamedTuple):
    """The counts of one order.

    Attributes:
        matches: ``(...,)`` int64, clipped n-gram matches.
        hypothesis_totals: ``(...,)`` int64, n-grams of the hypothesis.
        reference_totals: ``(...,)`` int64, n-grams of the reference.
    """

    matches: Tensor
    hypothesis_totals: Tensor
    reference_totals: Tensor


@dataclass(frozen=True)
class OverlapMeasure(OrderMeasure[OverlapStatistics]):
    """N-gram overlap of the one order ``ngram``."""

    ngram: int = 1

    @property
    def layout(self) -> Layout[OverlapStatistics]:
        """The width of each field in a row."""
        return Layout(OverlapStatistics, (None, None, None))

    def score(self, statistics: OverlapStatistics) -> Tensor:
        """Return the overlap, in 0..1, for statistics of any leading shape."""
        dtype = score_dtype(statistics.matches.device)
        both = statistics.hypothesis_totals + statistics.reference_totals
        return 2 * statistics.matches.to(dtype) / both.clamp(min=1).to(dtype)

    def pair_statistics(self, *counts: PairCounts) -> OverlapStatistics:
        """Return the statistics of pairs."""
        ((matches, *lengths),) = counts
        return OverlapStatistics(matches[..., -1], *(ngram_totals(side, self.ngram)[..., -1] for side in lengths))
