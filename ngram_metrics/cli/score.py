"""``ngram-metrics score``: read all files in parallel, count, and write a report."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from ngram_metrics.cli.arguments import ScoreOptions
from ngram_metrics.cli.files import Source, chunks
from ngram_metrics.cli.formats import written
from ngram_metrics.cli.metrics import chosen
from ngram_metrics.cli.output import Progress, written_to
from ngram_metrics.cli.page import Page, page_of
from ngram_metrics.cli.report import report
from ngram_metrics.cli.sentences import SentenceLines
from ngram_metrics.cli.tally import Tally

#: Lines of a system counted at a time.
CHUNK = 2048


def run(options: ScoreOptions, sources: Sequence[Source]) -> None:
    """Score all systems, and write the report; the sources are those of the systems, and of the references."""
    metrics = chosen(options)
    keep = options.confidence is not None or len(options.systems) > 1 or options.report is not None
    tallies = {
        system: [Tally(metric, len(options.references), keep) for metric in metrics] for system in options.systems
    }
    # Opened first, so that an output that cannot be written is reported before the work.
    with written_to(options.output) as write, page_of(options, metrics) as page:
        with Progress("lines") as bar:
            _count(tallies, options, sources, bar, page)
            if keep:
                bar.name("resampling")
            found = report(tallies, options)
            if page is not None:
                page.write(tallies, found)
        write(written(found, options))


def _count(
    tallies: dict[str, list[Tally]],
    options: ScoreOptions,
    sources: Sequence[Source],
    bar: Progress,
    page: Page | None,
) -> None:
    with ExitStack() as stack:
        write = stack.enter_context(written_to(options.sentences)) if options.sentences else None
        lines = SentenceLines(as_json=(options.sentences or "").endswith(".jsonl"))
        for columns in chunks(sources, CHUNK):
            references = list(zip(*columns[len(tallies) :], strict=True))
            if page is not None:
                page.keep(columns)
            scores = {}
            for (system, of_system), hypotheses in zip(tallies.items(), columns, strict=False):
                rows = [tally.count(hypotheses, references) for tally in of_system]
                if write is not None:
                    pairs = zip(of_system, rows, strict=True)
                    scores[system] = [tally.sentence_scores(of_tally) for tally, of_tally in pairs]
                bar.update(len(hypotheses))
            if write is not None:
                write(lines.of(scores))
