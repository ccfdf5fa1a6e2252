"""Batches of numbered tokens: from words, characters, lists of ids and padded ids, in NumPy."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ngram_metrics._core.counting.batch import (
    END_OF_HYPOTHESIS,
    END_OF_REFERENCE,
    END_OF_SENTENCE,
    FIRST_TOKEN,
    Batch,
    Integers,
    batch_of,
)

#: The number of documents that are numbered at a time, few enough for their strings to stay in the cache.
PORTION = 128
#: The code points of whitespace, in order.
_WHITESPACE = np.array([code for code in range(0x3001) if chr(code).isspace()])


def cut_portions(documents: int, reference_counts: Integers | None) -> list[slice]:
    """Return ranges of about ``PORTION`` documents that do not cut a segment."""
    if reference_counts is None or documents <= PORTION:
        return [slice(start, min(start + PORTION, documents)) for start in range(0, documents, PORTION)]
    segment_stops = (reference_counts + 1).cumsum()
    portions = []
    start = 0
    while start < documents:
        index = min(int(segment_stops.searchsorted(start + PORTION)), len(segment_stops) - 1)
        stop = int(segment_stops[index])
        portions.append(slice(start, stop))
        start = stop
    return portions


class TokenNumbering:
    """Numbers the tokens of documents, portion by portion.

    Each portion starts again from small numbers, because only tokens of one segment are compared.
    """

    def __init__(self, end: Hashable) -> None:
        """Start without documents. ``end`` follows the tokens of each document."""
        self._end = end
        self._parts: list[Integers] = []
        self._bound = FIRST_TOKEN

    def add(self, tokens: Sequence[Hashable]) -> None:
        """Number the tokens of a portion of whole segments, or raise TypeError for one that is not hashable."""
        numbers: dict[Hashable, int] = {self._end: END_OF_HYPOTHESIS}
        # The number of a token is the position of its first occurrence.
        positions = count(FIRST_TOKEN)
        self._parts.append(np.fromiter(map(numbers.setdefault, tokens, positions), np.int64, len(tokens)))
        self._bound = max(self._bound, len(tokens) + FIRST_TOKEN)

    def to_batch(self, reference_counts: Integers | None) -> Batch:
        """Return the batch of all documents."""
        return batch_of(self._join_parts(), self._bound, reference_counts)

    def to_batch_of_sentences(self, sentence_counts: Integers, reference_counts: Integers | None) -> Batch:
        """Return the batch where the first ``sentence_counts[0]`` documents are the sentences of document 0, and so on.

        Each document has at least one sentence.
        """
        ids = self._join_parts()
        ends_inside = np.ones(int(sentence_counts.sum()), np.bool_)
        ends_inside[sentence_counts.cumsum() - 1] = False
        ends = (ids == END_OF_HYPOTHESIS).nonzero()[0]
        ids[ends[ends_inside]] = END_OF_SENTENCE
        return batch_of(ids, self._bound, reference_counts)

    def _join_parts(self) -> Integers:
        """Return the ids of all portions, and keep no second copy of them."""
        ids = _join(self._parts)
        self._parts = [ids]
        return ids


def number_characters(texts: Sequence[str], reference_counts: Integers | None, whitespace: bool) -> Batch:
    """Number the characters of texts. Whitespace is what ``str.split`` splits at."""
    parts: list[Integers] = []
    bound = FIRST_TOKEN
    for portion in cut_portions(len(texts), reference_counts):
        some = texts[portion]
        # There is a line feed where each text ends. It is overwritten below.
        codes = np.frombuffer("\n".join((*some, "")).encode("utf-32-le", "surrogatepass"), np.dtype("<i4"))
        distinct = np.bincount(codes).nonzero()[0]
        numbers = np.empty(int(distinct[-1]) + 1, np.int64)
        numbers[distinct] = np.arange(FIRST_TOKEN, len(distinct) + FIRST_TOKEN)
        if not whitespace:
            numbers[_WHITESPACE[: _WHITESPACE.searchsorted(len(numbers))]] = -1
        ids = numbers.take(codes)
        lengths = np.fromiter(map(len, some), np.int64, len(some))
        ids[lengths.cumsum() + np.arange(len(some))] = END_OF_HYPOTHESIS
        parts.append(ids if whitespace else ids[ids >= 0])
        bound = max(bound, len(distinct) + FIRST_TOKEN)
    return batch_of(_join(parts), bound, reference_counts)


def number_ids(
    tokens: Integers, lengths: Integers, reference_counts: Integers | None, separator: int | None = None
) -> Batch:
    """Number the ids of documents, ``(tokens,)`` int64; a ``separator`` ends a sentence."""
    ends = lengths.cumsum() + np.arange(len(lengths))
    is_token = np.ones(len(tokens) + len(lengths), np.bool_)
    is_token[ends] = False
    numbers, bound = _number_values(tokens)
    if separator is not None:
        numbers = np.where(tokens == separator, END_OF_SENTENCE, numbers)
    ids = np.zeros(len(is_token), np.int64)
    ids[is_token] = numbers
    return batch_of(ids, bound, reference_counts)


def number_padded(
    hypotheses: NDArray[Any], references: NDArray[Any], dropped: Sequence[int], separator: int | None = None
) -> Batch:
    """Number padded ids, hypotheses ``(segments, width)`` and references ``(segments, references, width)``.

    Negative and ``dropped`` ids are not tokens. A ``separator``, which may be negative, ends a sentence. A row without
    tokens and separators is a missing reference, and so is a row without tokens if the ``separator`` is ``dropped``. A
    segment without any reference gets an empty one.
    """
    segments, count, width = references.shape
    hypothesis_width = hypotheses.shape[1]

    def view_references(rows: NDArray[Any]) -> NDArray[Any]:
        """Return the references of rows, ``(segments, references, width + 1)``, whose last column is their ends."""
        return rows[:, hypothesis_width + 1 :].reshape(segments, count, width + 1)

    # Each row is the hypothesis, its end, and each reference with its end.
    ids = np.full((segments, hypothesis_width + 1 + count * (width + 1)), -1, np.int64)
    ids[:, :hypothesis_width] = hypotheses
    view_references(ids)[..., :width] = references
    is_kept = ids >= 0
    for padding in dropped:
        is_kept &= ids != padding
    if separator is not None:
        ends_sentence = ids == separator
        if separator in dropped:
            has_tokens = np.any(view_references(is_kept)[..., :width], -1)
            view_references(ends_sentence)[~has_tokens] = False
        is_kept |= ends_sentence
    is_present = np.any(view_references(is_kept)[..., :width], -1)  # (segments, references)
    is_present[:, :1] |= ~is_present.any(1, keepdims=True)
    # Negative ids are dropped anyway, and ids below -1 would have to be sorted.
    np.maximum(ids, -1, out=ids)
    ids, bound = _number_values(ids)
    if separator is not None:
        ids[ends_sentence] = END_OF_SENTENCE
    ids[:, hypothesis_width] = END_OF_HYPOTHESIS
    is_kept[:, hypothesis_width] = True
    view_references(ids)[..., width] = END_OF_REFERENCE
    view_references(is_kept)[..., width] = is_present
    return batch_of(ids[is_kept], bound, None if count == 1 else is_present.sum(1))


def _number_values(values: Integers) -> tuple[Integers, int]:
    """Number ids in any order, tokens from ``FIRST_TOKEN`` on, and return an exclusive bound of the numbers."""
    largest = int(values.max(initial=0))
    if largest < 1 << 62 and values.min(initial=0) >= -1:
        return values + FIRST_TOKEN, largest + FIRST_TOKEN + 1
    distinct, numbers = np.unique(values, return_inverse=True)
    return numbers.reshape(values.shape) + FIRST_TOKEN, len(distinct) + FIRST_TOKEN


def _join(parts: Sequence[Integers]) -> Integers:
    if len(parts) == 0:
        return np.empty(0, np.int64)
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
