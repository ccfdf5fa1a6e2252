"""The segments of an update as rows of padded ids in torch, on any device and in recorded graphs.

A ``PaddedBatch`` has the methods of ``_core.counting.batch.Batch``, so that a metric counts either. Only the shapes
control what is done: nothing here reads the ids back, or waits for the device.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from ngram_metrics._core.counting import device_matches, device_subsequences
from ngram_metrics._core.counting.batch import NO_REFERENCES
from ngram_metrics._core.counting.device_matches import PAST_HYPOTHESIS, PAST_REFERENCE


class PaddedBatch(NamedTuple):
    """The documents of segments: the tokens of each row first, then ids past the end.

    Attributes:
        hypotheses: ``(segments, width)`` int64.
        hypothesis_lengths: ``(segments,)`` int64, the tokens of each hypothesis.
        references: ``(segments, references, width)`` int64.
        lengths: ``(segments, references)`` int64, the tokens of each reference, 0 for a missing one.
        present: ``(segments, references)`` bool; each segment has at least one. None if there is room for one only.
    """

    hypotheses: Tensor
    hypothesis_lengths: Tensor
    references: Tensor
    lengths: Tensor
    present: Tensor | None

    @property
    def is_paired(self) -> bool:
        """Whether each segment has one reference."""
        return self.present is None

    @property
    def reference_lengths(self) -> Tensor:
        """The tokens of each reference, also of missing ones, segment after segment, ``(references,)``."""
        return self.lengths.flatten()

    def closest_lengths(self) -> Tensor:
        """Return the reference length nearest to each hypothesis length, the shorter on a tie, ``(segments,)``."""
        if self.present is None:
            return self.lengths.squeeze(1)
        # Four times the distance, and 1 more if the reference is longer than the hypothesis, 1 less if it is shorter.
        distances = (4 * (self.lengths - self.hypothesis_lengths.unsqueeze(1)) + 1).abs()
        distances = distances.masked_fill(~self.present, torch.iinfo(torch.int64).max)
        return self.lengths.gather(1, distances.argmin(1, keepdim=True)).squeeze(1)

    def count_matches(self, orders: int) -> Tensor:
        """Return the clipped matches of each segment, ``(segments, orders)``."""
        return device_matches.count_matches(self.hypotheses, self.references, orders)

    def common_lengths(self) -> Tensor:
        """Return the length of a longest common subsequence of each segment, which has one reference."""
        return device_subsequences.common_lengths(
            self.hypotheses, self.references.squeeze(1), self.hypothesis_lengths, self.lengths.squeeze(1)
        )

    def pairs(self) -> PaddedBatch:
        """Return a segment for each reference, also for a missing one, with a copy of its hypothesis."""
        if self.present is None:
            return self
        segments, count, width = self.references.shape
        rows = segments * count
        hypotheses, lengths = (
            side.repeat_interleave(count, 0, output_size=rows) for side in (self.hypotheses, self.hypothesis_lengths)
        )
        references = self.references.reshape(rows, 1, width)
        return PaddedBatch(hypotheses, lengths, references, self.lengths.reshape(rows, 1), None)

    def take_best(self, fields: Sequence[Tensor], scores: Tensor) -> Sequence[Tensor]:
        """Return what each field has for the best reference of each segment, the first on ties.

        Scores ``(references,)`` choose one reference for fields ``(references, ...)``. Scores ``(references, keys)``
        choose one for each key of fields ``(references, keys)``.
        """
        if self.present is None:
            return fields
        column = (-1, *[1] * (scores.dim() - 1))
        # A missing reference is never chosen: each segment has at least one.
        scores = scores.masked_fill(~self.present.reshape(column), -math.inf)
        first = torch.arange(len(self.present), device=scores.device).reshape(column) * self.present.shape[1]
        best = scores.unflatten(0, self.present.shape).argmax(1) + first  # (segments, [keys])
        return [field.gather(0, best) if best.dim() > 1 else field[best] for field in fields]

    def sum_references(self, values: Tensor) -> Tensor:
        """Sum values ``(references, ...)`` over the references of each segment: ``(segments, ...)``."""
        if self.present is None:
            return values
        values = values * self.present.reshape(-1, *[1] * (values.dim() - 1))
        first, *others = values.unflatten(0, self.present.shape).unbind(1)
        for value in others:
            first = first + value  # one after another: the order of a sum on a device is not fixed
        return first

    def count_references(self) -> Tensor:
        """Return the number of references of each segment, ``(segments,)``."""
        return torch.ones_like(self.hypothesis_lengths) if self.present is None else self.present.sum(1)

    def reference_range(self) -> Tensor:
        """Return the fewest references of a segment, negated, and the most: ``(2,)``, whose maximum joins two."""
        if len(self.hypotheses) == 0:
            return torch.stack([self.lengths.new_full((), bound) for bound in NO_REFERENCES])
        if self.present is None:
            return torch.arange(-1, 2, 2, device=self.lengths.device)  # one each
        counts = self.present.sum(1)
        return torch.stack((-counts, counts)).amax(1)


def pad_batch(
    hypotheses: Tensor, references: Tensor, dropped: Sequence[int], separator: int | None = None
) -> PaddedBatch:
    """Return padded ids, ``(segments, width)`` and ``(segments, references, width)``, without what is no token.

    Negative and ``dropped`` ids are no tokens, and neither is the ``separator`` of sentences, which a document of one
    sentence does not need. A reference without any of them is missing; if all references of a segment are, it has one
    empty reference: to raise an error would wait for the device.
    """
    ends_sentence = None
    if separator is not None and separator not in dropped:
        ends_sentence = references == separator
        dropped = (*dropped, separator)
    rows = hypotheses.long().unsqueeze(1)
    references = references.long()
    if rows.shape[-1] == references.shape[-1]:
        # Both sides at once take half the launches.
        ids, lengths = _drop_ids(torch.cat((rows, references), 1), dropped, starts_with_hypothesis=True)
        (rows, references), (hypothesis_lengths, lengths) = ids.tensor_split((1,), 1), lengths.tensor_split((1,), 1)
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
    """Return the tokens of rows ``(segments, rows, width)``, each row filled up behind them, and their numbers.

    The first row of a segment may be its hypothesis.
    """
    is_token = _are_tokens(ids, dropped)
    # The type is named, because a running sum of bool stays bool on some devices.
    count = is_token.cumsum(-1, dtype=torch.int64)
    # A dropped id goes to an extra slot, the first, that is cut off again: no shape may depend on how many there are.
    widened = ids.new_full((*ids.shape[:-1], ids.shape[-1] + 1), PAST_REFERENCE)
    if starts_with_hypothesis:
        widened[:, 0].fill_(PAST_HYPOTHESIS)
    tokens = widened.scatter_(-1, count * is_token, ids)[..., 1:]
    return tokens, count[..., -1] if ids.shape[-1] else is_token.sum(-1)


def _are_tokens(ids: Tensor, dropped: Sequence[int]) -> Tensor:
    """Return which ids are neither negative nor ``dropped``, bool."""
    others = [padding for padding in dropped if padding >= 0]
    # One comparison for two: the bits are negative for a negative id, and 0 only for this padding.
    is_token = (ids ^ others[0]) > 0 if others else ids >= 0
    for padding in others[1:]:
        is_token = is_token & (ids != padding)
    return is_token
