"""Distinct values of numpy arrays become the numbers ``0, 1, ...``, without a Python step for each value."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]


def numbered(values: Integers) -> tuple[Integers, int]:
    """Number the distinct values, in any order.

    Args:
        values: ``(values,)`` int64.

    Returns:
        The number of each value, int64, and how many distinct values there are.
    """
    most = int(values.max(initial=0))
    if values.min(initial=0) >= 0 and most < 4 * len(values):
        occurs = np.zeros(most + 1, np.bool_)
        occurs[values] = True
        number = occurs.cumsum() - 1
        return number.take(values), int(number[-1]) + 1
    distinct, number = np.unique(values, return_inverse=True)
    return number, len(distinct)


def numbered_in_order(values: Sequence[Hashable]) -> tuple[Integers, int]:
    """Number hashable objects in the order in which they first appear; returns the same as ``numbered``.

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
