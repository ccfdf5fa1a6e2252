"""N-gram matches of every hypothesis with every reference of its group, for minimum Bayes risk decoding.

Hypotheses with a single reference are counted as segments are. Of other groups only the n-grams matter that occur on
both sides. Most occur in a few documents: the pairs of documents that share such an n-gram are listed, and the smaller
counts added. The n-grams that occur in many documents are counted by a matrix product, which is then cheaper. The work
is cut into pools of whole groups, and a large group into blocks of hypotheses. No cut changes the counts. A small batch
on a CPU has all its n-grams in one table of numpy.

Example: the hypotheses ``x x y`` and ``x z``, the references ``x x`` and ``y z``. ``x`` is in three documents and is
counted in the table; ``y`` and ``z``, in two each, are listed. The matches of order 1 are 2 1 and 1 1.

The matrix product. For counts a and b, min(a, b) is the sum over t = 1, 2, ... of [a >= t][b >= t]. If no document has
a count between two thresholds, the same documents reach both: such thresholds are merged into one column, whose weight
is their number. For the only unigram of the texts x, xxxx and xxxx::

    threshold     1   2 3 4             column     1  2
    x             1   . . .             x          1  .
    xxxx          1   1 1 1     ->      xxxx       1  1
    xxxx          1   1 1 1             xxxx       1  1
                                        weight     1  3

The matches are the product of this matrix of ones with itself, one factor multiplied by the weights. So the last two
texts share 1 + 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ngram_metrics._core.basics.lazy import np, torch
from ngram_metrics._core.counting.documents import DocumentGroups, RaggedPairs, flat_positions, owners
from ngram_metrics._core.counting.keys import bit_length, run_starts, sorted_keys
from ngram_metrics._core.counting.matches import count_matches, ngram_totals
from ngram_metrics._core.counting.pools import (
    NgramTable,
    Pool,
    SmallLayout,
    indices,
    make_table,
    pools,
    small_layouts,
    tally,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

#: Counts in a block of the result, 4 bytes each. Smaller blocks cost less memory and, on the CPU, fewer cache misses.
BLOCK_CELLS = 1 << 22
#: A reference is repeated for each hypothesis of its group if all references then have at most this many times the
#: tokens of the hypotheses: those of a usual pool are as long as its reference. With fewer tokens a table is faster.
REPEATED_TOKENS, FEWEST_REPEATED = 4, 1 << 11
#: Minima of two counts in a small batch: more are summed as a product.
SMALL_MINIMA = 1 << 14
#: Listing one pair costs as much as this many multiply-adds of a matrix product.
PAIR_COST = 512
#: Cells of the table of counts, 4 bytes each, for each n-gram counted there.
TABLE_CELLS = 32
#: Cells of a matrix of ones, 4 bytes each.
DENSE_CELLS = 1 << 23
#: The largest weight of a column: a product may convert its factors to bfloat16, which is exact up to here.
LARGEST_WEIGHT = 1 << 8
#: A float32 counts exactly up to 2^24, so a product must not sum more columns of the largest weight.
EXACT_COLUMNS = (1 << 24) // LARGEST_WEIGHT
#: Pairs listed at a time, about 60 bytes each. On the CPU smaller pieces stay in the cache. On an accelerator a piece
#: is a few launches, and cutting into several pieces waits for the device.
CPU_LISTED_PAIRS = 1 << 19
ACCELERATOR_LISTED_PAIRS = 1 << 22


class MatchBlock(NamedTuple):
    """Matches of some hypotheses, with zeros for missing documents where groups differ in size.

    Attributes:
        groups: the index of the first group, and of the last plus 1.
        rows: the index of the first hypothesis in each of these groups, and of the last plus 1; a block with part of
            the hypotheses has a single group.
        matches: ``(groups, rows, references, orders)``, int32 or int64: for each order the sum over n-grams of the
            smaller count.
        hypothesis_lengths: ``(groups, rows)`` int64, the tokens of each hypothesis, on the device of ``matches``.
        reference_lengths: ``(groups, references)`` int64, the tokens of each reference, on the same device.
    """

    groups: tuple[int, int]
    rows: tuple[int, int]
    matches: Tensor
    hypothesis_lengths: Tensor
    reference_lengths: Tensor


def all_pairs_matches(
    hypotheses: DocumentGroups, references: DocumentGroups, max_order: int, device: torch.device
) -> Iterator[MatchBlock]:
    """Count the matches of each hypothesis with each reference of its group, in blocks that cover all groups in order.

    A block has at most ``BLOCK_CELLS`` counts, or one hypothesis.

    Args:
        hypotheses: any number of documents per group, even 0. If the references are the same documents, pass the same
            object twice: it is then counted once.
        references: any number of documents for each of the same groups, with the same vocabulary.
        max_order: the longest order to count, at least 1.
        device: where the pairs are counted.
    """
    groups = len(hypotheses.counts)
    height = int(hypotheses.counts.max()) if groups else 0
    # Each group is checked, because groups may be empty.
    if 0 < groups * height <= BLOCK_CELLS // max_order and bool((references.counts == 1).all()):
        tokens = len(hypotheses.tokens.ids)
        most = REPEATED_TOKENS * tokens if device.type == "cpu" and tokens >= FEWEST_REPEATED else 0
        is_single = height == 1 and hypotheses.single
        if is_single or int((references.tokens.lengths * hypotheses.counts).sum()) <= most:
            yield _pairs_block(hypotheses, references, height, max_order, device)
            return
    layouts = small_layouts((hypotheses,) if references is hypotheses else (hypotheses, references), max_order)
    if device.type == "cpu" and all(layout.is_small for _, layout in layouts):
        for first, layout in layouts:
            yield small_block(layout, first)
        return
    for pool in pools(hypotheses, references, BLOCK_CELLS // max_order, device):
        height, width = pool.hypothesis_lengths.shape[1], pool.reference_lengths.shape[1]
        shared = _shared_ngrams(pool, max_order) if height and width else []
        at_once = max(1, height if pool.size > 1 else BLOCK_CELLS // max(1, width * max_order))
        for first in range(0, max(1, height), at_once):
            rows = first, min(height, first + at_once)
            # Orders are the first dimension, so that each is filled in contiguous memory.
            matches = pool.row.new_empty((max_order, pool.size, rows[1] - rows[0], width), dtype=pool.count_dtype)
            for order_matches, (table, listed) in zip(matches, shared, strict=False):
                fill_product(order_matches, table, pool, rows)
                if listed is not None:
                    add_listed(order_matches, listed, pool, rows)
            lengths = pool.hypothesis_lengths[:, slice(*rows)]
            if pool.same:
                _fill_diagonal(matches[..., slice(*rows)], lengths)
            yield MatchBlock(pool.groups, rows, matches.permute(1, 2, 3, 0), lengths, pool.reference_lengths)


def _pairs_block(
    hypotheses: DocumentGroups, references: DocumentGroups, height: int, max_order: int, device: torch.device
) -> MatchBlock:
    """Count each hypothesis with the only reference of its group as segments, with ``height`` rows in each group."""
    counts, others, lengths = hypotheses.counts, references.tokens, hypotheses.tokens.lengths
    groups = len(counts)
    group = owners(counts)  # (pairs,)
    if height > 1 or len(group) < groups:
        others = others.take(group)
    matches = count_matches(RaggedPairs(hypotheses.tokens, others), max_order)
    if len(group) < groups * height:
        present = group * height + flat_positions(counts)
        matches = matches.new_zeros(groups * height, max_order).index_copy_(0, present, matches)
        lengths = lengths.new_zeros(groups * height).index_copy_(0, present, lengths)
    shaped = (
        matches.view(groups, height, 1, max_order),
        lengths.view(groups, height),
        references.tokens.lengths.unsqueeze(1),
    )
    return MatchBlock((0, groups), (0, height), *(field.to(device) for field in shaped))


def small_block(layout: SmallLayout, first: int = 0) -> MatchBlock:
    """Count the matches of a small batch in a single block, which begins with the ``first`` group."""
    matches = _count_small(layout)
    lengths, reference_lengths = layout.padded_lengths()
    if len(layout.counts) == 1:
        _fill_diagonal(matches, lengths)
    return MatchBlock(
        (first, first + layout.groups), (0, layout.sizes[0]), matches.permute(1, 2, 3, 0), lengths, reference_lengths
    )


def _count_small(layout: SmallLayout) -> Tensor:
    """Return the matches of a small batch, ``(orders, groups, hypotheses, references)`` int64, without a diagonal."""
    table = make_table(layout)
    pairs = layout.sizes[0] * layout.sizes[-1]
    sums = (_sum_minima if len(table.counts) * pairs <= SMALL_MINIMA else _sum_products)(table, layout)
    matches = np.zeros((layout.max_order, layout.groups, *sums.shape[1:]), np.int64)
    matches[: layout.orders] = sums.reshape(layout.orders, *matches.shape[1:])
    return torch.from_numpy(matches)


def _sum_minima(table: NgramTable, layout: SmallLayout) -> NDArray[np.float32]:
    """Return the sum of the smaller counts of each order and group, ``(orders * groups, hypotheses, references)``."""
    counts, bounds = table
    hypotheses, references = counts[:, : layout.sizes[0], None], counts[:, None, layout.first_reference :]
    # The row of zeros is for groups without n-grams at the end: reduceat takes the row at their bound.
    minima = np.zeros((len(counts) + 1, layout.sizes[0], layout.sizes[-1]), np.float32)
    np.minimum(hypotheses, references, out=minima[:-1])
    return np.add.reduceat(minima, bounds[:-1]) * (np.diff(bounds) > 0)[:, None, None]


def _sum_products(table: NgramTable, layout: SmallLayout) -> NDArray[np.float32]:
    """Return the sums of ``_sum_minima`` as a product, with a column for each n-gram and count up to its largest."""
    counts, bounds = table
    most = counts.max(1, initial=0).astype(np.int64)  # (ngrams,)
    ends = most.cumsum()
    ngram = np.arange(len(most)).repeat(most)  # (columns,)
    threshold = np.arange(len(ngram)) - (ends - most).take(ngram)
    # Each order of each group has as many columns as the largest.
    begins = np.append(0, ends).take(bounds)
    sizes = np.diff(begins)  # (orders * groups,)
    width = int(sizes.max())
    column = np.arange(len(ngram)) + (np.arange(len(sizes)) * width - begins[:-1]).repeat(sizes)
    reaches = np.zeros((len(sizes) * width, layout.depth), np.float32)
    reaches[column] = counts.take(ngram, 0) > threshold[:, None].astype(np.float32)
    blocks = reaches.reshape(len(sizes), width, layout.depth)
    return np.matmul(blocks[..., : layout.sizes[0]].swapaxes(1, 2), blocks[..., layout.first_reference :])


def _fill_diagonal(matches: Tensor, lengths: Tensor) -> None:
    """Write the matches of each document of ``lengths`` ``(groups, rows)`` with itself."""
    matches.diagonal(dim1=2, dim2=3).copy_(ngram_totals(lengths, len(matches)).permute(2, 0, 1))


class _Runs(NamedTuple):
    """Sorted n-grams, where equal n-grams of a document are one run.

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
    shared = []
    for keys in sorted_keys(pool.digits, max_order):
        row = pool.row.index_select(0, keys.slot)
        # Runs are made once for all orders: a highly repetitive text has few.
        first = indices(run_starts(keys.keys) | run_starts(row))  # (runs,)
        count = first.diff(append=first.new_full((1,), len(row)))
        runs = _Runs(keys.keys.index_select(0, first), row.index_select(0, first), count)
        for order in keys.orders:
            prefix = runs.key >> (keys.bits * (keys.last - order))
            # An n-gram that is not shared is not part of a longer shared one: the next order looks at the rest only.
            runs, ngram, frequent = _select_shared(runs, prefix, keys.valid(prefix), pool)
            shared.append(_split_by_cost(runs, ngram, frequent, pool))
    return shared


