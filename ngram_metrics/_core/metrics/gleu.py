r"""Google-BLEU, GLEU (Wu et al. 2016, section 4.3), the same numbers as nltk's ``gleu_score``.

Definition. The n-grams of the orders 1 to N are counted together. Let c be the matches, h the n-grams of the hypothesis
and r those of the reference. Then

.. math:: \text{GLEU} = \min(c / h, c / r) = \frac{c}{\max(h, r)}

Conventions. Scores are from 0 to 1; 0 / 0 is 0. If a segment has several references, the one with the highest score is
used, the first on ties, and a corpus (micro) sums the counts of these, as nltk's ``corpus_gleu`` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ngram_metrics._core.basics.lazy import torch
from ngram_metrics._core.counting.documents import float_dtype
from ngram_metrics._core.counting.matches import ngram_totals
from ngram_metrics._core.scoring.measure import Layout, PairCounts
from ngram_metrics._core.scoring.python_measures import PythonGleu
from ngram_metrics._core.scoring.references import OrderMeasure

if TYPE_CHECKING:
    from torch import Tensor


class GleuStatistics(NamedTuple):
    """The counts of all orders together: matches, and n-grams of the side that has more, each ``(...,)`` int64."""

    matches: Tensor
    ngrams: Tensor


class GleuMeasure(PythonGleu, OrderMeasure[GleuStatistics]):
    """GLEU up to the order ``ngram``."""

    layout = Layout(GleuStatistics, (None, None))

    def score(self, statistics: GleuStatistics) -> Tensor:
        dtype = float_dtype(statistics.matches.device)
        return statistics.matches.to(dtype) / statistics.ngrams.clamp(min=1).to(dtype)

    def selection_score(self, statistics: GleuStatistics) -> Tensor:
        """Return the score, or -0.5 if neither side has an n-gram: nltk leaves such a reference out."""
        return torch.where(statistics.ngrams > 0, self.score(statistics), -0.5)

    def pair_statistics(self, *counts: PairCounts) -> GleuStatistics:
        ((matches, *lengths),) = counts
        hypothesis, reference = (ngram_totals(side, self.ngram).sum(-1) for side in lengths)
        return GleuStatistics(matches.sum(-1), torch.maximum(hypothesis, reference))
