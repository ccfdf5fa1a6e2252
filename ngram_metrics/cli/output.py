"""Writing to standard output or a file, in UTF-8; a full disk or a closed pipe is an error of one line."""

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
    """Open a file, or standard output if ``path`` is None, and yield a function that writes text to it.

    The text is written in UTF-8, whatever the locale; invalid characters, in the names of files, become backslash
    escapes. A file is replaced when all of the text is written; until then, and after an error, it does not change.

    Raises:
        OutputError: the text could not be written.
    """
    if path is None and sys.stdout is None:
        raise OutputError("cannot write to standard output: it is closed")
    name = "to standard output" if path is None else path
    with ExitStack() as stack:
        with _told(name):
            # Without a buffer: on a full disk, closing the file would try to write what is left in it again.
            file: BinaryIO | FileIO
            if path is None:
                sys.stdout.flush()
                file = getattr(sys.stdout.buffer, "raw", sys.stdout.buffer)
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
    """Yield the path of a temporary file in the same folder, and at the end move it to ``path``."""
    whole = os.path.realpath(path)
    folder, name = os.path.split(whole)
    is_there = os.path.exists(whole)
    if is_there and not (os.path.isfile(whole) and os.access(whole, os.W_OK) and os.access(folder, os.W_OK)):
        # A device or a pipe, such as /dev/stdout; if it is not writable, open raises.
        yield path
        return
    # A digest, because the name of the file may have the largest length already.
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
    except ValueError as error:  # a name with a NUL, or with characters that the file system cannot encode
        raise OutputError(f"cannot write {name!r}: {error}") from error
