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


def numbered(*columns: Integers) -> tuple[Integers, int]:
    """Number the distinct rows, in any order.

    Args:
        columns: the values of each row, ``(rows,)`` int64 each.

    Returns:
        The number of each row, int64, and how many distinct rows there are.
    """
    return _by_hash(columns) if len(columns[0]) >= FEW else _by_sort(columns)


def _by_sort(columns: Sequence[Integers]) -> tuple[Integers, int]:
    number, distinct = _column_by_sort(columns[0])
    for column in columns[1:]:
        in_column, others = _column_by_sort(column)
        number, distinct = _column_by_sort(number * others + in_column)
    return number, distinct


def _column_by_sort(values: Integers) -> tuple[Integers, int]:
    ordered = np.sort(values)
    different = np.empty(len(values), np.bool_)
    different[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=different[1:])
    distinct = ordered[different]
    return distinct.searchsorted(values), len(distinct)


def _by_hash(columns: Sequence[Integers]) -> tuple[Integers, int]:
    """Number rows by hashing them into slots: the last row in a slot numbers all equal rows; the rest is sorted."""
    first, *others = columns
    bits = (4 * len(first)).bit_length()
    mixed = first.view(np.uint64) * _FIBONACCI
    for column in others:
        # The high bits of a product depend on all bits of its factors, the low bits on few: add in the high half.
        mixed = (mixed ^ (mixed >> np.uint64(32))) + column.view(np.uint64)
        mixed *= _FIBONACCI
    slot = (mixed >> np.uint64(64 - bits)).view(np.int64)
    place = np.arange(len(first))
    last = np.empty(1 << bits, np.int64)  # only what is written is read
    last[slot] = place
    found = last.take(slot)  # half the time of last[slot]
    # Equal rows share a slot, so either all of them find their values in it, or none of them does.
    is_other = first.take(found) != first
    for column in others:
        is_other |= column.take(found) != column
    alone = is_other.nonzero()[0]
    is_last = found == place
    rank = is_last.cumsum()
    distinct = int(rank[-1]) if len(rank) else 0
    number = rank.take(found) - 1
    number[alone], more = _by_sort([column[alone] for column in columns])
    number[alone] += distinct
    return number, distinct + more


#: 2^64 divided by the golden ratio: its multiples spread evenly.
_FIBONACCI = np.uint64(0x9E3779B97F4A7C15)


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
