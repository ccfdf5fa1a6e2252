"""Draws the charts of benchmarks.md from its tables: ``python docs/make_charts.py`` writes them into docs/pictures.

A section with a column ``times as fast`` gets a chart: a bar for each row that has a number there, on a log axis. It
begins at 1, where both packages take the same time, and is named after the row's first cell and the cell ``against``.
"""

from __future__ import annotations

import html
import json
import math
import re
import textwrap
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).parent / "project" / "benchmarks.md"
RATIO = "times as fast"
#: Letters and bars, on a light and on a dark page. A browser shows an SVG in the scheme of the page that it is on.
STYLE = (
    "text { font: 13px sans-serif; fill: #24292f } .faster { fill: #3f51b5 } .slower { fill: #d9730d } "
    "@media (prefers-color-scheme: dark) "
    "{ text { fill: #e4e6eb } .faster { fill: #8fa3ff } .slower { fill: #ffab5e } }"
)
WIDTH, LINE_HEIGHT, BAR_HEIGHT = 400, 17, 23
#: The letters that fit into the width in a wide font.
LONGEST_LINE = 50


class Bar(NamedTuple):
    """A row of a table."""

    task: str
    against: str
    ratio: float


def bars(section: str) -> list[Bar]:
    """Return the rows of a section's first table that have a ratio; an empty first cell repeats the one above it."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\|.*\|$", section, re.M)]
    if not rows or RATIO not in rows[0]:
        return []
    column = rows[0].index(RATIO)
    against = rows[0].index("against") if "against" in rows[0] else None
    result, task = [], ""
    for row in rows[2:]:
        task = row[0] or task
        if len(row) == len(rows[0]) and row[column]:
            other = "" if against is None else row[against]
            result.append(Bar(without_code(task), without_code(other), float(row[column].replace(",", ""))))
    return result


def without_code(cell: str) -> str:
    """Return a cell without marks of code."""
    return cell.replace("`", "")


def sections() -> dict[str, list[Bar]]:
    """Return the rows of each chart by the name of its picture, which is that of the script."""
    charts: dict[str, list[Bar]] = {}
    for heading, section in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE.read_text(encoding="utf-8"), re.M | re.S):
        script = re.search(r"`(\w+)\.py", heading)
        if script and (rows := bars(section)):
            charts.setdefault(f"benchmark_{script[1]}", rows)
    return charts


def chart(rows: list[Bar]) -> str:
    """Draw the bars of one section as SVG: each below its name, from 1 to its ratio, with the ratio behind it."""
    lowest = min(1.0, *(row.ratio for row in rows))
    highest = max(1.0, *(row.ratio for row in rows))
    scale = (WIDTH - 60) / math.log(highest / lowest)
    at_one = math.log(1 / lowest) * scale
    lines = []
    top = 0
    for row in rows:
        name = f"{row.task}, {row.against}" if row.against else row.task
        for line in textwrap.wrap(name, LONGEST_LINE, break_on_hyphens=False):
            lines.append(f'<text x="0" y="{top + 14}">{html.escape(line)}</text>')
            top += LINE_HEIGHT
        end = math.log(row.ratio / lowest) * scale
        left, right = sorted((at_one, end))
        side = "faster" if row.ratio >= 1 else "slower"
        lines += [
            f'<rect class="{side}" x="{left:.1f}" y="{top + 3}" width="{max(right - left, 1):.1f}" height="12"/>',
            f'<text x="{right + 6:.1f}" y="{top + 14}">{row.ratio:g}x</text>',
        ]
        top += BAR_HEIGHT
    size = f'viewBox="0 0 {WIDTH} {top}" width="{WIDTH}" height="{top}"'
    # With its rows, which a test compares.
    description = html.escape(json.dumps(rows))
    start = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>'
    return "\n".join([start, f"<desc>{description}</desc>", f"<style>{STYLE}</style>", *lines, "</svg>", ""])


def main() -> None:
    """Write all charts."""
    for name, rows in sections().items():
        (PAGE.parents[1] / "pictures" / f"{name}.svg").write_text(chart(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
