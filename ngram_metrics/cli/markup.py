"""Tables in Markdown and LaTeX."""

from __future__ import annotations

from ngram_metrics.cli.cells import Table

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def markdown_table(table: Table) -> list[str]:
    """Return the lines of a table in Markdown."""
    header, *rows = ([markdown_text(cell.strip()) for cell in row] for row in [table.header, *table.rows])
    marks = [":--", *["--:"] * (len(header) - 1)]
    return [f"| {' | '.join(row)} |" for row in [header, marks, *rows]]


def markdown_text(text: str) -> str:
    """Return text with its Markdown characters escaped."""
    return "".join(f"\\{character}" if character in "\\|*_`[]<>" else character for character in text)


def latex_table(table: Table) -> list[str]:
    """Return the lines of a LaTeX tabular, which needs no package."""
    lines = []
    for name, *cells in [table.header, *table.rows]:
        # The braces end the command before, which takes a bracket or a star as its argument.
        guard = "{}" if name.startswith(("[", "*")) else ""
        marked = [latex_text(cell.strip()).replace("*", "$^*$") for cell in cells]
        lines.append(" & ".join([guard + latex_text(name), *marked]) + r" \\")
    begin = rf"\begin{{tabular}}{{l{'r' * (len(table.header) - 1)}}}"
    return [begin, r"\hline", lines[0], r"\hline", *lines[1:], r"\hline", r"\end{tabular}"]


def latex_text(text: str) -> str:
    """Return text with its LaTeX characters escaped."""
    return "".join(_LATEX.get(character, character) for character in text)
