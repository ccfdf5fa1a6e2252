r"""N-gram overlap: the Dice coefficient of two multisets of n-grams.

Definition. Let c be the matches of one order, where each n-gram counts as often as it occurs in both sides, h the
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
from typing import TYPE_CHECKING

from ngram_metrics._core.basics.option_checks import Average, checked_order
from ngram_metrics._core.counting.documents import float_dtype
from ngram_metrics._core.counting.matches import count_ngrams
from ngram_metrics._core.counting.python_matches import Tokens, match_each
from ngram_metrics._core.scoring.measure import Layout, MatchStatistics, PairCounts, limit_of
from ngram_metrics._core.scoring.references import PairMeasure
from ngram_metrics._core.scoring.scorer import MetricRow, Scorer
from ngram_metrics._core.text.input_types import Tokenizer
from ngram_metrics._core.text.word_reader import WordReader

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class OverlapMeasure(PairMeasure[MatchStatistics]):
    """N-gram overlap of the order ``ngram``, 1 to 1,000."""

    ngram: int = 1

    layout = Layout(MatchStatistics, (None, None, None))

    def __post_init__(self) -> None:
        object.__setattr__(self, "ngram", checked_order(self.ngram))

    def signature(self) -> dict[str, str]:
        return {"order": str(self.ngram)}

    def python_limit(self, tokenizer: object) -> int:
        return limit_of(tokenizer, self.ngram)

    @property
    def pair_orders(self) -> tuple[int, ...]:
        return (self.ngram,)

    def pair_statistics(self, *counts: PairCounts) -> MatchStatistics:
        ((matches, *lengths),) = counts
        return MatchStatistics(matches[..., -1], *(count_ngrams(side, self.ngram) for side in lengths))

    def count_in_python(self, hypothesis: Tokens, references: Sequence[Tokens]) -> tuple[int, int, int]:
        has = max(0, len(hypothesis) - self.ngram + 1)
        rows = [
            (matches[-1], has, max(0, len(reference) - self.ngram + 1))
            for matches, reference in zip(match_each(hypothesis, references, self.ngram), references, strict=True)
        ]
        return rows[0] if len(rows) == 1 else max(rows, key=self.score_in_python)

    def score(self, statistics: MatchStatistics) -> Tensor:
        dtype = float_dtype(statistics.matches.device)
        both = statistics.hypothesis_totals + statistics.reference_totals
        return 2 * statistics.matches.to(dtype) / both.clamp(min=1).to(dtype)

    def score_in_python(self, counts: tuple[int, int, int]) -> float:
        matched, has, wants = counts
        return 2 * matched / (has + wants or 1)


def make_overlap(
    ngram: int = 1,
    average: Average = "macro",
    tokenizer: Tokenizer | None = None,
    pad_id: int | Sequence[int] | None = None,
) -> Scorer:
    """Return n-gram overlap with the options of ``ngram_metrics.NgramOverlap``."""
    reader = WordReader(tokenizer, pad_id=pad_id, samples=True)
    return Scorer(reader, OverlapMeasure(ngram), average, {"ngram_overlap": ()})


ROWS = (MetricRow("overlap", make_overlap, {"tokenizer": "tokenizer"}),)
