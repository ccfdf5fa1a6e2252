"""Groups of documents, such as the samples of minimum Bayes risk decoding."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ngram_metrics._core.counting.batch import Batch, Integers, join_ranges


@dataclass(frozen=True)
class Pools:
    """Groups of documents: the hypotheses of each group, and then its references if they are other documents.

    Attributes:
        documents: all documents, one group after another.
        hypotheses: ``(groups,)`` int64, the number of hypotheses of each group.
        references: ``(groups,)`` int64, the number of references of each group.
        is_same: whether the hypotheses are also the references.
    """

    documents: Batch
    hypotheses: Integers
    references: Integers
    is_same: bool

    @cached_property
    def shape(self) -> tuple[int, int, int]:
        """The number of groups, and the most hypotheses and references of any group."""
        return len(self.hypotheses), int(self.hypotheses.max()), int(self.references.max())

    @property
    def is_even(self) -> bool:
        """Whether all groups have equally many hypotheses, and equally many references."""
        _, height, width = self.shape
        return bool((self.hypotheses == height).all() and (self.references == width).all())

    @property
    def first_reference(self) -> int:
        """The row of the first reference in a table of the documents of a group."""
        return 0 if self.is_same else self.shape[1]

    @property
    def rows(self) -> int:
        """The rows of a table of the documents of a group."""
        return self.first_reference + self.shape[2]

    @cached_property
    def document_starts(self) -> Integers:
        """The first document of each group, and the number of all documents, ``(groups + 1,)``."""
        sizes = self.hypotheses if self.is_same else self.hypotheses + self.references
        return np.append(0, sizes.cumsum())

    @cached_property
    def slot_starts(self) -> Integers:
        """The first slot of each group, and the number of all slots, ``(groups + 1,)``."""
        document_ends = (self.documents.lengths + 1).cumsum()
        return np.append(0, document_ends)[self.document_starts]

    @cached_property
    def places(self) -> tuple[Integers, Integers]:
        """The group of each document, and its row in that group, each ``(documents,)``."""
        starts = self.document_starts
        sizes = starts[1:] - starts[:-1]
        group = np.arange(len(sizes)).repeat(sizes)
        row = np.arange(len(group)) - starts[group]
        if not self.is_same:
            # In a table all groups have their first reference in the same row.
            hypotheses = self.hypotheses[group]
            is_reference = row >= hypotheses
            row += is_reference * (self.first_reference - hypotheses)
        return group, row

    def side_lengths(self) -> tuple[Integers, Integers]:
        """Return the tokens of hypotheses and of references, 0 where a group has fewer than another.

        They are ``(groups, hypotheses)`` and ``(groups, references)`` int64.
        """
        groups, height, _ = self.shape
        lengths = np.zeros((groups, self.rows), np.int64)
        lengths[self.places] = self.documents.lengths
        return lengths[:, :height], lengths[:, self.first_reference :]

    def split(self, stops: Integers) -> list[Pools]:
        """Cut the groups at ascending stops. The last stop is the number of groups."""
        if len(stops) == 1:
            return [self]
        parts = []
        start = 0
        for stop in stops.tolist():
            documents = slice(self.document_starts[start], self.document_starts[stop])
            slots = slice(self.slot_starts[start], self.slot_starts[stop])
            batch = self.documents._replace(ids=self.documents.ids[slots], lengths=self.documents.lengths[documents])
            parts.append(Pools(batch, self.hypotheses[start:stop], self.references[start:stop], self.is_same))
            start = stop
        return parts

    def take_rows(self, rows: range) -> Pools:
        """Return some hypotheses of the only group, with all of its references."""
        if len(rows) == self.shape[1]:
            return self
        sizes = self.documents.lengths + 1
        starts = sizes.cumsum() - sizes
        chosen = np.append(rows, np.arange(self.first_reference, len(sizes)))
        ids = self.documents.ids[join_ranges(starts[chosen], sizes[chosen])]
        documents = self.documents._replace(ids=ids, lengths=sizes[chosen] - 1)
        return Pools(documents, np.array([len(rows)]), self.references, is_same=False)
