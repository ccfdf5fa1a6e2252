"""The tables that hold columns: of pyarrow, pandas or polars, or mappings of names to columns.

Whoever passes a table has imported its library, so this module imports none.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ngram_metrics._core.text.foreign_values import column_values, frame_package
from ngram_metrics._core.text.messages import did_you_mean, pluralize, shortened, type_name

if TYPE_CHECKING:
    import pyarrow

#: A table of any library.
AnyTable = TypeVar("AnyTable")
#: A table, a column and a value of a column, as their library has them.
Frame: TypeAlias = Any
Column: TypeAlias = Any
Cell: TypeAlias = Any
#: Columns by their names.
Columns: TypeAlias = dict[str, NDArray[Any]]
#: Numbers of rows, or columns of integers.
Integers: TypeAlias = NDArray[np.int64]
#: For each metric a digest of its settings.
Digests: TypeAlias = Mapping[str, str]
#: The beginning of the keys of digests in the metadata of a schema.
_DIGEST = b"ngram_metrics."


class Table(ABC, Generic[AnyTable]):
    """A table of one library, read column by column, with a label for errors, such as ``the batch``."""

    def __init__(self, native: AnyTable, label: str, names: Sequence[Cell], rows: int) -> None:
        self.native: Frame = native
        self.label = label
        self.names = list(names)
        self.rows = rows

    def check(self, name: str) -> None:
        """Raise ValueError if there is not exactly one column with this name."""
        count = self.names.count(name)
        if count > 1:
            raise ValueError(f"{self.label} has {count} columns {name!r}: expected one")
        if count == 0:
            names = list(map(str, self.names))
            expected = f"expected it among {shortened(names, 200)}"
            raise ValueError(f"{self.label} has no column {name!r}: {expected}{did_you_mean(name, names)}")

    def indices(self, names: Sequence[str]) -> list[int]:
        """Return the indices of columns, each of which is there once."""
        return list(map(self.names.index, names))

    def values(self, name: str, rows: slice = slice(None)) -> list[Cell]:
        """Return some values of a column, by default all, with None for missing ones."""
        return column_values(self.native[name][rows])

    def keys(self, name: str) -> list[Cell]:
        """Return the values of a column by which rows are grouped: integers for times by the nanosecond."""
        integers = _nanoseconds(self.native[name])
        return self.values(name) if integers is None else column_values(integers)

    @abstractmethod
    def integers(self, name: str) -> Integers | None:
        """Return a column of integers as int64, or None if it has another type or a missing value."""

    @abstractmethod
    def add_columns(self, indices: Sequence[int], rows: Integers | None, added: Columns, digests: Digests) -> AnyTable:
        """Return a table of the same type with some columns and rows, None for all rows, followed by other columns.

        The names of the columns to keep need not differ. ``digests`` are written if the type has a place for them.
        """

    @property
    def digests(self) -> Digests:
        """The digests that ``add_columns`` has written, as far as they are still there."""
        return {}


class ArrowTable(Table[Frame]):
    """A ``Table`` or a ``RecordBatch`` of pyarrow."""

    def integers(self, name: str) -> Integers | None:
        column = self.native[name]
        types = sys.modules["pyarrow"].types
        if column.null_count or not types.is_integer(column.type) or types.is_uint64(column.type):
            return None
        return np.asarray(column).astype(np.int64, copy=False)

    def add_columns(self, indices: Sequence[int], rows: Integers | None, added: Columns, digests: Digests) -> Frame:
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
    def digests(self) -> Digests:
        metadata = self.native.schema.metadata or {}
        return {
            key.removeprefix(_DIGEST).decode(errors="replace"): value.decode(errors="replace")
            for key, value in metadata.items()
            if key.startswith(_DIGEST)
        }


class PandasTable(Table[Frame]):
    """A ``DataFrame`` of pandas."""

    def values(self, name: str, rows: slice = slice(None)) -> list[Cell]:
        return column_values(self.native[name].iloc[rows])

    def integers(self, name: str) -> Integers | None:
        column = self.native[name]
        return column.to_numpy(np.int64) if _fits_int64(column.dtype) else None

    def add_columns(self, indices: Sequence[int], rows: Integers | None, added: Columns, digests: Digests) -> Frame:
        left = self.native.iloc[:, list(indices)]
        left = left if rows is None else left.iloc[rows].reset_index(drop=True)
        pandas = sys.modules["pandas"]
        # All at once, because adding columns one after another fragments the frame.
        beside = pandas.DataFrame(dict(added), index=left.index if rows is None else None)
        return pandas.concat([left, beside], axis=1)


class PolarsTable(Table[Frame]):
    """A ``DataFrame`` of polars."""

    def integers(self, name: str) -> Integers | None:
        column = self.native[name]
        polars = sys.modules["polars"]
        small = (polars.Int64, polars.Int32, polars.Int16, polars.Int8, polars.UInt32, polars.UInt16, polars.UInt8)
        return None if column.dtype not in small or column.null_count() else column.cast(polars.Int64).to_numpy()

    def add_columns(self, indices: Sequence[int], rows: Integers | None, added: Columns, digests: Digests) -> Frame:
        left = self.native[:, list(indices)]
        left = left if rows is None else left[rows]
        polars = sys.modules["polars"]
        # A frame without columns has no rows.
        return polars.concat([left, polars.DataFrame(dict(added))], how="horizontal")


class MappingTable(Table[Mapping[str, Column]]):
    """A mapping of names to arrays or lists of equal length, such as a batch of Ray."""

    def __init__(self, native: Mapping[str, Column], label: str) -> None:
        for name, column in native.items():
            is_column = hasattr(column, "__getitem__") and hasattr(column, "__len__") and getattr(column, "ndim", 1) > 0
            if isinstance(column, (str, bytes, Mapping)) or not is_column:
                raise TypeError(f"column {name!r} of {label} is {type_name(column)}: expected an array or a list")
        super().__init__(native, label, list(native), len(next(iter(native.values()), ())))
        for name, column in native.items():
            if len(column) != self.rows:
                first = f"column {self.names[0]!r} of {label} has {pluralize(self.rows, 'row')}"
                raise ValueError(f"{first} and column {name!r} has {len(column)}: expected the same number")

    def values(self, name: str, rows: slice = slice(None)) -> list[Cell]:
        return [None if isinstance(value, float) and value != value else value for value in super().values(name, rows)]

    def integers(self, name: str) -> Integers | None:
        column = self.native[name]
        is_array = isinstance(column, np.ndarray) and column.ndim == 1 and not np.ma.is_masked(column)
        return np.asarray(column).astype(np.int64, copy=False) if is_array and _fits_int64(column.dtype) else None

    def add_columns(
        self, indices: Sequence[int], rows: Integers | None, added: Columns, digests: Digests
    ) -> dict[str, Column]:
        columns = {self.names[index]: self.native[self.names[index]] for index in indices}
        if rows is not None:
            for name, column in columns.items():
                values = None if isinstance(column, np.ndarray) else column_values(column)
                columns[name] = column[rows] if values is None else [values[row] for row in rows]
        return {**columns, **added}


def _fits_int64(dtype: object) -> bool:
    """Return whether a dtype is one of numpy whose numbers all fit into int64."""
    return isinstance(dtype, np.dtype) and dtype.kind in "iu" and dtype != np.uint64


def _nanoseconds(column: Column) -> Column | None:
    """Return a column of times by the nanosecond as integers, because Python's types end at microseconds, or None."""
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


