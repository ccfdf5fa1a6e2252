"""Where text goes: standard output or a file, in UTF-8; a full disk or a closed pipe is an error in one line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from ngram_metrics.cli.errors import OutputError


@contextmanager
def written_to(path: str | None) -> Iterator[Callable[[str], None]]:
    """Open a file, or standard output where ``path`` is None, and give a function that writes text to it.

    In UTF-8 as the input is, whatever the locale; what is no Unicode, in the name of a file, with backslashes.

    Raises:
        OutputError: what was written has not arrived.
    """
    if path is None and sys.stdout is None:
        raise OutputError("cannot write to standard output: it is closed")
    name = path or "to standard output"
    with ExitStack() as stack:
        with _told(name):
            # Without a buffer, which would be written once more where the disk is full and the file is closed.
            file = sys.stdout.buffer if path is None else stack.enter_context(open(path, "wb", buffering=0))

        def write(text: str) -> None:
            left = memoryview(text.encode("utf-8", "backslashreplace"))
            with _told(name):
                while left:
                    left = left[file.write(left) :]
                file.flush()

        yield write


@contextmanager
def _told(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(f"cannot write {name}: {error.strerror}") from error
