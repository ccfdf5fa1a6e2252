"""What ``pyproject.toml`` says, and the packages that the extra ``test`` installs."""

import re
import sys
from collections.abc import Iterator
from importlib import metadata
from itertools import chain
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # pytest brings it

PYPROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
#: The first torch in which compiled steps work: it is on a page, and a workflow runs it.
OLDEST_COMPILER = (2, 11)


def packages_of(extra: str) -> Iterator[str]:
    for requirement in PROJECT["optional-dependencies"][extra]:
        name, extras = re.match(r"([\w-]+)(?:\[([\w,]+)\])?", requirement).groups()
        if name == PROJECT["name"]:
            yield from chain.from_iterable(map(packages_of, extras.split(",")))
        else:
            yield name


def missing_packages() -> list[str]:
    """Those that are not installed."""
    return [name for name in packages_of("test") if not any(metadata.Distribution.discover(name=name))]
