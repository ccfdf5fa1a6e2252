"""Groups of documents, laid out in pools for comparing the hypotheses of a group with its references.

``aggregate_matches`` compares each hypothesis with the aggregate of all references of its group: the count of an n-gram
in the aggregate is its average count in the references (Vamvas and Sennrich 2024, "Linear-time Minimum Bayes Risk
Decoding with Reference Aggregation"). So the work grows with the number of documents and not of pairs. All counts are
multiplied by the number of references, so that averages stay integers.

A small batch on a CPU is one table of n-grams and documents, made in NumPy, which has less overhead for few numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ngram_metrics._core.basics.lazy import np, torch
from ngram_metrics._core.counting.documents import (
    DocumentGroups,
    RaggedTokens,
    copy_to,
    even_chunks,
    flat_positions,
    owners,
    ragged_chunks,
    repeat_each,
)
from ngram_metrics._core.counting.keys import (
    KEY_BITS,
    Digits,
    SortedKeys,
    bit_length,
    ragged_digits,
    run_starts,
    sorted_keys,
)
from ngram_metrics._core.counting.numpy_matches import join_digits, must_use_torch

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

#: Limit of rows times tokens of the largest group in a pool of several: it bounds a matrix with a column per n-gram.
POOL_CELLS = 1 << 24
#: Limit of hypotheses times references of a pool of several groups, with padding: it keeps padding small.
POOL_PAIRS = 1 << 24
#: A small batch has at most this number of slots. The arrays of all orders together then stay in a CPU's cache.
SMALL_SLOTS = 1 << 14
#: Limit of the slots of a small batch times the rows of a group and the orders, as if all groups were the largest. It
#: bounds the arrays made from its table, 4 bytes for each, and the counts of all its pairs.
SMALL_CELLS = 1 << 22


class Pool(NamedTuple):
    """Hypotheses and references of some groups, one document per row.

    A group has ``depth`` rows: its hypotheses start at row 0, its references at row ``first_reference``. If it has
    fewer documents than another group, some rows are empty. Hypotheses that are also the references have their rows
    once.

    Example: groups of the hypotheses ``x y`` and the reference ``r``, and of the hypothesis ``z`` and the reference
        ``s``. ``first_reference`` is 2 and ``depth`` 3: ``x y r`` are the rows 0, 1, 2, and ``z s`` the rows 3 and 5.

    Attributes:
        groups: the index of the first group, and of the last plus 1.
        digits: the tokens of all documents.
        row: ``(slots,)`` int64, the row of each slot's document: the group in the pool times ``depth``, plus the row in
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


def pools(hypotheses: DocumentGroups, references: DocumentGroups, pairs: int, device: torch.device) -> Iterator[Pool]:
    """Cut groups into pools on a device, in order, each within the budgets or a single group.

    A pool of several groups has at most ``pairs`` pairs, with padding. The same documents on both sides are laid out
    once.
    """
    same = references is hypotheses
    sizes = hypotheses.join().lengths
    if not same:
        sizes = sizes + references.join().lengths
    for start, stop in ragged_chunks(sizes, device):
        measures = torch.stack((hypotheses.counts, references.counts, sizes), 1)[start:stop].tolist()
        for first, last in even_runs(measures, pairs):
            groups = start + first, start + last
            in_pool = hypotheses.slice(*groups)
            yield _pool(groups, in_pool, in_pool if same else references.slice(*groups), device)


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


def _pool(
    groups: tuple[int, int], hypotheses: DocumentGroups, references: DocumentGroups, device: torch.device
) -> Pool:
    """Lay the documents of a few groups into rows."""
    same = references is hypotheses
    hypothesis_lengths = hypotheses.padded_lengths()
    reference_lengths = hypothesis_lengths if same else references.padded_lengths()
    first_reference = 0 if same else hypothesis_lengths.shape[1]
    depth = first_reference + reference_lengths.shape[1]
    sides = (references,) if same else (hypotheses, references)
    group = torch.cat([owners(side.counts) for side in sides])
    in_group = [flat_positions(side.counts) + first for side, first in zip(sides, (0, first_reference), strict=False)]
    lengths = torch.cat([side.tokens.lengths for side in sides])
    row = repeat_each(group * depth + torch.cat(in_group), lengths)
    digits = ragged_digits([side.tokens for side in sides], group, groups[1] - groups[0])
    assert digits.group is not None
    row, hypothesis_lengths, reference_lengths, *parts = copy_to(
        device, row, hypothesis_lengths, reference_lengths, digits.digits, digits.remaining, digits.group
    )
    digits = digits._replace(digits=parts[0], remaining=parts[1], group=parts[2])
    if same:
        reference_lengths = hypothesis_lengths  # identity marks hypotheses == references
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


