"""How values and texts are shown in messages, and how users are warned."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

#: From the index of a segment or text to its name in an error message.
NameOf: TypeAlias = Callable[[int], str]
#: Characters that are invisible or change how text is shown: controls, direction marks and surrogates.
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")

#: This package and the frameworks that call it. Warnings never point to their lines.
_SKIPPED = ("ngram_metrics", "torch", "torchmetrics", "ignite", "lightning", "pytorch_lightning", "transformers", "trl")


def warn_user(message: str) -> None:
    """Give a UserWarning that points to the user's line, the last one outside this package and the frameworks."""
    frame = sys._getframe()
    level = 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _SKIPPED:
        frame = frame.f_back
        level += 1
    warnings.warn(message, UserWarning, stacklevel=level)


def shortened(value: object, width: int = 60) -> str:
    """Return the ``repr`` of a value, shortened to ``width`` characters for an error message."""
    try:
        text = repr(value)
    except ValueError:  # Python refuses to write integers of over 4,300 decimals, even inside a list
        text = hex(value) if isinstance(value, int) else object.__repr__(value)
    return text if len(text) <= width else text[: width - 3] + "..."


def pluralize(count: int, noun: str) -> str:
    """Return a number with its noun, such as ``1 segment`` and ``2 segments``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def type_name(value: object) -> str:
    """Return the name of an object's type with its article, such as ``a list`` and ``an int``."""
    name = type(value).__name__
    begins_with_vowel = name[0] in "AEIOaeio" or name.startswith("nd")  # "en-dee-array"
    article = "an" if begins_with_vowel else "a"
    return f"{article} {name}"


@contextmanager
def numbered_from(first: int, name: str) -> Iterator[None]:
    """Let a TypeError or ValueError about a part of the input say where this part begins.

    ``first`` is the first segment of the part; 0 leaves the message unchanged. ``name`` formats it, such as
    ``"row {}"``.
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        if first == 0:
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{error} (segment 0 is {name.format(first)})") from error


def visible(text: str) -> str:
    """Return text with invisible characters written as code points."""
    return _HIDDEN.sub(lambda found: f"[U+{ord(found[0]):04X}]", text)


def name_unhashable(documents: Sequence[Sequence[Hashable]], name_of: NameOf) -> None:
    """Raise a TypeError that names the first document with a token that is not hashable."""
    for index, document in enumerate(documents):
        for token in document:
            try:
                hash(token)
            except TypeError as error:
                raise TypeError(
                    f"{name_of(index)} has the token {shortened(token)}, {type_name(token)}: expected a hashable"
                ) from error


def warn_of_no_segment() -> None:
    """Warn that a value is a score without segments."""
    warn_user("no segments were counted, so the score is meaningless")
