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
ACCELERATOR_SLOTS = 1 << 22
#: What the update of a training loop has at most. A larger batch is a corpus, and worth threads.
UPDATE_GROUPS, UPDATE_SLOTS = 1 << 9, 1 << 18
#: On a CPU torch shares an operation on more than 2^15 elements among threads and waits for the last of them:
#: milliseconds an operation, where data loaders keep the cores busy. Two elements a group stand beside its slots.
UPDATE_CHUNK_SLOTS = (1 << 15) - 2 * UPDATE_GROUPS


def slot_budget(device: torch.device) -> int:
    """Return how many token slots one chunk may have on a device."""
    return CPU_SLOTS if device.type == "cpu" else ACCELERATOR_SLOTS


def update_budget(groups: int, slots: int, device: torch.device) -> int:
    """Return how many token slots one chunk may have of sentences: on a CPU fewer where they are few."""
    budget = slot_budget(device)
    few = device.type == "cpu" and groups <= UPDATE_GROUPS and slots <= UPDATE_SLOTS
    return min(budget, UPDATE_CHUNK_SLOTS) if few else budget


def ragged_chunks(sizes: Tensor, device: torch.device, update: bool = False) -> Iterator[tuple[int, int]]:
    """Yield ranges of groups of ``sizes`` ``(groups,)`` tokens, each within the budget or a single group.

    The groups of an ``update`` are sentences.
    """
    budget = update_budget(len(sizes), int(sizes.sum()), device) if update else slot_budget(device)
    return even_chunks(sizes, budget)


def even_chunks(sizes: Tensor, largest: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of groups of ``sizes`` ``(groups,)``, of about one size, each within ``largest`` or a single group.

    Of about one size, because a small chunk left over would be sorted slower, by comparison instead of by radix.
    """
    ends = sizes.cumsum(0)
    total = int(ends[-1]) if len(ends) else 0
    if total <= largest:
        if len(sizes):
            yield 0, len(sizes)
        return
    budget = math.ceil(total / math.ceil(total / largest))
    start, before = 0, 0
    while start < len(sizes):
        stop = max(start + 1, int(torch.searchsorted(ends, before + budget, right=True)))
        yield start, stop
        start, before = stop, int(ends[stop - 1])


def row_chunks(rows: int, width: int, device: torch.device) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows of ``width`` slots, each within the budget or a single row."""
    at_once = max(1, update_budget(rows, rows * width, device) // max(1, width))
    for start in range(0, rows, at_once):
        yield start, min(rows, start + at_once)
