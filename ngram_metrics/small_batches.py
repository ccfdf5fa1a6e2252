"""Small batches on a CPU, counted and scored in plain Python, where each operation on arrays costs more than its work.

The counts are those of arrays. Scores may differ from those of arrays in the last bit, as ``math.exp`` does from
``torch.exp``, so what looks for equal scores, such as a paired test, uses arrays for any number of rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import Any

import torch
from torch import Tensor

from ngram_metrics.counting import numpy_matches
from ngram_metrics.counting.numpy_matches import must_use_torch
from ngram_metrics.scores.measure import AnyMeasure
from ngram_metrics.text.input_forms import PaddedSegments, Segments
from ngram_metrics.text.reader import Reader

#: More rows are scored as an array.
ROWS = 16


def is_counted_in_python(
    reader: Reader, measure: AnyMeasure, segments: Segments | PaddedSegments, device: torch.device
) -> bool:
    """Return whether a batch is counted in plain Python: a small one on a CPU, of what the reader reads in Python."""
    if device.type != "cpu" or numpy_matches.FORCES_TORCH or not len(segments.hypotheses):
        return False
    if isinstance(segments, PaddedSegments):
        slots = segments.hypotheses.numel() + segments.references.numel()
        is_small = slots < measure.python_token_limit and not must_use_torch()
    else:
        limit = measure.python_text_limit if segments.kind == "text" else measure.python_token_limit
        # It stops at the limit: of a large batch only the first documents are looked at.
        sizes = accumulate(map(len, chain(segments.hypotheses, segments.references)))
        is_small = all(size < limit for size in sizes)
    return is_small and reader.reads_in_python(segments)


def count_in_python(
    reader: Reader, measure: AnyMeasure, segments: Segments | PaddedSegments
) -> tuple[list[list[int]], list[int]]:
    """Return the counts of each segment as a row, and the numbers of references.

    Raises:
        TypeError, ValueError: the errors of ``Reader.encode``.
    """
    hypotheses, references, counts = reader.read_in_python(segments)
    rows: list[list[int]] = []
    start = 0
    for hypothesis, count in zip(hypotheses, counts, strict=True):
        fields = measure.count_in_python(hypothesis, references[start : start + count])
        rows.append([*chain.from_iterable([field] if isinstance(field, int) else field for field in fields)])
        start += count
    return rows, counts


def scores_of_few(measure: AnyMeasure, rows: Tensor | Sequence[Sequence[int]]) -> Tensor | None:
    """Return the scores of rows ``(rows, fields)``, or None if they are many, or not on the CPU."""
    if not 0 < len(rows) <= ROWS or not measure.python_text_limit:
        return None
    if isinstance(rows, Tensor):
        if rows.device.type != "cpu" or must_use_torch():
            return None
        rows = rows.tolist()
    widths = measure.layout.widths
    try:
        scores = [measure.score_in_python(*_fields(row, widths)) for row in rows]
    except OverflowError:  # weights may make a score infinite
        return None
    return torch.tensor(scores, dtype=torch.float64, device="cpu")


def _fields(row: Sequence[Any], widths: Iterable[int | None]) -> Iterator[Any]:
    """Yield the fields of a row."""
    start = 0
    for width in widths:
        yield row[start] if width is None else row[start : start + width]
        start += width or 1
