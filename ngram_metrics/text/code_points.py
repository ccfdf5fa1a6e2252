"""Texts as arrays on a device: their code points, and their UTF-8 bytes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch

from ngram_metrics.counting.chunks import even_chunks
from ngram_metrics.text.arrays import WINDOW, Array, array, indices

#: Characters per chunk. Many, because the distinct words of every chunk are numbered a second time; but on a CPU not so
#: many that the system takes the memory of large arrays back after each call, and clears it for the next one.
CPU_CHARACTERS = 1 << 18
ACCELERATOR_CHARACTERS = 1 << 24
#: The code point between two texts.
NEWLINE = ord("\n")
#: This byte follows the last text ``WINDOW`` times; it never occurs in UTF-8.
END = b"\xff"
_UTF_32 = f"utf-32-{sys.byteorder[0]}e"


class Characters(NamedTuple):
    """Texts in one array, with a newline before the first text and after each text.

    Attributes:
        codes: ``(characters,)`` code points, uint8 if all are ASCII, else int32.
        units: ``(bytes + WINDOW,)`` uint8, the UTF-8 bytes of ``codes``, then ``END`` ``WINDOW`` times. A lone
            surrogate, which a str may contain, is three bytes like any code point of its size.
        ends: ``(texts,)`` int64, the index in ``codes`` of the newline after each text.
        ascii: whether all characters are ASCII.
        device: the device of the arrays.
    """

    codes: Array
    units: Array
    ends: Array
    ascii: bool
    device: torch.device

    def unit_places(self) -> Array:
        """Return the index in ``units`` where each character begins, ``(characters,)`` int64; not needed for ASCII."""
        # All bytes of a character but the first are in 0x80..0xBF.
        units = self.units[: len(self.units) - WINDOW]
        return indices((units < 0x80) | (units > 0xBF))


def character_chunks(texts: Sequence[str], device: torch.device) -> Iterator[Characters]:
    """Yield the characters of texts in chunks: each chunk is within the budget, or is a single text."""
    budget = CPU_CHARACTERS if device.type == "cpu" else ACCELERATOR_CHARACTERS
    if sum(map(len, texts)) <= budget:
        yield _characters(texts, device)
        return
    sizes = torch.tensor(list(map(len, texts)), dtype=torch.int64, device="cpu")
    for start, stop in even_chunks(sizes, budget):
        yield _characters(texts[start:stop], device)


def _characters(texts: Sequence[str], device: torch.device) -> Characters:
    joined = "\n".join(("", *texts, ""))
    encoded = joined.encode("utf-8", "surrogatepass")
    ascii_only = len(encoded) == len(joined)
    units = array(encoded + END * WINDOW, np.uint8, device)
    if ascii_only:
        codes = units[: len(joined)]
    else:
        codes = array(joined.encode(_UTF_32, "surrogatepass"), np.int32, device)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    return Characters(codes, units, array((lengths + 1).cumsum(), np.int64, device), ascii_only, device)
