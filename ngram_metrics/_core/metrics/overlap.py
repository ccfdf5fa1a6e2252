r"""N-gram overlap: the Dice coefficient of two multisets of n-grams.

Definition. Let c be the matches of one order: each n-gram counts as often as it occurs in both sides. Let h be the
n-grams of the hypothesis and r those of the reference. Then

.. math:: \text{overlap} = \frac{2 c}{h + r}

Conventions. Scores are from 0 to 1. If neither side has an n-gram of the order, the score is 0. If a segment has
several references, the one with the highest score is used, the first on ties.

Differences from torch-ngram, whose ``get_score`` this replaces:

1. For order 1 it counts every pair of equal tokens, so repeated tokens count many times, and limits the result to 1.
2. For longer orders it compares n-grams by the cosine of their ids in floating point. So (1, 2) and (2, 4) are equal,
   and equal n-grams may be missed. An n-gram of the hypothesis counts whenever it occurs in the reference, however
   often it was counted before. Here ids are compared exactly and counts are clipped.
3. If the order is longer than a text, it uses the text's length as the order; here such a text has no n-grams and
   scores 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from ngram_metrics._core.basics.arrays import Array, divide
from ngram_metrics._core.basics.option_checks import Average, checked_order
from ngram_metrics._core.scoring.measure import Layout, MatchStatistics, PairCounts, PairMeasure
from ngram_metrics._core.scoring.scorer import MetricEntry, Scorer
from ngram_metrics._core.text.input_types import Tokenizer
from ngram_metrics._core.text.reader import WordReader


@dataclass(frozen=True)
class OverlapMeasure(PairMeasure[MatchStatistics]):
    """N-gram overlap of the order ``ngram``, 1 to 1,000."""

    ngram: int = 1

    layout = Layout(MatchStatistics, (None, None, None))

    def __post_init__(self) -> None:
        object.__setattr__(self, "ngram", checked_order(self.ngram))

    def settings(self) -> dict[str, object]:
        return {"ngram": self.ngram}

    @property
    def pair_orders(self) -> tuple[int, ...]:
        return (self.ngram,)

    def pair_statistics(self, counts: Sequence[PairCounts]) -> MatchStatistics:
        (words,) = counts
        hypothesis_totals, reference_totals = words.totals()
        return MatchStatistics(words.matches[..., -1], hypothesis_totals[..., -1], reference_totals[..., -1])

    def score(self, statistics: MatchStatistics) -> Array:
        return divide(2 * statistics.matches, statistics.hypothesis_totals + statistics.reference_totals)


class OverlapOptions(TypedDict, total=False):
    """The types of the options of ``make_overlap``, which has their defaults."""

    ngram: int
    average: Average
    tokenizer: Tokenizer | None
    pad_id: int | Sequence[int] | None


def make_overlap(
    *,
    ngram: int = 1,
    average: Average = "macro",
    tokenizer: Tokenizer | None = None,
    pad_id: int | Sequence[int] | None = None,
) -> Scorer:
    """Return n-gram overlap with the options of ``ngram_metrics.NgramOverlap``."""
    reader = WordReader(tokenizer, pad_id=pad_id, samples=True)
    return Scorer(reader, OverlapMeasure(ngram), average, {"ngram_overlap": ()})


ENTRIES = (MetricEntry("overlap", make_overlap, {"tokenizer": "tokenizer"}),)
