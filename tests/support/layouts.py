"""Segments in the layouts that a user passes, and the segments that a reader made of them, as lists.

A batch of the tests is a list of segments ``(hypothesis, references)``.
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, pairwise, zip_longest
from typing import Any

import torch

from ngram_metrics._core.counting.batch import FIRST_TOKEN, Batch
from ngram_metrics._core.text.reader import Reader

Ids = Sequence[int]
Segment = tuple[Any, Sequence[Any]]
#: The ids that fill the rows of `padded` and `with_gaps`.
PADDING = (1_000_000, -100)


def apart(batch: Sequence[Segment]) -> tuple[list[Any], list[list[Any]]]:
    """Hypotheses, and the references of each: ``preds`` and ``target``."""
    return [hypothesis for hypothesis, _ in batch], [list(references) for _, references in batch]


def streams(target: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """References as sacrebleu takes them: the first of all segments, the second, ...; None where there is none."""
    return list(map(list, zip_longest(*target)))


def by_count(items: Sequence[Any], counts: Iterable[int]) -> list[list[Any]]:
    """Items that lie end to end, in lists of so many; all of them are in one."""
    ends = [0, *accumulate(counts)]
    assert ends[-1] == len(items)
    return [list(items[begin:end]) for begin, end in pairwise(ends)]


def with_gaps(documents: Sequence[Ids], longest: int) -> list[list[int]]:
    """Rows of one width with padding at the front, after every id, and up to the end."""
    pad, negative = PADDING
    rows = [[negative, *chain.from_iterable((token, pad) for token in document)] for document in documents]
    return [row + [pad] * (2 * longest + 1 - len(row)) for row in rows]


def padded(batch: Sequence[Segment], gaps: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    """Hypotheses ``(segments, width)`` and references ``(segments, references, width)``, of two widths.

    Padding is behind the ids, with ``gaps`` anywhere. Rows of padding, the first ones, stand for missing references.
    """
    hypotheses, references = apart(batch)
    count = max(map(len, references), default=1)
    rows = [*chain.from_iterable([*[[]] * (count - len(several)), *several] for several in references)]
    sides = []
    for side in (hypotheses, rows):
        longest = max(map(len, side), default=0)
        filled = with_gaps(side, longest) if gaps else [[*one, *[PADDING[1]] * (longest - len(one))] for one in side]
        sides.append(torch.tensor(filled, dtype=torch.int64).reshape(len(side), -1 if side else 0))
    return sides[0], sides[1].reshape(len(batch), count, sides[1].shape[1])


def read_batch(reader: Reader, preds: Any, target: Any) -> Any:
    """Hypotheses and references as a metric gets them: a batch for each kind of token."""
    return reader.read(preds, target, is_first=False).batches


def encoded(reader: Reader, preds: Any, target: Any) -> list[Any]:
    """Each hypothesis with its references, as the first batch has them, with tokens numbered by segment."""
    return numbered_segments(segments_of(read_batch(reader, preds, target)[0]))


def numbered_segments(segments: Sequence[Segment]) -> list[Any]:
    """Hypotheses with their references; ids say nothing about other segments."""
    return [numbered([hypothesis, list(references)]) for hypothesis, references in segments]


def numbered(nested: Any, names: dict[Any, int] | None = None) -> Any:
    """Lists of tokens, however nested, with each token as the number of its first place: equal where the tokens are."""
    names = {} if names is None else names
    if isinstance(nested, list):
        return [numbered(one, names) for one in nested]
    return names.setdefault(nested, len(names))


def segments_of(batch: Batch) -> list[Segment]:
    """Each hypothesis with its references, with numbers from 0 as ids."""
    assert batch.ids.max(initial=0) < batch.bound
    ends = (batch.lengths + 1).cumsum().tolist()
    documents = [(batch.ids[start : end - 1] - FIRST_TOKEN).tolist() for start, end in pairwise((0, *ends))]
    counts = batch.count_references().tolist()
    return [(first, others) for first, *others in by_count(documents, [count + 1 for count in counts])]
