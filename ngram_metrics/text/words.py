"""Words as arrays: where the words of texts begin and end, and their exact ids, without a Python step per word.

A word is its UTF-8 bytes, cut into windows of eight bytes, each an int64. The last window is filled up with a byte that
UTF-8 does not use, so two words are equal if their windows are equal. Most words are one window, and the number of this
window among the distinct windows is the id of the word. Longer words are numbered pair by pair: a number represents two
neighbouring windows, in the next round two such numbers, until one number represents the whole word::

    pairs       (internat, ionaliza) (tion...., -)      numbers     1 0
    pairs       (1, 0)                                  number      0

No number is a hash, so two words never share an id. A word of n bytes takes log2(n / 8) rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch

from ngram_metrics.counting.documents import RaggedTokens
from ngram_metrics.text.arrays import (
    WINDOW,
    Array,
    concatenated,
    counts_between,
    indices,
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

#: Below this number, words are numbered in a dict, which is then faster than operations on arrays.
FEW = 1 << 10
#: Below this number, words of more than two windows are.
FEW_LONG = 1 << 8


class Words(NamedTuple):
    """Words, cut into windows.

    Attributes:
        first: ``(words,)`` int64, the first window of each word.
        length: ``(words,)`` int64, the bytes of each word, at least 1.
        long: ``(windows,)`` int64, all windows of the words that have several, word after word.
    """

    first: Array
    length: Array
    long: Array


class Found(NamedTuple):
    """Words in ``units``: each begins at ``begin`` and has ``length`` bytes; both are ``(words,)`` int64."""

    units: Array
    begin: Array
    length: Array

    def take(self, place: Array) -> Found:
        """Return the words at these indices."""
        return Found(self.units, self.begin[place], self.length[place])

    def to_bytes(self) -> list[bytes]:
        """Return the words as Python ``bytes``."""
        return _pieces(self.units, self.begin, self.begin + self.length)


def number_words(
    rule: Rule,
    texts: Sequence[str],
    device: torch.device,
    by_line: bool = False,
    stem: Callable[[str], str] | None = None,
) -> RaggedTokens:
    """Number the words of texts.

    The words of each chunk are numbered first, then the distinct words of all chunks. So the memory, apart from the
    ids, is that of one chunk and of the vocabulary.

    Args:
        rule: the rule for what is a word.
        texts: any number of texts.
        device: where the words are found and numbered.
        by_line: whether each line of a text is a document, instead of the text.
        stem: returns the stem of a word; called once for each distinct word of a chunk.
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
    return RaggedTokens(tensor(concatenated(ids)), tensor(concatenated(counts)).cpu(), bound)


def _found(rule: Rule, characters: Characters, by_line: bool) -> tuple[Found, Array]:
    """Return the words, and the number of words of each document."""
    begin, end, units = rule.words(characters)
    ends = indices((characters.codes ^ NEWLINE) < 1)[1:] if by_line else characters.ends
    counts = counts_between(begin, ends)
    if units is characters.units and not characters.ascii:
        places = characters.unit_places()
        begin, end = places[begin], places[end]
    return Found(units, begin, end - begin), counts


def _numbered(found: Found) -> tuple[Array, int]:
    """Number the words of a chunk; returns the same as :func:`exact_ids`."""
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


def _pieces(values: Array, begin: Array, end: Array) -> list[bytes]:
    """Return ``values[begin:end]`` for each beginning and end, as Python ``bytes``."""
    raw = raw_bytes(values)
    size = len(raw) // max(1, len(values))
    starts, stops = tensor(begin * size).tolist(), tensor(end * size).tolist()
    return [raw[start:stop] for start, stop in zip(starts, stops, strict=True)]


def _window_counts(length: Array) -> Array:
    return (length + (WINDOW - 1)) // WINDOW


def _window(units: Array, begin: Array, length: Array) -> Array:
    """Return the bytes from ``begin`` on as windows; all bits of bytes after ``length`` are 1."""
    return windows(units, begin) | past_the_end(length)


def exact_ids(words: Words) -> tuple[Array, int]:
    """Number words: equal words get equal ids, different words different ids.

    Returns:
        ``(words,)`` int64 ids without gaps, and the number of distinct words.
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
        if isinstance(number, np.ndarray) and len(longer) < FEW_LONG:
            ids_of_last, distinct = numbered_in_order(_pieces(number, start, start + count), torch.device("cpu"))
            ids[several] = ids_of_last + bound
            return ids, bound + distinct
        pairs = (count + 1) // 2
        position = positions(pairs) * 2
        left = repeated(start, pairs) + position
        has_right = (position + 1 < repeated(count, pairs)) * 1
        # If the count is odd, the last is paired with -1, which no window equals.
        number, _ = numbered(number[left], (number[left + has_right] + 1) * has_right - 1)
        count = pairs
    return ids, bound


def _all(words: Sequence[Words]) -> Words:
    """Concatenate the words of several chunks."""
    return Words(*map(concatenated, zip(*words, strict=True)))
