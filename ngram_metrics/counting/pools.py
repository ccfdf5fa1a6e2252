"""Groups of documents, laid out in pools for comparing the hypotheses of a group with its references.

``aggregate_matches`` compares each hypothesis with the aggregate of all references of its group: the count of an n-gram
in the aggregate is its average count in the references (Vamvas and Sennrich 2024, "Linear-time Minimum Bayes Risk
Decoding with Reference Aggregation"). So the work grows with the number of documents and not of pairs. Averages are
fractions, so all counts are multiplied by the number of references and stay integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from ngram_metrics.counting.documents import DocumentGroups, flat_positions, owners, ragged_chunks, repeat_each
from ngram_metrics.counting.keys import Digits, SortedKeys, bit_length, ragged_digits, run_starts, sorted_keys
from ngram_metrics.counting.matches import ngram_totals

#: Limit of rows times tokens of the largest group in a pool of several: it bounds a matrix with a column per n-gram.
POOL_CELLS = 1 << 24
#: Limit of hypotheses times references of a pool of several groups, with padding: it keeps padding small.
POOL_PAIRS = 1 << 24


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
    """Cut groups into pools, in order, each within the budgets or a single group.

    Args:
        hypotheses: documents of each group.
        references: documents of the same groups; the same object twice is laid out once.
        pairs: the largest number of pairs of a hypothesis and a reference, including padding to the largest group.
    """
    same = references is hypotheses
    sizes = hypotheses.join().lengths
    if not same:
        sizes = sizes + references.join().lengths
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
        height = max(height, own_height)
        width = max(width, own_width)
        tokens = max(tokens, own_tokens)
        count = group + 1 - first
        if group > first and (count * height * width > pairs or count * (height + width) * tokens > POOL_CELLS):
            yield first, group
            first, height, width, tokens = group, own_height, own_width, own_tokens
    if measures:
        yield first, len(measures)


def _pool(groups: tuple[int, int], hypotheses: DocumentGroups, references: DocumentGroups) -> Pool:
    """Lay the documents of a few groups into rows."""
    same = references is hypotheses
    hypothesis_lengths = hypotheses.padded_lengths()
    reference_lengths = hypothesis_lengths if same else references.padded_lengths()
    first_reference = 0 if same else hypothesis_lengths.shape[1]
    depth = first_reference + reference_lengths.shape[1]
    sides = (references,) if same else (hypotheses, references)
    group = torch.cat([owners(side.counts) for side in sides])
    places = [flat_positions(side.counts) + first for side, first in zip(sides, (0, first_reference), strict=False)]
    lengths = torch.cat([side.tokens.lengths for side in sides])
    row = repeat_each(group * depth + torch.cat(places), lengths)
    digits, (row, hypothesis_lengths, reference_lengths) = ragged_digits(
        [side.tokens for side in sides], group, groups[1] - groups[0], row, hypothesis_lengths, reference_lengths
    )
    if same:
        reference_lengths = hypothesis_lengths  # which says so
    return Pool(groups, digits, row, depth, first_reference, hypothesis_lengths, reference_lengths)


def tally(numbers: Tensor, size: int) -> Tensor:
    """Count how often each of ``0, 1, ..., size - 1`` occurs in a tensor of numbers: ``(size,)`` int64."""
    if numbers.device.type == "cpu":
        return torch.bincount(numbers, minlength=size)
    # On other devices bincount would wait for the largest number, although all are below ``size``.
    return numbers.new_zeros(size).scatter_add_(0, numbers, numbers.new_ones(1).expand_as(numbers))


def indices(mask: Tensor) -> Tensor:
    """Return the indices where a mask ``(slots,)`` is true, which select faster than the mask."""
    if mask.device.type == "cpu":
        return torch.from_numpy(mask.numpy().nonzero()[0])  # four times as fast as torch
    return mask.nonzero().squeeze(1)


class AggregateMatches(NamedTuple):
    """Counts of each hypothesis and of its aggregate reference, all multiplied by R, the number of references.

    Their quotients are those of the average counts. Without references all counts are 0.

    Attributes:
        matches: ``(hypotheses, orders)`` int64: for each order the sum over n-grams of the minimum of two numbers: R
            times the count in the hypothesis, and the sum of the counts in the references.
        hypothesis_totals: ``(hypotheses, orders)`` int64, R times the number of n-grams of the hypothesis.
        reference_totals: ``(hypotheses, orders)`` int64, the number of n-grams of all its references.
    """

    matches: Tensor
    hypothesis_totals: Tensor
    reference_totals: Tensor


def aggregate_matches(hypotheses: DocumentGroups, references: DocumentGroups, max_order: int) -> AggregateMatches:
    """Count the matches of each hypothesis with the aggregate of its group's references.

    Args:
        hypotheses: any number of documents per group, even 0. If the references are the same documents, pass the same
            object twice: it is then counted once.
        references: any number of documents for each of the same groups, with the same vocabulary.
        max_order: the longest order to count, at least 1.

    Returns:
        The counts of all hypotheses, in their order.
    """
    device = hypotheses.tokens.ids.device
    own_totals = ngram_totals(hypotheses.tokens.lengths, max_order)
    matches = [own_totals[:0].to(device)]
    for pool in pools(hypotheses, references, POOL_PAIRS):
        counts, reference_counts = hypotheses.counts[slice(*pool.groups)], references.counts[slice(*pool.groups)]
        orders = [
            _matches(keys, order, pool, reference_counts.to(device))
            for keys in sorted_keys(pool.digits, max_order)
            for order in range(keys.first, keys.last + 1)
        ]
        # The places of the hypotheses are known on the CPU.
        present = owners(counts) * pool.hypothesis_lengths.shape[1] + flat_positions(counts)  # (hypotheses,)
        matches.append(torch.stack(orders, -1).flatten(0, 1).index_select(0, present.to(device)))
    reference_totals = own_totals.new_zeros(len(references.counts), max_order).index_add_(
        0, owners(references.counts), ngram_totals(references.tokens.lengths, max_order)
    )
    group = owners(hypotheses.counts)
    hypothesis_totals = own_totals * references.counts.index_select(0, group).unsqueeze(-1)
    return AggregateMatches(
        torch.cat(matches), hypothesis_totals.to(device), reference_totals.index_select(0, group).to(device)
    )


def _matches(keys: SortedKeys, order: int, pool: Pool, reference_counts: Tensor) -> Tensor:
    """Return the matches of one order, ``(groups, hypotheses)``, with ``(groups,)`` references."""
    prefix = keys.keys >> (keys.bits * (keys.last - order))
    ngram = run_starts(prefix).cumsum(0) - 1  # (slots,), ascending
    row = pool.row.index_select(0, keys.slot)
    counted = prefix & ((1 << keys.bits) - 1) != 0
    if pool.same:
        in_references = tally(ngram, len(ngram))
    else:
        is_reference = (pool.row_in_group() >= pool.first_reference).index_select(0, row)
        in_references = tally(2 * ngram + is_reference, 2 * len(ngram)).view(-1, 2)[:, 1]
        counted = counted & ~is_reference & (in_references.index_select(0, ngram) > 0)
    counted = indices(counted)  # (slots of shared n-grams in hypotheses,)
    row_bits = bit_length(pool.rows)
    ngram_and_row = (ngram.index_select(0, counted) << row_bits) | row.index_select(0, counted)
    # One entry for each n-gram of each hypothesis, with its count.
    ngram_and_row, count = torch.unique_consecutive(torch.sort(ngram_and_row).values, return_counts=True)
    ngram, row = ngram_and_row >> row_bits, ngram_and_row & ((1 << row_bits) - 1)
    references = reference_counts.repeat_interleave(pool.depth).index_select(0, row)
    smaller = torch.minimum(references * count, in_references.index_select(0, ngram))  # (entries,)
    sums = smaller.new_zeros(pool.rows).scatter_add_(0, row, smaller)  # (rows,)
    return sums.view(pool.size, pool.depth)[:, : pool.hypothesis_lengths.shape[1]]
