r"""Google-BLEU, GLEU (Wu et al. 2016, section 4.3), the same numbers as nltk's ``gleu_score``.

Definition. The n-grams of the orders 1 to N are counted together. Let c be the matches, h the n-grams of the hypothesis
and r those of the reference. Then

.. math:: \text{GLEU} = \min(c / h, c / r) = \frac{c}{\max(h, r)}

Conventions. Scores are from 0 to 1; 0 / 0 is 0. If a segment has several references, the one with the highest score is
used, the first on ties, and a corpus (micro) sums the counts of these, as nltk's ``corpus_gleu`` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ngram_metrics._core.basics.lazy import torch
from ngram_metrics._core.basics.option_checks import Average
from ngram_metrics._core.counting.documents import float_dtype
from ngram_metrics._core.counting.matches import ngram_totals
from ngram_metrics._core.counting.python_matches import Tokens, list_totals, match_each
from ngram_metrics._core.scoring.measure import Layout, OrderMeasure, PairCounts
from ngram_metrics._core.scoring.references import PairMeasure
from ngram_metrics._core.scoring.scorer import MetricRow, Scorer
from ngram_metrics._core.text.input_types import Tokenizer
from ngram_metrics._core.text.word_reader import WordReader

if TYPE_CHECKING:
    from torch import Tensor


class GleuStatistics(NamedTuple):
    """The counts of all orders together: matches, and n-grams of the side that has more, each ``(...,)`` int64."""

    matches: Tensor
    ngrams: Tensor


@dataclass(frozen=True)
class GleuMeasure(OrderMeasure[GleuStatistics], PairMeasure[GleuStatistics]):
    """GLEU up to the order ``ngram``."""

    ngram: int = 4

    layout = Layout(GleuStatistics, (None, None))

    @property
    def pair_orders(self) -> tuple[int, ...]:
        return (self.ngram,)

    def pair_statistics(self, *counts: PairCounts) -> GleuStatistics:
        ((matches, *lengths),) = counts
        hypothesis, reference = (ngram_totals(side, self.ngram).sum(-1) for side in lengths)
        return GleuStatistics(matches.sum(-1), torch.maximum(hypothesis, reference))

    def count_in_python(self, hypothesis: Tokens, references: Sequence[Tokens]) -> tuple[int, int]:
        has = sum(list_totals(len(hypothesis), self.ngram))
        rows = [
            (sum(matches), max(has, sum(list_totals(len(reference), self.ngram))))
            for matches, reference in zip(match_each(hypothesis, references, self.ngram), references, strict=True)
        ]
        return rows[0] if len(rows) == 1 else max(rows, key=lambda row: self.score_in_python(row) if row[1] else -1.0)

    def score(self, statistics: GleuStatistics) -> Tensor:
        dtype = float_dtype(statistics.matches.device)
        return statistics.matches.to(dtype) / statistics.ngrams.clamp(min=1).to(dtype)

    def score_in_python(self, counts: tuple[int, int]) -> float:
        matched, ngrams = counts
        return matched / max(1, ngrams)

    def selection_score(self, statistics: GleuStatistics) -> Tensor:
        """Return the score, or -0.5 if neither side has an n-gram: nltk leaves such a reference out."""
        return torch.where(statistics.ngrams > 0, self.score(statistics), -0.5)


def make_gleu(
    ngram: int = 4,
    average: Average = "micro",
    tokenizer: Tokenizer | None = None,
    pad_id: int | Sequence[int] | None = None,
) -> Scorer:
    """Return Google-BLEU with the options of ``ngram_metrics.Gleu``."""
    return Scorer(WordReader(tokenizer, pad_id=pad_id), GleuMeasure(ngram), average, {"gleu": ()})


ROWS = (MetricRow("GLEU", make_gleu, {"tokenizer": "tokenizer"}, pair_names=("gleu",)),)
