"""Files as lines: unpacked, decoded, reduced to a column or field. Each error names the file and the line."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import sys
import warnings
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count, islice
from typing import TYPE_CHECKING, BinaryIO, cast

from ngram_metrics.cli.contents import GZIP, LOOKED_AT, XZ, unreadable
from ngram_metrics.cli.errors import InputError
from ngram_metrics.cli.paths import Place
from ngram_metrics.text.messages import counted, shortened

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_BUFFER = 1 << 16
_BROKEN = (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error)


class Source:
    """An open file: its lines in chunks, without line ends.

    A line ends at a newline only, as in sacrebleu; carriage returns before the newline belong to the line end.

    Args:
        place: the source of the lines.
        file: the bytes, unpacked while they are read.
        limit: the number of characters that a line may have.
    """

    def __init__(self, place: Place, file: BinaryIO, limit: int) -> None:
        self.place, self._file, self._limit, self._line = place, file, limit, 0

    def chunk(self, lines: int) -> list[str]:
        """Return the next lines, fewer at the end of the file.

        Raises:
            InputError: a line that is not UTF-8, lacks the column, or is not JSON with a string in the field.
        """
        texts = self._decoded(list(islice(self._raw(), lines)))
        if self._line == 0 and texts and texts[0].startswith("\ufeff") and (self.place.column or 1) == 1:
            told = "begins with a byte order mark, which counts as a character, as in sacrebleu"
            warnings.warn(f"{self.place.path} {told}: remove it, as by sed '1s/^\\xEF\\xBB\\xBF//'", stacklevel=2)
        if self.place.column is not None:
            texts = [self._column(text, number) for number, text in enumerate(texts, self._line + 1)]
        elif self.place.field is not None:
            texts = [self._string(text, number) for number, text in enumerate(texts, self._line + 1)]
        self._line += len(texts)
        return texts

    def values(self, lines: int) -> list[object]:
        """Return the JSON values of the next lines, or the field of each; raises InputError as :meth:`chunk` does."""
        texts = self._decoded(list(islice(self._raw(), lines)))
        found = [self._json(text, number) for number, text in enumerate(texts, self._line + 1)]
        self._line += len(texts)
        return found

    def count_rest(self) -> int:
        """Read to the end, and return the number of all lines."""
        self._line += sum(1 for _ in self._raw())
        return self._line

    def error(self, number: int, what: str) -> InputError:
        """Return an error that names a line, counted from 1."""
        return InputError(f"{self.place.name}, line {number}: {what}")

    def _raw(self) -> Iterator[bytes]:
        # A character has up to four bytes in UTF-8, and the line end two. No more is unpacked of a longer line.
        longest = 4 * self._limit + 3
        try:
            for number in count(self._line + 1):
                line = self._file.readline(longest)
                if len(line) == longest:
                    raise self._too_long(number)
                if not line:
                    return
                yield line
        except _BROKEN as error:
            raise InputError(f"{self.place.path} is a broken archive: {error}") from error
        except OSError as error:
            raise InputError(f"{self.place.path} cannot be read: {error.strerror}") from error

    def _too_long(self, number: int) -> InputError:
        told = f"the line has more than {self._limit} characters: expected one sentence, or a larger --line-limit"
        return self.error(number, told)

    def _decoded(self, raw: list[bytes]) -> list[str]:
        # All lines at once: each has its only newline at its end, so split gives the same lines.
        try:
            texts = b"".join(raw).decode("utf-8").split("\n")
        except UnicodeDecodeError:
            for number, line in enumerate(raw, self._line + 1):
                self._refuse_other_encodings(line, number)
            raise
        texts = [text.rstrip("\r") for text in texts[: len(raw)]]
        for number, text in enumerate(texts, self._line + 1):
            if len(text) > self._limit:
                raise self._too_long(number)
        return texts

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
            told = f"the line has {counted(len(columns), 'column')}, separated by tabs: expected at least {wanted}"
            raise self.error(number, told)
        return columns[wanted - 1]

    def _string(self, text: str, number: int) -> str:
        value = self._json(text, number)
        if not isinstance(value, str):
            raise self.error(number, f"{self.place.field!r} is {shortened(value)}: expected a string")
        return value

    def _json(self, text: str, number: int) -> object:
        try:
            value: object = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self.error(number, f"{shortened(text)} is not JSON: expected JSON lines") from error
        if self.place.field is None:
            return value
        if not isinstance(value, dict) or self.place.field not in value:
            raise self.error(number, f"{shortened(value)} has no field {self.place.field!r}")
        return value[self.place.field]


@contextmanager
def opened(place: Place, line_limit: int) -> Iterator[Source]:
    """Open a file, and unpack it if its first bytes are those of gzip or xz.

    Raises:
        InputError: the file cannot be read, or does not look like text.
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
        yield Source(place, _again(first, stream), line_limit)


def _standard_input() -> io.BufferedIOBase:
    if sys.stdin is None:
        raise InputError("standard input is closed")
    return cast(io.BufferedIOBase, sys.stdin.buffer)


def check_readable(places: list[Place], line_limit: int) -> None:
    """Raise InputError for files that cannot be opened; skip files that can be read only once, such as pipes."""
    for place in places:
        if place.path != "-" and (os.path.isfile(place.path) or not os.path.exists(place.path)):
            with opened(place, line_limit):
                pass
        elif os.path.isdir(place.path):
            raise InputError(_why_not(place, IsADirectoryError()))


def _why_not(place: Place, error: OSError) -> str:
    if isinstance(error, IsADirectoryError):
        return f"{place.path} is a directory: expected a file, as {os.path.join(place.path, '*')} names those in it"
    if isinstance(error, FileNotFoundError):
        return f"{place.path}: no such file"
    if isinstance(error, PermissionError):
        return f"{place.path} cannot be read: permission denied"
    return f"{place.path} cannot be read: {error.strerror or error}"


def _again(first: bytes, stream: io.BufferedIOBase) -> BinaryIO:
    return io.BufferedReader(_Again(first, stream), _BUFFER)


class _Again(io.RawIOBase):
    """A stream, even a pipe, with its first bytes put back; closing this object does not close the stream."""

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
