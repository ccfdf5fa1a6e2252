"""Clipped n-gram matches on a CPU, exact for all ids.

Papineni et al. 2002, section 2.1: an n-gram matches as often as it occurs in the hypothesis, but at most as often as it
occurs in any one reference.

The n-gram at a slot is one number, its *key*: the segment, a digit for each token, and the document within the segment,
0 for the hypothesis. A key without its last token digits is the key of a shorter n-gram. So one sort of the keys of
the longest order puts equal n-grams of every order side by side. Two neighbours are equal in an order if the highest
bit in which they differ is below the digits of that order. With one reference, a *run* of equal n-grams has as many
matches as its smaller side has slots; ``_clip`` corrects it for several.

Example: one segment, whose number 0 is left out. The hypothesis is ``a b a`` and the reference ``b a``, where a = 3,
b = 4; orders 1 and 2, the document after a dot.

=======  ====  ====  ====  ====  ====  ====  ====
slot     0     1     2     3     4     5     6
=======  ====  ====  ====  ====  ====  ====  ====
id       3     4     3     0     4     3     1
key      34.0  43.0  30.0  04.0  43.1  31.1  10.1
sorted   04.0  10.1  30.0  31.1  34.0  43.0  43.1
=======  ====  ====  ====  ====  ====  ====  ====

In order 2 both documents have the run ``43``: one match. In order 1 they share two runs. ``4`` occurs once in each, and
``3`` twice in the hypothesis but once in the reference: one match each.

If the digits of all orders do not fit a key, as many orders as fit are counted first. Their n-grams are numbered, and
the next keys start with this number instead of the segment. Nothing is hashed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ngram_metrics._core.counting.batch import Batch, Integers, join_ranges

#: Bits of a key: int64 without its sign.
KEY_BITS = 63
#: The number of slots that are sorted at a time, few enough for their arrays to stay in the cache.
SLOTS = 1 << 13
#: The number of cells (orders times slots) that are compared at a time, which limits memory. Only long segments have
#: more.
CELLS = 1 << 20
_ALL_BITS = (1 << KEY_BITS) - 1


def count_matches(batch: Batch, orders: int) -> Integers:
    """Return the clipped matches of each segment and order, ``(segments, orders)`` int64."""
    if orders == 0:
        return np.zeros((len(batch.hypothesis_lengths), 0), np.int64)
    parts = [_count_chunk(chunk, orders) for chunk in batch.chunks(SLOTS)]
    if len(parts) == 1:
        return parts[0]
    no_segments = np.empty((0, orders), np.int64)
    return np.concatenate([no_segments, *parts])


def _count_chunk(batch: Batch, orders: int) -> Integers:
    """Return the matches of a batch, ``(segments, orders)``, which is counted as one array."""
    sizes = batch.sizes
    segment, document = locate_documents(batch)
    matches = np.zeros((len(sizes), orders), np.int64)
    orders_done = 0
    for keys, limits in sort_ngrams(batch, segment, document, orders):
        counts = _count_matches_in_runs(keys, limits, sizes)
        matches[:, orders_done : orders_done + len(limits)] = counts
        orders_done += len(limits)
        if orders_done < orders and not counts[:, -1].any():
            break  # a longer n-gram matches only where its beginning does
    return matches


def sort_ngrams(
    batch: Batch, segment: Integers, document: Integers, orders: int
) -> Iterator[tuple[Integers, Integers]]:
    """Yield sorted keys, for as many orders at a time as fit a key.

    Args:
        batch: the documents.
        segment: ``(documents,)``, ascending; n-grams of different segments are unequal.
        document: ``(documents,)``, the index of the document in its segment.
        orders: the longest order, at least 1.

    Yields:
        The keys ``(slots,)``, and for each order the smallest difference of unequal n-grams, ``(orders, 1)``. The last
        one is a power of 2, and the bits below it hold the document.
    """
    document_bits = 1 if batch.is_paired else int(document.max()).bit_length()
    head_bits = int(segment[-1]).bit_length()
    if head_bits + orders * (batch.bound - 1).bit_length() + document_bits > KEY_BITS:
        batch = batch.narrow()
    bits = (batch.bound - 1).bit_length()
    slots = batch.lengths + 1
    document = document.repeat(slots)
    head = segment.repeat(slots)
    orders_done = 0
    while True:
        orders_taken = min(orders - orders_done, (KEY_BITS - head_bits - document_bits) // bits)
        digits = batch.ids
        if orders_done > 0:
            past_end = np.zeros(orders_done, np.int64)
            digits = np.append(batch.ids[orders_done:], past_end)
        if orders_taken > 0:
            ngrams = _join_digits(digits, orders_taken, bits)
            ngrams += head << orders_taken * bits
        else:
            # Not even one digit fits behind the numbers of millions of n-grams: number the pairs of head and digit.
            orders_taken = 1
            ngrams = np.unique(head << bits | digits, return_inverse=True)[1]
        keys = ngrams << document_bits
        keys += document
        keys.sort()
        yield keys, _smallest_differences(orders_taken, bits, document_bits)
        orders_done += orders_taken
        if orders_done == orders:
            return
        distinct, head = np.unique(ngrams, return_inverse=True)
        head_bits = (len(distinct) - 1).bit_length()


def locate_documents(batch: Batch) -> tuple[Integers, Integers]:
    """Return the segment of each document, and its index in the segment, 0 for the hypothesis."""
    documents = np.arange(len(batch.lengths))
    if batch.reference_counts is None:
        return documents >> 1, documents & 1
    segment = np.arange(len(batch.reference_counts)).repeat(batch.reference_counts + 1)
    return segment, documents - batch.hypothesis_documents[segment]


def _join_digits(digits: Integers, length: int, bits: int) -> Integers:
    """Return at each slot the number made of the next ``length`` digits, ``(slots,)``; digits past the end are 0."""
    numbers = digits.copy()
    joined = 1
    # Double the length for each bit after the highest one, and add one digit where the bit is 1.
    for is_odd in bin(length)[3:]:
        longer = numbers << joined * bits
        longer[:-joined] |= numbers[joined:]
        joined *= 2
        if is_odd == "1":
            longer <<= bits
            longer[:-joined] |= digits[joined:]
            joined += 1
        numbers = longer
    return numbers


@cache
def _smallest_differences(orders: int, bits: int, document_bits: int) -> Integers:
    return np.array([[1 << document_bits + (orders - order) * bits] for order in range(1, orders + 1)])


def find_differences(keys: Integers) -> Integers:
    """Return the bits in which each sorted key differs from the one before, and all bits at the start and the end."""
    differs = np.empty(len(keys) + 1, np.int64)
    np.bitwise_xor(keys[1:], keys[:-1], differs[1:-1])
    differs[0] = _ALL_BITS
    differs[-1] = _ALL_BITS
    return differs


def _count_matches_in_runs(keys: Integers, limits: Integers, sizes: Integers) -> Integers:
    """Return the matches ``(segments, orders)`` of sorted keys, where each segment has ``sizes`` slots in turn."""
    differs = find_differences(keys)  # a run begins at 0 and past the end
    bound = int(limits[-1, 0])  # of the documents of a segment
    documents = keys & (bound - 1)
    # How many more slots of hypotheses than of references are before each slot.
    surplus = np.zeros(len(keys) + 1, np.int64)
    is_reference = documents > 0
    np.add.accumulate(1 - 2 * is_reference, out=surplus[1:])
    starts = sizes.cumsum() - sizes
    at_once = max(1, CELLS // len(keys))
    parts = []
    for first in range(0, len(limits), at_once):
        is_first = differs >= limits[first : first + at_once]
        parts.append(_count_unmatched(documents, is_first, surplus, starts, bound))
    unmatched = parts[0] if len(parts) == 1 else np.concatenate(parts)  # (orders, segments)
    # The other slots match in pairs, one of the hypothesis and one of a reference.
    return ((sizes - unmatched) >> 1).T


def _count_unmatched(
    documents: Integers, is_first: NDArray[np.bool_], surplus: Integers, starts: Integers, bound: int
) -> Integers:
    """Return the slots without a match, ``(orders, segments)``.

    ``is_first`` ``(orders, slots + 1)`` says where runs begin, and ``starts`` where segments begin. ``documents`` has
    the document of each slot, below ``bound``.
    """
    orders, width = is_first.shape
    begins = is_first.ravel().nonzero()[0]  # of all runs, one order after another
    surplus_before = np.concatenate([surplus] * orders).take(begins)
    # The slots of the larger side of a run that find no partner on the other side.
    unmatched = np.abs(surplus_before[1:] - surplus_before[:-1])
    if bound > 2:
        _clip(unmatched, begins, documents, bound)
    cells = np.arange(0, orders * width, width)[:, None] + starts  # (orders, segments), where each segment begins
    first_runs = begins.searchsorted(cells.ravel())
    sums = np.add.reduceat(unmatched, first_runs).reshape(cells.shape)
    # The last segment of each order but the last also got the step back to a surplus of 0.
    sums[:-1, -1] -= abs(int(surplus[-1]))
    return sums


def _clip(unmatched: Integers, begins: Integers, documents: Integers, bound: int) -> None:
    """Correct in place the unmatched slots, which were counted as if all references were one.

    Only runs where hypothesis and references both have the n-gram at least twice can be wrong.
    """
    sizes = begins[1:] - begins[:-1]
    runs = (sizes - unmatched > 2).nonzero()[0]  # matched slots: twice the smaller side
    if not len(runs):
        return
    sizes = sizes[runs]
    run, _, counts = count_in_runs(documents, begins[runs] % (len(documents) + 1), sizes, bound)
    # The hypothesis is the first document of each run.
    hypotheses = run.searchsorted(np.arange(len(runs)))
    in_hypothesis = counts[hypotheses]
    counts[hypotheses] = 0
    unmatched[runs] = sizes - 2 * np.minimum(in_hypothesis, np.maximum.reduceat(counts, hypotheses))


def count_in_runs(
    documents: Integers, starts: Integers, sizes: Integers, bound: int
) -> tuple[Integers, Integers, Integers]:
    """Count the slots of each document in each run of slots, where ``documents`` are below ``bound``.

    Returns:
        The run, the document and the count, each ``(entries,)``, sorted by run and document.
    """
    entries = documents[join_ranges(starts, sizes)]
    entries += np.arange(0, len(sizes) * bound, bound).repeat(sizes)
    entries.sort()
    is_first = np.ones(len(entries) + 1, np.bool_)
    np.not_equal(entries[1:], entries[:-1], is_first[1:-1])
    firsts = is_first.nonzero()[0]
    runs, run_documents = np.divmod(entries[firsts[:-1]], bound)
    counts = firsts[1:] - firsts[:-1]
    return runs, run_documents, counts
