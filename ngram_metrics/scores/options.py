"""Settings that several metrics share, and their checks: what is given is refused where it is set, not later."""

from __future__ import annotations

import math
import operator
from typing import Literal, SupportsIndex, get_args

#: How the scores of sentences become one: of the summed counts, the mean of the scores, or not at all.
Average = Literal["micro", "macro", "none"]
#: The longest order of n-grams. Each order takes time, and 8 bytes or more for each sentence: the limit lies far above
#: what anybody counts, so that a number in the wrong place is an error and no endless run.
MAX_ORDER = 1000


def whole_number(value: object) -> int | None:
    """Return an integer of any kind, numpy's for instance, as ``int``; None for what is no integer, and for a bool."""
    try:
        return operator.index(value) if isinstance(value, SupportsIndex) and not isinstance(value, bool) else None
    except TypeError:
        return None


def checked_order(value: object, name: str = "ngram order", lowest: int = 1) -> int:
    """Return an order of n-grams as ``int``.

    Args:
        value: what was given.
        name: what it is called in an error.
        lowest: 1, or 0 where an order may be left out.

    Raises:
        TypeError: what is no integer.
        ValueError: an integer outside ``lowest`` .. :data:`MAX_ORDER`.
    """
    order = whole_number(value)
    if order is None:
        raise TypeError(f"{name} must be an integer (got: {value!r})")
    if order < lowest:
        # The words about 1 are ignite's.
        raise ValueError(
            f"{name} must be {f'at least {lowest}' if lowest != 1 else 'greater than zero'} (got: {value})"
        )
    if order > MAX_ORDER:
        raise ValueError(f"{name} must be at most {MAX_ORDER} (got: {value})")
    return order


def checked_number(value: object, name: str) -> float:
    """Return a number as ``float``.

    Raises:
        TypeError: what is no number.
        ValueError: a number below 0, or one that is not finite.
    """
    # float() reads a str, which has no __float__.
    if not hasattr(value, "__float__"):
        raise TypeError(f"{name} must be a number (got: {value!r})")
    number = float(value)
    if not 0 <= number < math.inf:
        raise ValueError(f"{name} must be at least 0 and finite (got: {value})")
    return number


def exact(value: float, format_spec: str) -> str:
    """Write a number for a signature: short where that is the whole number, else with all its digits."""
    short = format(value, format_spec)
    return short if float(short) == value else repr(float(value))


def check_average(average: str) -> None:
    """Raise ValueError for an average that is none of the three."""
    if average not in get_args(Average):
        raise ValueError(f"unknown average {average!r}: expected one of {list(get_args(Average))}")
