"""The segments of an update as one array of token ids, in NumPy.

The documents follow one another, each hypothesis before its references. The id 0 ends a hypothesis, and 1 a reference.
An n-gram that leaves its document contains an end that the other side lacks, so it matches nothing.

Example: ``a b a`` with the references ``b a`` and ``c`` is ``3 4 3 0 4 3 1 5 1``, where a = 3, b = 4 and c = 5.

For ROUGE-Lsum the id 2 ends a sentence within a document. Only ids of one segment are comparable: in another segment
the same id may stand for another token.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Integers: TypeAlias = NDArray[np.int64]
#: The ids that are not tokens, and the first that is one.
END_OF_HYPOTHESIS = 0
END_OF_REFERENCE = 1
END_OF_SENTENCE = 2
FIRST_TOKEN = 3
#: The ``Batch.reference_range`` of a batch without segments.
NO_REFERENCES = (-(1 << 62), 0)
#: The most entries of a table that is indexed by id. Larger ids are sorted instead.
MOST_IDS = 1 << 20


class Batch(NamedTuple):
    """The documents of segments.

    ``PaddedBatch`` has the same methods, except those that only the counters in NumPy need: ``sizes``, ``chunks``,
    ``narrow``, and the indices of documents.

    Attributes:
        ids: ``(slots,)`` int64 from 0 to ``bound - 1``.
        lengths: ``(documents,)`` int64, the slots of each document, not counting its end.
        reference_counts: ``(segments,)`` int64, the number of references of each segment, at least 1; None if each has
            one.
        bound: an exclusive upper bound of the ids.
    """

    ids: Integers
    lengths: Integers
    reference_counts: Integers | None
    bound: int

    @property
    def is_paired(self) -> bool:
        """Whether each segment has one reference."""
        return self.reference_counts is None

    @property
    def hypothesis_documents(self) -> Integers:
        """The index of each segment's hypothesis among the documents, ``(segments,)``."""
        if self.reference_counts is None:
            return np.arange(0, len(self.lengths), 2)
        return _find_starts(self.reference_counts + 1)

    @property
    def reference_documents(self) -> Integers:
        """The index of each reference among the documents, ``(references,)``, segment after segment."""
        if self.reference_counts is None:
            return np.arange(1, len(self.lengths), 2)
        is_reference = np.ones(len(self.lengths), np.bool_)
        is_reference[self.hypothesis_documents] = False
        return is_reference.nonzero()[0]

    @property
    def hypothesis_lengths(self) -> Integers:
        """The tokens of each hypothesis, with the ends of its sentences if there are any, ``(segments,)``."""
        return self.lengths[::2] if self.reference_counts is None else self.lengths[self.hypothesis_documents]

    @property
    def reference_lengths(self) -> Integers:
        """The tokens of each reference, with the ends of its sentences if there are any, ``(references,)``."""
        return self.lengths[1::2] if self.reference_counts is None else self.lengths[self.reference_documents]

    @property
    def sizes(self) -> Integers:
        """The slots of each segment, ``(segments,)``."""
        if self.reference_counts is None:
            return self.lengths[::2] + self.lengths[1::2] + 2
        return np.add.reduceat(self.lengths + 1, self.hypothesis_documents)

    def closest_lengths(self) -> Integers:
        """Return the reference length nearest to each hypothesis length, the shorter on a tie, ``(segments,)``."""
        lengths = self.reference_lengths
        if self.reference_counts is None:
            return lengths
        hypothesis_lengths = self.hypothesis_lengths
        differences = lengths - hypothesis_lengths.repeat(self.reference_counts)  # (references,)
        # A key is twice the distance, plus 1 for a longer reference. So of two equally near lengths the shorter has the
        # smaller key, and the smallest key of a segment tells both the distance and the side.
        keys = 2 * np.abs(differences) + (differences > 0)
        smallest = np.minimum.reduceat(keys, _find_starts(self.reference_counts))  # (segments,)
        distance = smallest >> 1
        is_longer = (smallest & 1) == 1
        return hypothesis_lengths + np.where(is_longer, distance, -distance)

    def chunks(self, slots: int) -> Iterator[Batch]:
        """Yield the segments in batches of at most ``slots`` slots, or of a single segment."""
        if len(self.ids) <= slots:
            if len(self.lengths) > 0:
                yield self
            return
        ends = self.sizes.cumsum()
        documents = np.append(self.hypothesis_documents, len(self.lengths))
        first_segment = 0
        first_slot = 0
        while first_segment < len(ends):
            stop = max(first_segment + 1, int(ends.searchsorted(first_slot + slots, side="right")))
            last_slot = int(ends[stop - 1])
            ids = self.ids[first_slot:last_slot]
            lengths = self.lengths[documents[first_segment] : documents[stop]]
            reference_counts = None
            if self.reference_counts is not None:
                reference_counts = self.reference_counts[first_segment:stop]
            yield Batch(ids, lengths, reference_counts, self.bound)
            first_segment = stop
            first_slot = last_slot

    def pairs(self) -> Batch:
        """Return one segment for each reference, each with a copy of the hypothesis."""
        if self.reference_counts is None:
            return self
        documents = np.empty(2 * int(self.reference_counts.sum()), np.int64)
        documents[::2] = self.hypothesis_documents.repeat(self.reference_counts)
        documents[1::2] = self.reference_documents
        sizes = self.lengths + 1
        slots = join_ranges(_find_starts(sizes)[documents], sizes[documents])
        return Batch(self.ids[slots], self.lengths[documents], None, self.bound)

    def take_best(self, fields: Sequence[Any], scores: Any) -> Sequence[Any]:
        """Return each field for the reference of each segment with the highest score, the first on ties.

        Scores ``(references,)`` choose one reference for fields ``(references, ...)``. Scores ``(references, keys)``
        choose one for each key of fields ``(references, keys)``.
        """
        if self.reference_counts is None:
            return fields
        starts = _find_starts(self.reference_counts)
        highest = np.maximum.reduceat(scores, starts).repeat(self.reference_counts, 0)
        index = np.arange(len(scores)).reshape(-1, *[1] * (scores.ndim - 1))
        # The first index with the highest score, (segments,) or (segments, keys).
        best = np.minimum.reduceat(np.where(scores == highest, index, len(scores)), starts)
        if best.ndim == 1:
            return [field[best] for field in fields]
        return [np.take_along_axis(field, best, 0) for field in fields]

    def sum_references(self, values: Any) -> Any:
        """Sum values ``(references, ...)`` over the references of each segment: ``(segments, ...)``."""
        if self.reference_counts is None:
            return values
        return np.add.reduceat(values, _find_starts(self.reference_counts))

    def count_references(self) -> Integers:
        """Return the number of references of each segment, ``(segments,)``."""
        if self.reference_counts is None:
            return np.ones(len(self.lengths) // 2, np.int64)
        return self.reference_counts

    def reference_range(self) -> Integers:
        """Return the fewest references of a segment, negated, and the most, ``(2,)``: the maximum of two joins them."""
        if len(self.lengths) == 0:
            return np.array(NO_REFERENCES)
        if self.reference_counts is None:
            return np.array([-1, 1])
        return np.array([-self.reference_counts.min(), self.reference_counts.max()])

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
        return batch_of(self.ids[is_kept], self.bound, self.reference_counts)


def batch_of(ids: Integers, bound: int, reference_counts: Integers | None) -> Batch:
    """Return the batch of ids whose documents each end in 0 or 1. This writes the right one of the two in place."""
    ends = (ids <= END_OF_REFERENCE).nonzero()[0]
    lengths = ends.copy()
    lengths[1:] -= ends[:-1] + 1
    batch = Batch(ids, lengths, reference_counts, bound)
    ids[ends] = END_OF_REFERENCE
    ids[ends[batch.hypothesis_documents]] = END_OF_HYPOTHESIS
    return batch


def _find_starts(sizes: Integers) -> Integers:
    """Return where each of some parts starts if they follow one another."""
    return sizes.cumsum() - sizes


def join_ranges(starts: Integers, sizes: Integers) -> Integers:
    """Return the integers of ranges, one range after another."""
    ends = sizes.cumsum()
    total = int(ends[-1]) if len(ends) > 0 else 0
    return np.arange(total) + (starts - ends + sizes).repeat(sizes)