class SmallLayout(NamedTuple):
    """The rows of the documents of a batch in a table, as in a ``Pool``.

    Attributes:
        ids: the tokens of all documents, in one tensor or in one for each side.
        counts: for hypotheses and references, or one side that is both, ``(groups,)`` int64, how many each group has.
        group: ``(documents,)`` int64, of all sides.
        row: ``(documents,)`` int64, the row in the group.
        lengths: ``(documents,)`` int64.
        sizes: for each side the largest number of documents in a group.
        max_order: the longest order to count.
        orders: the longest order of which both sides have n-grams.
        bits: the width of a digit.
    """

    ids: Sequence[Tensor]
    counts: Sequence[NDArray[np.int64]]
    group: NDArray[np.int64]
    row: NDArray[np.int64]
    lengths: NDArray[np.int64]
    sizes: list[int]
    max_order: int
    orders: int
    bits: int

    @property
    def groups(self) -> int:
        """The number of groups."""
        return len(self.counts[0])

    @property
    def depth(self) -> int:
        """The number of rows of a group."""
        return sum(self.sizes)

    @property
    def first_reference(self) -> int:
        """The first row of the references."""
        return self.depth - self.sizes[-1]

    @property
    def is_small(self) -> bool:
        """Whether the documents are counted in a table: on a CPU, within the budget, with keys that fit int64."""
        if not self.orders or must_use_torch():
            return False
        slots = np.bincount(self.group, self.lengths)  # (groups,)
        cells = self.groups * max(int(slots.max()), self.depth) * self.depth * self.max_order
        key_bits = bit_length(self.groups - 1) + self.orders * self.bits + bit_length(self.depth - 1)
        return slots.sum() <= SMALL_SLOTS and cells <= SMALL_CELLS and key_bits <= KEY_BITS

    def padded_lengths(self) -> list[Tensor]:
        """Return ``DocumentGroups.padded_lengths`` of hypotheses and references."""
        lengths = np.zeros((self.groups, self.depth), np.int64)
        lengths[self.group, self.row] = self.lengths
        rows = torch.from_numpy(lengths)
        return [rows[:, : self.sizes[0]], rows[:, self.first_reference :]]


def small_layout(sides: Sequence[DocumentGroups], max_order: int) -> SmallLayout:
    """Lay out the documents of hypotheses and references, or of one side that is both."""
    counts = [side.counts.numpy() for side in sides]
    lengths = [side.tokens.lengths.numpy() for side in sides]
    sizes = [int(side.max(initial=0)) for side in counts]
    numbers = np.arange(len(counts[0]))
    group = [numbers.repeat(side) for side in counts]
    row = [
        np.arange(len(owner)) - (side.cumsum() - side).take(owner) for owner, side in zip(group, counts, strict=True)
    ]
    row[-1] += sum(sizes[:-1])
    orders = min(max_order, *(int(side.max(initial=0)) for side in lengths))
    bits = bit_length(max(side.tokens.id_bound for side in sides))
    documents = np.concatenate(group), np.concatenate(row), np.concatenate(lengths)
    return SmallLayout([side.tokens.ids for side in sides], counts, *documents, sizes, max_order, orders, bits)


def small_layouts(sides: Sequence[DocumentGroups], max_order: int) -> list[tuple[int, SmallLayout]]:
    """Return the first group and the layout of each part of a batch, of at most ``SMALL_SLOTS`` slots or one group."""
    groups = len(sides[0].counts)
    ranges: Iterable[tuple[int, int]] = [(0, groups)]
    if sum(len(side.tokens.ids) for side in sides) > SMALL_SLOTS:
        ranges = even_chunks(np.sum([side.join().lengths.numpy() for side in sides], 0), SMALL_SLOTS)
    return [(first, small_layout([side.slice(first, last) for side in sides], max_order)) for first, last in ranges]


def row_layout(tokens: RaggedTokens, hypotheses: int, max_order: int) -> SmallLayout:
    """Lay out one group: ``hypotheses`` documents, then references. If these are all, they are the references too."""
    lengths = tokens.lengths.numpy()
    sizes = [hypotheses, len(lengths) - hypotheses] if hypotheses < len(lengths) else [hypotheses]
    counts = [np.array([size]) for size in sizes]
    orders = min(max_order, int(lengths[:hypotheses].max()), int(lengths[-sizes[-1] :].max()))
    documents = np.zeros(len(lengths), np.int64), np.arange(len(lengths)), lengths
    return SmallLayout([tokens.ids], counts, *documents, sizes, max_order, orders, bit_length(tokens.id_bound))


