"""The segments of an update as one array of token ids, in NumPy.

The documents follow one another, each hypothesis before its references. The id 0 ends a hypothesis, and 1 a reference.
An n-gram that leaves its document contains an end that the other side lacks, so it matches nothing.

Example: ``a b a`` with the references ``b a`` and ``c`` is ``3 4 3 0 4 3 1 5 1``, where a = 3, b = 4 and c = 5.

For ROUGE-Lsum the id 2 ends a sentence within a document. Only ids of one segment are comparable: in another segment
the same id may stand for another token.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ngram_metrics._core.counting.matches import count_matches, join_ranges
from ngram_metrics._core.counting.subsequences import common_lengths, union_hits

Integers: TypeAlias = NDArray[np.int64]
#: The ids that are not tokens, and the first that is one.
END_OF_HYPOTHESIS, END_OF_REFERENCE, END_OF_SENTENCE, FIRST_TOKEN = range(4)
#: The ``Batch.reference_range`` of a batch without segments.
NO_REFERENCES = (-(1 << 62), 0)
#: The most entries of a table that is indexed by id. Larger ids are sorted instead.
MOST_IDS = 1 << 20
#: Documents that are numbered at a time, few enough for their strings to stay in the cache.
PORTION = 128


class Batch(NamedTuple):
    """The documents of segments.

    Attributes:
        ids: ``(slots,)`` int64 from 0 to ``bound - 1``.
        lengths: ``(documents,)`` int64, the slots of each document, not counting its end.
        counts: ``(segments,)`` int64, the number of references of each segment, at least 1; None if each has one.
        bound: an exclusive upper bound of the ids.
    """

    ids: Integers
    lengths: Integers
    counts: Integers | None
    bound: int

    @property
    def is_paired(self) -> bool:
        """Whether each segment has one reference."""
        return self.counts is None

    @property
    def hypothesis_documents(self) -> Integers:
        """The index of each segment's hypothesis among the documents, ``(segments,)``."""
        if self.counts is None:
            return np.arange(0, len(self.lengths), 2)
        return (self.counts + 1).cumsum() - self.counts - 1

    @property
    def reference_documents(self) -> Integers:
        """The index of each reference among the documents, ``(references,)``, segment after segment."""
        if self.counts is None:
            return np.arange(1, len(self.lengths), 2)
        is_reference = np.ones(len(self.lengths), np.bool_)
        is_reference[self.hypothesis_documents] = False
        return is_reference.nonzero()[0]

    @property
    def hypothesis_lengths(self) -> Integers:
        """The tokens of each hypothesis, ``(segments,)``."""
        return self.lengths[::2] if self.counts is None else self.lengths[self.hypothesis_documents]

    @property
    def reference_lengths(self) -> Integers:
        """The tokens of each reference, ``(references,)``."""
        return self.lengths[1::2] if self.counts is None else self.lengths[self.reference_documents]

    @property
    def sizes(self) -> Integers:
        """The slots of each segment, ``(segments,)``."""
        if self.counts is None:
            return self.lengths[::2] + self.lengths[1::2] + 2
        return np.add.reduceat(self.lengths + 1, self.hypothesis_documents)

    def closest_lengths(self) -> Integers:
        """Return the reference length nearest to each hypothesis length, the shorter on a tie, ``(segments,)``."""
        lengths = self.reference_lengths
        if self.counts is None:
            return lengths
        hypotheses = self.hypothesis_lengths
        # Four times the distance, plus 1 for a longer reference and minus 1 for a shorter one, which breaks ties.
        distances = np.abs(4 * (lengths - hypotheses.repeat(self.counts)) + 1)  # (references,)
        nearest = np.minimum.reduceat(distances, self.counts.cumsum() - self.counts)  # (segments,)
        apart = (nearest + 1) >> 2
        return hypotheses + np.where((nearest & 2) == 0, apart, -apart)

    def count_matches(self, orders: int) -> Integers:
        """Return the clipped matches of each segment, ``(segments, orders)``."""
        return count_matches(self, orders)

    def common_lengths(self) -> Integers:
        """Return the length of a longest common subsequence of each segment; each has one reference."""
        return common_lengths(self)

    def union_hits(self) -> Integers:
        """Return the ROUGE-Lsum hits of each segment; each has one reference."""
        return union_hits(self)

    def chunks(self, slots: int) -> Iterator[Batch]:
        """Yield the segments in batches of at most ``slots`` slots, or of a single segment."""
        if len(self.ids) <= slots:
            if len(self.lengths):
                yield self
            return
        ends = self.sizes.cumsum()
        documents = np.append(self.hypothesis_documents, len(self.lengths))
        start, before = 0, 0
        while start < len(ends):
            stop = max(start + 1, int(ends.searchsorted(before + slots, side="right")))
            after = int(ends[stop - 1])
            lengths = self.lengths[documents[start] : documents[stop]]
            counts = None if self.counts is None else self.counts[start:stop]
            yield Batch(self.ids[before:after], lengths, counts, self.bound)
            start, before = stop, after

    def pairs(self) -> Batch:
        """Return one segment for each reference, each with a copy of the hypothesis."""
        if self.counts is None:
            return self
        documents = np.empty(2 * int(self.counts.sum()), np.int64)
        documents[::2] = self.hypothesis_documents.repeat(self.counts)
        documents[1::2] = self.reference_documents
        sizes = self.lengths + 1
        slots = join_ranges((sizes.cumsum() - sizes)[documents], sizes[documents])
        return Batch(self.ids[slots], self.lengths[documents], None, self.bound)

    def take_best(self, fields: Sequence[Any], scores: Any) -> Sequence[Any]:
        """Return each field for the reference of each segment with the highest score, the first on ties.

        Scores ``(references,)`` choose one reference for fields ``(references, ...)``. Scores ``(references, keys)``
        choose one for each key of fields ``(references, keys)``.
        """
        if self.counts is None:
            return fields
        starts = self.counts.cumsum() - self.counts
        highest = np.maximum.reduceat(scores, starts).repeat(self.counts, 0)
        index = np.arange(len(scores)).reshape(-1, *[1] * (scores.ndim - 1))
        best = np.minimum.reduceat(np.where(scores == highest, index, len(scores)), starts)  # (segments, [keys])
        if best.ndim == 1:
            return [field[best] for field in fields]
        return [np.take_along_axis(field, best, 0) for field in fields]

    def sum_references(self, values: Any) -> Any:
        """Sum values ``(references, ...)`` over the references of each segment: ``(segments, ...)``."""
        return values if self.counts is None else np.add.reduceat(values, self.counts.cumsum() - self.counts)

    def count_references(self) -> Integers:
        """Return the number of references of each segment, ``(segments,)``."""
        return np.ones(len(self.lengths) // 2, np.int64) if self.counts is None else self.counts

    def reference_range(self) -> Integers:
        """Return the fewest references of a segment, negated, and the most, ``(2,)``: the maximum of two joins them."""
        if not len(self.lengths):
            return np.array(NO_REFERENCES)
        return np.array([-1, 1] if self.counts is None else [-self.counts.min(), self.counts.max()])

    def narrow(self) -> Batch:
        """Return the same segments with small ids, below about the number of slots."""
        if self.bound <= len(self.ids) + FIRST_TOKEN:
            return self
        if self.bound > MOST_IDS:
            distinct, ids = np.unique(np.append(range(FIRST_TOKEN), self.ids), return_inverse=True)
            return self._replace(ids=ids[FIRST_TOKEN:], bound=len(distinct))
        new_ids = np.empty(self.bound, np.int64)
        # Each id gets the number of the last slot that has it.
        new_ids[self.ids] = np.arange(FIRST_TOKEN, len(self.ids) + FIRST_TOKEN)
        new_ids[:FIRST_TOKEN] = range(FIRST_TOKEN)
        return self._replace(ids=new_ids.take(self.ids), bound=len(self.ids) + FIRST_TOKEN)

    def drop_sentence_ends(self) -> Batch:
        """Return the same segments without the ids that end sentences."""
        is_kept = self.ids != END_OF_SENTENCE
        return batch_of(self.ids[is_kept], self.bound, self.counts)


def batch_of(ids: Integers, bound: int, counts: Integers | None) -> Batch:
    """Return the batch of ids whose documents each end in 0 or 1. This writes the right one of the two in place."""
    ends = (ids <= END_OF_REFERENCE).nonzero()[0]
    lengths = ends.copy()
    lengths[1:] -= ends[:-1] + 1
    batch = Batch(ids, lengths, counts, bound)
    ids[ends] = END_OF_REFERENCE
    ids[ends[batch.hypothesis_documents]] = END_OF_HYPOTHESIS
    return batch


def portions(documents: int, counts: Integers | None) -> Iterator[slice]:
    """Yield ranges of about ``PORTION`` documents that do not cut a segment."""
    if counts is None or documents <= PORTION:
        for start in range(0, documents, PORTION):
            yield slice(start, min(start + PORTION, documents))
        return
    stops = (counts + 1).cumsum()
    start = 0
    while start < documents:
        index = min(int(stops.searchsorted(start + PORTION)), len(stops) - 1)
        yield slice(start, int(stops[index]))
        start = int(stops[index])


def number_tokens(parts: Iterable[Sequence[Hashable]], end: Hashable) -> tuple[Integers, int]:
    """Number the tokens of documents, each followed by ``end``. The documents come in parts of whole segments.

    Each part starts again from small numbers, because only tokens of one segment are compared.

    Returns:
        The ids, 0 for each end, and an exclusive bound of them.

    Raises:
        TypeError: a token is not hashable.
    """
    numbered: list[Integers] = []
    bound = FIRST_TOKEN
    for tokens in parts:
        numbers: dict[Hashable, int] = {end: END_OF_HYPOTHESIS}
        # The number of a token is the position of its first occurrence.
        numbered.append(np.fromiter(map(numbers.setdefault, tokens, count(FIRST_TOKEN)), np.int64, len(tokens)))
        bound = max(bound, len(tokens) + FIRST_TOKEN)
    return _join(numbered), bound


def end_sentences(ids: Integers, sentences: Integers) -> None:
    """Join sentences in place: the first ``sentences[0]`` documents of ``ids`` become document 0, and so on."""
    is_sentence = np.ones(int(sentences.sum()), np.bool_)
    is_sentence[sentences.cumsum() - 1] = False
    ids[(ids == END_OF_HYPOTHESIS).nonzero()[0][is_sentence]] = END_OF_SENTENCE


def number_characters(texts: Sequence[str], counts: Integers | None, whitespace: bool) -> Batch:
    """Number the characters of texts. Whitespace is what ``str.split`` splits at."""
    numbered: list[Integers] = []
    bound = FIRST_TOKEN
    for portion in portions(len(texts), counts):
        some = texts[portion]
        codes = np.frombuffer("\n".join((*some, "")).encode("utf-32-le", "surrogatepass"), np.dtype("<i4"))
        distinct = np.bincount(codes).nonzero()[0]
        numbers = np.empty(int(distinct[-1]) + 1, np.int64)
        numbers[distinct] = np.arange(FIRST_TOKEN, len(distinct) + FIRST_TOKEN)
        if not whitespace:
            numbers[_WHITESPACE[: _WHITESPACE.searchsorted(len(numbers))]] = -1
        ids = numbers.take(codes)
        ids[np.fromiter(map(len, some), np.int64, len(some)).cumsum() + np.arange(len(some))] = END_OF_HYPOTHESIS
        numbered.append(ids if whitespace else ids[ids >= 0])
        bound = max(bound, len(distinct) + FIRST_TOKEN)
    return batch_of(_join(numbered), bound, counts)


def number_ids(tokens: Integers, lengths: Integers, counts: Integers | None, separator: int | None = None) -> Batch:
    """Number the ids of documents, ``(tokens,)`` int64; a ``separator`` ends a sentence."""
    ends = lengths.cumsum() + np.arange(len(lengths))
    is_token = np.ones(len(tokens) + len(lengths), np.bool_)
    is_token[ends] = False
    ids = np.zeros(len(is_token), np.int64)
    numbers, bound = _number_values(tokens)
    ids[is_token] = numbers if separator is None else np.where(tokens == separator, END_OF_SENTENCE, numbers)
    return batch_of(ids, bound, counts)


def number_padded(
    hypotheses: NDArray[Any], references: NDArray[Any], dropped: Sequence[int], separator: int | None = None
) -> Batch:
    """Number padded ids, hypotheses ``(segments, width)`` and references ``(segments, references, width)``.

    Negative and ``dropped`` ids are not tokens. A ``separator``, which may be negative, ends a sentence. A row without
    tokens and separators is a missing reference, and so is a row without tokens if the ``separator`` is ``dropped``. A
    segment without any reference gets an empty one.
    """
    segments, count, width = references.shape
    middle = hypotheses.shape[1]
    # Each row is the hypothesis, its end, and each reference with its end.
    ids = np.full((segments, middle + 1 + count * (width + 1)), -1, np.int64)
    by_reference = (segments, count, width + 1)
    ids[:, :middle] = hypotheses
    ids[:, middle + 1 :].reshape(by_reference)[..., :-1] = references
    is_kept = ids >= 0
    for padding in dropped:
        is_kept &= ids != padding
    in_references = is_kept[:, middle + 1 :].reshape(by_reference)  # a view
    if separator is not None:
        ends_sentence = ids == separator
        if separator in dropped:
            has_tokens = np.any(in_references[..., :-1], -1)
            ends_sentence[:, middle + 1 :].reshape(by_reference)[~has_tokens] = False
        is_kept |= ends_sentence
    is_present = np.any(in_references[..., :-1], -1)  # (segments, references)
    is_present[:, :1] |= ~is_present.any(1, keepdims=True)
    # Negative ids are dropped anyway, and ids below -1 would have to be sorted.
    ids, bound = _number_values(np.maximum(ids, -1, out=ids))
    if separator is not None:
        ids[ends_sentence] = END_OF_SENTENCE
    ids[:, middle] = ids[:, middle + 1 + width :: width + 1] = END_OF_REFERENCE
    is_kept[:, middle] = True
    is_kept[:, middle + 1 + width :: width + 1] = is_present
    return batch_of(ids[is_kept], bound, None if count == 1 else is_present.sum(1))


def _number_values(values: Integers) -> tuple[Integers, int]:
    """Number ids in any order, tokens from ``FIRST_TOKEN`` on, and return an exclusive bound of the numbers."""
    largest = int(values.max(initial=0))
    if largest < 1 << 62 and values.min(initial=0) >= -1:
        return values + FIRST_TOKEN, largest + FIRST_TOKEN + 1
    distinct, numbers = np.unique(values, return_inverse=True)
    return numbers.reshape(values.shape) + FIRST_TOKEN, len(distinct) + FIRST_TOKEN


def _join(parts: Sequence[Integers]) -> Integers:
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, np.int64), *parts])


#: The code points of whitespace, in order.
_WHITESPACE = np.array([code for code in range(0x3001) if chr(code).isspace()])
