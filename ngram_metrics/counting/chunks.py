"""Cutting a batch into chunks of whole groups, so that no number of sentences exhausts memory.

The peak of the counting module is in proportion to the largest chunk, and a chunk is at most the budget below or one
group, whichever is larger.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

#: Slots in a chunk. On the CPU the working arrays then stay in the cache; on an accelerator few large launches win.
CPU_SLOTS = 1 << 17
ACCELERATOR_SLOTS = 1 << 24


def slot_budget(device: torch.device) -> int:
    """Return how many token slots one chunk may have on a device."""
    return CPU_SLOTS if device.type == "cpu" else ACCELERATOR_SLOTS


def ragged_chunks(sizes: Tensor, device: torch.device) -> Iterator[tuple[int, int]]:
    """Yield ranges of groups of ``sizes`` ``(groups,)`` tokens, each within the budget or a single group."""
    ends = sizes.cumsum(0)
    total = int(ends[-1]) if len(ends) else 0
    # Chunks of about one size: a small one left over would be sorted slower, by comparison instead of by radix.
    budget = math.ceil(total / math.ceil(total / slot_budget(device))) if total else 0
    start, before = 0, 0
    while start < len(sizes):
        stop = max(start + 1, int(torch.searchsorted(ends, before + budget, right=True)))
        yield start, stop
        start, before = stop, int(ends[stop - 1])


def row_chunks(rows: int, width: int, device: torch.device) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows of ``width`` slots, each within the budget or a single row."""
    at_once = max(1, slot_budget(device) // max(1, width))
    for start in range(0, rows, at_once):
        yield start, min(rows, start + at_once)
