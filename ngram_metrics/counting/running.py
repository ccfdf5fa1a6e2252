"""The matches of sorted n-grams in large chunks on a CPU, order by order in the same few arrays.

An array of a megabyte that is made for each step is handed back to the system after it, and a new one is cleared page
by page, which takes longer than the step.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from ngram_metrics.counting.keys import SortedKeys


def pair_minima(keys: SortedKeys, hypothesis_slots: int, bits: int) -> Iterator[Tensor]:
    """Yield for each order the matches of each n-gram with one reference, where its run ends, and 0 elsewhere.

    Args:
        keys: of one row: ``(slots,)``, at least one.
        hypothesis_slots: the slots before this one are those of hypotheses.
        bits: of a count where a sum holds two.

    Yields:
        ``(1, slots)`` int64, which the next one overwrites.
    """
    low = (1 << bits) - 1
    step = 1 + low * (keys.slot >= hypothesis_slots)  # (slots,), as all that follows
    upto = step.cumsum(-1)
    before = upto - step
    prefix, counts, start, smaller = (torch.empty_like(upto) for _ in range(4))
    # Whether a run ends before each slot; there is one slot more.
    bounds = torch.ones(len(upto) + 1, dtype=torch.bool, device=upto.device)
    is_ngram = torch.empty_like(bounds[1:])
    for order in range(keys.first, keys.last + 1):
        torch.bitwise_right_shift(keys.keys, (keys.last - order) * keys.bits, out=prefix)
        torch.ne(prefix[1:], prefix[:-1], out=bounds[1:-1])
        torch.mul(before, bounds[:-1], out=counts)
        # The places of the maxima, which no one asked for, go where they do no harm.
        torch.cummax(counts, -1, out=(start, smaller))
        torch.sub(upto, start, out=counts)
        torch.bitwise_and(counts, low, out=smaller)
        torch.minimum(smaller, counts.bitwise_right_shift_(bits), out=smaller)
        # What reaches past the end of its document is no n-gram.
        torch.ne(prefix.bitwise_and_((1 << keys.bits) - 1), 0, out=is_ngram)
        yield smaller.mul_(is_ngram.logical_and_(bounds[1:])).unsqueeze(0)
