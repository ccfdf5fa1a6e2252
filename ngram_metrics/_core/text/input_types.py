"""The types of ``preds``, ``target`` and ``tokenizer``, and the values of columns of tables."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from ngram_metrics._core.basics.lazy import np, torch
from ngram_metrics._core.text.messages import type_name
from ngram_metrics._core.text.tokenizer_option import TokenizerName

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

#: A segment of text, of tokens or of ids. A str is a sequence of str, so this covers text too.
Document: TypeAlias = "Sequence[Hashable] | Tensor | NDArray[np.generic]"
#: One document per segment, or one padded integer tensor or array; a single str is one segment.
Hypotheses: TypeAlias = "Sequence[Document] | Document"
#: One reference, or a list of references, for each segment.
References: TypeAlias = "Sequence[Document | Sequence[Document]] | Document"
#: Rows of documents, see ``_core.text.groups``, or one padded integer tensor or array.
Groups: TypeAlias = "Sequence[Sequence[Document] | Document] | Document"


class FastTokenizer(Protocol):
    """A ``tokenizers.Tokenizer``."""

    @property
    def encode_batch(self) -> Callable[..., Sequence[object]]:
        """A function that returns the encodings of texts."""


class PretrainedTokenizer(Protocol):
    """A tokenizer of ``transformers``."""

    @property
    def convert_ids_to_tokens(self) -> Callable[..., object]:
        """A function that returns the tokens of ids."""


class SentencePiece(Protocol):
    """A ``sentencepiece.SentencePieceProcessor``."""

    @property
    def serialized_model_proto(self) -> Callable[[], bytes]:
        """A function that returns the model as bytes."""


#: See ``_core.text.tokenizer_option``.
Tokenizer: TypeAlias = (
    TokenizerName | Callable[[str], Sequence[Hashable]] | FastTokenizer | PretrainedTokenizer | SentencePiece
)

#: The types of tables with several columns, by their packages.
_FRAMES: dict[str, tuple[str, ...]] = {
    "pandas": ("DataFrame",),
    "polars": ("DataFrame", "LazyFrame"),
    "pyarrow": ("Table", "RecordBatch"),
}


def frame_package(value: object) -> Literal["pandas", "polars", "pyarrow"] | None:
    """Return the package of a table with named columns, such as a data frame, or None for any other object."""
    for base in type(value).__mro__:
        package = base.__module__.partition(".")[0]
        if base.__name__ in _FRAMES.get(package, ()):
            return package  # type: ignore[return-value]
    return None


def list_column(value: object, where: str) -> Any:
    """Return a column of pyarrow, polars or pandas as a list, with None for missing values, or another object as it is.

    Raises TypeError for a table with several columns, which ``where`` names.
    """
    if isinstance(value, (str, list, tuple, Mapping, torch.Tensor, np.ndarray)):
        return value
    package = frame_package(value)
    if package is not None:
        name = type_name(value)
        table = f"{where}.collect()" if hasattr(value, "collect") else where
        raise TypeError(f"{where} is {name} of {package}: expected one of its columns, such as {table}['text']")
    return column_values(value) if _reading_method(value) is not None else value


def column_values(column: Any) -> list[Any]:
    """Return the values of a list, an array or a column of any library, with None for what is missing in a column."""
    read = _reading_method(column)
    values: list[Any] = list(column) if read is None else read()
    # pandas has a NaN for a missing text.
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
    """Return the values of a sequence, an array or a column of a table as a list, for labels.

    Times in nanoseconds, which Python does not have, stay numpy's. The errors are those of ``list_column``.
    """
    values = list_column(values, where)
    listed = column_values(values)
    if isinstance(values, np.ndarray) and values.dtype.kind in "mM" and any(isinstance(item, int) for item in listed):
        return [None if missing is None else time for time, missing in zip(values, listed, strict=True)]
    return [None if type(item).__name__ == "NAType" else item for item in listed]
