"""Texts as arrays: their characters, and where words begin and end.

Words are found from the classes of each character and its neighbours, by the rules of
``_core.text.word_rules`` or by the rule of chrF++.
"""

from __future__ import annotations

import string
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import accumulate, chain
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ngram_metrics._core.basics.lazy import np
from ngram_metrics._core.counting.documents import even_chunks
from ngram_metrics._core.text.word_rules import ROUGE_RULE, WORD_RULES, WordRule, unescape

if TYPE_CHECKING:
    from numpy.typing import NDArray

Integers: TypeAlias = "NDArray[np.int64]"
Flags: TypeAlias = "NDArray[np.bool_]"

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
        joined: the texts.
        units: ``(bytes + WINDOW,)`` uint8, their UTF-8 bytes, then ``END`` ``WINDOW`` times; a lone surrogate is three
            bytes like any code point of its size. For a rule that folds, a byte for each character.
        ends: ``(texts,)`` int64, the index in ``codes`` of the newline after each text.
        ascii: whether all characters are ASCII, or each byte is taken as a character.
    """

    joined: str
    units: NDArray[np.uint8]
    ends: Integers
    ascii: bool

    @property
    def codes(self) -> NDArray[np.uint8] | NDArray[np.int32]:
        """``(characters,)`` code points, uint8 if each is a byte, else int32."""
        return self.units[:-WINDOW] if self.ascii else code_points(self.joined)

    def as_bytes(self, later: Integers) -> Characters:
        """Return the same texts with each byte taken as a character, except the ``later`` bytes, which begin none."""
        ends = self.ends + (later - np.arange(len(later))).searchsorted(self.ends, side="right")
        return self._replace(ends=ends, ascii=True)

    def character_starts(self) -> Integers:
        """Return the index in ``units`` where each character begins, ``(characters,)`` int64, unless all are ASCII."""
        # All bytes of a character but the first are in 0x80..0xBF.
        units = self.units[:-WINDOW]
        return ((units < 0x80) | (units > 0xBF)).nonzero()[0]


def code_points(text: str) -> NDArray[np.int32]:
    """Return the code points of a text, ``(characters,)`` int32."""
    return np.frombuffer(text.encode(_UTF_32, "surrogatepass"), np.int32)


def text_of(codes: NDArray[np.int32]) -> str:
    """Return the text of code points."""
    return codes.tobytes().decode(_UTF_32, "surrogatepass")


def character_chunks(texts: Sequence[str]) -> Iterator[Characters]:
    """Yield the characters of texts in chunks: each chunk has at most ``CHARACTERS``, or is a single text."""
    return (characters for characters, _ in segment_chunks(texts, [np.ones(len(texts), np.int64)]))


def segment_chunks(
    texts: Sequence[str], columns: Sequence[Integers], folds: bool = False
) -> Iterator[tuple[Characters, Sequence[int]]]:
    """Yield the characters of chunks of whole segments, each at most ``CHARACTERS`` or a single segment.

    ``columns`` has for each column its number of texts per segment, ``(segments,)``; ``texts`` has one column after
    another. With ``folds`` only the characters of ASCII matter, and another one may be any byte beyond or ``?``. Yields
    the characters of a chunk, in the same order, and how many of its texts are in each column.
    """
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    before = np.concatenate((np.zeros(1, np.int64), lengths.cumsum()))
    if before[-1] <= CHARACTERS:
        yield _characters(texts, lengths, folds), [int(counts.sum()) for counts in columns]
        return
    bounds: list[Integers] = []
    first = 0
    for counts in columns:
        bounds.append(np.concatenate((np.zeros(1, np.int64), counts.cumsum())) + first)  # (segments + 1,)
        first = int(bounds[-1][-1])
    sizes = np.sum([np.diff(before[ends]) for ends in bounds], 0)
    for start, stop in even_chunks(sizes, CHARACTERS):
        parts = [slice(ends[start], ends[stop]) for ends in bounds]  # of each column
        chunk = list(chain.from_iterable(texts[part] for part in parts))
        chunk_lengths = np.concatenate([lengths[part] for part in parts])
        yield _characters(chunk, chunk_lengths, folds), [part.stop - part.start for part in parts]


def _characters(texts: Sequence[str], lengths: Integers, folds: bool) -> Characters:
    joined = "\n".join(("", *texts, ""))
    # If no character is beyond Latin-1, which is most often so, this only copies.
    encoded = joined.encode("latin-1", "replace") if folds else joined.encode("utf-8", "surrogatepass")
    units = np.frombuffer(encoded + END * WINDOW, np.uint8)
    return Characters(joined, units, (lengths + 1).cumsum(), len(encoded) == len(joined))


def counts_between(ascending: Integers, bounds: Integers) -> Integers:
    """Count the values of ``ascending`` below the first of ``bounds``, between it and the second, and so on."""
    counts = ascending.searchsorted(bounds)
    counts[1:] -= counts[:-1]
    return counts


#: Classes of characters, as bits. A character of class 0 is not in a word.
WORD, ALONE, STOP, NUMBER, HYPHEN, MARK, HEAD = 1, 2, 4, 8, 16, 32, 64

#: The class of each character.
Classes: TypeAlias = "NDArray[np.uint8]"
#: A byte that is neither a class nor ASCII.
_UNKNOWN = 0xFF


class Rule(NamedTuple):
    """A rule for what is a word.

    Attributes:
        class_of: returns the class of a character; with ``folds`` the byte that replaces it, or 0 if it is not in a
            word.
        prepare: returns the texts to be split into words.
        alone: from the classes ``(characters,)`` and the ends of the texts, returns which characters are words by
            themselves; None if there are none.
        folds: whether characters are replaced by their class before they are counted.
        drops_marks: whether words that consist of marks are dropped.
        beyond: the class of all characters that are not ASCII, but for a few, such as spaces; None if there is none.
    """

    class_of: Callable[[str], int]
    prepare: Callable[[Sequence[str]], Sequence[str]] = list
    alone: Callable[[Classes, Integers], Flags] | None = None
    folds: bool = False
    drops_marks: bool = False
    beyond: int | None = None

    def simplify(self, characters: Characters) -> Characters:
        """Return texts with each byte taken as a character, if few are not ASCII, all of these of the same class."""
        if self.beyond is None or characters.ascii:
            return characters
        units = characters.units[:-WINDOW]
        positions = (units > 0x7F).nonzero()[0]
        if len(positions) > len(units) // 4:
            return characters
        others = units.take(positions)
        classes = self._classes_of(code_points(others.tobytes().decode("utf-8", "surrogatepass")))
        # All bytes of a character but the first are below 0xC0.
        return characters.as_bytes(positions[others < 0xC0]) if (classes == self.beyond).all() else characters

    def classes(self, characters: Characters) -> Classes:
        """Return the class of each character."""
        if characters.ascii:
            encoded = characters.units[:-WINDOW].tobytes()
            return np.frombuffer(encoded.translate(_byte_classes(self.class_of, self.beyond)), np.uint8)
        return self._classes_of(code_points(characters.joined))

    def _classes_of(self, codes: NDArray[np.int32]) -> Classes:
        """Return the class of each code point."""
        table = _known_classes(self.class_of)
        classes = table.take(codes)  # a third of the cost of table[codes]
        if classes.max() == _UNKNOWN:
            for code in np.unique(codes[classes == _UNKNOWN]).tolist():
                table[code] = self.class_of(chr(code))
            classes = table.take(codes)
        return classes

    def words(self, characters: Characters) -> tuple[Integers, Integers, NDArray[np.uint8]]:
        """Return the beginning and the end of each word, ``(words,)`` int64, as indices in ``characters.codes``.

        Also returns the bytes that are counted: ``characters.units``, or with ``folds`` one byte per code point.
        """
        classes = self.classes(characters)
        units = characters.units
        inside = classes > 0
        if self.alone is None:
            begin, end = _stretches(inside)
        else:
            alone = self.alone(classes, characters.ends)
            parted = (inside[1:] ^ inside[:-1]) | alone[1:] | alone[:-1]
            if self.drops_marks and (classes & HEAD).any():
                parted |= _parts_of_heads(classes)
            bounds = parted.nonzero()[0] + 1
            word = inside.take(bounds[:-1]).nonzero()[0]
            begin = bounds.take(word)
            end = bounds.take(word + 1)
        if self.drops_marks:
            before = ((classes & (0xFF ^ MARK)) > 0).cumsum()
            lettered = (before[end - 1] > before[begin - 1]).nonzero()[0]
            begin, end = begin[lettered], end[lettered]
        return begin, end, np.concatenate((classes, units[-WINDOW:])) if self.folds else units


@cache
def _known_classes(class_of: Callable[[str], int]) -> Classes:
    """Return a cache of classes, ``(0x110000,)`` uint8: ``_UNKNOWN`` for code points that have not occurred yet."""
    return np.full(sys.maxunicode + 1, _UNKNOWN, np.uint8)


@cache
def _byte_classes(class_of: Callable[[str], int], beyond: int | None) -> bytes:
    """Return the class of each byte, from 0 on."""
    return bytes([*map(class_of, map(chr, range(128))), *[beyond or 0] * 128])


def _class_of(rule: WordRule, character: str) -> int:
    """Return the class of a character."""
    if character.isspace():
        return 0
    members = (rule.symbols, rule.stops, rule.numbers, rule.hyphens, rule.marks, rule.heads, rule.letters)
    for kind, characters in zip((ALONE, STOP, NUMBER, HYPHEN, MARK, HEAD, WORD), members, strict=True):
        if characters.has(character):
            return kind
    return 0 if any(rule.letters) else WORD


def _fold(character: str) -> int:
    """Return the lower case of a letter or digit of rouge_score's rule, else 0."""
    lower = ROUGE_RULE.prepare(character)
    return ord(lower) if len(lower) == 1 and ROUGE_RULE.letters.has(lower) else 0


