"""Texts: hypotheses and references that are ``str``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from ngram_metrics._core.text.foreign_values import refuse_missing
from ngram_metrics._core.text.listed_items import list_objects, refuse_missing_references, refuse_other_kind
from ngram_metrics._core.text.messages import NameOf
from ngram_metrics._core.text.segments import Documents, Segments, name_groups, segment_name


def read_texts(hypotheses: Documents, items: Documents) -> Segments:
    """Check the hypotheses, and the references in the ``items`` of ``target``, one item for each hypothesis."""
    hypotheses = checked_texts(hypotheses, segment_name)
    references, reference_counts = _split_items(items)
    refuse_missing_references(reference_counts, items, one_empty=[""])
    references = checked_texts(references, name_groups(reference_counts))
    return Segments("text", hypotheses, references, reference_counts)


def checked_texts(texts: Documents, name_of: NameOf) -> Documents:
    """Return texts, or raise TypeError for a segment that is not a ``str``."""
    if set(map(type, texts)) <= {str}:
        return texts
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            refuse_missing(text, name_of(index))
            refuse_other_kind(text, name_of(index), first_kind="text")
    return texts


def _split_items(items: Documents) -> tuple[Documents, list[int]]:
    """Return the references of all items of ``target``, and the number of references of each item."""
    types = set(map(type, items))
    if types == {str}:
        return items, [1] * len(items)
    if not types <= {list, tuple}:
        items = [_list_references(item) for item in items]
    return list(chain.from_iterable(items)), list(map(len, items))


def _list_references(item: Any) -> Sequence[object]:
    """Return the references in an item of ``target``, which may itself be the only reference."""
    item = list_objects(item)
    is_text = isinstance(item, (str, bytes))
    return item if isinstance(item, Sequence) and not is_text else [item]
