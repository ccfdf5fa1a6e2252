"""A progress bar for long work, on a terminal only, if tqdm is installed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

#: The bar appears after this many seconds.
DELAY = 2.0


class Bar(Protocol):
    """The part of tqdm's interface that is used."""

    @property
    def format_dict(self) -> Mapping[str, float]:
        """The state of the bar, with the seconds since its start as ``elapsed``."""

    def update(self, n: float) -> object:
        """Count."""

    def set_description(self, desc: str, refresh: bool) -> None:
        """Name what is counted."""


class _Silent:
    """A bar that shows nothing."""

    format_dict: Mapping[str, float] = {"elapsed": 0.0}

    def update(self, n: float) -> object: ...

    def set_description(self, desc: str, refresh: bool) -> None: ...


def progress(unit: str) -> AbstractContextManager[Bar]:
    """Return a bar of tqdm that counts ``unit``, on standard error if that is a terminal."""
    try:
        from tqdm import tqdm
    except ImportError:
        return nullcontext(_Silent())
    bar: AbstractContextManager[Bar] = tqdm(unit=f" {unit}", delay=DELAY, disable=None, leave=False)
    return bar


def name_phase(bar: Bar, name: str) -> None:
    """Show the name of the current phase, if the bar is visible already."""
    bar.set_description(name, refresh=bar.format_dict["elapsed"] > DELAY)
