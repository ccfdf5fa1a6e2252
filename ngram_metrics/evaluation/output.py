"""Output: files and standard output, whose errors are one line each, and a progress bar."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import FileIO

#: The progress bar appears after this many seconds.
DELAY = 2.0


class OutputError(Exception):
    """An error in writing to a file or to standard output, described in one line."""


@contextmanager
def open_output(path: str | None) -> Iterator[Callable[[str], object]]:
    """Open a file, or standard output if ``path`` is None, and yield a function that writes text to it.

    The text is written in UTF-8, whatever the locale; invalid characters, in the names of files, become backslash
    escapes. A file is replaced when all of the text is written; until then, and after an error, it does not change.

    Raises:
        OutputError: the text could not be written.
    """
    if path is None and sys.stdout is None:
        raise OutputError("cannot write to standard output: it is closed")
    if path is None and not hasattr(sys.stdout, "buffer"):  # a StringIO, as in redirect_stdout
        yield sys.stdout.write
        return
    name = "to standard output" if path is None else path
    with ExitStack() as stack:
        with _name_errors(name):
            # Without a buffer: on a full disk, closing the file would try to write what is left in it again.
            if path is None:
                sys.stdout.flush()
                file = getattr(sys.stdout.buffer, "raw", sys.stdout.buffer)
            else:
                file = stack.enter_context(_open_replacement(path))

        def write(text: str) -> None:
            left = memoryview(text.encode("utf-8", "backslashreplace"))
            with _name_errors(name):
                while left:
                    left = left[file.write(left) :]
                file.flush()

        yield write


@contextmanager
def _open_replacement(path: str) -> Iterator[FileIO]:
    """Open a temporary file in the same folder, and at the end move it to ``path``."""
    whole = os.path.realpath(path)
    there = os.path.exists(path)
    folder = os.path.dirname(whole)
    parent = os.path.realpath(os.path.dirname(path) or ".")
    # Of an open descriptor, such as /dev/fd/3, the file or pipe behind it stays, with what it has already.
    descriptor = parent in ("/dev", "/dev/fd") or parent.startswith("/proc/")
    replaceable = os.path.isfile(path) and os.access(whole, os.W_OK) and os.access(folder, os.W_OK)
    if there and (descriptor or not replaceable):
        with open(path, "ab" if descriptor else "wb", buffering=0) as file:
            yield file
        return
    # Mode x follows no link, and opens no file that exists; nobody can guess the name.
    part = os.path.join(folder, f".{os.urandom(16).hex()}.part")
    try:
        with open(part, "xb", buffering=0) as file:
            yield file
        with _name_errors(path):
            if there:
                shutil.copymode(whole, part)
            os.replace(part, whole)
    except BaseException:
        with suppress(OSError):
            os.unlink(part)
        raise


@contextmanager
def _name_errors(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(f"cannot write {name}: {error.strerror}") from error
    except ValueError as error:  # a name with a NUL, or with characters that the file system cannot encode
        raise OutputError(f"cannot write {name!r}: {error}") from error


class Progress:
    """A progress bar on standard error that counts a unit, if that is a terminal and tqdm is installed."""

    def __init__(self, unit: str) -> None:
        self._bar = None
        with suppress(ImportError):
            from tqdm import tqdm

            self._bar = tqdm(unit=f" {unit}", delay=DELAY, disable=None, leave=False)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def update(self, count: int) -> None:
        """Count."""
        if self._bar is not None:
            self._bar.update(count)

    def name(self, phase: str) -> None:
        """Show the name of the current phase, if the bar is visible already."""
        if self._bar is not None:
            self._bar.set_description(phase, refresh=self._bar.format_dict["elapsed"] > DELAY)
