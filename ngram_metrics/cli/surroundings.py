"""The settings while a command runs: torch's threads, warnings of one line, and a device that works."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from ngram_metrics.cli.errors import InputError
from ngram_metrics.cli.options import Options
from ngram_metrics.cli.output import tell


@contextmanager
def surroundings(options: Options) -> Iterator[None]:
    """Check the device, set threads and warnings, and restore them at the end."""
    _check_device(options.device)
    threads = torch.get_num_threads()
    torch.set_num_threads(options.threads)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("once", UserWarning)
            warnings.showwarning = _show
            yield
    finally:
        torch.set_num_threads(threads)


def _show(message: Warning | str, *_: object, **__: object) -> None:
    tell(f"warning: {message}")


def _check_device(device: str) -> None:
    try:
        torch.zeros((), device=device).item()
    except (RuntimeError, AssertionError) as error:  # a build without CUDA raises AssertionError
        raise InputError(f"--device {device}: {str(error).splitlines()[0]}") from error