def _chrf_class(character: str) -> int:
    if character.isspace():
        return 0
    return STOP if character in string.punctuation else WORD


def _alone(rule: WordRule, classes: Classes, ends: Integers) -> Flags:
    """Mark symbols, the stops that mteval splits off, and hyphens after a number.

    A stop before a character that is not a number is split off. The stops of a run are matched two characters at a
    time: the first, the third and so on if the character before the run is not a number, else the second, the fourth
    and so on. The ends of a text are numbers or spaces.
    """
    alone = (classes & ALONE) > 0
    if not any(rule.stops):
        return alone
    is_number = (classes & NUMBER) > 0
    if any(rule.hyphens):
        alone[1:] |= is_number[:-1] & ((classes[1:] & HYPHEN) > 0)
    if rule.edge_is_number:
        is_number[0] = True
        is_number[ends] = True
    stop = ((classes & STOP) > 0).nonzero()[0]
    begins_run = np.ones(len(stop), np.bool_)
    begins_run[1:] = stop[1:] - stop[:-1] > 1
    first = stop[begins_run][begins_run.cumsum() - 1]  # (stops,)
    is_odd = ((stop - first) & 1) == 0
    alone[stop] = (is_odd ^ is_number[first - 1]) | ~is_number[stop + 1]
    return alone


