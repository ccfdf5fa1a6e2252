"""Matches of all pairs in the n-grams that few documents share: the pairs are listed, and the smaller counts added."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from ngram_metrics.counting.keys import bit_length, run_ends
from ngram_metrics.counting.pools import Pool, indices, tally

#: Pairs listed at a time, about 60 bytes each. On the CPU smaller pieces stay in the cache. On an accelerator a piece
#: is a few launches, and cutting into several pieces waits for the device.
CPU_LISTED_PAIRS = 1 << 19
ACCELERATOR_LISTED_PAIRS = 1 << 22


class ListedPairs(NamedTuple):
    """The n-grams of each hypothesis, and the references that have them.

    Attributes:
        hypothesis: ``(entries,)`` int64, the row of the hypothesis, ascending.
        hypothesis_count: ``(entries,)``, the pool's ``count_dtype``, the count of the n-gram in the hypothesis.
        first: ``(entries,)`` int64, the index of the first reference entry with the n-gram.
        partners: ``(entries,)`` int64, the number of reference entries with the n-gram.
        reference: ``(reference entries,)`` int64, the row of the reference, n-gram after n-gram.
        reference_count: ``(reference entries,)``, the pool's ``count_dtype``, the count of the n-gram in the reference.
    """

    hypothesis: Tensor
    hypothesis_count: Tensor
    first: Tensor
    partners: Tensor
    reference: Tensor
    reference_count: Tensor


def listed_pairs(ngram: Tensor, ngrams: int, row: Tensor, count: Tensor, pool: Pool) -> ListedPairs:
    """Find the documents that share n-grams.

    Args:
        ngram: ``(entries,)`` int64 in ``[0, ngrams)``; each number belongs to one group.
        ngrams: an exclusive upper bound of the numbers.
        row: ``(entries,)`` int64, the row in the pool.
        count: ``(entries,)`` int64, at least 1: an n-gram's count in a row is the sum over its entries.
        pool: the documents.
    """
    row_bits = bit_length(pool.rows)
    ngram_and_row, by = torch.sort((ngram << row_bits) | row)
    last = indices(run_ends(ngram_and_row))  # (entries,)
    through = count.index_select(0, by).cumsum(0).index_select(0, last)
    count = through.diff(prepend=through.new_zeros(1)).to(pool.count_dtype)
    ngram_and_row = ngram_and_row.index_select(0, last)
    ngram, row = ngram_and_row >> row_bits, ngram_and_row & ((1 << row_bits) - 1)
    is_reference = (pool.row_in_group() >= pool.first_reference).index_select(0, row)
    of_references = indices(is_reference)
    references = tally(ngram.index_select(0, of_references), ngrams)  # (ngrams,)
    before = references.cumsum(0) - references
    # The matches of a document with itself follow from its length.
    has_partner = references.index_select(0, ngram) > (1 if pool.same else 0)
    kept = indices(has_partner if pool.same else has_partner & ~is_reference)
    # Sorted by row, so that the counts of a row stay in the cache while they are updated.
    hypothesis, by_row = torch.sort(row.index_select(0, kept))
    kept = kept.index_select(0, by_row)
    ngram = ngram.index_select(0, kept)
    return ListedPairs(
        hypothesis,
        count.index_select(0, kept),
        before.index_select(0, ngram),
        references.index_select(0, ngram),
        row.index_select(0, of_references),
        count.index_select(0, of_references),
    )


def add_listed(matches: Tensor, listed: ListedPairs, pool: Pool, rows: tuple[int, int]) -> None:
    """Add the matches of the hypotheses ``rows`` of each group to ``matches`` ``(groups, rows, references)``."""
    _, height, width = matches.shape
    in_group = pool.row_in_group()
    # The index in the flat matches where each hypothesis row begins.
    begin = (pool.row_group() * height + in_group - rows[0]) * width  # (rows of the pool,)
    hypothesis, count, first, partners = listed[:4]
    if height < pool.hypothesis_lengths.shape[1]:
        inside = slice(*torch.searchsorted(listed.hypothesis, _two(*rows, matches.device)).tolist())
        hypothesis, count, first, partners = (field[inside] for field in listed[:4])
    for piece, size in _pieces(partners):
        times = partners[piece]
        position = torch.repeat_interleave(first[piece] - (times.cumsum(0) - times), times, output_size=size)
        position += torch.arange(size, device=position.device)  # (pairs of the piece,)
        pair = torch.repeat_interleave(begin.index_select(0, hypothesis[piece]), times, output_size=size)
        pair += in_group.index_select(0, listed.reference.index_select(0, position)) - pool.first_reference
        smaller = torch.repeat_interleave(count[piece], times, output_size=size)
        smaller = torch.minimum(smaller, listed.reference_count.index_select(0, position))
        matches.view(-1).scatter_add_(0, pair, smaller)


def _pieces(partners: Tensor) -> Iterator[tuple[slice, int]]:
    """Cut entries with ``partners`` ``(entries,)`` into pieces; yield each piece and the sum of its partners."""
    at_once = CPU_LISTED_PAIRS if partners.device.type == "cpu" else ACCELERATOR_LISTED_PAIRS
    ends = partners.cumsum(0)
    total = int(ends[-1]) if len(ends) else 0
    if total <= at_once:
        cuts = [(0, 0)] * (total > 0)
    else:
        begins = torch.searchsorted(ends, torch.arange(0, total, at_once, device=ends.device), right=True)
        cuts = torch.stack((begins, (ends - partners).index_select(0, begins)), 1).tolist()
    for (begin, before), (stop, upto) in pairwise([*cuts, (len(ends), total)]):
        yield slice(begin, stop), upto - before


def _two(first: int, second: int, device: torch.device) -> Tensor:
    """Return a tensor of two different numbers without a copy from the CPU to the device."""
    return torch.arange(first, second + 1, second - first, device=device)
