"""``ngram-metrics score``: count the lines of all files in arrays."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

from torch import Tensor

from ngram_metrics._cli.command_arguments import DEFAULT_LEVEL
from ngram_metrics._cli.files import FileSegments, InputError, warn_of_unicode_forms
from ngram_metrics._core.basics.output import Progress, open_output
from ngram_metrics._core.scoring.paired import Correction
from ngram_metrics._core.scoring.resampling import SEED
from ngram_metrics._core.scoring.scorer import Scorer
from ngram_metrics._core.scoring.signature import format_references
from ngram_metrics._core.text.labels import cluster_numbers
from ngram_metrics._core.text.word_reader import WordReader
from ngram_metrics._evaluation.evaluate_arguments import Texts
from ngram_metrics._evaluation.result_tables import cell_text
from ngram_metrics._evaluation.results import ComparisonPlan, Outcome, Results
from ngram_metrics._evaluation.system_counts import (
    SystemCounts,
    compute_outcome,
    compute_results,
    count,
    segment_values,
)


def score(
    options: Namespace, scorers: Mapping[str, Scorer], chunks: Iterator[FileSegments]
) -> tuple[Outcome, list[str]]:
    """Write the scores of segments and the page, and return all results and the lines of ``find_losses``."""
    keep = options.confidence is not None or len(options.systems) > 1 or bool(options.report or options.columns)
    references = format_references(len(options.references), len(options.references))
    systems = {
        system: [SystemCounts(scorer, references, keep) for scorer in scorers.values()] for system in options.systems
    }
    texts = Texts({system: [] for system in systems}, options.references, [])
    beside: list[list[str]] = [[] for _ in options.inputs[len(options.systems) + len(options.references) :]]
    if options.report:
        from ngram_metrics._evaluation.page import check_installed, page

        check_installed()
    # Opened first, so that an output that cannot be written is reported before the work.
    with _open_optional(options.report) as write_report, Progress("lines") as bar:
        with _open_optional(options.segments) as write_segments:
            as_json = (options.segments or "").endswith(".jsonl")
            for segments in warn_of_unicode_forms(chunks, options.systems):
                rows = count(systems, segments.hypotheses, segments.references, bar.update)
                for lines, added in zip(beside, segments.beside, strict=True):
                    lines.extend(added)
                if write_report is not None:
                    texts.references.extend(segments.references)
                    for system_texts, added in zip(texts.systems.values(), segments.hypotheses, strict=True):
                        system_texts.extend(added)
                if write_segments is not None:
                    formatted = _format_segments(systems, rows, segments.first, as_json)
                    write_segments("".join(f"{line}\n" for line in formatted))
        if keep:
            bar.name("resampling")
        clusters = _number_clusters(options, beside.pop()) if options.clusters else None
        sources = beside.pop(0) if options.source else None
        grouping: dict[str | None, list[str]] = {
            name: labels for (name, _), labels in zip(options.columns, beside, strict=True)
        }
        correction: Correction = "holm" if options.correction == "holm" else None
        plan = ComparisonPlan(options.confidence, options.test, correction, SEED, clusters)
        outcome = compute_outcome(systems, list(scorers), options.references, plan, grouping)
        if write_report is not None:
            readers = [scorer.reader for scorer in scorers.values() if isinstance(scorer.reader, WordReader)]
            # A metric that splits at whitespace by default does not choose the words of the page.
            words = next((reader for reader in readers if reader.tokenizer is not None), WordReader("13a"))
            write_report(page(systems, outcome, texts, sources, words, digits=options.digits))
        if options.fail_if_worse is None:
            return outcome, []
        level = options.confidence or DEFAULT_LEVEL
        results = outcome.results
        if options.confidence is None:
            results = compute_results(systems, plan._replace(confidence=level))
        return outcome, find_losses(results, outcome.higher_is_better, options.fail_if_worse, level)


def _open_optional(path: str | None) -> AbstractContextManager[Callable[[str], object] | None]:
    return open_output(path) if path else nullcontext()


def _number_clusters(options: Namespace, labels: Sequence[str]) -> Tensor:
    for line, label in enumerate(labels, 1):
        if not label.strip():
            raise InputError(
                f"{options.clusters}, line {line}: the line is blank: expected the document of the segment"
            )
    try:
        return cluster_numbers(labels, options.systems[0], len(labels))
    except ValueError as error:
        raise InputError(f"{options.clusters}: {error}") from error


def find_losses(results: Results, higher_is_better: Mapping[str, bool], margin: float, level: float) -> list[str]:
    """Return a line for each value of a system that is worse than the baseline by more than ``margin`` points.

    The whole interval of the difference, of this ``level``, must be worse by so much.
    """
    baseline, *others = results
    losses = []
    for system in others:
        for value, result in results[system].items():
            low, high, difference = result.difference_low, result.difference_high, result.difference
            if low is None or high is None or difference is None:
                continue
            best = 100 * (high if higher_is_better[value] else -low)
            if best < -margin:
                losses.append(
                    f"{system} is worse than {baseline} by more than {margin:g} {value}: difference "
                    f"{100 * difference:+.2f}, {100 * level:g}% interval [{100 * low:+.2f}, {100 * high:+.2f}]"
                )
    return losses


def _format_segments(
    systems: Mapping[str, Sequence[SystemCounts]], rows: Mapping[str, Sequence[Tensor]], first: int, as_json: bool
) -> Iterator[str]:
    """Yield a line of ``--segments`` for each segment, from number ``first`` on, and each system, from 0 to 100."""
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
