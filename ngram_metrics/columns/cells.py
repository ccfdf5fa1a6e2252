"""What the cells of a table hold, checked: texts, references, sums of counts, and the groups of rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from typing import NamedTuple

import numpy as np

from ngram_metrics._core.text.messages import NameOf, shortened, type_name
from ngram_metrics.columns.table_types import Cell, Frame, Integers, Table

_LARGEST = (1 << 63) - 1


class RowGroups(NamedTuple):
    """The groups of rows, in the order in which they first occur."""

    #: How many there are.
    size: int
    #: The first row of each, ``(groups,)``, or ``(0,)`` if all rows are one group, even without rows.
    first_rows: Integers
    #: The index of the group of each row, ``(rows,)``.
    indices: Integers


def read_texts(table: Table[Frame], name: str, rows: slice) -> list[str]:
    """Return the texts of some rows, or raise TypeError for a cell that is not text."""
    cells = table.values(name, rows)
    _check_texts(cells, _name_rows(name, rows))
    return cells


def read_references(table: Table[Frame], name: str, rows: slice) -> list[str] | list[list[str]]:
    """Return the reference of each of some rows, or the references of each if any cell is a list.

    Raises TypeError for a cell that is not text, and ValueError for an empty list.
    """
    name_of = _name_rows(name, rows)
    cells = table.values(name, rows)
    if any(issubclass(kind, np.ndarray) for kind in set(map(type, cells))):
        cells = [cell.tolist() if isinstance(cell, np.ndarray) else cell for cell in cells]
    _check_texts(cells, name_of, others=(list, tuple))
    if set(map(type, cells)).isdisjoint((list, tuple)):
        return cells
    rows_of_references = [[cell] if isinstance(cell, str) else list(cell) for cell in cells]
    for index, references in enumerate(rows_of_references):
        if not references:
            raise ValueError(f"{name_of(index)} is an empty list: expected at least one reference")
        _check_texts(references, partial("reference {1} of {0}".format, name_of(index)))
    return rows_of_references


def read_integers(table: Table[Frame], names: Sequence[str]) -> Integers:
    """Return columns of sums as integers, ``(rows, columns)``, or raise TypeError or ValueError."""
    columns = np.empty((table.rows, len(names)), np.int64)
    for index, name in enumerate(names):
        integers = table.integers(name)
        columns[:, index] = _checked_integers(table.values(name), name) if integers is None else integers
        if (negative := columns[:, index] < 0).any():
            row = int(negative.argmax())
            raise ValueError(f"row {row} of {name!r} is {columns[row, index]}: expected a sum of counts, at least 0")
    return columns


def group_rows(table: Table[Frame], by: Sequence[str]) -> RowGroups:
    """Return the groups of rows that are equal in some columns, or raise TypeError for a cell such as a list."""
    if not by:
        return RowGroups(1, np.zeros(0, np.int64), np.zeros(table.rows, np.int64))
    for name in by:
        table.check(name)
    groups: dict[tuple[Cell, ...], int] = {}
    try:
        keys = zip(*([_group_key(value) for value in table.keys(name)] for name in by), strict=True)
        indices = np.array([groups.setdefault(key, len(groups)) for key in keys], np.int64)
    except TypeError as error:
        raise TypeError(f"rows cannot be grouped by {list(by)}: {error}") from error
    return RowGroups(len(groups), np.unique(indices, return_index=True)[1], indices)


def add_to_groups(totals: Integers, indices: Integers, counts: Integers) -> None:
    """Add rows of counts ``(rows, columns)``, at least 0, to the totals of their groups ``(groups, columns)``.

    Raises OverflowError for a total of 2^63 or more.
    """
    if not len(counts):
        return
    order = np.argsort(indices, kind="stable")
    starts = np.flatnonzero(np.diff(indices[order], prepend=-1))
    added = np.add.reduceat(counts[order], starts, axis=0)
    # A sum that does not fit is wrong by a multiple of 2^64, a sum of floating-point numbers by much less than 2^62.
    if int(counts.max()) * len(counts) > _LARGEST:
        errors = np.add.reduceat(counts[order].astype(np.float64), starts, axis=0) - added
        if (np.abs(errors) > 2.0**62).any():
            raise OverflowError
    totals[indices[order[starts]]] += added


def _group_key(value: Cell) -> Cell:
    """Return the value that is compared: all NaN are one group, as in every engine."""
    return math.nan if isinstance(value, (float, np.floating)) and value != value else value


def _name_rows(name: str, rows: slice) -> NameOf:
    return lambda index: f"row {rows.start + index} of {name!r}"


def _check_texts(cells: Sequence[Cell], name_of: NameOf, others: tuple[type, ...] = ()) -> None:
    """Raise TypeError for a cell that is neither text nor of the other types."""
    if set(map(type, cells)) <= {str, *others}:
        return
    for index, cell in enumerate(cells):
        if not isinstance(cell, (str, *others)):
            raise TypeError(f"{name_of(index)} is {_describe(cell)}: expected text")


def _checked_integers(cells: Sequence[Cell], name: str) -> list[int]:
    """Return integers of any type, including decimal numbers without a fraction, as some engines return sums."""
    integers = []
    for row, cell in enumerate(cells):
        where = f"row {row} of {name!r}"
        if isinstance(cell, (float, np.floating)):
            raise TypeError(
                f"{where} is a floating-point number, {cell}, which may be rounded: expected integers, in SQL "
                f"CAST(sum(...) AS BIGINT)"
            )
        is_whole = isinstance(cell, (int, np.integer)) or (
            isinstance(cell, Decimal) and cell.is_finite() and cell == cell.to_integral_value()
        )
        if isinstance(cell, bool) or not is_whole:
            raise TypeError(f"{where} is {_describe(cell)}: expected an integer, the sum of a column of counts")
        value = cell if isinstance(cell, Decimal) else int(cell)  # a Decimal may have more digits than fit into memory
        if not -_LARGEST <= value <= _LARGEST:
            raise ValueError(f"{where} is {shortened(cell)}: expected a sum below 2^63")
        integers.append(int(value))
    return integers


def _describe(cell: object) -> str:
    return "null" if cell is None else f"{type_name(cell)}, {shortened(cell)}"
