"""The pages of the documentation, their blocks of code, and the public names that they have to show."""

import importlib
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
#: The pages of the site, and those beside the package.
TEXTS = [*sorted(DOCS.rglob("*.md")), *sorted(ROOT.glob("*.md"))]
BLOCK = re.compile(r"^( *)```([\w-]*)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> list[str]:
    """The blocks of a language, without the indentation of a list they stand in."""
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [re.sub(f"^{indent}", "", code, flags=re.MULTILINE) for indent, of, code in found if of == language]


def public_names() -> list[str]:
    modules = ["ngram_metrics"]
    for name in ("counting", "functional", "ignite", "distributed", "mbr", "significance", "hugging_face", "lightning"):
        modules.append(f"ngram_metrics.{name}")
    return [f"{module}.{name}" for module in modules for name in importlib.import_module(module).__all__]
