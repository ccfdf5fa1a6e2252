"""Clipped matches on a CPU, in numpy: the same counts as ``ngram_metrics.counting.matches``.

A numpy operation on a few thousand numbers takes a third of the time of a torch operation and starts no threads, and
numpy sorts numbers without an index twice as fast as torch sorts them with one. So the segments are cut into chunks
whose arrays stay in the cache. The keys are those of ``ngram_metrics.counting.keys``, with four differences:

* Below the last digit is the number of the document: 0 for a hypothesis, r for its r-th reference.
* If ids are wide, a digit is the place of a token in the chunk, the last place of equal tokens; or, if places are wide
  too, its rank among the tokens of its segment, which takes one more sort.
* Past the end of a document the digits are 0 in a hypothesis, and all bits are 1 in a reference. Neither is the digit
  of a token, so an n-gram that ends outside its document has no matches.
* The keys are moved so that segments follow one another, and sorted in bins of a few segments, without an index. To
  sort bins of 200 keys takes a fifth of the time of sorting a chunk at once. The highest digit tells the segments of a
  bin apart.

A running sum over the sorted keys adds 1 for a slot of the hypothesis and -1 for a slot of a reference. The absolute
difference between the ends of a run of equal n-grams is the number of its slots without a match, with one reference.
With several it is so for all but the few n-grams that occur twice in the hypothesis and twice in the references
together: the slots of these are counted document by document.

Segments whose n-grams do not fit into such a key are left to torch: of high orders, or of many references.

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

import os
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.jit._trace import is_tracing
from torch.utils._python_dispatch import _get_current_dispatch_mode

from ngram_metrics.counting.documents import (
    DocumentGroups,
    Documents,
    PaddedReferences,
    PaddedTokens,
    RaggedTokens,
    even_chunks,
    has_data,
)
from ngram_metrics.counting.keys import KEY_BITS

_COUNTING = os.environ.get("NGRAM_METRICS_COUNTING", "")
if _COUNTING not in ("", "torch"):
    raise ValueError(f"the environment has NGRAM_METRICS_COUNTING={_COUNTING!r:.60}: expected 'torch', or nothing")
#: Whether the environment has torch count on a CPU too, for comparisons.
FORCES_TORCH = _COUNTING == "torch"
#: The slots of a chunk of several segments need at most and at least this many bits. Fewer calls take less time than
#: more; of fewer bits the keys can hold more orders and references.
MOST_SLOT_BITS, LEAST_SLOT_BITS = 16, 11
#: A bin has at least this many slots, if there are more segments and a key can number them.
_BIN_SLOTS = 192
#: The number of a document takes at most this many bits: a table has a column for each document.
_MOST_DOCUMENT_BITS = 8
#: Padded rows with ids beyond this bound are renumbered: a table of the places of all ids would take too much memory.
_MOST_IDS = 1 << 20


class NumpySegments(NamedTuple):
    """Segments as numpy arrays.

    Attributes:
        ids: ``(tokens,)`` integers in ``[0, id_bound)``: of the hypotheses, and of the references.
        lengths: ``(documents,)`` int64: of the hypotheses, and of the references.
        counts: ``(segments,)`` int64, the number of references of each segment, at least 1; None if each has one.
        id_bound: an exclusive upper bound of the ids.
        sizes: ``(segments,)`` int64, the tokens of each segment.
    """

    ids: tuple[NDArray[np.int64], NDArray[np.int64]]
    lengths: tuple[NDArray[np.int64], NDArray[np.int64]]
    counts: NDArray[np.int64] | None
    id_bound: int
    sizes: NDArray[np.int64]

    def chunks(self, slots: int) -> Iterator[Chunk]:
        """Yield ranges of segments, each of at most so many slots, or one segment."""
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
        segments: which ones.
        ids: ``(slots,)`` int64, a copy: of the hypotheses, then of the references.
        lengths: ``(documents,)`` int64: of the hypotheses, then of the references.
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
        # References of earlier segments come before a hypothesis; hypotheses of later ones not before a reference.
        references_before = self.starts - hypotheses_upto + hypotheses
        hypotheses_after = hypotheses_upto - hypotheses_upto[-1]
        if self.counts is not None:
            hypotheses_after = hypotheses_after.repeat(self.counts)
        index = np.concatenate((references_before, hypotheses_after)).repeat(self.lengths)
        index += np.arange(len(index))
        return index


class Plan(NamedTuple):
    """Segments, and how their matches are counted. A key has a segment, digits and a document from the highest bits on.

    Attributes:
        segments: the segments.
        slots: the largest number of slots of a chunk of several segments.
        segment_bits: the bits of the number of a segment in its bin; below 0 if the keys do not fit.
        bits: the width of a digit.
        orders: the number of orders that are counted; longer n-grams have no matches.
        uses_places: whether a digit is the place of a token in the chunk plus 1, and not its id plus 1.
        document_bits: the bits of the number of a document in its segment.
    """

    segments: NumpySegments
    slots: int
    segment_bits: int
    bits: int
    orders: int
    uses_places: bool
    document_bits: int

    @property
    def fits(self) -> bool:
        """Whether numpy can count the matches."""
        return self.segment_bits >= 0 and self.document_bits <= _MOST_DOCUMENT_BITS


def has_numpy_segments(documents: Documents) -> bool:
    """Return whether ``numpy_segments`` may read documents: on the CPU, unless torch must count them there too."""
    return not must_use_torch() and has_data(documents.hypotheses.ids) and has_data(_tokens(documents.references).ids)


def must_use_torch() -> bool:
    """Return whether torch counts on a CPU too: if the environment says so, or while torch records its operations.

    Operations of numpy would be missing from a graph or a trace.
    """
    return FORCES_TORCH or torch.compiler.is_compiling() or is_tracing() or _get_current_dispatch_mode() is not None


def numpy_segments(documents: Documents) -> NumpySegments:
    """Return segments as numpy arrays, for which ``has_numpy_segments`` is true."""
    hypotheses = documents.hypotheses
    references = _tokens(documents.references)
    ids = hypotheses.ids.numpy(), references.ids.numpy()
    lengths = hypotheses.lengths.numpy(), references.lengths.numpy()
    if isinstance(hypotheses, RaggedTokens) and isinstance(references, RaggedTokens):
        id_bound = max(hypotheses.id_bound, references.id_bound)
    else:
        # A missing reference has no tokens.
        inside = [rows[np.arange(rows.shape[-1]) < ends[..., None]] for rows, ends in zip(ids, lengths, strict=True)]
        ids = inside[0], inside[1]
        id_bound = max(int(side.max(initial=0)) for side in ids) + 1
        if id_bound > _MOST_IDS or min(int(side.min(initial=0)) for side in ids) < 0:
            names, renamed = np.unique(np.concatenate(ids), return_inverse=True)
            ids = renamed[: len(ids[0])], renamed[len(ids[0]) :]
            id_bound = len(names)
    counts = None
    sizes = lengths[1]
    if isinstance(documents.references, PaddedReferences):
        assert documents.references.present is not None  # several: single references are pairs
        present = documents.references.present.numpy()
        counts = present.sum(1)
        lengths = lengths[0], lengths[1][present]
        sizes = sizes.sum(1)
    elif isinstance(documents.references, DocumentGroups):
        counts = documents.references.counts.numpy()
        sizes = np.add.reduceat(sizes, counts.cumsum() - counts)
    return NumpySegments(ids, lengths, counts, id_bound, lengths[0] + sizes)


def _tokens(references: DocumentGroups | PaddedReferences | RaggedTokens | PaddedTokens) -> RaggedTokens | PaddedTokens:
    """Return the tokens of references, whether or not they are in groups."""
    return references.tokens if isinstance(references, (DocumentGroups, PaddedReferences)) else references


def plan_matches(documents: Documents, max_order: int) -> Plan:
    """Return how the matches of segments are counted, for which ``has_numpy_segments`` is true."""
    segments = numpy_segments(documents)
    # No segment has a match that is longer than one of its documents.
    orders = min(max_order, *(int(side.max(initial=1)) for side in segments.lengths))
    plan = _plan(segments, orders)
    slot_bits = max(MOST_SLOT_BITS, int(segments.sizes.max(initial=0)).bit_length())
    if plan.segment_bits >= 0 or segments.id_bound.bit_length() + slot_bits > KEY_BITS:
        return plan
    return _plan(_rank_in_segments(segments), orders)


def _plan(segments: NumpySegments, orders: int) -> Plan:
    """Return the largest chunks whose keys fit, or keys that do not fit."""
    sizes = segments.sizes
    document_bits = 1 if segments.counts is None else int(segments.counts.max(initial=1)).bit_length()
    id_bits = (segments.id_bound + 1).bit_length()
    largest_bits = (int(sizes.max(initial=0)) + 1).bit_length()
    # As many segments as fill a bin.
    enough_bits = (_BIN_SLOTS * len(sizes) // max(1, int(sizes.sum()))).bit_length()
    for slot_bits in range(MOST_SLOT_BITS, LEAST_SLOT_BITS - 1, -1):
        bits = min(id_bits, max(slot_bits, largest_bits))
        segment_bits = KEY_BITS - document_bits - orders * bits
        if segment_bits >= enough_bits:
            break
    slots = (1 << slot_bits) - 2
    return Plan(segments, slots, segment_bits, bits, orders, bits < id_bits, document_bits)


def _rank_in_segments(segments: NumpySegments) -> NumpySegments:
    """Return segments with the ids of each numbered ``0, 1, ...`` in ascending order."""
    ranked = []
    id_bound = 1
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
        id_bound = max(id_bound, int(ranks.max()) + 1)
        ranked.append(np.split(chunk.ids, [chunk.lengths[: len(chunk.sizes)].sum()]))
    hypotheses, references = (np.concatenate(side) for side in zip(*ranked, strict=True))
    return segments._replace(ids=(hypotheses, references), id_bound=id_bound)


def numpy_matches(plan: Plan, max_order: int) -> Tensor:
    """Return the matches of each segment of a plan that fits, ``(segments, orders)`` int64."""
    segments = plan.segments
    matches = np.zeros((len(segments.sizes), plan.orders), np.int64)
    # Of each equal token the last place is read, so only entries that this chunk wrote: nothing is cleared.
    places = np.empty(segments.id_bound if plan.uses_places else 0, np.int64)
    for chunk in segments.chunks(plan.slots):
        digits = chunk.ids
        if not len(digits):
            continue
        if plan.uses_places:
            places[digits] = np.arange(len(digits), dtype=np.int64)
            digits = places[digits]
        digits += 1
        matches[chunk.segments] = _count(_sorted_keys(digits, chunk, plan), chunk, plan)
    return add_empty_orders(torch.from_numpy(matches), max_order)


def add_empty_orders(matches: Tensor, orders: int) -> Tensor:
    """Return matches ``(groups, some orders)`` with a 0 for each order that is missing: ``(groups, orders)``."""
    missing = orders - matches.shape[1]
    return torch.nn.functional.pad(matches, (0, missing)) if missing else matches


def _sorted_keys(digits: NDArray[np.int64], chunk: Chunk, plan: Plan) -> NDArray[np.int64]:
    """Return the keys of a chunk, sorted in each segment, one segment after another, from digits ``(slots,)``."""
    keys, order = digits, 1
    for doubled in bin(plan.orders)[3:]:  # the bits of the number of orders below the highest
        keys = _append_keys(keys, keys, order, order * plan.bits)
        order *= 2
        if doubled == "1":
            keys = _append_keys(keys, digits, order, plan.bits)
            order += 1
    # The last slots of each document have digits past its end, where those of the next one are so far.
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
    keys |= _number_documents(segment_in_bin, chunk, plan).repeat(chunk.lengths)
    by_segment = np.empty_like(keys)
    by_segment[chunk.order_by_segment()] = keys
    bin_index = chunk.starts // _BIN_SLOTS
    begins_bin = (bin_index[1:] != bin_index[:-1]) | (segment_in_bin[1:] == 0)
    for start, stop in pairwise((0, *chunk.starts[1:][begins_bin].tolist(), len(keys))):
        by_segment[start:stop].sort()
    return by_segment


def _number_documents(segment_in_bin: NDArray[np.int64], chunk: Chunk, plan: Plan) -> NDArray[np.int64]:
    """Return keys ``(documents,)`` without digits: the number of the segment, and that of the document in it."""
    hypotheses = segment_in_bin << plan.document_bits + plan.orders * plan.bits
    if chunk.counts is None:
        references = hypotheses + 1
    else:
        before = chunk.counts.cumsum() - chunk.counts
        references = (hypotheses - before).repeat(chunk.counts) + np.arange(1, len(chunk.lengths) - len(before) + 1)
    return np.concatenate((hypotheses, references))


def _append_keys(keys: NDArray[np.int64], others: NDArray[np.int64], distance: int, bits: int) -> NDArray[np.int64]:
    """Return each key with the key of ``others`` that is ``distance`` slots after it, which has this number of bits."""
    longer = keys << bits
    longer[: max(0, len(keys) - distance)] |= others[distance:]
    return longer


def _count(keys: NDArray[np.int64], chunk: Chunk, plan: Plan) -> NDArray[np.int64]:
    """Return the matches of the segments of a chunk, ``(segments, orders)``."""
    segments = chunk.sizes.nonzero()[0]  # those that have tokens
    starts = chunk.starts[segments]
    before = _running_sums(keys, plan)
    differs = np.empty(len(keys) + 1, np.int64)  # from the slot before; where a segment begins, in every order
    np.bitwise_xor(keys[1:], keys[:-1], out=differs[1:-1])
    differs[starts] = differs[-1] = 1 << KEY_BITS - 1
    unmatched = np.empty((plan.orders, len(starts)), np.int64)
    for order in range(1, plan.orders + 1):
        # Neighbours differ in their first digits if the highest bit in which they differ is one of these.
        bounds = (differs >= 1 << plan.document_bits + (plan.orders - order) * plan.bits).nonzero()[0]
        before_bounds = before.take(bounds, mode="clip")  # unchecked; (runs + 1,)
        run_unmatched = before_bounds[1:] - before_bounds[:-1]
        np.abs(run_unmatched, out=run_unmatched)
        if plan.document_bits > 1:
            _add_unmatched(run_unmatched, bounds, keys, plan)
        unmatched[order - 1] = np.add.reduceat(run_unmatched, bounds.searchsorted(starts), dtype=run_unmatched.dtype)
    matches = np.zeros((len(chunk.sizes), plan.orders), np.int64)
    # All other slots are matched, one of the hypothesis and one of a reference.
    matches[segments] = ((chunk.sizes[segments] - unmatched) >> 1).T
    return matches


def _running_sums(keys: NDArray[np.int64], plan: Plan) -> NDArray[np.int32]:
    """Return how many slots more of hypotheses than of references are before each, and in all, ``(slots + 1,)``.

    numpy's running sum takes six times as long as torch's, because np.cumsum accumulates through memory.
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
    """Add to the slots without a match of each run ``(runs,)`` those that only all references together match.

    Args:
        unmatched: of each run as if all references were one text; corrected in place.
        bounds: ``(runs + 1,)``, where runs begin, and the last one ends.
        keys: ``(slots,)``, sorted in each segment.
        plan: the digits of the keys.
    """
    sizes = bounds[1:] - bounds[:-1]
    # Two slots of one match are of the hypothesis and of one reference.
    runs = (sizes - unmatched > 2).nonzero()[0]
    if not len(runs):
        return
    sizes = sizes.take(runs)
    slots = np.arange(int(sizes.sum())) + (bounds.take(runs) - sizes.cumsum() + sizes).repeat(sizes)
    documents = 1 << plan.document_bits
    cell = keys.take(slots) & documents - 1
    cell += (np.arange(len(runs)) * documents).repeat(sizes)
    counts = np.bincount(cell, minlength=len(runs) * documents).reshape(-1, documents)
    matches = np.minimum(counts[:, 0], counts[:, 1:].max(1))
    unmatched[runs] = sizes - 2 * matches
