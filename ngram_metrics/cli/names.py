"""The names of systems and columns: NAME=FILE, or the part of a path that tells a system from the others."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from ngram_metrics.cli.files import place_of


class System(NamedTuple):
    """A system on the command line; without a name of its own it gets a part of its path."""

    file: str
    name: str | None = None


def system_of(word: str) -> System:
    """Split NAME=FILE; a path that exists is a path."""
    name, _, file = word.partition("=")
    if not name or not file or "/" in name or any(map(os.path.exists, (word, place_of(word).path))):
        return System(word)
    return System(file, name)


def names_of(made: argparse.ArgumentParser, systems: Sequence[System]) -> list[str]:
    """Return the name of each system: the one that was given, or the part of its path that tells it from others."""
    parts = [os.path.normpath(system.file).split(os.sep) for system in systems if system.name is None]
    most = min(map(len, parts), default=1) - 1
    first = min(most, _alike(parts))
    last = min(most - first, _alike([of_path[::-1] for of_path in parts]))
    own = iter("/".join(of_path[first : len(of_path) - last]) for of_path in parts)
    names = [next(own) if system.name is None else system.name for system in systems]
    check_names(made, "systems", names)
    return names


def check_names(made: argparse.ArgumentParser, kind: str, names: Sequence[str]) -> None:
    """Exit with an error if two systems or columns, whatever ``kind`` says, have the same name."""
    for name in names:
        if names.count(name) > 1:
            made.error(f"two {kind} have the name {name!r}: expected different names, as NAME=FILE gives them")


def column_of(text: str) -> tuple[str, str]:
    """Split NAME=FILE, both of which a column has."""
    name, _, file = text.partition("=")
    if not name or not file:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=FILE, such as domain=domains.txt")
    return name, file


def _alike(parts: Sequence[Sequence[str]]) -> int:
    """Return how many of the first parts are the same."""
    return len(list(takewhile(lambda places: len({*places}) == 1, zip(*parts, strict=False))))
