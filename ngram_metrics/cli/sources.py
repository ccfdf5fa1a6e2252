"""Files as lines: unpacked, decoded, and a column or field taken out; each error names the file and the line."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO, cast

from ngram_metrics.cli.contents import GZIP, LOOKED_AT, XZ, unreadable
from ngram_metrics.cli.errors import InputError
from ngram_metrics.cli.paths import Place

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_BUFFER = 1 << 16
_BROKEN = (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error)


class Source:
    """An open file: its lines in chunks, each line without what ends it.

    A line ends at a newline alone, as for sacrebleu; carriage returns before it belong to the end.
    """

    def __init__(self, place: Place, file: BinaryIO) -> None:
        self.place, self._file, self._line = place, file, 0

    def chunk(self, lines: int) -> list[str]:
        """Return the next lines, fewer at the end of the file.

        Raises:
            InputError: a line that is not UTF-8, has no such column, or is no JSON with such a string.
        """
        texts = self._decoded(self._raw(lines))
        if self.place.column is not None:
            texts = [self._column(text, number) for number, text in enumerate(texts, self._line + 1)]
        elif self.place.field is not None:
            texts = [self._string(text, number) for number, text in enumerate(texts, self._line + 1)]
        self._line += len(texts)
        return texts

    def values(self, lines: int) -> list[object]:
        """Return what the next lines are in JSON, or the field of it that the place names; raises as :meth:`chunk`."""
        texts = self._decoded(self._raw(lines))
        found = [self._json(text, number) for number, text in enumerate(texts, self._line + 1)]
        self._line += len(texts)
        return found

    def count_rest(self) -> int:
        """Read to the end, and return the number of all lines."""
        while raw := self._raw(1 << 16):
            self._line += len(raw)
        return self._line

    def error(self, number: int, what: str) -> InputError:
        """Return an error that names a line, counted from 1."""
        return InputError(f"{self.place.name}, line {number}: {what}")

    def _raw(self, lines: int) -> list[bytes]:
        try:
            return list(islice(self._file, lines))
        except _BROKEN as error:
            raise InputError(f"{self.place.path} is a broken archive: {error}") from error
        except OSError as error:
            raise InputError(f"{self.place.path} cannot be read: {error.strerror}") from error

    def _decoded(self, raw: list[bytes]) -> list[str]:
        # All lines at once. None holds a newline but at its end, so they come apart as they were.
        try:
            texts = b"".join(raw).decode("utf-8").split("\n")
        except UnicodeDecodeError:
            for number, line in enumerate(raw, self._line + 1):
                self._refuse_other_encodings(line, number)
            raise
        return [text.rstrip("\r") for text in texts[: len(raw)]]

    def _refuse_other_encodings(self, line: bytes, number: int) -> None:
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            what = f"byte {error.start + 1} of the line, 0x{line[error.start]:02x}, is not UTF-8: convert the file, "
            raise self.error(number, f"{what}as by iconv -f LATIN1 -t UTF-8") from error

    def _column(self, text: str, number: int) -> str:
        columns = text.split("\t")
        wanted = self.place.column or 0
        if len(columns) < wanted:
            raise self.error(number, f"the line has {len(columns)} columns, parted by tabs: expected at least {wanted}")
        return columns[wanted - 1]

    def _string(self, text: str, number: int) -> str:
        value = self._json(text, number)
        if not isinstance(value, str):
            raise self.error(number, f"{self.place.field!r} is {_shown(value)}: expected a string")
        return value

    def _json(self, text: str, number: int) -> object:
        try:
            value: object = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self.error(number, f"{_shown(text)} is no JSON: expected JSON lines") from error
        if self.place.field is None:
            return value
        if not isinstance(value, dict) or self.place.field not in value:
            raise self.error(number, f"{_shown(value)} has no field {self.place.field!r}")
        return value[self.place.field]


@contextmanager
def opened(place: Place) -> Iterator[Source]:
    """Open a file, and unpack it where its first bytes say that it is packed.

    Raises:
        InputError: what cannot be read, or looks like no text.
    """
    with ExitStack() as stack:
        try:
            stream = _standard_input() if place.path == "-" else stack.enter_context(open(place.path, "rb"))
            first = stream.read(LOOKED_AT)
            if first.startswith(GZIP):
                stream = stack.enter_context(gzip.GzipFile(fileobj=_again(first, stream)))
                first = stream.read(LOOKED_AT)
            elif first.startswith(XZ):
                stream = stack.enter_context(lzma.LZMAFile(_again(first, stream)))
                first = stream.read(LOOKED_AT)
        except _BROKEN as error:
            raise InputError(f"{place.path} is a broken archive: {error}") from error
        except OSError as error:
            raise InputError(_why_not(place, error)) from error
        what = unreadable(first)
        if what is not None:
            raise InputError(f"{place.path} {what}")
        yield Source(place, _again(first, stream))


def _standard_input() -> io.BufferedIOBase:
    if sys.stdin is None:
        raise InputError("standard input is closed")
    return cast(io.BufferedIOBase, sys.stdin.buffer)


def check_readable(places: list[Place]) -> None:
    """Raise InputError early for what cannot be opened; what can be read once, such as a pipe, is left alone."""
    for place in places:
        if place.path != "-" and (os.path.isfile(place.path) or not os.path.exists(place.path)):
            with opened(place):
                pass
        elif os.path.isdir(place.path):
            raise InputError(_why_not(place, IsADirectoryError()))


def _why_not(place: Place, error: OSError) -> str:
    if isinstance(error, IsADirectoryError):
        return f"{place.path} is a directory: expected a file, as {os.path.join(place.path, '*')} names those in it"
    if isinstance(error, FileNotFoundError):
        return f"{place.path}: no such file"
    if isinstance(error, PermissionError):
        return f"{place.path} may not be read: permission denied"
    return f"{place.path} cannot be read: {error.strerror or error}"


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."


def _again(first: bytes, stream: io.BufferedIOBase) -> BinaryIO:
    return io.BufferedReader(_Again(first, stream), _BUFFER)


class _Again(io.RawIOBase):
    """A stream from its start, though its first bytes have been read, also of a pipe; to close it leaves that open."""

    def __init__(self, first: bytes, stream: io.BufferedIOBase) -> None:
        self._first, self._stream = first, stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        room = memoryview(buffer)
        data = self._first[: len(room)] or self._stream.read1(len(room))
        self._first = self._first[len(data) :]
        room[: len(data)] = data
        return len(data)
