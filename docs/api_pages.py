"""A page for each class and function that docs/api.md lists; that page itself becomes their overview.

mkdocs calls the functions named ``on_...``. An entry without a heading introduces a section, and stays where it is. The
table links to the source, for readers of a code host; on the site it links to the pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mkdocs.structure.files import File, Files

LISTED = Path(__file__).with_name("api.md")
_ENTRY = re.compile(r"^::: (\S+)\n((?: {4}.*\n)*)", re.MULTILINE)
_ROW = re.compile(r"^\| \[`([\w.]+)`\]\(\S+\)", re.MULTILINE)
_OPTIONS = "    options:\n"
#: Who searches for a term wants the page that explains it first, and then the class.
_LESS = "---\nsearch:\n  boost: 0.5\n---\n"


class Entry(NamedTuple):
    """What one line of docs/api.md asks for."""

    name: str
    options: str  # lines of YAML, below `options:`

    @property
    def has_page(self) -> bool:
        """Whether it is more than the introduction of a section."""
        return "show_root_heading: false" not in self.options

    @property
    def path(self) -> str:
        """Where its page is."""
        return f"api/{self.name}.md"

    @property
    def title(self) -> str:
        """Its name in the navigation."""
        return self.name.rpartition(".")[2]


def on_config(config: Any) -> Any:
    """Put the pages below `API` in the navigation, section by section."""
    config.nav = [_with_pages(item) for item in config.nav]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Write the pages."""
    for section in _sections():
        for entry in section[1]:
            options = "".join(
                line for line in entry.options.splitlines(True) if line != _OPTIONS and "heading_level" not in line
            )
            content = f"{_LESS}\n::: {entry.name}\n{_OPTIONS}      heading_level: 1\n{options}"
            files.append(File.generated(config, entry.path, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **kwargs: Any) -> str:
    """Turn the table and the entries of the overview into links to the pages."""
    if page.file.src_uri != LISTED.name:
        return markdown
    markdown = _ROW.sub(r"| [`\1`](api/\1.md)", markdown)
    return _ENTRY.sub(lambda found: _linked(Entry(*found.groups())), markdown)


def _linked(entry: Entry) -> str:
    return f"- [`{entry.name}`]({entry.path})\n" if entry.has_page else f"::: {entry.name}\n{entry.options}"


def _sections() -> Iterator[tuple[str, list[Entry]]]:
    """Yield the titles of docs/api.md with the entries below that have pages."""
    for part in LISTED.read_text(encoding="utf-8").split("\n## ")[1:]:
        entries = [Entry(*found) for found in _ENTRY.findall(part)]
        yield part.partition("\n")[0], [entry for entry in entries if entry.has_page]


def _with_pages(item: Any) -> Any:
    if isinstance(item, dict):
        ((title, value),) = item.items()
        if value != LISTED.name:
            return {title: [_with_pages(part) for part in value] if isinstance(value, list) else value}
        sections = [{name: [{entry.title: entry.path} for entry in entries]} for name, entries in _sections()]
        return {title: [value, *sections]}
    return item
