"""Both halves of the steps at once, for chunks in which launching an operation costs more than its work.

A cut of the short text in the middle corresponds to some cut of the long text: a common subsequence matches the tokens
before one cut with tokens before the other (Hirschberg 1975). So the first half of the steps runs from the left, the
second half from the right on both texts reversed, as two pairs of one chunk: half the steps, each twice as wide. The
last row of each half gives the longest common subsequence with the long text to the left, or to the right, of any cut.
The largest sum over all cuts is the length.

Example: the long side ``a b a c`` and the short side ``b a``. The first half is ``b``: with the first 0, 1, 2, 3, 4
tokens of the long side it shares 0 0 1 1 1. The second half is ``a``: with the remaining tokens it shares 1 1 1 0 0.
The largest sum is 2, at the cut after ``a b``.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ngram_metrics.counting.subsequence.table import unpack_bits

#: Up to this number of words of both halves, launching a step costs more than its work. On a CPU their bits, 55 per
#: word, are then too few for torch to share among threads; on an accelerator they take 58 MB.
CPU_WORDS_IN_HALVES = 1 << 9
ACCELERATOR_WORDS_IN_HALVES = 1 << 17
#: Joining costs as much as the launches of this many steps.
JOINING_STEPS = 16


def in_halves(pairs: int, words: int, steps: int, device: torch.device) -> bool:
    """Return whether a chunk is faster in halves."""
    most = CPU_WORDS_IN_HALVES if device.type == "cpu" else ACCELERATOR_WORDS_IN_HALVES
    return steps > 2 * JOINING_STEPS and 2 * pairs * words <= most


def both_halves(positions: Tensor, steps: Tensor) -> tuple[Tensor, Tensor]:
    """Make two pairs from each pair: its first half of the steps, and its second half with both texts reversed.

    Args:
        positions: ``(pairs, width)`` int64, the ranks of the long side, 0 for 'no token'.
        steps: ``(pairs, steps)`` int64, the ranks of the short side, 0 for 'no token'.

    Returns:
        ``(2 * pairs, width)`` and ``(2 * pairs, half)`` int64, all first halves before all second halves.
    """
    half = (steps.shape[1] + 1) // 2
    # If the number of steps is odd, the middle one is in the first half; the second half has 'no token' instead.
    middle = steps.new_zeros(len(steps), 2 * half - steps.shape[1])
    second = torch.cat((steps[:, half:].flip(1), middle), 1)
    return torch.cat((positions, positions.flip(1))), torch.cat((steps[:, :half], second))


def joined_lengths(rows: Tensor, width: int) -> Tensor:
    """Return the lengths ``(pairs,)`` from the last rows of both halves ``(words, 2 * pairs)``."""
    first, second = unpack_bits(rows, width).chunk(2)  # (pairs, width)
    # When the cut moves by one position, the left sum gains this position's bit, and the right sum loses it.
    gains = (first - second.flip(1)).cumsum(1).amax(1).clamp(min=0)
    return gains + second.sum(1)
