"""Files as lines: unpacked, decoded, reduced to a column or field. Each error names the file and the line."""

from __future__ import annotations

import gzip
import lzma
import os
import sys
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from io import BufferedReader
from itertools import count, islice
from typing import Any, NamedTuple, TypeAlias, cast

from ngram_metrics._core.text.input_warnings import warn_of_unicode_form
from ngram_metrics._core.text.messages import pluralize, shortened

_BROKEN = (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error)
#: The number of bytes of a file that are examined.
_LOOKED_AT = 4096
_Unpacked: TypeAlias = BufferedReader | gzip.GzipFile | lzma.LZMAFile
_UNPACKERS: dict[bytes, Callable[[BufferedReader], _Unpacked]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
_TAR, _TAR_AT = b"ustar", 257
_UTF32, _UTF16 = (b"\xff\xfe\0\0", b"\0\0\xfe\xff"), (b"\xff\xfe", b"\xfe\xff")
_PACKED = {b"PK\x03\x04": "a zip archive", b"BZh": "a bzip2 file", b"\x28\xb5\x2f\xfd": "a zstd file"}
#: Lines of each file that are read at a time.
CHUNK = 2048
#: The bytes after which no more lines are read at a time, because a small archive may unpack to any number.
CHUNK_BYTES = 1 << 22
#: The most lines that are read only to name their number in an error.
MOST_COUNTED = 1_000_000
#: Text has few of these control characters.
_CONTROLS = bytes({*range(32)} - set(b"\t\n\v\f\r\x1b"))


class InputError(Exception):
    """An error in the input, which ends a command with one line and exit code 1."""


class FilePart(NamedTuple):
    """A file, ``-`` for standard input, or its column, from 1, or a field of its JSON lines, as the ``name`` says."""

    name: str
    path: str
    column: int | None = None
    field: str | None = None


def split_name(name: str) -> FilePart:
    """Split a name into path and column or field, unless a file with the whole name exists."""
    path, colon, field = name.rpartition(":")
    # The rest of a path after the drive of Windows is not a field.
    if not colon or not path or not field or os.path.exists(name) or "/" in field or "\\" in field:
        return FilePart(name, name)
    column = parse_decimal(field)
    return FilePart(name, path, field=field) if column is None else FilePart(name, path, column=column)


def parse_decimal(text: str) -> int | None:
    """Return a number of up to 19 digits, or None for any other text."""
    return int(text) if text.isdecimal() and len(text) < 20 else None


class Source:
    """An open file: its lines in chunks, without line ends, of at most ``limit`` characters.

    A line ends at a newline only, as in sacrebleu; carriage returns before the newline belong to the line end.
    """

    def __init__(self, part: FilePart, file: BufferedReader, limit: int) -> None:
        self.part = part
        #: The number of lines that were read.
        self.line = 0
        #: Whether the end of the file was seen.
        self.ended = False
        self._bytes = file
        self._limit = limit
        self._file: _Unpacked | None = None

    def unpack(self) -> _Unpacked:
        """Return the file, unpacked if it begins like gzip or xz, or raise InputError if it does not look like text."""
        if self._file is not None:
            return self._file
        file: _Unpacked = self._bytes
        with self._explain_errors():
            first = self._bytes.peek(_LOOKED_AT)
            for begin, unpacker in _UNPACKERS.items():
                # A pipe may have delivered one byte only; no text begins with the first byte of either.
                if first and begin.startswith(first[: len(begin)]):
                    file = unpacker(self._bytes)
            what = describe_unreadable(file.peek(_LOOKED_AT)[:_LOOKED_AT])
        if what is not None:
            raise InputError(f"{self.part.path} {what}")
        self._file = file
        return file

    def chunk(self, lines: int, multiple: int = 1) -> list[str]:
        """Return the next lines, fewer at the end of the file, or a multiple of ``multiple`` if they are long.

        Raises InputError for a line that is not UTF-8, is too long, or lacks the column or the field.
        """
        texts = self._texts(lines, multiple)
        if self.line == 0 and texts and texts[0].startswith("\ufeff") and (self.part.column or 1) == 1:
            mark = "begins with a byte order mark, which counts as a character, as in sacrebleu"
            warnings.warn(f"{self.part.path} {mark}: remove it, as by sed '1s/^\\xEF\\xBB\\xBF//'", stacklevel=2)
        if self.part.column is not None or self.part.field is not None:
            texts = list(map(self._cut, texts, count(self.line + 1)))
        self.line += len(texts)
        return texts

    def values(self, lines: int) -> list[object]:
        """Return the JSON values of the next lines, or the field of each, with the errors of ``chunk``."""
        values = [self._json(text, line) for line, text in enumerate(self._texts(lines, 1), self.line + 1)]
        self.line += len(values)
        return values

    def count_rest(self) -> str:
        """Return the number of all lines, or "more than" some number after a million more lines."""
        rest = self._read_lines()
        self.line += sum(1 for _ in islice(rest, MOST_COUNTED))
        has_more = next(rest, None) is not None
        return f"more than {self.line}" if has_more else str(self.line)

    def error(self, line: int, what: str) -> InputError:
        """Return an error that names a line, counted from 1."""
        return InputError(f"{self.part.name}, line {line}: {what}")

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except _BROKEN as error:
            raise InputError(f"{self.part.path} is a broken archive: {error}") from error
        except OSError as error:
            raise InputError(f"{self.part.path} cannot be read: {error.strerror}") from error
        except MemoryError as error:  # the header of an archive may ask for as much as it likes
            raise InputError(f"{self.part.path} cannot be read: it needs more memory than there is") from error

    def _read_lines(self) -> Iterator[bytes]:
        file = self.unpack()
        # A character has up to four bytes in UTF-8, and the line end two. The rest of a longer line is not unpacked.
        longest = 4 * self._limit + 3
        with self._explain_errors():
            for line in count(self.line + 1):
                raw = file.readline(longest)
                if len(raw) == longest:
                    raise self._too_long(line)
                if not raw:
                    return
                yield raw

    def _too_long(self, line: int) -> InputError:
        what = f"the line has more than {self._limit} characters: expected one segment, or a larger --line-limit"
        return self.error(line, what)

    def _texts(self, lines: int, multiple: int) -> list[str]:
        raw: list[bytes] = []
        size = 0
        for content in islice(self._read_lines(), lines):
            raw.append(content)
            size += len(content)
            if size > CHUNK_BYTES and len(raw) % multiple == 0:
                break
        else:
            self.ended = len(raw) < lines
        # All lines at once: each has its only newline at its end, so split gives the same lines.
        try:
            texts = b"".join(raw).decode("utf-8").split("\n")
        except UnicodeDecodeError:
            for line, content in enumerate(raw, self.line + 1):
                try:
                    content.decode("utf-8")
                except UnicodeDecodeError as error:
                    where = f"byte {error.start + 1} of the line, 0x{content[error.start]:02x}, is not UTF-8"
                    raise self.error(line, f"{where}: convert the file, as by iconv -f LATIN1 -t UTF-8") from error
            raise
        texts = [text.rstrip("\r") for text in texts[: len(raw)]]
        for line, text in enumerate(texts, self.line + 1):
            if len(text) > self._limit:
                raise self._too_long(line)
        return texts

    def _cut(self, text: str, line: int) -> str:
        """Return the column or the field of a line."""
        if self.part.column is None:
            value = self._json(text, line)
            if not isinstance(value, str):
                raise self.error(line, f"{self.part.field!r} is {shortened(value)}: expected a string")
            return value
        columns = text.split("\t")
        if len(columns) < self.part.column:
            what = f"the line has {pluralize(len(columns), 'column')}, separated by tabs"
            raise self.error(line, f"{what}: expected at least {self.part.column}")
        return columns[self.part.column - 1]

    def _json(self, text: str, line: int) -> object:
        import json  # few runs need it

        try:
            value: object = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self.error(line, f"{shortened(text)} is not JSON: expected JSON lines") from error
        if self.part.field is None:
            return value
        if not isinstance(value, dict) or self.part.field not in value:
            raise self.error(line, f"{shortened(value)} has no field {self.part.field!r}")
        return value[self.part.field]


@contextmanager
def open_source(part: FilePart, line_limit: int) -> Iterator[Source]:
    """Open a file, or raise InputError if it does not look like text, which a pipe does when it is read."""
    with ExitStack() as stack:
        if part.path == "-":
            if sys.stdin is None:
                raise InputError("standard input is closed")
            yield Source(part, cast("BufferedReader", sys.stdin.buffer), line_limit)
            return
        try:
            source = Source(part, stack.enter_context(open(part.path, "rb")), line_limit)
        except FileNotFoundError as error:
            raise InputError(f"{part.path}: no such file") from error
        except IsADirectoryError as error:
            inside = os.path.join(part.path, "*")
            raise InputError(f"{part.path} is a directory: expected a file, as {inside} names those in it") from error
        except OSError as error:
            raise InputError(f"{part.path} cannot be read: {error.strerror or error}") from error
        if os.path.isfile(part.path):
            source.unpack()
        yield source


class FileSegments(NamedTuple):
    """Some lines of all files, from the line with the number ``first``, counted from 1."""

    first: int
    #: The lines of each system.
    hypotheses: list[list[str]]
    #: The references of each segment.
    references: list[list[str]]
    #: The lines of each other file.
    beside: list[list[str]]


def read_in_step(sources: Sequence[Source], readers: Sequence[Callable[[], list[Any]]]) -> Iterator[list[list[Any]]]:
    """Yield the next items of all sources, as many of each, as far as their ``readers`` return them.

    If files have different numbers of items, the last lists have different lengths.
    """
    columns: list[list[Any]] = [[] for _ in sources]
    while True:
        columns = [column or read() for column, read in zip(columns, readers, strict=True)]
        items = min(map(len, columns))
        if any(source.ended and len(column) == items for source, column in zip(sources, columns, strict=True)):
            items = max(map(len, columns))
        if items == 0:
            return
        yield [column[:items] for column in columns]
        columns = [column[items:] for column in columns]


def read_segments(sources: Sequence[Source], systems: int, references: int) -> Iterator[FileSegments]:
    """Yield at most ``CHUNK`` next lines of all files, or raise InputError if they have different numbers, or none."""
    first = 1
    for columns in read_in_step(sources, [partial(source.chunk, CHUNK) for source in sources]):
        if len(set(map(len, columns))) > 1:
            counts = ", ".join(f"{source.part.name} has {source.count_rest()}" for source in sources)
            raise InputError(
                f"the files have different numbers of lines: {counts}; expected one line per segment in each"
            )
        reference_rows = list(map(list, zip(*columns[systems : systems + references], strict=True)))
        yield FileSegments(first, columns[:systems], reference_rows, columns[systems + references :])
        first += len(columns[0])
    if first == 1:
        raise InputError(f"{sources[0].part.name} is empty: expected at least one line")


def warn_of_unicode_forms(chunks: Iterable[FileSegments], systems: Sequence[str]) -> Iterator[FileSegments]:
    """Yield segments, and warn of the first word that a reference has in another Unicode form."""
    has_warned = False
    for segments in chunks:
        for system, texts in zip(systems, segments.hypotheses, strict=True):
            has_warned = has_warned or warn_of_unicode_form(
                texts, segments.references, f"{system}, line", segments.first
            )
        yield segments


def describe_unreadable(first: bytes) -> str | None:
    """Return what a file with these first bytes looks like and what to do, or None if it may be UTF-8."""
    if first.startswith(_UTF32):
        return "looks like UTF-32: convert it, as by iconv -f UTF-32 -t UTF-8"
    if first.startswith(_TAR, _TAR_AT):
        return "looks like a tar archive: unpack it first"
    if first.startswith(_UTF16) or _alternating_zeros(first):
        return "looks like UTF-16: convert it, as by iconv -f UTF-16 -t UTF-8"
    if _is_utf8(first):
        # Valid UTF-8 is text, even with a NUL: sacrebleu counts it as a character.
        return None
    expected = "expected lines of text in UTF-8, which may be compressed with gzip or xz"
    for begin, kind in _PACKED.items():
        if first.startswith(begin):
            return f"looks like {kind}: {expected}"
    binary = len(first.translate(None, _CONTROLS)) < 0.95 * len(first)
    return f"looks like a binary file: {expected}" if binary else None


def _is_utf8(first: bytes) -> bool:
    """Return whether bytes are UTF-8, whose last character may be cut off."""
    try:
        first.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return True


def _alternating_zeros(first: bytes) -> bool:
    """Return whether bytes look like UTF-16 without its mark: in letters and spaces every other byte is 0."""
    return len(first) >= 4 and any(
        first[start::2].count(0) > 0.7 * len(first[start::2]) and first[1 - start :: 2].count(0) < 0.1 * len(first)
        for start in (0, 1)
    )
