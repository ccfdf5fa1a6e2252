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
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from ngram_metrics.counting.documents import RaggedTokens
from ngram_metrics.text.arrays import Integers, counts_between, numbered, numbered_in_order
from ngram_metrics.text.code_points import NEWLINE, WINDOW, Characters, character_chunks
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

    first: Integers
    length: Integers
    long: Integers


class Found(NamedTuple):
    """Words in ``units``: each begins at ``begin`` and has ``length`` bytes; both are ``(words,)`` int64."""

    units: NDArray[np.uint8]
    begin: Integers
    length: Integers

    def one_of_each(self, number: Integers, distinct: int) -> Found:
        """Return one word of each number ``0 .. distinct - 1``, all of which occur."""
        place = np.empty(distinct, np.int64)
        place[number] = np.arange(len(number))
        return Found(self.units, self.begin[place], self.length[place])

    def to_bytes(self) -> list[bytes]:
        """Return the words as Python ``bytes``."""
        return _pieces(self.units, self.begin, self.begin + self.length)


def number_words(
    rule: Rule, texts: Sequence[str], by_line: bool = False, stem: Callable[[str], str] | None = None
) -> RaggedTokens:
    """Number the words of texts.

    The words of each chunk are numbered first, then the distinct words of all chunks. So the memory, apart from the
    ids, is that of one chunk and of the vocabulary.

    Args:
        rule: the rule for what is a word.
        texts: any number of texts.
        by_line: whether each line of a text is a document, instead of the text.
        stem: returns the stem of a word; called once for each distinct word of a chunk.
    """
    ids, counts, bound = [], [], 0
    distinct: list[Words] = []
    stems: list[str] = []
    for characters in character_chunks(rule.prepared(texts)):
        found, in_documents = _found(rule, characters, by_line)
        of_chunk, size = _numbered(found)
        ids.append(of_chunk + bound)
        counts.append(in_documents)
        bound += size
        if stem is not None:
            words = found.one_of_each(of_chunk, size).to_bytes()
            stems += [stem(word.decode("utf-8", "surrogatepass")) for word in words]
        elif len(characters.ends) < len(texts):
            distinct.append(_words(found.one_of_each(of_chunk, size)))
    if stem is not None or distinct:
        number, bound = numbered_in_order(stems) if stem is not None else exact_ids(_all(distinct))
        ids = [number[of_chunk] for of_chunk in ids]
    return RaggedTokens(torch.from_numpy(concatenated(ids)), torch.from_numpy(concatenated(counts)), bound)


def concatenated(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return the concatenation of the arrays of all chunks; of one chunk the array itself."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _found(rule: Rule, characters: Characters, by_line: bool) -> tuple[Found, Integers]:
    """Return the words, and the number of words of each document."""
    begin, end, units = rule.words(characters)
    ends = (characters.codes == NEWLINE).nonzero()[0][1:] if by_line else characters.ends
    counts = counts_between(begin, ends)
    if units is characters.units and not characters.ascii:
        places = characters.unit_places()
        begin, end = places[begin], places[end]
    return Found(units, begin, end - begin), counts


def _numbered(found: Found) -> tuple[Integers, int]:
    """Number the words of a chunk; returns the same as :func:`exact_ids`."""
    if len(found.begin) < FEW:
        return numbered_in_order(found.to_bytes())
    return exact_ids(_words(found))


def _words(found: Found) -> Words:
    """Cut words into windows."""
    units, begin, length = found
    several = (length > WINDOW).nonzero()[0]
    number = _window_counts(length[several])
    offset = _positions(number) * WINDOW  # (windows,)
    long = _windows(units, begin[several].repeat(number) + offset, length[several].repeat(number) - offset)
    return Words(_windows(units, begin, length), length, long)


def _pieces(values: NDArray[Any], begin: Integers, end: Integers) -> list[bytes]:
    """Return ``values[begin:end]`` for each beginning and end, as Python ``bytes``."""
    raw, size = values.tobytes(), values.itemsize
    places = zip((begin * size).tolist(), (end * size).tolist(), strict=True)
    return [raw[start:stop] for start, stop in places]


def _positions(counts: Integers) -> Integers:
    """Return the index of each item in its group: counts ``2, 3`` give ``0, 1, 0, 1, 2``."""
    starts = (counts.cumsum() - counts).repeat(counts)
    return np.arange(len(starts)) - starts


def _window_counts(length: Integers) -> Integers:
    return (length + (WINDOW - 1)) // WINDOW


def _windows(units: NDArray[np.uint8], begin: Integers, length: Integers) -> Integers:
    """Return the bytes from ``begin`` on as windows; all bits of bytes after ``length`` are 1."""
    every = np.ndarray((len(units) - WINDOW + 1,), np.int64, units, 0, (1,))  # they overlap
    return every[begin] | _PAST_THE_END[np.minimum(length, WINDOW)]


#: Windows in which all bits of the bytes from 0, 1, ... ``WINDOW`` on are 1, and all other bits 0.
_PAST_THE_END = np.frombuffer(
    b"".join(b"\0" * length + b"\xff" * (WINDOW - length) for length in range(WINDOW + 1)), np.int64
)


def exact_ids(words: Words) -> tuple[Integers, int]:
    """Number words: equal words get equal ids, different words different ids.

    Returns:
        ``(words,)`` int64 ids without gaps, and the number of distinct words.
    """
    is_long = words.length > WINDOW
    several = is_long.nonzero()[0]
    if len(several) == 0:
        return numbered(words.first)
    ids = np.empty_like(words.length)
    short = (~is_long).nonzero()[0]
    ids[short], bound = numbered(words.first[short])
    number, count = words.long, _window_counts(words.length[several])  # (windows of words left,), (words left,)
    while True:
        start, two = count.cumsum() - count, count < 3
        last = two.nonzero()[0]
        ids_of_last, distinct = numbered(number[start[last]], number[start[last] + 1])
        ids[several[last]] = ids_of_last + bound
        bound += distinct
        longer = (~two).nonzero()[0]
        if len(longer) == 0:
            break
        several, start, count = several[longer], start[longer], count[longer]
        if len(longer) < FEW_LONG:
            ids_of_last, distinct = numbered_in_order(_pieces(number, start, start + count))
            ids[several] = ids_of_last + bound
            return ids, bound + distinct
        pairs = (count + 1) // 2
        position = _positions(pairs) * 2
        left = start.repeat(pairs) + position
        has_right = (position + 1 < count.repeat(pairs)).astype(np.int64)
        # If the count is odd, the last is paired with -1, which no window equals.
        number, _ = numbered(number[left], (number[left + has_right] + 1) * has_right - 1)
        count = pairs
    return ids, bound


def _all(words: Sequence[Words]) -> Words:
    """Concatenate the words of several chunks."""
    return Words(*map(concatenated, zip(*words, strict=True)))
