"""Statistics as rows: the fields side by side, so that they are added, gathered and stored as one tensor."""

from __future__ import annotations

from typing import Any, TypeVar

import torch
from torch import Tensor

Statistics = TypeVar("Statistics", bound=tuple[Any, ...])


def row_width(layout: tuple[int | None, ...]) -> int:
    """Return how many numbers a packed row has."""
    return sum(1 if width is None else width for width in layout)


def pack(statistics: tuple[Tensor, ...], layout: tuple[int | None, ...]) -> Tensor:
    """Lay the fields of statistics side by side: ``(..., row_width)``."""
    fields = zip(statistics, layout, strict=True)
    return torch.cat([field.unsqueeze(-1) if width is None else field for field, width in fields], -1)


def unpack(rows: Tensor, layout: Statistics) -> Statistics:
    """Undo :func:`pack`."""
    fields, start = [], 0
    for width in layout:
        fields.append(rows[..., start] if width is None else rows[..., start : start + width])
        start += 1 if width is None else width
    make: Any = type(layout)
    named: Statistics = make(*fields)
    return named