def _parts_of_heads(classes: Classes) -> Flags:
    """Mark where a head or what follows its marks begins, ``(characters - 1,)``, from the second character on."""
    heads = (classes & HEAD) > 0
    bases = np.where((classes & MARK) > 0, 0, np.arange(len(classes)))  # the first character is a newline
    has_head = heads.take(np.maximum.accumulate(bases))
    parts: Flags = heads[1:] | (has_head[1:] ^ has_head[:-1])
    return parts


def _chrf_alone(classes: Classes, ends: Integers) -> Flags:
    """Mark the last character of each word if it is punctuation, else the first."""
    begin, end = _stretches(classes > 0)
    punctuation = (classes & STOP) > 0
    is_long = end - begin > 1
    last = is_long & punctuation[end - 1]
    first = is_long & punctuation[begin] & ~last
    alone = np.zeros(len(classes), np.bool_)
    alone[(end - 1)[last]] = True
    alone[begin[first]] = True
    return alone


def _stretches(inside: Flags) -> tuple[Integers, Integers]:
    """Return where each run of true values begins and ends, between a first and a last value that are false."""
    change = (inside[1:] ^ inside[:-1]).nonzero()[0] + 1
    return change[::2], change[1::2]


def _rewrite(marks: str, rewrite: Callable[[str], str], texts: Sequence[str]) -> Sequence[str]:
    """Rewrite the texts that contain one of the ``marks``, without taking time for the rest."""
    joined = "".join(texts)
    present = [mark for mark in marks if mark in joined]
    if not present:
        return texts
    ends = list(accumulate(map(len, texts)))
    holding = set()
    for mark in present:
        position = joined.find(mark)
        while position >= 0:
            holding.add(bisect_right(ends, position))
            position = joined.find(mark, ends[bisect_right(ends, position)])
    texts = list(texts)
    for index in holding:
        texts[index] = rewrite(texts[index])
    return texts


def _rule(rule: WordRule, beyond: int | None = None) -> Rule:
    """Return a rule of the table for texts as arrays."""

    def rewrite_all(texts: Sequence[str]) -> Sequence[str]:
        return list(map(rule.prepare, texts))

    prepare: Callable[[Sequence[str]], Sequence[str]] = list if rule.prepare is str else rewrite_all
    if rule.prepare is unescape:
        prepare = partial(_rewrite, "<&\n", unescape)  # whitespace at the end, which it removes too, is in no word
    alone = partial(_alone, rule) if any(rule.symbols) else None
    return Rule(partial(_class_of, rule), prepare, alone, drops_marks=any(rule.marks), beyond=beyond)


#: The rules by the names that ``tokenizer`` takes.
NAMED = {name: _rule(rule, WORD if name in ("13a", "none") else None) for name, rule in WORD_RULES.items()}
WHITESPACE = NAMED["none"]
#: Only these two characters beyond ASCII have a letter of ASCII in their lower case.
ROUGE = Rule(_fold, partial(_rewrite, "\u0130\u212a", str.lower), folds=True)
CHRF_WORDS = Rule(_chrf_class, alone=_chrf_alone, beyond=WORD)
