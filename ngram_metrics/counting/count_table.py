"""Matches of all pairs in the n-grams that many documents share: a table of counts, and a product of matrices.

For counts a and b, min(a, b) is the sum over t = 1, 2, ... of [a >= t][b >= t]. Where no document's count lies between
two thresholds, the same documents reach both: such thresholds are one column with their number as its weight. Of the
one n-gram of the texts x, xxxx and xxxx::

    threshold     1   2 3 4             column     1  2
    x             1   . . .             x          1  .
    xxxx          1   1 1 1     ->      xxxx       1  1
    xxxx          1   1 1 1             xxxx       1  1
                                        weight     1  3

The matches are the product of the ones, multiplied by the weights, with the ones. In it the last two share 1 + 3.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from ngram_metrics.counting.pools import Pool, indices, tally

#: Cells of a matrix of ones, 4 bytes each.
DENSE_CELLS = 1 << 23
#: Thresholds that a column may stand for: a bfloat16, which a product may read its factors as, is exact up to here.
LARGEST_WEIGHT = 1 << 8
#: A float32 counts exactly up to 2^24, so no product may sum more columns of the largest weight.
EXACT_COLUMNS = (1 << 24) // LARGEST_WEIGHT


class CountTable(NamedTuple):
    """Counts of n-grams, and the columns made of them.

    Attributes:
        counts: ``(ngrams, depth)`` int32, how often each row of the n-gram's group has it.
        ngram: ``(groups, columns)`` int64, as wide as the largest group.
        threshold: ``(groups, columns)`` int32, the largest of the column; never reached where a group has no column.
        weight: ``(groups, columns)`` float32 in ``[1, LARGEST_WEIGHT]``.
    """

    counts: Tensor
    ngram: Tensor
    threshold: Tensor
    weight: Tensor


def count_table(ngram: Tensor, row: Tensor, count: Tensor, pool: Pool) -> CountTable:
    """Add up counts.

    Args:
        ngram: ``(any,)`` int64, ascending with the groups; from 0 without a gap.
        row: ``(any,)`` int64, of the pool.
        count: ``(any,)`` int64, how often the row has the n-gram besides what is said elsewhere; at least 1.
        pool: the documents.
    """
    ngrams = int(ngram[-1]) + 1 if len(ngram) else 0
    place = ngram * pool.depth + pool.row_in_group().index_select(0, row)
    # A float32 counts exactly up to 2^24, and a product is made of float32 in the end.
    dtype = torch.float32 if len(pool.row) < 1 << 24 else torch.int32
    counts = torch.zeros(ngrams * pool.depth, dtype=dtype, device=row.device)
    counts = counts.scatter_add_(0, place, count.to(dtype)).view(ngrams, pool.depth)  # (ngrams, depth)
    # An n-gram takes as many places as its largest count, and each count of a document is a cut in there.
    largest = counts.amax(1).long()  # (ngrams,)
    begin = largest.cumsum(0) - largest
    cuts = torch.zeros(int(largest.sum()) + 1, dtype=torch.bool, device=row.device)  # (places + 1,)
    cuts[::LARGEST_WEIGHT] = True
    cuts[-1:] = True
    repeated = indices(largest > 1)
    within = begin.index_select(0, repeated).unsqueeze(1) + counts.index_select(0, repeated).long()
    cut = indices(cuts.index_fill_(0, begin, True).index_fill_(0, within.view(-1), True))
    first = (cuts.cumsum(0) - 1).index_select(0, begin)
    of_column = torch.repeat_interleave(first.diff(append=first.new_full((1,), len(cut) - 1)), output_size=len(cut) - 1)
    threshold = (cut[1:] - begin.index_select(0, of_column)).to(dtype)  # (columns,)
    weight = cut.diff().float()
    if pool.size == 1:
        return CountTable(counts, of_column.unsqueeze(0), threshold.unsqueeze(0), weight.unsqueeze(0))
    group = torch.empty_like(begin).scatter_(0, ngram, pool.row_group().index_select(0, row))
    columns = tally(group.index_select(0, of_column), pool.size)
    in_group = torch.arange(int(columns.max()), device=row.device)
    column = ((columns.cumsum(0) - columns).unsqueeze(1) + in_group).clamp(max=max(0, len(weight) - 1))
    missing = in_group >= columns.unsqueeze(1)  # (groups, columns of the largest)
    threshold = threshold[column].masked_fill_(missing, 1 << 30)
    return CountTable(counts, of_column[column], threshold, weight[column])


def fill_product(matches: Tensor, table: CountTable, pool: Pool, rows: tuple[int, int]) -> None:
    """Write the matches of some hypotheses of each group to ``(groups, rows, references)``."""
    at_once = min(EXACT_COLUMNS, max(1, DENSE_CELLS // pool.rows))
    for first in range(0, max(1, table.weight.shape[1]), at_once):
        ngram, threshold, weight = (field[:, first : first + at_once] for field in table[1:])
        counts = table.counts.index_select(0, ngram.reshape(-1)).view(*ngram.shape, pool.depth)
        ones = counts.ge_(threshold.unsqueeze(-1)).float()  # (groups, columns, depth)
        weighted = ones[..., slice(*rows)] * weight.unsqueeze(-1)
        # Sums in float32, because autocast's bfloat16 would round them. Ones and weights are exact in any precision
        # that the product may be allowed to read its factors with.
        with torch.autocast(matches.device.type, enabled=False):
            product = torch.bmm(weighted.transpose(1, 2), ones[..., pool.first_reference :])
        if first == 0:
            matches.copy_(product)
        else:
            matches += product.to(matches.dtype)
