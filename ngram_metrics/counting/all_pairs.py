"""N-gram matches of every hypothesis with every reference of its group, for minimum Bayes risk decoding.

Only n-grams that occur on both sides matter. A few of them occur in many documents: these are counted by a matrix
product. Most occur in a few documents: for these it is cheaper to list the pairs of documents that share the n-gram.
``ngram_metrics.counting.shared_ngrams`` has both ways.

Example: the hypotheses ``x x y`` and ``x z``, the references ``x x`` and ``y z``. ``x`` is in three documents and is
counted in the table; ``y`` and ``z``, in two each, are listed. The matches of order 1 are 2 1 and 1 1.

The work is cut into pools of whole groups, and a large group into blocks of hypotheses; no cut changes the counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from ngram_metrics.counting.documents import DocumentGroups
from ngram_metrics.counting.keys import run_starts, sorted_keys
from ngram_metrics.counting.matches import ngram_totals
from ngram_metrics.counting.pools import Pool, indices, pools, tally
from ngram_metrics.counting.shared_ngrams import (
    CountTable,
    ListedPairs,
    add_listed,
    count_table,
    fill_product,
    listed_pairs,
)

#: Counts in a block of the result, 4 bytes each. Smaller blocks cost less memory and, on the CPU, fewer cache misses.
BLOCK_CELLS = 1 << 22
#: Listing one pair costs as much as this many multiply-adds of a matrix product.
PAIR_COST = 512
#: Cells of the table of counts, 4 bytes each, for each n-gram counted there.
TABLE_CELLS = 32


class MatchBlock(NamedTuple):
    """Matches of some hypotheses; if a group has fewer documents than another, its missing documents have zeros.

    Attributes:
        groups: the index of the first group, and of the last plus 1.
        rows: the index of the first hypothesis in each of these groups, and of the last plus 1; a block with part of
            the hypotheses has a single group.
        matches: ``(groups, rows, references, orders)``, int32 if the counts fit, else int64: for each order the sum
            over n-grams of the smaller count.
        hypothesis_lengths: ``(groups, rows)`` int64, the tokens of each hypothesis, on the device of ``matches``.
        reference_lengths: ``(groups, references)`` int64, the tokens of each reference, on the same device.
    """

    groups: tuple[int, int]
    rows: tuple[int, int]
    matches: Tensor
    hypothesis_lengths: Tensor
    reference_lengths: Tensor


def all_pairs_matches(hypotheses: DocumentGroups, references: DocumentGroups, max_order: int) -> Iterator[MatchBlock]:
    """Count the matches of each hypothesis with each reference of its group, block by block.

    A block has at most ``BLOCK_CELLS`` counts, or one hypothesis. A caller that turns each block into scores at once
    needs no more memory for counts, however many pairs there are.

    Args:
        hypotheses: any number of documents per group, even 0. If the references are the same documents, pass the same
            object twice: it is then counted once.
        references: any number of documents for each of the same groups, with the same vocabulary.
        max_order: the longest order to count, at least 1.

    Yields:
        Blocks that cover all groups, in order.
    """
    for pool in pools(hypotheses, references, BLOCK_CELLS // max_order):
        height, width = pool.hypothesis_lengths.shape[1], pool.reference_lengths.shape[1]
        shared = _shared_ngrams(pool, max_order) if height and width else []
        at_once = max(1, height if pool.size > 1 else BLOCK_CELLS // max(1, width * max_order))
        for first in range(0, max(1, height), at_once):
            rows = first, min(height, first + at_once)
            # Orders are the first dimension, so that each is filled in contiguous memory.
            matches = pool.row.new_empty((max_order, pool.size, rows[1] - rows[0], width), dtype=pool.count_dtype)
            for of_order, (table, listed) in zip(matches, shared, strict=False):
                fill_product(of_order, table, pool, rows)
                if listed is not None:
                    add_listed(of_order, listed, pool, rows)
            lengths = pool.hypothesis_lengths[:, slice(*rows)]
            if pool.same:
                diagonal = matches[..., slice(*rows)].diagonal(dim1=2, dim2=3)
                diagonal.copy_(ngram_totals(lengths, max_order).permute(2, 0, 1))
            yield MatchBlock(pool.groups, rows, matches.permute(1, 2, 3, 0), lengths, pool.reference_lengths)


class _Runs(NamedTuple):
    """Sorted n-grams; adjacent equal n-grams of a document are one run.

    Attributes:
        key: ``(runs,)`` int64, ascending.
        row: ``(runs,)`` int64, the row of the document.
        length: ``(runs,)`` int64, the number of n-grams in the run.
    """

    key: Tensor
    row: Tensor
    length: Tensor


def _shared_ngrams(pool: Pool, max_order: int) -> list[tuple[CountTable, ListedPairs | None]]:
    """Find the n-grams that any pair shares, order by order, and split them by the cheaper way to count them."""
    found = []
    for keys in sorted_keys(pool.digits, max_order):
        row = pool.row.index_select(0, keys.slot)
        # Runs are made once for all orders: a highly repetitive text has few.
        first = indices(run_starts(keys.keys) | run_starts(row))  # (runs,)
        count = first.diff(append=first.new_full((1,), len(row)))
        runs = _Runs(keys.keys.index_select(0, first), row.index_select(0, first), count)
        for order in range(keys.first, keys.last + 1):
            prefix = runs.key >> (keys.bits * (keys.last - order))
            # An n-gram that is not shared is not part of a longer shared one: the next order looks at the rest only.
            runs, ngram, frequent = _shared(runs, prefix, prefix & ((1 << keys.bits) - 1) != 0, pool)
            found.append(_parted(runs, ngram, frequent, pool))
    return found


def _shared(runs: _Runs, prefix: Tensor, valid: Tensor, pool: Pool) -> tuple[_Runs, Tensor, Tensor]:
    """Find the n-grams that any pair may share.

    Args:
        runs: the sorted n-grams.
        prefix: ``(runs,)`` int64, the same for equal n-grams.
        valid: ``(runs,)`` bool, whether the n-gram ends inside its document.
        pool: the documents.

    Returns:
        The runs of such n-grams; the number of each run's n-gram, ascending, with gaps; and ``(n-grams,)`` bool,
        whether the n-gram costs less in a table than as listed pairs.
    """
    starts = run_starts(prefix)
    # An n-gram in a single run has no match: this drops most of the longer n-grams.
    kept = indices(valid & ~(starts & torch.cat((starts[1:], starts[:1]))))
    runs = _Runs(*_select(kept, *runs))
    ngram = (starts.cumsum(0) - 1).index_select(0, kept)
    # The runs of each n-gram: at least as many as its documents.
    either = tally(ngram, len(prefix))  # (n-grams,)
    if pool.same:
        pairs = either * either
    else:
        of_references = indices((pool.row_in_group() >= pool.first_reference).index_select(0, runs.row))
        references = tally(ngram.index_select(0, of_references), len(either))
        pairs = (either - references) * references
        shared = indices((pairs > 0).index_select(0, ngram))
        runs, ngram = _Runs(*_select(shared, *runs)), ngram.index_select(0, shared)
    # An n-gram takes one column of the table for each different count in a document. The longest run is usually the
    # largest count, and there are at least as many runs as different counts.
    repeated = indices(runs.length > 1)
    longest = torch.ones_like(either)  # (n-grams,)
    longest.scatter_reduce_(0, ngram.index_select(0, repeated), runs.length.index_select(0, repeated), "amax")
    columns = torch.minimum(longest, either)
    all_pairs = max(1, pool.hypothesis_lengths.shape[1] * pool.reference_lengths.shape[1])
    pairs = pairs.clamp(max=all_pairs)
    frequent = (pairs * PAIR_COST >= columns * all_pairs) & (either * TABLE_CELLS >= pool.depth)
    return runs, ngram, frequent


def _parted(runs: _Runs, ngram: Tensor, frequent: Tensor, pool: Pool) -> tuple[CountTable, ListedPairs | None]:
    """Split the n-grams of an order; see ``_shared``."""
    in_table = frequent.index_select(0, ngram)
    in_list = indices(~in_table)
    number = (frequent.cumsum(0) - 1).index_select(0, ngram)  # (runs,)
    number, row, count = _select(indices(in_table), number, runs.row, runs.length)
    table = count_table(number, row, count, pool)
    if len(in_list) == 0:
        return table, None
    ngram, row, count = _select(in_list, ngram, runs.row, runs.length)
    return table, listed_pairs(ngram, len(frequent), row, count, pool)


def _select(index: Tensor, *fields: Tensor) -> tuple[Tensor, ...]:
    """Select from fields of equal length; an ascending index of the same length selects everything."""
    return fields if len(index) == len(fields[0]) else tuple(field.index_select(0, index) for field in fields)
