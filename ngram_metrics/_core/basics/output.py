"""Output: files and standard output, whose errors are one line each, and a progress bar."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from io import FileIO

#: The progress bar appears after this many seconds.
DELAY = 2.0


class OutputError(OSError):
    """An error in writing to a file or to standard output, described in one line."""


@contextmanager
def open_output(path: str | None) -> Iterator[Callable[[str], object]]:
    """Open a file, or standard output if ``path`` is None, and yield a function that writes text to it.

    The text is written in UTF-8, and invalid characters, as in the names of files, are escaped. A file changes when all
    of the text is written; until then, and after an error, an OutputError, it remains as it was.
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
    """Open a temporary file that only its owner can read, and at the end put it, or its contents, at ``path``."""
    whole = os.path.realpath(path)
    try:
        old = os.stat(path or os.curdir)
    except FileNotFoundError:  # another error, as for a name that is too long, ends here
        old = None
    folder = os.path.dirname(whole)
    parent = os.path.realpath(os.path.dirname(path) or ".")
    # What an open descriptor, such as /dev/fd/3, has written already stays.
    descriptor = parent in ("/dev", "/dev/fd") or parent.startswith("/proc/")
    if old and (descriptor or not stat.S_ISREG(old.st_mode)):
        with open(path, "ab" if descriptor else "wb", buffering=0) as file:
            yield file
        return
    if old:
        os.close(os.open(whole, os.O_WRONLY))  # Permission is refused now, rather than after the work.
        if not os.access(folder, os.W_OK):
            from tempfile import gettempdir  # takes milliseconds, which few runs need

            folder = gettempdir()
    # Mode x follows no link, and opens no file that exists; nobody can guess the name.
    part = os.path.join(folder, f".{os.urandom(16).hex()}.part")
    try:
        with open(part, "xb", buffering=0, opener=partial(os.open, mode=0o600 if old else 0o666)) as file:
            new = os.stat(part)
            with suppress(OSError):  # a file system without modes
                os.chmod(part, 0o600)
            yield file
        # Only the contents can change if the owner differs, or if the file is mounted by itself.
        if not old or (old.st_uid, old.st_gid) == (new.st_uid, new.st_gid):
            with suppress(OSError):
                os.chmod(part, stat.S_IMODE((old or new).st_mode))
                os.replace(part, whole)
                return
    except BaseException:
        with suppress(OSError):
            os.unlink(part)
        raise
    with _name_errors(path):
        _move_contents(part, whole)


def _move_contents(part: str, whole: str) -> None:
    """Overwrite ``whole`` with the contents of ``part``, and then remove ``part``, unless that fails."""
    from shutil import copyfileobj  # few runs need it

    # A file that is not truncated keeps its space on a full disk. An existing one is not created, which Linux refuses
    # for the file of another user in a folder for all.
    dropped = os.O_TRUNC | (os.O_CREAT if os.path.exists(whole) else 0)
    try:
        with (
            open(part, "rb") as source,
            open(whole, "wb", opener=lambda name, flags: os.open(name, flags & ~dropped, 0o666)) as target,
        ):
            copyfileobj(source, target)
            target.truncate()
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror}; the output is in {part}") from error
    with suppress(OSError):  # a folder that files can only be added to
        os.unlink(part)


@contextmanager
def _name_errors(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(f"cannot write {name}: {error.strerror}") from error
    except ValueError as error:  # a name with a NUL, or with characters that the file system cannot encode
        raise OutputError(f"cannot write {name!r}: {error}") from error


class Progress:
    """A progress bar on standard error that counts a unit, of a total if given, on a terminal with tqdm installed."""

    def __init__(self, unit: str, total: int | None = None) -> None:
        self._bar = None
        with suppress(ImportError):
            from tqdm import tqdm

            self._bar = tqdm(unit=f" {unit}", total=total, delay=DELAY, disable=None, leave=False)

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
