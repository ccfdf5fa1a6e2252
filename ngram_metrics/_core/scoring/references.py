"""Several references per segment: every hypothesis is paired with each reference, and the pairs become one row.

For padded batches nothing here depends on their data, only on their shapes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from ngram_metrics._core.basics.lazy import torch
from ngram_metrics._core.counting.documents import (
    Batch,
    DocumentGroups,
    PaddedPairs,
    PaddedSides,
    PaddedTokens,
    RaggedPairs,
    RaggedSides,
    owners,
)
from ngram_metrics._core.counting.matches import count_matches
from ngram_metrics._core.scoring.measure import Measure, PairCounts, Statistics

if TYPE_CHECKING:
    from torch import Tensor


class Pairs(NamedTuple):
    """Pairs of a hypothesis and a reference, segment after segment.

    Attributes:
        documents: the hypotheses, each repeated for each of its references, and the references: ``pairs`` of each.
        segment: ``(pairs,)`` int64, the segment of each pair; None if each segment has one pair.
        present: ``(pairs,)`` bool, whether the reference exists; None if all exist.
        segments: the number of segments.
        references: the references of each segment; None if all segments have the same number of pairs.
    """

    documents: RaggedPairs | PaddedPairs
    segment: Tensor | None
    present: Tensor | None
    segments: int
    references: DocumentGroups | None = None


def pair_up(sides: RaggedSides | PaddedSides) -> Pairs:
    """Pair each hypothesis with each of its references."""
    if (pairs := sides.only_pairs) is not None:
        return Pairs(pairs, None, None, len(sides.hypotheses.lengths))
    if isinstance(sides, PaddedSides):
        ids, lengths = sides.references.tokens
        segments, count, width = ids.shape
        # -1 instead of the size is ambiguous if the width is 0.
        flat = PaddedTokens(ids.reshape(segments * count, width), lengths.reshape(-1))  # (pairs, width), (pairs,)
        repeated = PaddedTokens(
            *(side.repeat_interleave(count, 0, output_size=segments * count) for side in sides.hypotheses)
        )
        segment = torch.arange(segments * count, device=ids.device).div(count, rounding_mode="floor")
        assert sides.references.present is not None
        return Pairs(PaddedPairs(repeated, flat), segment, sides.references.present.reshape(-1), segments)
    segment = owners(sides.references.counts)
    documents = RaggedPairs(sides.hypotheses.take(segment), sides.references.tokens)
    return Pairs(documents, segment, None, sides.hypotheses.documents, sides.references)


def count_pairs(pairs: Pairs, max_order: int) -> PairCounts:
    """Count the n-gram matches of each pair for the orders up to ``max_order``, which may be 0."""
    lengths = [side.lengths for side in pairs.documents]
    if max_order == 0:
        return PairCounts(lengths[0].new_zeros(len(lengths[0]), 0), *lengths)
    return PairCounts(count_matches(pairs.documents, max_order), *lengths)


def best_pair(score: Tensor, pairs: Pairs) -> Tensor:
    """Return the index of the pair with the highest score of each segment, the first on ties: ``(segments, ...)``.

    The scores ``(pairs, ...)`` are finite.
    """
    column = (-1, *[1] * (score.dim() - 1))
    first = torch.arange(pairs.segments, device=score.device).reshape(column)
    if pairs.references is None:
        count = len(score) // pairs.segments if pairs.segments else 1
        if pairs.present is not None:
            # A missing reference is never chosen: each segment has at least one reference.
            score = score.masked_fill(~pairs.present.reshape(column), -math.inf)
        return score.unflatten(0, (pairs.segments, count)).argmax(1) + first * count
    assert pairs.segment is not None
    pair_index = torch.arange(len(score), device=score.device).reshape(column).expand_as(score)
    segment = pairs.segment.reshape(column).expand_as(score)
    shape = (pairs.segments, *score.shape[1:])
    highest = score.new_full(shape, -math.inf).scatter_reduce(0, segment, score, "amax")
    candidate = torch.where(score == highest.gather(0, segment), pair_index, len(score))
    return pair_index.new_full(shape, len(score)).scatter_reduce(0, segment, candidate, "amin")


def best_statistics(statistics: Statistics, score: Tensor, pairs: Pairs) -> Statistics:
    """Keep for each segment the statistics of the reference with the highest score, the first on ties.

    Scores ``(pairs, keys)`` choose a reference for each key.
    """
    if pairs.segment is None:
        return statistics
    best = best_pair(score, pairs)
    take = (lambda field: field.gather(0, best)) if best.dim() > 1 else (lambda field: field[best])
    return type(statistics)(*map(take, statistics))


def sum_over_references(values: Tensor, pairs: Pairs) -> Tensor:
    """Sum ``(pairs, ...)`` over the references that exist: ``(segments, ...)``.

    Each step adds at most one reference to a segment, because floating-point sums depend on the order of additions,
    which a single ``index_add`` does not fix on a GPU.
    """
    if pairs.segment is None:
        return values
    sums = values.new_zeros((pairs.segments, *values.shape[1:]))
    if pairs.references is None:
        assert pairs.present is not None
        values = values * pairs.present.reshape(-1, *[1] * (values.dim() - 1))
        rows_by_segment = values.unflatten(0, (pairs.segments, len(values) // max(1, pairs.segments)))
        for reference in rows_by_segment.unbind(1):
            sums = sums + reference
        return sums
    counts = pairs.references.counts
    # Sorted by their number of references, the segments that have an i-th reference are the first ones.
    segment = counts.argsort(descending=True)
    first = (counts.cumsum(0) - counts).index_select(0, segment)
    with_as_many = pairs.references.counts.bincount().flip(0).cumsum(0).flip(0).tolist()
    for index, many in enumerate(with_as_many[1:]):
        # Each segment occurs only once.
        sums.index_add_(0, segment[:many], values.index_select(0, first[:many] + index))
    return sums


def count_references(pairs: Pairs) -> Tensor:
    """Return how many references each segment has, ``(segments,)`` int64."""
    if pairs.references is not None:
        return pairs.references.counts
    references = pairs.documents.references
    return sum_over_references(torch.ones_like(references.lengths, device=references.ids.device), pairs)


class PairMeasure(Measure[Statistics]):
    """A measure of pairs: a subclass defines ``pair_orders``, ``pair_statistics`` and ``score``."""

    def statistics(self, batch: Batch) -> Statistics:
        """Count each kind of token, and keep the best reference: one row per segment."""
        pairs = pair_up(batch.sides)
        kinds = [pairs] if batch.words is None else [pairs, pair_up(batch.words)]
        counts = [count_pairs(kind, order) for kind, order in zip(kinds, self.pair_orders, strict=True)]
        statistics = self.pair_statistics(*counts)
        if pairs.segment is None:
            return statistics
        return best_statistics(statistics, self.selection_score(statistics), pairs)

    def selection_score(self, statistics: Statistics) -> Tensor:
        """Return the score ``(...)`` by which the best reference is chosen."""
        return self.score(statistics)
