"""Clipped matches on a CPU, in numpy: the same counts as ``_core.counting.matches``.

NumPy takes a third of the time of torch for a few thousand numbers, starts no threads, and sorts numbers without an
index in half the time. So the segments are cut into chunks whose arrays stay in the cache. The keys are those of
``_core.counting.keys``, with four differences:

* Below the last digit is the number of the document: 0 for a hypothesis, r for its r-th reference.
* If ids are wide, a digit is the last position of the token in the chunk. If positions are too wide for a segment, a
  digit is the rank of the token in its segment, which takes one more sort.
* Past the end of a document the digits are 0 in a hypothesis, and all bits are 1 in a reference. Neither is the digit
  of a token, so an n-gram that ends outside its document has no matches.
* The keys are moved so that segments follow one another, and sorted in bins of a few segments. Sorting bins of 200 keys
  takes a fifth of the time of sorting a chunk at once. The highest digit tells the segments of a bin apart.

A running sum over the sorted keys adds 1 for a slot of the hypothesis and -1 for a slot of a reference. With one
reference, a run of equal n-grams has as many slots without a match as the sum differs between its ends. With several
references this is exact except for n-grams that occur at least twice on both sides, which are counted document by
document.

Segments whose keys do not fit, because they are long or the orders high, are counted in rounds of a few orders.

Example: the hypothesis ``a b a`` and the reference ``b a`` with a = 1 and b = 2, digits of 2 bits, orders 1 to 2, in
base 4, with the number of the document after a dot.

=======  ====  ====  ====  ====  ====
slot     0     1     2     3     4
=======  ====  ====  ====  ====  ====
token    1     2     1     2     1
key      12.0  21.0  10.0  21.1  13.1
sorted   10.0  12.0  13.1  21.0  21.1
order 2  10    12    13    21    21
order 1  1     1     1     2     2
=======  ====  ====  ====  ====  ====

Order 2 has one match, 21. Order 1 has two: 1 occurs twice in the hypothesis and once in the reference, 2 once in both.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ngram_metrics._core.basics.lazy import np, torch
from ngram_metrics._core.counting.documents import DocumentGroups, RaggedPairs, RaggedSides, even_chunks
from ngram_metrics._core.counting.keys import KEY_BITS

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

#: The most and the fewest bits of the slots of a chunk of several segments. More bits take fewer calls; with fewer bits
#: a key holds more orders and references.
MOST_SLOT_BITS, LEAST_SLOT_BITS = 16, 11
#: The largest number of slots of a chunk of several segments that is counted in rounds.
_ROUND_SLOTS = 1 << 13
#: A bin has at least this many slots, if there are more segments and a key can number them.
_BIN_SLOTS = 192


class NumpySegments(NamedTuple):
    """Segments as numpy arrays.

    Attributes:
        ids: ``(tokens,)`` integers in ``[0, id_bound)`` of the hypotheses and of the references.
        lengths: ``(documents,)`` int64 of the hypotheses and of the references.
        counts: ``(segments,)`` int64, the number of references of each segment, at least 1; None if each has one.
        id_bound: an exclusive upper bound of the ids.
        sizes: ``(segments,)`` int64, the tokens of each segment.
    """

    ids: tuple[NDArray[np.int64], NDArray[np.int64]]
    lengths: tuple[NDArray[np.int64], NDArray[np.int64]]
    counts: NDArray[np.int64] | None
    id_bound: int
    sizes: NDArray[np.int64]

    @property
    def document_bits(self) -> int:
        """The bits of the number of a document in its segment."""
        return 1 if self.counts is None else int(self.counts.max(initial=1)).bit_length()

    def select(self, is_selected: NDArray[np.bool_]) -> NumpySegments:
        """Return some segments, for which a mask ``(segments,)`` is true."""
        if is_selected.all():
            return self
        counts = self.counts
        reference_mask = is_selected
        if counts is not None:
            reference_mask = is_selected.repeat(counts)
            counts = counts[is_selected]
        ids, lengths = [], []
        for side_ids, side_lengths, mask in zip(self.ids, self.lengths, (is_selected, reference_mask), strict=True):
            ids.append(side_ids[mask.repeat(side_lengths)])
            lengths.append(side_lengths[mask])
        return NumpySegments((ids[0], ids[1]), (lengths[0], lengths[1]), counts, self.id_bound, self.sizes[is_selected])

    def chunks(self, slots: int) -> Iterator[Chunk]:
        """Yield ranges of segments, each of at most ``slots`` slots, or one segment."""
        first_token = [0, 0]
        first_reference = 0
        for start, stop in even_chunks(self.sizes, slots):
            counts = None if self.counts is None else self.counts[start:stop]
            last_reference = stop if counts is None else first_reference + int(counts.sum())
            lengths = [self.lengths[0][start:stop], self.lengths[1][first_reference:last_reference]]
            last_token = [before + int(side.sum()) for before, side in zip(first_token, lengths, strict=True)]
            ids = [side[first:last] for side, first, last in zip(self.ids, first_token, last_token, strict=True)]
            tokens = np.concatenate(ids, dtype=np.int64)
            sizes = self.sizes[start:stop]
            yield Chunk(slice(start, stop), tokens, np.concatenate(lengths), counts, sizes, sizes.cumsum() - sizes)
            first_token = last_token
            first_reference = last_reference


class Chunk(NamedTuple):
    """Some segments.

    Attributes:
        segments: their indices.
        ids: ``(slots,)`` int64, a copy, of the hypotheses before the references.
        lengths: ``(documents,)`` int64 of the hypotheses before the references.
        counts: ``(segments,)`` int64, the number of references of each segment; None if each has one.
        sizes: ``(segments,)`` int64, the slots of each segment.
        starts: ``(segments,)`` int64, the slots of all segments before each.
    """

    segments: slice
    ids: NDArray[np.int64]
    lengths: NDArray[np.int64]
    counts: NDArray[np.int64] | None
    sizes: NDArray[np.int64]
    starts: NDArray[np.int64]

    def order_by_segment(self) -> NDArray[np.int64]:
        """Return for each slot its index where segments follow one another, ``(slots,)``."""
        hypotheses = self.lengths[: len(self.sizes)]
        hypotheses_upto = hypotheses.cumsum()
        # A hypothesis moves behind earlier references, and a reference ahead of later hypotheses.
        references_before = self.starts - hypotheses_upto + hypotheses
        hypotheses_after = hypotheses_upto - hypotheses_upto[-1]
        if self.counts is not None:
            hypotheses_after = hypotheses_after.repeat(self.counts)
        index = np.concatenate((references_before, hypotheses_after)).repeat(self.lengths)
        index += np.arange(len(index))
        return index

    def number_documents(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the segment of each document, and its number there: 0 for a hypothesis, r for its r-th reference."""
        segments = np.arange(len(self.sizes))
        segment_of_reference = segments
        references = np.ones_like(segments)
        if self.counts is not None:
            segment_of_reference = segments.repeat(self.counts)
            before = self.counts.cumsum() - self.counts
            references = np.arange(1, len(segment_of_reference) + 1) - before.take(segment_of_reference)
        documents = np.concatenate((np.zeros_like(segments), references))
        return np.concatenate((segments, segment_of_reference)), documents


