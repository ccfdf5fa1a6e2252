"""All results as text: tables, JSON, Markdown, LaTeX and HTML. Scores are from 0 to 100, as in papers."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from ngram_metrics._core.metrics.registry import REGISTRY
from ngram_metrics._core.text.messages import pluralize, visible
from ngram_metrics._evaluation.results import MOST_GROUPS, SIGNIFICANT, Outcome, Result, ResultsBySystem

#: The default digits of scores after the decimal point.
DIGITS = 2
#: The parts of a result that are scores, apart from precisions.
_SCORES = ("score", "low", "high", "difference", "difference_low", "difference_high", "recall", "standard_error")
#: The parts of a score in the order of their columns, by sacrebleu's names.
_PARTS = {"precision": "precision", "recall": "recall", "brevity_penalty": "BP", "ratio": "ratio"}
_PARTS |= {"hypothesis_length": "hyp_len", "reference_length": "ref_len"}
#: The names of values as papers write them.
_ROUGE_HEADS = {f"rouge{key}": f"ROUGE-{key}" for key in ("1", "2", "L", "Lsum")}
#: The explanation of the marks of significant differences.
MARKS = "+ better, - worse than"
_MARKDOWN = str.maketrans({character: f"\\{character}" for character in "\\|*_`[]<>"})
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": "$<$",
        ">": "$>$",
        **{character: f"\\{character}" for character in "&%$#_{}"},
    }
)
_CSS = """.ngram-metrics { --better: #116329; --worse: #a40e26; }
@media (prefers-color-scheme: dark) { .ngram-metrics { --better: #7ee787; --worse: #ffa198; } }
[data-jp-theme-light=true] .ngram-metrics, .vscode-light .ngram-metrics { --better: #116329; --worse: #a40e26; }
[data-jp-theme-light=false] .ngram-metrics, .vscode-dark .ngram-metrics { --better: #7ee787; --worse: #ffa198; }
.ngram-metrics :is(th, td) { text-align: right; font-variant-numeric: tabular-nums; }
.ngram-metrics :is(tbody th, th:first-child) { text-align: left; }
.ngram-metrics .better { color: var(--better); }
.ngram-metrics .worse { color: var(--worse); }
.ngram-metrics small { opacity: .75; }"""


class Style(NamedTuple):
    """How results are written.

    Attributes:
        digits: the digits of scores after the decimal point; None for 2, in JSON for all.
        details: whether tables have the parts of scores, differences and p-values, which JSON always has.
        width: the columns of the terminal. A wider table is split into one table for each value.
        intervals: whether tables have intervals.
        caption: LaTeX for the caption, instead of a description of the data.
        label: the label of the LaTeX table.
        heads: the names of values as papers write them, instead of their own.
    """

    digits: int | None = None
    details: bool = False
    width: int = sys.maxsize
    intervals: bool = True
    caption: str | None = None
    label: str | None = None
    heads: Mapping[str, str] = MappingProxyType({})

    @property
    def places(self) -> int:
        """The digits in a table."""
        return DIGITS if self.digits is None else self.digits


#: The default style.
PLAIN = Style()


class _Table(NamedTuple):
    """Columns of equal length, each with its head first. The first columns, as many as ``names``, hold names."""

    columns: list[list[str]]
    names: int


def format_outcome(outcome: Outcome, form: str, style: Style) -> str:
    """Return all results in one of ``_evaluation.FORMATS``, ending in a newline."""
    return "\n".join([*_FORMATTERS[form](outcome, style), ""])


def terminal_width() -> int:
    """Return the width of the terminal, or no limit if standard output is a file."""
    if sys.stdout is None or not sys.stdout.isatty():
        return sys.maxsize
    from shutil import get_terminal_size  # imported lazily: it loads compression modules

    return get_terminal_size().columns


def notes(outcome: Outcome, style: Style = PLAIN) -> list[str]:
    """Return the notes between a table and the signatures."""
    return [_describe_data(outcome, outcome.references), *_explain(outcome, style)]


def _describe_data(outcome: Outcome, references: Sequence[str] = ()) -> str:
    """Describe the data in one sentence, with the names of references unless these are numbers."""
    numbers = [str(index) for index in range(1, len(references) + 1)]
    described = pluralize(len(outcome.references), "reference")
    if list(references) != numbers:
        described = f"reference{'s' * (len(references) > 1)} {', '.join(references)}"
    return cell_text(f"{pluralize(outcome.segments, 'segment')}, {described}, scores on a 0-100 scale")


def _explain(outcome: Outcome, style: Style) -> list[str]:
    plan = outcome.plan
    lines = []
    drawn = "" if plan.cluster_count is None else f" of {pluralize(plan.cluster_count, 'cluster')}"
    if plan.confidence is not None and style.intervals:
        lines.append(f"[low, high]: {100 * plan.confidence:g}% bootstrap interval{drawn}")
    if len(outcome.results) > 1:
        correction = " with Holm's correction" if plan.correction == "holm" else ", not corrected"
        test = f"paired {plan.test} test{drawn}{correction}"
        lines.append(f"{MARKS} {outcome.baseline}: p < {SIGNIFICANT}, {test}")
    counts = {name: len(set(labels)) for name, labels in outcome.grouping.items() if name not in outcome.grouped}
    if counts:
        left_out = [f"{grouping_head(name)} ({count} labels)" for name, count in counts.items()]
        lines.append(f"Groups with more than {MOST_GROUPS} labels are not scored: {', '.join(left_out)}")
    return list(map(cell_text, lines))


def _for_papers(style: Style, outcome: Outcome) -> Style:
    """Return a style with the names of values as papers write them."""
    titles = {value: REGISTRY[value].title for value in outcome.values if value in REGISTRY}
    return style._replace(heads={**titles, **_ROUGE_HEADS})


def grouping_head(name: str | None) -> str:
    """Return the head of the column of a grouping's labels."""
    return "group" if name is None else name


def signatures(outcome: Outcome) -> list[str]:
    """Return the signature of each metric with its name."""
    return [cell_text(f"{name}: {text}") for name, text in outcome.signatures.items()]


def cell_text(name: str) -> str:
    """Return a name for a cell. Tabs and newlines become spaces, and invisible characters code points."""
    return visible(re.sub(r"[\t\n\r]", " ", name))


def label_text(label: Hashable) -> str:
    """Return the label of a group. It is never empty, because an empty cell means all segments."""
    return str(label) or "(empty)"


def mark_difference(result: Result) -> str:
    """Return the mark of a significant difference from the baseline: + for better, - for worse."""
    if result.p_value is None or result.p_value >= SIGNIFICANT or not result.difference:
        return ""
    return "+" if result.difference > 0 else "-"


def _scale_part(name: str, part: float | tuple[float, ...], digits: int | None) -> float | list[float]:
    """Return a part of a result: a score from 0 to 100, rounded, or a count or a p-value with all digits."""
    if isinstance(part, tuple):
        return [100 * precision if digits is None else round(100 * precision, digits) for precision in part]
    if name in _SCORES or name.startswith("precision"):
        part = 100 * part
    return part if digits is None or name == "p_value" or isinstance(part, int) else round(part, digits)


def format_score(result: Result, style: Style) -> str:
    """Return a score, with its interval if it has one and the style asks for it."""
    interval = _format_interval(result.low, result.high, style.places) if style.intervals else ""
    return f"{100 * result.score:.{style.places}f}{interval}"


def format_difference(result: Result, digits: int) -> str:
    """Return a difference, with its interval if it has one, or an empty text for the baseline."""
    if result.difference is None:
        return ""
    interval = _format_interval(result.difference_low, result.difference_high, digits)
    return f"{100 * result.difference:+.{digits}f}{interval}"


def _format_interval(low: float | None, high: float | None, digits: int) -> str:
    """Return a space and an interval, or an empty text if there is none."""
    if low is None or high is None:
        return ""
    return f" [{100 * low:.{digits}f}, {100 * high:.{digits}f}]"


def format_p_value(result: Result) -> str:
    """Return a p-value with four digits, or an empty text if there is none."""
    return "" if result.p_value is None else f"{result.p_value:.4f}"


def list_rows(outcome: Outcome) -> Iterator[tuple[str, str, str, Result]]:
    """Yield group, system, value and result. All segments come first, as group "", then groups like ``domain=news``."""
    parts: list[tuple[str, ResultsBySystem]] = [("", outcome.results)]
    for name, groups in outcome.grouped.items():
        prefix = "" if name is None else f"{name}="
        parts += [(prefix + label_text(label), results) for label, results in groups.items()]
    for group, results in parts:
        for system, system_results in results.items():
            for value, result in system_results.items():
                yield group, system, value, result


def _list_tables(outcome: Outcome) -> Iterator[tuple[list[str], list[tuple[list[str], dict[str, Result]]]]]:
    """Yield one table for all segments and one for each scored grouping: the heads of its names, and its rows."""
    yield ["system"], [([system], results) for system, results in outcome.results.items()]
    for name, groups in outcome.grouped.items():
        rows = [
            ([label_text(label), system], results)
            for label, group_results in groups.items()
            for system, results in group_results.items()
        ]
        yield [grouping_head(name), "system"], rows


def html_table(outcome: Outcome) -> str:
    """Return the tables for notebooks, with colours for light and dark themes."""
    from html import escape

    tables = []
    for heads, rows in _list_tables(outcome):
        header = "".join(f"<th>{escape(cell_text(head))}</th>" for head in [*heads, *outcome.values])
        body = []
        for names, results in rows:
            cells = [f"<th>{escape(cell_text(name))}</th>" for name in names]
            cells += map(_html_cell, results.values())
            body.append(f"<tr>{''.join(cells)}</tr>")
        tables.append(f"<table><thead><tr>{header}</tr></thead><tbody>{''.join(body)}</tbody></table>")
    below = "<br>".join(map(escape, notes(outcome)))
    details = "<br>".join(map(escape, signatures(outcome)))
    return (
        f'<div class="ngram-metrics"><style>{_CSS}</style>{"".join(tables)}<p><small>{below}</small></p>'
        f"<details><summary>Signatures</summary><small>{details}</small></details></div>"
    )


def _html_cell(result: Result) -> str:
    mark = mark_difference(result)
    score, _, interval = format_score(result, Style()).partition(" ")
    text = score + (f" <small>{interval}</small>" if interval else "") + mark
    if result.difference is None or result.wins is None or result.losses is None:
        return f"<td>{text}</td>"
    p_value = "" if result.p_value is None else f", p = {format_p_value(result)}"
    title = f"difference {format_difference(result, 2)}{p_value}"
    title += f"; {result.wins} segments better, {result.ties} equal, {result.losses} worse"
    colour = {"+": ' class="better"', "-": ' class="worse"'}.get(mark, "")
    return f'<td{colour} title="{title}">{text}</td>'


def _format_table(outcome: Outcome, style: Style) -> list[str]:
    blocks = [_align(table) for table in _make_tables(outcome, style, by_value=style.details)]
    if max(len(line) for lines in blocks for line in lines) > style.width:
        blocks = [_align(table) for table in _make_tables(outcome, style, by_value=True)]
    tables = [line for lines in blocks for line in [*lines, ""]]
    return [*tables, *notes(outcome, style), *signatures(outcome)]


def _format_json(outcome: Outcome, style: Style) -> list[str]:
    import json

    plan = outcome.plan
    document: dict[str, object] = {"segments": outcome.segments, "references": list(outcome.references)}
    document["systems"] = _list_entries(outcome.results, style.digits, "segments")
    if len(outcome.results) > 1:
        document |= {"baseline": outcome.baseline, "test": plan.test, "correction": plan.correction or "none"}
    if plan.confidence is not None:
        document["confidence"] = plan.confidence
    if plan.cluster_count is not None:
        document["clusters"] = plan.cluster_count
    if outcome.groups:
        document["groups"] = _list_entries(outcome.groups, style.digits)
    return [json.dumps({**document, "signatures": outcome.signatures}, indent=2)]


def _list_entries(
    results: Result | Mapping[Any, Any], digits: int | None, without: str | None = None
) -> dict[str, object]:
    """Return results, or mappings of them, as JSON objects, without the part ``without``."""
    if isinstance(results, Result):
        parts = {name: part for name, part in results.as_dict().items() if name != without}
        return {name: _scale_part(name, part, digits) for name, part in parts.items()}
    return {str(name): _list_entries(part, digits, without) for name, part in results.items()}


def _format_markdown(outcome: Outcome, style: Style) -> list[str]:
    style = _for_papers(style, outcome)
    lines = []
    for table in _make_tables(outcome, style, by_value=style.details):
        header, *rows = (
            [cell.strip().translate(_MARKDOWN) for cell in row] for row in zip(*table.columns, strict=True)
        )
        marks = [":--"] * table.names + ["--:"] * (len(header) - table.names)
        lines += [f"| {' | '.join(row)} |" for row in (header, marks, *rows)]
        lines.append("")
    for note in notes(outcome, style):
        line = note.translate(_MARKDOWN)
        # A plus at the beginning of a line would make it a list item.
        lines.append(f"\\{line}  " if line.startswith("+") else f"{line}  ")
    return [*lines, "", *(f"{_format_code(line)}  " for line in signatures(outcome))]


def _format_code(text: str) -> str:
    """Return text as code of Markdown, between more backticks in a row than it has."""
    longest_run = max(map(len, re.findall("`+", text)), default=0)
    ticks = "`" * (longest_run + 1)
    # Spaces, which are not shown, keep the backticks of the text apart.
    return f"{ticks} {text} {ticks}" if longest_run else f"{ticks}{text}{ticks}"


def _format_latex(outcome: Outcome, style: Style) -> list[str]:
    r"""Return a table that needs ``\usepackage{booktabs}``, with the explanation of its marks below it."""
    style = _for_papers(style, outcome)
    data = _describe_data(outcome)
    explanations = _explain(outcome, style)
    if style.caption is not None:
        explanations.insert(0, data)
    caption = f"{data.translate(_LATEX)}." if style.caption is None else style.caption
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{caption}}}"]
    if style.label is not None:
        lines.append(rf"\label{{{style.label}}}")
    for table in _make_tables(outcome, style, by_value=style.details):
        heads, *cells = zip(*table.columns, strict=True)
        header = _latex_row(heads, len(heads))  # the plus at the end of chrF++ is not a mark
        rows = [_latex_row(row, table.names) for row in cells]
        begin = rf"\begin{{tabular}}{{{'l' * table.names}{'r' * (len(table.columns) - table.names)}}}"
        lines += [begin, r"\toprule", header, r"\midrule", *rows, r"\bottomrule", r"\end{tabular}", ""]
    if explanations:
        below = ". ".join(explanations).translate(_LATEX).replace(MARKS, r"$^{+}$ better, $^{-}$ worse than", 1)
        lines += [rf"\par\smallskip{{\footnotesize {below}.\par}}", ""]
    lines[-1] = r"\end{table}"  # noqa: RUF027
    return [*lines, *(f"% {line}" for line in signatures(outcome))]


def _latex_row(cells: Sequence[str], names: int) -> str:
    first, *others = (cell.strip().translate(_LATEX) for cell in cells[:names])
    # Braces, because the command before would take a bracket or a star as its argument.
    guard = "{}" if first.startswith(("[", "*")) else ""
    numbers = []
    for cell in cells[names:]:
        # A trailing space stands for a mark of other cells in the column.
        end = {"+": "$^{+}$", "-": "$^{-}$", " ": r"\phantom{$^{+}$}"}.get(cell[-1:], "")
        numbers.append((cell[:-1] if end else cell).translate(_LATEX) + end)
    return " & ".join([guard + first, *others, *numbers]) + r" \\"


_FORMATTERS: Mapping[str, Callable[[Outcome, Style], list[str]]] = {
    "table": _format_table,
    "json": _format_json,
    "markdown": _format_markdown,
    "latex": _format_latex,
}


def _make_tables(outcome: Outcome, style: Style, by_value: bool) -> list[_Table]:
    """Return the tables of all systems and of groups: each one for all values, or one for each value.

    If a column has marks, scores without one get a space.
    """
    tables = []
    for values in [[value] for value in outcome.values] if by_value else [outcome.values]:
        for heads, rows in _list_tables(outcome):
            results = [row_results for _, row_results in rows]
            columns = [list(map(cell_text, names)) for names in zip(heads, *(names for names, _ in rows), strict=True)]
            is_grouped = len(heads) > 1
            if is_grouped:
                columns.append(["segments", *(str(row[values[0]].segments) for row in results)])
            for value in values:
                head = style.heads.get(value, cell_text(value))
                marks = [mark_difference(row[value]) for row in results]
                cells = [format_score(row[value], style) for row in results]
                columns.append(
                    [head, *(cell + (mark or " " * any(marks)) for cell, mark in zip(cells, marks, strict=True))]
                )
            if style.details and not is_grouped:
                columns += _detail_columns(outcome, values[0], style)
            tables.append(_Table(columns, len(heads)))
    return tables


def _detail_columns(outcome: Outcome, value: str, style: Style) -> list[list[str]]:
    """Return the columns of differences, p-values and parts of the score."""
    results = [system_results[value] for system_results in outcome.results.values()]
    columns = []
    if len(results) > 1:
        columns.append(["difference", *(format_difference(result, style.places) for result in results)])
        columns.append(["p", *map(format_p_value, results)])
    for name in list_parts(results[0]):
        parts = [format_part(name, list_parts(result)[name], style.places) for result in results]
        columns.append([_PARTS.get(name, name), *parts])
    return columns


def list_parts(result: Result) -> dict[str, float]:
    """Return the parts of a score, from 0 to 1, by the names of their columns."""
    parts = {f"precision{order}": precision for order, precision in enumerate(result.precisions or (), 1)}
    return parts | {name: part for name, part in result.as_dict().items() if name in _PARTS}


def format_part(name: str, part: float, digits: int) -> str:
    """Return a part of a score as text: a count, a score in percent, or a ratio."""
    if isinstance(part, int):
        return str(part)
    return f"{100 * part:.{digits}f}" if name.startswith(("precision", "recall")) else f"{part:.3f}"


def _align(table: _Table) -> list[str]:
    """Draw a table as text: names aligned to the left, numbers to the right."""
    padded = []
    for index, column in enumerate(table.columns):
        align = str.ljust if index < table.names else str.rjust
        width = max(map(len, column))
        padded.append([align(cell, width) for cell in column])
    return ["  ".join(row).rstrip() for row in zip(*padded, strict=True)]
