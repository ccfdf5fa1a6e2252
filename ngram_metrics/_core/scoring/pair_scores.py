"""The score of every hypothesis against every reference of its group, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from ngram_metrics._core.basics.arrays import Array, count_ngrams
from ngram_metrics._core.basics.tensors import float_dtype, to_tensor
from ngram_metrics._core.counting.batch import Integers
from ngram_metrics._core.counting.pairs import match_aggregates, match_pairs, to_device
from ngram_metrics._core.counting.pools import Pools
from ngram_metrics._core.counting.subsequences import match_subsequences
from ngram_metrics._core.scoring.measure import AnyMeasure, MatchStatistics, PairCounts, to_floats

#: The number of counts (orders times pairs of documents) that are made at a time, which limits memory.
COUNTED_CELLS = 1 << 23
#: The number of counts in a block, and of orders times slots: few enough to stay in the cache.
BLOCK_CELLS = 1 << 16


def score_blocks(
    measure: AnyMeasure,
    kinds: Sequence[Pools],
    value_index: tuple[int, ...] = (),
    device: torch.device | None = None,
) -> Iterator[tuple[range, slice, Array]]:
    """Score all pairs in blocks that cover all groups in order.

    Args:
        measure: the score of a pair. It raises ValueError if it does not score pairs.
        kinds: the same documents for each kind of token in ``measure.pair_orders``, and possibly for more kinds.
        value_index: the index of the value in a score, for a measure of several.
        device: where torch multiplies tables and scores pairs; None for NumPy.

    Yields:
        Groups, some hypotheses of each, and the scores ``(groups, hypotheses, references)`` from 0 to 1. Scores of
        documents that a group does not have are arbitrary.
    """
    orders = measure.pair_orders
    kinds = kinds[: len(orders)]
    stops = _cut_groups(kinds, sum(orders))
    start = 0
    for stop, *pools in zip(stops.tolist(), *(kind.split(stops) for kind in kinds), strict=True):
        _, height, width = pools[0].shape
        row_cells = max(1, (stop - start) * width * sum(orders))
        at_once = max(1, COUNTED_CELLS // row_cells)
        at_a_time = max(1, BLOCK_CELLS // row_cells)
        for first in range(0, height, at_once):
            rows = range(first, min(first + at_once, height))
            counts = [
                _count(measure, kind.take_rows(rows), order, device) for kind, order in zip(pools, orders, strict=True)
            ]
            for row in rows[::at_a_time]:
                some = slice(row - first, row - first + at_a_time)
                parts = [
                    PairCounts(
                        matches=kind.matches[:, some],
                        hypothesis_lengths=kind.hypothesis_lengths[:, some],
                        reference_lengths=kind.reference_lengths,
                    )
                    for kind in counts
                ]
                scores = measure.score_pairs(parts)[(..., *value_index)]
                yield range(start, stop), slice(row, row + scores.shape[1]), scores
        start = stop


def score_pools(
    measure: AnyMeasure,
    kinds: Sequence[Pools],
    value_index: tuple[int, ...] = (),
    device: torch.device | None = None,
    scale: float = 1.0,
) -> Tensor | list[Tensor]:
    """Return the scores of all pairs times ``scale``, with the arguments of ``score_blocks``.

    They are ``(groups, hypotheses, references)`` if the groups are even, else a list of one matrix per group.
    """
    # Filled block by block, because joining blocks at the end would need twice the memory.
    matrices: Array | list[Array]
    if kinds[0].is_even:
        matrices = make_empty(kinds[0].shape, device)
    else:
        sizes = zip(kinds[0].hypotheses.tolist(), kinds[0].references.tolist(), strict=True)
        matrices = [make_empty(size, device) for size in sizes]
    for groups, rows, scores in score_blocks(measure, kinds, value_index, device):
        for group, group_scores in zip(groups, scores, strict=True):
            part = matrices[group][rows]
            part[:] = scale * group_scores[: part.shape[0], : part.shape[1]]
    return list(map(to_tensor, matrices)) if isinstance(matrices, list) else to_tensor(matrices)


def score_aggregates(measure: AnyMeasure, pools: Pools) -> Array:
    """Score each hypothesis against the average counts of its group's references, ``(hypotheses,)``.

    A hypothesis without references scores 0.
    """
    (orders,) = measure.pair_orders
    scores = []
    for block in pools.split(_cut_groups([pools], orders)):
        hypothesis_lengths, reference_lengths = block.side_lengths()
        # All counts are multiplied by the number of references, which changes neither precision nor recall.
        statistics = MatchStatistics(
            match_aggregates(block, orders),
            count_ngrams(hypothesis_lengths, orders) * block.references[:, None, None],
            count_ngrams(reference_lengths, orders).sum(1, keepdims=True),
        )
        rows = measure.score(to_floats(statistics))  # (groups, hypotheses)
        rows = rows * (block.references[:, None] > 0)
        scores.append(rows[np.arange(rows.shape[1]) < block.hypotheses[:, None]])
    return np.concatenate(scores)


def make_empty(shape: tuple[int, ...], device: torch.device | None) -> Array:
    """Return an uninitialized array for scores, or a tensor if there is a device."""
    if device is None:
        return np.empty(shape)
    return torch.empty(shape, dtype=float_dtype(device), device=device)


def _cut_groups(kinds: Sequence[Pools], orders: int) -> Integers:
    """Return where blocks of groups stop. A block has as many groups as fit, and at least one."""
    slots = np.sum([np.diff(kind.slot_starts) for kind in kinds], 0)
    stops = []
    start = 0  # the first group of the block, and what the block has so far
    height = 0
    width = 0
    taken = 0
    sizes = zip(kinds[0].hypotheses.tolist(), kinds[0].references.tolist(), slots.tolist(), strict=True)
    for group, (hypotheses, references, size) in enumerate(sizes):
        height = max(height, hypotheses)
        width = max(width, references)
        taken += size
        if group > start and max((group + 1 - start) * height * width, taken) * orders > BLOCK_CELLS:
            stops.append(group)
            start = group
            height = hypotheses
            width = references
            taken = size
    return np.array([*stops, len(slots)])


def _count(measure: AnyMeasure, pools: Pools, orders: int, device: torch.device | None) -> PairCounts:
    """Count all pairs: matches ``(groups, hypotheses, references, orders)``, and lengths that broadcast to pairs."""
    if measure.counts_subsequences:
        matches = to_device(match_subsequences(pools), device)
    else:
        matches = match_pairs(pools, orders, device)
    hypothesis_lengths, reference_lengths = pools.side_lengths()
    return PairCounts(
        matches=matches,
        hypothesis_lengths=to_device(hypothesis_lengths, device)[:, :, None],
        reference_lengths=to_device(reference_lengths, device)[:, None],
    )
