"""The page: a template, one style and one script in it, and a policy that forbids all else."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ngram_metrics.cli.cells import SIGNIFICANT, notes, signatures
from ngram_metrics.cli.entries import Entry
from ngram_metrics.report.contents import COPIES, Contents
from ngram_metrics.report.escapes import script_json
from ngram_metrics.text.messages import visible

_FOLDER = Path(__file__).parent / "page"
#: In the order in which they stand in the one script.
_SCRIPTS = ("elements", "words", "systems", "pictures", "sentences", "ngrams", "start")


class Cell(NamedTuple):
    """One value of a system, as text; empty where there is none."""

    score: str
    interval: str
    difference: str
    p_value: str
    significant: bool


def check_installed() -> None:
    """Raise ModuleNotFoundError where Jinja2 is not installed."""
    if importlib.util.find_spec("jinja2") is None:
        raise ModuleNotFoundError("a report needs Jinja2: pip install Jinja2")


def written(contents: Contents, title: str | None) -> str:
    """Return the page."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    found = contents.report
    parts = [(_FOLDER / f"{name}.js").read_text(encoding="utf-8") for name in _SCRIPTS]
    script = "\n".join(['"use strict";', "{", *parts, "}"])
    style = (_FOLDER / "page.css").read_text(encoding="utf-8")
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # What is marked as markup is this package's own, or was escaped for its place.
    return environment.get_template("page.html").render(
        title=visible(_title(list(found["systems"])) if title is None else title),
        values=list(next(iter(found["systems"].values()))),
        rows=[(visible(system), _cells(contents, entries)) for system, entries in found["systems"].items()],
        compared="test" in found,
        notes=list(map(visible, notes(found))),
        signatures=list(map(visible, signatures(found))),
        copies=COPIES,
        script=Markup(script),
        style=Markup(style),
        script_digest=_digest(script),
        style_digest=_digest(style),
        data=Markup(script_json(contents.as_json())),
    )


def _title(systems: Sequence[str]) -> str:
    more = len(systems) - 3
    return ", ".join(systems) if more <= 0 else f"{', '.join(systems[:3])} and {more} more"


def _cells(contents: Contents, entries: dict[str, Entry]) -> list[Cell]:
    baseline = next(iter(contents.report["systems"].values()))
    return [_cell(entry, baseline[value], contents.digits) for value, entry in entries.items()]


def _cell(entry: Entry, baseline: Entry, digits: int) -> Cell:
    p_value = entry.get("p_value")
    difference = "" if p_value is None else f"{entry['score'] - baseline['score']:+.{digits}f}"
    return Cell(
        f"{entry['score']:.{digits}f}",
        f"[{entry['low']:.{digits}f}, {entry['high']:.{digits}f}]",
        difference,
        "" if p_value is None else f"{p_value:.4f}",
        p_value is not None and p_value < SIGNIFICANT,
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
