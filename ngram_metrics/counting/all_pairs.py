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
#: Thresholds that a column may stand for: bfloat16, in which a product may read its factors, is exact up to here.
LARGEST_WEIGHT = 1 << 8
#: A float32 counts exactly up to 2^24, so no product may sum more columns of the largest weight.
EXACT_COLUMNS = (1 << 24) // LARGEST_WEIGHT
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
            _shared_columns(runs, order, pool)
            for runs in (_runs(keys, pool) for keys in sorted_keys(pool.digits, max_order))
            for order in range(runs.keys.first, runs.keys.last + 1)
        ]
        height, width = pool.hypothesis_lengths.shape[1], pool.reference_lengths.shape[1]
        at_once = max(1, height if pool.size > 1 else BLOCK_CELLS // max(1, width * max_order))
        for first in range(0, max(1, height), at_once):
            rows = first, min(height, first + at_once)
            lengths = pool.hypothesis_lengths[:, slice(*rows)]
            yield MatchBlock(pool.groups, rows, _multiply(shared, pool, rows), lengths, pool.reference_lengths)


class _Runs(NamedTuple):
    """Sorted n-grams; equal ones of a document that stand side by side are one run.

    Attributes:
        keys: of each run, ``keys`` and ``slot`` being ``(runs,)``.
        row: ``(runs,)`` int64, the row of the document.
        length: ``(runs,)`` int64, the n-grams in the run.
    """

    keys: SortedKeys
    row: Tensor
    length: Tensor


class _Columns(NamedTuple):
    """Ones, each at its row and column; columns ascend with the groups, and some are empty.

    Attributes:
        row: ``(ones,)`` int64.
        column: ``(ones,)`` int64.
        weight: ``(columns,)`` int64 in ``[1, LARGEST_WEIGHT]``, how many thresholds the column stands for.
    """

    row: Tensor
    column: Tensor
    weight: Tensor


class _Dense(NamedTuple):
    """Columns for the dense product.

    Attributes:
        row: ``(ones,)`` int64.
        column: ``(ones,)`` int64, numbered from 0 in each group.
        weight: ``(groups, columns)`` float32, as wide as the largest group; any weight where a group has no column.
    """

    row: Tensor
    column: Tensor
    weight: Tensor


class _Listed(NamedTuple):
    """Columns whose pairs are listed.

    Attributes:
        hypothesis: ``(ones of hypotheses,)`` int64, the row, ascending.
        first: ``(ones of hypotheses,)`` int64, where in ``reference`` the rows of the same column begin.
        partners: ``(ones of hypotheses,)`` int64, how many they are.
        weight: ``(ones of hypotheses,)`` int64, the column's.
        reference: ``(ones of references,)`` int64, the row, column after column.
    """

    hypothesis: Tensor
    first: Tensor
    partners: Tensor
    weight: Tensor
    reference: Tensor


def _shared_columns(runs: _Runs, order: int, pool: Pool) -> tuple[_Dense, _Listed]:
    """Find the columns of one order that some pair shares, and part them by what they cost."""
    columns = _columns(*_counts(runs, order, pool))
    number = len(columns.weight)
    is_reference = (pool.row_in_group() >= pool.first_reference).index_select(0, columns.row)
    if pool.same:
        references = torch.bincount(columns.column, minlength=number)
        # What a document shares with itself is filled in from its length.
        pairs = references * references * (references > 1)
    else:
        by_side = torch.bincount(2 * columns.column + is_reference, minlength=2 * number).view(-1, 2)
        references = by_side[:, 1]
        pairs = by_side[:, 0] * references
    dense = pairs * PAIR_COST >= pool.hypothesis_lengths.shape[1] * pool.reference_lengths.shape[1]
    shared = pairs > 0
    return _dense(columns, shared & dense, pool), _listed(columns, is_reference, references * (shared & ~dense), pool)


def _runs(keys: SortedKeys, pool: Pool) -> _Runs:
    """Join equal n-grams of a document, once for all orders: in a highly repetitive text this leaves few of them."""
    row = pool.row.index_select(0, keys.slot)
    first = indices(run_starts(keys.keys) | run_starts(row))
    count = first.diff(append=first.new_tensor([len(row)]))
    kept = keys._replace(keys=keys.keys.index_select(0, first), slot=keys.slot.index_select(0, first))
    return _Runs(kept, row.index_select(0, first), count)


def _counts(runs: _Runs, order: int, pool: Pool) -> tuple[Tensor, Tensor, Tensor]:
    """Return each n-gram of an order, each row that has it and how often, ``(entries,)`` int64, n-grams ascending."""
    keys = runs.keys
    prefix = keys.keys >> (keys.bits * (keys.last - order))
    starts = run_starts(prefix)
    # An n-gram that stands in one document only has no match: most of the longer ones drop out here.
    kept = indices((prefix & ((1 << keys.bits) - 1) != 0) & ~(starts & run_ends(prefix)))
    ngram = starts.cumsum(0).index_select(0, kept)
    row_bits = bit_length(pool.rows)
    ngram_and_row, by = torch.sort((ngram << row_bits) | runs.row.index_select(0, kept))
    last = indices(run_ends(ngram_and_row))
    through = runs.length.index_select(0, kept.index_select(0, by)).cumsum(0).index_select(0, last)
    ngram_and_row = ngram_and_row.index_select(0, last)
    return ngram_and_row >> row_bits, ngram_and_row & ((1 << row_bits) - 1), through.diff(prepend=through.new_zeros(1))


def _columns(ngram: Tensor, row: Tensor, count: Tensor) -> _Columns:
    """Make the ones of counts ``(entries,)``.

    The n-gram x stands 4, 4 and 1 times in three documents. It takes the places 0..8, and a document with count c the
    first c of them. Columns are cut where a document begins or ends, here at 0, 1, 4 and 9::

        place      0  1 2 3  4 5 6 7 8
        aaaa       1    1        .
        aaaa       1    1        .
        a          1    .        .
        weight     1    3        5

    and nobody has the last one.
    """
    end = count.cumsum(0)
    begin = ((end - count) * run_starts(ngram)).cummax(0).values
    places = int(end[-1]) if len(end) else 0
    end = begin + count
    cuts = torch.zeros(places + 1, dtype=torch.bool, device=row.device)
    cuts[::LARGEST_WEIGHT] = True
    cuts = cuts.index_fill_(0, begin, True).index_fill_(0, end, True)
    number = cuts.cumsum(0) - 1
    first = number.index_select(0, begin)
    times = number.index_select(0, end) - first
    column = torch.repeat_interleave(first - (times.cumsum(0) - times), times)
    column += torch.arange(len(column), device=column.device)
    weight = indices(cuts).diff(append=end.new_tensor([places + 1]))
    return _Columns(torch.repeat_interleave(row, times), column, weight)


def _dense(columns: _Columns, wanted: Tensor, pool: Pool) -> _Dense:
    """Select the ones of the wanted columns, ``wanted`` being ``(columns,)`` bool, and close the gaps between them."""
    kept = indices(wanted.index_select(0, columns.column))
    row = columns.row.index_select(0, kept)
    column = (wanted.cumsum(0) - 1).index_select(0, columns.column.index_select(0, kept))
    weight = columns.weight.index_select(0, indices(wanted)).float()
    if len(kept) == 0 or pool.size == 1:
        return _Dense(row, column, weight.unsqueeze(0))
    group = pool.row_group().index_select(0, row)
    first = torch.full((pool.size + 1,), len(weight), device=row.device).scatter_reduce(0, group, column, "amin")
    # A group without columns begins where the next one does.
    first = first.flip(0).cummin(0).values.flip(0)
    in_group = torch.arange(int(first.diff().max()), device=row.device)
    place = (first[:-1].unsqueeze(-1) + in_group).clamp(max=len(weight) - 1)
    return _Dense(row, column - first.index_select(0, group), weight[place])


def _listed(columns: _Columns, is_reference: Tensor, references: Tensor, pool: Pool) -> _Listed:
    """Select the ones of the columns that have ``references``, ``(columns,)`` int64, and find the partners of each."""
    row, column, weight = columns
    wanted = references.index_select(0, column) > 0
    reference_ones = indices(wanted & is_reference)
    by_column = torch.sort(column.index_select(0, reference_ones)).indices
    reference = row.index_select(0, reference_ones).index_select(0, by_column)
    ones = reference_ones if pool.same else indices(wanted & ~is_reference)
    # Row by row, so that the counts of a row stay in the cache while they are added to.
    hypothesis, by_row = torch.sort(row.index_select(0, ones))
    column = column.index_select(0, ones).index_select(0, by_row)
    first = (references.cumsum(0) - references).index_select(0, column)
    return _Listed(hypothesis, first, references.index_select(0, column), weight.index_select(0, column), reference)


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
    """Add the product of the dense columns to the matches of one order, ``(groups, rows, references)``."""
    columns = dense.weight.shape[-1]
    at_once = min(EXACT_COLUMNS, max(1, DENSE_CELLS // pool.rows))
    for first in range(0, columns, at_once):
        width = min(at_once, columns - first)
        row, column = dense.row, dense.column - first
        if width < columns:
            inside = indices((column >= 0) & (column < width))
            row, column = row.index_select(0, inside), column.index_select(0, inside)
        cells = torch.zeros(pool.rows * width, dtype=torch.float32, device=matches.device)
        cells = cells.index_fill_(0, row * width + column, 1.0).view(pool.size, pool.depth, width)
        weighted = cells[:, slice(*rows)] * dense.weight[:, first : first + width].unsqueeze(1)
        # Sums in float32, because autocast's bfloat16 would round them. Ones and weights are exact in any precision
        # that the product may be allowed to read its factors with.
        with torch.autocast(matches.device.type, enabled=False):
            product = torch.bmm(weighted, cells[:, pool.first_reference :].transpose(1, 2))
        matches += product.long()


def _add_listed(matches: Tensor, listed: _Listed, pool: Pool, rows: tuple[int, int]) -> None:
    """Add to the matches of one order, ``(groups, rows, references)``, for each pair in each column its weight."""
    _, height, width = matches.shape
    in_group = pool.row_in_group()
    # Where in the flat matches each row of a hypothesis begins.
    begin = (pool.row_group() * height + in_group - rows[0]) * width
    if height < pool.hypothesis_lengths.shape[1]:
        bounds = torch.searchsorted(listed.hypothesis, torch.tensor(rows, device=matches.device)).tolist()
        inside = slice(*bounds)
        hypothesis, first, partners, weight = (field[inside] for field in listed[:4])
        listed = _Listed(hypothesis, first, partners, weight, listed.reference)
    hypothesis, first, partners, weight, references = listed
    ends = partners.cumsum(0)
    total = int(ends[-1]) if len(ends) else 0
    cuts = torch.arange(0, total, LISTED_PAIRS, device=ends.device)
    bounds = [*torch.searchsorted(ends, cuts, right=True).tolist(), len(ends)]
    for some in map(slice, bounds[:-1], bounds[1:]):
        times = partners[some]
        position = torch.repeat_interleave(first[some] - (times.cumsum(0) - times), times)
        position += torch.arange(len(position), device=position.device)
        pair = torch.repeat_interleave(begin.index_select(0, hypothesis[some]), times)
        pair += in_group.index_select(0, references.index_select(0, position)) - pool.first_reference
        matches.view(-1).scatter_add_(0, pair, torch.repeat_interleave(weight[some], times))
