"""The items of ``preds`` and ``target`` that are sequences: one for each segment. This is common to text and tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NoReturn, cast

import numpy as np

from ngram_metrics._core.text.foreign_values import is_sequence_like, list_column, sequence_advice, tensor_types
from ngram_metrics._core.text.input_warnings import sentence_hint, transposition_hint
from ngram_metrics._core.text.messages import pluralize, shortened, type_name
from ngram_metrics._core.text.padded_segments import NO_NUMBERS, SAMPLES_ADVICE, to_tensor_or_list
from ngram_metrics._core.text.segments import Documents


def list_items(name: str, side: object) -> Documents:
    """Return the items of a batch as a list, one per segment, or raise TypeError or ValueError for another object."""
    if isinstance(side, (list, tuple)):
        return list(side)
    if isinstance(side, tensor_types()):
        if side.dim() != 2:
            advice = f"; {SAMPLES_ADVICE}" if name == "preds" and side.dim() == 3 else ""
            raise ValueError(
                f"{name} has shape {tuple(side.shape)}: expected (segments, width), "
                f"because the other side is a sequence{advice}"
            )
        return list(side)
    if not is_sequence_like(side):
        raise TypeError(
            f"{name} is {type_name(side)}: expected a sequence with one item for each segment{sequence_advice(side)}"
        )
    return list(cast("Documents", side))


def refuse_unequal_numbers(segments: Documents, items: Documents) -> None:
    """Raise ValueError unless ``target`` has as many items as ``preds`` has segments."""
    if len(segments) != len(items):
        raise ValueError(
            f"preds has {pluralize(len(segments), 'segment')} and target has {pluralize(len(items), 'item')}: expected "
            "one item of target for each segment; an item is a reference or a list of references"
            f"{transposition_hint(segments, items)}{sentence_hint(segments)}"
        )


def refuse_missing_references(reference_counts: Sequence[int], items: Documents, one_empty: list[Any]) -> None:
    """Raise ValueError if an item of ``target`` has no reference. ``one_empty`` is the item with an empty one."""
    if 0 in reference_counts:
        index = reference_counts.index(0)
        raise ValueError(
            f"segment {index} has no reference, target[{index}] is {shortened(items[index])}: expected at least one; "
            f"if the reference is empty, pass {one_empty}"
        )


def refuse_other_kind(segment: object, where: str, first_kind: Literal["text", "tokens or ids"]) -> NoReturn:
    """Raise TypeError for a segment called ``where`` that is text although the first one is not, or the reverse."""
    raise TypeError(
        f"{where} is {type_name(segment)}, {shortened(segment)}, "
        f"but the first segment is {first_kind}: expected all text, or all tokens or ids; "
        "'the cat' is text, and ['the', 'cat'] are tokens"
    )


def list_objects(item: Any) -> Any:
    """Return an item of ``target`` as a list if it is an array of objects or text, or a column of a table."""
    # list and tuple first: the other checks are slow.
    if isinstance(item, (list, tuple, tensor_types())):
        return item
    if isinstance(item, np.ndarray):
        return to_tensor_or_list(item, "an item of target") if item.dtype.kind in NO_NUMBERS else item
    return list_column(item, "an item of target")
