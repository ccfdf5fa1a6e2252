"""Groups of documents, laid out for comparing all hypotheses of a group with all its references."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from ngram_metrics.counting.chunks import ragged_chunks
from ngram_metrics.counting.documents import DocumentGroups, flat_positions, owners, repeated
from ngram_metrics.counting.keys import Digits, ragged_digits

#: Limit of rows times tokens of the largest group in a pool of several: it bounds a matrix with a column per n-gram.
POOL_CELLS = 1 << 24


class Pool(NamedTuple):
    """Hypotheses and references of some groups, one document per row.

    A group has ``depth`` rows: its hypotheses start at row 0, its references at row ``first_reference``. If it has
    fewer documents than another group, some rows are empty. Hypotheses that are also the references have their rows
    once.

    Example: group 0 has the hypotheses ``x`` and ``y`` and the reference ``r``, group 1 the hypothesis ``z`` and the
        reference ``s``. There are at most two hypotheses and one reference, so ``first_reference`` is 2 and ``depth``
        3: ``x y r`` are the rows 0, 1, 2, and ``z s`` the rows 3 and 5; row 4 is empty.

    Attributes:
        groups: the index of the first group, and of the last plus 1.
        digits: the tokens of all documents.
        row: ``(slots,)`` int64, the row of each slot's document: the group in the pool times ``depth``, and the row in
            the group.
        depth: the number of rows of a group.
        first_reference: the largest number of hypotheses in a group; 0 if they are the references.
        hypothesis_lengths: ``(groups, hypotheses)`` int64 on the device, in tokens; 0 for a missing hypothesis.
        reference_lengths: ``(groups, references)`` int64 on the device, in tokens; 0 for a missing reference.
    """

    groups: tuple[int, int]
    digits: Digits
    row: Tensor
    depth: int
    first_reference: int
    hypothesis_lengths: Tensor
    reference_lengths: Tensor

    @property
    def same(self) -> bool:
        """Whether the hypotheses are the references."""
        return self.hypothesis_lengths is self.reference_lengths

    @property
    def size(self) -> int:
        """The number of groups."""
        return len(self.hypothesis_lengths)

    @property
    def rows(self) -> int:
        """The number of rows of all groups."""
        return self.size * self.depth

    @property
    def count_dtype(self) -> torch.dtype:
        """The dtype of counts: int32 if it can hold any count, which is smaller and faster to convert to float."""
        return torch.int32 if len(self.row) < 1 << 31 else torch.int64

    def row_group(self) -> Tensor:
        """Return the group of each row, ``(rows,)`` int64 from 0."""
        return torch.arange(self.size, device=self.row.device).repeat_interleave(self.depth)

    def row_in_group(self) -> Tensor:
        """Return the index of each row in its group, ``(rows,)`` int64."""
        return torch.arange(self.depth, device=self.row.device).repeat(self.size)


def pools(hypotheses: DocumentGroups, references: DocumentGroups, pairs: int) -> Iterator[Pool]:
    """Cut groups into pools, in order; each pool is within the budgets or a single group.

    Args:
        hypotheses: documents of each group.
        references: documents of the same groups; the same object twice is laid out once.
        pairs: the largest number of pairs of a hypothesis and a reference, including padding to the largest group.
    """
    same = references is hypotheses
    sizes = hypotheses.joined().lengths
    if not same:
        sizes = sizes + references.joined().lengths
    for start, stop in ragged_chunks(sizes, hypotheses.tokens.ids.device):
        measures = torch.stack((hypotheses.counts, references.counts, sizes), 1)[start:stop].tolist()
        for first, last in even_runs(measures, pairs):
            groups = start + first, start + last
            in_pool = hypotheses.slice(*groups)
            yield _pool(groups, in_pool, in_pool if same else references.slice(*groups))


def even_runs(measures: list[list[int]], pairs: int) -> Iterator[tuple[int, int]]:
    """Cut groups, given by their hypotheses, references and tokens, if padding to the largest would cost too much."""
    first, height, width, tokens = 0, 0, 0, 0
    for group, (own_height, own_width, own_tokens) in enumerate(measures):
        height, width, tokens = max(height, own_height), max(width, own_width), max(tokens, own_tokens)
        count = group + 1 - first
        if group > first and (count * height * width > pairs or count * (height + width) * tokens > POOL_CELLS):
            yield first, group
            first, height, width, tokens = group, own_height, own_width, own_tokens
    if measures:
        yield first, len(measures)


def _pool(groups: tuple[int, int], hypotheses: DocumentGroups, references: DocumentGroups) -> Pool:
    """Lay the documents of a few groups into rows."""
    device = hypotheses.tokens.ids.device
    same = references is hypotheses
    hypothesis_lengths = hypotheses.padded_lengths().to(device)
    reference_lengths = hypothesis_lengths if same else references.padded_lengths().to(device)
    first_reference = 0 if same else hypothesis_lengths.shape[1]
    depth = first_reference + reference_lengths.shape[1]
    sides = (references,) if same else (hypotheses, references)
    group = torch.cat([owners(side.counts) for side in sides])
    places = [flat_positions(side.counts) + first for side, first in zip(sides, (0, first_reference), strict=False)]
    lengths = torch.cat([side.tokens.lengths for side in sides])
    digits = ragged_digits([side.tokens for side in sides], group, groups[1] - groups[0])
    row = repeated(group * depth + torch.cat(places), lengths).to(device)
    return Pool(groups, digits, row, depth, first_reference, hypothesis_lengths, reference_lengths)


def tally(numbers: Tensor, size: int) -> Tensor:
    """Count how often each of ``0, 1, ..., size - 1`` occurs in a tensor of numbers: ``(size,)`` int64."""
    if numbers.device.type == "cpu":
        return torch.bincount(numbers, minlength=size)
    # On other devices bincount would wait for the largest number, although all are below ``size``.
    return numbers.new_zeros(size).scatter_add_(0, numbers, numbers.new_ones(1).expand_as(numbers))


def indices(mask: Tensor) -> Tensor:
    """Return the indices where a mask ``(slots,)`` is true; selecting by indices is faster than by the mask."""
    if mask.device.type == "cpu":
        return torch.from_numpy(mask.numpy().nonzero()[0])  # four times as fast as torch
    return mask.nonzero().squeeze(1)
