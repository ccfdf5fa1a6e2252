"""Statistics as rows: all fields in one tensor, which can be added, gathered and stored as one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import torch
from torch import Tensor

#: A NamedTuple of tensors with any leading dimensions: one row per sentence, a sum, or a matrix of pairs.
Statistics = TypeVar("Statistics", bound=tuple[Tensor, ...])


@dataclass(frozen=True)
class Layout(Generic[Statistics]):
    """The columns of statistics in a row.

    Attributes:
        make: the type of the statistics.
        widths: for each field its width in a row, or None for a number without a dimension.
    """

    make: Callable[..., Statistics]
    widths: tuple[int | None, ...]


def row_width(layout: Layout[Statistics]) -> int:
    """Return the number of columns of a packed row."""
    return sum(1 if width is None else width for width in layout.widths)


def pack(statistics: Statistics, layout: Layout[Statistics]) -> Tensor:
    """Concatenate the fields of statistics to rows ``(..., row_width)``."""
    fields = zip(statistics, layout.widths, strict=True)
    return torch.cat([field.unsqueeze(-1) if width is None else field for field, width in fields], -1)


def unpack(rows: Tensor, layout: Layout[Statistics]) -> Statistics:
    """Return the statistics of rows ``(..., row_width)``: the inverse of :func:`pack`."""
    fields, start = [], 0
    for width in layout.widths:
        fields.append(rows[..., start] if width is None else rows[..., start : start + width])
        start += 1 if width is None else width
    return layout.make(*fields)