class Plan(NamedTuple):
    """The layout of keys that fit: a segment, digits and a document, from the highest bits on.

    Attributes:
        slot_bits: the bits of the number of slots in a chunk of several segments.
        segment_bits: the bits of the number of a segment in its bin; below 0 if no key fits.
        bits: the width of a digit.
        orders: the number of orders that are counted; longer n-grams have no matches.
        uses_positions: whether a digit is the position of a token in the chunk plus 1, and not its id plus 1.
        document_bits: the bits of the number of a document in its segment.
    """

    slot_bits: int
    segment_bits: int
    bits: int
    orders: int
    uses_positions: bool
    document_bits: int

    @property
    def slots(self) -> int:
        """The largest number of slots of a chunk of several segments."""
        return (1 << self.slot_bits) - 2


def must_use_torch() -> bool:
    """Return whether torch counts on a CPU too, because it records its operations.

    Operations of numpy would be missing from a graph or a trace.
    """
    if torch.compiler.is_compiling() or torch.jit._trace.is_tracing():
        return True
    return torch.utils._python_dispatch._get_current_dispatch_mode() is not None


def numpy_segments(documents: RaggedPairs | RaggedSides) -> NumpySegments:
    """Return segments as numpy arrays."""
    hypotheses, references = documents
    counts = None
    if isinstance(references, DocumentGroups):
        if not references.single:
            counts = references.counts.numpy()
        references = references.tokens
    lengths = hypotheses.lengths.numpy(), references.lengths.numpy()
    sizes = lengths[1] if counts is None else np.add.reduceat(lengths[1], counts.cumsum() - counts)
    id_bound = max(hypotheses.id_bound, references.id_bound)
    return NumpySegments(
        (hypotheses.ids.numpy(), references.ids.numpy()), lengths, counts, id_bound, lengths[0] + sizes
    )


