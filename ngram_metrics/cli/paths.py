"""What a FILE on the command line names: a file, and perhaps a column or a field of it."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Place(NamedTuple):
    """Where lines come from.

    Attributes:
        name: as it was given.
        path: of the file; ``-`` for standard input.
        column: of a table parted by tabs, from 1.
        field: of JSON lines.
    """

    name: str
    path: str
    column: int | None = None
    field: str | None = None


def place_of(name: str) -> Place:
    """Tell a column or a field from the path; a file that is there by its whole name has neither."""
    path, colon, part = name.rpartition(":")
    # A drive of Windows, and a path below it, are no field.
    if not colon or not path or not part or os.path.exists(name) or "/" in part or "\\" in part:
        return Place(name, name)
    return Place(name, path, column=int(part)) if part.isdecimal() else Place(name, path, field=part)


def file_name(text: str) -> str:
    """Read the name of a file, which may be that of a variable of the shell that is not set."""
    if not text:
        raise argparse.ArgumentTypeError("'' is no name of a file")
    return text


def destination(text: str) -> str | None:
    """Read the name of a file to write, None for standard output."""
    return None if text == "-" else file_name(text)


def check_different(parser: argparse.ArgumentParser, kind: str, names: Sequence[str]) -> None:
    """End with an error where a file is named twice, also by another path."""
    for number, name in enumerate(names):
        if any(is_same(name, other) for other in names[:number]):
            parser.error(f"the {kind} {name!r} is given twice")


def is_same(name: str, other: str) -> bool:
    """Tell whether two names are of one file, and of one part of it."""
    return name == other or _absolute(name) == _absolute(other)


def _absolute(name: str) -> Place:
    place = place_of(name)
    return place._replace(name="", path="-" if place.path == "-" else os.path.abspath(place.path))


def check_inputs(parser: argparse.ArgumentParser, names: Sequence[str]) -> None:
    """End with an error where standard input is to be read twice, or a column is the zeroth."""
    places = [place_of(name) for name in names]
    if sum(place.path == "-" for place in places) > 1:
        parser.error("standard input can be read once, and - is given twice")
    for place in places:
        if place.column == 0:
            parser.error(f"{place.name}: columns are counted from 1")


def check_written(parser: argparse.ArgumentParser, written: Mapping[str, str | None], inputs: Sequence[str]) -> None:
    """End with an error where a file to be written is one that is read, or another one written, or cannot be there."""
    read = {os.path.realpath(place_of(name).path): name for name in inputs}
    for option, path in written.items():
        if path is None:
            continue
        if (known := read.get(os.path.realpath(path))) is not None:
            parser.error(f"{option} {path} would overwrite {known}")
        read[os.path.realpath(path)] = option
        if os.path.isdir(path) or not os.path.isdir(os.path.dirname(path) or "."):
            told = "is a directory" if os.path.isdir(path) else "lies in no directory that is there"
            parser.error(f"{option} {path} {told}: expected a file")
