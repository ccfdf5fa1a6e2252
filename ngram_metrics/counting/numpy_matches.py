"""Clipped matches on a CPU, in numpy: the same counts as ``ngram_metrics.counting.matches``.

A numpy operation on a few thousand numbers takes a third of the time of a torch operation and starts no threads, and
numpy sorts numbers without an index twice as fast as torch sorts them with one. So the segments are cut into chunks
whose arrays stay in the cache; words are counted in half the time. The keys are those of
``ngram_metrics.counting.keys``, with three differences, after which one sort without an index is enough:

* Below the last digit is the number of the document: 0 for a hypothesis, r for its r-th reference.
* If ids are wide, a digit is the place of a token in the chunk, the last place of equal tokens; or, if places are wide
  too, its rank among the tokens of its segment, which takes one more sort.
* Past the end of a document the digits are 0 in a hypothesis, and all bits are 1 in a reference. Neither is the digit
  of a token, so an n-gram that ends outside its document has no matches.

A running sum over the sorted keys adds a step for each slot, and the difference between the ends of a run of equal
n-grams holds how often each document has it. With one reference the step is 1 in the hypothesis and -1 in the
reference: the absolute sum of a run is the number of its slots without a match, and an int16 holds it. With several,
the step of document d is 1 in the d-th field of bits of an int64, and a field holds a count.

Segments whose n-grams do not fit into such a key, or whose counts do not fit into such a sum, are left to torch: of
long documents, high orders, large vocabularies, or many references.

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
from itertools import product
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.jit._trace import is_tracing
from torch.utils._python_dispatch import _get_current_dispatch_mode

from ngram_metrics.counting.documents import (
    DocumentGroups,
    Documents,
    PaddedPairs,
    PaddedReferences,
    PaddedSides,
    RaggedPairs,
    RaggedSides,
    even_chunks,
)
from ngram_metrics.counting.keys import KEY_BITS, bit_length

_COUNTING = os.environ.get("NGRAM_METRICS_COUNTING", "")
if _COUNTING not in ("", "torch"):
    raise ValueError(f"the environment has NGRAM_METRICS_COUNTING={_COUNTING!r:.60}: expected 'torch', or nothing")
#: Whether the environment has torch count on a CPU too, for comparisons.
FORCES_TORCH = _COUNTING == "torch"
#: The slots of a chunk need at most this many bits, so that an int16 holds the sum of 1 and -1 over them, and at least
#: that many: smaller chunks take more time than torch.
MOST_SLOT_BITS, LEAST_SLOT_BITS = 15, 11
#: A chunk has room for all segments, or for as many as it has slots, divided by two to this power.
_BITS_OF_A_SHORT_SEGMENT = 4
#: Ids of padded rows from this bound on are left to torch: a table of all ids would take too much memory.
_MOST_IDS = 1 << 20


class NumpySegments(NamedTuple):
    """Segments as numpy arrays.

    Attributes:
        ids: ``(tokens,)`` integers in ``[0, id_bound)``: of the hypotheses, and of the references.
        lengths: ``(documents,)`` int64: of the hypotheses, and of the references.
        counts: ``(segments,)`` int64, the number of references of each segment, at least 1; None if each has one.
        id_bound: an exclusive upper bound of the ids.
    """

    ids: tuple[NDArray[np.int64], NDArray[np.int64]]
    lengths: tuple[NDArray[np.int64], NDArray[np.int64]]
    counts: NDArray[np.int64] | None
    id_bound: int

    def sizes(self) -> NDArray[np.int64]:
        """Return the number of tokens of each segment."""
        hypotheses, references = self.lengths
        if self.counts is not None:
            references = np.add.reduceat(references, self.counts.cumsum() - self.counts)
        return hypotheses + references

    def chunks(self, sizes: NDArray[np.int64], largest: int) -> Iterator[Chunk]:
        """Yield ranges of segments, each at most ``largest`` by their ``sizes``, or one segment."""
        first_token = [0, 0]
        first_reference = 0
        for start, stop in even_chunks(sizes, largest):
            counts = None if self.counts is None else self.counts[start:stop]
            last_reference = stop if counts is None else first_reference + int(counts.sum())
            lengths = [self.lengths[0][start:stop], self.lengths[1][first_reference:last_reference]]
            last_token = [before + int(side.sum()) for before, side in zip(first_token, lengths, strict=True)]
            ids = [side[first:last] for side, first, last in zip(self.ids, first_token, last_token, strict=True)]
            yield Chunk(slice(start, stop), np.concatenate(ids, dtype=np.int64), np.concatenate(lengths), counts)
            first_token = last_token
            first_reference = last_reference


class Chunk(NamedTuple):
    """Some segments.

    Attributes:
        segments: which ones.
        ids: ``(slots,)`` int64, a copy: of the hypotheses, then of the references.
        lengths: ``(documents,)`` int64: of the hypotheses, then of the references.
        counts: ``(segments,)`` int64, the number of references of each segment; None if each has one.
    """

    segments: slice
    ids: NDArray[np.int64]
    lengths: NDArray[np.int64]
    counts: NDArray[np.int64] | None


class _Plan(NamedTuple):
    """How segments are cut into chunks. A key has a segment, digits and a document, from the highest bits down.

    Attributes:
        slots: the largest number of slots of a chunk.
        segment_bits: the bits of the number of a segment in its chunk.
        bits: the width of a digit.
        orders: the number of orders.
        digit: what a digit is, less 1: the id of a token, its place in the chunk, or its rank in the segment.
        documents: the largest number of documents of a segment.
        document_bits: the bits of the number of a document in its segment.
        count_bits: the bits of a count in a sum of several.
    """

    slots: int
    segment_bits: int
    bits: int
    orders: int
    digit: Literal["id", "place", "rank"]
    documents: int
    document_bits: int
    count_bits: int


def numpy_matches(documents: Documents, max_order: int) -> Tensor | None:
    """Return the matches of each segment, ``(segments, orders)`` int64.

    Returns None if torch counts them instead: where ``numpy_segments`` does, and if n-grams or counts do not fit.
    """
    segments = numpy_segments(documents)
    if segments is None:
        return None
    # No segment has a match that is longer than one of its documents.
    longest = [int(side.max(initial=1)) for side in segments.lengths]
    sizes = segments.sizes()
    plan = _plan(segments, sizes, min(max_order, *longest), max(longest))
    return None if plan is None else add_empty_orders(torch.from_numpy(_matches(segments, sizes, plan)), max_order)


def add_empty_orders(matches: Tensor, orders: int) -> Tensor:
    """Return matches ``(groups, some orders)`` with a 0 for each order that is missing: ``(groups, orders)``."""
    missing = orders - matches.shape[1]
    return torch.nn.functional.pad(matches, (0, missing)) if missing else matches


def numpy_segments(documents: Documents) -> NumpySegments | None:
    """Return segments as numpy arrays.

    Returns None on another device, where torch must count, and of ids beyond a million in padded rows.
    """
    if documents.hypotheses.ids.device.type != "cpu" or must_use_torch():
        return None
    try:
        if isinstance(documents, (PaddedPairs, PaddedSides)):
            return _convert_padded(documents)
        return _convert_ragged(documents)
    except (RuntimeError, TypeError):  # a tensor without data, such as in vmap or in FakeTensorMode
        return None


def must_use_torch() -> bool:
    """Return whether torch counts on a CPU too: if the environment says so, or while torch records its operations.

    Operations of numpy would be missing from a graph or a trace.
    """
    return FORCES_TORCH or torch.compiler.is_compiling() or is_tracing() or _get_current_dispatch_mode() is not None


def _convert_ragged(documents: RaggedPairs | RaggedSides) -> NumpySegments:
    hypotheses, references = documents
    counts = None
    if isinstance(references, DocumentGroups):
        counts = references.counts.numpy()
        references = references.tokens
    ids = hypotheses.ids.numpy(), references.ids.numpy()
    lengths = hypotheses.lengths.numpy(), references.lengths.numpy()
    return NumpySegments(ids, lengths, counts, max(hypotheses.id_bound, references.id_bound))


def _convert_padded(documents: PaddedPairs | PaddedSides) -> NumpySegments | None:
    hypotheses, references = documents
    present = None
    if isinstance(references, PaddedReferences):
        present = references.present.numpy()
        references = references.tokens
    lengths, reference_lengths = hypotheses.lengths.numpy(), references.lengths.numpy()
    # A missing reference has no tokens.
    ids = _inside(hypotheses.ids, lengths), _inside(references.ids, reference_lengths)
    least = min(int(side.min(initial=0)) for side in ids)
    most = max(int(side.max(initial=0)) for side in ids)
    if least < 0 or most >= _MOST_IDS:
        return None
    if present is None:
        return NumpySegments(ids, (lengths, reference_lengths), None, most + 1)
    return NumpySegments(ids, (lengths, reference_lengths[present]), present.sum(1), most + 1)


def _inside(rows: Tensor, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the tokens of padded rows, one row after another: ``(..., width)`` to ``(tokens,)``."""
    ids: NDArray[np.int64] = rows.numpy()
    return ids[np.arange(ids.shape[-1]) < lengths[..., None]]


