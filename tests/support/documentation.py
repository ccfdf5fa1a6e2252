"""The pages of the documentation, their blocks of code, and the public names that they have to show."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
#: The pages of the site, and those beside the package.
TEXTS = [*sorted(DOCS.rglob("*.md")), *sorted(ROOT.glob("*.md"))]
BLOCK = re.compile(r"^( *)```([\w-]*)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


#: A name that can be imported without the package that it needs.
NEEDED_BY = {"TensorboardLogger": "tensorboard", "TensorBoardLogger": "tensorboard"}


def imported_modules(code: str) -> Iterator[str]:
    """The modules that a piece of Python imports at its top level, and those that the imported names need."""
    for statement in ast.parse(code).body:
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            yield statement.module
            yield from (NEEDED_BY[alias.name] for alias in statement.names if alias.name in NEEDED_BY)


def blocks(page: Path, language: str) -> list[str]:
    """The blocks of a language, without the indentation of a list they stand in."""
    return blocks_of(page.read_text(encoding="utf-8"), language)


def blocks_of(text: str, language: str) -> list[str]:
    """The blocks of a language in a part of a page."""
    found = BLOCK.findall(text)
    return [re.sub(f"^{indent}", "", code, flags=re.MULTILINE) for indent, of, code in found if of == language]


def recipes(page: Path) -> dict[str, list[str]]:
    """The blocks of Python of each section of a page, by the title of the section."""
    _, *parts = re.split("^## ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    sections = {part.splitlines()[0]: blocks_of(part, "python") for part in parts}
    return {title: code for title, code in sections.items() if code}


def run_recipe(title: str, **names: Any) -> dict[str, Any]:
    """Run the blocks of a section of docs/guides/hosts.md, and return what they define.

    ``names`` are those that the host's own file has at this place.
    """
    for code in recipes(DOCS / "guides" / "hosts.md")[title]:
        exec(compile(code, f"{title} of hosts.md", "exec"), names)
    return names


def public_names() -> list[str]:
    """All public names; where a framework is missing whose module has some of them, the test is skipped."""
    modules = ["ngram_metrics"]
    for name in (
        "counting",
        "functional",
        "ignite",
        "ignite.drop_in",
        "distributed",
        "mbr",
        "significance",
        "hugging_face",
        "lightning",
    ):
        modules.append(f"ngram_metrics.{name}")
    names = []
    for module in modules:
        imported = pytest.importorskip(module, reason=f"{module} needs its framework", exc_type=ImportError)
        names += [f"{module}.{name}" for name in imported.__all__]
    return names
