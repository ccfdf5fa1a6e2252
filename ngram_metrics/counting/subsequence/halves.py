"""The two halves of the steps at once, where starting an operation costs more than the words it works on.

A subsequence of both texts is cut somewhere: what stands before the cut in the short text stands before some cut of the
long one (Hirschberg 1975). So the first half of the steps is taken from the left, the second half from the right with
both texts reversed, as two pairs of one chunk: half the steps, each twice as wide. The last row of either says how long
a common subsequence of its half is with what stands to the left, or to the right, of any cut of the long text. The
longest over all cuts is the length.

Example: the long side ``a b a c`` and the short side ``b a``. The first half is ``b``: of the first 0, 1, 2, 3, 4
tokens of the long side it shares 0 0 1 1 1. The second is ``a``: of what is left after these it shares 1 1 1 0 0. The
largest sum is 2, at the cut behind ``a b``.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ngram_metrics.counting.subsequence.table import unpack_bits

#: Words of both halves up to which starting a step costs more than its work. On a CPU their bits, 55 a word, are then
#: fewer than torch would share among threads; on an accelerator they are laid out in 58 MB.
CPU_WORDS_IN_HALVES = 1 << 9
ACCELERATOR_WORDS_IN_HALVES = 1 << 17
#: Joining costs the launches of so many steps.
JOINING_STEPS = 16


def in_halves(pairs: int, words: int, steps: int, device: torch.device) -> bool:
    """Tell whether a chunk of so many pairs is better taken in halves."""
    most = CPU_WORDS_IN_HALVES if device.type == "cpu" else ACCELERATOR_WORDS_IN_HALVES
    return steps > 2 * JOINING_STEPS and 2 * pairs * words <= most


def both_halves(positions: Tensor, steps: Tensor) -> tuple[Tensor, Tensor]:
    """Make two pairs of each: the first half of its steps, and the second of the texts reversed.

    Args:
        positions: ``(pairs, width)`` int64, the ranks of the long side, 0 where there is none.
        steps: ``(pairs, steps)`` int64, those of the short side, likewise.

    Returns:
        ``(2 * pairs, width)`` and ``(2 * pairs, half)``, all first halves before all second ones.
    """
    half = (steps.shape[1] + 1) // 2
    # Of an odd number of steps the middle one is the last of the first half; the second has 'no token' in its place.
    middle = steps.new_zeros(len(steps), 2 * half - steps.shape[1])
    second = torch.cat((steps[:, half:].flip(1), middle), 1)
    return torch.cat((positions, positions.flip(1))), torch.cat((steps[:, :half], second))


def joined_lengths(rows: Tensor, width: int) -> Tensor:
    """Return ``(pairs,)`` lengths from the last rows of both halves ``(words, 2 * pairs)``."""
    first, second = unpack_bits(rows, width).chunk(2)  # (pairs, width)
    # With the cut one position further on, the left gains what the position adds to it, and the right loses that.
    gains = (first - second.flip(1)).cumsum(1).amax(1).clamp(min=0)
    return gains + second.sum(1)
