"""The segments of an update as rows of padded ids in torch, on any device and in recorded graphs.

A ``PaddedBatch`` has the methods of ``_core.counting.batch.Batch`` that metrics call. Control flow depends on shapes
only: nothing here reads ids back or waits for the device.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from ngram_metrics._core.counting.batch import NO_REFERENCES

#: The ids past the end of a padded hypothesis, and of a padded reference. They differ, so an n-gram that leaves its
#: document matches nothing.
PAST_HYPOTHESIS = -2
PAST_REFERENCE = -1


class PaddedBatch(NamedTuple):
    """The documents of segments: the tokens of each row first, then ids past the end.

    Attributes:
        hypotheses: ``(segments, width)`` int64.
        hypothesis_lengths: ``(segments,)`` int64, the tokens of each hypothesis.
        references: ``(segments, references, width)`` int64.
        lengths_by_segment: ``(segments, references)`` int64, the tokens of each reference, 0 for a missing one.
        present: ``(segments, references)`` bool; each segment has at least one. None if every segment has just one.
    """

    hypotheses: Tensor
    hypothesis_lengths: Tensor
    references: Tensor
    lengths_by_segment: Tensor
    present: Tensor | None

    @property
    def is_paired(self) -> bool:
        """Whether each segment has one reference."""
        return self.present is None

    @property
    def reference_lengths(self) -> Tensor:
        """The tokens of each reference, segment after segment, ``(references,)``; 0 for missing ones."""
        return self.lengths_by_segment.flatten()

    def closest_lengths(self) -> Tensor:
        """Return the reference length nearest to each hypothesis length, the shorter on a tie, ``(segments,)``."""
        lengths = self.lengths_by_segment
        if self.present is None:
            return lengths.squeeze(1)
        differences = lengths - self.hypothesis_lengths.unsqueeze(1)
        # Four times the distance, plus 1 for a longer reference and minus 1 for a shorter one, which breaks ties.
        keys = (4 * differences + 1).abs()
        keys = keys.masked_fill(~self.present, torch.iinfo(torch.int64).max)
        return lengths.gather(1, keys.argmin(1, keepdim=True)).squeeze(1)

    def pairs(self) -> PaddedBatch:
        """Return one segment for each reference, also for a missing one, each with a copy of the hypothesis."""
        if self.present is None:
            return self
        segments, count, width = self.references.shape
        rows = segments * count
        return PaddedBatch(
            hypotheses=self.hypotheses.repeat_interleave(count, 0, output_size=rows),
            hypothesis_lengths=self.hypothesis_lengths.repeat_interleave(count, 0, output_size=rows),
            references=self.references.reshape(rows, 1, width),
            lengths_by_segment=self.lengths_by_segment.reshape(rows, 1),
            present=None,
        )

    def take_best(self, fields: Sequence[Tensor], scores: Tensor) -> Sequence[Tensor]:
        """Return each field for the reference of each segment with the highest score, the first on ties.

        Scores ``(references,)`` choose one reference for fields ``(references, ...)``. Scores ``(references, keys)``
        choose one for each key of fields ``(references, keys)``.
        """
        if self.present is None:
            return fields
        segments, count = self.present.shape
        column = (-1, *[1] * (scores.dim() - 1))
        # A missing reference is never chosen: each segment has at least one.
        scores = scores.masked_fill(~self.present.reshape(column), -math.inf)
        first = torch.arange(segments, device=scores.device).reshape(column) * count
        best = scores.unflatten(0, (segments, count)).argmax(1) + first  # (segments,) or (segments, keys)
        if best.dim() == 1:
            return [field[best] for field in fields]
        return [field.gather(0, best) for field in fields]

    def sum_references(self, values: Tensor) -> Tensor:
        """Sum values ``(references, ...)`` over the references of each segment: ``(segments, ...)``."""
        if self.present is None:
            return values
        values = values * self.present.reshape(-1, *[1] * (values.dim() - 1))
        first, *others = values.unflatten(0, self.present.shape).unbind(1)
        for value in others:
            first = first + value  # one after another, because a sum on a device has no fixed order
        return first

    def count_references(self) -> Tensor:
        """Return the number of references of each segment, ``(segments,)``."""
        return torch.ones_like(self.hypothesis_lengths) if self.present is None else self.present.sum(1)

    def reference_range(self) -> Tensor:
        """Return the fewest references of a segment, negated, and the most, ``(2,)``: the maximum of two joins them."""
        if len(self.hypotheses) == 0:
            return torch.stack([self.hypothesis_lengths.new_full((), bound) for bound in NO_REFERENCES])
        if self.present is None:
            return torch.arange(-1, 2, 2, device=self.hypothesis_lengths.device)  # one each
        counts = self.present.sum(1)
        return torch.stack((-counts, counts)).amax(1)

    def drop_sentence_ends(self) -> PaddedBatch:
        """Return this batch. It has no ends of sentences: ``pad_batch`` drops them."""
        return self


def pad_batch(
    hypotheses: Tensor, references: Tensor, dropped: Sequence[int], separator: int | None = None
) -> PaddedBatch:
    """Drop the ids that are not tokens from padded ids ``(segments, width)`` and ``(segments, references, width)``.

    Negative ids, ``dropped`` ids and the ``separator`` of sentences are not tokens. A row without tokens and separators
    is a missing reference, and so is a row without tokens if the ``separator`` is ``dropped``. A segment without any
    reference gets an empty one, because an error would have to wait for the device.
    """
    ends_sentence = None
    if separator is not None and separator not in dropped:
        ends_sentence = references == separator
        dropped = (*dropped, separator)
    rows = hypotheses.long().unsqueeze(1)
    references = references.long()
    if rows.shape[-1] == references.shape[-1]:
        # One pass over both sides halves the number of kernels.
        ids, lengths = _drop_ids(torch.cat((rows, references), 1), dropped, starts_with_hypothesis=True)
        rows, references = ids.tensor_split((1,), 1)
        hypothesis_lengths, lengths = lengths.tensor_split((1,), 1)
    else:
        rows, hypothesis_lengths = _drop_ids(rows, dropped, starts_with_hypothesis=True)
        references, lengths = _drop_ids(references, dropped)
    present = None
    if references.shape[1] != 1:
        present = lengths > 0
        if ends_sentence is not None:
            present |= ends_sentence.any(-1)
        present[:, :1].logical_or_(~present.any(1, keepdim=True))
    return PaddedBatch(rows.squeeze(1), hypothesis_lengths.squeeze(1), references, lengths, present)


def _drop_ids(ids: Tensor, dropped: Sequence[int], starts_with_hypothesis: bool = False) -> tuple[Tensor, Tensor]:
    """Return rows ``(segments, rows, width)`` with their tokens moved to the front, and the number of tokens of each.

    The first row of a segment may be its hypothesis.
    """
    is_token = _are_tokens(ids, dropped)
    # On some devices a cumsum of bool stays bool without a dtype.
    count = is_token.cumsum(-1, dtype=torch.int64)
    # Dropped ids all go to an extra first slot, which is cut off: no shape may depend on how many there are.
    widened = ids.new_full((*ids.shape[:-1], ids.shape[-1] + 1), PAST_REFERENCE)
    if starts_with_hypothesis:
        widened[:, 0].fill_(PAST_HYPOTHESIS)
    tokens = widened.scatter_(-1, count * is_token, ids)[..., 1:]
    return tokens, count[..., -1] if ids.shape[-1] else is_token.sum(-1)


def _are_tokens(ids: Tensor, dropped: Sequence[int]) -> Tensor:
    """Return which ids are neither negative nor ``dropped``, bool."""
    others = [padding for padding in dropped if padding >= 0]
    # One comparison instead of two: the xor is negative for negative ids, and 0 only for this padding.
    is_token = (ids ^ others[0]) > 0 if others else ids >= 0
    for padding in others[1:]:
        is_token = is_token & (ids != padding)
    return is_token
