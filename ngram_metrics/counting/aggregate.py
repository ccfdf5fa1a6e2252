"""N-gram matches of each hypothesis with the aggregate of the references of its group.

The count of an n-gram in the aggregate is its average count in the references (Vamvas and Sennrich 2024, "Linear-time
Minimum Bayes Risk Decoding with Reference Aggregation"). So the work grows with the number of documents and not of
pairs. Averages are fractions, so all counts are multiplied by the number of references and stay integers.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from ngram_metrics.counting.documents import DocumentGroups, flat_positions, owners
from ngram_metrics.counting.keys import SortedKeys, bit_length, run_starts, sorted_keys
from ngram_metrics.counting.matches import ngram_totals
from ngram_metrics.counting.pools import Pool, indices, pools, tally

#: Limit of hypotheses times references of a pool of several groups, with padding: it keeps padding small.
POOL_PAIRS = 1 << 24


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
    kept = prefix & ((1 << keys.bits) - 1) != 0
    if pool.same:
        in_references = tally(ngram, len(ngram))
    else:
        is_reference = (pool.row_in_group() >= pool.first_reference).index_select(0, row)
        in_references = tally(2 * ngram + is_reference, 2 * len(ngram)).view(-1, 2)[:, 1]
        kept = kept & ~is_reference & (in_references.index_select(0, ngram) > 0)
    kept = indices(kept)  # (slots of shared n-grams in hypotheses,)
    row_bits = bit_length(pool.rows)
    ngram_and_row = (ngram.index_select(0, kept) << row_bits) | row.index_select(0, kept)
    # One entry for each n-gram of each hypothesis, with its count.
    ngram_and_row, count = torch.unique_consecutive(torch.sort(ngram_and_row).values, return_counts=True)
    ngram, row = ngram_and_row >> row_bits, ngram_and_row & ((1 << row_bits) - 1)
    references = reference_counts.repeat_interleave(pool.depth).index_select(0, row)
    smaller = torch.minimum(references * count, in_references.index_select(0, ngram))  # (entries,)
    sums = smaller.new_zeros(pool.rows).scatter_add_(0, row, smaller)  # (rows,)
    return sums.view(pool.size, pool.depth)[:, : pool.hypothesis_lengths.shape[1]]
