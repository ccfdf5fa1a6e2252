"""Texts as arrays: their code points, and their UTF-8 bytes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from ngram_metrics.counting.chunks import even_chunks
from ngram_metrics.text.arrays import Integers

#: Characters per chunk: the arrays of a chunk stay in the cache, and the calls still cost less than their work.
CHARACTERS = 1 << 16
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
    return (characters for characters, _ in sentence_chunks(texts, [[1] * len(texts)]))


def sentence_chunks(
    texts: Sequence[str], columns: Sequence[Sequence[int]]
) -> Iterator[tuple[Characters, Sequence[int]]]:
    """Yield the characters of chunks of whole sentences, each at most ``CHARACTERS`` or a single sentence.

    Args:
        texts: the texts of all columns, one column after another.
        columns: for each column its number of texts in each sentence.

    Yields:
        The texts of a chunk in the same order, and how many of them are of each column.
    """
    if sum(map(len, texts)) <= CHARACTERS:
        yield _characters(texts), list(map(sum, columns))
        return
    before = np.cumsum([0, *map(len, texts)])
    bounds, first = [], 0
    for counts in columns:
        bounds.append(np.cumsum([first, *counts]))  # (sentences + 1,)
        first = int(bounds[-1][-1])
    sizes = sum(np.diff(before[of_column]) for of_column in bounds)
    for start, stop in even_chunks(torch.as_tensor(sizes), CHARACTERS):
        parts = [texts[of_column[start] : of_column[stop]] for of_column in bounds]
        yield _characters(list(chain.from_iterable(parts))), list(map(len, parts))


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
