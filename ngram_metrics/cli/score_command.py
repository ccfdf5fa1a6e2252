"""``ngram-metrics score``: count the lines of all files in arrays."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor

from ngram_metrics.cli.command_arguments import DEFAULT_LEVEL, ScoreOptions
from ngram_metrics.cli.files import InputError, Segments, warn_of_unicode_forms
from ngram_metrics.evaluation.evaluate_arguments import Annotations, Texts
from ngram_metrics.evaluation.output import Progress, open_output
from ngram_metrics.evaluation.result_tables import cell_text
from ngram_metrics.evaluation.results import ComparisonPlan, Results, Summary
from ngram_metrics.evaluation.system_counts import SystemCounts, compute_results, count, segment_values, summarise
from ngram_metrics.scorer import Scorer
from ngram_metrics.scores.resampling import SEED
from ngram_metrics.significance import Correction
from ngram_metrics.significance.paired_systems import cluster_numbers
from ngram_metrics.text.word_reader import WordReader


def score(
    options: ScoreOptions, scorers: Mapping[str, Scorer], chunks: Iterator[Segments]
) -> tuple[Summary, list[str]]:
    """Write the scores of segments and the page, and return all results, and what ``find_losses`` finds."""
    keep = options.confidence is not None or len(options.systems) > 1 or bool(options.report or options.columns)
    references = str(len(options.references))
    systems = {
        system: [SystemCounts(scorer, references, keep) for scorer in scorers.values()] for system in options.systems
    }
    lines = _Lines(Texts({system: [] for system in systems}, options.references, []), options)
    if options.report:
        from ngram_metrics.evaluation.page import check_installed, page

        check_installed()
    with ExitStack() as stack:
        # Opened first, so that an output that cannot be written is reported before the work.
        write_report = stack.enter_context(open_output(options.report)) if options.report else None
        with Progress("lines") as bar:
            _count(systems, options, chunks, bar, lines)
            if keep:
                bar.name("resampling")
            settings = _make_settings(options, lines)
            columns = lines.annotations.columns
            summary = summarise(systems, list(scorers), options.references, settings, columns or ())
            if write_report is not None:
                readers = [scorer.reader for scorer in scorers.values() if isinstance(scorer.reader, WordReader)]
                words = readers[0] if readers else WordReader("13a")
                write_report(page(systems, summary, lines.texts, lines.annotations, words, digits=options.digits))
            losses: list[str] = []
            if options.fail_if_worse is not None:
                level = options.confidence or DEFAULT_LEVEL
                results = summary.results
                if options.confidence is None:
                    results = compute_results(systems, settings._replace(confidence=level))
                losses = find_losses(results, summary.higher_is_better, options.fail_if_worse, level)
    return summary, losses


class _Lines:
    """The lines that are kept until all are read: texts and sources for the page, labels, and clusters."""

    def __init__(self, texts: Texts, options: ScoreOptions) -> None:
        self.texts = texts
        self.annotations = Annotations([] if options.source else None, {name: [] for name, _ in options.columns})
        self.clusters: list[str] = []
        self._has_page = bool(options.report)
        sources = [] if self.annotations.sources is None else [self.annotations.sources]
        self._beside: list[list[Any]] = [*sources, *self.annotations.columns.values()]
        if options.clusters:
            self._beside.append(self.clusters)

    def add(self, segments: Segments) -> None:
        """Keep the lines of some segments."""
        for lines, added in zip(self._beside, segments.beside, strict=True):
            lines.extend(added)
        if self._has_page:
            self.texts.references.extend(segments.references)
            for texts, added in zip(self.texts.systems.values(), segments.hypotheses, strict=True):
                texts.extend(added)


def _make_settings(options: ScoreOptions, lines: _Lines) -> ComparisonPlan:
    """Return how systems are compared, or raise InputError if there is only one cluster."""
    correction: Correction = "holm" if options.correction == "holm" else None
    clusters = None
    if options.clusters:
        try:
            clusters = cluster_numbers(lines.clusters, options.systems[0], len(lines.clusters))
        except ValueError as error:
            raise InputError(f"{options.clusters}: {error}") from error
    return ComparisonPlan(options.confidence, options.test, correction, SEED, clusters)


def find_losses(results: Results, higher_is_better: Mapping[str, bool], margin: float, level: float) -> list[str]:
    """Return a line for each value of a system that is worse than the baseline by more than a margin.

    That is so if the whole interval of the difference is.

    Args:
        results: the results, with intervals of the differences.
        higher_is_better: for each value, whether a higher score is better.
        margin: the margin, on the scale of tables.
        level: the level of the intervals.
    """
    baseline, *others = results
    losses = []
    for system in others:
        for value, result in results[system].items():
            low, high, difference = result.difference_low, result.difference_high, result.difference
            if low is None or high is None or difference is None:
                continue
            scale = result.shown_scale
            best = scale * (high if higher_is_better[value] else -low)
            if best < -margin:
                losses.append(
                    f"{system} is worse than {baseline} by more than {margin:g} {value}: difference "
                    f"{scale * difference:+.2f}, {100 * level:g}% interval [{scale * low:+.2f}, {scale * high:+.2f}]"
                )
    return losses


def _count(
    systems: Mapping[str, list[SystemCounts]],
    options: ScoreOptions,
    chunks: Iterator[Segments],
    bar: Progress,
    lines: _Lines,
) -> None:
    """Count all lines, write the scores of each, and keep those that are needed at the end."""
    with ExitStack() as stack:
        write = stack.enter_context(open_output(options.sentences)) if options.sentences else None
        as_json = (options.sentences or "").endswith(".jsonl")
        device = torch.device(options.device)
        for segments in warn_of_unicode_forms(chunks, options.systems):
            rows = count(systems, segments.hypotheses, segments.references, device, bar.update)
            lines.add(segments)
            if write is not None:
                write("".join(f"{line}\n" for line in _format_segments(systems, rows, segments.first, as_json)))


def _format_segments(
    systems: Mapping[str, Sequence[SystemCounts]], rows: Mapping[str, Sequence[Tensor]], first: int, as_json: bool
) -> Iterator[str]:
    """Yield ``--sentences``: for each line, from number ``first`` on, and each system the scores from 0 to 100."""
    values = [segment_values(counts, rows[system]) for system, counts in systems.items()]
    names = list(values[0])
    if first == 1 and not as_json:
        yield "\t".join(["line", "system", *names])
    segments = zip(*(zip(*scores.values(), strict=True) for scores in values), strict=True)
    for line, segment in enumerate(segments, first):
        for system, scores in zip(systems, segment, strict=True):
            percents = [100 * score for score in scores]
            if as_json:
                yield json.dumps({"line": line, "system": system, **dict(zip(names, percents, strict=True))})
            else:
                yield "\t".join([str(line), cell_text(system), *map(repr, percents)])
