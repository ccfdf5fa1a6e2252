"""Functions for numpy and torch alike: text becomes ids in numpy arrays on the CPU, in tensors on other devices.

The code that uses these functions is the same for both. On the CPU a numpy operation takes a third of the time of a
torch operation, which matters most for small batches, and numpy starts no threads.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import Any, Protocol, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

#: Bytes per window.
WINDOW = 8
#: Fewer rows are sorted.
FEW = 1 << 10


class Array(Protocol):
    """A one-dimensional numpy array or tensor: the operations of both that are used here."""

    def __len__(self) -> int: ...
    def __getitem__(self, key: Array | slice, /) -> Array: ...
    def __setitem__(self, key: Array | slice | int, value: Array | bool, /) -> None: ...
    def __add__(self, other: Array | int, /) -> Array: ...
    def __sub__(self, other: Array | int, /) -> Array: ...
    def __mul__(self, other: Array | int, /) -> Array: ...
    def __floordiv__(self, other: int, /) -> Array: ...
    def __and__(self, other: Array | int, /) -> Array: ...
    def __or__(self, other: Array, /) -> Array: ...
    def __xor__(self, other: Array | int, /) -> Array: ...
    def __invert__(self) -> Array: ...
    def __gt__(self, other: Array | int, /) -> Array: ...
    def __lt__(self, other: Array | int, /) -> Array: ...
    def cumsum(self, axis: int, /) -> Array: ...


def array(values: bytes | NDArray[Any], dtype: type[np.generic], device: torch.device) -> Array:
    """Return bytes, or a numpy array, as an array on a device."""
    found = np.frombuffer(values, dtype)
    # A copy, because torch warns about read-only memory.
    return cast(Array, found if device.type == "cpu" else torch.from_numpy(found.copy()).to(device))


def tensor(values: Array) -> Tensor:
    """Return an array as a tensor on its device."""
    return torch.from_numpy(values) if isinstance(values, np.ndarray) else cast(Tensor, values)


def raw_bytes(units: Array) -> bytes:
    """Return an array of bytes as a Python ``bytes``."""
    return units.tobytes() if isinstance(units, np.ndarray) else tensor(units).cpu().numpy().tobytes()


def indices(mask: Array) -> Array:
    """Return the indices where a mask is true, int64."""
    return cast(Array, mask.nonzero()[0] if isinstance(mask, np.ndarray) else tensor(mask).nonzero().squeeze(1))


def positions(counts: Array) -> Array:
    """Return the index of each item in its group: counts ``2, 3`` give ``0, 1, 0, 1, 2``."""
    total = counts.cumsum(0)
    every = repeated(total - counts, counts)
    if isinstance(every, np.ndarray):
        return cast(Array, np.arange(len(every)) - every)
    return cast(Array, torch.arange(len(every), device=tensor(every).device) - tensor(every))


def repeated(values: Array, times: Array) -> Array:
    """Return ``values`` with each value repeated ``times`` times; both have the same length."""
    if isinstance(values, np.ndarray):
        return cast(Array, values.repeat(cast("NDArray[np.int64]", times)))
    return cast(Array, tensor(values).repeat_interleave(tensor(times)))


def concatenated(arrays: Sequence[Array]) -> Array:
    """Return the concatenation of arrays."""
    if len(arrays) == 1:
        return arrays[0]
    if isinstance(arrays[0], np.ndarray):
        return cast(Array, np.concatenate(cast("Sequence[NDArray[Any]]", arrays)))
    return cast(Array, torch.cat(list(map(tensor, arrays))))


def numbered(*columns: Array) -> tuple[Array, int]:
    """Number the distinct rows, in any order.

    Args:
        columns: the values of each row, ``(rows,)`` int64 each.

    Returns:
        The number of each row, int64, and how many distinct rows there are.
    """
    if isinstance(columns[0], np.ndarray) and len(columns[0]) >= FEW:
        return _by_hash(cast("tuple[NDArray[np.int64], ...]", columns))
    return _by_sort(columns)


def _by_sort(columns: Sequence[Array]) -> tuple[Array, int]:
    number, distinct = _column_by_sort(columns[0])
    for column in columns[1:]:
        in_column, others = _column_by_sort(column)
        number, distinct = _column_by_sort(number * others + in_column)
    return number, distinct


def _column_by_sort(values: Array) -> tuple[Array, int]:
    if not isinstance(values, np.ndarray):
        names, number = torch.unique(tensor(values), return_inverse=True)
        return cast(Array, number), len(names)
    ordered = np.sort(values)
    different = np.empty(len(values), np.bool_)
    different[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=different[1:])
    distinct = ordered[different]
    return cast(Array, distinct.searchsorted(values)), len(distinct)


def _by_hash(columns: tuple[NDArray[np.int64], ...]) -> tuple[Array, int]:
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
    is_last[alone] = False
    rank = is_last.cumsum()
    distinct = int(rank[-1]) if len(rank) else 0
    number = rank.take(found) - 1
    number[alone], more = _by_sort([cast(Array, column[alone]) for column in columns])
    number[alone] += distinct
    return cast(Array, number), distinct + more


#: 2^64 divided by the golden ratio: its multiples spread evenly.
_FIBONACCI = np.uint64(0x9E3779B97F4A7C15)


def numbered_by_table(values: Array) -> tuple[Array, int]:
    """Return the same as :func:`numbered`, for small values of at least 0; the table is as long as the largest."""
    if isinstance(values, np.ndarray):
        occurs = np.zeros(int(values.max(initial=0)) + 1, np.bool_)
        occurs[values] = True
        number = occurs.cumsum()
        return cast(Array, (number - 1)[values]), int(number[-1])
    index = tensor(values).long()
    table = torch.zeros(int(index.max()) + 1 if len(index) else 0, dtype=torch.int64, device=index.device)
    rank = table.index_fill_(0, index, 1).cumsum(0)
    return cast(Array, (rank - 1)[index]), int(rank[-1]) if len(rank) else 0


def numbered_in_order(values: Sequence[Hashable], device: torch.device) -> tuple[Array, int]:
    """Number hashable objects in the order in which they first appear; returns the same as :func:`numbered`.

    Raises:
        TypeError: a value that is not hashable.
    """
    numbers: defaultdict[Hashable, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    number = np.fromiter(map(numbers.__getitem__, values), np.int64, len(values))
    return array(number, np.int64, device), len(numbers)


def one_of_each(number: Array, distinct: int) -> Array:
    """Return an index of each number ``0 .. distinct - 1``, all of which occur."""
    if isinstance(number, np.ndarray):
        place = np.empty(distinct, np.int64)
        place[number] = np.arange(len(number))
        return cast(Array, place)
    index = tensor(number)
    places = torch.arange(len(index), device=index.device)
    return cast(Array, index.new_empty(distinct).scatter_(0, index, places))


def counts_between(ascending: Array, bounds: Array) -> Array:
    """Count the values of ``ascending`` below the first of ``bounds``, between it and the second, and so on."""
    if isinstance(ascending, np.ndarray):
        counts = ascending.searchsorted(cast("NDArray[np.int64]", bounds))
        counts[1:] -= counts[:-1]
        return cast(Array, counts)
    below = torch.searchsorted(tensor(ascending).contiguous(), tensor(bounds))
    return cast(Array, below.diff(prepend=below.new_zeros(1)))


def windows(units: Array, begin: Array) -> Array:
    """Return the ``WINDOW`` bytes that start at each index in ``begin``, as one int64 each."""
    if isinstance(units, np.ndarray):
        every = np.ndarray((max(0, len(units) - WINDOW + 1),), np.int64, units, 0, (1,))  # they overlap
        return cast(Array, every[cast("NDArray[np.int64]", begin)])
    return cast(Array, tensor(units).unfold(0, WINDOW, 1).index_select(0, tensor(begin)).view(torch.int64).squeeze(1))


def past_the_end(length: Array) -> Array:
    """Return windows in which all bits of the bytes from ``length`` on are 1, and all other bits 0."""
    if isinstance(length, np.ndarray):
        return cast(Array, _PAST_THE_END[np.minimum(length, WINDOW)])
    half = tensor(length).clamp(max=WINDOW) * 4
    # In two steps, because a shift by 64 bits has no effect.
    return cast(Array, -1 << half << half)


_PAST_THE_END = np.frombuffer(
    b"".join(b"\0" * length + b"\xff" * (WINDOW - length) for length in range(WINDOW + 1)), np.int64
)
