"""The page: a template, one style and one script in it, and a policy that forbids all else."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
from pathlib import Path
from typing import NamedTuple

from ngram_metrics.cli.cells import SIGNIFICANT, notes, signatures
from ngram_metrics.cli.entries import Entry, Report
from ngram_metrics.report.contents import COPIES, Contents
from ngram_metrics.report.escapes import script_json, visible

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
        raise ModuleNotFoundError("a report needs Jinja2: pip install 'ngram-metrics[report]'")


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
        title=visible(title if title is not None else f"{', '.join(found['systems'])}"),
        values=list(next(iter(found["systems"].values()))),
        rows=[(visible(system), _cells(found, entries)) for system, entries in found["systems"].items()],
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


def _cells(found: Report, entries: dict[str, Entry]) -> list[Cell]:
    baseline = next(iter(found["systems"].values()))
    return [_cell(entry, baseline[value]) for value, entry in entries.items()]


def _cell(entry: Entry, baseline: Entry) -> Cell:
    p_value = entry.get("p_value")
    difference = "" if p_value is None else f"{entry['score'] - baseline['score']:+.2f}"
    return Cell(
        f"{entry['score']:.2f}",
        f"[{entry['low']:.2f}, {entry['high']:.2f}]",
        difference,
        "" if p_value is None else f"{p_value:.4f}",
        p_value is not None and p_value < SIGNIFICANT,
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
