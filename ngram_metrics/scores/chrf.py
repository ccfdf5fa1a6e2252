r"""chrF and chrF++ (Popović 2015, 2017), number for number as sacrebleu.

Definition. For the character n-grams of the orders ``1..char_order`` and, in chrF++, the word n-grams of the orders
``1..word_order``, let P and R be matches by n-grams of the hypothesis and of the reference. By default both are
averaged over the orders in which both sides have n-grams, and

.. math:: \text{chrF} = \frac{(1 + \beta^2) P R}{\beta^2 P + R}

With ``eps_smoothing`` that F is taken for each order, and averaged over all orders, an order without n-grams counting
1e-16: what chrF++.py, Moses, nltk and torchmetrics do.

Conventions. Scores lie in 0..1; sacrebleu, fastchrf and nltk's documentation give 0..100. An n-gram order that the
reference lacks counts no n-grams of the hypothesis either. Of several references a sentence takes the one with the
highest score, the first on ties, and a corpus sums the counts of those. An empty hypothesis scores 0.

Differences from the peers:

1. torchmetrics' ``CHRFScore`` has ``n_word_order=2`` and eps smoothing; ``word_order=2, eps_smoothing=True`` gives its
   score, except where it is wrong: it leaves out the reference n-grams of a sentence without any match, keeps the
   hypothesis' n-grams of orders that the reference lacks, and takes only the blank for whitespace.
2. nltk has ``beta=3`` by default, one reference, and takes the mean of sentences for a corpus: ``beta=3.0,
   eps_smoothing=True, average="macro"``.
3. fastchrf has no word n-grams and no lowercasing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ngram_metrics.counting.matches import ngram_totals, pair_matches
from ngram_metrics.counting.token_batch import DocumentGroups, PaddedReferences, PaddedTokens, RaggedTokens
from ngram_metrics.scores.references import Pairs, best_pair, pair_up
from ngram_metrics.scores.statistics import score_dtype

#: What an order without n-grams counts for under eps smoothing.
_EPSILON = 1e-16


class ChrfStatistics(NamedTuple):
    """The counts chrF is made of, the orders of characters before those of words.

    Attributes:
        matches: ``(..., orders)`` int64, clipped n-gram matches.
        hypothesis_totals: ``(..., orders)`` int64, n-grams of the hypotheses, for orders that the reference has.
        reference_totals: ``(..., orders)`` int64, n-grams of the references.
    """

    matches: Any
    hypothesis_totals: Any
    reference_totals: Any


@dataclass(frozen=True)
class ChrfMetric:
    """chrF under fixed settings.

    Attributes:
        char_order: the longest order of characters, at least 0.
        word_order: the longest order of words, at least 0; 2 is chrF++.
        beta: how much recall weighs against precision, at least 0.
        eps_smoothing: see the module.

    Raises:
        ValueError: a setting out of its range, or no order at all.
    """

    char_order: int = 6
    word_order: int = 0
    beta: float = 2.0
    eps_smoothing: bool = False

    def __post_init__(self) -> None:
        """Check the settings."""
        for name, order in (("char_order", self.char_order), ("word_order", self.word_order)):
            if isinstance(order, bool) or not isinstance(order, int) or order < 0:
                raise ValueError(f"{name} must be an integer of at least 0 (got: {order})")
        if self.char_order + self.word_order == 0:
            raise ValueError("char_order and word_order are both 0: expected at least one order")
        if not 0 <= self.beta < math.inf:
            raise ValueError(f"beta must be at least 0 and finite (got: {self.beta})")

    @property
    def layout(self) -> ChrfStatistics:
        """The width of each field in a row."""
        return ChrfStatistics(*[self.char_order + self.word_order] * 3)

    @property
    def row_dtype(self) -> torch.dtype:
        """The dtype of a row."""
        return torch.int64

    @property
    def score_shape(self) -> tuple[int, ...]:
        """The shape of one score."""
        return ()

    def statistics(
        self,
        hypotheses: RaggedTokens | PaddedTokens,
        references: DocumentGroups | PaddedReferences,
        hypothesis_words: RaggedTokens | None = None,
        reference_words: DocumentGroups | None = None,
    ) -> ChrfStatistics:
        """Count characters and words, and keep the best reference; one row a sentence."""
        pairs = pair_up(hypotheses, references)
        counts = [_count(pairs, self.char_order)]
        if self.word_order:
            assert hypothesis_words is not None
            assert reference_words is not None
            counts.append(_count(pair_up(hypothesis_words, reference_words), self.word_order))
        statistics = ChrfStatistics(*(torch.cat(field, -1) for field in zip(*counts, strict=True)))
        if pairs.sentence is None:
            return statistics
        # Compared in sacrebleu's 0..100 and its order of operations: its references tie where ours do, to the last bit.
        best = best_pair(self._scaled_score(statistics, 100), pairs)
        return ChrfStatistics(*(field[best] for field in statistics))

    def score(self, statistics: ChrfStatistics) -> Tensor:
        """Return chrF, in 0..1, for statistics of any leading shape."""
        return self._scaled_score(statistics, 1)

    def _scaled_score(self, statistics: ChrfStatistics, scale: int) -> Tensor:
        dtype = score_dtype(statistics.matches.device)
        matches, hypothesis, reference = (field.to(dtype) for field in statistics)
        factor = self.beta**2
        precision, recall = matches / hypothesis.clamp(min=1), matches / reference.clamp(min=1)
        if self.eps_smoothing:
            precision = torch.where(hypothesis > 0, precision, _EPSILON)
            recall = torch.where(reference > 0, recall, _EPSILON)
            fscores = _fscore(precision, recall, factor, _EPSILON)
            return scale * _sum_of_orders(fscores) / fscores.shape[-1]
        both = ((hypothesis > 0) & (reference > 0)).to(dtype)
        orders = both.sum(-1).clamp(min=1)
        precision, recall = _sum_of_orders(precision * both) / orders, _sum_of_orders(recall * both) / orders
        return scale * _fscore(precision, recall, factor, 0.0)

    def parts(self, statistics: ChrfStatistics) -> dict[str, Tensor]:
        """Return the counts, each ``(..., orders)``."""
        return dict(statistics._asdict())


def _count(pairs: Pairs, max_order: int) -> ChrfStatistics:
    device = pairs.hypotheses.ids.device
    hypothesis, reference = (
        ngram_totals(side.lengths.to(device), max_order) for side in (pairs.hypotheses, pairs.references)
    )
    if max_order == 0:
        return ChrfStatistics(hypothesis, hypothesis, reference)
    matches = pair_matches(pairs.hypotheses, pairs.references, max_order)
    return ChrfStatistics(matches, hypothesis * (reference > 0), reference)


def _fscore(precision: Tensor, recall: Tensor, factor: float, undefined: float) -> Tensor:
    weighed = factor * precision + recall
    return torch.where(weighed > 0, (1 + factor) * precision * recall / torch.where(weighed > 0, weighed, 1), undefined)


def _sum_of_orders(values: Tensor) -> Tensor:
    """Sum over the orders one after the other, as sacrebleu does."""
    total = values[..., 0]
    for order in range(1, values.shape[-1]):
        total = total + values[..., order]
    return total
