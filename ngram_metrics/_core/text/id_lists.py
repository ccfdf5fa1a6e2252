"""Lists and 1-D tensors of ids as one array, without the ids that are not tokens."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from ngram_metrics._core.counting.batch import Integers
from ngram_metrics._core.text.foreign_values import list_on_host, tensor_types
from ngram_metrics._core.text.padded_segments import refuse_negative
from ngram_metrics._core.text.segments import Segments


def flatten_ids(
    segments: Segments, dropped: Sequence[int], separator: int | None
) -> tuple[Integers, Integers, Integers | None]:
    """Return all ids, the length of each document, and the number of references of each segment.

    Ids in ``dropped`` are left out, except the ``separator``. Another negative id raises ValueError, unless it is in a
    row of a padded tensor, where it is left out.
    """
    documents, reference_counts = segments.interleave()
    tokens, lengths = _join_ids(documents)
    is_kept = np.ones(len(tokens), np.bool_)
    for padding in dropped:
        if padding != separator:
            is_kept &= tokens != padding
    is_negative = is_kept & (tokens < 0)
    if separator is not None:
        is_negative &= tokens != separator
    if is_negative.any():
        _refuse_negative_in_lists(segments, tokens, lengths, is_negative)
        is_kept &= ~is_negative
    if not is_kept.all():
        document_of_token = np.arange(len(lengths)).repeat(lengths)
        lengths = np.bincount(document_of_token[is_kept], minlength=len(lengths))
        tokens = tokens[is_kept]
    return tokens, lengths, reference_counts


def _refuse_negative_in_lists(segments: Segments, tokens: Integers, lengths: Integers, is_negative: Any) -> None:
    """Raise ValueError for the first negative id of a document that is not a row of a padded tensor."""
    document_of_token = np.arange(len(lengths)).repeat(lengths)
    if segments.padded:
        first_reference = len(segments.hypotheses)
        is_padded, _ = segments._replace(
            hypotheses=list(segments.padded[:first_reference]), references=list(segments.padded[first_reference:])
        ).interleave()
        is_negative = is_negative & ~np.array(is_padded)[document_of_token]
    refused = is_negative.nonzero()[0]
    if len(refused) > 0:
        name = segments.name_interleaved(document_of_token[refused[0]])
        refuse_negative([int(tokens[refused[0]])], name)


def _join_ids(documents: Sequence[Any]) -> tuple[Integers, Integers]:
    """Return the ids of all documents, int64 if they fit and else Python integers, and the number of ids of each."""
    lengths = np.fromiter(map(len, documents), np.int64, len(documents))
    tensors = tensor_types()
    if documents and all(isinstance(document, tensors) for document in documents):
        return sys.modules["torch"].cat(documents).cpu().numpy(), lengths
    tokens = list(chain.from_iterable(list_on_host(documents)))
    try:
        return np.fromiter(tokens, np.int64, len(tokens)), lengths
    except OverflowError:
        return np.array([int(token) for token in tokens], object), lengths
