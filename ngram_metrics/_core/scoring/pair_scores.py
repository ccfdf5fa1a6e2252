"""The score of every hypothesis against every reference of its group, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ngram_metrics._core.basics.lazy import torch
from ngram_metrics._core.counting.all_pairs import MatchBlock, all_pairs_matches, small_block
from ngram_metrics._core.counting.documents import DocumentGroups, float_dtype, repeat_each
from ngram_metrics._core.counting.pools import AggregateMatches, SmallLayout, aggregate_matches
from ngram_metrics._core.scoring.measure import AnyMeasure, MatchStatistics, PairCounts
from ngram_metrics._core.scoring.rows import pack, score_rows

if TYPE_CHECKING:
    from torch import Tensor

#: Hypotheses and references as one kind of token; the same object twice if the hypotheses are the references.
Side = tuple[DocumentGroups, DocumentGroups]

#: Counts scored at a time on the CPU, 8 bytes each; on an accelerator a few large launches are faster.
CACHED_COUNTS = 1 << 18


def score_blocks(
    measure: AnyMeasure, kinds: Sequence[Side], device: torch.device, value_index: tuple[int, ...] = ()
) -> Iterator[tuple[MatchBlock, Tensor]]:
    """Score all pairs, counted on a device, in blocks that cover all groups in order.

    Yields each block with its scores ``(groups, rows, references)`` from 0 to 1. If a group has fewer documents than
    another, the scores of the missing documents are arbitrary.

    ``kinds`` are the same documents, once for each kind of token in ``measure.pair_orders``, which raises ValueError;
    ``value_index`` is the index of the value in a score, for a measure of several.
    """
    orders = measure.pair_orders
    # The first kind of token sets the limits of the blocks.
    for block in measure.pair_blocks(*kinds[0], device):
        counts = [_pair_counts(block, orders[0])]
        for kind, order in zip(kinds[1:], orders[1:], strict=True):
            counts.append(_counts_of(kind, order, block))
        yield block, _score(measure, counts, value_index)


def pair_scores(
    measure: AnyMeasure, kinds: Sequence[Side], device: torch.device, value_index: tuple[int, ...] = ()
) -> Tensor | list[Tensor]:
    """Score all pairs of at least one group, with the arguments of ``score_blocks``.

    Returns ``(groups, hypotheses, references)`` if all groups have the same number of documents, else a list.
    """
    hypotheses, references = kinds[0]
    shapes = list(zip(hypotheses.counts.tolist(), references.counts.tolist(), strict=True))
    matrices: Tensor | list[Tensor] = []
    for block, scores in score_blocks(measure, kinds, device, value_index):
        if len(set(shapes)) == 1 and scores.shape == (len(shapes), *shapes[0]):
            return scores
        if len(matrices) == 0:
            # Filled block by block: joining the blocks at the end would need two or three times the memory.
            empty = scores.new_empty
            matrices = empty(len(shapes), *shapes[0]) if len(set(shapes)) == 1 else [empty(shape) for shape in shapes]
        if isinstance(matrices, torch.Tensor):
            matrices[slice(*block.groups), slice(*block.rows)] = scores
            continue
        for group, group_scores in zip(range(*block.groups), scores, strict=True):
            height, width = shapes[group]
            matrices[group][slice(*block.rows)] = group_scores[:height, :width]
    return matrices


def score_row(measure: AnyMeasure, layout: SmallLayout) -> Tensor:
    """Score all pairs of a small batch of one kind of token: ``(groups, hypotheses, references)``."""
    return measure.score_pairs(_pair_counts(small_block(layout), layout.max_order))


def _pair_counts(block: MatchBlock, order: int) -> PairCounts:
    """Return the counts of a block, up to an order."""
    lengths = block.hypothesis_lengths.unsqueeze(2), block.reference_lengths.unsqueeze(1)
    return PairCounts(block.matches[..., :order], *lengths)


def _score(measure: AnyMeasure, counts: Sequence[PairCounts], value_index: tuple[int, ...]) -> Tensor:
    """Score the pairs of a block, ``(groups, rows, references)``, in pieces that stay in the cache."""
    matches = counts[0].matches
    groups, rows, _ = shape = matches.shape[:-1]
    value: tuple[Any, ...] = (..., *value_index)
    orders = sum(kind_counts.matches.shape[-1] for kind_counts in counts)
    if matches.device.type != "cpu" or shape.numel() * orders <= CACHED_COUNTS:
        return measure.score_pairs(*counts)[value]
    scores = matches.new_empty(shape, dtype=float_dtype(matches.device))
    # A piece is whole groups, or whole rows of a single group, which may be large.
    by_rows = groups == 1
    pieces = rows if by_rows else groups
    at_once = max(1, CACHED_COUNTS * pieces // (shape.numel() * orders))
    for first in range(0, pieces, at_once):
        piece = slice(first, first + at_once)
        index = (slice(None), piece) if by_rows else (piece,)
        piece_counts = [
            PairCounts(matches[index], hypotheses[index], others if by_rows else others[index])
            for matches, hypotheses, others in counts
        ]
        scores[index] = measure.score_pairs(*piece_counts)[value]
    return scores


def _counts_of(kind: Side, order: int, cut: MatchBlock) -> PairCounts:
    """Count the pairs of a block in another kind of token, in the shape of that block."""
    hypotheses = kind[0].slice(*cut.groups)
    references = hypotheses if kind[1] is kind[0] else kind[1].slice(*cut.groups)
    if cut.groups[1] - cut.groups[0] == 1:
        tokens = hypotheses.tokens.slice(*cut.rows)
        hypotheses = DocumentGroups(tokens, torch.full_like(hypotheses.counts, tokens.documents))
    matches = cut.matches.new_zeros(*cut.matches.shape[:-1], order)
    for block in all_pairs_matches(hypotheses, references, order, cut.matches.device):
        height, width = block.matches.shape[1:3]
        matches[slice(*block.groups), block.rows[0] : block.rows[0] + height, :width] = block.matches
    device = matches.device
    lengths = hypotheses.padded_lengths().to(device), references.padded_lengths().to(device)
    return PairCounts(matches, lengths[0].unsqueeze(2), lengths[1].unsqueeze(1))


def aggregate_scores(
    measure: AnyMeasure, hypotheses: DocumentGroups, references: DocumentGroups, device: torch.device
) -> Tensor:
    """Return the score of each hypothesis, ``(hypotheses,)``, with the average counts of its group's references.

    The measure is without words, and a hypothesis without references scores 0.
    """
    (order,) = measure.pair_orders
    scores = score_aggregates(measure, aggregate_matches(hypotheses, references, order, device))
    return scores * (repeat_each(references.counts, hypotheses.counts) > 0).to(scores.device)


def score_aggregates(measure: AnyMeasure, counts: AggregateMatches) -> Tensor:
    """Return the score of each hypothesis, ``(hypotheses,)``, with the average counts of at least one reference."""
    matches, hypothesis, reference = counts
    # All counts are multiplied by the number of references, which changes neither precision nor recall.
    statistics = MatchStatistics(matches, hypothesis * (reference > 0), reference)
    return score_rows(measure, pack(statistics, measure.layout))
