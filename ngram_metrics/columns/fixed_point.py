"""Scores as integers: a macro average is a sum of scores, and only sums of integers do not depend on their order.

A score s is the integer round(s * 2^62), whose low 31 bits are one column and whose other bits are another. Sums of
2^31 of either stay below 2^63 as long as every score is below 2. Of a score of 0 or of 2^-10 or more no bit is lost;
any other differs by at most 2^-63.
"""

from __future__ import annotations

import torch
from torch import Tensor

#: The names of the two columns behind that of a value.
PARTS = ("_high_bits", "_low_bits")
#: More scores than these may not fit a sum.
MOST_SCORES = 1 << 31
_BITS = 62
_LOW_BITS = 31
#: The first score whose parts are too large.
BOUND = 2.0


def to_parts(scores: Tensor) -> Tensor:
    """Return the two parts ``(..., 2)`` int64 of scores ``(...)`` float64, which are at least 0 and below 2."""
    scaled = (scores * 2.0**_BITS).round().to(torch.int64)
    return torch.stack((scaled >> _LOW_BITS, scaled & ((1 << _LOW_BITS) - 1)), -1)


def from_parts(parts: Tensor) -> Tensor:
    """Return sums of scores ``(...)`` float64 from sums of their parts ``(..., 2)`` int64."""
    high, low = parts.to(torch.float64).unbind(-1)
    return high * 2.0 ** (_LOW_BITS - _BITS) + low * 2.0**-_BITS
