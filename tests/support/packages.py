"""What ``pyproject.toml`` says, and the packages that the extra ``test`` installs."""

import re
import sys
from collections.abc import Iterator
from importlib import metadata
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
    """The packages of an extra, and of the extras of this package that it names."""
    for requirement in PROJECT["optional-dependencies"][extra]:
        name, extras = re.match(r"([\w-]+)(?:\[([\w,]+)\])?", requirement).groups()
        if name != PROJECT["name"]:
            yield name
        else:
            for other in extras.split(","):
                yield from packages_of(other)


def missing_packages() -> list[str]:
    """The packages that the tests need and that are not installed."""
    return [name for name in packages_of("test") if not any(metadata.Distribution.discover(name=name))]
