"""Files on the command line, checked."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence

from ngram_metrics.cli.files import Place, place_of


def file_name(text: str) -> str:
    """Check the name of a file, which is empty if it was a shell variable that is not set."""
    if not text:
        raise argparse.ArgumentTypeError("'' is not the name of a file")
    return text


def destination(text: str) -> str | None:
    """Return the name of a file to write, None for standard output."""
    return None if text in ("-", "/dev/stdout") else file_name(text)


def check_different(parser: argparse.ArgumentParser, kind: str, names: Sequence[str]) -> None:
    """Exit with an error if a file is named twice, even by another path."""
    for number, name in enumerate(names):
        if any(is_same(name, other) for other in names[:number]):
            parser.error(f"the {kind} {name!r} is given twice")


def is_same(name: str, other: str) -> bool:
    """Return whether two names mean the same file and the same column or field."""
    return name == other or _absolute(name) == _absolute(other)


def _absolute(name: str) -> Place:
    place = place_of(name)
    return place._replace(name="", path="-" if place.path == "-" else os.path.abspath(place.path))


def check_inputs(parser: argparse.ArgumentParser, names: Sequence[str]) -> None:
    """Exit with an error if standard input is named twice, or a column is 0."""
    places = [place_of(name) for name in names]
    if sum(place.path == "-" for place in places) > 1:
        parser.error("standard input can be read once, and - is given twice")
    for place in places:
        if place.column == 0:
            parser.error(f"{place.name}: columns are counted from 1")


def check_written(parser: argparse.ArgumentParser, written: Mapping[str, str | None], inputs: Sequence[str]) -> None:
    """Exit with an error if a file to write is also read, is written twice, or cannot be created."""
    read = {os.path.realpath(place_of(name).path): name for name in inputs}
    for option, path in written.items():
        if path is None:
            continue
        known = read.get(os.path.realpath(path))
        # A terminal or a pipe may be read and written.
        if known is not None and (os.path.isfile(path) or not os.path.exists(path)):
            parser.error(f"{option} {path} would overwrite {known}")
        read[os.path.realpath(path)] = option
        if os.path.isdir(path) or not os.path.isdir(os.path.dirname(path) or "."):
            told = "is a directory" if os.path.isdir(path) else "is in a directory that does not exist"
            parser.error(f"{option} {path} {told}: expected a file")
