"""Words as arrays: where a text's words begin and end, and ids of them, exact and without a Python step a word.

A word is the bytes of its UTF-8, cut into windows of eight, each one int64. The last window is filled up with a byte
that UTF-8 does not use, so two words are equal where their windows are. Most words are one window: the number of a
window among all distinct ones is the id of its word. Longer words are numbered pair by pair: a number stands for two
neighbouring windows, the next for two such numbers, until one number stands for the whole word::

    pairs       (internat, ionaliza) (tion...., -)      numbers     1 0
    pairs       (1, 0)                                  number      0

No number is a hash, so no two words ever share an id. A word of n bytes takes log2(n / 8) rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch

from ngram_metrics.counting.token_batch import RaggedTokens
from ngram_metrics.text.arrays import (
    WINDOW,
    Array,
    counts_between,
    indices,
    joined,
    numbered,
    numbered_in_order,
    one_of_each,
    past_the_end,
    positions,
    raw_bytes,
    repeated,
    tensor,
    windows,
)
from ngram_metrics.text.code_points import NEWLINE, Characters, character_chunks
from ngram_metrics.text.rules import Rule

#: Fewer words than these are numbered in a dict: so few steps of Python cost less than the steps over arrays.
FEW = 1 << 10


class Words(NamedTuple):
    """Words, cut into windows.

    Attributes:
        first: ``(words,)`` int64, the first window of each word.
        length: ``(words,)`` int64, the bytes of each word, at least 1.
        long: ``(windows,)`` int64, all windows of each word that has several, word after word.
    """

    first: Array
    length: Array
    long: Array


class Found(NamedTuple):
    """Words: in ``units`` each begins at ``begin`` and has ``length`` bytes; both ``(words,)`` int64."""

    units: Array
    begin: Array
    length: Array

    def take(self, place: Array) -> Found:
        """Return the words of these places."""
        return Found(self.units, self.begin[place], self.length[place])

    def to_bytes(self) -> list[bytes]:
        """Return the words as bytes of the host."""
        raw, start, end = raw_bytes(self.units), tensor(self.begin), tensor(self.begin + self.length)
        return [raw[first:last] for first, last in zip(start.tolist(), end.tolist(), strict=True)]


def number_words(
    rule: Rule,
    texts: Sequence[str],
    device: torch.device,
    by_line: bool = False,
    stem: Callable[[str], str] | None = None,
) -> RaggedTokens:
    """Number the words of texts.

    The words of a chunk are numbered by themselves, and then the distinct words of all chunks: so the memory beside
    the ids is that of a chunk and of the vocabulary.

    Args:
        rule: what is a word.
        texts: any number.
        device: where the words are found and numbered.
        by_line: whether each line of a text is a document, and not the text.
        stem: what is counted of a word; asked once for each distinct one of a chunk.
    """
    ids, counts, bound = [], [], 0
    distinct: list[Words] = []
    stems: list[str] = []
    for characters in character_chunks(rule.prepared(texts), device):
        found, in_documents = _found(rule, characters, by_line)
        of_chunk, size = _numbered(found)
        ids.append(of_chunk + bound)
        counts.append(in_documents)
        bound += size
        if stem is not None:
            found = found.take(one_of_each(of_chunk, size))
            stems += [stem(word.decode("utf-8", "surrogatepass")) for word in found.to_bytes()]
        elif len(characters.ends) < len(texts):
            distinct.append(_words(found.take(one_of_each(of_chunk, size))))
    if stem is not None or distinct:
        number, bound = numbered_in_order(stems, device) if stem is not None else exact_ids(_all(distinct))
        ids = [number[of_chunk] for of_chunk in ids]
    return RaggedTokens(tensor(joined(ids)), tensor(joined(counts)).cpu(), bound)


def _found(rule: Rule, characters: Characters, by_line: bool) -> tuple[Found, Array]:
    """Find the words, and how many of them each document has."""
    begin, end, units = rule.words(characters)
    ends = indices((characters.codes ^ NEWLINE) < 1)[1:] if by_line else characters.ends
    counts = counts_between(begin, ends)
    if units is characters.units and not characters.ascii:
        places = characters.unit_places()
        begin, end = places[begin], places[end]
    return Found(units, begin, end - begin), counts


def _numbered(found: Found) -> tuple[Array, int]:
    """Number the words of a chunk; returns as :func:`exact_ids`."""
    if isinstance(found.begin, np.ndarray) and len(found.begin) < FEW:
        return numbered_in_order(found.to_bytes(), torch.device("cpu"))
    return exact_ids(_words(found))


def _words(found: Found) -> Words:
    """Cut words into windows."""
    units, begin, length = found
    several = indices(length > WINDOW)
    number = _window_counts(length[several])
    offset = positions(number) * WINDOW  # (windows,)
    long = _window(units, repeated(begin[several], number) + offset, repeated(length[several], number) - offset)
    return Words(_window(units, begin, length), length, long)


def _window_counts(length: Array) -> Array:
    return (length + (WINDOW - 1)) // WINDOW


def _window(units: Array, begin: Array, length: Array) -> Array:
    """Return the bytes from ``begin`` on, those past ``length`` all ones."""
    return windows(units, begin) | past_the_end(length)


def exact_ids(words: Words) -> tuple[Array, int]:
    """Number words: equal words get equal ids, and different words different ones.

    Returns:
        ``(words,)`` int64 ids without a gap, and how many there are.
    """
    is_long = words.length > WINDOW
    several = indices(is_long)
    if len(several) == 0:
        return numbered(words.first)
    ids = words.length * 0
    short = indices(~is_long)
    ids[short], bound = numbered(words.first[short])
    number, count = words.long, _window_counts(words.length[several])  # (windows of words left,), (words left,)
    while True:
        start, two = count.cumsum(0) - count, count < 3
        last = indices(two)
        ids_of_last, distinct = numbered(number[start[last]], number[start[last] + 1])
        ids[several[last]] = ids_of_last + bound
        bound += distinct
        longer = indices(~two)
        if len(longer) == 0:
            break
        several, start, count = several[longer], start[longer], count[longer]
        pairs = (count + 1) // 2
        position = positions(pairs) * 2
        left = repeated(start, pairs) + position
        has_right = (position + 1 < repeated(count, pairs)) * 1
        # -1 stands beside the last where the count is odd: no window is all ones.
        number, _ = numbered(number[left], (number[left + has_right] + 1) * has_right - 1)
        count = pairs
    return ids, bound


def _all(words: Sequence[Words]) -> Words:
    """Lay the words of several chunks end to end."""
    return Words(*map(joined, zip(*words, strict=True)))
