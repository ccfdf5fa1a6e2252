"""The pages of the documentation, their blocks of code, and the public names that they have to show."""

import doctest
import importlib
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
#: The pages of the site.
PAGES = sorted(DOCS.rglob("*.md"))
TEXTS = [*PAGES, *sorted(ROOT.glob("*.md"))]
PARSER = doctest.DocTestParser()
BLOCK = re.compile(r"^( *)```([\w-]*)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> list[str]:
    """The blocks of a language, without the indentation of a list they stand in."""
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [
        "".join(line.removeprefix(indent) for line in code.splitlines(True))
        for indent, of, code in found
        if of == language
    ]


def public_names() -> list[str]:
    modules = [
        "ngram_metrics",
        *(
            f"ngram_metrics.{name}"
            for name in ("counting", "functional", "ignite", "distributed", "mbr", "significance")
        ),
        *(f"ngram_metrics.{name}" for name in ("hugging_face", "lightning")),
    ]
    return [f"{module}.{name}" for module in modules for name in importlib.import_module(module).__all__]
