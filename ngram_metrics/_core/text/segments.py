"""The segments of a batch after their form is known: as sequences, or as padded tensors of ids."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, chain, islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from ngram_metrics._core.counting.batch import Integers
from ngram_metrics._core.text.messages import NameOf

if TYPE_CHECKING:
    import torch
    from torch import Tensor

#: The kind of input of a segment.
Kind = Literal["text", "tokens", "ids"]
#: Documents of one kind: all ``str``, or all lists of tokens, or lists and 1-D tensors of ids.
Documents: TypeAlias = list[Any]


class Segments(NamedTuple):
    """Hypotheses and references that were given as sequences.

    Attributes:
        kind: the kind of all segments.
        hypotheses: one per segment: a ``str`` for text, else a list or tuple of tokens or a 1-D int64 tensor.
        references: all references in the same form, segment after segment.
        reference_counts: the number of references of each segment, at least 1.
        hypothesis_counts: the number of hypotheses of each row of documents, see ``_core.text.pool_reader``;
            ``reference_counts`` may then be 0. None for other input.
        padded: whether each document was a row of a padded tensor or array, hypotheses first; empty if none was.
        positions: the index of each segment in the batch that the user passed; None if these are all of it.
    """

    kind: Kind
    hypotheses: Documents
    references: Documents
    reference_counts: list[int]
    hypothesis_counts: list[int] | None = None
    padded: Sequence[bool] = ()
    positions: Sequence[int] | None = None

    @property
    def known_kind(self) -> Kind | None:
        """The kind, or None if there are no segments, or no tokens in any segment."""
        if self.kind == "text":
            return self.kind if self.hypotheses else None
        return self.kind if any(map(len, chain(self.hypotheses, self.references))) else None

    @property
    def leading_shape(self) -> None:
        """None, because each segment has one hypothesis."""
        return None

    @property
    def device(self) -> None:
        """None, because the segments are counted on the CPU."""
        return None

    @property
    def documents(self) -> Documents:
        """The hypotheses, followed by the references."""
        return self.hypotheses + self.references

    def select(self, positions: Sequence[int]) -> Segments:
        """Return the texts of some segments. Error messages name them by their places in the whole batch."""
        ends = list(accumulate(self.reference_counts))
        references: Documents = []
        for position in positions:
            references += self.references[ends[position] - self.reference_counts[position] : ends[position]]
        return self._replace(
            hypotheses=[self.hypotheses[position] for position in positions],
            references=references,
            reference_counts=[self.reference_counts[position] for position in positions],
            positions=positions,
        )

    def interleave(self) -> tuple[Documents, Integers | None]:
        """Return the documents segment by segment, hypotheses before references, and the number of references of each.

        For rows of documents the number, ``(rows,)``, is that of all documents but the first, without empty rows. None
        stands for one reference of each segment.
        """
        if self.hypothesis_counts is None and len(self.references) == len(self.hypotheses):
            pairs: Documents = [None] * (2 * len(self.hypotheses))
            pairs[::2] = self.hypotheses
            pairs[1::2] = self.references
            return pairs, None
        documents: Documents = []
        sizes = []
        hypotheses = iter(self.hypotheses)
        references = iter(self.references)
        for count, reference_count in zip(self._count_hypotheses(), self.reference_counts, strict=True):
            documents += islice(hypotheses, count)
            documents += islice(references, reference_count)
            if count + reference_count > 0:
                sizes.append(count + reference_count)
        return documents, np.array(sizes, np.int64) - 1

    def name_interleaved(self, index: int) -> str:
        """Return the name of a document for an error message, by its index in ``interleave``."""
        hypotheses_before = 0
        references_before = 0
        for count, reference_count in zip(self._count_hypotheses(), self.reference_counts, strict=True):
            position = index - hypotheses_before - references_before
            if position < count:
                return self.name_of(hypotheses_before + position)
            if position < count + reference_count:
                return self.name_of(len(self.hypotheses) + references_before + position - count)
            hypotheses_before += count
            references_before += reference_count
        raise IndexError(index)

    def name_of(self, index: int) -> str:
        """Return the name of a document for an error message, where ``index`` counts hypotheses first."""
        first_reference = len(self.hypotheses)
        is_hypothesis = index < first_reference
        if self.hypothesis_counts is None:
            if is_hypothesis:
                return segment_name(index if self.positions is None else self.positions[index])
            return name_groups(self.reference_counts, positions=self.positions)(index - first_reference)
        if is_hypothesis:
            return name_groups(self.hypothesis_counts, "hypothesis", "row")(index)
        return name_groups(self.reference_counts, "reference", "row")(index - first_reference)

    def _count_hypotheses(self) -> list[int]:
        """Return the number of hypotheses of each segment, or of each row of documents."""
        if self.hypothesis_counts is None:
            return [1] * len(self.reference_counts)
        return self.hypothesis_counts


class PaddedSegments(NamedTuple):
    """Hypotheses and references that were given as padded id tensors.

    Attributes:
        hypotheses: ``(segments, width)`` of an integer dtype.
        references: ``(segments, references, width)`` of an integer dtype.
        leading_shape: ``(segments, samples)`` if segments have several hypotheses. Each of these samples is then a
            segment of its own, with the same references.
    """

    hypotheses: Tensor
    references: Tensor
    leading_shape: tuple[int, int] | None = None

    @property
    def kind(self) -> Literal["ids"]:
        """The kind of all segments."""
        return "ids"

    @property
    def known_kind(self) -> Kind | None:
        """The kind, or None if there are no segments."""
        return self.kind if len(self.hypotheses) else None

    @property
    def device(self) -> torch.device:
        """Where the ids are."""
        return self.hypotheses.device


def segment_name(index: int) -> str:
    """Return the name of a hypothesis for an error message."""
    return f"segment {index}"


def name_groups(
    counts: Sequence[int],
    document: str = "reference",
    group: str = "segment",
    positions: Sequence[int] | None = None,
) -> NameOf:
    """Return the function that names a document for an error message, from the number of documents of each group.

    ``positions`` has the index by which each group is named; None if it is that of its count.
    """
    ends = list(accumulate(counts))

    def name(index: int) -> str:
        group_index = bisect_right(ends, index)
        position = index - ends[group_index] + counts[group_index]
        return f"{document} {position} of {group} {group_index if positions is None else positions[group_index]}"

    return name