def numpy_matches(documents: RaggedPairs | RaggedSides, max_order: int) -> Tensor:
    """Return the matches of segments, ``(segments, orders)`` int64."""
    segments = numpy_segments(documents)
    # No segment has a match that is longer than one of its documents.
    orders = min(max_order, *(int(side.max(initial=1)) for side in segments.lengths))
    plan = _plan(segments, orders)
    most_slots = -1 if plan.segment_bits < 0 else plan.slots if plan.uses_positions else sys.maxsize
    matches = _count_at_once(segments, segments.sizes <= most_slots, plan, _count_ranked)
    return add_empty_orders(torch.from_numpy(matches), max_order)


def _plan(segments: NumpySegments, orders: int) -> Plan:
    """Return the largest chunks whose keys fit, or keys that do not fit."""
    sizes = segments.sizes
    document_bits = segments.document_bits
    id_bits = (segments.id_bound + 1).bit_length()
    # As many segments as fill a bin.
    enough_bits = (_BIN_SLOTS * len(sizes) // max(1, int(sizes.sum()))).bit_length()
    for slot_bits in range(MOST_SLOT_BITS, LEAST_SLOT_BITS - 1, -1):
        bits = min(id_bits, slot_bits)
        segment_bits = KEY_BITS - document_bits - orders * bits
        if segment_bits >= enough_bits:
            break
    return Plan(slot_bits, segment_bits, bits, orders, bits < id_bits, document_bits)


def _rank_in_segments(segments: NumpySegments) -> tuple[NumpySegments, NDArray[np.int64]]:
    """Return segments with the ids of each numbered ``0, 1, ...``, and how many each has, ``(segments,)`` int64."""
    ranked = []
    distinct = np.zeros_like(segments.sizes)
    for chunk in segments.chunks(1 << MOST_SLOT_BITS):
        if not len(chunk.ids):
            continue
        bits = len(chunk.ids).bit_length()
        values = np.empty_like(chunk.ids)
        values[chunk.order_by_segment()] = chunk.ids << bits | np.arange(len(chunk.ids))
        for start, stop in pairwise((*chunk.starts.tolist(), len(values))):
            values[start:stop].sort()
        ranks = np.zeros_like(values)
        np.cumsum(values[1:] ^ values[:-1] >= 1 << bits, out=ranks[1:])
        ranks -= ranks.take(chunk.starts, mode="clip").repeat(chunk.sizes)
        chunk.ids[values & (1 << bits) - 1] = ranks
        not_empty = chunk.sizes > 0
        distinct[chunk.segments][not_empty] = np.maximum.reduceat(ranks, chunk.starts[not_empty]) + 1
        ranked.append(np.split(chunk.ids, [chunk.lengths[: len(chunk.sizes)].sum()]))
    hypotheses, references = (np.concatenate(side) for side in zip(*ranked, strict=True))
    return segments._replace(ids=(hypotheses, references), id_bound=int(distinct.max())), distinct


def _count_ranked(segments: NumpySegments, orders: int) -> NDArray[np.int64]:
    """Return the matches of segments, ``(segments, orders)``, whose ids or positions do not fit."""
    segments, distinct = _rank_in_segments(segments)
    key_bits = KEY_BITS - segments.document_bits
    fits = distinct <= (1 << key_bits // orders) - 2
    bits = (int(distinct.max(where=fits, initial=0)) + 1).bit_length()
    plan = Plan(MOST_SLOT_BITS, key_bits - orders * bits, bits, orders, False, segments.document_bits)
    return _count_at_once(segments, fits, plan, _count_in_rounds)


def _count_at_once(
    segments: NumpySegments,
    fits: NDArray[np.bool_],
    plan: Plan,
    count_others: Callable[[NumpySegments, int], NDArray[np.int64]],
) -> NDArray[np.int64]:
    """Return the matches of segments, ``(segments, orders)``, of which only those of the mask ``fits`` fit the plan."""
    matches = np.zeros((len(fits), plan.orders), np.int64)
    if not fits.all():
        matches[fits] = _count_at_once(segments.select(fits), fits[fits], plan, count_others)
        matches[~fits] = count_others(segments.select(~fits), plan.orders)
        return matches
    # Only entries that this chunk wrote are read, so nothing is cleared.
    positions = np.empty(segments.id_bound if plan.uses_positions else 0, np.int64)
    for chunk in segments.chunks(plan.slots):
        digits = chunk.ids
        if not len(digits):
            continue
        if plan.uses_positions:
            positions[digits] = np.arange(len(digits), dtype=np.int64)
            digits = positions[digits]
        digits += 1
        keys = _sorted_keys(digits, chunk, plan)
        matches[chunk.segments] = _count(keys, chunk.sizes, chunk.starts, plan)
    return matches


def _count_in_rounds(segments: NumpySegments, orders: int) -> NDArray[np.int64]:
    """Return the matches of segments, ``(segments, orders)``, however many digits a key would have.

    A round counts the orders whose digits fit. The next round extends the longest of these n-grams, by their rank,
    if both sides have them.
    """
    matches = np.zeros((len(segments.sizes), orders), np.int64)
    bits = (segments.id_bound + 1).bit_length()
    document_bits = segments.document_bits
    for chunk in segments.chunks(_ROUND_SLOTS):
        # Behind each document is a slot with the digit past its end.
        past = np.zeros(len(chunk.lengths), np.int64)
        past[len(chunk.sizes) :] = (1 << bits) - 1
        digits = np.insert(chunk.ids + 1, chunk.lengths.cumsum(), past)
        spaced_lengths = chunk.lengths + 1
        slots = np.delete(np.arange(len(digits)), spaced_lengths.cumsum() - 1)
        segment, document = (field.repeat(spaced_lengths) for field in chunk.number_documents())
        head = segment.take(slots)
        served = 0
        while served < orders and len(slots):
            head_bits = int(head.max()).bit_length()
            taken = min(orders - served, (KEY_BITS - head_bits - document_bits) // bits)
            keys = head
            for distance in range(served, served + taken):
                keys = keys << bits
                keys |= digits.take(slots + distance, mode="clip")
            if not taken:
                # Millions of documents leave no room for a digit. The rank of head and digit needs less.
                keys = np.unique(head << bits | digits.take(slots + served, mode="clip"), return_inverse=True)[1]
                taken = 1
            keys <<= document_bits
            keys |= document.take(slots)
            order = keys.argsort()
            keys = keys.take(order)
            slots = slots.take(order)
            sizes = np.bincount(segment.take(slots), minlength=len(chunk.sizes))
            plan = Plan(0, head_bits, bits, taken, False, document_bits)
            matches[chunk.segments, served : served + taken] = _count(keys, sizes, sizes.cumsum() - sizes, plan)
            served += taken
            head, is_shared = _rank_ngrams(keys, document_bits)
            slots = slots[is_shared]
            head = head[is_shared]
    return matches


def add_empty_orders(matches: Tensor, orders: int) -> Tensor:
    """Return matches ``(groups, some orders)`` with 0 for each missing order: ``(groups, orders)``."""
    missing = orders - matches.shape[1]
    return torch.nn.functional.pad(matches, (0, missing)) if missing else matches


def _sorted_keys(digits: NDArray[np.int64], chunk: Chunk, plan: Plan) -> NDArray[np.int64]:
    """Return the keys of a chunk, sorted in each segment, one segment after another, from digits ``(slots,)``."""
    keys = join_digits(digits, plan.orders, plan.bits)
    # The last keys of each document have digits of the next one, which the digits past its end replace.
    tails = np.minimum(chunk.lengths, plan.orders - 1)
    tails_upto = tails.cumsum()
    remaining = tails_upto.repeat(tails) - np.arange(tails_upto[-1])
    tail_slots = chunk.lengths.cumsum().repeat(tails) - remaining
    past_ends = np.array([(1 << (plan.orders - inside) * plan.bits) - 1 for inside in range(plan.orders)])
    past_end = past_ends.take(remaining)
    tail_keys = keys.take(tail_slots) | past_end
    hypothesis_tails = tails_upto[len(chunk.sizes) - 1]
    tail_keys[:hypothesis_tails] -= past_end[:hypothesis_tails]
    keys[tail_slots] = tail_keys
    keys <<= plan.document_bits
    segment_in_bin = np.arange(len(chunk.sizes)) & (1 << plan.segment_bits) - 1
    segment, document = chunk.number_documents()
    document |= segment_in_bin.take(segment) << plan.document_bits + plan.orders * plan.bits
    keys |= document.repeat(chunk.lengths)
    by_segment = np.empty_like(keys)
    by_segment[chunk.order_by_segment()] = keys
    bin_index = chunk.starts // _BIN_SLOTS
    begins_bin = (bin_index[1:] != bin_index[:-1]) | (segment_in_bin[1:] == 0)
    for start, stop in pairwise((0, *chunk.starts[1:][begins_bin].tolist(), len(keys))):
        by_segment[start:stop].sort()
    return by_segment


def join_digits(digits: NDArray[np.int64], length: int, bits: int) -> NDArray[np.int64]:
    """Return the number that the ``length`` digits from each slot on form, with 0 after the last one: ``(slots,)``.

    All arrays have one size, so that each takes the memory of another one that is no longer needed.
    """
    keys, joined = digits, 1
    for doubled in bin(length)[3:]:  # the bits of the length below the highest
        longer = keys << joined * bits
        longer[:-joined] |= keys[joined:]
        joined *= 2
        if doubled == "1":
            longer <<= bits
            longer[:-joined] |= digits[joined:]
            joined += 1
        keys = longer
    return keys


def _count(
    keys: NDArray[np.int64], sizes: NDArray[np.int64], starts: NDArray[np.int64], plan: Plan
) -> NDArray[np.int64]:
    """Return the matches ``(segments, orders)`` of segments of ``sizes`` slots, from sorted keys ``(slots,)``."""
    orders = plan.orders
    segments = sizes.nonzero()[0]  # those that have tokens
    starts = starts.take(segments)
    before = _running_sums(keys, plan)
    differs = np.empty(len(keys) + 1, np.int64)  # from the slot before; where a segment begins, in every order
    np.bitwise_xor(keys[1:], keys[:-1], out=differs[1:-1])
    differs[starts] = differs[-1] = 1 << KEY_BITS - 1
    unmatched = np.empty((orders, len(starts)), np.int64)
    for order in range(1, orders + 1):
        # Neighbours differ in their first digits if the highest bit in which they differ is one of these.
        bounds = (differs >= 1 << plan.document_bits + (orders - order) * plan.bits).nonzero()[0]
        before_bounds = before.take(bounds, mode="clip")  # unchecked; (runs + 1,)
        run_unmatched = before_bounds[1:] - before_bounds[:-1]
        np.abs(run_unmatched, out=run_unmatched)
        if plan.document_bits > 1:
            _add_unmatched(run_unmatched, bounds, keys, plan)
        unmatched[order - 1] = np.add.reduceat(run_unmatched, bounds.searchsorted(starts), dtype=run_unmatched.dtype)
    matches = np.zeros((len(sizes), orders), np.int64)
    # All other slots are matched, one of the hypothesis and one of a reference.
    matches[segments] = ((sizes[segments] - unmatched) >> 1).T
    return matches


def _rank_ngrams(keys: NDArray[np.int64], document_bits: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the rank of the n-gram at each sorted slot, ``(slots,)``, and whether both sides have it."""
    is_first = np.ones(len(keys), np.bool_)
    np.greater_equal(keys[1:] ^ keys[:-1], 1 << document_bits, out=is_first[1:])
    rank = is_first.cumsum() - 1
    # The slots of an n-gram are sorted by document, and the hypothesis, 0, is first.
    is_last = np.append(is_first[1:], True)
    documents = keys & (1 << document_bits) - 1
    is_shared = (documents[is_first] == 0) & (documents[is_last] > 0)
    return rank, is_shared.take(rank)


def _running_sums(keys: NDArray[np.int64], plan: Plan) -> NDArray[np.int32]:
    """Return how many more slots of hypotheses than of references are before each slot, and in all, ``(slots + 1,)``.

    torch sums them, because np.cumsum accumulates through memory and takes six times as long.
    """
    sums = np.zeros(len(keys) + 1, np.int32)
    sums[1:] = keys
    sums &= (1 << plan.document_bits) - 1
    if plan.document_bits > 1:
        np.minimum(sums, 1, out=sums)
    sums *= -2
    sums[1:] += 1
    torch.from_numpy(sums).cumsum_(0)
    return sums


def _add_unmatched(
    unmatched: NDArray[np.int32], bounds: NDArray[np.int64], keys: NDArray[np.int64], plan: Plan
) -> None:
    """Correct in place how many slots of each run ``(runs,)`` have no match, counted as if references were one text.

    ``bounds`` ``(runs + 1,)`` is where runs begin, and the last one ends, among the sorted keys ``(slots,)``.
    """
    sizes = bounds[1:] - bounds[:-1]
    # A run of one match needs no correction.
    runs = (sizes - unmatched > 2).nonzero()[0]
    if not len(runs):
        return
    sizes = sizes.take(runs)
    slots = np.arange(int(sizes.sum())) + (bounds.take(runs) - sizes.cumsum() + sizes).repeat(sizes)
    cells = keys.take(slots) & (1 << plan.document_bits) - 1
    # Each run has n-grams of the hypothesis, whose cell is its first, and of references.
    first_cells = np.arange(len(runs)) << plan.document_bits
    cells += first_cells.repeat(sizes)
    if len(runs) << plan.document_bits <= 8 * len(cells):
        counts = np.bincount(cells, minlength=len(runs) << plan.document_bits)
    else:
        cells, counts = np.unique(cells, return_counts=True)
        first_cells = cells.searchsorted(first_cells)
    in_hypothesis = counts[first_cells]
    counts[first_cells] = 0
    matches = np.minimum(in_hypothesis, np.maximum.reduceat(counts, first_cells))
    unmatched[runs] = sizes - 2 * matches
