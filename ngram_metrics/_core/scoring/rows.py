"""The counts of a segment as a row: all fields in one tensor, which can be added, gathered, stored and scored."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ngram_metrics._core.basics.lazy import np, torch
from ngram_metrics._core.basics.option_checks import Average
from ngram_metrics._core.counting.documents import has_data, host_counts
from ngram_metrics._core.counting.numpy_matches import must_use_torch
from ngram_metrics._core.scoring.measure import AnyMeasure, Layout, Measure, Statistics

if TYPE_CHECKING:
    from torch import Tensor

#: More rows are scored as an array.
PYTHON_ROWS = 16


def pack(statistics: Statistics, layout: Layout[Statistics]) -> Tensor:
    """Concatenate the fields of statistics to rows ``(..., layout.row_width)``."""
    fields = zip(statistics, layout.widths, strict=True)
    return torch.cat([field.unsqueeze(-1) if width is None else field for field, width in fields], -1)


def unpack(rows: Tensor, layout: Layout[Statistics]) -> Statistics:
    """Return the statistics of rows ``(..., layout.row_width)``: the inverse of ``pack``."""
    return layout.make(*(rows[..., columns] for columns in layout.columns))


def score_rows(measure: AnyMeasure, rows: Tensor | Sequence[Sequence[int]], most: int = PYTHON_ROWS) -> Tensor:
    """Return the scores ``(..., *score_shape)`` of packed rows, of a few counts on a CPU in plain Python.

    This alone decides between plain Python and tensors, whose scores may differ in the last bit, as ``math.exp`` and
    ``torch.exp`` do. The rows are ``(..., fields)``, or lists; more than ``most`` are scored as tensors.
    """
    if not isinstance(rows, torch.Tensor):
        if len(rows) <= most:
            return _score_in_python(measure, rows, (len(rows),))
        rows = host_counts(rows)
    is_few = 0 < rows.shape[:-1].numel() <= most and not rows.is_floating_point()
    counts_in_python = type(measure).score_in_python is not Measure.score_in_python
    if is_few and counts_in_python and not must_use_torch() and has_data(rows):
        listed = [rows.tolist()] if rows.dim() == 1 else rows.numpy().reshape(-1, rows.shape[-1]).tolist()
        return _score_in_python(measure, listed, rows.shape[:-1])
    return measure.score(unpack(rows, measure.layout))


def score_corpora(measure: AnyMeasure, sums: Tensor, segments: Tensor | int, average: Average) -> Tensor:
    """Return the scores ``(..., *score_shape)`` of corpora, from sums over their ``segments``.

    Counts are scored in plain Python, so that a corpus has the same score, to the last bit, whichever way it is counted
    and however many are scored together. Sums under weights, which are many and in floating point, are an array.
    For micro the sums are of packed statistics, ``(..., fields)``; for macro of the segments' scores, in any shape, and
    over no segment the mean is NaN.
    """
    if average == "macro":
        return sums / segments
    return score_rows(measure, sums, most=sys.maxsize)


def _score_in_python(measure: AnyMeasure, rows: Sequence[Sequence[int]], shape: tuple[int, ...]) -> Tensor:
    """Return the scores ``(*shape, *score_shape)`` of rows, one by one, in plain Python."""
    columns_of_fields = measure.layout.columns
    try:
        scores = [measure.score_in_python([row[columns] for columns in columns_of_fields]) for row in rows]
    except OverflowError:  # weights may make a score infinite
        return measure.score(unpack(host_counts(rows).reshape(*shape, -1), measure.layout))
    # A third of the time of torch.tensor.
    return torch.from_numpy(np.array(scores, np.float64).reshape((*shape, *measure.score_shape)))
