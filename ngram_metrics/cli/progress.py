"""A bar on a terminal, and nothing elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from ngram_metrics.cli.errors import InputError

#: Work of less than this many seconds shows none.
DELAY = 0.5


class Bar(Protocol):
    """What is used of tqdm's."""

    @property
    def format_dict(self) -> Mapping[str, float]:
        """The seconds since its start, as ``elapsed``, and more."""

    def update(self, n: float) -> object:
        """Count."""

    def set_description(self, desc: str, refresh: bool) -> None:
        """Name what is counted."""


def progress(unit: str) -> AbstractContextManager[Bar]:
    """Return a bar of tqdm's, which counts ``unit`` and shows on standard error if that is a terminal."""
    try:
        from tqdm import tqdm
    except ImportError as error:
        raise InputError("this command needs tqdm: pip install tqdm") from error
    bar: AbstractContextManager[Bar] = tqdm(unit=f" {unit}", delay=DELAY, disable=None, leave=False)
    return bar


def name_phase(bar: Bar, name: str) -> None:
    """Say what is done now, if the bar is shown by now."""
    bar.set_description(name, refresh=bar.format_dict["elapsed"] > DELAY)
