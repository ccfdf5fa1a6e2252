"""What building the site needs of Python: docstrings turned into Markdown, formulas into MathML, prompts not copied.

mkdocs calls the functions named ``on_...``, and griffe, which reads the package, the extension. The docstrings are
written for ``help`` and the reader of the code: names in code, which become links, a few formulas in TeX, tables.
"""

from __future__ import annotations

import html as entities
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import griffe
from latex2mathml.converter import convert
from mkdocs.structure.files import Files
from mkdocs.utils import get_relative_url

_CODE = re.compile(r"``([A-Za-z_][\w.]*)``")
_SESSION = re.compile(r"^( *)```python\n(\1>>> .*?)\n+\1```$", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"<pre\b([^>]*)>(?:(?!</pre>).)*</pre>", re.DOTALL)
_NAME = re.compile(r"(?<=doc-object-name )([^>]*>)([\w.]+)")
#: A line of code up to its first word. A prompt belongs to the indentation.
_LINE = re.compile(r'(<span id="__span-\d+-\d+")>((?:<span class="gp">[^<]*</span>)? *)')
_CELL = re.compile(r"<td\b.*?</td>", re.DOTALL)
#: Where code in a table may break: between the parts of a name or of a call.
_END_OF_PART = re.compile(r"[./,=([](?=\S)")
_CELL_CODE = re.compile(r"<code>([^<]+)</code>")
_FORMULA = re.compile(r'<(span|div) class="arithmatex">(.*?)</\1>', re.DOTALL)
#: A link to a script on a line of its own, which the site shows as the code of the script.
_SCRIPT = re.compile(r"^\[`(examples/[\w/]+\.py)`\]\((?:\.\./)+\1\)$", re.MULTILINE)
#: A page that a docstring names by its title.
_PAGE = re.compile(r'\bpage "([^"<]+)"')


def on_page_markdown(markdown: str, **kwargs: Any) -> str:
    """Mark code with prompts as a Python session, and show the scripts that the page links to."""
    return _SESSION.sub(r"\1```pycon\n\2\n\1```", _SCRIPT.sub(_show_script, markdown))


def _show_script(link: re.Match[str]) -> str:
    code = (Path(__file__).parents[1] / link[1]).read_text(encoding="utf-8")
    return f'```python title="{link[1]}"\n{code}```'


def on_page_content(html: str, page: Any, files: Files, **kwargs: Any) -> str:
    """Write formulas as MathML, tell the copy buttons what to copy of a session, and let long names break at dots.

    Code in tables may break between its parts. Lines of examples have their indentation as a property of style, because
    what does not fit into a line goes on below it with the same indentation.

    In the reference the title of a page becomes a link. A title that no page has is a KeyError.
    """
    if page.url.startswith("api"):
        urls = {file.page.title: file.url for file in files.documentation_pages() if file.page is not None}

        def link(named: re.Match[str]) -> str:
            title = " ".join(named[1].split())  # it may be broken into two lines
            return f'page <a href="{get_relative_url(urls[title], page.url)}">{title}</a>'

        html = _PAGE.sub(link, html)
    html = _NAME.sub(lambda found: found[1] + re.sub(r"([._])(?=\w)", r"\1<wbr>", found[2]), html)
    html = _CELL.sub(lambda cell: _CELL_CODE.sub(_with_breaks, cell[0]), html)
    html = _LINE.sub(_with_indentation, html)
    return _BLOCK.sub(_copied, _FORMULA.sub(_mathml, html))


def _with_indentation(line: re.Match[str]) -> str:
    start = entities.unescape(re.sub(r"<[^>]+>", "", line[2]))
    return f'{line[1]} style="--indentation: {len(start)}">{line[2]}' if start else line[0]


def _with_breaks(code: re.Match[str]) -> str:
    return f"<code>{_END_OF_PART.sub(lambda mark: mark[0] + '<wbr>', code[1])}</code>"


def _mathml(found: re.Match[str]) -> str:
    r"""Turn TeX between ``\(`` and ``\)``, or in a block between ``\[`` and ``\]``, into MathML."""
    tag, tex = found[1], entities.unescape(found[2]).strip()[2:-2].strip()
    tex = tex.replace(r"\arg\max", r"\operatorname{argmax}")  # which the converter would read as one unknown name
    mathml = convert(tex, display="block" if tag == "div" else "inline")
    return f'<{tag} class="formula">{mathml}</{tag}>'


def _copied(block: re.Match[str]) -> str:
    """Give a session the attribute from which the theme copies: what was typed, without prompts and output."""
    if 'class="gp"' not in block[0]:
        return block[0]
    lines = entities.unescape(re.sub(r"<[^>]+>", "", block[0])).splitlines()
    typed = [line[len(found[0]) :] for line in lines if (found := re.match(r">>> ?|\.\.\.(?: |$)|\$ ", line))]
    return f'<pre{block[1]} data-copy="{entities.escape(chr(10).join(typed))}"{block[0][4 + len(block[1]) :]}'


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
            lines.append(f"{indent}$${line.strip().removeprefix('.. math::').strip()}$$")
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
            lines.append(_CODE.sub(lambda code: _inline(code[1], target), line))
    return "\n".join(lines)


def _inline(name: str, target: Callable[[str], str]) -> str:
    full = target(name)
    # Optional: what the pages do not show stays code without a link.
    optional = f'<autoref identifier="{full}" optional><code>{name}</code></autoref>'
    return optional if full.startswith("ngram_metrics.") else f"``{name}``"


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