class NgramTable(NamedTuple):
    """The n-grams of a small batch that occur more than once in their group, without which there is no match.

    Attributes:
        counts: ``(ngrams, depth)`` float32, exact, the count of the n-gram in each row of its group.
        bounds: ``(orders * groups + 1,)`` int64, the first n-gram of each group, order after order, and the end.
    """

    counts: NDArray[np.float32]
    bounds: NDArray[np.int64]


def make_table(layout: SmallLayout) -> NgramTable:
    """Count the n-grams of a small batch in each document.

    The keys are those of ``_core.counting.keys``, with the row of the document below the last digit. Zeros
    between documents follow the last token.
    """
    orders, bits = layout.orders, layout.bits
    row_bits = bit_length(layout.depth - 1)
    ids = np.concatenate([side.numpy() for side in layout.ids])
    slots = len(ids)
    document = np.arange(len(layout.lengths)).repeat(layout.lengths)  # (slots,)
    position = np.arange(slots) + document * (orders - 1)
    digits = np.zeros(slots + len(layout.lengths) * (orders - 1), np.int64)
    digits[position] = ids + 1
    keys = join_digits(digits, orders, bits).take(position)
    keys <<= row_bits
    keys |= (layout.group << orders * bits + row_bits | layout.row).take(document)
    keys.sort()
    # All orders one after another: whether a run of equal n-grams begins at a slot, and at the end.
    begins = np.ones(orders * slots + 1, np.bool_)
    digit = np.arange(row_bits + (orders - 1) * bits, row_bits - 1, -bits)[:, None]  # the last one of each order
    np.greater_equal(keys[1:] ^ keys[:-1], 1 << digit, out=begins[:-1].reshape(orders, slots)[:, 1:])
    inside = keys & ((1 << bits) - 1 << digit) != 0  # the n-gram ends inside its document
    shared = (inside.reshape(-1) > (begins[:-1] & begins[1:])).nonzero()[0]
    is_first = begins.take(shared)
    row = (keys & (1 << row_bits) - 1).take(shared, mode="wrap")
    ngrams = int(is_first.sum())
    cell = (is_first.cumsum() - 1) * layout.depth + row
    counts = np.bincount(cell, minlength=ngrams * layout.depth).reshape(ngrams, layout.depth)
    group_starts = keys.searchsorted(np.arange(layout.groups) << orders * bits + row_bits)
    starts = (np.arange(0, orders * slots, slots)[:, None] + group_starts).reshape(-1)
    return NgramTable(counts.astype(np.float32), np.append(shared[is_first].searchsorted(starts), ngrams))


class AggregateMatches(NamedTuple):
    """Counts of each hypothesis and its aggregate reference, multiplied by R, the number of references, which may be 0.

    Attributes:
        matches: ``(hypotheses, orders)`` int64: for each order the sum over n-grams of the minimum of two numbers: R
            times the count in the hypothesis, and the sum of the counts in the references.
        hypothesis_totals: ``(hypotheses, orders)`` int64, R times the number of n-grams of the hypothesis.
        reference_totals: ``(hypotheses, orders)`` int64, the number of n-grams of all its references.
    """

    matches: Tensor
    hypothesis_totals: Tensor
    reference_totals: Tensor


def aggregate_matches(
    hypotheses: DocumentGroups, references: DocumentGroups, max_order: int, device: torch.device
) -> AggregateMatches:
    """Count the matches of each hypothesis, in their order, with the aggregate of its group's references.

    It takes the arguments of ``_core.counting.all_pairs.all_pairs_matches``.
    """
    sides = hypotheses, references
    layouts = [layout for _, layout in small_layouts(sides, max_order)]
    if device.type == "cpu" and all(layout.is_small for layout in layouts):
        matches = torch.cat([_small_matches(layout) for layout in layouts])
    else:
        parts = [
            _pool_matches(pool, hypotheses, references, max_order)
            for pool in pools(hypotheses, references, POOL_PAIRS, device)
        ]
        matches = torch.cat(parts) if parts else torch.zeros(0, max_order, dtype=torch.int64, device=device)
    layout = layouts[0] if len(layouts) == 1 else small_layout(sides, max_order)
    return AggregateMatches(matches, *(totals.to(device) for totals in _aggregate_totals(layout)))


