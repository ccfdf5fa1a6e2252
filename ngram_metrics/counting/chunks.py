"""Cutting a batch into chunks of whole groups, so that no number of sentences exhausts memory.

The peak memory of the counting module is proportional to the largest chunk. A chunk is at most the budget below, or one
group if that is larger.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

#: Slots per chunk. On the CPU the working arrays then stay in the cache; on an accelerator few launches are faster.
CPU_SLOTS = 1 << 16
ACCELERATOR_SLOTS = 1 << 22
#: Limits for an update of a training loop. A larger batch is a corpus, for which threads are worth starting.
UPDATE_GROUPS, UPDATE_SLOTS = 1 << 9, 1 << 18
#: On a CPU torch shares an operation on more than 2^15 elements among threads and waits for the last thread. That takes
#: milliseconds per operation if data loaders keep the cores busy. Each group adds two elements to its slots.
UPDATE_CHUNK_SLOTS = (1 << 15) - 2 * UPDATE_GROUPS


def _slot_budget(groups: int, slots: int, device: torch.device, update: bool) -> int:
    """Return the largest number of token slots of a chunk: on a CPU, fewer for an update of a few sentences."""
    if device.type != "cpu":
        return ACCELERATOR_SLOTS
    few = update and groups <= UPDATE_GROUPS and slots <= UPDATE_SLOTS
    return min(CPU_SLOTS, UPDATE_CHUNK_SLOTS) if few else CPU_SLOTS


def ragged_chunks(sizes: Tensor, device: torch.device, update: bool = False) -> Iterator[tuple[int, int]]:
    """Yield ranges of groups with ``sizes`` ``(groups,)`` tokens; each range is within the budget or a single group.

    With ``update`` the groups are the sentences of one update.
    """
    return even_chunks(sizes.numpy(), _slot_budget(len(sizes), int(sizes.sum()), device, update))


def even_chunks(sizes: NDArray[np.int64], largest: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of groups with ``sizes`` ``(groups,)``; each range is within ``largest`` or a single group.

    The ranges have about the same size: a small rest would be sorted more slowly, by comparison instead of by radix.
    """
    ends = sizes.cumsum()
    total = int(ends[-1]) if len(ends) else 0
    start, before = 0, 0
    while start < len(sizes):
        rest = total - before
        budget = math.ceil(rest / max(1, math.ceil(rest / largest)))
        stop = max(start + 1, int(ends.searchsorted(before + budget, side="right")))
        yield start, stop
        start, before = stop, int(ends[stop - 1])


def row_chunks(rows: int, width: int, device: torch.device) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows with ``width`` slots; each range is within the budget or a single row."""
    at_once = max(1, _slot_budget(rows, rows * width, device, update=True) // max(1, width))
    for start in range(0, rows, at_once):
        yield start, min(rows, start + at_once)
