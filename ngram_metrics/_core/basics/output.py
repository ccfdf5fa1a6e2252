"""Output: files that are replaced atomically, and a progress bar."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

#: The progress bar appears after this many seconds.
DELAY = 2.0


def write_file(path: str, text: str) -> None:
    """Write text in UTF-8 to a temporary file next to ``path``, and then move it over ``path``.

    Raises:
        OSError: the file cannot be written. An existing file does not change.
    """
    content = text.encode("utf-8", "backslashreplace")
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "wb") as stream:  # do not replace a pipe or a device
                stream.write(content)
            return
        target = os.path.realpath(path)
        part = os.path.join(os.path.dirname(target), f".{os.urandom(8).hex()}.part")
        try:
            with open(part, "xb") as file:
                file.write(content)
            os.replace(part, target)
        finally:
            with suppress(OSError):  # after the move the file is gone
                os.unlink(part)
    except (OSError, ValueError) as error:  # ValueError: the path contains a NUL
        raise OSError(f"cannot write {path}: {getattr(error, 'strerror', error)}") from error


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