def _select_shared(runs: _Runs, prefix: Tensor, valid: Tensor, pool: Pool) -> tuple[_Runs, Tensor, Tensor]:
    """Find the n-grams that any pair may share.

    ``prefix`` ``(runs,)`` int64 is equal for equal n-grams, and ``valid`` ``(runs,)`` bool says which end inside their
    document.

    Returns:
        The runs of such n-grams; the number of each run's n-gram, ascending, with gaps; and ``(n-grams,)`` bool,
        whether the n-gram costs less in a table than as listed pairs.
    """
    starts = run_starts(prefix)
    # An n-gram in a single run has no match: this drops most of the longer n-grams.
    remaining = indices(valid & ~(starts & starts.roll(-1)))
    runs = _Runs(*_select(remaining, *runs))
    ngram = (starts.cumsum(0, dtype=torch.int64) - 1).index_select(0, remaining)
    either = tally(ngram, len(prefix))  # (n-grams,), the runs of each: at least as many as its documents
    if pool.same:
        pairs = either * either
    else:
        reference_runs = indices((pool.row_in_group() >= pool.first_reference).index_select(0, runs.row))
        references = tally(ngram.index_select(0, reference_runs), len(either))
        pairs = (either - references) * references
        shared = indices((pairs > 0).index_select(0, ngram))
        runs = _Runs(*_select(shared, *runs))
        ngram = ngram.index_select(0, shared)
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


