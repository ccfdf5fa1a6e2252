"""The forms that ``preds`` and ``target`` may have. Every input enters through this module, and is checked once.

It does not import torch before it gets a tensor or an array.

* A ``str`` is text. Several segments are a sequence of ``str``. A single ``str`` in ``preds`` is one segment, and its
  ``target`` is one reference or a list of references. A single ``str`` in ``target`` is the reference of one segment.
* A segment of tokens is a sequence of hashables. A segment of ids is a sequence of integers, or a 1-D integer tensor
  or array. Only the type of each token decides: an integer of any type is an id, but a ``bool`` is not. Floating-point
  numbers, lists, sets, dicts, tensors and arrays are errors. Any other hashable is a token.
* A batch of ids may be one padded integer tensor or array: hypotheses ``(segments, width)``, references
  ``(segments, width)`` or ``(segments, references, width)``.
* ``target`` has one item per segment. An item that is a segment is the only reference. An item that is a sequence of
  segments holds several references. An empty item means 'no reference' and is an error; ``[""]`` or ``[[]]`` is one
  empty reference. A tuple in an item is a reference, unless the tokens of a hypothesis are tuples.
* All non-empty hypotheses and references of a batch are of one kind: text, tokens or ids.
* Ids are indices of a vocabulary. In a padded tensor or array a negative id is not a token, like ``pad_id``. In a
  sequence or 1-D tensor a negative id that is not in ``pad_id`` is an error, which the readers raise. An id that
  ``numpy.ma`` masks is not a token. In a tensor or array ids are below 2^63. In a sequence an id is any ``int``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Sequence, Sized
from functools import partial
from itertools import accumulate, chain, islice
from operator import add
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, TypeAlias, cast

import numpy as np

from ngram_metrics._core.text.foreign_values import (
    FLOAT_TYPES,
    INTEGER_TYPES,
    is_sequence_like,
    list_column,
    refuse_missing,
    sequence_advice,
    tensor_and_array_types,
    tensor_types,
)
from ngram_metrics._core.text.input_warnings import (
    look_swapped,
    sentence_hint,
    transposition_hint,
    warn_of_split_references,
    warn_of_transposed_references,
)
from ngram_metrics._core.text.messages import NameOf, pluralize, shortened, type_name

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from ngram_metrics._core.text.input_types import Document, Hypotheses, References

#: The kind of input of a segment.
Kind = Literal["text", "tokens", "ids"]
#: Kinds of numpy dtypes that hold objects or text.
_NO_NUMBERS = "OUST"
_ONE_SEGMENT = "a single segment of ids goes into a list"
_SAMPLES = "samples: flatten them to (segments * samples, width), and repeat the references of each segment"
#: Documents of one kind: all ``str``, or all lists of tokens, or lists and 1-D tensors of ids.
Documents: TypeAlias = list[Any]


class Segments(NamedTuple):
    """Hypotheses and references that were given as sequences.

    Attributes:
        kind: the kind of all segments.
        hypotheses: one per segment: a ``str`` for text, else a list or tuple of tokens or a 1-D int64 tensor.
        references: all references in the same form, segment after segment.
        counts: the number of references of each segment, at least 1.
        hypothesis_counts: the number of hypotheses of each row of documents, see ``_core.text.pool_reader``; ``counts``
            may then be 0. None for other input.
        padded: whether each document was a row of a padded tensor or array, hypotheses first; empty if none was.
    """

    kind: Kind
    hypotheses: Documents
    references: Documents
    counts: list[int]
    hypothesis_counts: list[int] | None = None
    padded: Sequence[bool] = ()

    @property
    def known_kind(self) -> Kind | None:
        """The kind, or None if there are no segments, or no tokens in any segment."""
        if self.kind == "text":
            return self.kind if self.hypotheses else None
        return self.kind if any(map(len, chain(self.hypotheses, self.references))) else None

    @property
    def documents(self) -> Documents:
        """The hypotheses, followed by the references."""
        return self.hypotheses + self.references

    def interleave(self) -> tuple[Documents, NDArray[np.int64] | None]:
        """Return the documents segment by segment, hypotheses before references, and the number of references of each.

        For rows of documents the number, ``(rows,)``, is that of all documents but the first, without empty rows. None
        stands for one reference of each segment.
        """
        if self.hypothesis_counts is None and len(self.references) == len(self.hypotheses):
            pairs: Documents = [None] * (2 * len(self.hypotheses))
            pairs[::2] = self.hypotheses
            pairs[1::2] = self.references
            return pairs, None
        documents: Documents = []
        sizes = []
        hypotheses = iter(self.hypotheses)
        references = iter(self.references)
        for count, reference_count in zip(self.hypothesis_counts or [1] * len(self.counts), self.counts, strict=True):
            documents += islice(hypotheses, count)
            documents += islice(references, reference_count)
            sizes.append(count + reference_count)
        return documents, np.array([*filter(None, sizes)], np.int64) - 1

    def name_interleaved(self, index: int) -> str:
        """Return the name of a document for an error message, by its index in ``interleave``."""
        hypotheses = self.hypothesis_counts or [1] * len(self.counts)
        row = bisect_right([*accumulate(map(add, hypotheses, self.counts))], index)
        before = sum(hypotheses[:row]), sum(self.counts[:row])
        position = index - sum(before)
        if position < hypotheses[row]:
            return self.name_of(before[0] + position)
        return self.name_of(len(self.hypotheses) + before[1] + position - hypotheses[row])

    def name_of(self, index: int) -> str:
        """Return the name of a document for an error message, where ``index`` counts hypotheses first."""
        first = len(self.hypotheses)
        if self.hypothesis_counts is None:
            return segment_name(index) if index < first else grouped_name(index - first, self.counts)
        if index < first:
            return grouped_name(index, self.hypothesis_counts, "hypothesis", "row")
        return grouped_name(index - first, self.counts, "reference", "row")


class PaddedSegments(NamedTuple):
    """Hypotheses and references that were given as padded id tensors.

    Attributes:
        hypotheses: ``(segments, width)`` of an integer dtype.
        references: ``(segments, references, width)`` of an integer dtype.
        leading_shape: ``(segments, samples)`` if segments have several hypotheses. Each of these samples is then a
            segment of its own, with the same references.
    """

    hypotheses: Tensor
    references: Tensor
    leading_shape: tuple[int, int] | None = None

    @property
    def kind(self) -> Literal["ids"]:
        """The kind of all segments."""
        return "ids"

    @property
    def known_kind(self) -> Kind | None:
        """The kind, or None if there are no segments."""
        return self.kind if len(self.hypotheses) else None


def segment_name(index: int) -> str:
    """Return the name of a hypothesis for an error message."""
    return f"segment {index}"


def grouped_name(index: int, counts: Sequence[int], document: str = "reference", group: str = "segment") -> str:
    """Return the name of a document for an error message, from the number of documents of each group."""
    ends = list(accumulate(counts))
    group_index = bisect_right(ends, index)
    return f"{document} {index - ends[group_index] + counts[group_index]} of {group} {group_index}"


def read(preds: Hypotheses, target: References, padding: Container[int] | None = None) -> Segments | PaddedSegments:
    """Find the kind of a batch, and check it.

    If ``preds`` may be samples, padded ids ``(segments, samples, width)``, ``padding`` has the ids that are not tokens.

    Raises:
        TypeError: an object that is neither text, nor tokens, nor ids; segments of different kinds.
        ValueError: different numbers of segments; a segment without a reference; a tensor of a wrong shape; tensors
            on different devices; in a tensor or array an id of 2^63 or more.

    Warns:
        UserWarning: the references look like the words of one reference, or like sacrebleu's streams of references.
    """
    if padding is not None and isinstance(preds, tensor_and_array_types()) and preds.ndim == 3:
        return _read_samples(preds, target, padding)
    preds = to_tensor_or_list(preds, "preds")
    target = to_tensor_or_list(target, "target")
    tensors = tensor_types()
    if isinstance(preds, tensors) and isinstance(target, tensors):
        return _read_padded(preds, target)
    try:
        return _read_lists(preds, target, tensors)
    except (TypeError, ValueError) as error:
        if look_swapped(preds, target):
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"{error}; preds and target look swapped") from error
        raise


def _read_lists(preds: object, target: object, tensors: tuple[type, ...]) -> Segments:
    """Read a batch with at least one side that is a sequence."""
    if isinstance(preds, str):
        # target is either the references of the segment, or a batch of one segment with its references.
        is_batch = isinstance(target, (list, tuple)) and len(target) == 1 and isinstance(target[0], (list, tuple))
        preds = [preds]
        if not is_batch:
            target = [target]
    elif isinstance(target, str) and isinstance(preds, Sized) and len(preds) == 1:
        target = [target]
    are_padded = isinstance(preds, tensors), isinstance(target, tensors)
    segments = _items("preds", preds)
    items = _items("target", target)
    if len(segments) != len(items):
        raise ValueError(
            f"preds has {pluralize(len(segments), 'segment')} and target has {pluralize(len(items), 'item')}: expected "
            "one item of target, a reference or a list of references, for each segment"
            f"{transposition_hint(segments, items)}{sentence_hint(segments)}"
        )
    # An empty batch could be of any kind. As text it agrees with all options.
    is_text = len(segments) == 0 or isinstance(segments[0], str)
    hypotheses, types = checked_segments(segments, is_text, segment_name)
    all_references, counts = _split_references(items, is_text, tuple in types)
    if 0 in counts:
        index = counts.index(0)
        raise ValueError(
            f"segment {index} has no reference: its item of target is {shortened(items[index])}; "
            f"one empty reference is written {[''] if is_text else [[]]}"
        )
    reference_name = partial(grouped_name, counts=counts)
    references, reference_types = checked_segments(all_references, is_text, reference_name)
    batch = Segments("text", hypotheses, references, counts)
    if is_text:
        warn_of_split_references(hypotheses, references, counts)
        warn_of_transposed_references(hypotheses, references, counts)
        return batch
    types |= reference_types
    kind = common_kind(types, batch.documents, batch.name_of)
    padded = [are_padded[0]] * len(hypotheses) + [are_padded[1]] * len(references) if any(are_padded) else ()
    return batch._replace(kind=kind, padded=padded)


def read_documents(ids: Hypotheses) -> Segments | Tensor:
    """Check documents of ids without references. The errors are those of ``read`` for hypotheses.

    Padded ids are returned as a tensor ``(documents, width)``. Documents of another kind are returned too.
    """
    documents = to_tensor_or_list([ids] if isinstance(ids, str) else ids, "ids")
    if isinstance(documents, tensor_types()):
        _check_rows("ids", documents)
        return documents
    items = _items("ids", documents)
    is_text = not items or isinstance(items[0], str)
    hypotheses, types = checked_segments(items, is_text, segment_name)
    kind = "text" if is_text else common_kind(types, hypotheses, segment_name)
    return Segments(kind, hypotheses, [], [0] * len(hypotheses))


def to_tensor_or_list(value: object, where: str) -> Any:
    """Return an array of numbers as a tensor, other arrays and columns of tables as lists, and other objects unchanged.

    Masked ids are left out of a 1-D array, and become negative in others.

    Raises:
        TypeError: a tensor or array of another dtype than integers, or a uint64 tensor on an accelerator; a nested,
            quantized or sparse tensor; a masked array of objects or str; a table with several columns. The message
            calls it ``where``.
        ValueError: an id of 2^63 or more.
    """
    if isinstance(value, (list, tuple, str)):
        return value
    if isinstance(value, tensor_types()):
        return _to_signed(value, where)
    if isinstance(value, np.ndarray):
        import torch

        is_masked = np.ma.is_masked(value)
        if value.dtype.kind in _NO_NUMBERS:
            if is_masked:
                raise TypeError(f"{where} is a masked array of {value.dtype}: expected masks of ids only")
            return value.tolist()
        if is_masked and isinstance(value, np.ma.MaskedArray) and value.dtype.kind in "iu":
            hidden = torch.from_numpy(np.array(np.ma.getmaskarray(value), order="C"))
            ids = to_tensor_or_list(value.filled(0), where)
            return ids[~hidden] if value.ndim == 1 else ids.long().masked_fill(hidden, -1)
        try:
            # A copy, because torch takes no read-only arrays, negative strides, or foreign byte orders.
            ids = torch.from_numpy(np.array(value, dtype=value.dtype.newbyteorder("="), order="C"))
        except TypeError as error:
            raise TypeError(f"{where} is an array of {value.dtype}: expected token ids of an integer dtype") from error
        return _to_signed(ids, where)
    return list_column(value, where)


def is_dense(ids: Tensor) -> bool:
    """Return whether a tensor is neither nested, quantized nor sparse."""
    import torch

    return not (ids.is_nested or ids.is_quantized) and ids.layout == torch.strided


def _to_signed(ids: Tensor, where: str) -> Tensor:
    """Return ids in an integer dtype that torch can compare, or raise as ``to_tensor_or_list`` does."""
    import torch

    if not is_dense(ids):
        raise TypeError(f"{where} is a nested, quantized or sparse tensor: expected a dense one")
    if ids.is_floating_point() or ids.is_complex() or ids.dtype == torch.bool:
        raise TypeError(f"{where} is a tensor of {ids.dtype}: expected token ids of an integer dtype")
    if ids.dtype != torch.uint64:
        return ids.long() if ids.dtype in (torch.uint16, torch.uint32) else ids
    if ids.device.type != "cpu":
        raise TypeError(
            f"{where} is a tensor of torch.uint64 on {ids.device}: expected int64, because to look for ids of 2^63 or "
            "more would wait for the device"
        )
    signed = ids.view(torch.int64)
    if (signed < 0).any():
        raise ValueError(f"{where} has the id {int(signed[signed < 0][0]) + 2**64}: expected ids below 2^63")
    return signed


def _read_padded(preds: Tensor, target: Tensor) -> PaddedSegments:
    _check_rows("preds", preds)
    if target.dim() not in (2, 3):
        raise ValueError(
            f"target has shape {tuple(target.shape)}: expected (segments, width) or (segments, references, width)"
        )
    if len(preds) != len(target):
        raise ValueError(
            f"preds has {pluralize(len(preds), 'segment')} and target has {len(target)}: expected references for each "
            "segment"
        )
    if preds.device != target.device:
        raise ValueError(f"preds is on {preds.device} and target is on {target.device}: expected the same device")
    if target.dim() == 2:
        return PaddedSegments(preds, target.unsqueeze(1))
    if target.shape[1] == 0 and len(target) > 0:
        raise ValueError(f"target has shape {tuple(target.shape)}: expected at least one reference per segment")
    return PaddedSegments(preds, target)


def _read_samples(preds: Tensor | NDArray[np.generic], target: object, padding: Container[int]) -> PaddedSegments:
    """Read samples. Each sample becomes a segment, with the references of its segment."""
    segments, samples, _ = preds.shape
    tensors = tensor_types()
    expected = f"expected references ({segments}, width) or ({segments}, references, width)"
    is_padded = isinstance(target, tensor_and_array_types())
    try:
        references = target if isinstance(target, tensors) else to_tensor_or_list(np.ma.asanyarray(target), "target")
    except ValueError as error:
        raise ValueError(f"target is ragged, but the samples are padded: {expected}") from error
    if not isinstance(references, tensors):
        raise TypeError(f"target is {shortened(target)}, but the samples are padded: {expected}")
    if references.dim() not in (2, 3) or len(references) != segments:
        raise ValueError(f"preds has shape {tuple(preds.shape)} and target {tuple(references.shape)}: {expected}")
    if not is_padded:
        # Unlike in a padded tensor, negative ids in lists are an error.
        for index, ids in enumerate(references.flatten(1).tolist()):
            refuse_negative([token for token in ids if token not in padding], f"a reference of segment {index}")
    repeated = references.repeat_interleave(samples, 0, output_size=samples * segments)
    hypotheses = to_tensor_or_list(preds, "preds").flatten(0, 1)  # (segments * samples, width)
    return _read_padded(hypotheses, _to_signed(repeated, "target"))._replace(leading_shape=(segments, samples))


def refuse_negative(ids: Sequence[int], where: str) -> None:
    """Raise ValueError for a negative id in the segment called ``where``."""
    negative = [token for token in ids if token < 0]
    if negative:
        raise ValueError(
            f"{where} has the id {shortened(negative[0])}: expected indices of a vocabulary, which are not negative, "
            "or this id in pad_id"
        )


def _check_rows(name: str, ids: Tensor) -> None:
    if ids.dim() != 2:
        hint = _SAMPLES if ids.dim() == 3 else _ONE_SEGMENT
        raise ValueError(f"{name} has shape {tuple(ids.shape)}: expected (segments, width); {hint}")


def _items(name: str, side: object) -> Documents:
    """Return the items of a batch as a list, one per segment."""
    if isinstance(side, (list, tuple)):
        return list(side)
    if isinstance(side, tensor_types()):
        if side.dim() != 2:
            hint = f"; {_SAMPLES}" if name == "preds" and side.dim() == 3 else ""
            raise ValueError(
                f"{name} has shape {tuple(side.shape)}: expected (segments, width), "
                f"because the other side is a sequence{hint}"
            )
        return list(side)
    if not is_sequence_like(side):
        raise TypeError(
            f"{name} is {type_name(side)}: expected a sequence with one item per segment{sequence_advice(side)}"
        )
    return list(cast("Documents", side))


def checked_segments(segments: Documents, is_text: bool, name_of: NameOf) -> tuple[Documents, set[type]]:
    """Return segments and the types of their tokens, or raise TypeError or ValueError for a bad segment."""
    if not set(map(type, segments)) <= ({str} if is_text else {list, tuple}):
        segments = [_checked_segment(segment, is_text, name_of(index)) for index, segment in enumerate(segments)]
    return segments, set() if is_text else _token_types(segments, name_of)


def _checked_segment(segment: object, is_text: bool, where: str) -> Document:
    """Return a segment as a str, a list, a tuple or 1-D ids, or raise the error for another object."""
    refuse_missing(segment, where)
    if isinstance(segment, str) is not is_text:
        kinds = ("tokens or ids", "text")
        raise TypeError(
            f"{where} is {type_name(segment)}, {shortened(segment)}, "
            f"but the first segment is {kinds[is_text]}: expected all text, or all tokens or ids; "
            "'the cat' is text, and ['the', 'cat'] are tokens"
        )
    segment = to_tensor_or_list(segment, where)
    if isinstance(segment, tensor_types()):
        if segment.dim() != 1:
            raise ValueError(f"{where} is a tensor of shape {tuple(segment.shape)}: expected 1-D ids")
        return segment.long()
    if isinstance(segment, bytes) or not isinstance(segment, Sequence):
        hint = f"; {_ONE_SEGMENT}" if isinstance(segment, INTEGER_TYPES) else sequence_advice(segment)
        raise TypeError(
            f"{where} is {type_name(segment)}, {shortened(segment)}: expected a str, a sequence of tokens, or 1-D ids"
            f"{hint}"
        )
    # Some sequences cannot be sliced, such as a deque.
    return segment if isinstance(segment, (str, list, tuple)) else list(segment)


def _split_references(items: Documents, is_text: bool, tuple_tokens: bool) -> tuple[Documents, list[int]]:
    """Return the references of all items of ``target``, and the number of references of each item."""
    types = set(map(type, items)) if is_text else set()
    if types == {str}:
        return items, [1] * len(items)
    if not (is_text and types <= {list, tuple}):
        items = [_list_references(item, is_text, tuple_tokens) for item in items]
    return list(chain.from_iterable(items)), list(map(len, items))


def _list_references(item: Any, is_text: bool, tuple_tokens: bool) -> Sequence[object]:
    """Return the references in an item of ``target``, which may itself be the only reference."""
    # list and tuple first, here and below: checks against an abstract class such as Sequence are slow.
    if not isinstance(item, (list, tuple, tensor_types())):
        is_array = isinstance(item, np.ndarray)
        if not is_array or item.dtype.kind in _NO_NUMBERS:
            item = to_tensor_or_list(item, "an item of target") if is_array else list_column(item, "an item of target")
    if isinstance(item, (str, bytes)) or not isinstance(item, (list, tuple, Sequence)):
        return [item]
    if is_text or len(item) == 0:
        return item
    first = next((part for part in item if part is not None), None)
    if isinstance(first, tuple) and tuple_tokens:
        # Where tokens are tuples, a tuple of tuples is a segment.
        return item if len(first) > 0 and isinstance(first[0], tuple) else [item]
    if isinstance(first, (list, tuple, str)):
        return [item] if isinstance(first, str) else item
    if isinstance(first, tensor_and_array_types()):
        return item if first.ndim > 0 else [item]
    return item if isinstance(first, Sequence) and not isinstance(first, bytes) else [item]


def _token_types(segments: Sequence[Document], name_of: NameOf) -> set[type]:
    """Return the types of all tokens, or raise TypeError for a wrong one."""
    tensors = tensor_types()
    lists = [segment for segment in segments if not isinstance(segment, tensors)]
    types = set(map(type, chain.from_iterable(lists)))
    refused = (list, dict, set, *tensor_and_array_types(), *FLOAT_TYPES)
    wrong = tuple(kind for kind in types if issubclass(kind, refused))
    if wrong:
        _refuse_token(segments, wrong, name_of)
    has_ids = len(lists) < len(segments) and any(len(s) for s in segments if isinstance(s, tensors))
    return types | {int} if has_ids else types


def common_kind(types: set[type], segments: Sequence[Document], name_of: NameOf) -> Kind:
    """Return the kind of segments from the types of their tokens, or raise TypeError if ids and tokens are mixed."""
    kinds = set(map(_kind_of_type, types))
    if len(kinds) > 1:
        _refuse_mixed(segments, name_of)
    return kinds.pop() if kinds else "tokens"


def _kind_of_type(token_type: type) -> Kind:
    is_integer = issubclass(token_type, INTEGER_TYPES) and not issubclass(token_type, bool)
    return "ids" if is_integer else "tokens"


def _refuse_token(segments: Sequence[Document], wrong: tuple[type, ...], name_of: NameOf) -> NoReturn:
    for index, segment in enumerate(segments):
        for token in () if isinstance(segment, tensor_types()) else segment:
            if isinstance(token, FLOAT_TYPES):
                raise TypeError(
                    f"{name_of(index)} holds {shortened(token)}, {type_name(token)}: expected token ids, which are "
                    "integers, or tokens such as words"
                )
            if type(token) in wrong:
                raise TypeError(
                    f"{name_of(index)} holds {type_name(token)} as a token: expected hashable tokens, or ids as "
                    "integers or as one 1-D tensor"
                )
    raise AssertionError("types of wrong tokens, but no such token")


def _refuse_mixed(segments: Sequence[Document], name_of: NameOf) -> NoReturn:
    first_of: dict[Kind, str] = {}  # for each kind, the first segment and token of it
    for index, segment in enumerate(segments):
        for token in segment.tolist() if isinstance(segment, tensor_types()) else segment:
            kind = _kind_of_type(type(token))
            if kind not in first_of:
                first_of[kind] = f"{name_of(index)} holds {kind}, such as {shortened(token)}"
    first, second = first_of.values()
    raise TypeError(f"{second}, but {first}: expected all ids, which are integers, or all tokens, which are not")
