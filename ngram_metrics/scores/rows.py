"""Statistics as rows: the fields side by side, so that they are added, gathered and stored as one tensor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import torch
from torch import Tensor

#: A NamedTuple of tensors whose leading dimensions are free: one row a sentence, a sum, or a matrix of pairs.
Statistics = TypeVar("Statistics", bound=tuple[Tensor, ...])


@dataclass(frozen=True)
class Layout(Generic[Statistics]):
    """How statistics lie in a row.

    Attributes:
        make: the statistics' type.
        widths: for each field its width in a row, or None for a number without a dimension.
    """

    make: Callable[..., Statistics]
    widths: tuple[int | None, ...]


def row_width(layout: Layout[Statistics]) -> int:
    """Return how many numbers a packed row has."""
    return sum(1 if width is None else width for width in layout.widths)


def pack(statistics: Statistics, layout: Layout[Statistics]) -> Tensor:
    """Lay the fields of statistics side by side: ``(..., row_width)``."""
    fields = zip(statistics, layout.widths, strict=True)
    return torch.cat([field.unsqueeze(-1) if width is None else field for field, width in fields], -1)


def unpack(rows: Tensor, layout: Layout[Statistics]) -> Statistics:
    """Undo :func:`pack`."""
    fields, start = [], 0
    for width in layout.widths:
        fields.append(rows[..., start] if width is None else rows[..., start : start + width])
        start += 1 if width is None else width
    return layout.make(*fields)
