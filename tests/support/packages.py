"""What ``pyproject.toml`` says."""

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # pytest brings it

PYPROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
#: The first torch in which compiled steps work: it is on a page, and a workflow runs it.
OLDEST_COMPILER = (2, 11)
