"""A report as tables: the text of each cell, for all formats."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ngram_metrics.cli.entries import Entry, Report, numbers
from ngram_metrics.text.messages import counted, visible

#: A difference with a smaller p-value is marked.
SIGNIFICANT = 0.05


class Table(NamedTuple):
    """A header and rows with the same number of cells; the first cell of a row is the name of a system."""

    header: list[str]
    rows: list[list[str]]


def overview(report: Report, digits: int) -> Table:
    """Return one table of all systems and values."""
    systems = report["systems"]
    values = list(next(iter(systems.values())))
    rows = [
        [plain(system), *(_cell(entries[value], digits) for value in values)] for system, entries in systems.items()
    ]
    return Table(["system", *map(plain, values)], rows)


def by_value(report: Report, digits: int, details: bool) -> list[Table]:
    """Return a table for each value; with ``details``, the parts of its score and p-values too."""
    values = list(next(iter(report["systems"].values())))
    return [_table_of(report, value, digits, details) for value in values]


def notes(report: Report) -> list[str]:
    """Return the notes below a table, before the signatures."""
    references = report["references"]
    word = "reference" if len(references) == 1 else "references"
    told = [f"{counted(report['sentences'], 'sentence')}, {word} {', '.join(references)}, scores in 0..100"]
    if "confidence" in report:
        told.append(f"[low, high]: {100 * report['confidence']:g}% bootstrap interval")
    if "test" in report:
        corrected = " with Holm's correction" if report["correction"] == "holm" else ", not corrected"
        test = f"paired {report['test']} test{corrected}"
        told.append(f"* differs from {report['baseline']}, p < {SIGNIFICANT}, {test}")
    return list(map(plain, told))


def signatures(report: Report) -> list[str]:
    """Return the signature of each metric."""
    return [plain(f"{name}: {text}") for name, text in report["signatures"].items()]


def plain(name: str) -> str:
    """Return a name without characters that separate rows or cells, command a terminal, or hide others."""
    return visible(re.sub(r"[\t\n\r]", " ", name))


def parts(value: str, entry: Entry) -> dict[str, float]:
    """Return the numbers of an entry that ``--details`` shows, by the names of their columns."""
    found = {f"precision{order}": number for order, number in enumerate(entry.get("precisions", ()), 1)}
    names = ("precision", "recall", "brevity_penalty", "ratio", "hypothesis_length", "reference_length")
    return found | numbers(entry, names)


def _table_of(report: Report, value: str, digits: int, details: bool) -> Table:
    entries = {system: of_system[value] for system, of_system in report["systems"].items()}
    header = ["system", plain(value)]
    rows = [[plain(system), _cell(entry, digits)] for system, entry in entries.items()]
    if details:
        if "test" in report:
            header.append("p")
            _add(rows, ["" if "p_value" not in entry else f"{entry['p_value']:.4f}" for entry in entries.values()])
        for name in parts(value, next(iter(entries.values()))):
            header.append(_SHORT.get(name, name))
            _add(rows, [_part(name, parts(value, entry)[name], digits) for entry in entries.values()])
    return Table(header, rows)


#: sacrebleu's names.
_SHORT = {"brevity_penalty": "BP", "hypothesis_length": "hyp_len", "reference_length": "ref_len"}


def _add(rows: Sequence[list[str]], cells: Iterable[str]) -> None:
    for row, cell in zip(rows, cells, strict=True):
        row.append(cell)


def _part(name: str, number: float, digits: int) -> str:
    if isinstance(number, int):
        return str(number)
    return f"{number:.{digits}f}" if name.startswith(("precision", "recall")) else f"{number:.3f}"


def _cell(entry: Entry, digits: int) -> str:
    interval = f" [{entry['low']:.{digits}f}, {entry['high']:.{digits}f}]" if "low" in entry else ""
    mark = "*" if entry.get("p_value", 1.0) < SIGNIFICANT else " "
    return f"{entry['score']:.{digits}f}{interval}{mark}"
