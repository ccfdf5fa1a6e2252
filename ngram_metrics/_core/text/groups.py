"""Rows of documents: any number of hypotheses and references per row, which are compared with each other.

A batch is a sequence of rows, or one padded id tensor ``(rows, documents, width)``. A row is a sequence of documents,
or one padded id tensor ``(documents, width)``. A document is text, tokens or ids, see
``_core.text.input_forms``. A document of a padded tensor that is all padding is an empty document.
"""

from __future__ import annotations

from itertools import chain

from ngram_metrics._core.basics.lazy import torch
from ngram_metrics._core.counting.documents import DocumentGroups, RaggedSides, host_counts
from ngram_metrics._core.text.foreign_values import is_sequence_like
from ngram_metrics._core.text.input_forms import Documents, Segments, checked_segments, common_kind, to_tensor_or_list
from ngram_metrics._core.text.input_types import Groups
from ngram_metrics._core.text.messages import pluralize, shortened, type_name
from ngram_metrics._core.text.reader import Reader


def read_rows(reader: Reader, hypotheses: Groups, references: Groups) -> list[tuple[DocumentGroups, DocumentGroups]]:
    """Read as many rows of hypotheses as of references, and the same object or texts only once.

    Returns:
        Hypotheses and references, grouped by row, for each kind of token of the reader: words, or characters and for
        chrF++ words too. The same object twice if the references are the hypotheses.

    Raises:
        TypeError: a str instead of a row, or a document that cannot be read.
        ValueError: no rows, different numbers of rows, a tensor of a wrong shape, padded ids without ``pad_id``.
    """
    documents, same = _join_rows(hypotheses, references)
    assert documents.hypothesis_counts is not None
    batch = reader.encode(documents)
    counts = host_counts(documents.hypothesis_counts)
    pairs = []
    for sides in (batch.sides, batch.words):
        if isinstance(sides, RaggedSides):
            grouped = DocumentGroups(sides.hypotheses, counts)
            pairs.append((grouped, grouped if same else sides.references))
    return pairs


def _join_rows(hypotheses: Groups, references: Groups) -> tuple[Segments, bool]:
    """Return the documents of all rows, and whether the references are the hypotheses, which are then left out."""
    same = references is hypotheses
    split = [_split(hypotheses, "hypotheses")]
    split += split if same else [_split(references, "references")]
    if not (len(split[0]) and len(split[1])):
        raise ValueError("hypotheses and references must be non-empty: expected at least one row")
    if len(split[0]) != len(split[1]):
        raise ValueError(
            f"hypotheses has {pluralize(len(split[0]), 'row')} and references has {len(split[1])}: expected the same "
            "batch size"
        )
    flat = [list(chain.from_iterable(documents for documents, _ in side)) for side in split]
    counts = [[len(documents) for documents, _ in side] for side in split]
    is_text = isinstance(next(chain(*flat), ""), str)
    # Only lists of text are compared: comparing arrays, which raise an error below, gives no single truth value.
    all_text = is_text and all(isinstance(document, str) for document in chain.from_iterable(flat))
    same = same or (all_text and flat[0] == flat[1] and counts[0] == counts[1])
    if same:
        flat[1], counts[1] = [], [0] * len(split[0])
    # These name the documents in errors before their kind is known.
    unread = Segments("text", flat[0], flat[1], counts[1], counts[0])
    every, types = checked_segments(unread.documents, is_text, unread.name_of)
    documents = unread._replace(hypotheses=every[: len(flat[0])], references=every[len(flat[0]) :])
    if not is_text:
        padded = [is_padded for side in split[: 1 if same else 2] for row, is_padded in side for _ in row]
        kind = common_kind(types, every, unread.name_of)
        documents = documents._replace(kind=kind, padded=padded, token_types=types)
    return documents, same


def _split(side: Groups, name: str) -> list[tuple[Documents, bool]]:
    """Return the documents of each row, and whether they were given as one padded tensor or array."""
    listed = to_tensor_or_list(side, name)
    if isinstance(listed, torch.Tensor) and listed.dim() != 3:
        raise ValueError(f"{name} has shape {tuple(listed.shape)}: expected (rows, documents, width)")
    if not is_sequence_like(listed):
        raise TypeError(f"{name} is {type_name(listed)}: expected a sequence of rows")
    rows = []
    for index, row in enumerate(listed):
        row = to_tensor_or_list(row, f"row {index} of {name}")
        if not is_sequence_like(row):
            hint = "; a single row of texts goes into a list, as in [samples]" if isinstance(row, str) else ""
            raise TypeError(
                f"row {index} of {name} is {type_name(row)}, {shortened(row)}: expected a sequence of documents{hint}"
            )
        if isinstance(row, torch.Tensor) and row.dim() != 2:
            raise ValueError(
                f"row {index} of {name} is a tensor of shape {tuple(row.shape)}: expected (documents, width)"
            )
        rows.append((list(row), isinstance(row, torch.Tensor)))
    return rows
