"""What an accelerator was asked for, and by which line of the package."""

import os
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import ngram_metrics

FOLDER = f"{Path(ngram_metrics.__file__).parent}{os.sep}"

LAUNCH, TO_DEVICE, TO_HOST, WAIT = "launch", "copy to the device", "copy to the host", "synchronisation"


class Event(NamedTuple):
    """One thing asked for.

    Attributes:
        kind: one of the four above.
        operation: its name in torch.
        line: the innermost line of the package, as `_core/counting/keys.py:120`; "elsewhere" where none asked.
        moved: bytes that are read and written: operands and results once each, of what is looked up only what is found.
    """

    kind: str
    operation: str
    line: str
    moved: int = 0


class Log:
    """The events since the last `clear`."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def add(self, kind: str, operation: str, moved: int = 0) -> None:
        self.events.append(Event(kind, operation, asking_line(), moved))

    def clear(self) -> None:
        self.events.clear()

    def count(self, kind: str) -> int:
        return sum(event.kind == kind for event in self.events)

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """Copies to the device, copies to the host, synchronisations, launches."""
        return tuple(map(self.count, (TO_DEVICE, TO_HOST, WAIT, LAUNCH)))

    @property
    def moved(self) -> int:
        """Bytes that all launches read and write."""
        return sum(event.moved for event in self.events)

    def lines(self, *kinds: str) -> Counter[tuple[str, str]]:
        """How often each line asked for which operation."""
        return Counter((event.line, event.operation) for event in self.events if event.kind in kinds)


def asking_line() -> str:
    """The innermost line of the package on the stack."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename.startswith(FOLDER):
            return f"{frame.f_code.co_filename.removeprefix(FOLDER)}:{frame.f_lineno}"
        frame = frame.f_back
    return "elsewhere"
