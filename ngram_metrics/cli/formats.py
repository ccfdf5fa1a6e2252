"""A report as text, in the chosen format."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable

from ngram_metrics.cli.arguments import ScoreOptions
from ngram_metrics.cli.cells import Table, by_value, notes, overview, parts, plain, signatures
from ngram_metrics.cli.entries import Report, numbers
from ngram_metrics.cli.markup import latex_table, latex_text, markdown_table, markdown_text


def written(report: Report, options: ScoreOptions) -> str:
    """Return the report as text that ends in a newline."""
    lines = _FORMATS[options.format](report, options)
    return "\n".join([*lines, ""])


def _json(report: Report, options: ScoreOptions) -> list[str]:
    return [json.dumps(_rounded(report, options.digits), indent=2)]


def _table(report: Report, options: ScoreOptions) -> list[str]:
    digits = _digits(options)
    drawn = _aligned(overview(report, digits))
    if options.details or max(map(len, drawn)) > _width(options):
        tables = map(_aligned, by_value(report, digits, options.details))
        drawn = [line for table in tables for line in ["", *table]][1:]
    return [*drawn, "", *notes(report), *signatures(report)]


def _tsv(report: Report, options: ScoreOptions) -> list[str]:
    lines: list[list[str]] = []
    for system, entries in report["systems"].items():
        row: dict[str, float | str] = {"system": plain(system)}
        for value, entry in entries.items():
            row[value] = entry["score"]
            row |= {f"{value}_{name}": number for name, number in numbers(entry, ("low", "high")).items()}
            if "test" in report:
                row[f"{value}_p_value"] = str(entry.get("p_value", ""))
            if options.details:
                row |= {f"{value}_{name}": number for name, number in parts(value, entry).items()}
        if not lines:
            lines.append(list(map(plain, row)))
        lines.append([str(_rounded(cell, options.digits)) for cell in row.values()])
    return ["\t".join(line) for line in lines]


def _markdown(report: Report, options: ScoreOptions) -> list[str]:
    lines = [line for table in _tables(report, options) for line in [*markdown_table(table), ""]]
    lines += [f"{markdown_text(note)}  " for note in notes(report)]
    return [*lines, "", *(f"`{line}`  " for line in signatures(report))]


def _latex(report: Report, options: ScoreOptions) -> list[str]:
    lines = [line for table in _tables(report, options) for line in latex_table(table)]
    return [*lines, *(f"% {latex_text(note)}" for note in notes(report)), *(f"% {line}" for line in signatures(report))]


def _tables(report: Report, options: ScoreOptions) -> list[Table]:
    if options.details:
        return by_value(report, _digits(options), details=True)
    return [overview(report, _digits(options))]


_FORMATS: dict[str, Callable[[Report, ScoreOptions], list[str]]] = {
    "table": _table,
    "json": _json,
    "tsv": _tsv,
    "markdown": _markdown,
    "latex": _latex,
}


def _digits(options: ScoreOptions) -> int:
    return 2 if options.digits is None else options.digits


def _rounded(value: object, digits: int | None) -> object:
    """Round all scores, but not p-values and the confidence level."""
    if digits is None or not isinstance(value, (dict, list, float)):
        return value
    if isinstance(value, dict):
        return {
            name: part if name in ("p_value", "confidence") else _rounded(part, digits) for name, part in value.items()
        }
    return [_rounded(part, digits) for part in value] if isinstance(value, list) else round(value, digits)


def _aligned(table: Table) -> list[str]:
    """Draw a table as text: names aligned to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(table.header, *table.rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if number == 0 else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in [table.header, *table.rows]
    ]


def _width(options: ScoreOptions) -> int:
    """Return the width of the terminal to which a table is written; there is no limit for other destinations."""
    to_terminal = options.output is None and sys.stdout is not None and sys.stdout.isatty()
    return shutil.get_terminal_size().columns if to_terminal else sys.maxsize