def _plan(segments: NumpySegments, sizes: NDArray[np.int64], orders: int, longest: int) -> _Plan | None:
    """Return the largest chunks whose keys fit, or None, where no document is longer than ``longest``."""
    documents = 2 if segments.counts is None else 1 + int(segments.counts.max(initial=1))
    document_bits, count_bits = bit_length(documents - 1), bit_length(longest)
    if documents > 2 and documents * count_bits > KEY_BITS:
        return None
    id_bits = bit_length(segments.id_bound + 1)
    largest, total = int(sizes.max(initial=0)), int(sizes.sum())
    ways: list[Literal["place", "rank"]] = ["place", "rank"]
    for digit, slot_bits in product(ways, range(MOST_SLOT_BITS, LEAST_SLOT_BITS - 1, -1)):
        if digit == "rank" and id_bits + slot_bits > KEY_BITS:
            continue  # a rank is found by sorting segments and ids
        bits = min(id_bits, slot_bits if digit == "place" else bit_length(largest + 1))
        slots = (1 << slot_bits) - 2
        segment_bits = KEY_BITS - document_bits - orders * bits
        # As many as there are, or as fill a chunk.
        most = min(len(sizes), slots * len(sizes) // max(1, total))
        if segment_bits >= min(bit_length(most), slot_bits - _BITS_OF_A_SHORT_SEGMENT) and largest <= slots:
            digit_or_id = digit if bits < id_bits else "id"
            return _Plan(slots, segment_bits, bits, orders, digit_or_id, documents, document_bits, count_bits)
    return None


def _matches(segments: NumpySegments, sizes: NDArray[np.int64], plan: _Plan) -> NDArray[np.int64]:
    """Return the matches of segments of these sizes, ``(segments, orders)``."""
    matches = np.zeros((plan.orders, len(sizes)), np.int64)
    # Of each equal token the last place is read, so only entries that this chunk wrote: nothing is cleared.
    places = np.empty(segments.id_bound if plan.digit == "place" else 0, np.int64)
    # A short segment counts as several slots, which bounds the number of segments of a chunk.
    bounded = np.maximum(sizes, (plan.slots >> plan.segment_bits) + 1)
    for chunk in segments.chunks(bounded, plan.slots):
        digits = chunk.ids
        if not len(digits):
            continue
        document = _number_documents(chunk, plan).repeat(chunk.lengths)
        if plan.digit == "place":
            places[digits] = np.arange(len(digits), dtype=np.int64)
            digits = places[digits]
        elif plan.digit == "rank":
            digits = _rank_in_segments(digits, document >> plan.document_bits + plan.orders * plan.bits)
        digits += 1
        keys = _sorted_keys(digits, document, chunk, plan)
        matches[:, chunk.segments] = _count(keys, sizes[chunk.segments], plan)
    return matches.T


def _number_documents(chunk: Chunk, plan: _Plan) -> NDArray[np.int64]:
    """Return keys ``(documents,)`` without digits: the number of the segment, and that of the document in it."""
    segments = chunk.segments.stop - chunk.segments.start
    hypotheses = np.arange(segments, dtype=np.int64) << plan.document_bits + plan.orders * plan.bits
    if chunk.counts is None:
        references = hypotheses + 1
    else:
        before = chunk.counts.cumsum() - chunk.counts
        references = (hypotheses - before).repeat(chunk.counts) + np.arange(1, len(chunk.lengths) - segments + 1)
    return np.concatenate((hypotheses, references))


def _rank_in_segments(ids: NDArray[np.int64], segment: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number the ids of each segment ``0, 1, ...`` in ascending order, from arrays ``(slots,)``."""
    bits = bit_length(int(ids.max()))
    numbered, ranks = np.unique(segment << bits | ids, return_inverse=True)
    first = numbered.searchsorted(np.arange(int(segment.max()) + 1) << bits)
    return ranks - first.take(segment)


def _sorted_keys(
    digits: NDArray[np.int64], document: NDArray[np.int64], chunk: Chunk, plan: _Plan
) -> NDArray[np.int64]:
    """Return the sorted keys of a chunk, from arrays ``(slots,)``."""
    ends = chunk.lengths.cumsum()
    keys, order = digits, 1
    for doubled in bin(plan.orders)[3:]:  # the bits of the number of orders below the highest
        keys = _append_keys(keys, keys, order, order * plan.bits)
        order *= 2
        if doubled == "1":
            keys = _append_keys(keys, digits, order, plan.bits)
            order += 1
    # The last slots of each document have digits past its end, where those of the next one are so far.
    tails = np.minimum(chunk.lengths, plan.orders - 1)
    tail_slot = np.arange(int(tails.sum())) + (ends - tails.cumsum()).repeat(tails)
    past_end = (1 << (plan.orders - ends.repeat(tails) + tail_slot) * plan.bits) - 1
    keys[tail_slot] |= past_end
    segments = chunk.segments.stop - chunk.segments.start
    hypothesis_tails = int(tails[:segments].sum())
    keys[tail_slot[:hypothesis_tails]] -= past_end[:hypothesis_tails]
    keys <<= plan.document_bits
    keys |= document
    keys.sort()
    return keys


def _append_keys(keys: NDArray[np.int64], others: NDArray[np.int64], distance: int, bits: int) -> NDArray[np.int64]:
    """Return each key with the key of ``others`` that is ``distance`` slots after it, which has this number of bits."""
    longer = keys << bits
    longer[: max(0, len(keys) - distance)] |= others[distance:]
    return longer


def _count(keys: NDArray[np.int64], sizes: NDArray[np.int64], plan: _Plan) -> NDArray[np.int64]:
    """Return the matches of the segments of a chunk, ``(orders, segments)``, whose slots are ``sizes``."""
    some = sizes.nonzero()[0]
    starts = (sizes.cumsum() - sizes)[some]  # (segments with tokens,)
    before = _running_sums(keys, plan)
    differs = np.full(len(keys) + 1, 1 << KEY_BITS - 1, np.int64)  # from the slot before; at both ends, in every order
    np.bitwise_xor(keys[1:], keys[:-1], out=differs[1:-1])
    counts = np.zeros((plan.orders, len(sizes)), np.int64)
    for order in range(1, plan.orders + 1):
        # Neighbours differ in their first digits if the highest bit in which they differ is one of these.
        bounds = (differs >= 1 << plan.document_bits + (plan.orders - order) * plan.bits).nonzero()[0]
        before_bounds = before.take(bounds, mode="clip")  # unchecked; (runs + 1,)
        run_matches = _reduce_runs(before_bounds[1:] - before_bounds[:-1], plan)
        counts[order - 1, some] = np.add.reduceat(run_matches, bounds.searchsorted(starts), dtype=run_matches.dtype)
    # All slots of pairs but the unmatched ones are matched, one of each text.
    return counts if plan.documents > 2 else (sizes - counts) >> 1


def _running_sums(keys: NDArray[np.int64], plan: _Plan) -> NDArray[np.int64] | NDArray[np.int16]:
    """Return the sums of the steps of all slots before each, and of all, ``(slots + 1,)``, which may overflow.

    numpy's running sum takes six times as long as torch's, for it adds in memory.
    """
    if plan.documents == 2:
        pair_sums = np.zeros(len(keys) + 1, np.int16)
        pair_sums[1:] = keys
        pair_sums &= 1
        pair_sums *= -2
        pair_sums[1:] += 1
        torch.from_numpy(pair_sums).cumsum_(0)
        return pair_sums
    sums = np.zeros(len(keys) + 1, np.int64)
    np.left_shift(1, (keys & (1 << plan.document_bits) - 1) * plan.count_bits, out=sums[1:])
    torch.from_numpy(sums).cumsum_(0)
    return sums


def _reduce_runs(sums: NDArray[Any], plan: _Plan) -> NDArray[Any]:
    """Return the matches of each run ``(runs,)``, of pairs the slots without a match."""
    if plan.documents == 2:
        return np.abs(sums, out=sums)
    field = (1 << plan.count_bits) - 1
    most = np.zeros_like(sums)
    for document in range(1, plan.documents):
        np.maximum(most, sums >> document * plan.count_bits & field, out=most)
    return np.minimum(sums & field, most, out=most)
