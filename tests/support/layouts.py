"""Documents of ids as the counting module takes them, made from lists or by a reader, and back into lists."""

from collections.abc import Callable, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any

import numpy as np
import torch

from ngram_metrics._core.counting import batch as batch_module
from ngram_metrics._core.counting.batch import FIRST_TOKEN, number_ids
from ngram_metrics._core.counting.padded_batch import PaddedBatch, pad_batch
from ngram_metrics._core.text.input_forms import read
from ngram_metrics._core.text.reader import Reader

Ids = Sequence[int]
Batch = Sequence[tuple[Ids, Sequence[Ids]]]


def read_batch(reader: Reader, preds: Any, target: Any) -> Any:
    """Hypotheses and references as a metric gets them: a batch for each kind of token."""
    return reader.encode(read(preds, target, reader.sample_padding))


def encoded(reader: Reader, preds: Any, target: Any) -> list[Any]:
    """Each hypothesis with its references, as the first batch has them, with tokens numbered by segment."""
    return numbered_segments(segments_of(read_batch(reader, preds, target)[0]))


def numbered_segments(segments: Sequence[tuple[Any, Sequence[Any]]]) -> list[Any]:
    """Hypotheses with their references; ids say nothing about other segments."""
    return [numbered([hypothesis, list(references)]) for hypothesis, references in segments]


def apart(batch: Sequence[tuple[Any, Sequence[Any]]]) -> tuple[list[Any], list[list[Any]]]:
    """Hypotheses, and the references of each."""
    return [hypothesis for hypothesis, _ in batch], [list(references) for _, references in batch]


def numbered(nested: Any, names: dict[Any, int] | None = None) -> Any:
    """Lists of tokens, however nested, with each token as the number of its first place: equal where the tokens are."""
    names = {} if names is None else names
    if isinstance(nested, list):
        return [numbered(one, names) for one in nested]
    return names.setdefault(nested, len(names))


def _int64(values: Sequence) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int64, device="cpu")


def array_batch(batch: Batch, separator: int | None = None) -> batch_module.Batch:
    """Segments in NumPy; a ``separator`` ends a sentence."""
    documents = [document for hypothesis, references in batch for document in (hypothesis, *references)]
    counts = np.array([len(references) for _, references in batch], np.int64)
    tokens = np.array([*chain.from_iterable(documents)], np.int64)
    lengths = np.array([*map(len, documents)], np.int64)
    return number_ids(tokens, lengths, None if (counts == 1).all() else counts, separator)


def tensor_batch(batch: Batch, spare: int = 1) -> PaddedBatch:
    """Segments in torch, with ``spare`` padding in each row, and as many references as a segment has at most.

    Missing references are rows of padding behind those of their segment.
    """
    count = max((len(references) for _, references in batch), default=1)
    rows: list[Ids] = []
    for _, references in batch:
        rows += [*references, *[[]] * (count - len(references))]
    hypotheses, others = (pad_rows(side, spare) for side in ([hypothesis for hypothesis, _ in batch], rows))
    return pad_batch(hypotheses, others.reshape(len(batch), count, others.shape[1]), (-1,))


def pad_rows(documents: Sequence[Ids], spare: int = 0, padding: int = -1) -> torch.Tensor:
    """Documents as rows of one width."""
    width = max(map(len, documents), default=0) + spare
    return _int64([[*document, *[padding] * (width - len(document))] for document in documents]).reshape(
        len(documents), width
    )


def segments_of(batch: batch_module.Batch | PaddedBatch) -> list[tuple[list[int], list[list[int]]]]:
    """Each hypothesis with its references, of padded rows without missing ones; in NumPy with numbers from 0 as ids."""
    if isinstance(batch, PaddedBatch):
        present = torch.ones_like(batch.lengths) if batch.present is None else batch.present
        return [
            (
                hypothesis[:length].tolist(),
                [row[:size].tolist() for row, size, is_there in zip(rows, sizes, there, strict=True) if is_there],
            )
            for hypothesis, length, rows, sizes, there in zip(
                batch.hypotheses, batch.hypothesis_lengths, batch.references, batch.lengths, present, strict=True
            )
        ]
    assert batch.ids.max(initial=0) < batch.bound
    ends = (batch.lengths + 1).cumsum().tolist()
    documents = [(batch.ids[start : end - 1] - FIRST_TOKEN).tolist() for start, end in pairwise((0, *ends))]
    counts = [1] * (len(documents) // 2) if batch.counts is None else batch.counts.tolist()
    return [(first, others) for first, *others in by_count(documents, [count + 1 for count in counts])]


def padded_with_gaps(
    documents: Sequence[Ids], longest: int, before: Sequence[int] = (), between: int = 0
) -> list[list[int]]:
    """Rows of one width with padding at the front, after every id, and zeros up to the end."""
    rows = [[*before, *chain.from_iterable((token, between) for token in document)] for document in documents]
    width = len(before) + 2 * longest
    return [row + [0] * (width - len(row)) for row in rows]


def by_count(items: Sequence[Any], counts: Sequence[int]) -> list[list[Any]]:
    """Items that lie end to end in lists of so many; all of them are in one."""
    ends = [0, *accumulate(counts)]
    assert ends[-1] == len(items)
    return [list(items[begin:end]) for begin, end in pairwise(ends)]


PADDING, IGNORED = 0, -100


def text_of(ids: Ids) -> str:
    return " ".join("abcde"[token_id - 1] for token_id in ids)


def spread(ids: Ids) -> list[int]:
    """A row with padding before the ids, between any two of them, and after them."""
    row = [IGNORED, *chain.from_iterable((token_id, PADDING) for token_id in ids)]
    return row + [PADDING] * (20 - len(row))


def inputs(batch: Batch, text: Callable[[Ids], str] = text_of) -> dict[str, tuple[Any, Any, dict[str, Any]]]:
    """Ids from 1 on in every kind of input: hypotheses, references, and the options that reading them needs."""
    preds, target = apart(batch)

    def each(read: Callable[[Ids], Any]) -> tuple[list[Any], list[Any]]:
        return list(map(read, preds)), [list(map(read, references)) for references in target]

    padding = {"pad_id": (PADDING, IGNORED)}
    count = max(map(len, target))
    rows = _int64(list(map(spread, preds))), _int64([list(map(spread, r + [[]] * (count - len(r)))) for r in target])
    found = {
        "text": (*each(text), {}),
        "tokens": (*each(lambda ids: text(ids).split()), {}),
        "lists": (preds, target, {}),
        "tensors": (*each(_int64), {}),
        "padded lists": (*each(spread), padding),
        "rows": (*rows, padding),
        "arrays": (*(row.numpy().astype(np.int16) for row in rows), padding),
        "rows beside lists": (rows[0], target, padding),
    }
    if count == 1:
        found["single rows"] = rows[0], rows[1][:, 0], padding
        found["tensors beside rows"] = found["tensors"][0], rows[1][:, 0], padding
    return found
