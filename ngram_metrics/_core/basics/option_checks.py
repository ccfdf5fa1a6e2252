"""Options that several metrics share, and their checks."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any, Literal, SupportsIndex

import numpy as np

#: How segments become one score: the score of the summed counts, the mean of the scores, or no averaging.
Average = Literal["micro", "macro", "none"]
#: The longest order of n-grams. The limit is far above any useful order: it turns a misplaced number into an error,
#: instead of a run that does not end.
MAX_ORDER = 1000
#: The largest beta, weight or smoothing value. Its square is still finite in float32.
MAX_NUMBER = 1e15
#: The resampled corpora of an interval, as in sacrebleu.
RESAMPLES = 1000
#: Words that other packages use for a choice.
_MEANT = {"corpus": "micro", "mean": "macro"}


def checked_bool(value: object, name: str) -> bool:
    """Return True, False, ``numpy.True_`` or ``numpy.False_`` as a ``bool``, or raise TypeError for another object."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False (got: {value!r})")
    return bool(value)


def check_booleans(settings: Any) -> None:
    """Check every field of a frozen dataclass that is a bool, as ``checked_bool`` does."""
    for field in fields(settings):
        if field.type == "bool":
            object.__setattr__(settings, field.name, checked_bool(getattr(settings, field.name), field.name))


def whole_number(value: object) -> int | None:
    """Return an integer of any type, such as numpy's, as ``int``, or None for a bool and for any other object."""
    if type(value) is int:  # checks against a protocol are slow
        return value
    try:
        return operator.index(value) if isinstance(value, SupportsIndex) and not isinstance(value, bool) else None
    except TypeError:
        return None


def checked_order(value: object, name: str = "ngram order", lowest: int = 1) -> int:
    """Return an order of n-grams, ``lowest`` to ``MAX_ORDER``, as ``int``, or raise TypeError or ValueError."""
    order = whole_number(value)
    if order is None:
        raise TypeError(f"{name} must be an integer (got: {value!r})")
    if order < lowest:
        # "greater than zero" is ignite's wording.
        least = f"at least {lowest}" if lowest != 1 else "greater than zero"
        raise ValueError(f"{name} must be {least} (got: {show_integer(order)})")
    if order > MAX_ORDER:
        raise ValueError(f"{name} must be at most {MAX_ORDER} (got: {show_integer(order)})")
    return order


def checked_number(value: object, name: str, highest: float = sys.float_info.max, reason: str = "") -> float:
    """Return a number from 0 to ``highest`` as ``float``, or an error with the ``reason`` for its limit."""
    if not hasattr(value, "__float__"):  # float() would also accept a str
        raise TypeError(f"{name} must be a number (got: {value!r})")
    try:
        result = float(value)
    except OverflowError:  # an int too large for float, and too long for the message
        result = math.inf
    if not 0 <= result < math.inf:
        raise ValueError(f"{name} must be at least 0 and finite (got: {result if result == math.inf else value})")
    if result > highest:
        raise ValueError(f"{name} must be at most {highest:g} (got: {value}){reason and ': '}{reason}")
    return result


def checked_confidence(confidence: object, average: str) -> float | None:
    """Return the level of a metric's intervals as ``checked_level`` does, and None unchanged.

    Average none raises ValueError: it has no interval.
    """
    if confidence is None:
        return None
    level = checked_level(confidence)
    if average == "none":
        raise ValueError(
            "average='none' gives a score for each segment, but confidence is the level of an interval for the score "
            "of all segments: pass average='micro' or 'macro', or leave out confidence"
        )
    return level


def checked_level(confidence: object, resamples: int = RESAMPLES) -> float:
    """Return the level of an interval, a number of any type, as ``float``.

    Raises:
        TypeError: not a number.
        ValueError: not between 0 and 1, or a level that ``resamples`` are too few for.
    """
    if isinstance(confidence, (bool, np.bool_)) or not hasattr(confidence, "__float__"):
        raise TypeError(f"confidence must be a number between 0 and 1, such as 0.95 (got: {confidence!r})")
    level = float(confidence)
    if not 0 < level < 1:
        raise ValueError(f"confidence must be between 0 and 1, such as 0.95 (got: {confidence})")
    # An interval leaves out at least one score at each end. The tolerance is for rounding in 1 - level.
    if resamples * (1 - level) < 2 - 1e-9:
        raise ValueError(
            f"confidence must be at most {1 - 2 / resamples:g}, the highest level that {resamples} resamples allow "
            f"(got: {confidence})"
        )
    return level


