"""N-gram matches of every hypothesis with every reference of its group, as minimum Bayes risk decoding needs them.

For counts a and b, min(a, b) is the sum over t = 1, 2, ... of [a >= t][b >= t]. So with a column for each n-gram and
t, and a 1 where a document has the n-gram at least t times, the matches of all pairs are a product of two matrices of
zeros and ones. Only columns that occur on both sides matter. A few of them occur in many documents: these go through a
dense product. Most occur in a handful: there it costs less to list the pairs of documents that share the column.

Work is cut into pools of whole groups, and a large group into blocks of hypotheses; the counts do not depend on where.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from ngram_metrics.counting.keys import SortedKeys, bit_length, run_ends, run_starts, sorted_keys
from ngram_metrics.counting.matches import ngram_totals
from ngram_metrics.counting.pools import Pool, indices, pools
from ngram_metrics.counting.token_batch import DocumentGroups

#: Counts in a block of the result, 8 bytes each. Smaller blocks cost less memory and, on the CPU, fewer cache misses.
BLOCK_CELLS = 1 << 22
#: Cells of a dense matrix, 4 bytes each.
DENSE_CELLS = 1 << 23
#: Pairs listed at a time, about 50 bytes each.
LISTED_PAIRS = 1 << 19
#: A float32 counts exactly up to here, so no product may sum more ones.
EXACT_COLUMNS = 1 << 24
#: To list one pair costs as much as this many multiply-adds of a dense product.
PAIR_COST = 512


class MatchBlock(NamedTuple):
    """Matches of some hypotheses; where a group has fewer documents than another, zeros stand for the missing ones.

    Attributes:
        groups: the first group and the one past the last.
        rows: the first hypothesis in each of these groups and the one past the last; only a single group is cut.
        matches: ``(groups, rows, references, orders)`` int64: for each order the sum over n-grams of the smaller count.
        hypothesis_lengths: ``(groups, rows)`` int64, the tokens of each hypothesis, on the device of ``matches``.
        reference_lengths: ``(groups, references)`` int64, likewise.
    """

    groups: tuple[int, int]
    rows: tuple[int, int]
    matches: Tensor
    hypothesis_lengths: Tensor
    reference_lengths: Tensor


def all_pairs_matches(hypotheses: DocumentGroups, references: DocumentGroups, max_order: int) -> Iterator[MatchBlock]:
    """Count the matches of each hypothesis with each reference of its group, block by block.

    A block has at most ``BLOCK_CELLS`` counts, or one hypothesis: who turns each block into scores at once needs no
    more room for counts, however many pairs there are.

    Args:
        hypotheses: any number of documents a group, also none. Where they are the references as well, pass the same
            object twice: it is then counted once.
        references: likewise for the same groups, with ids of the same meaning.
        max_order: the longest order counted, at least 1.

    Yields:
        Blocks that cover all groups, in order.
    """
    for pool in pools(hypotheses, references, BLOCK_CELLS // max_order):
        shared = [
            _shared_columns(keys, order, pool)
            for keys in sorted_keys(pool.digits, max_order)
            for order in range(keys.first, keys.last + 1)
        ]
        height, width = pool.hypothesis_lengths.shape[1], pool.reference_lengths.shape[1]
        at_once = max(1, height if pool.size > 1 else BLOCK_CELLS // max(1, width * max_order))
        for first in range(0, max(1, height), at_once):
            rows = first, min(height, first + at_once)
            lengths = pool.hypothesis_lengths[:, slice(*rows)]
            yield MatchBlock(pool.groups, rows, _multiply(shared, pool, rows), lengths, pool.reference_lengths)


class _Dense(NamedTuple):
    """Columns for the dense product.

    Attributes:
        row: ``(ones,)`` int64.
        column: ``(ones,)`` int64, numbered from 0 in each group.
        columns: the largest number of columns in a group.
    """

    row: Tensor
    column: Tensor
    columns: int


class _Listed(NamedTuple):
    """Columns whose pairs are listed.

    Attributes:
        hypothesis: ``(ones of hypotheses,)`` int64, the row, ascending.
        first: ``(ones of hypotheses,)`` int64, where in ``reference`` the rows of the same column begin.
        partners: ``(ones of hypotheses,)`` int64, how many they are.
        reference: ``(ones of references,)`` int64, the row, column after column.
    """

    hypothesis: Tensor
    first: Tensor
    partners: Tensor
    reference: Tensor


def _shared_columns(keys: SortedKeys, order: int, pool: Pool) -> tuple[_Dense, _Listed]:
    """Find the columns of one order that some pair shares, and part them by what they cost."""
    row, column = _ones(keys, order, pool)
    is_reference = (pool.row_in_group() >= pool.first_reference).index_select(0, row)
    # A number in a gap stands for no column: it is counted 0 times.
    if pool.same:
        references = torch.bincount(column, minlength=len(column))
        # What a document shares with itself is filled in from its length.
        pairs = references * references * (references > 1)
    else:
        by_side = torch.bincount(2 * column + is_reference, minlength=2 * len(column)).view(-1, 2)
        references = by_side[:, 1]
        pairs = by_side[:, 0] * references
    dense = pairs * PAIR_COST >= pool.hypothesis_lengths.shape[1] * pool.reference_lengths.shape[1]
    shared = pairs > 0
    return (
        _dense(row, column, shared & dense, pool),
        _listed(row, column, is_reference, references * (shared & ~dense), pool),
    )


def _ones(keys: SortedKeys, order: int, pool: Pool) -> tuple[Tensor, Tensor]:
    """Return row and column of each 1 of an order, ``(ones,)`` int64; columns ascend with the groups and leave gaps."""
    prefix = keys.keys >> (keys.bits * (keys.last - order))
    starts = run_starts(prefix)
    # An n-gram that stands in one slot only has no match: most of the longer ones drop out here.
    kept = indices((prefix & ((1 << keys.bits) - 1) != 0) & ~(starts & run_ends(prefix)))
    ngram = starts.cumsum(0).index_select(0, kept)
    row = pool.row.index_select(0, keys.slot.index_select(0, kept))
    row_bits = bit_length(pool.rows)
    ngram_and_row = torch.sort((ngram << row_bits) | row).values
    # The t-th time that a row has an n-gram is a 1 in the t-th column from the n-gram's first slot on.
    slot = torch.arange(len(row), device=row.device)
    first_of_ngram = (slot * run_starts(ngram_and_row >> row_bits)).cummax(0).values
    first_of_row = (slot * run_starts(ngram_and_row)).cummax(0).values
    return ngram_and_row & ((1 << row_bits) - 1), first_of_ngram + slot - first_of_row


def _dense(row: Tensor, column: Tensor, wanted: Tensor, pool: Pool) -> _Dense:
    """Select the ones of the wanted columns, ``wanted`` being ``(columns,)`` bool, and close the gaps between them."""
    kept = indices(wanted.index_select(0, column))
    if len(kept) == 0:
        return _Dense(kept, kept, 0)
    row = row.index_select(0, kept)
    number = wanted.cumsum(0) - 1
    column = number.index_select(0, column.index_select(0, kept))
    columns = int(number[-1]) + 1
    if pool.size == 1:
        return _Dense(row, column, columns)
    group = pool.row_group().index_select(0, row)
    first = torch.full((pool.size + 1,), columns, device=row.device).scatter_reduce(0, group, column, "amin")
    # A group without columns begins where the next one does.
    first = first.flip(0).cummin(0).values.flip(0)
    return _Dense(row, column - first.index_select(0, group), int(first.diff().max()))


def _listed(row: Tensor, column: Tensor, is_reference: Tensor, references: Tensor, pool: Pool) -> _Listed:
    """Select the ones of the columns that have ``references``, ``(columns,)`` int64, and find the partners of each."""
    wanted = references.index_select(0, column) > 0
    reference_ones = indices(wanted & is_reference)
    by_column = torch.sort(column.index_select(0, reference_ones)).indices
    reference = row.index_select(0, reference_ones).index_select(0, by_column)
    ones = reference_ones if pool.same else indices(wanted & ~is_reference)
    # Row by row, so that the counts of a row stay in the cache while they are added to.
    hypothesis, by_row = torch.sort(row.index_select(0, ones))
    column = column.index_select(0, ones).index_select(0, by_row)
    first = (references.cumsum(0) - references).index_select(0, column)
    return _Listed(hypothesis, first, references.index_select(0, column), reference)


def _multiply(shared: list[tuple[_Dense, _Listed]], pool: Pool, rows: tuple[int, int]) -> Tensor:
    """Return the matches of some hypotheses of each group, ``(groups, rows, references, orders)``."""
    # Orders first: each is then filled in one stretch of memory.
    matches = pool.row.new_zeros(len(shared), pool.size, rows[1] - rows[0], pool.reference_lengths.shape[1])
    if matches.numel():
        for of_order, (dense, listed) in zip(matches, shared, strict=True):
            _add_product(of_order, dense, pool, rows)
            _add_listed(of_order, listed, pool, rows)
    if pool.same:
        own = matches[..., slice(*rows)].diagonal(dim1=2, dim2=3)
        own.copy_(ngram_totals(pool.hypothesis_lengths[:, slice(*rows)], len(shared)).permute(2, 0, 1))
    return matches.permute(1, 2, 3, 0)


def _add_product(matches: Tensor, dense: _Dense, pool: Pool, rows: tuple[int, int]) -> None:
    """Add the product of zeros and ones to the matches of one order, ``(groups, rows, references)``."""
    at_once = min(EXACT_COLUMNS, max(1, DENSE_CELLS // pool.rows))
    for first in range(0, dense.columns, at_once):
        width = min(at_once, dense.columns - first)
        row, column = dense.row, dense.column - first
        if width < dense.columns:
            inside = indices((column >= 0) & (column < width))
            row, column = row.index_select(0, inside), column.index_select(0, inside)
        cells = torch.zeros(pool.rows * width, dtype=torch.float32, device=matches.device)
        cells = cells.index_fill_(0, row * width + column, 1.0).view(pool.size, pool.depth, width)
        # Sums in float32, because autocast's bfloat16 would round them. Zeros and ones are exact in any precision that
        # the product may be allowed to read its factors with.
        with torch.autocast(matches.device.type, enabled=False):
            product = torch.bmm(cells[:, slice(*rows)], cells[:, pool.first_reference :].transpose(1, 2))
        matches += product.long()


def _add_listed(matches: Tensor, listed: _Listed, pool: Pool, rows: tuple[int, int]) -> None:
    """Add 1 to the matches of one order, ``(groups, rows, references)``, for each pair in each column."""
    _, height, width = matches.shape
    in_group = pool.row_in_group()
    # Where in the flat matches each row of a hypothesis begins.
    begin = (pool.row_group() * height + in_group - rows[0]) * width
    hypothesis, first, partners = listed.hypothesis, listed.first, listed.partners
    if height < pool.hypothesis_lengths.shape[1]:
        inside = slice(*torch.searchsorted(hypothesis, torch.tensor(rows, device=hypothesis.device)).tolist())
        hypothesis, first, partners = hypothesis[inside], first[inside], partners[inside]
    ends = partners.cumsum(0)
    total = int(ends[-1]) if len(ends) else 0
    cuts = torch.arange(0, total, LISTED_PAIRS, device=ends.device)
    bounds = [*torch.searchsorted(ends, cuts, right=True).tolist(), len(ends)]
    for some in map(slice, bounds[:-1], bounds[1:]):
        times = partners[some]
        position = torch.repeat_interleave(first[some] - (times.cumsum(0) - times), times)
        position += torch.arange(len(position), device=position.device)
        reference = listed.reference.index_select(0, position)
        pair = torch.repeat_interleave(begin.index_select(0, hypothesis[some]), times)
        pair += in_group.index_select(0, reference) - pool.first_reference
        matches.view(-1).scatter_add_(0, pair, torch.ones_like(pair))
