"""Values of other packages: tensors, arrays, and columns of tables.

No package but NumPy is imported here: whoever passes an object of another one has imported it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ngram_metrics._core.text.messages import type_name

if TYPE_CHECKING:
    from torch import Tensor

#: The types of integers, ``bool`` included, and of floating-point numbers.
INTEGER_TYPES = (int, np.integer)
FLOAT_TYPES = (float, np.floating)
#: The types of tables with several columns, by package.
_FRAMES: dict[str, tuple[str, ...]] = {
    "pandas": ("DataFrame",),
    "polars": ("DataFrame", "LazyFrame"),
    "pyarrow": ("Table", "RecordBatch"),
}


def tensor_types() -> tuple[type[Tensor], ...]:
    """Return the type of tensors for ``isinstance``, or an empty tuple if torch is not imported."""
    torch: Any = sys.modules.get("torch")
    # While another thread imports torch, it may not have the type yet.
    return (torch.Tensor,) if hasattr(torch, "Tensor") else ()


def tensor_and_array_types() -> tuple[type[Tensor] | type[np.ndarray[Any, Any]], ...]:
    """Return the types of tensors and arrays, for ``isinstance``."""
    return (*tensor_types(), np.ndarray)


def list_on_host(rows: Sequence[Any]) -> list[Any]:
    """Return rows with 1-D tensors as lists. Tensors of an accelerator come in one copy, because each copy waits."""
    types = tensor_types()
    indices = [index for index, row in enumerate(rows) if isinstance(row, types)]
    tensors = [rows[index] for index in indices]
    if tensors and tensors[0].device.type != "cpu" and len({row.device for row in tensors}) == 1:
        joined = sys.modules["torch"].cat(tensors).cpu()
        tensors = list(joined.split(list(map(len, tensors))))
    listed = list(rows)
    for index, tensor in zip(indices, tensors, strict=True):
        listed[index] = tensor.tolist()
    return listed


def is_sequence_like(value: object) -> bool:
    """Return whether an object has a length and items, and is not text, a mapping or a set."""
    has_items = hasattr(value, "__iter__") or hasattr(value, "__getitem__")
    return hasattr(value, "__len__") and has_items and not isinstance(value, (str, bytes, Mapping, Set))


def refuse_missing(value: object, where: str) -> None:
    """Raise TypeError for what data frames have in place of a missing text: None, a NaN or the NA of pandas."""
    is_nan = isinstance(value, FLOAT_TYPES) and value != value
    if value is None or is_nan or type(value).__name__ == "NAType":
        is_present = "r is not None" if value is None else "isinstance(r, str)"
        raise TypeError(
            f"{where} is a missing value, {value}: pass '' for a missing prediction, and remove missing references, "
            f"for example with [r for r in references if {is_present}]"
        )


def sequence_advice(value: object) -> str:
    """Return advice for an error on how to turn an object into a sequence, or an empty string."""
    if isinstance(value, Mapping):
        return '; pass its ["input_ids"]' if "input_ids" in value else "; pass a list of its values"
    if isinstance(value, bytes):
        return "; decode it with .decode()"
    if hasattr(value, "ids"):  # an Encoding of tokenizers
        return "; pass its .ids"
    return "; convert it with list(...)" if isinstance(value, Iterable) and not isinstance(value, str) else ""


def frame_package(value: object) -> Literal["pandas", "polars", "pyarrow"] | None:
    """Return the package of a table with named columns, such as a data frame, or None for any other object."""
    for base in type(value).__mro__:
        package = base.__module__.partition(".")[0]
        if base.__name__ in _FRAMES.get(package, ()):
            return package  # type: ignore[return-value]
    return None


def list_column(value: object, where: str) -> Any:
    """Return a column of pyarrow, polars or pandas as a list, with None for missing values, or any other object.

    Raises TypeError for a table with several columns. ``where`` is its name in the message.
    """
    if isinstance(value, (str, list, tuple, Mapping, *tensor_and_array_types())):
        return value
    package = frame_package(value)
    if package is not None:
        name = type_name(value)
        table = f"{where}.collect()" if hasattr(value, "collect") else where
        raise TypeError(f"{where} is {name} of {package}: expected one of its columns, such as {table}['text']")
    return column_values(value) if _reading_method(value) is not None else value


def column_values(column: Any) -> list[Any]:
    """Return the values of a list, an array or a column of any library. Missing values of a column become None."""
    read = _reading_method(column)
    values: list[Any] = list(column) if read is None else read()
    # A missing text in pandas may be a NaN.
    missing = column.isna() if hasattr(column, "isna") else None
    if missing is None or not missing.any():
        return values
    return [None if is_missing else value for value, is_missing in zip(values, missing, strict=True)]


def _reading_method(column: object) -> Callable[[], list[Any]] | None:
    """Return the method that reads an array or a column as a list."""
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            return getattr(column, method)
    return None


def list_values(values: Any, where: str) -> list[Any]:
    """Return the labels in a sequence, an array or a column of a table as a list.

    Times in nanoseconds stay NumPy objects, because Python's are coarser. The errors are those of ``list_column``.
    """
    values = list_column(values, where)
    listed = column_values(values)
    if isinstance(values, np.ndarray) and values.dtype.kind in "mM" and any(isinstance(item, int) for item in listed):
        return [None if missing is None else time for time, missing in zip(values, listed, strict=True)]
    return [None if type(item).__name__ == "NAType" else item for item in listed]
