"""How values and texts are shown."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

#: Returns the name of a segment or text in an error message, from its index.
NameOf: TypeAlias = Callable[[int], str]
#: Characters without a visible form, or that change how text is shown: controls, also of direction, and surrogates.
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")

#: This package and the frameworks that call it, whose lines are not the user's.
_SKIPPED = ("ngram_metrics", "torch", "torchmetrics", "ignite", "lightning", "pytorch_lightning", "transformers", "trl")


def warn_user(message: str) -> None:
    """Give a UserWarning that names the user's line: the last one outside this package and the frameworks."""
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
    except ValueError:  # Python writes no integer of more than 4,300 digits, also in a list, but as a hexadecimal one
        text = hex(value) if isinstance(value, int) else object.__repr__(value)
    return text if len(text) <= width else text[: width - 3] + "..."


def pluralize(count: int, noun: str) -> str:
    """Return a number with its noun, such as ``1 segment`` and ``2 segments``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the end of an error message that names the closest of the known words, or an empty string."""
    from difflib import get_close_matches  # only errors need it

    words = {name.lower(): name for name in known}
    close = get_close_matches(word.lower(), words, 1)
    return f"; did you mean {words[close[0]]!r}?" if close else ""


def type_name(value: object) -> str:
    """Return the name of an object's type with its article, such as ``a list`` and ``an int``."""
    name = type(value).__name__
    return f"{'an' if name.startswith((*'AEIOaeio', 'nd')) else 'a'} {name}"


@contextmanager
def numbered_from(first: int, name: str) -> Iterator[None]:
    """Add to a TypeError or ValueError about a part of the input where this part begins.

    A ``first`` segment of 0 leaves the message unchanged; ``name``, such as ``"row {}"``, formats its number.
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        if first == 0:
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{error} (segment 0 is {name.format(first)})") from error


def visible(text: str) -> str:
    """Return text in which invisible characters are written as their code points."""
    return _HIDDEN.sub(lambda found: f"[U+{ord(found[0]):04X}]", text)


def name_unhashable(documents: Sequence[Sequence[Hashable]], name_of: NameOf) -> None:
    """Raise a TypeError that names the document whose token is not hashable."""
    for index, document in enumerate(documents):
        for token in document:
            try:
                hash(token)
            except TypeError as error:
                raise TypeError(
                    f"{name_of(index)} has the token {shortened(token)}, {type_name(token)}: expected a hashable"
                ) from error


def warn_of_no_segment() -> None:
    """Warn that a value is the score of no segment."""
    warn_user("no segment was counted: the value says nothing about a system")