def small_aggregates(layout: SmallLayout) -> AggregateMatches:
    """Return the counts of ``aggregate_matches`` for a small batch."""
    return AggregateMatches(_small_matches(layout), *_aggregate_totals(layout))


def _aggregate_totals(layout: SmallLayout) -> tuple[Tensor, Tensor]:
    """Return the totals of hypotheses and references of ``AggregateMatches``."""
    first = int(layout.counts[0].sum())
    totals = np.maximum(layout.lengths[:, None] - np.arange(layout.max_order), 0)  # (documents, orders)
    reference_totals = np.zeros((layout.groups, layout.max_order), np.int64)
    np.add.at(reference_totals, layout.group[first:], totals[first:])
    group = layout.group[:first]
    hypothesis_totals = totals[:first] * layout.counts[1].take(group)[:, None]
    return torch.from_numpy(hypothesis_totals), torch.from_numpy(reference_totals.take(group, 0))


def _pool_matches(pool: Pool, hypotheses: DocumentGroups, references: DocumentGroups, max_order: int) -> Tensor:
    """Return the matches of the hypotheses of a pool, ``(hypotheses, orders)``."""
    device = pool.row.device
    counts, reference_counts = hypotheses.counts[slice(*pool.groups)], references.counts[slice(*pool.groups)]
    orders = [
        _matches(keys, order, pool, reference_counts.to(device))
        for keys in sorted_keys(pool.digits, max_order)
        for order in keys.orders
    ]
    present = owners(counts) * pool.hypothesis_lengths.shape[1] + flat_positions(counts)  # (hypotheses,)
    return torch.stack(orders, -1).flatten(0, 1).index_select(0, present.to(device))


def _small_matches(layout: SmallLayout) -> Tensor:
    """Return the matches of the hypotheses of a small batch, ``(hypotheses, orders)``."""
    counts, bounds = make_table(layout)
    first = layout.first_reference
    references = np.tile(layout.counts[1], layout.orders).repeat(np.diff(bounds))  # (ngrams,)
    scaled = counts[:, :first] * references[:, None].astype(np.float32)
    sums = np.zeros((len(counts) + 1, first), np.float32)  # of all n-grams before each
    np.minimum(scaled, counts[:, first:].sum(1, keepdims=True)).cumsum(0, out=sums[1:])
    by_order = np.diff(sums.take(bounds, 0), axis=0).reshape(layout.orders, layout.groups, first)
    hypotheses = int(layout.counts[0].sum())
    matches = np.zeros((hypotheses, layout.max_order), np.int64)
    matches[:, : layout.orders] = by_order[:, layout.group[:hypotheses], layout.row[:hypotheses]].T
    return torch.from_numpy(matches)


def _matches(keys: SortedKeys, order: int, pool: Pool, reference_counts: Tensor) -> Tensor:
    """Return the matches of one order, ``(groups, hypotheses)``, where ``reference_counts`` is ``(groups,)`` int64."""
    prefix = keys.prefix(order)
    ngram = run_starts(prefix).cumsum(0, dtype=torch.int64) - 1  # (slots,), ascending
    row = pool.row.index_select(0, keys.slot)
    is_counted = keys.valid(prefix)
    if pool.same:
        in_references = tally(ngram, len(ngram))
    else:
        is_reference = (pool.row_in_group() >= pool.first_reference).index_select(0, row)
        in_references = tally(2 * ngram + is_reference.long(), 2 * len(ngram)).view(-1, 2)[:, 1]
        is_counted = is_counted & ~is_reference & (in_references.index_select(0, ngram) > 0)
    slots = indices(is_counted)  # (slots of shared n-grams in hypotheses,)
    row_bits = bit_length(pool.rows)
    ngram_and_row = (ngram.index_select(0, slots) << row_bits) | row.index_select(0, slots)
    # One entry for each n-gram of each hypothesis, with its count.
    ngram_and_row, count = torch.unique_consecutive(torch.sort(ngram_and_row).values, return_counts=True)
    ngram, row = ngram_and_row >> row_bits, ngram_and_row & ((1 << row_bits) - 1)
    references = reference_counts.repeat_interleave(pool.depth).index_select(0, row)
    smaller = torch.minimum(references * count, in_references.index_select(0, ngram))  # (entries,)
    sums = smaller.new_zeros(pool.rows).scatter_add_(0, row, smaller)  # (rows,)
    return sums.view(pool.size, pool.depth)[:, : pool.hypothesis_lengths.shape[1]]
