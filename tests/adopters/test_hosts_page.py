"""The page on other trainers and harnesses: short recipes, each with a test that runs it."""

import ast
from pathlib import Path

import pytest
from documentation import DOCS, recipes

RECIPES = recipes(DOCS / "guides" / "hosts.md")
#: It has the rules of two other packages, and is longer.
LONG = "LLaMA-Factory and ms-swift"


def lines_of_code(block: str) -> list[str]:
    """Return the lines of a block that a user reads as code: no blank lines, imports and comments."""
    imports = {line for node in ast.parse(block).body for line in lines_of_import(node)}
    lines = enumerate(block.splitlines(), 1)
    return [line for number, line in lines if number not in imports and line.strip() and line.strip()[0] != "#"]


def lines_of_import(node: ast.stmt) -> range:
    is_import = isinstance(node, ast.Import | ast.ImportFrom)
    return range(node.lineno, (node.end_lineno or 0) + 1) if is_import else range(0)


@pytest.mark.parametrize("title", [title for title in RECIPES if title != LONG])
def test_a_recipe_has_at_most_twelve_lines(title: str):
    lengths = [len(lines_of_code(block)) for block in RECIPES[title]]
    assert max(lengths) <= 12
    assert min(lengths) > 0


def test_each_recipe_is_run_by_a_test():
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    assert len(RECIPES) >= 9
    assert [title for title in RECIPES if f'run_recipe("{title}"' not in tests] == []
