"""Matches of all pairs in the n-grams that many documents share: a table of counts, and a matrix product.

For counts a and b, min(a, b) is the sum over t = 1, 2, ... of [a >= t][b >= t]. If no document has a count between two
thresholds, the same documents reach both: such thresholds are merged into one column, whose weight is their number. For
the only unigram of the texts x, xxxx and xxxx::

    threshold     1   2 3 4             column     1  2
    x             1   . . .             x          1  .
    xxxx          1   1 1 1     ->      xxxx       1  1
    xxxx          1   1 1 1             xxxx       1  1
                                        weight     1  3

The matches are the product of this matrix of ones with itself, one factor multiplied by the weights. So the last two
texts share 1 + 3.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from ngram_metrics.counting.pools import Pool, indices, tally

#: Cells of a matrix of ones, 4 bytes each.
DENSE_CELLS = 1 << 23
#: The largest weight of a column: a product may convert its factors to bfloat16, which is exact up to here.
LARGEST_WEIGHT = 1 << 8
#: A float32 counts exactly up to 2^24, so a product must not sum more columns of the largest weight.
EXACT_COLUMNS = (1 << 24) // LARGEST_WEIGHT


class CountTable(NamedTuple):
    """Counts of n-grams, and the columns made from them.

    Attributes:
        counts: ``(ngrams, depth)`` float32 or int32, the count of the n-gram in each row of its group.
        ngram: ``(groups, columns)`` int64, the n-gram of each column, as wide as the largest group.
        threshold: ``(groups, columns)``, the dtype of ``counts``, the largest threshold of the column; a missing column
            has a number that no count reaches.
        weight: ``(groups, columns)`` float32 in ``[1, LARGEST_WEIGHT]``.
    """

    counts: Tensor
    ngram: Tensor
    threshold: Tensor
    weight: Tensor


def count_table(ngram: Tensor, row: Tensor, count: Tensor, pool: Pool) -> CountTable:
    """Return the table of counts.

    Args:
        ngram: ``(entries,)`` int64, numbers from 0 without gaps, ascending with the groups.
        row: ``(entries,)`` int64, the row in the pool.
        count: ``(entries,)`` int64, at least 1: an n-gram's count in a row is the sum over its entries.
        pool: the documents.
    """
    ngrams = int(ngram[-1]) + 1 if len(ngram) else 0
    place = ngram * pool.depth + pool.row_in_group().index_select(0, row)
    # A float32 counts exactly up to 2^24, and the product needs float32 anyway.
    dtype = torch.float32 if len(pool.row) < 1 << 24 else torch.int32
    counts = torch.zeros(ngrams * pool.depth, dtype=dtype, device=row.device)
    counts = counts.scatter_add_(0, place, count.to(dtype)).view(ngrams, pool.depth)  # (ngrams, depth)
    # An n-gram takes as many places as its largest count, and each different count of a document is a cut between them.
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
    """Write the matches of the hypotheses ``rows`` of each group to ``matches`` ``(groups, rows, references)``."""
    at_once = min(EXACT_COLUMNS, max(1, DENSE_CELLS // pool.rows))
    for first in range(0, max(1, table.weight.shape[1]), at_once):
        ngram, threshold, weight = (field[:, first : first + at_once] for field in table[1:])
        counts = table.counts.index_select(0, ngram.reshape(-1)).view(*ngram.shape, pool.depth)
        ones = counts.ge_(threshold.unsqueeze(-1)).float()  # (groups, columns, depth)
        weighted = ones[..., slice(*rows)] * weight.unsqueeze(-1)
        # The sums are in float32, because autocast's bfloat16 would round them. Ones and weights are exact in any
        # precision to which the product may convert its factors.
        with torch.autocast(matches.device.type, enabled=False):
            product = torch.bmm(weighted.transpose(1, 2), ones[..., pool.first_reference :])
        if first == 0:
            matches.copy_(product)
        else:
            matches += product.to(matches.dtype)
