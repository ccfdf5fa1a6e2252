"""``ngram-metrics score`` for one system in plain Python, which counts thousands of lines before torch is imported.

It writes what ``score_command`` writes, to the last byte. Its measures and readers are base classes; the measures
and readers of ``ngram_metrics.metric.definitions`` add arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

from ngram_metrics.basics.option_checks import ROUGE_KEYS
from ngram_metrics.cli.command_arguments import ScoreOptions
from ngram_metrics.cli.files import FileSegments, InputError, warn_of_unicode_forms
from ngram_metrics.evaluation.results import ComparisonPlan, Outcome, Result
from ngram_metrics.metric.registry import row_of, values_of
from ngram_metrics.metric.signature import format_references, format_signature
from ngram_metrics.scores import python_measures, python_scores
from ngram_metrics.scores.python_measures import PythonMeasure
from ngram_metrics.text import python_readers
from ngram_metrics.text.input_warnings import warn_of_split_references, warn_of_transposed_references
from ngram_metrics.text.python_readers import PythonReader
from ngram_metrics.text.word_rules import has_splitter

#: The nanoseconds that importing torch takes, at least.
COST_OF_TORCH = 1_000_000_000
#: In a line of this many characters each takes twice as long, because common subsequences take the square of the words.
_LONG_LINE = 20_000
#: A shorter line takes as long as a line of this many characters.
_SHORT_LINE = 30


class PythonMetric(NamedTuple):
    """A metric without torch: how it reads, what it counts, and the average."""

    reader: PythonReader
    measure: PythonMeasure
    average: str


def can_score(options: ScoreOptions) -> bool:
    """Return whether plain Python has everything that the options ask for."""
    needs_rows = options.confidence is not None or options.report or options.segments or options.columns
    is_alone = len(options.systems) == 1
    is_rule = not options.spm_model and has_splitter(options.tokenizer)
    return is_alone and not needs_rows and is_rule and None not in _costs(options)


def _costs(options: ScoreOptions) -> list[int | None]:
    """Return the cost of a character for each metric, as its row has it."""
    return [row_of(name).python_cost for name in options.metrics]


def read_ahead(chunks: Iterator[FileSegments], options: ScoreOptions) -> tuple[bool, Iterator[FileSegments]]:
    """Return whether plain Python counts all segments before torch is imported, and the segments.

    An error of a file comes after the segments before it, as if they were counted one after another.
    """
    cost_of_character = sum(filter(None, _costs(options)))
    cost = 0.0
    ahead = []
    try:
        for segments in chunks:
            ahead.append(segments)
            texts = chain(segments.hypotheses[0], *segments.references)
            lengths = [max(len(text), _SHORT_LINE) for text in texts]
            cost += cost_of_character * sum(lengths) * (1 + max(lengths) / _LONG_LINE)
            if cost > COST_OF_TORCH:
                return False, chain(ahead, chunks)
    except InputError as error:
        return True, chain(ahead, _raise(error))
    return True, iter(ahead)


def _raise(error: InputError) -> Iterator[FileSegments]:
    raise error
    yield


def score(options: ScoreOptions, chunks: Iterator[FileSegments]) -> Outcome:
    """Return the results of the system."""
    metrics = {name: _make_metric(name, options) for name in options.metrics}
    sums: dict[str, list[Any]] = {}
    score_sums: dict[str, list[python_scores.ExactSum]] = {}
    total = 0
    for segments in warn_of_unicode_forms(chunks, options.systems):
        (hypotheses,) = segments.hypotheses
        total += len(hypotheses)
        for name, rows in _count(metrics, hypotheses, segments.references).items():
            if metrics[name].average == "macro":
                segment_scores = [_flatten(metrics[name].measure.score_in_python(*row)) for row in rows]
                metric_sums = score_sums.setdefault(name, [python_scores.ExactSum() for _ in segment_scores[0]])
                for exact_sum, column in zip(metric_sums, zip(*segment_scores, strict=True), strict=True):
                    exact_sum.add(column)
            else:
                counted = [sums[name]] if name in sums else []
                sums[name] = list(map(_sum_field, zip(*counted, *rows, strict=True)))
    results: dict[str, Result] = {}
    signatures = {}
    is_higher_better: dict[str, bool] = {}
    written = format_references(len(options.references), len(options.references))
    for name, (reader, measure, average) in metrics.items():
        if average == "macro":
            scores = [exact_sum.total() / total for exact_sum in score_sums[name]]
        else:
            scores = _flatten(measure.score_in_python(*sums[name]))
        metric_results = _make_results(name, measure, scores, sums.get(name, []), total)
        results |= metric_results
        is_higher_better |= dict.fromkeys(metric_results, measure.higher_is_better)
        fields = {"unit": "text", "avg": average, **reader.signature("text"), **measure.signature()}
        signatures[name] = format_signature(fields, written if measure.has_references else None)
    plan = ComparisonPlan(None, options.test, None, 0)
    return Outcome({options.systems[0]: results}, {}, {}, signatures, options.references, is_higher_better, plan)


def _count(
    metrics: Mapping[str, PythonMetric], hypotheses: Sequence[str], references: Sequence[Sequence[str]]
) -> dict[str, list[tuple[Any, ...]]]:
    """Return the counts of each segment for all metrics, which share what is read if their readers are equal."""
    all_references = list(chain(*references))
    counts = list(map(len, references))
    if all_references:
        warn_of_split_references(hypotheses, all_references, counts)
        warn_of_transposed_references(hypotheses, all_references, counts)
    documents: dict[PythonReader, tuple[Sequence[Any], list[list[Any]]]] = {}
    rows = {}
    for name, (reader, measure, _) in metrics.items():
        if reader not in documents:
            read = reader.read_texts_in_python([*hypotheses, *all_references], len(hypotheses), str)
            rest = iter(read[len(hypotheses) :])
            documents[reader] = read[: len(hypotheses)], [list(islice(rest, count)) for count in counts]
        rows[name] = list(map(measure.count_in_python, *documents[reader]))
    return rows


def _sum_field(values: tuple[Any, ...]) -> Any:
    """Return the sum of a field, a number or a list of numbers, over segments."""
    return list(map(sum, zip(*values, strict=True))) if isinstance(values[0], Sequence) else sum(values)


def _flatten(scores: Any) -> list[float]:
    """Return a score, or the precision, recall and F of each key of ROUGE, as a list of numbers."""
    return list(chain(*scores)) if isinstance(scores, list) else [scores]


def _make_metric(name: str, options: ScoreOptions) -> PythonMetric:
    row, keys = row_of(name), values_of(name)
    text_options = row.text_parameters(vars(options))
    reader: PythonReader
    measure: PythonMeasure
    if row.function == "rouge":
        reader = python_readers.PythonRougeReader(**text_options, sentences="rougeLsum" in keys)
        measure = python_measures.PythonRouge(tuple(ROUGE_KEYS[key] for key in keys))
    elif row.function == "chrf":
        reader = python_readers.PythonCharacterReader(words="word_order" in row.options, **text_options)
        measure = python_measures.PythonChrf(**row.options)
    else:
        reader = python_readers.PythonWordReader(**{"tokenizer": row.tokenizer, **text_options})
        measure = getattr(python_measures, f"Python{row.function.title()}")()
    return PythonMetric(reader, measure, row.average)


def _make_results(
    name: str, measure: PythonMeasure, scores: Sequence[float], sums: Sequence[Any], segments: int
) -> dict[str, Result]:
    """Return the results of a corpus by title, with the parts of BLEU from its summed counts."""
    if isinstance(measure, python_measures.PythonRouge):
        parts = zip(scores[::3], scores[1::3], scores[2::3], strict=True)
        return {
            key: Result(fmeasure, segments, precision=precision, recall=recall)
            for key, (precision, recall, fmeasure) in zip(values_of(name), parts, strict=True)
        }
    if not isinstance(measure, python_measures.PythonBleu):
        return {name: Result(scores[0], segments)}
    matches, totals, *lengths = sums
    result = Result(
        scores[0],
        segments,
        precisions=tuple(python_scores.bleu_precisions(matches, totals, measure.smooth, measure.smooth_value)),
        brevity_penalty=python_scores.brevity_penalty(*lengths),
        ratio=python_scores.length_ratio(*lengths),
        hypothesis_length=lengths[0],
        reference_length=lengths[1],
    )
    return {name: result}
