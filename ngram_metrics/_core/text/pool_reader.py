"""Rows of documents. All hypotheses of a row are compared with all references of that row.

A batch is a sequence of rows, or one padded id tensor ``(rows, documents, width)``. A row is a sequence of documents,
or one padded id tensor ``(documents, width)``. A document is text, tokens or ids, see ``_core.text.input_forms``. A
document that is nothing but padding is empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ngram_metrics._core.counting.pools import Pools
from ngram_metrics._core.text.foreign_values import is_sequence_like, sequence_advice, tensor_types
from ngram_metrics._core.text.input_types import Rows
from ngram_metrics._core.text.messages import pluralize, shortened, type_name
from ngram_metrics._core.text.padded_segments import to_tensor_or_list
from ngram_metrics._core.text.reader import Reader
from ngram_metrics._core.text.segments import Documents, Segments
from ngram_metrics._core.text.text_segments import checked_texts
from ngram_metrics._core.text.token_segments import checked_sequences, common_kind


class _Row(NamedTuple):
    """The documents of a row on one side, and whether they were rows of a padded tensor or array."""

    documents: Documents
    is_padded: bool


def read_pools(reader: Reader, hypotheses: Rows, references: Rows) -> list[Pools]:
    """Read rows of hypotheses and of references. If both are the same object, or the same texts, read them once.

    Returns:
        The documents for each kind of token of the reader: words, or characters and, for chrF++, words.

    Raises:
        TypeError: a str instead of a row, or a document that cannot be read.
        ValueError: no rows, different numbers of rows, a tensor of a wrong shape, padded ids without ``pad_id``.
    """
    hypothesis_rows = _list_rows(hypotheses, "hypotheses")
    reference_rows = hypothesis_rows if references is hypotheses else _list_rows(references, "references")
    if not hypothesis_rows or not reference_rows:
        raise ValueError("hypotheses or references is empty: expected at least one row in each")
    if len(hypothesis_rows) != len(reference_rows):
        raise ValueError(
            f"hypotheses has {pluralize(len(hypothesis_rows), 'row')} and references has {len(reference_rows)}: "
            "expected the same number of rows"
        )
    hypothesis_counts = np.array([len(row.documents) for row in hypothesis_rows])
    reference_counts = np.array([len(row.documents) for row in reference_rows])
    is_same = references is hypotheses or _are_same_texts(hypothesis_rows, reference_rows)
    if is_same:
        reference_rows = [_Row([], is_padded=False)] * len(hypothesis_rows)
    batches = reader.encode(_join_rows(hypothesis_rows, reference_rows))
    return [Pools(batch, hypothesis_counts, reference_counts, is_same) for batch in batches]


def _are_same_texts(hypothesis_rows: Sequence[_Row], reference_rows: Sequence[_Row]) -> bool:
    """Return whether both sides are the same texts. Arrays are not compared: their ``==`` is an array."""
    for row in (*hypothesis_rows, *reference_rows):
        if not all(isinstance(document, str) for document in row.documents):
            return False
    return hypothesis_rows == reference_rows


def _join_rows(hypothesis_rows: Sequence[_Row], reference_rows: Sequence[_Row]) -> Segments:
    """Check the documents of all rows, and return them with their kind."""
    hypotheses = [document for row in hypothesis_rows for document in row.documents]
    references = [document for row in reference_rows for document in row.documents]
    hypothesis_counts = [len(row.documents) for row in hypothesis_rows]
    reference_counts = [len(row.documents) for row in reference_rows]
    # It names the documents in errors until their kind is known.
    unread = Segments("text", hypotheses, references, reference_counts, hypothesis_counts)
    first_reference = len(hypotheses)
    all_documents = unread.documents
    if len(all_documents) == 0 or isinstance(all_documents[0], str):
        texts = checked_texts(all_documents, unread.name_of)
        return unread._replace(hypotheses=texts[:first_reference], references=texts[first_reference:])
    documents, types = checked_sequences(all_documents, unread.name_of)
    padded: list[bool] = []
    for row in (*hypothesis_rows, *reference_rows):
        padded += [row.is_padded] * len(row.documents)
    return unread._replace(
        kind=common_kind(types, documents, unread.name_of),
        hypotheses=documents[:first_reference],
        references=documents[first_reference:],
        padded=padded,
    )


def _list_rows(side: Rows, name: str) -> list[_Row]:
    """Return the rows of one side, or raise TypeError or ValueError for another object."""
    tensors = tensor_types()
    listed = to_tensor_or_list(side, name)
    if isinstance(listed, tensors) and listed.dim() != 3:
        raise ValueError(f"{name} has shape {tuple(listed.shape)}: expected (rows, documents, width)")
    if not is_sequence_like(listed):
        raise TypeError(f"{name} is {type_name(listed)}: expected a sequence of rows{sequence_advice(listed)}")
    rows = []
    for index, item in enumerate(listed):
        row = to_tensor_or_list(item, f"row {index} of {name}")
        if not is_sequence_like(row):
            is_text = isinstance(row, str)
            advice = "; pass a single row of texts in a list, as in [samples]" if is_text else sequence_advice(row)
            raise TypeError(
                f"row {index} of {name} is {type_name(row)}, {shortened(row)}: expected a sequence of documents{advice}"
            )
        is_padded = isinstance(row, tensors)
        if is_padded and row.dim() != 2:
            raise ValueError(
                f"row {index} of {name} is a tensor of shape {tuple(row.shape)}: expected (documents, width)"
            )
        rows.append(_Row(list(row), is_padded))
    return rows