def _split_by_cost(runs: _Runs, ngram: Tensor, frequent: Tensor, pool: Pool) -> tuple[CountTable, ListedPairs | None]:
    """Return the frequent n-grams of an order as a table, and the others as listed pairs."""
    in_table = frequent.index_select(0, ngram)
    in_list = indices(~in_table)
    table_ngram = (frequent.cumsum(0, dtype=torch.int64) - 1).index_select(0, ngram)  # (runs,)
    table_ngram, row, count = _select(indices(in_table), table_ngram, runs.row, runs.length)
    table = count_table(table_ngram, row, count, pool)
    if len(in_list) == 0:
        return table, None
    ngram, row, count = _select(in_list, ngram, runs.row, runs.length)
    return table, listed_pairs(ngram, len(frequent), row, count, pool)


def _select(index: Tensor, *fields: Tensor) -> tuple[Tensor, ...]:
    """Select from fields of equal length by an ascending index, which selects everything if it is as long."""
    return fields if len(index) == len(fields[0]) else tuple(field.index_select(0, index) for field in fields)


class CountTable(NamedTuple):
    """Counts of n-grams, and the columns made from them.

    Attributes:
        counts: ``(ngrams, depth)`` float32 or int32, the count of the n-gram in each row of its group.
        ngram: ``(groups, columns)`` int64, the n-gram of each column; as many columns as the largest group needs.
        threshold: ``(groups, columns)``, the dtype of ``counts``, the largest threshold of the column; a missing column
            has a number that no count reaches.
        weight: ``(groups, columns)`` float32 in ``[1, LARGEST_WEIGHT]``.
    """

    counts: Tensor
    ngram: Tensor
    threshold: Tensor
    weight: Tensor


