"""``--report``: the texts, kept until the page is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy

from ngram_metrics.cli.arguments import ScoreOptions
from ngram_metrics.cli.entries import Report
from ngram_metrics.cli.metrics import Metric
from ngram_metrics.cli.output import written_to
from ngram_metrics.cli.report import report
from ngram_metrics.cli.tally import Tally
from ngram_metrics.text.word_reader import WordReader

#: The level of the intervals without ``--confidence``: the page always has intervals.
_LEVEL = 0.95


class Page:
    """The texts of all files, in the order of the options' systems and references."""

    def __init__(self, options: ScoreOptions, metrics: Sequence[Metric], write: Callable[[str], object]) -> None:
        self._options, self._write = options, write
        readers = [metric.reader for metric in metrics if isinstance(metric.reader, WordReader)]
        self._words = readers[0] if readers else WordReader("13a")
        self._texts: list[list[str]] = [[] for _ in (*options.systems, *options.references)]

    def keep(self, columns: Sequence[Sequence[str]]) -> None:
        """Keep lines that were read, those of the systems before those of the references."""
        for texts, lines in zip(self._texts, columns, strict=True):
            texts.extend(lines)

    def write(self, tallies: Mapping[str, Sequence[Tally]], found: Report) -> None:
        """Write the page of the tallies, with the numbers of the report ``found``."""
        from ngram_metrics.report.contents import Contents
        from ngram_metrics.report.page import written

        options = copy(self._options)
        if options.confidence is None:
            options.confidence = _LEVEL
            found = report(tallies, options)
        count = len(options.systems)
        systems = dict(zip(options.systems, self._texts, strict=False))
        self._write(written(Contents(options, self._words, tallies, systems, self._texts[count:], found), title=None))


@contextmanager
def page_of(options: ScoreOptions, metrics: Sequence[Metric]) -> Iterator[Page | None]:
    """Open the file of ``--report``, and yield its page; None without ``--report``.

    Raises:
        ModuleNotFoundError: Jinja2 is not installed.
        OutputError: the file cannot be written.
    """
    if options.report is None:
        yield None
        return
    from ngram_metrics.report.page import check_installed

    check_installed()
    with written_to(options.report) as write:
        yield Page(options, metrics, write)
