r"""Repetition and distinct-n: how much a text repeats itself, and how varied its n-grams are.

Definition. Let t be the n-grams of one order of a text, and d the distinct ones among them. Then

.. math:: \text{repetition} = 1 - \frac{d}{t} \qquad \text{distinct} = \frac{d}{t}

Repetition is seq-rep-n of Welleck et al. 2020, "Neural Text Generation with Unlikelihood Training". The reward
``get_repetition_penalty_reward`` of open-r1, for TRL, is this number of the lowercased text times its ``max_penalty``.
Distinct-n is that of Li et al. 2016, "A Diversity-Promoting Objective Function for Neural Conversation Models".

Conventions. Scores are from 0 to 1. A lower repetition is better. A text that is shorter than the order has no n-gram:
its repetition is 0, because it repeats nothing, and its distinct-n is 0. Micro repetition divides the sums of d and t
over the texts, so a repetition between two texts does not count. Distinct-n of a corpus (micro) counts an n-gram once,
in however many texts it occurs; macro leaves out texts without an n-gram. N-grams never cross the border of two texts.

Differences from other packages:

1. ``diversity`` 0.3.1 joins all texts before it counts n-grams, so it counts n-grams that no text has; and its
   ``ngram_diversity_score`` is the sum of distinct-1 to distinct-4, in 0..4.
2. Distinct-n depends on the length: the more n-grams, the larger the share that occurred before. Compare only texts, or
   samples of them, of similar length and number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from ngram_metrics.counting.corpus import corpus_ngrams
from ngram_metrics.counting.distinct import distinct_ngrams
from ngram_metrics.counting.documents import Batch, RaggedTokens
from ngram_metrics.counting.matches import ngram_totals
from ngram_metrics.counting.plain_matches import Tokens
from ngram_metrics.scores import plain
from ngram_metrics.scores.measure import Layout, Measure, score_dtype
from ngram_metrics.scores.options import Average, checked_order


class RepetitionStatistics(NamedTuple):
    """The n-grams of one order.

    Attributes:
        distinct: ``(...,)`` int64, distinct n-grams, each counted once in each text.
        totals: ``(...,)`` int64, all n-grams.
    """

    distinct: Tensor
    totals: Tensor


@dataclass(frozen=True)
class RepetitionMeasure(Measure[RepetitionStatistics]):
    """Repetition of the order ``ngram``, 1 to 1,000.

    Raises:
        TypeError: an order that is not an integer.
        ValueError: an order out of its range.
    """

    ngram: int = 4

    higher_is_better = False
    has_references = False
    plain_limit, plain_tokens = 6000, 1200

    def __post_init__(self) -> None:
        """Check the setting."""
        object.__setattr__(self, "ngram", checked_order(self.ngram))

    @property
    def layout(self) -> Layout[RepetitionStatistics]:
        """The width of each field in a row."""
        return Layout(RepetitionStatistics, (None, None))

    def statistics(self, batch: Batch) -> RepetitionStatistics:
        """Count distinct and all n-grams: one row per text."""
        texts = batch.sides.hypotheses
        totals = ngram_totals(texts.lengths, self.ngram)[..., -1].to(texts.ids.device)
        return RepetitionStatistics(distinct_ngrams(texts, self.ngram), totals)

    def plain(self, hypothesis: Tokens, references: Sequence[Tokens]) -> tuple[int, int]:
        """Count one text in plain Python."""
        return plain.repetition_counts(hypothesis, self.ngram)

    def plain_score(self, *fields: int) -> float:
        """Score one text in plain Python."""
        distinct, total = fields
        return (total - distinct) / max(1, total)

    def score(self, statistics: RepetitionStatistics) -> Tensor:
        """Return the repetition, from 0 to 1, for statistics of any leading shape."""
        dtype = score_dtype(statistics.totals.device)
        repeated = statistics.totals - statistics.distinct
        return repeated.to(dtype) / statistics.totals.clamp(min=1).to(dtype)

    def signature(self) -> dict[str, str]:
        """Return the setting."""
        return {"order": str(self.ngram)}


def distinct_in_corpus(texts: RaggedTokens, orders: Sequence[int]) -> RepetitionStatistics:
    """Count for each order the distinct n-grams of all texts together, and all n-grams, ``(orders,)``.

    This waits for the device.
    """
    distinct = [ngrams.ngrams for ngrams in corpus_ngrams(texts, max(orders))]
    totals = ngram_totals(texts.lengths, max(orders)).sum(0)
    places = [order - 1 for order in orders]
    counts = torch.tensor(distinct, dtype=torch.int64, device="cpu")
    return RepetitionStatistics(*(field[places].to(texts.ids.device) for field in (counts, totals)))


def distinct_score(statistics: RepetitionStatistics, average: Average) -> Tensor:
    """Return distinct-n, from 0 to 1: for ``"macro"`` the mean of the rows that have n-grams, else of each row."""
    dtype = score_dtype(statistics.totals.device)
    scores = statistics.distinct.to(dtype) / statistics.totals.clamp(min=1).to(dtype)
    if average != "macro":
        return scores
    return scores.sum() / (statistics.totals > 0).sum().clamp(min=1)
