"""The matches of sorted n-grams in large chunks on a CPU, order by order in the same few arrays.

A new array of a megabyte for each step would be returned to the system after the step. The system clears each new array
page by page, which takes longer than the step itself.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from ngram_metrics.counting.keys import SortedKeys


def pair_minima(keys: SortedKeys, hypothesis_slots: int, bits: int) -> Iterator[Tensor]:
    """Yield for each order the matches of each n-gram with one reference, at the end of its run, and 0 elsewhere.

    Args:
        keys: the sorted keys of one row, ``(slots,)``, at least one slot.
        hypothesis_slots: the slots below this number are those of hypotheses.
        bits: the bits of a count in a sum of two counts.

    Yields:
        ``(1, slots)`` int64, a tensor that the next step overwrites.
    """
    low = (1 << bits) - 1
    step = 1 + low * (keys.slot >= hypothesis_slots)  # (slots,), like all arrays below
    upto = step.cumsum(-1)
    before = upto - step
    prefix, counts, start, smaller = (torch.empty_like(upto) for _ in range(4))
    # Whether a run ends before each slot, and one more for the end.
    bounds = torch.ones(len(upto) + 1, dtype=torch.bool, device=upto.device)
    is_ngram = torch.empty_like(bounds[1:])
    for order in range(keys.first, keys.last + 1):
        torch.bitwise_right_shift(keys.keys, (keys.last - order) * keys.bits, out=prefix)
        torch.ne(prefix[1:], prefix[:-1], out=bounds[1:-1])
        torch.mul(before, bounds[:-1], out=counts)
        # cummax also returns indices, which are not used: they go to an array that is overwritten next.
        torch.cummax(counts, -1, out=(start, smaller))
        torch.sub(upto, start, out=counts)
        torch.bitwise_and(counts, low, out=smaller)
        torch.minimum(smaller, counts.bitwise_right_shift_(bits), out=smaller)
        # A key that reaches past the end of its document is not an n-gram.
        torch.ne(prefix.bitwise_and_((1 << keys.bits) - 1), 0, out=is_ngram)
        yield smaller.mul_(is_ngram.logical_and_(bounds[1:])).unsqueeze(0)
