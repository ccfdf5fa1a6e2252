"""Where n-grams match: for each token the longest order of a matched n-gram that covers it.

A hypothesis has as many matched n-grams as ``_core.counting.matches.count_matches`` counts. The first k of
equal n-grams are matched, where k is the largest count in one reference; in a reference, the count in the hypothesis.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ngram_metrics._core.basics.lazy import torch
from ngram_metrics._core.counting.documents import (
    DocumentGroups,
    RaggedSides,
    RaggedTokens,
    flat_positions,
    owners,
    ragged_chunks,
    repeat_each,
)
from ngram_metrics._core.counting.keys import (
    Digits,
    SortedKeys,
    bit_length,
    ragged_digits,
    run_starts,
    sorted_keys,
)

if TYPE_CHECKING:
    from torch import Tensor


def matched_positions(sides: RaggedSides, max_order: int) -> tuple[Tensor, Tensor]:
    """Return for each token the longest order of a matched n-gram that covers it, or 0.

    Returns:
        Orders of the tokens of hypotheses and of references, int64 in ``[0, max_order]`` in the shape of their ids.
    """
    hypotheses, references = [], []
    for chunk in chunks_of(*sides):
        orders = _longest_orders(chunk, max_order)  # (slots,)
        hypotheses.append(orders[: chunk.hypothesis_slots])
        references.append(orders[chunk.hypothesis_slots :])
    if not hypotheses:
        return torch.zeros_like(sides.hypotheses.ids), torch.zeros_like(sides.references.tokens.ids)
    return torch.cat(hypotheses), torch.cat(references)


class SegmentDigits(NamedTuple):
    """Some segments laid out for counting.

    Attributes:
        tokens: the digits, with the slots of hypotheses before the slots of references.
        hypothesis_slots: the number of slots that belong to hypotheses.
        document: ``(slots,)`` int64, 0 for a hypothesis, r for its r-th reference; None if each has one reference.
        documents: the largest number of documents of a segment.
    """

    tokens: Digits
    hypothesis_slots: int
    document: Tensor | None
    documents: int


def chunks_of(hypotheses: RaggedTokens, references: DocumentGroups) -> Iterator[SegmentDigits]:
    """Yield segments with their references in chunks within the memory budget."""
    sizes = hypotheses.lengths + references.join().lengths
    for start, stop in ragged_chunks(sizes, sizes.device, update=True):
        groups = references.slice(start, stop)
        sides = hypotheses.slice(start, stop), groups.tokens
        group = torch.cat((torch.arange(stop - start, device="cpu"), owners(groups.counts)))
        count = int(groups.counts.max())
        document = None
        if count > 1:
            in_group = flat_positions(groups.counts) + 1
            lengths = torch.cat([side.lengths for side in sides])
            document = repeat_each(torch.cat((in_group.new_zeros(stop - start), in_group)), lengths)
        digits = ragged_digits(sides, group, stop - start)
        yield SegmentDigits(digits, len(sides[0].ids), document, count + 1)


def matched_starts(chunk: SegmentDigits, max_order: int) -> Iterator[tuple[int, Tensor]]:
    """Yield each order, from 1 on, and where its matched n-grams start: ``(slots,)`` bool."""
    for keys in sorted_keys(chunk.tokens, max_order):
        for order in keys.orders:
            yield order, _starts(keys, order, chunk)


def _longest_orders(chunk: SegmentDigits, max_order: int) -> Tensor:
    slots = len(chunk.tokens.remaining)
    longest = torch.zeros_like(chunk.tokens.remaining)
    if slots == 0:
        return longest
    slot = torch.arange(slots, device="cpu")
    for order, starts in matched_starts(chunk, max_order):
        # A matched n-gram ends inside its document, so it never covers tokens of the next one.
        latest = torch.where(starts, slot, -order).cummax(0).values
        longest = torch.where(slot - latest < order, order, longest)
    return longest


def _starts(keys: SortedKeys, order: int, chunk: SegmentDigits) -> Tensor:
    """Return for each slot whether a matched n-gram starts there, ``(slots,)`` bool."""
    prefix = keys.prefix(order)
    slots = len(prefix)
    bits = bit_length(slots)
    # Sort the slots of each run by document, the hypothesis first.
    by_slot = torch.sort((run_starts(prefix).cumsum(0, dtype=torch.int64) << bits) | keys.slot).values
    run, slot = by_slot >> bits, by_slot & ((1 << bits) - 1)
    if chunk.document is None:
        document = (slot >= chunk.hypothesis_slots).long()
    else:
        document = chunk.document[slot]
    index = torch.arange(slots, device="cpu")
    first = index * run_starts(run * chunk.documents + document)
    occurrence = index - first.cummax(0).values + 1
    is_hypothesis = document == 0
    in_hypothesis, in_reference = (
        run.new_zeros(slots + 1).scatter_reduce(0, run, occurrence * side, "amax")
        for side in (is_hypothesis, ~is_hypothesis)
    )
    limit = torch.where(is_hypothesis, in_reference[run], in_hypothesis[run])
    matched = (occurrence <= limit) & keys.valid(prefix)
    return torch.zeros_like(matched).scatter(0, slot, matched)
