"""Output: files that are replaced atomically, and a progress bar."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

#: The progress bar appears after this many seconds.
DELAY = 2.0


def write_file(path: str, text: str) -> None:
    """Write text in UTF-8 to a temporary file next to ``path``, and then move it over ``path``.

    An existing file keeps its mode and its owner. If it cannot be replaced, because its folder is write-protected or it
    belongs to somebody else, the text is written into the file itself.

    Raises:
        OSError: the file cannot be written, or the user may not write to it. An existing file that can be replaced does
            not change.
    """
    content = text.encode("utf-8", "backslashreplace")
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            _overwrite(path, content)  # do not replace a pipe or a device
        else:
            _replace(os.path.realpath(path), content)
    except (OSError, ValueError) as error:  # ValueError: the path contains a NUL
        raise OSError(f"cannot write {path}: {getattr(error, 'strerror', error)}") from error


def _overwrite(path: str, content: bytes) -> None:
    with open(path, "wb") as file:
        file.write(content)


def _replace(target: str, content: bytes) -> None:
    """Write a new file, and move it over ``target`` once it is complete."""
    if not os.path.exists(target):
        _write_part(target, content, existing=None)
        return
    # A move needs no permission to write to the file that it replaces. Opening the file does, like > in a shell.
    with open(target, "r+b") as file:
        existing = os.fstat(file.fileno())
    try:
        _write_part(target, content, existing)
    except PermissionError:
        _overwrite(target, content)


def _write_part(target: str, content: bytes, existing: os.stat_result | None) -> None:
    """Write a new file with the owner and mode of an existing one, and move it over ``target``."""
    part = os.path.join(os.path.dirname(target), f".{os.urandom(8).hex()}.part")
    # At first only its owner may read a file that replaces another one.
    mode = 0o666 if existing is None else 0o600
    try:
        with open(part, "xb", opener=partial(os.open, mode=mode)) as file:
            if existing is not None:
                _copy_owner_and_mode(part, existing)
            file.write(content)
        os.replace(part, target)
    finally:
        with suppress(OSError):  # after the move the file is gone
            os.unlink(part)


def _copy_owner_and_mode(path: str, existing: os.stat_result) -> None:
    """Give a file the owner, the group and the permissions of an existing one, or raise PermissionError."""
    created = os.stat(path)
    if (created.st_uid, created.st_gid) != (existing.st_uid, existing.st_gid):
        os.chown(path, existing.st_uid, existing.st_gid)
    os.chmod(path, existing.st_mode & 0o777)


@contextmanager
def show_progress(unit: str) -> Iterator[Callable[[int], object]]:
    """Yield a function that advances a progress bar. The bar needs tqdm and a terminal."""
    try:
        from tqdm import tqdm
    except ImportError:
        yield lambda count: None
        return
    with tqdm(unit=f" {unit}", delay=DELAY, disable=None, leave=False) as bar:
        yield bar.update