def exact(value: float, format_spec: str) -> str:
    """Write a number for a signature: in the short format if that is exact, else with all digits."""
    short = format(value, format_spec)
    return short if float(short) == value else repr(float(value))


def pad_ids(pad_id: int | Sequence[int] | None) -> tuple[int, ...]:
    """Return the ids that are not tokens as a tuple. Raise TypeError, or ValueError for an id beyond int64."""
    if pad_id is None:
        return ()
    ids = pad_id if isinstance(pad_id, Sequence) and not isinstance(pad_id, (str, bytes)) else (pad_id,)
    tokens = tuple(token for token in map(whole_number, ids) if token is not None)
    if len(tokens) < len(ids):
        hint = "; a tokenizer without this special token has None as its id: leave it out" if None in ids else ""
        raise TypeError(f"pad_id is {pad_id!r:.60}: expected an integer, a sequence of integers, or None{hint}")
    for token in tokens:
        check_id(token, "pad_id")
    return tokens


def check_id(token: int, name: str) -> None:
    """Raise ValueError for an id that does not fit int64."""
    if not -(2**63) <= token < 2**63:
        raise ValueError(f"{name} has the id {show_integer(token)}: expected ids from -2^63 to 2^63 - 1")


def show_integer(value: int) -> str:
    """Write an integer for a message, in hexadecimal if it is long: Python refuses to write over 4,300 decimals."""
    return str(value) if -(1 << 200) < value < 1 << 200 else f"{value:#x}"[:60]


def fixed_pad_id(pad_id: int | Sequence[int] | None) -> int | tuple[int, ...] | None:
    """Return a checked ``pad_id``, with several ids as an immutable tuple, or raise as ``pad_ids`` does."""
    ids = pad_ids(pad_id)
    if pad_id is None:
        return None
    return ids if isinstance(pad_id, Sequence) else ids[0]


def canonical_pad_id(pad_id: int | Sequence[int] | None) -> tuple[int, ...]:
    """Return the ids that are not tokens, each once and in ascending order, since repeats and order have no effect."""
    return tuple(sorted(set(pad_ids(pad_id))))


def refuse_missing_pad_id(dropped: tuple[int, ...]) -> None:
    """Raise ValueError if no padding id is known."""
    if not dropped:
        raise ValueError(
            "a padded tensor of ids was given without pad_id: pass the id or ids of the padding, such as pad_id=0; if "
            "nothing is padded, pass pad_id=-1"
        )


def check_choice(name: str, value: object, choices: Iterable[object]) -> None:
    """Raise ValueError if the value of the option ``name`` is not among its choices."""
    allowed = list(choices)
    if value not in allowed:
        raise ValueError(f"unknown {name} {value!r}: expected one of {allowed}{did_you_mean(str(value), allowed)}")


def did_you_mean(word: str, known: Iterable[object]) -> str:
    """Return the end of an error message that suggests the closest known word, or an empty string."""
    from difflib import get_close_matches  # imported lazily: only errors need it

    lower = word.lower()
    words = {str(name).lower(): name for name in known}
    meant = [_MEANT[lower]] if _MEANT.get(lower) in words else get_close_matches(lower, words, 1)
    meant = meant or [name for name in words if lower and name.endswith(lower)][:1]
    return f"; did you mean {words[meant[0]]!r}?" if meant else ""


def refuse_equal_names(names: Iterable[tuple[str, Iterable[str]]]) -> None:
    """Raise ValueError if two metrics write the same name. Each comes with the names that it writes."""
    writers: dict[str, str] = {}
    for metric, written in names:
        for name in written:
            if name in writers:
                raise ValueError(
                    f"the metrics {writers[name]!r} and {metric!r} both write {name!r}: expected different names"
                )
            writers[name] = metric


def refuse_average_none(name: str, metric: object) -> None:
    """Raise ValueError for a metric with ``average="none"``, because it does not compute a single number."""
    if getattr(metric, "average", None) == "none":
        raise ValueError(
            f"the metric {name!r} has average='none', which gives a score for each segment: expected 'micro' or "
            "'macro', which give one number"
        )
