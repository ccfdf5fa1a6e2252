"""A bar on a terminal, and nothing elsewhere."""

from __future__ import annotations

from typing import Any

from ngram_metrics.cli.errors import InputError

#: Work of less than this many seconds shows none.
DELAY = 0.5


def progress(unit: str) -> Any:
    """Return a bar of tqdm's, which counts ``unit`` and shows on standard error if that is a terminal."""
    try:
        from tqdm import tqdm
    except ImportError as error:
        raise InputError("this command needs tqdm: pip install 'ngram-metrics[cli]'") from error
    return tqdm(unit=f" {unit}", delay=DELAY, disable=None, leave=False)


def name_phase(bar: Any, name: str) -> None:
    """Say what is done now, if the bar is shown by now."""
    bar.set_description(name, refresh=bar.format_dict["elapsed"] > DELAY)
