"""Texts as arrays: their code points, and their UTF-8 bytes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from ngram_metrics.counting.chunks import even_chunks
from ngram_metrics.text.arrays import Integers

#: Characters per chunk. Many, because the distinct words of every chunk are numbered a second time; but not so many
#: that the system takes the memory of large arrays back after each call, and clears it for the next one.
CHARACTERS = 1 << 18
#: The code point between two texts.
NEWLINE = ord("\n")
#: Bytes per window.
WINDOW = 8
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
    """

    codes: NDArray[np.integer[Any]]
    units: NDArray[np.uint8]
    ends: Integers
    ascii: bool

    def unit_places(self) -> Integers:
        """Return the index in ``units`` where each character begins, ``(characters,)`` int64; not needed for ASCII."""
        # All bytes of a character but the first are in 0x80..0xBF.
        units = self.units[:-WINDOW]
        return ((units < 0x80) | (units > 0xBF)).nonzero()[0]


def character_chunks(texts: Sequence[str]) -> Iterator[Characters]:
    """Yield the characters of texts in chunks: each chunk has at most ``CHARACTERS``, or is a single text."""
    if sum(map(len, texts)) <= CHARACTERS:
        yield _characters(texts)
        return
    sizes = torch.tensor(list(map(len, texts)), dtype=torch.int64, device="cpu")
    for start, stop in even_chunks(sizes, CHARACTERS):
        yield _characters(texts[start:stop])


def _characters(texts: Sequence[str]) -> Characters:
    joined = "\n".join(("", *texts, ""))
    encoded = joined.encode("utf-8", "surrogatepass")
    ascii_only = len(encoded) == len(joined)
    units = np.frombuffer(encoded + END * WINDOW, np.uint8)
    codes: NDArray[np.integer[Any]] = units[: len(joined)]
    if not ascii_only:
        codes = np.frombuffer(joined.encode(_UTF_32, "surrogatepass"), np.int32)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    return Characters(codes, units, (lengths + 1).cumsum(), ascii_only)
