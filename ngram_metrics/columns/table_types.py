"""The tables that hold columns: of pyarrow, pandas or polars, or mappings of names to columns.

Each library is imported by those who hold its tables; this module asks only those that are imported already.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ngram_metrics.text.messages import did_you_mean, pluralize, shortened, type_name

#: A table of any library: what is given has the type of what is returned.
AnyTable = TypeVar("AnyTable")
#: Columns by their names.
Columns: TypeAlias = dict[str, NDArray[Any]]
#: Numbers of rows, or columns of integers.
Integers: TypeAlias = NDArray[np.int64]
#: What precedes the name of a metric in the metadata of a schema.
_DIGEST = b"ngram_metrics."


class Table(ABC):
    """A table of one library, read column by column.

    Args:
        native: the table as it was given.
        shown: what errors call it, such as ``the batch``.

    Attributes:
        names: the names of the columns.
        rows: the number of rows.
    """

    names: list[Any]
    rows: int

    def __init__(self, native: Any, shown: str) -> None:
        self.native = native
        self.shown = shown

    def check(self, name: str) -> None:
        """Raise ValueError if there is not exactly one column with this name."""
        count = self.names.count(name)
        if count > 1:
            raise ValueError(f"{self.shown} has {count} columns {name!r}: expected one")
        if count == 0:
            names = list(map(str, self.names))
            expected = f"expected it among {shortened(names, 200)}"
            raise ValueError(f"{self.shown} has no column {name!r}: {expected}{did_you_mean(name, names)}")

    def indices(self, names: Sequence[Any]) -> list[int]:
        """Return the indices of columns that are there once."""
        return list(map(self.names.index, names))

    @abstractmethod
    def column(self, name: str) -> Any:
        """Return a column as its library has it."""

    @abstractmethod
    def values(self, name: str, rows: slice = slice(None)) -> list[Any]:
        """Return some values of a column, by default all, with None for what is missing."""

    def keys(self, name: str) -> list[Any]:
        """Return the values of a column by which rows are grouped: integers for times by the nanosecond."""
        integers = _nanoseconds(self.column(name))
        return self.values(name) if integers is None else _to_list(integers)

    @abstractmethod
    def integers(self, name: str) -> Integers | None:
        """Return a column as int64, or None if its type is not one of integers, or a value is missing."""

    @abstractmethod
    def add_columns(
        self, indices: Sequence[int], rows: Integers | None, added: Columns, digests: Mapping[str, str]
    ) -> Any:
        """Return a table of the same type.

        Args:
            indices: the columns to keep: their names need not differ.
            rows: the numbers of rows to keep; None for all.
            added: columns to add behind them.
            digests: for each metric a digest of its settings, where the type has a place for it.
        """

    @property
    def digests(self) -> Mapping[str, str]:
        """The digests that ``add_columns`` wrote into a table, as far as they are still there."""
        return {}


class ArrowTable(Table):
    """A ``Table`` or a ``RecordBatch`` of pyarrow."""

    def __init__(self, native: Any, shown: str) -> None:
        super().__init__(native, shown)
        self.names = native.schema.names
        self.rows = native.num_rows

    def column(self, name: str) -> Any:
        return self.native.column(name)

    def values(self, name: str, rows: slice = slice(None)) -> list[Any]:
        return self.column(name)[rows].to_pylist()

    def integers(self, name: str) -> Integers | None:
        column = self.column(name)
        types = sys.modules["pyarrow"].types
        if column.null_count or not types.is_integer(column.type) or types.is_uint64(column.type):
            return None
        return np.asarray(column).astype(np.int64, copy=False)

    def add_columns(
        self, indices: Sequence[int], rows: Integers | None, added: Columns, digests: Mapping[str, str]
    ) -> Any:
        pyarrow = sys.modules["pyarrow"]
        left = self.native.select(list(indices))
        kept_columns = left.columns if rows is None else [_take(column, rows) for column in left.columns]
        new_columns = {name: pyarrow.array(column) for name, column in added.items()}
        others = {key: value for key, value in (left.schema.metadata or {}).items() if not key.startswith(_DIGEST)}
        metadata = others | {_DIGEST + metric.encode(): digest for metric, digest in digests.items()}
        fields = [*left.schema, *(pyarrow.field(name, column.type) for name, column in new_columns.items())]
        schema = pyarrow.schema(fields, metadata=metadata or None)
        return type(self.native).from_arrays([*kept_columns, *new_columns.values()], schema=schema)

    @property
    def digests(self) -> Mapping[str, str]:
        metadata = self.native.schema.metadata or {}
        return {
            key.removeprefix(_DIGEST).decode(errors="replace"): value.decode(errors="replace")
            for key, value in metadata.items()
            if key.startswith(_DIGEST)
        }


class PandasTable(Table):
    """A ``DataFrame`` of pandas."""

    def __init__(self, native: Any, shown: str) -> None:
        super().__init__(native, shown)
        self.names = list(native.columns)
        self.rows = len(native)

    def column(self, name: str) -> Any:
        return self.native[name]

    def values(self, name: str, rows: slice = slice(None)) -> list[Any]:
        column = self.column(name).iloc[rows]
        values = column.tolist()
        missing = column.isna()
        return (
            [None if none else value for value, none in zip(values, missing, strict=True)] if missing.any() else values
        )

    def integers(self, name: str) -> Integers | None:
        dtype = self.column(name).dtype
        return self.column(name).to_numpy(np.int64) if _fits_int64(dtype) else None

    def add_columns(
        self, indices: Sequence[int], rows: Integers | None, added: Columns, digests: Mapping[str, str]
    ) -> Any:
        left = self.native.iloc[:, list(indices)]
        left = left if rows is None else left.iloc[rows].reset_index(drop=True)
        pandas = sys.modules["pandas"]
        # All at once: a frame to which columns are added one after another is in many pieces.
        beside = pandas.DataFrame(dict(added), index=left.index if rows is None else None)
        return pandas.concat([left, beside], axis=1)


class PolarsTable(Table):
    """A ``DataFrame`` of polars."""

    def __init__(self, native: Any, shown: str) -> None:
        super().__init__(native, shown)
        self.names = native.columns
        self.rows = native.height

    def column(self, name: str) -> Any:
        return self.native[name]

    def values(self, name: str, rows: slice = slice(None)) -> list[Any]:
        return self.column(name)[rows].to_list()

    def integers(self, name: str) -> Integers | None:
        column = self.column(name)
        polars = sys.modules["polars"]
        small = (polars.Int64, polars.Int32, polars.Int16, polars.Int8, polars.UInt32, polars.UInt16, polars.UInt8)
        return None if column.dtype not in small or column.null_count() else column.cast(polars.Int64).to_numpy()

    def add_columns(
        self, indices: Sequence[int], rows: Integers | None, added: Columns, digests: Mapping[str, str]
    ) -> Any:
        left = self.native[:, list(indices)]
        left = left if rows is None else left[rows]
        polars = sys.modules["polars"]
        # A frame without columns has no rows.
        return polars.concat([left, polars.DataFrame(dict(added))], how="horizontal")


class MappingTable(Table):
    """A mapping of names to arrays or lists of equal length, such as a batch of Ray."""

    def __init__(self, native: Mapping[str, Any], shown: str) -> None:
        super().__init__(native, shown)
        self.names = list(native)
        for name, column in native.items():
            is_column = hasattr(column, "__getitem__") and hasattr(column, "__len__") and getattr(column, "ndim", 1) > 0
            if isinstance(column, (str, bytes, Mapping)) or not is_column:
                raise TypeError(f"column {name!r} of {shown} is {type_name(column)}: expected an array or a list")
        lengths = {name: len(column) for name, column in native.items()}
        self.rows = next(iter(lengths.values()), 0)
        for name, length in lengths.items():
            if length != self.rows:
                first = f"column {self.names[0]!r} of {shown} has {pluralize(self.rows, 'row')}"
                raise ValueError(f"{first} and column {name!r} has {length}: expected the same number")

    def column(self, name: str) -> Any:
        return self.native[name]

    def values(self, name: str, rows: slice = slice(None)) -> list[Any]:
        values = _to_list(self.column(name)[rows])
        return [None if isinstance(value, float) and value != value else value for value in values]

    def integers(self, name: str) -> Integers | None:
        column = self.column(name)
        is_array = isinstance(column, np.ndarray) and column.ndim == 1 and not np.ma.is_masked(column)
        return np.asarray(column).astype(np.int64, copy=False) if is_array and _fits_int64(column.dtype) else None

    def add_columns(
        self, indices: Sequence[int], rows: Integers | None, added: Columns, digests: Mapping[str, str]
    ) -> Any:
        def left(column: Any) -> Any:
            if rows is None:
                return column
            if isinstance(column, np.ndarray):
                return column[rows]
            values = _to_list(column)
            return [values[row] for row in rows]

        names = [self.names[index] for index in indices]
        return {**{name: left(self.column(name)) for name in names}, **added}


def _fits_int64(dtype: object) -> bool:
    """Return whether a dtype is one of numpy, and not of pandas alone, whose numbers all fit into int64."""
    return isinstance(dtype, np.dtype) and dtype.kind in "iu" and dtype != np.uint64


def _to_list(column: Any) -> list[Any]:
    """Return the values of a column of a mapping: a list, an array, or a column of any library."""
    for method in ("tolist", "to_pylist", "to_list"):
        if hasattr(column, method):
            values: list[Any] = getattr(column, method)()
            return values
    return list(column)


def _nanoseconds(column: Any) -> Any | None:
    """Return a column of times by the nanosecond as integers, None for any other column.

    Values of Python's types, which end at microseconds, would make one group of several.
    """
    dtype = getattr(column, "dtype", None)
    if hasattr(dtype, "pyarrow_dtype"):  # of pandas, with an array of pyarrow inside
        column = sys.modules["pyarrow"].chunked_array([column])
    name = type(column).__module__.partition(".")[0]
    library = sys.modules.get(name)
    if library is not None and name == "polars":
        is_exact = getattr(dtype, "time_unit", None) == "ns" or dtype == library.Time
        return column.to_physical() if is_exact else None
    if library is None or name != "pyarrow":
        return None
    if library.types.is_run_end_encoded(column.type):
        from pyarrow.compute import run_end_decode

        column = run_end_decode(column)
    if library.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.cast(library.int64()) if getattr(column.type, "unit", None) == "ns" else None


def _take(column: Any, rows: Integers) -> Any:
    """Return some rows of a column of pyarrow, which takes rows of all types but views and runs."""
    pyarrow = sys.modules["pyarrow"]
    try:
        return column.take(pyarrow.array(rows))
    except pyarrow.ArrowNotImplementedError:
        parts = [column.slice(row, 1) for row in rows.tolist()]
    if isinstance(column, pyarrow.ChunkedArray):
        return pyarrow.chunked_array([chunk for part in parts for chunk in part.chunks], column.type)
    return pyarrow.concat_arrays([column.slice(0, 0), *parts])


def wrap_table(native: Any, shown: str) -> Table:
    """Return a table of a known type, for which a stream of Arrow data is read to its end.

    Raises:
        TypeError: another type.
        ValueError: a mapping of columns of different lengths.
    """
    table_type = _table_type(native)
    if table_type is not None:
        return table_type(native, shown)
    stream = open_stream(native)
    if stream is not None:
        return ArrowTable(stream.read_all(), shown)
    if isinstance(native, Mapping):
        return MappingTable(native, shown)
    raise TypeError(
        f"{shown} is {type_name(native)}: expected a pyarrow Table or RecordBatch, a pandas or polars DataFrame, "
        "a stream of Arrow data, or a mapping of columns"
    )


def open_stream(native: Any) -> Any | None:
    """Return the pyarrow RecordBatchReader of an object that has ``__arrow_c_stream__``, or None for a table."""
    if _table_type(native) is not None or not hasattr(native, "__arrow_c_stream__"):
        return None
    import pyarrow

    return pyarrow.RecordBatchReader.from_stream(native)


def _table_type(native: object) -> type[Table] | None:
    """Return the class for tables of a library."""
    table_types: dict[tuple[str, str], type[Table]] = {
        ("pyarrow", "Table"): ArrowTable,
        ("pyarrow", "RecordBatch"): ArrowTable,
        ("pandas", "DataFrame"): PandasTable,
        ("polars", "DataFrame"): PolarsTable,
    }
    for (module, name), table_type in table_types.items():
        if module in sys.modules and isinstance(native, getattr(sys.modules[module], name)):
            return table_type
    return None
