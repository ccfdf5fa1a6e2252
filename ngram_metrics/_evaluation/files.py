"""Files with one segment per line. Each error names the file and, where possible, the line."""

from __future__ import annotations

import gzip
import json
import os
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ngram_metrics._core.text.messages import shortened, type_name, warn_user

_GZIP = b"\x1f\x8b"
#: The value of a field that a line of JSON does not have.
_MISSING = object()


def split_field(name: str) -> tuple[str, str | None]:
    """Split ``FILE:field`` into a path and a field of JSON lines, unless a file with the whole name exists."""
    path, _, field = name.rpartition(":")
    # After the drive letter of Windows comes a path, not a field.
    if not path or not field or "/" in field or "\\" in field or os.path.exists(name):
        return name, None
    return path, field


def read_segments(systems: Sequence[str], references: Sequence[str]) -> list[list[Any]]:
    """Return the lines of several files, then of the references, or raise ValueError if the numbers of lines differ.

    A field of references may hold a list of texts in each line. The first bad line raises ValueError, and so does the
    first line in which the files of two systems have different references.
    """
    columns = [*map(read_lines, systems), *(read_lines(name, may_be_lists=True) for name in references)]
    names = [*systems, *references]
    if len(set(map(len, columns))) > 1:
        counts = ", ".join(f"{name} has {len(lines)}" for name, lines in zip(names, columns, strict=True))
        raise ValueError(f"the files have different numbers of lines: {counts}; expected one line per segment in each")
    if not columns[0]:
        raise ValueError(f"{names[0]} is empty: expected at least one line")
    for reference in references:
        _refuse_other_references(systems, reference)
    return columns


def _refuse_other_references(systems: Sequence[str], reference: str) -> None:
    """Raise ValueError if the files of two systems have the field of a reference, and it differs in a line.

    Harnesses save the reference beside each output. If it differs, the outputs belong to different segments.
    """
    _, field = split_field(reference)
    if field is None:
        return
    # Standard input has already been read. Several fields of one file belong to the same segments.
    split_names = map(split_field, systems)
    paths = dict.fromkeys(path for path, system_field in split_names if system_field is not None and path != "-")
    if len(paths) < 2:
        return
    first_path = ""
    expected: list[Any] = []
    for path in paths:
        contents = [_find_field(value, field) for value in _parse_lines(path, _split_file(path))]
        if _MISSING in contents:
            continue
        if not expected:
            first_path, expected = path, contents
        for index, (content, first_content) in enumerate(zip(contents, expected, strict=True), 1):
            if content != first_content:
                raise ValueError(
                    f"{path}, line {index}: {field!r} is {shortened(content)}, but {shortened(first_content)} in "
                    f"{first_path}: expected the same segments in the same order"
                )


def read_lines(name: str, may_be_lists: bool = False) -> list[Any]:
    """Return the lines of a file or, for ``FILE:field``, a field of each line, or raise ValueError.

    Only a newline ends a line, as in sacrebleu. Carriage returns before it belong to the line end. Without a field,
    JSON lines are read as text, with a warning.
    """
    path, field = split_field(name)
    lines = _split_file(path)
    if field is None:
        _warn_of_json(name, lines)
        return lines
    return _take_field(name, _parse_lines(name, lines), field, may_be_lists)


def _warn_of_json(name: str, lines: Sequence[str]) -> None:
    try:
        first = json.loads(lines[0]) if lines and lines[0].startswith("{") else None
    except (ValueError, RecursionError):
        return
    if isinstance(first, dict) and first:
        fields = ", ".join(f"{name}:{field}" for field in first)
        warn_user(f"{name} contains JSON lines, but is read as plain text: to read a field, pass one of {fields}")


def _split_file(path: str) -> list[str]:
    """Return the lines of a file, without a byte order mark. The file may be compressed with gzip."""
    try:
        if path == "-":
            if sys.stdin is None:
                raise ValueError("- cannot be read: standard input is closed")
            content = sys.stdin.buffer.read()
        else:
            with open(path, "rb") as file:
                content = file.read()
        if content.startswith(_GZIP):
            content = gzip.decompress(content)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path} is a broken gzip file: {error}") from error
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{path}, line {line}: the byte 0x{error.object[error.start]:02x} is not UTF-8: expected text in UTF-8. "
            "Convert the file, for example with iconv -f UTF-16 -t UTF-8. PowerShell's > writes UTF-16: use "
            "Out-File -Encoding utf8 instead"
        ) from error
    lines = [line.rstrip("\r") for line in text.split("\n")]
    return lines if lines[-1] else lines[:-1]


