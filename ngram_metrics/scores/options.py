"""Settings that several metrics share, and their checks: what is given is refused where it is set, not later."""

from __future__ import annotations

import operator
from typing import Any, Literal, get_args

#: How the scores of sentences become one: of the summed counts, the mean of the scores, or not at all.
Average = Literal["micro", "macro", "none"]


def whole_number(value: Any) -> int | None:
    """Return an integer of any kind, numpy's for instance, as ``int``; None for what is no integer, and for a bool."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def checked_order(value: Any) -> int:
    """Return an order of n-grams as ``int``.

    Raises:
        ValueError: what is no integer of at least 1.
    """
    order = whole_number(value)
    if order is None or order <= 0:
        raise ValueError(f"ngram order must be greater than zero (got: {value})")
    return order


def exact(value: float, format_spec: str) -> str:
    """Write a number for a signature: short where that is the whole number, else with all its digits."""
    short = format(value, format_spec)
    return short if float(short) == value else repr(float(value))


def check_average(average: str) -> None:
    """Raise ValueError for an average that is none of the three."""
    if average not in get_args(Average):
        raise ValueError(f"unknown average {average!r}: expected one of {list(get_args(Average))}")
