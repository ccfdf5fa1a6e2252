"""Settings that several metrics share, and their checks, which run when a metric is constructed."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Literal, SupportsIndex

#: How sentences become one score: the score of the summed counts, the mean of the scores, or no averaging.
Average = Literal["micro", "macro", "none"]
#: The longest order of n-grams. Each order takes time, and 8 bytes or more per sentence. The limit is far above any
#: useful order, so that a misplaced number is an error and not an endless run.
MAX_ORDER = 1000


def whole_number(value: object) -> int | None:
    """Return an integer of any type, such as numpy's, as ``int``; None for a bool and for any other object."""
    try:
        return operator.index(value) if isinstance(value, SupportsIndex) and not isinstance(value, bool) else None
    except TypeError:
        return None


def checked_order(value: object, name: str = "ngram order", lowest: int = 1) -> int:
    """Return an order of n-grams as ``int``.

    Args:
        value: the order.
        name: its name in an error message.
        lowest: 1, or 0 if the order may be left out.

    Raises:
        TypeError: a value that is not an integer.
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
        TypeError: a value that is not a number.
        ValueError: a number below 0, or one that is not finite.
    """
    # float() would accept a str, which has no __float__.
    if not hasattr(value, "__float__"):
        raise TypeError(f"{name} must be a number (got: {value!r})")
    try:
        number = float(value)
    except OverflowError:  # an int without a limit
        number = math.inf
    if not 0 <= number < math.inf:
        # A long int cannot be written.
        raise ValueError(f"{name} must be at least 0 and finite (got: {number if number == math.inf else value})")
    return number


def exact(value: float, format_spec: str) -> str:
    """Write a number for a signature: in the short format if it is exact, else with all its digits."""
    short = format(value, format_spec)
    return short if float(short) == value else repr(float(value))


def check_choice(name: str, value: object, choices: Iterable[object]) -> None:
    """Raise ValueError for a value that is not among those that an option of this name has."""
    known = list(choices)
    if value not in known:
        raise ValueError(f"unknown {name} {value!r}: expected one of {known}")


def refuse_equal_names(names: Iterable[tuple[str, Iterable[str]]]) -> None:
    """Raise ValueError if two metrics write one name.

    Args:
        names: the name of each metric, and the names that it writes.
    """
    writers: dict[str, str] = {}
    for metric, written in names:
        for name in written:
            if name in writers:
                raise ValueError(
                    f"the metrics {writers[name]!r} and {metric!r} both write {name!r}: expected other names"
                )
            writers[name] = metric


def refuse_average_none(name: str, metric: object) -> None:
    """Raise ValueError for a metric with ``average="none"``, which does not compute a single number."""
    if getattr(metric, "average", None) == "none":
        raise ValueError(f"the metric {name} has average='none': expected one that computes a single number")
