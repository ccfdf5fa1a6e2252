"""Clipped n-gram matches: how many n-grams of a hypothesis occur in its references, at most as often as there.

Papineni et al. 2002, section 2.1: the matches of an n-gram are the smaller of its counts in hypothesis and reference;
with several references, the reference count is the largest of their counts.

On a CPU, nearly all segments are counted by ``ngram_metrics.counting.numpy_matches``. All others are counted here. For
padded tokens no step depends on data: they run on the ``meta`` device, compile in one graph and never wait for a GPU.
The work is cut into chunks of whole groups, where a group is a hypothesis with its references. The cuts do not change
the counts.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from ngram_metrics.counting.documents import (
    PAST_HYPOTHESIS,
    PAST_REFERENCE,
    DocumentGroups,
    Documents,
    PaddedPairs,
    PaddedReferences,
    PaddedSides,
    PaddedTokens,
    RaggedPairs,
    RaggedSides,
    RaggedTokens,
    flat_positions,
    ragged_chunks,
    repeat_each,
    row_chunks,
)
from ngram_metrics.counting.keys import (
    KEY_BITS,
    Digits,
    SortedKeys,
    bit_length,
    ragged_digits,
    rank_in_rows,
    run_ends,
    run_starts,
    sorted_keys,
)
from ngram_metrics.counting.numpy_matches import (
    add_empty_orders,
    has_numpy_segments,
    numpy_matches,
)

#: Bits of a count if a sum holds two counts. A count may be all slots of a chunk, and no sum overflows.
_PAIR_BITS = 31
_LOW = (1 << _PAIR_BITS) - 1
#: The documents of a group plus its running sums of packed counts: up to here they are less work than a sort.
PACKED_WORK = 15


def ngram_totals(lengths: Tensor, max_order: int) -> Tensor:
    """Return the number of n-grams of documents: from lengths ``(...,)`` to ``(..., orders)``, int64."""
    shorter = torch.arange(max_order, device=lengths.device)
    return (lengths.unsqueeze(-1) - shorter).clamp(min=0)


def count_ngrams(lengths: Tensor, order: int) -> Tensor:
    """Return the number of n-grams of one order of documents: from lengths ``(...,)`` to ``(...,)``, int64."""
    return (lengths - (order - 1)).clamp(min=0)


def pair_matches(pairs: RaggedPairs | PaddedPairs, max_order: int) -> Tensor:
    """Count the matches of each hypothesis with the reference of the same index.

    Args:
        pairs: the documents.
        max_order: the longest order to count, at least 1.

    Returns:
        ``(pairs, orders)`` int64: for each order the sum over its n-grams of the smaller count.
    """
    return _matches(pairs, max_order)


def clipped_matches(sides: RaggedSides | PaddedSides, max_order: int) -> Tensor:
    """Count the matches of each hypothesis with all its references, clipped by the largest of their counts.

    Args:
        sides: hypotheses, one per segment, and their references.
        max_order: the longest order to count, at least 1.

    Returns:
        ``(segments, orders)`` int64: for each order the sum over its n-grams of the smaller of the count in the
        hypothesis and the largest count in one reference.
    """
    return _matches(sides.only_pairs or sides, max_order)


def closest_reference_length(hypothesis_lengths: Tensor, references: DocumentGroups | PaddedReferences) -> Tensor:
    """Return for each segment the reference length nearest to the hypothesis length, of two the shorter.

    Args:
        hypothesis_lengths: ``(segments,)`` int64, on the device of the ids.
        references: the references of the same segments.

    Returns:
        ``(segments,)`` int64, on the same device.
    """
    lengths = references.tokens.device_lengths
    if references.single or len(hypothesis_lengths) == 0:
        return lengths.reshape(-1)
    if isinstance(references, PaddedReferences):
        assert references.present is not None
        distance = _distance(hypothesis_lengths.unsqueeze(-1), lengths)
        distance = distance.masked_fill_(~references.present, torch.iinfo(torch.int64).max)
        return lengths.gather(-1, distance.argmin(-1, keepdim=True)).squeeze(-1)
    _, segment = references.owners()
    distance = _distance(hypothesis_lengths.index_select(0, segment), lengths)
    nearest = torch.zeros_like(hypothesis_lengths).scatter_reduce(0, segment, distance, "amin", include_self=False)
    # The lowest bit is 1 if the reference is longer than the hypothesis.
    apart = nearest >> 1
    return hypothesis_lengths + torch.where((nearest & 1) == 1, apart, -apart)


def _distance(hypothesis: Tensor, reference: Tensor) -> Tensor:
    """Return a number that sorts reference lengths by nearness, the shorter before the longer if equally near."""
    return torch.add(reference > hypothesis, (reference - hypothesis).abs(), alpha=2)


def _matches(documents: Documents, max_order: int) -> Tensor:
    if has_numpy_segments(documents):
        return numpy_matches(documents, max_order)
    if isinstance(documents, PaddedPairs):
        return _row_matches(documents.hypotheses.ids, documents.references.ids.unsqueeze(1), max_order)
    if isinstance(documents, PaddedSides):
        return _row_matches(documents.hypotheses.ids, documents.references.tokens.ids, max_order)
    counted = [_count(chunk, max_order) for chunk in chunks_of(documents)]
    return torch.cat(counted) if counted else documents.hypotheses.ids.new_zeros(0, max_order, dtype=torch.int64)


def chunks_of(documents: Documents) -> Iterator[Chunk]:
    """Yield pairs, or segments with several references, in chunks within the memory budget."""
    if isinstance(documents, PaddedPairs):
        return _padded_chunks(*documents)
    if isinstance(documents, PaddedSides):
        return _padded_chunks(documents.hypotheses, documents.references.tokens)
    if isinstance(documents, RaggedPairs):
        hypotheses, references = documents
        sent = None if references.sent_lengths is None else torch.ones_like(references.sent_lengths)
        return _ragged_chunks(hypotheses, DocumentGroups(references, torch.ones_like(references.lengths), sent))
    return _ragged_chunks(*documents)


class Chunk(NamedTuple):
    """Some groups laid out for counting.

    Attributes:
        tokens: the digits; the slots of hypotheses are before those of references.
        hypothesis_slots: the number of slots in a row that belong to hypotheses.
        document: ``(..., slots)`` int64, 0 for a hypothesis, r for its r-th reference; None if each has one reference.
        documents: the largest number of documents of a group.
        longest: an upper bound of the tokens of a document.
        group_ends: ``(groups,)`` int64, where each group ends in the sorted slots; None if each row is a group.
    """

    tokens: Digits
    hypothesis_slots: int
    document: Tensor | None
    documents: int
    longest: int
    group_ends: Tensor | None

    @property
    def count_bits(self) -> int:
        """The bits that the count of an n-gram in a document needs."""
        return bit_length(max(1, self.longest))

    @property
    def counts_in_a_sum(self) -> int:
        """The number of documents whose counts fit into one int64."""
        return KEY_BITS // self.count_bits


def _padded_chunks(hypotheses: PaddedTokens, references: PaddedTokens) -> Iterator[Chunk]:
    """Yield rows of hypotheses ``(segments, width)`` and of their references ``(segments, ..., width)``."""
    sides = (hypotheses, references)
    device = hypotheses.ids.device
    width, reference_width = (side.ids.shape[-1] for side in sides)
    count = references.lengths.shape[1:].numel()
    slots = width + count * reference_width
    for start, stop in row_chunks(len(hypotheses.ids), slots, device):
        rows = [PaddedTokens(*(field[start:stop] for field in side)) for side in sides]
        ids = torch.cat([side.ids.flatten(1) for side in rows], 1)
        remaining = [
            (side.lengths.unsqueeze(-1) - torch.arange(side.ids.shape[-1], device=device)).flatten(1) for side in rows
        ]
        document = None
        if count > 1:
            slot = torch.arange(slots, device=device)
            document = ((slot - width).div(max(1, reference_width), rounding_mode="floor") + 1).clamp(min=0)
        digits = Digits(rank_in_rows(ids), torch.cat(remaining, 1), bit_length(slots), None, 0)
        yield Chunk(digits, width, document, count + 1, max(width, reference_width), None)


def _ragged_chunks(hypotheses: RaggedTokens, references: DocumentGroups) -> Iterator[Chunk]:
    """Yield segments with their references."""
    device = hypotheses.ids.device
    joined = references.join()
    sizes = hypotheses.lengths + joined.lengths
    device_sizes = sizes if device.type == "cpu" else hypotheses.device_lengths + joined.device_lengths
    for start, stop in ragged_chunks(sizes, device, update=True):
        groups = references.slice(start, stop)
        sides = hypothesis, reference = hypotheses.slice(start, stop), groups.tokens
        group = torch.cat((torch.arange(stop - start, device=device), groups.owners()[1]))
        longest = max(int(side.lengths.max()) for side in sides)
        count = int(groups.counts.max())
        document = None
        if count > 1:
            in_group = flat_positions(groups.device_counts, reference.documents) + 1
            lengths = torch.cat([side.device_lengths for side in sides])
            slots = len(hypothesis.ids) + len(reference.ids)
            document = repeat_each(torch.cat((in_group.new_zeros(stop - start), in_group)), lengths, slots)
        digits = ragged_digits(sides, group, stop - start)
        yield Chunk(digits, len(hypothesis.ids), document, count + 1, longest, device_sizes[start:stop].cumsum(0))


def _count(chunk: Chunk, max_order: int) -> Tensor:
    """Return the matches of each group of a chunk, ``(groups, orders)``."""
    groups = len(chunk.tokens.digits) if chunk.group_ends is None else len(chunk.group_ends)
    if chunk.tokens.digits.shape[-1] == 0:
        return chunk.tokens.digits.new_zeros(groups, max_order)
    packed_work = chunk.documents + -(-chunk.documents // chunk.counts_in_a_sum)
    minima_of = _minima if packed_work <= PACKED_WORK else _minima_many_references
    # No document has an n-gram that is longer than itself: those orders take neither time nor memory.
    orders = min(max_order, max(1, chunk.longest))
    # Made before the large tensors of an order: small ones, kept between them, would tear the heap to pieces, which
    # took gigabytes at order 1,000.
    counts = chunk.tokens.digits.new_empty(orders, groups)
    first = 0
    for keys in sorted_keys(chunk.tokens, orders):
        for minima in minima_of(keys, chunk):
            stop = first + len(minima)
            counts[first:stop] = _group_sums(minima, chunk.group_ends)
            first = stop
    return add_empty_orders(counts.T, max_order)


def _minima(keys: SortedKeys, chunk: Chunk) -> Iterator[Tensor]:
    """Yield the matches of each n-gram at the end of its run, and 0 elsewhere: ``(orders, ..., slots)``.

    A CPU counts one order at a time, so that the arrays stay in the cache; other devices count all at once.
    """
    bits, sums = _running_sums(keys, chunk)
    # The sum over many groups may overflow int64. Differences are still exact, but no maximum finds a run's start.
    overflows = chunk.document is not None and chunk.group_ends is not None
    fence = torch.full_like(keys.keys[..., :1], -1)
    fenced = keys._replace(keys=torch.cat((fence, keys.keys, fence), -1))
    at_once = 1 if keys.keys.device.type == "cpu" else keys.orders
    for first in range(keys.first, keys.last + 1, at_once):
        prefixes = fenced.prefixes(first, min(first + at_once - 1, keys.last))
        # With a fence at both ends one comparison finds where runs start and where they end.
        differs = prefixes[..., 1:] != prefixes[..., :-1]
        starts, ends = differs[..., :-1], differs[..., 1:]
        if overflows:
            run_start = (torch.arange(starts.shape[-1], device=starts.device) * starts).cummax(-1).values
            packed = [upto - before.expand_as(run_start).gather(-1, run_start) for upto, before in sums]
        else:
            packed = [upto - (before * starts).cummax(-1).values for upto, before in sums]
        hypothesis, *references = _unpack_counts(packed, bits, chunk.documents)
        smaller = torch.minimum(hypothesis, functools.reduce(torch.maximum, references))
        yield smaller * (ends & keys.valid(prefixes[..., 1:-1]))


def _running_sums(keys: SortedKeys, chunk: Chunk) -> tuple[int, list[tuple[Tensor, Tensor]]]:
    """Count the tokens of each document of a group in running sums that pack several counts into an int64.

    Returns:
        The bits of a count; and for each sum two tensors ``(..., slots)`` int64, the sum up to and including a slot and
        the sum before it. The first sum holds as many counts as fit, that of the hypothesis in the lowest bits.
    """
    if chunk.document is None:
        bits, steps = _PAIR_BITS, [1 + _LOW * (keys.slot >= chunk.hypothesis_slots)]
    else:
        bits, at_once = chunk.count_bits, chunk.counts_in_a_sum
        offsets = [chunk.document - first for first in range(0, chunk.documents, at_once)]
        inside = [(offset >= 0) & (offset < at_once) for offset in offsets]
        steps = [
            (here.long() << offset.clamp(0, at_once - 1) * bits).expand_as(keys.slot).gather(-1, keys.slot)
            for offset, here in zip(offsets, inside, strict=True)
        ]
    sums = []
    for step in steps:
        upto = step.cumsum(-1)
        sums.append((upto, upto - step))
    return bits, sums


def _unpack_counts(packed: list[Tensor], bits: int, documents: int) -> list[Tensor]:
    """Return the count of each document from the differences of ``_running_sums``."""
    at_once, low = KEY_BITS // bits, (1 << bits) - 1
    counts = []
    for document in range(documents):
        offset = document % at_once
        count = packed[document // at_once]
        count = count >> bits * offset if offset else count
        counts.append(count & low if offset + 1 < min(at_once, documents - document + offset) else count)
    return counts


def _minima_many_references(keys: SortedKeys, chunk: Chunk) -> Iterator[Tensor]:
    """Yield the same as ``_minima``, one order at a time, for any number of documents.

    In the run of a shorter order the documents are not sorted, so each order sorts again, by n-gram and document.
    """
    assert chunk.document is not None
    # Slots past the end of a document get the number after the last document: they stay in their group, in runs of
    # their own.
    bits = bit_length(chunk.documents)
    no_ngram = chunk.documents
    document = chunk.document.expand_as(keys.slot).gather(-1, keys.slot)
    for order in range(keys.first, keys.last + 1):
        prefix = keys.prefixes(order, order)[0]
        run_number = run_starts(prefix).cumsum(-1, dtype=torch.int64)
        by_document = torch.sort((run_number << bits) | torch.where(keys.valid(prefix), document, no_ngram)).values
        run, owner = by_document >> bits, by_document & ((1 << bits) - 1)
        ends = run_ends(by_document)
        position = torch.arange(1, run.shape[-1] + 1, device=run.device).expand_as(run)
        latest_end = (position * ends).cummax(-1).values
        count = position - torch.cat((torch.zeros_like(latest_end[..., :1]), latest_end[..., :-1]), -1)
        hypothesis = _largest_so_far(run, count * (ends & (owner == 0)))
        reference = _largest_so_far(run, count * (ends & (owner > 0)))
        yield (torch.minimum(hypothesis, reference) * run_ends(run)).unsqueeze(0)


def _largest_so_far(run: Tensor, count: Tensor) -> Tensor:
    """Return the largest count so far in each run, whose number in the high bits restarts the maximum."""
    return ((run << _PAIR_BITS) | count).cummax(-1).values & _LOW


def _group_sums(values: Tensor, group_ends: Tensor | None) -> Tensor:
    """Sum ``(orders, ..., slots)`` over each group's slots: ``(orders, groups)``."""
    if group_ends is None:
        return values.sum(-1)
    # A group that ends at slot 0 is empty, like all groups before it.
    upto = values.cumsum(-1).index_select(-1, (group_ends - 1).clamp(min=0)) * (group_ends > 0)
    return upto.diff(dim=-1, prepend=torch.zeros_like(upto[:, :1]))


