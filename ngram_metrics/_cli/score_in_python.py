"""``ngram-metrics score`` for one system in plain Python, which counts thousands of lines before torch is imported.

It writes what ``score_command`` writes, to the last byte.
"""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from ngram_metrics._cli.files import FileSegments, InputError, warn_of_unicode_forms
from ngram_metrics._core.basics.option_checks import ROUGE_VALUES
from ngram_metrics._core.metrics.registry import row_of
from ngram_metrics._core.scoring.scorer import Scorer
from ngram_metrics._core.scoring.signature import format_references
from ngram_metrics._core.text.input_warnings import warn_of_split_references, warn_of_transposed_references
from ngram_metrics._core.text.reader import Reader
from ngram_metrics._core.text.word_rules import has_splitter
from ngram_metrics._evaluation.results import ComparisonPlan, Outcome, Result, make_results

#: The nanoseconds that importing torch takes, at least.
COST_OF_TORCH = 1_000_000_000
#: In a line of this many characters each takes twice as long, because common subsequences take the square of the words.
_LONG_LINE = 20_000
#: A shorter line takes as long as a line of this many characters.
_SHORT_LINE = 30


def cost_per_character(options: Namespace) -> int | None:
    """Return the nanoseconds that a character takes more than in arrays, or None if plain Python cannot score it."""
    needs_rows = options.confidence is not None or options.report or options.segments or options.columns
    is_rule = not options.spm_model and has_splitter(options.tokenizer)
    costs = [row_of(name).python_cost for name in options.metrics]
    if needs_rows or not is_rule or len(options.systems) > 1 or None in costs:
        return None
    return sum(filter(None, costs))


def read_ahead(chunks: Iterator[FileSegments], cost_of_character: int) -> tuple[bool, Iterator[FileSegments]]:
    """Return whether plain Python counts all segments before torch is imported, and the segments.

    An error of a file comes after the segments before it, as if they were counted one after another.
    """
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


def score(options: Namespace, metrics: Mapping[str, Scorer], chunks: Iterator[FileSegments]) -> Outcome:
    """Return the results of the system in metrics by name."""
    rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in metrics}
    for segments in warn_of_unicode_forms(chunks, options.systems):
        for name, counted in _count(metrics, segments.hypotheses[0], segments.references).items():
            rows[name] += counted
    results: dict[str, Result] = {}
    signatures = {}
    is_higher_better: dict[str, bool] = {}
    references = format_references(len(options.references), len(options.references))
    for name, scorer in metrics.items():
        sums: list[Any] = []
        if scorer.average == "macro":
            segment_scores = [_flatten(scorer.measure.score_in_python(row)) for row in rows[name]]
            scores = [math.fsum(column) / len(segment_scores) for column in zip(*segment_scores, strict=True)]
        else:
            sums = list(map(_sum_field, zip(*rows[name], strict=True)))
            scores = _flatten(scorer.measure.score_in_python(sums))
        indices = {
            value: index[0] * len(ROUGE_VALUES) + index[1] if index else 0 for value, index in scorer.values.items()
        }
        values = {value: scores[index] for value, index in indices.items()}
        metric_results = make_results(scorer, values, sums, len(rows[name]))
        results |= metric_results
        is_higher_better |= dict.fromkeys(metric_results, scorer.measure.higher_is_better)
        signatures[name] = scorer.signature(references, "text", {})
    plan = ComparisonPlan(None, options.test, None, 0)
    return Outcome({options.systems[0]: results}, {}, {}, signatures, options.references, is_higher_better, plan)


def _count(
    metrics: Mapping[str, Scorer], hypotheses: Sequence[str], references: Sequence[Sequence[str]]
) -> dict[str, list[tuple[Any, ...]]]:
    """Return the counts of each segment for all metrics, which share what is read if their readers are equal."""
    all_references = list(chain(*references))
    counts = list(map(len, references))
    if all_references:
        warn_of_split_references(hypotheses, all_references, counts)
        warn_of_transposed_references(hypotheses, all_references, counts)
    documents: dict[Reader, tuple[Sequence[Any], list[list[Any]]]] = {}
    rows = {}
    for name, scorer in metrics.items():
        reader = scorer.reader
        if reader not in documents:
            read = reader.read_texts_in_python([*hypotheses, *all_references], len(hypotheses), str)
            rest = iter(read[len(hypotheses) :])
            documents[reader] = read[: len(hypotheses)], [list(islice(rest, count)) for count in counts]
        rows[name] = list(map(scorer.measure.count_in_python, *documents[reader]))
    return rows


def _sum_field(values: tuple[Any, ...]) -> Any:
    """Return the sum of a field, a number or a list of numbers, over segments."""
    return list(map(sum, zip(*values, strict=True))) if isinstance(values[0], Sequence) else sum(values)


def _flatten(scores: Any) -> list[float]:
    """Return a score, or the precision, recall and F of each key of ROUGE, as a list of numbers."""
    return list(chain(*scores)) if isinstance(scores, list) else [scores]
