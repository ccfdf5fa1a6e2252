"""The matches of every hypothesis of a group with every reference of the group, for minimum Bayes risk decoding.

For counts a and b of an n-gram in two documents, min(a, b) is the sum over t = 0, 1, ... of [a > t] [b > t]. So the
matches of all pairs are a product of two tables of ones and zeros, with a row for each document and a column for each
n-gram and t. An n-gram that few documents have gets no column: its pairs of documents are listed, and their smaller
counts are added one by one.

Example: the hypotheses ``x x y`` and ``x z``, the references ``x x`` and ``y z``. ``x`` gets two columns. ``y`` and
``z`` are each in one document of each side, so one pair is listed for each::

    column     x, t = 0   x, t = 1                     x x   y z
    x x y      1          1                   x x y    2     0 + 1
    x z        1          .           ->      x z      1     0 + 1
    x x        1          1
    y z        .          .

The sorted keys of ``_core.counting.matches`` put the equal n-grams of all documents of a group side by side. On a
device every n-gram gets columns, and torch multiplies the tables there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from ngram_metrics._core.basics.arrays import Array, count_ngrams, namespace
from ngram_metrics._core.counting.batch import Integers, join_ranges
from ngram_metrics._core.counting.matches import CELLS, count_in_runs, find_differences, sort_ngrams
from ngram_metrics._core.counting.pools import Pools

#: The number of documents of a side, and of columns, that are multiplied at a time: so few that OpenBLAS starts no
#: threads.
TILE = 64
#: The number of cells of a table, which limits memory.
TABLE_CELLS = 1 << 22
#: The number of listed pairs that are added at a time, which limits memory.
LISTED_PAIRS = 1 << 18
#: The cost of a listed pair, in multiplications of a table.
LISTED_COST = 256


def _find_runs(pools: Pools, orders: int) -> Iterator[tuple[Integers, Integers]]:
    """Find the equal n-grams that hypotheses and references share, or that have several slots if both are the same.

    Yields:
        The row of each slot's document, ``(slots,)``, and ``(3, runs)``: the matrix, the first slot and the size of
        each run of equal n-grams. The matrix is ``(order - 1) * groups + group``, and never decreases.
    """
    groups, height, _ = pools.shape
    group, row = pools.places
    if orders == 0 or len(row) == 0:
        return
    # Every document gets an end of its own, so that n-grams that leave their document are not shared.
    sizes = pools.documents.lengths + 1
    ids = pools.documents.ids.copy()
    ids[sizes.cumsum() - 1] = pools.documents.bound + row
    documents = pools.documents._replace(ids=ids, bound=pools.documents.bound + pools.rows)
    group_of_slot = group.repeat(sizes)
    orders_done = 0
    for keys, limits in sort_ngrams(documents, group, row, orders):
        differs = find_differences(keys)
        row_of_slot = keys & (int(limits[-1, 0]) - 1)
        before = np.zeros(len(differs), np.int64)  # slots of hypotheses before each slot
        np.add.accumulate(row_of_slot < height, out=before[1:])
        at_once = max(1, CELLS // len(keys))
        for first in range(0, len(limits), at_once):
            order, start = (differs >= limits[first : first + at_once]).nonzero()
            # The gap between two orders is not a run: its size is negative.
            size = start[1:] - start[:-1]
            if pools.is_same:
                shared = (size > 1).nonzero()[0]
            else:
                hypotheses = before[start[1:]] - before[start[:-1]]
                shared = ((hypotheses > 0) & (hypotheses < size)).nonzero()[0]
            start = start[shared]
            matrix = (order[shared] + first + orders_done) * groups + group_of_slot[start]
            yield row_of_slot, np.stack((matrix, start, size[shared]))
        orders_done += len(limits)
        if not len(matrix) or matrix[-1] < (orders_done - 1) * groups:
            return


def match_pairs(pools: Pools, orders: int, device: torch.device | None = None) -> Array:
    """Return the matches of all pairs in each order, ``(groups, hypotheses, references, orders)`` float32.

    They are exact below 2^24, and 0 where a group has fewer documents than another. ``device`` is where torch
    multiplies; None means NumPy.
    """
    groups, height, width = pools.shape
    matches = to_device(np.zeros((orders * groups, height, width), np.float32), device)
    for row, runs in _find_runs(pools, orders):
        # A run makes at most size * size pairs of documents.
        is_listed = runs[2] ** 2 * LISTED_COST < (height * width if device is None else 0)
        for table, matrix in _make_tables(row, runs[:, ~is_listed], pools):
            _add_products(table, matrix, pools, matches, device)
        if is_listed.any():
            _add_listed(row, runs[:, is_listed], pools, matches)
    matches = matches.reshape(orders, groups, height, width)
    if pools.is_same:
        # A document shares all its n-grams with itself.
        diagonal = np.arange(height)
        totals = count_ngrams(pools.side_lengths()[0], orders).astype(np.float32)
        matches[:, :, diagonal, diagonal] = to_device(np.moveaxis(totals, -1, 0), device)
    return namespace(matches).moveaxis(matches, 0, -1)


def to_device(array: Any, device: torch.device | None) -> Array:
    """Return an array as a tensor on a device, or unchanged if the device is None."""
    return array if device is None else torch.from_numpy(array).to(device)


def _make_tables(row: Integers, runs: Integers, pools: Pools) -> Iterator[tuple[Any, Integers]]:
    """Yield tables ``(rows, columns)`` bool, and the matrix of each ``TILE`` columns."""
    for some, column, matrix in _lay_out(runs[0], pools):
        columns = len(matrix) * TILE
        _, start, size = runs[:, some]
        cells = row[join_ranges(start, size)] * columns + column.repeat(size)
        counts = np.bincount(cells, minlength=pools.rows * columns).reshape(pools.rows, columns)
        yield counts > 0, matrix
        # The columns with t > 0.
        most = np.minimum(counts[: pools.shape[1]].max(0), counts[pools.first_reference :].max(0))
        repeated = (most > 1).nonzero()[0]
        times = most[repeated] - 1
        t = join_ranges(np.ones_like(times), times)
        repeated = repeated.repeat(times)
        for more, column, its_matrix in _lay_out(matrix[repeated // TILE], pools):
            table = np.zeros((pools.rows, len(its_matrix) * TILE), np.bool_)
            table[:, column] = counts[:, repeated[more]] > t[more]
            yield table, its_matrix


def _lay_out(matrix: Integers, pools: Pools) -> Iterator[tuple[slice, Any, Integers]]:
    """Lay out columns, sorted by matrix, in tables. Each tile of a table has columns of one matrix only.

    Yields:
        For each table which columns it has, their positions in it, and the matrix of each of its tiles.
    """
    columns = np.bincount(matrix)
    tiles = -(-columns // TILE)
    shift = (tiles.cumsum() - tiles) * TILE - (columns.cumsum() - columns)
    position = np.arange(len(matrix)) + shift.repeat(columns)
    tile_matrix = np.arange(len(columns)).repeat(tiles)
    at_once = max(1, TABLE_CELLS // (TILE * pools.rows))
    for first in range(0, len(tile_matrix), at_once):
        start, stop = position.searchsorted((first * TILE, (first + at_once) * TILE))
        yield slice(start, stop), position[start:stop] - first * TILE, tile_matrix[first : first + at_once]


def _add_products(table: Any, matrix: Integers, pools: Pools, matches: Array, device: torch.device | None) -> None:
    """Multiply the tiles of a table, and add each product in place to its matrix of matches."""
    _, height, width = pools.shape
    table = to_device(table.astype(np.float32), device).reshape(pools.rows, len(matrix), TILE).swapaxes(0, 1)
    hypotheses = table[:, :height]
    references = table[:, pools.first_reference :].swapaxes(1, 2)
    if device is not None:
        # Under autocast the products would have another dtype than the matches.
        with torch.autocast(device.type, enabled=False):
            matches.index_add_(0, to_device(matrix, device), hypotheses @ references)
        return
    # The tiles of one matrix are next to one another.
    is_first = np.append(True, matrix[1:] != matrix[:-1])
    starts = is_first.nonzero()[0]
    stops = np.append(starts[1:], len(matrix))
    ranges = list(zip(matrix[starts].tolist(), starts.tolist(), stops.tolist(), strict=True))
    for top in range(0, height, TILE):
        for left in range(0, width, TILE):
            products = hypotheses[:, top : top + TILE] @ references[:, :, left : left + TILE]
            part = matches[:, top : top + TILE, left : left + TILE]
            for index, start, stop in ranges:
                part[index] += np.add.reduce(products[start:stop])


def _add_listed(row: Integers, runs: Integers, pools: Pools, matches: Any) -> None:
    """Add the smaller count of each pair of documents in a run to the matches, in place."""
    _, height, width = pools.shape
    matrix, start, size = runs
    run, row, counts = count_in_runs(row, start, size, pools.rows)  # an entry for each document of each run
    references = np.bincount(run[row >= pools.first_reference], minlength=len(size))  # of each run
    first_reference = np.bincount(run).cumsum() - references  # the entry of the first reference of each run
    hypothesis = (row < height).nonzero()[0]  # the entries of hypotheses
    run = run[hypothesis]
    cell = (matrix[run] * height + row[hypothesis]) * width - pools.first_reference
    pairs = references[run]  # of each hypothesis in its run
    ends = pairs.cumsum()
    flat = matches.reshape(-1)
    first = 0
    while first < len(ends):
        stop = max(first + 1, int(ends.searchsorted(ends[first] - pairs[first] + LISTED_PAIRS, side="right")))
        some = slice(first, stop)
        reference = join_ranges(first_reference[run[some]], pairs[some])
        smaller = np.minimum(counts[hypothesis[some]].repeat(pairs[some]), counts[reference])
        np.add.at(flat, cell[some].repeat(pairs[some]) + row[reference], smaller.astype(np.float32))
        first = stop


def match_aggregates(pools: Pools, orders: int) -> Integers:
    """Return the matches of each hypothesis with all references of its group together.

    An n-gram counts as often as all references together have it, but at most as often as the hypothesis has it times
    the number of references. The matches are ``(groups, hypotheses, orders)``.
    """
    groups, height, _ = pools.shape
    matches = np.zeros((orders, groups, height), np.int64)
    if pools.is_same:
        # A document shares all its n-grams with itself. The n-grams in runs are corrected below.
        matches += np.moveaxis(count_ngrams(pools.side_lengths()[0], orders), -1, 0)
    flat = matches.reshape(-1)
    for row, (matrix, start, size) in _find_runs(pools, orders):
        run, row, counts = count_in_runs(row, start, size, pools.rows)
        together = np.bincount(run, counts * (row >= pools.first_reference)).astype(np.int64)
        is_hypothesis = row < height
        run, row, counts = run[is_hypothesis], row[is_hypothesis], counts[is_hypothesis]
        matrix = matrix[run]
        smaller = np.minimum(counts * pools.references[matrix % groups], together[run])
        np.add.at(flat, matrix * height + row, smaller - counts if pools.is_same else smaller)
    return np.moveaxis(matches, 0, -1)
