"""Words as arrays: where the words of texts begin and end, and their exact ids, without a Python step per word.

Only the words of a segment, a hypothesis with its references, are compared. So texts are read in chunks of whole
segments, whose words are numbered apart: the id of a word is the index of an equal word in the chunk, the same for all
equal words. No vocabulary outlives its chunk.

A word is its UTF-8 bytes, cut into windows of eight bytes, each an int64. The last window is filled up with a byte that
UTF-8 does not use, so two words are equal if their windows are equal. The windows are hashed into a slot of a table, in
which one of its words, in practice the first, leaves its index. Every word is then compared with the word in its slot.
Equal words share a slot, so either all of them find an equal word, or none does. The latter, and long words, are
numbered in a dict. No id is a hash, so two words never share one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from ngram_metrics._core.basics.lazy import np, torch
from ngram_metrics._core.counting.documents import RaggedTokens
from ngram_metrics._core.text.word_bounds import (
    NEWLINE,
    WINDOW,
    Characters,
    Flags,
    Integers,
    Rule,
    counts_between,
    segment_chunks,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Below this number, words are numbered in a dict, which is then faster than operations on arrays.
FEW = 1 << 10
#: Words of at least this number of windows are numbered in a dict.
WINDOWS = 4
#: 2^64 divided by the golden ratio: its multiples spread evenly.
FIBONACCI = 0x9E3779B97F4A7C15


class WordBytes(NamedTuple):
    """Words in ``units``, which begin at ``begin`` and have ``length`` bytes, both ``(words,)`` int64."""

    units: NDArray[np.uint8]
    begin: Integers
    length: Integers

    def to_bytes(self, words: Integers | slice = slice(None)) -> list[bytes]:
        """Return the words with these indices as Python ``bytes``."""
        raw = self.units.tobytes()
        begin = self.begin[words]
        indices = zip(begin.tolist(), (begin + self.length[words]).tolist(), strict=True)
        return [raw[start:stop] for start, stop in indices]

    def window(self, words: Integers | slice, index: int) -> Integers:
        """Return a window of the words with these indices, in which all bits of bytes past the end are 1.

        The words have at least ``index`` windows before this one.
        """
        every = np.ndarray((len(self.units) - WINDOW + 1,), np.int64, self.units, 0, (1,))  # they overlap
        before = index * WINDOW
        windows: Integers = every[self.begin[words] + before]
        windows |= np.frombuffer(_PAST_THE_END, np.int64).take(self.length[words] - before, mode="clip")
        return windows


#: The bytes of windows in which all bits of the bytes from 0, 1, ... ``WINDOW`` on are 1, and all other bits 0.
_PAST_THE_END = b"".join(b"\0" * length + b"\xff" * (WINDOW - length) for length in range(WINDOW + 1))


def number_words(
    rule: Rule,
    texts: Sequence[str],
    columns: Sequence[Integers],
    by_line: bool = False,
    stem: Callable[[str], str] | None = None,
) -> RaggedTokens:
    """Number the words of texts by a rule. Ids of the same segment are equal if the words are.

    ``columns`` has for each column, such as the references, its number of texts in each segment, ``(segments,)`` int64;
    ``texts`` has one column after another. With ``by_line`` each line of a text is a document, instead of the text.
    ``stem`` returns the stem of a word, and is called once for each distinct word of a chunk.
    """
    ids, counts, bound = [], [], 1
    for characters, sizes in segment_chunks(rule.prepare(texts), columns, rule.folds):
        characters = rule.simplify(characters)
        begin, end, units = rule.words(characters)
        ends = characters.ends
        before = list(accumulate(sizes, initial=0))  # the documents before each column
        if by_line:
            ends = (characters.codes == NEWLINE).nonzero()[0][1:]
            before = _upto(ends.searchsorted(characters.ends, side="right"))[before].tolist()
        in_documents = counts_between(begin, ends)
        chunk_ids = word_ids(found_words(characters, begin, end, units), stem)
        ids.append(_split(chunk_ids, _upto(in_documents.cumsum())[before].tolist()))
        counts.append(_split(in_documents, before))
        bound = max(bound, len(chunk_ids))
    return RaggedTokens(_join_columns(ids), _join_columns(counts), bound)


def found_words(characters: Characters, begin: Integers, end: Integers, units: NDArray[np.uint8]) -> WordBytes:
    """Return words as bytes, from what ``Rule.words`` returns."""
    if units is characters.units and not characters.ascii:
        indices = characters.character_starts()
        begin, end = indices[begin], indices[end]
    return WordBytes(units, begin, end - begin)


def _upto(values: Integers) -> Integers:
    return np.concatenate((np.zeros(1, np.int64), values))


def _split(values: Integers, bounds: Sequence[int]) -> list[Integers]:
    return [values[start:stop] for start, stop in pairwise(bounds)]


def _join_columns(chunks: Sequence[Sequence[Integers]]) -> torch.Tensor:
    """Join the arrays of all chunks, column by column."""
    parts = [part for column in zip(*chunks, strict=True) for part in column]
    return torch.from_numpy(parts[0] if len(parts) == 1 else np.concatenate(parts))


def word_ids(words: WordBytes, stem: Callable[[str], str] | None = None) -> Integers:
    """Number each word, or its stem, by the index of an equal one, ``(words,)`` int64."""
    indices = np.arange(len(words.begin))
    if len(indices) < FEW:
        same = indices.copy()
        alone = indices
    else:
        same, is_other = _compare_slots(words, indices)
        alone = is_other.nonzero()[0]
    same[alone] = _first_indices(words.to_bytes(alone), alone)
    if stem is not None:
        distinct = (same == indices).nonzero()[0]
        stems = [stem(word.decode("utf-8", "surrogatepass")) for word in words.to_bytes(distinct)]
        indices[distinct] = _first_indices(stems, distinct)
        same = indices[same]
    return same


def _first_indices(values: Sequence[bytes | str], indices: Integers) -> list[int]:
    """Return for each value the index of the first one that is equal."""
    first: dict[bytes | str, int] = {}
    return [first.setdefault(value, index) for value, index in zip(values, indices.tolist(), strict=True)]


def _compare_slots(word_bytes: WordBytes, indices: Integers) -> tuple[Integers, Flags]:
    """Return the word in the slot of each word, and whether the two may differ."""
    first = word_bytes.window(slice(None), 0)
    mixed = first.view(np.uint64) * np.uint64(FIBONACCI)
    longer: list[tuple[Integers, Integers]] = []
    words = indices
    for index in range(1, WINDOWS):
        # The window of a word that ends with the window before is all ones, which tells it from longer words.
        words = words.take((word_bytes.length.take(words) >= index * WINDOW).nonzero()[0])  # in half the time of a mask
        window = word_bytes.window(words, index)
        longer.append((words, window))
        # The high bits of a product depend on all bits of its factors, the low bits on few: add in the high half.
        hashes = mixed[words]
        hashes ^= hashes >> np.uint64(32)
        hashes += window.view(np.uint64)
        hashes *= np.uint64(FIBONACCI)
        mixed[words] = hashes
    bits = (4 * len(indices)).bit_length()
    slot = (mixed >> np.uint64(64 - bits)).view(np.int64)
    table = np.empty(1 << bits, np.int64)  # only what is written is read
    # From the last word to the first: if the first of equal words stays, which numpy does not promise, frequent words
    # have small numbers, and RapidFuzz looks them up faster.
    table[slot[::-1]] = indices[::-1]
    same = table.take(slot)  # half the time of table[slot]
    is_other: Flags = first.take(same) != first
    every = np.empty_like(first)
    for words, window in longer:
        every[words] = window
        is_other[words] |= every.take(same[words]) != window
    is_other[words] |= word_bytes.length[words] >= WINDOWS * WINDOW
    return same, is_other