def count_table(ngram: Tensor, row: Tensor, count: Tensor, pool: Pool) -> CountTable:
    """Return the table of counts: the count of an n-gram in a row is the sum over its entries.

    The entries are ``(entries,)`` int64 each; the numbers ``ngram`` have no gaps and ascend with the groups.
    """
    ngrams = int(ngram[-1]) + 1 if len(ngram) else 0
    cell = ngram * pool.depth + pool.row_in_group().index_select(0, row)
    # A float32 counts exactly up to 2^24, and the product needs float32 anyway.
    dtype = torch.float32 if len(pool.row) < 1 << 24 else torch.int32
    counts = torch.zeros(ngrams * pool.depth, dtype=dtype, device=row.device)
    counts = counts.scatter_add_(0, cell, count.to(dtype)).view(ngrams, pool.depth)  # (ngrams, depth)
    # An n-gram has as many thresholds as its largest count, and each different count of a document is a cut among them.
    largest = counts.amax(1).long()  # (ngrams,)
    begin = largest.cumsum(0) - largest
    cuts = torch.zeros(int(largest.sum()) + 1, dtype=torch.bool, device=row.device)  # (thresholds + 1,)
    cuts[::LARGEST_WEIGHT] = True
    cuts[-1:] = True
    repeated = indices(largest > 1)
    within = begin.index_select(0, repeated).unsqueeze(1) + counts.index_select(0, repeated).long()
    cut = indices(cuts.index_fill_(0, begin, True).index_fill_(0, within.view(-1), True))
    first = (cuts.cumsum(0, dtype=torch.int64) - 1).index_select(0, begin)
    column_ngram = torch.repeat_interleave(
        first.diff(append=first.new_full((1,), len(cut) - 1)), output_size=len(cut) - 1
    )
    threshold = (cut[1:] - begin.index_select(0, column_ngram)).to(dtype)  # (columns,)
    weight = cut.diff().float()
    if pool.size == 1:
        return CountTable(counts, column_ngram.unsqueeze(0), threshold.unsqueeze(0), weight.unsqueeze(0))
    group = torch.empty_like(begin).scatter_(0, ngram, pool.row_group().index_select(0, row))
    columns = tally(group.index_select(0, column_ngram), pool.size)
    in_group = torch.arange(int(columns.max()), device=row.device)
    column = ((columns.cumsum(0) - columns).unsqueeze(1) + in_group).clamp(max=max(0, len(weight) - 1))
    missing = in_group >= columns.unsqueeze(1)  # (groups, columns of the largest)
    threshold = threshold[column].masked_fill_(missing, 1 << 30)
    return CountTable(counts, column_ngram[column], threshold, weight[column])