def _take(column: Column, rows: Integers) -> Column:
    """Return some rows of a column of pyarrow, also of views and runs, which ``take`` lacks."""
    pyarrow = sys.modules["pyarrow"]
    try:
        return column.take(pyarrow.array(rows))
    except pyarrow.ArrowNotImplementedError:
        parts = [column.slice(row, 1) for row in rows.tolist()]
    if isinstance(column, pyarrow.ChunkedArray):
        return pyarrow.chunked_array([chunk for part in parts for chunk in part.chunks], column.type)
    return pyarrow.concat_arrays([column.slice(0, 0), *parts])


def wrap_table(native: AnyTable, label: str) -> Table[AnyTable]:
    """Return a table of any known type, or all of a stream of Arrow data, or raise TypeError."""
    stream = open_stream(native)
    frame: Frame = native if stream is None else stream.read_all()
    package = frame_package(frame)
    if package == "pyarrow":
        return ArrowTable(frame, label, frame.schema.names, frame.num_rows)
    if package is not None and hasattr(frame, "shape"):  # a lazy frame has no rows yet
        kind = PandasTable if package == "pandas" else PolarsTable
        return kind(frame, label, frame.columns, len(frame))
    if isinstance(frame, Mapping):
        return MappingTable(frame, label)  # type: ignore[return-value]
    raise TypeError(
        f"{label} is {type_name(native)}: expected a pyarrow Table or RecordBatch, a pandas or polars DataFrame, "
        "a stream of Arrow data, or a mapping of columns"
    )


def open_stream(native: object) -> pyarrow.RecordBatchReader | None:
    """Return the reader of an object that has ``__arrow_c_stream__``, or None for a table."""
    if frame_package(native) is not None or not hasattr(native, "__arrow_c_stream__"):
        return None
    import pyarrow

    return pyarrow.RecordBatchReader.from_stream(native)
