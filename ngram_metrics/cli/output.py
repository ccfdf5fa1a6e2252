"""Where text goes: standard output or a file, in UTF-8; a full disk or a closed pipe is an error in one line."""

from __future__ import annotations

import os
import shutil
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import FileIO
from typing import BinaryIO

from ngram_metrics.cli.errors import OutputError


@contextmanager
def written_to(path: str | None) -> Iterator[Callable[[str], None]]:
    """Open a file, or standard output where ``path`` is None, and give a function that writes text to it.

    In UTF-8 as the input is, whatever the locale; what is no Unicode, in the name of a file, with backslashes. A file
    is there when all of it is written; until then, and after an error, what stood there stays.

    Raises:
        OutputError: what was written has not arrived.
    """
    if path is None and sys.stdout is None:
        raise OutputError("cannot write to standard output: it is closed")
    name = "to standard output" if path is None else path
    with ExitStack() as stack:
        with _told(name):
            # Without a buffer, which would be written once more where the disk is full and the file is closed.
            file: BinaryIO | FileIO
            if path is None:
                file = sys.stdout.buffer
            else:
                file = stack.enter_context(open(stack.enter_context(_place(path)), "wb", buffering=0))

        def write(text: str) -> None:
            left = memoryview(text.encode("utf-8", "backslashreplace"))
            with _told(name):
                while left:
                    left = left[file.write(left) :]
                file.flush()

        yield write


@contextmanager
def _place(path: str) -> Iterator[str]:
    """Give the path to write to, beside the file itself, and put what was written in its place at the end."""
    whole = os.path.realpath(path)
    folder, name = os.path.split(whole)
    is_there = os.path.exists(whole)
    if is_there and not (os.path.isfile(whole) and os.access(whole, os.W_OK) and os.access(folder, os.W_OK)):
        # A device or a pipe, such as /dev/stdout; what may not be written to is an error of open.
        yield path
        return
    # Not longer than names may be, whatever the name.
    part = os.path.join(folder, f".{os.getpid()}-{zlib.crc32(os.fsencode(name)):08x}.part")
    try:
        yield part
        if is_there:
            shutil.copymode(whole, part)
        with _told(path):
            os.replace(part, whole)
    except BaseException:
        with suppress(OSError):
            os.unlink(part)
        raise


@contextmanager
def _told(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(f"cannot write {name}: {error.strerror}") from error
    except ValueError as error:  # a name that holds a NUL, or what the file system cannot encode
        raise OutputError(f"cannot write {name!r}: {error}") from error