def fill_product(matches: Tensor, table: CountTable, pool: Pool, rows: tuple[int, int]) -> None:
    """Write the matches of the hypotheses ``rows`` of each group to ``matches`` ``(groups, rows, references)``."""
    at_once = min(EXACT_COLUMNS, max(1, DENSE_CELLS // pool.rows))
    for first in range(0, max(1, table.weight.shape[1]), at_once):
        ngram, threshold, weight = (field[:, first : first + at_once] for field in table[1:])
        counts = table.counts.index_select(0, ngram.reshape(-1)).view(*ngram.shape, pool.depth)
        # Where the threshold is reached 1, else 0: in place, which a comparison cannot be on every device.
        reaches = counts.sub_(threshold.unsqueeze(-1) - 1).clamp_(0, 1).float()  # (groups, columns, depth)
        weighted = reaches[..., slice(*rows)] * weight.unsqueeze(-1)
        # Autocast would round the sums to bfloat16. Ones and weights are exact in any precision of the factors.
        with torch.autocast(matches.device.type, enabled=False):
            product = torch.bmm(weighted.transpose(1, 2), reaches[..., pool.first_reference :])
        if first == 0:
            matches.copy_(product)
        else:
            matches += product.to(matches.dtype)


class ListedPairs(NamedTuple):
    """The n-grams of each hypothesis, and the references that have them.

    Attributes:
        hypothesis: ``(entries,)`` int64, the row of the hypothesis, ascending.
        hypothesis_count: ``(entries,)`` of the pool's ``count_dtype``, how often the hypothesis has the n-gram.
        first: ``(entries,)`` int64, the index of the first reference entry with the n-gram.
        partners: ``(entries,)`` int64, the number of reference entries with the n-gram.
        reference: ``(reference entries,)`` int64, the row of the reference, n-gram after n-gram.
        reference_count: ``(reference entries,)`` of the pool's ``count_dtype``, how often the reference has the n-gram.
    """

    hypothesis: Tensor
    hypothesis_count: Tensor
    first: Tensor
    partners: Tensor
    reference: Tensor
    reference_count: Tensor


def listed_pairs(ngram: Tensor, ngrams: int, row: Tensor, count: Tensor, pool: Pool) -> ListedPairs:
    """Find the documents that share n-grams, from entries as in ``count_table``, whose numbers may have gaps."""
    row_bits = bit_length(pool.rows)
    ngram_and_row, by = torch.sort((ngram << row_bits) | row)
    last = indices(run_starts(ngram_and_row).roll(-1))  # (entries,)
    through = count.index_select(0, by).cumsum(0).index_select(0, last)
    count = through.diff(prepend=through.new_zeros(1)).to(pool.count_dtype)
    ngram_and_row = ngram_and_row.index_select(0, last)
    ngram, row = ngram_and_row >> row_bits, ngram_and_row & ((1 << row_bits) - 1)
    is_reference = (pool.row_in_group() >= pool.first_reference).index_select(0, row)
    reference_entries = indices(is_reference)
    references = tally(ngram.index_select(0, reference_entries), ngrams)  # (ngrams,)
    before = references.cumsum(0) - references
    # The matches of a document with itself follow from its length.
    has_partner = references.index_select(0, ngram) > (1 if pool.same else 0)
    partnered = indices(has_partner if pool.same else has_partner & ~is_reference)
    # Sorted by row, so that the counts of a row stay in the cache while they are updated.
    hypothesis, by_row = torch.sort(row.index_select(0, partnered))
    partnered = partnered.index_select(0, by_row)
    ngram = ngram.index_select(0, partnered)
    return ListedPairs(
        hypothesis,
        count.index_select(0, partnered),
        before.index_select(0, ngram),
        references.index_select(0, ngram),
        row.index_select(0, reference_entries),
        count.index_select(0, reference_entries),
    )


def add_listed(matches: Tensor, listed: ListedPairs, pool: Pool, rows: tuple[int, int]) -> None:
    """Add the matches of the hypotheses ``rows`` of each group to ``matches`` ``(groups, rows, references)``."""
    _, height, width = matches.shape
    in_group = pool.row_in_group()
    # The index in the flat matches where each hypothesis row begins.
    begin = (pool.row_group() * height + in_group - rows[0]) * width  # (rows of the pool,)
    hypothesis, count, first, partners = listed[:4]
    if height < pool.hypothesis_lengths.shape[1]:
        # The limits of the rows as a tensor, without a copy from the CPU to the device.
        limits = torch.arange(rows[0], rows[1] + 1, rows[1] - rows[0], device=matches.device)
        inside = slice(*torch.searchsorted(listed.hypothesis, limits).tolist())
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
    """Yield slices of entries, each with its sum of ``partners``, the numbers of partners ``(entries,)``."""
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
