"""Documents of ids in the two layouts of the counting module, made from lists or by a reader, and back into lists."""

from collections.abc import Callable, Sequence
from itertools import accumulate, chain, compress, pairwise
from typing import Any

import numpy as np
import torch

from ngram_metrics._core.counting.documents import (
    PAST_HYPOTHESIS,
    PAST_REFERENCE,
    DocumentGroups,
    PaddedReferences,
    PaddedSides,
    PaddedTokens,
    RaggedSides,
    RaggedTokens,
)
from ngram_metrics._core.text.input_forms import read
from ngram_metrics._core.text.reader import Reader

Ids = Sequence[int]
Batch = Sequence[tuple[Ids, Sequence[Ids]]]


def read_batch(reader: Reader, preds: Any, target: Any, device: Any = "cpu") -> Any:
    """Hypotheses and references as a metric gets them."""
    return reader.encode(read(preds, target, reader.sample_padding))


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


def ragged(documents: Sequence[Ids], id_bound: int | None = None) -> RaggedTokens:
    """Documents laid end to end; without `id_bound` the ids are said to be below what they are below."""
    ids = list(chain.from_iterable(documents))
    bound = min(max(ids, default=0) + 1, 2**63 - 1) if id_bound is None else id_bound
    return RaggedTokens(_int64(ids), _int64([len(document) for document in documents]), bound)


def groups(several: Sequence[Sequence[Ids]], id_bound: int | None = None) -> DocumentGroups:
    """Documents that are compared with each other."""
    return DocumentGroups(ragged(list(chain.from_iterable(several)), id_bound), _int64([len(one) for one in several]))


def padded(
    documents: Sequence[Ids], spare: int = 0, rubbish: Sequence[int] = (7,), width: int | None = None
) -> PaddedTokens:
    """Rows with ids past their ends, which may stand in the documents too."""
    width = (max(map(len, documents), default=0) if width is None else width) + spare
    rows = [[*document, *(rubbish[i % len(rubbish)] for i in range(width - len(document)))] for document in documents]
    return PaddedTokens(_int64(rows).reshape(len(documents), width), _int64([len(document) for document in documents]))


def padded_with_gaps(
    documents: Sequence[Ids], longest: int, before: Sequence[int] = (), between: int = 0
) -> list[list[int]]:
    """Rows of one width with padding at the front, after every id, and zeros up to the end."""
    rows = [[*before, *chain.from_iterable((token, between) for token in document)] for document in documents]
    width = len(before) + 2 * longest
    return [row + [0] * (width - len(row)) for row in rows]


def ragged_sides(batch: Batch) -> RaggedSides:
    return RaggedSides(ragged([hypothesis for hypothesis, _ in batch]), groups([references for _, references in batch]))


def padded_sides(batch: Batch, spare: int = 1, count: int | None = None, first: bool = True) -> PaddedSides:
    """As many references a sentence as the most has, or `count`; those missing stand last, or first.

    What stands past the ends is in no document, and not in both sides.
    """
    count = max((len(references) for _, references in batch), default=1) if count is None else count
    rows, present = [], []
    for _, several in batch:
        missing = count - len(several)
        rows += [*several, *[[]] * missing] if first else [*[[]] * missing, *several]
        there = [True] * len(several) + [False] * missing
        present.append(there if first else there[::-1])
    ids, lengths = padded(rows, spare, (PAST_REFERENCE,))
    tokens = PaddedTokens(ids.reshape(len(batch), count, ids.shape[1]), lengths.reshape(len(batch), count))
    there = torch.tensor(present, dtype=torch.bool).reshape(len(batch), count) if count > 1 else None
    hypotheses = padded([hypothesis for hypothesis, _ in batch], 0, (PAST_HYPOTHESIS,))
    return PaddedSides(hypotheses, PaddedReferences(tokens, there))


def documents_of(tokens: PaddedTokens | RaggedTokens) -> list[list[int]]:
    """Of any leading shape, one after another."""
    if isinstance(tokens, PaddedTokens):
        rows = zip(tokens.ids.flatten(0, -2), tokens.lengths.flatten(), strict=True)
        return [row[:length].tolist() for row, length in rows]
    return [ids.tolist() for ids in tokens.ids.split(tokens.lengths.tolist())]


def by_count(items: Sequence[Any], counts: Sequence[int]) -> list[list[Any]]:
    """Items that lie end to end in lists of so many; all of them are in one."""
    ends = [0, *accumulate(counts)]
    assert ends[-1] == len(items)
    return [list(items[begin:end]) for begin, end in pairwise(ends)]


def present_references(references: PaddedReferences) -> list[list[list[int]]]:
    """The references of each hypothesis that are not missing."""
    lengths = references.tokens.lengths
    present = (torch.ones_like(lengths) if references.present is None else references.present).tolist()
    rows = by_count(documents_of(references.tokens), list(map(len, present)))
    return [list(compress(documents, here)) for documents, here in zip(rows, present, strict=True)]


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
