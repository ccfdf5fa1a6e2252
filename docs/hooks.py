"""What building the site needs of Python: docstrings turned into Markdown, and code in colour.

mkdocs calls the functions named ``on_...``, and griffe, which reads the package, the extension. The docstrings are
written for ``pydoc`` and the reader of the code: reStructuredText roles, a few formulas in TeX, tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import griffe
from mkdocs.structure.files import File, Files

_ROLE = re.compile(r":(class|func|meth|mod|attr|data|exc|math):`([^`]+)`")
_SESSION = re.compile(r"^( *)```python\n(\1>>> .*?)\n+\1```$", re.MULTILINE | re.DOTALL)
_SIGNS = {
    r"\beta": "β",
    r"\sum": "Σ",
    r"\cdot": "·",
    r"\quad": "  ",
    r"\hat h": "ĥ",
    r"\arg\max": "argmax",
    r"\min": "min",
    r"\exp": "exp",
    r"\log": "log",
    r"\,": "",
    "^2": "²",
}


def on_page_markdown(markdown: str, **kwargs: Any) -> str:
    """Mark code with prompts as a Python session."""
    return _SESSION.sub(r"\1```pycon\n\2\n\1```", markdown)


def on_files(files: Files, config: Any) -> Files:
    """Add the colours of code."""
    from pygments.formatters import HtmlFormatter

    colours = HtmlFormatter(style="default").get_style_defs(".highlight")
    files.append(File.generated(config, "code.css", content=colours))
    return files


class Docstrings(griffe.Extension):
    """Turns each docstring into Markdown when the package has been read."""

    def on_package(self, *, pkg: griffe.Module, **kwargs: Any) -> None:
        """Go through all objects."""
        for each in _objects(pkg):
            if each.docstring is not None:
                each.docstring.value = to_markdown(each.docstring.value, _target_of(each))


def _objects(parent: griffe.Object) -> Iterator[griffe.Object]:
    yield parent
    for member in parent.members.values():
        if not member.is_alias:
            yield from _objects(member)  # type: ignore[arg-type]


def _target_of(place: griffe.Object) -> Callable[[str], str]:
    """Return what finds the full name of what a docstring calls by a short one."""

    def target(name: str) -> str:
        first, _, rest = name.partition(".")
        if first == "ngram_metrics":
            return name
        for scope in (place, place.parent):  # a method speaks of its class, a class of its module
            try:
                return ".".join(filter(None, (scope.resolve(first), rest))) if scope is not None else name
            except griffe.NameResolutionError:
                continue
        return name

    return target


def to_markdown(text: str, target: Callable[[str], str]) -> str:
    """Turn a docstring into Markdown.

    Args:
        text: the docstring.
        target: from a name to the full name of what it stands for.
    """
    lines: list[str] = []
    rest = text.splitlines()
    while rest:
        line = rest.pop(0)
        indent = line[: len(line) - len(line.lstrip())]
        if line.strip() == "::":
            continue  # what follows is indented, which is code in Markdown as well
        if line.strip().startswith(".. math::"):
            formula = plain_formula(line.strip().removeprefix(".. math::"))
            lines += [f"{indent}```text", indent + formula, f"{indent}```"]
        elif line.strip().startswith(">>> "):
            session = [line]
            while rest and rest[0].strip():
                session.append(rest.pop(0))
            lines += [f"{indent}```pycon", *session, f"{indent}```"]
        elif re.fullmatch(r"=+( +=+)+", line):
            end = [number for number, one in enumerate(rest) if one == line][1]
            lines += _table(line, rest[:end])
            del rest[: end + 1]
        else:
            lines.append(_ROLE.sub(lambda role: _inline(role[1], role[2], target), line))
    return "\n".join(lines)


def plain_formula(tex: str) -> str:
    """Write one of the package's formulas in plain characters."""
    formula = re.sub(r"\\text\{(\w+)\}", r"\1", tex.strip())
    formula = re.sub(r"(= *)?\\frac\{([^{}]*)\}\{([^{}]*)\}", _quotient, formula)
    formula = re.sub(r"_\{(\w)=(\w)\}\^\{(\w)\}", r"(\1 = \2..\3)", formula)
    for sign, plain in _SIGNS.items():
        formula = formula.replace(sign, plain)
    return re.sub(r"\^\{([^{}]*)\}", r"^(\1)", formula)


def _quotient(found: re.Match[str]) -> str:
    above, below = (f"({part})" if " " in part else part for part in found.groups()[1:])
    return f"= {above} / {below}" if found[1] else f"({above} / {below})"


def _inline(role: str, name: str, target: Callable[[str], str]) -> str:
    if role == "math":
        return f"`{plain_formula(name)}`"
    # Optional: what the pages do not show stays code without a link.
    return f'<autoref identifier="{target(name)}" optional><code>{name}</code></autoref>'


def _table(border: str, rows: list[str]) -> list[str]:
    """Turn a simple table into Markdown's; a row that leaves the first column empty goes on with the one before."""
    starts = [match.start() for match in re.finditer("=+", border)]
    cells: list[list[str]] = []
    for row in rows:
        if row == border:
            continue
        columns = [row[start:end].strip() for start, end in zip(starts, [*starts[1:], None], strict=True)]
        if columns[0]:
            cells.append(columns)
        else:
            cells[-1] = [f"{above} {below}".strip() for above, below in zip(cells[-1], columns, strict=True)]
    written = [f"| {' | '.join(one.replace('|', chr(92) + '|') for one in row)} |" for row in cells]
    return [written[0], "|---" * len(starts) + "|", *written[1:]]