# Padded rows: the keys of both sides are sorted, and those of a hypothesis are looked up in each reference.


def _row_matches(hypotheses: Tensor, references: Tensor, max_order: int) -> Tensor:
    """Count the matches of hypotheses ``(segments, width)`` with references ``(segments, references, width)``."""
    segments, count, reference_width = references.shape
    # No document has an n-gram that is longer than itself: those orders take neither time nor memory.
    orders = min(max_order, hypotheses.shape[1], reference_width)
    if segments == 0 or orders == 0:
        return hypotheses.new_zeros(segments, max_order)
    # The hypothesis is looked up in each of its references.
    slots = count * (hypotheses.shape[1] + reference_width)
    matches = [
        _count_rows(hypotheses[start:stop], references[start:stop], orders)
        for start, stop in row_chunks(segments, slots, hypotheses.device)
    ]
    return add_empty_orders(matches[0] if len(matches) == 1 else torch.cat(matches), max_order)


def _count_rows(hypotheses: Tensor, references: Tensor, orders: int) -> Tensor:
    """Return the matches of each row, ``(segments, orders)``, where no row is shorter than the longest order.

    The documents of a segment are laid out one after another, and a key is made at every slot. Between two documents,
    and after the last, is what stands past their ends, so that no n-gram that leaves its document is in both sides.
    """
    segments, width = hypotheses.shape
    _, count, reference_width = references.shape
    past = torch.arange(PAST_HYPOTHESIS, PAST_REFERENCE + 1, device=hypotheses.device)
    past_hypothesis, past_reference = past[:1].expand(segments, 1), past[1:].expand(segments, 1)
    row = [hypotheses, past_hypothesis]
    for reference in references.unbind(1):
        row += (reference, past_reference)
    digits = _rank_in_rows(torch.cat((*row, past[1:].expand(segments, orders - 1)), 1))
    bits = bit_length(digits.shape[1] - 1)
    head, served, matches = None, 0, []
    while served < orders:
        taken = min(orders - served, KEY_BITS // bits - (head is not None))
        keys = _join_digits(digits[:, served:], taken, bits)
        if head is not None:
            keys = torch.add(keys, head[:, : keys.shape[1]], alpha=1 << taken * bits)
        own, others = keys[:, :width], keys[:, width + 1 : width + 1 + count * (reference_width + 1)]
        matches.append(_look_up(own, others.unflatten(1, (count, -1)), taken, bits))
        served += taken
        if served < orders:
            head = _rank_in_rows(keys)
    return (matches[0] if len(matches) == 1 else torch.cat(matches)).T


def _rank_in_rows(values: Tensor) -> Tensor:
    """Return for each value how many of its row ``(rows, slots)`` are smaller: equal numbers for equal values."""
    return torch.searchsorted(torch.sort(values).values, values)


def _join_digits(digits: Tensor, length: int, bits: int) -> Tensor:
    """Return the number that ``length`` digits from each slot on make, where there are as many: ``(rows, slots)``."""
    if length == 1:
        return digits
    half = length // 2
    keys = _join_digits(digits, half, bits)
    keys = torch.add(keys[:, half:], keys[:, :-half], alpha=1 << half * bits)
    if length % 2:
        keys = torch.add(digits[:, length - 1 :], keys[:, :-1], alpha=1 << bits)
    return keys


def _look_up(hypotheses: Tensor, references: Tensor, orders: int, bits: int) -> Tensor:
    """Return the matches of keys ``(segments, width)`` in keys ``(segments, references, width)``, for the last orders.

    Of equal n-grams of a hypothesis the first k are matched, where k is the largest count in one reference. In sorted
    keys, the i-th of its kind has i - 1 fewer keys below it than its place says.

    Returns:
        ``(orders, segments)`` int64.
    """
    device = hypotheses.device
    dropped_bits = torch.arange((orders - 1) * bits, -1, -bits, device=device).reshape(-1, 1, 1)
    # The first digits of sorted keys are sorted too.
    own = torch.bitwise_right_shift(torch.sort(hypotheses).values, dropped_bits)  # (orders, segments, width)
    others = torch.bitwise_right_shift(torch.sort(references).values, dropped_bits.unsqueeze(-1))
    sought = own.unsqueeze(2)
    if references.shape[1] > 1:
        sought = sought.expand(-1, -1, references.shape[1], -1).contiguous()
    count = torch.searchsorted(others, sought, right=True) - torch.searchsorted(others, sought)
    count = count.amax(2) if references.shape[1] > 1 else count.squeeze(2)
    earlier = torch.arange(own.shape[-1], device=device) - torch.searchsorted(own, own)
    return (earlier < count).sum(-1)
