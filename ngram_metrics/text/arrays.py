"""Distinct values of numpy arrays become the numbers ``0, 1, ...``, without a Python step for each value."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]
#: Fewer rows are sorted.
FEW = 1 << 10


def numbered(values: Integers) -> tuple[Integers, int]:
    """Number the distinct values, in any order.

    Args:
        values: ``(values,)`` int64.

    Returns:
        The number of each value, int64, and how many distinct values there are.
    """
    if len(values) < FEW:
        return _by_sort(values)
    place = np.arange(len(values))
    found = last_in_slots(values.view(np.uint64) * FIBONACCI, place)
    # Equal values share a slot, so either all of them find their value in it, or none of them does.
    alone = (values.take(found) != values).nonzero()[0]
    rank = (found == place).cumsum()
    distinct = int(rank[-1])
    number = rank.take(found) - 1
    number[alone], more = _by_sort(values[alone])
    number[alone] += distinct
    return number, distinct + more


def _by_sort(values: Integers) -> tuple[Integers, int]:
    ordered = np.sort(values)
    different = np.empty(len(values), np.bool_)
    different[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=different[1:])
    distinct = ordered[different]
    return distinct.searchsorted(values), len(distinct)


def last_in_slots(hashed: NDArray[np.uint64], place: Integers) -> Integers:
    """Return for each value the last place whose value has the same slot, ``(values,)`` int64.

    Args:
        hashed: ``(values,)``; the high bits are the slot. It is overwritten.
        place: ``0, 1, ...`` of the same length.
    """
    bits = (4 * len(place)).bit_length()
    hashed >>= np.uint64(64 - bits)
    slot = hashed.view(np.int64)
    last = np.empty(1 << bits, np.int64)  # only what is written is read
    last[slot] = place
    return last.take(slot)  # half the time of last[slot]


#: 2^64 divided by the golden ratio: its multiples spread evenly.
FIBONACCI = np.uint64(0x9E3779B97F4A7C15)


def numbered_in_order(values: Sequence[Hashable]) -> tuple[Integers, int]:
    """Number hashable objects in the order in which they first appear; returns the same as :func:`numbered`.

    Raises:
        TypeError: a value that is not hashable.
    """
    numbers: defaultdict[Hashable, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    number = np.fromiter(map(numbers.__getitem__, values), np.int64, len(values))
    return number, len(numbers)


def counts_between(ascending: Integers, bounds: Integers) -> Integers:
    """Count the values of ``ascending`` below the first of ``bounds``, between it and the second, and so on."""
    counts = ascending.searchsorted(bounds)
    counts[1:] -= counts[:-1]
    return counts
