"""Rows of documents. All hypotheses of a row are compared with all references of that row.

A batch is a sequence of rows, or one padded id tensor ``(rows, documents, width)``. A row is a sequence of documents,
or one padded id tensor ``(documents, width)``. A document is text, tokens or ids, see ``_core.text.input_forms``. All
padding is an empty document.
"""

from __future__ import annotations

import numpy as np

from ngram_metrics._core.counting.pools import Pools
from ngram_metrics._core.text.foreign_values import is_sequence_like, sequence_advice, tensor_types
from ngram_metrics._core.text.input_types import Groups
from ngram_metrics._core.text.messages import pluralize, shortened, type_name
from ngram_metrics._core.text.padded_segments import to_tensor_or_list
from ngram_metrics._core.text.reader import Reader
from ngram_metrics._core.text.segments import Documents, Segments
from ngram_metrics._core.text.text_segments import checked_texts
from ngram_metrics._core.text.token_segments import checked_sequences, common_kind


def read_pools(reader: Reader, hypotheses: Groups, references: Groups) -> list[Pools]:
    """Read rows of hypotheses and of references. If both are the same object, or the same texts, read them once.

    Returns:
        The documents for each kind of token of the reader: words, or characters and, for chrF++, words.

    Raises:
        TypeError: a str instead of a row, or a document that cannot be read.
        ValueError: no rows, different numbers of rows, a tensor of a wrong shape, padded ids without ``pad_id``.
    """
    sides = [_split(hypotheses, "hypotheses")]
    sides.append(sides[0] if references is hypotheses else _split(references, "references"))
    if not all(sides):
        raise ValueError("hypotheses and references must be non-empty: expected at least one row")
    if len(sides[0]) != len(sides[1]):
        raise ValueError(
            f"hypotheses has {pluralize(len(sides[0]), 'row')} and references has {len(sides[1])}: expected the same "
            "batch size"
        )
    counts = [np.array([len(row) for row, _ in side]) for side in sides]
    # Only texts can be compared: arrays have no single truth value.
    are_texts = all(isinstance(document, str) for side in sides for row, _ in side for document in row)
    is_same = references is hypotheses or (are_texts and sides[0] == sides[1])
    if is_same:
        sides[1] = [([], False)] * len(sides[0])
    batches = reader.encode(_join_rows(*sides))
    return [Pools(batch, counts[0], counts[1], is_same) for batch in batches]


def _join_rows(hypotheses: list[tuple[Documents, bool]], references: list[tuple[Documents, bool]]) -> Segments:
    """Check the documents of all rows, and return them with their kind."""
    all_hypotheses = [document for row, _ in hypotheses for document in row]
    all_references = [document for row, _ in references for document in row]
    hypothesis_counts = [len(row) for row, _ in hypotheses]
    reference_counts = [len(row) for row, _ in references]
    # Before its kind is known, it names the documents in errors.
    unread = Segments("text", all_hypotheses, all_references, reference_counts, hypothesis_counts)
    first_reference = len(all_hypotheses)
    if isinstance(next(iter(unread.documents), ""), str):
        texts = checked_texts(unread.documents, unread.name_of)
        return unread._replace(hypotheses=texts[:first_reference], references=texts[first_reference:])
    documents, types = checked_sequences(unread.documents, unread.name_of)
    return unread._replace(
        kind=common_kind(types, documents, unread.name_of),
        hypotheses=documents[:first_reference],
        references=documents[first_reference:],
        padded=[is_padded for row, is_padded in (*hypotheses, *references) for _ in row],
    )


def _split(side: Groups, name: str) -> list[tuple[Documents, bool]]:
    """Return the documents of each row, and whether the row is a padded tensor or array."""
    tensors = tensor_types()
    listed = to_tensor_or_list(side, name)
    if isinstance(listed, tensors) and listed.dim() != 3:
        raise ValueError(f"{name} has shape {tuple(listed.shape)}: expected (rows, documents, width)")
    if not is_sequence_like(listed):
        raise TypeError(f"{name} is {type_name(listed)}: expected a sequence of rows{sequence_advice(listed)}")
    rows = []
    for index, row in enumerate(listed):
        row = to_tensor_or_list(row, f"row {index} of {name}")
        if not is_sequence_like(row):
            hint = (
                "; a single row of texts goes into a list, as in [samples]"
                if isinstance(row, str)
                else sequence_advice(row)
            )
            raise TypeError(
                f"row {index} of {name} is {type_name(row)}, {shortened(row)}: expected a sequence of documents{hint}"
            )
        if isinstance(row, tensors) and row.dim() != 2:
            raise ValueError(
                f"row {index} of {name} is a tensor of shape {tuple(row.shape)}: expected (documents, width)"
            )
        rows.append((list(row), isinstance(row, tensors)))
    return rows