def _parse_lines(name: str, lines: Sequence[str]) -> Iterator[Any]:
    """Yield the value of each line of JSON. ``name`` is that of the file in errors."""
    for index, line in enumerate(lines, 1):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{name}, line {index}: {shortened(line)} is not JSON: expected JSON lines") from error
        yield value


def _take_field(name: str, values: Iterable[Any], field: str, may_be_lists: bool = False) -> list[Any]:
    """Return a field of each value, a str or, where allowed, a list of them. ``name`` is that of the file in errors.

    Where one text is expected, a list of one text is that text.
    """
    contents = []
    for index, value in enumerate(values, 1):
        content = _find_field(value, field)
        if content is _MISSING:
            raise ValueError(f"{name}, line {index}: {shortened(value)} has no field {field!r}")
        texts = content if isinstance(content, list) else [content]
        is_right_number = len(texts) == 1 or (texts and may_be_lists)
        if not is_right_number or not all(isinstance(text, str) for text in texts):
            expected = "a list of strings" if may_be_lists else "a list of one string"
            raise ValueError(
                f"{name}, line {index}: {field!r} is {shortened(content)}: expected a string or {expected}"
            )
        contents.append(content if may_be_lists else texts[0])
    return contents


def _find_field(value: Any, field: str) -> Any:
    """Return a field of an object of JSON by its key or by a path of keys, ``doc.answer``, or ``_MISSING``.

    An exact key comes before a path. Numbers in a path are keys too, not indices of a list.
    """
    if isinstance(value, dict) and field in value:
        return value[field]
    for key in field.split("."):
        if not isinstance(value, dict) or key not in value:
            return _MISSING
        value = value[key]
    return value


def read_outputs(systems: object) -> tuple[dict[str, list[str]], list[list[str]], list[str] | None]:
    """Return the hypotheses of each file by name, and the references and the sources of the segments.

    The sources are None if the files have none. A segment without a source has an empty one if another has a source.

    Raises:
        TypeError: an object that is neither a folder nor a mapping of names to files.
        ValueError: a file that cannot be read, or that has other references or sources than the first one.
    """
    paths = _list_steps(os.fsdecode(systems)) if isinstance(systems, (str, os.PathLike)) else systems
    if not isinstance(paths, Mapping) or not all(isinstance(path, (str, os.PathLike)) for path in paths.values()):
        raise TypeError(
            f"references is None and systems is {type_name(systems)}: expected references, or systems that are the "
            "folder of a training's outputs or a mapping of names to such files"
        )
    hypotheses: dict[str, list[str]] = {}
    references: list[list[str]] = []
    sources: list[str] | None = None
    for name, path in paths.items():
        first = references, sources
        hypotheses[name], references, sources = _read_output(os.fsdecode(path))
        if len(hypotheses) > 1 and (references, sources) != first:
            raise ValueError(
                f"{path} and the first file differ in their references or sources: expected the same segments"
            )
    return hypotheses, references, sources


def _list_steps(folder: str) -> dict[str, str]:
    """Return the files of a folder in the order of their steps, by their names without the suffix."""
    _, folders, names = next(os.walk(folder), (folder, [], []))
    files = [name for name in names if name.endswith(".jsonl")]
    if not files:
        hint = f" (perhaps one of its folders: {', '.join(sorted(folders))})" if folders else ""
        raise ValueError(f"{folder} has no files such as step-500.jsonl: expected the outputs of a training{hint}")
    files.sort(key=lambda name: [int(digits) for digits in re.findall(r"\d+", name)])
    return {name.removesuffix(".jsonl"): os.path.join(folder, name) for name in files}


def _read_output(path: str) -> tuple[list[str], list[list[str]], list[str] | None]:
    """Return the hypotheses, the references and the sources of a file."""
    values = list(_parse_lines(path, _split_file(path)))
    hypotheses = _take_field(path, values, "hypothesis")
    references = _take_field(path, values, "references", may_be_lists=True)
    if all(value.get("source") is None for value in values):
        return hypotheses, references, None
    # The steps of a training may return sources for some batches only.
    with_sources = [value if value.get("source") is not None else {**value, "source": ""} for value in values]
    return hypotheses, references, _take_field(path, with_sources, "source")
