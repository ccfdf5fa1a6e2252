"""Tokens and ids: hypotheses and references that are sequences of tokens, or 1-D tensors and arrays of ids.

Both are read alike, because only the types of their tokens tell ids from other tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NoReturn

from ngram_metrics._core.text.foreign_values import (
    FLOAT_TYPES,
    INTEGER_TYPES,
    refuse_missing,
    sequence_advice,
    tensor_and_array_types,
    tensor_types,
)
from ngram_metrics._core.text.listed_items import list_objects, refuse_missing_references, refuse_other_kind
from ngram_metrics._core.text.messages import NameOf, shortened, type_name
from ngram_metrics._core.text.padded_segments import ONE_SEGMENT_ADVICE, to_tensor_or_list
from ngram_metrics._core.text.segments import Documents, Kind, Segments, name_groups, segment_name

if TYPE_CHECKING:
    from ngram_metrics._core.text.input_types import Document


def read_tokens(hypotheses: Documents, items: Documents) -> Segments:
    """Check the hypotheses, and the references in the ``items`` of ``target``, one item for each hypothesis."""
    hypotheses, types = checked_sequences(hypotheses, segment_name)
    references, reference_counts = _split_items(items, has_tuples_as_tokens=tuple in types)
    refuse_missing_references(reference_counts, items, one_empty=[[]])
    references, reference_types = checked_sequences(references, name_groups(reference_counts))
    segments = Segments("tokens", hypotheses, references, reference_counts)
    kind = common_kind(types | reference_types, segments.documents, segments.name_of)
    return segments._replace(kind=kind)


def checked_sequences(segments: Documents, name_of: NameOf) -> tuple[Documents, set[type]]:
    """Return segments as lists, tuples or 1-D ids, and the types of their tokens.

    Raises TypeError or ValueError for a segment that is neither tokens nor ids, or has a wrong token.
    """
    if not set(map(type, segments)) <= {list, tuple}:
        segments = [_checked_sequence(segment, name_of(index)) for index, segment in enumerate(segments)]
    return segments, _find_token_types(segments, name_of)


def _checked_sequence(segment: object, where: str) -> Document:
    """Return a segment as a list, a tuple or 1-D ids, or raise the error for another object."""
    refuse_missing(segment, where)
    if isinstance(segment, str):
        refuse_other_kind(segment, where, first_kind="tokens or ids")
    segment = to_tensor_or_list(segment, where)
    if isinstance(segment, tensor_types()):
        if segment.dim() != 1:
            raise ValueError(f"{where} is a tensor of shape {tuple(segment.shape)}: expected 1-D ids")
        return segment.long()
    if isinstance(segment, bytes) or not isinstance(segment, Sequence):
        advice = f"; {ONE_SEGMENT_ADVICE}" if isinstance(segment, INTEGER_TYPES) else sequence_advice(segment)
        raise TypeError(
            f"{where} is {type_name(segment)}, {shortened(segment)}: expected a str, a sequence of tokens, or 1-D ids"
            f"{advice}"
        )
    # Some sequences cannot be sliced, such as a deque.
    return segment if isinstance(segment, (list, tuple)) else list(segment)


def _split_items(items: Documents, has_tuples_as_tokens: bool) -> tuple[Documents, list[int]]:
    """Return the references of all items of ``target``, and the number of references of each item."""
    references: Documents = []
    reference_counts = []
    for item in items:
        item_references = _list_references(item, has_tuples_as_tokens)
        references += item_references
        reference_counts.append(len(item_references))
    return references, reference_counts


def _list_references(item: Any, has_tuples_as_tokens: bool) -> Sequence[object]:
    """Return the references in an item of ``target``, which may itself be the only reference."""
    item = list_objects(item)
    # list and tuple first, here and below: checks against an abstract class such as Sequence are slow.
    if isinstance(item, (str, bytes)) or not isinstance(item, (list, tuple, Sequence)):
        return [item]
    if len(item) == 0:
        return item
    first = next((part for part in item if part is not None), None)
    if isinstance(first, tuple) and has_tuples_as_tokens:
        # Where tokens are tuples, a tuple of tuples is a segment.
        has_segments = len(first) > 0 and isinstance(first[0], tuple)
    elif isinstance(first, (list, tuple)):
        has_segments = True
    elif isinstance(first, tensor_and_array_types()):
        has_segments = first.ndim > 0
    else:
        has_segments = isinstance(first, Sequence) and not isinstance(first, (str, bytes))
    return item if has_segments else [item]


def _find_token_types(segments: Sequence[Document], name_of: NameOf) -> set[type]:
    """Return the types of all tokens, or raise TypeError for a wrong one."""
    tensors = tensor_types()
    lists = [segment for segment in segments if not isinstance(segment, tensors)]
    types = set(map(type, chain.from_iterable(lists)))
    refused = (list, dict, set, *tensor_and_array_types(), *FLOAT_TYPES)
    wrong = tuple(kind for kind in types if issubclass(kind, refused))
    if wrong:
        _refuse_token(segments, wrong, name_of)
    if len(lists) < len(segments):
        tensor_lengths = [len(segment) for segment in segments if isinstance(segment, tensors)]
        if any(tensor_lengths):
            types.add(int)
    return types


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
                    f"{name_of(index)} contains {shortened(token)}, {type_name(token)}: expected token ids, which are "
                    "integers, or tokens such as words"
                )
            if type(token) in wrong:
                raise TypeError(
                    f"{name_of(index)} contains {type_name(token)} as a token: expected hashable tokens, or ids as "
                    "integers or as one 1-D tensor"
                )
    raise AssertionError("types of wrong tokens, but no such token")


def _refuse_mixed(segments: Sequence[Document], name_of: NameOf) -> NoReturn:
    first_of: dict[Kind, str] = {}  # for each kind, the first segment and token of it
    for index, segment in enumerate(segments):
        for token in segment.tolist() if isinstance(segment, tensor_types()) else segment:
            kind = _kind_of_type(type(token))
            if kind not in first_of:
                first_of[kind] = f"{name_of(index)} contains {kind}, such as {shortened(token)}"
    first, second = first_of.values()
    raise TypeError(f"{second}, but {first}: expected all ids, which are integers, or all tokens, which are not")
