"""The counts of systems, and the results that follow from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ngram_metrics._core.basics.option_checks import RESAMPLES
from ngram_metrics._core.metrics.bleu import BleuMeasure
from ngram_metrics._core.scoring.paired import TRIALS, Paired, Test, compare_with_baseline, pair_rows, resample_scores
from ngram_metrics._core.scoring.resampling import Floats, interval, standard_deviation
from ngram_metrics._core.scoring.scorer import Scorer
from ngram_metrics._core.scoring.settings import format_references
from ngram_metrics._core.text.messages import numbered_from
from ngram_metrics._evaluation.evaluate_arguments import Texts
from ngram_metrics._evaluation.results import MOST_GROUPS, ComparisonPlan, Groupings, Outcome, Result, ResultsBySystem

#: The number of segments that are counted at a time. The progress bar moves after each part.
_SEGMENTS_AT_ONCE = 2048
#: Scores of segments that differ by less are equal: the rest is rounding.
_TIE = 1e-12


class SystemCounts(NamedTuple):
    """The counts of a system in one metric.

    Attributes:
        scorer: the metric.
        rows: the counts of each segment, ``(segments, fields)``.
    """

    scorer: Scorer
    rows: NDArray[Any]

    def score_corpus(self) -> Floats:
        """Return the score of the corpus, ``(*score_shape)``. It does not depend on the order of segments."""
        measure = self.scorer.measure
        if self.scorer.average == "micro":
            return measure.score_rows(self.rows.sum(0))
        columns = measure.score_rows(self.rows).reshape(len(self.rows), -1).T.tolist()
        return np.array(list(map(math.fsum, columns))).reshape(measure.score_shape) / len(self.rows)

    def score_segments(self) -> Floats:
        """Return the scores of all segments, ``(segments, *score_shape)``."""
        return self.scorer.segment_scorer().measure.score_rows(self.rows)


#: The counts of each system for the same metrics; the first system is the baseline.
CountsBySystem: TypeAlias = Mapping[str, Sequence[SystemCounts]]
#: What draws say of scores, ``low``, ``high`` and ``standard_error``, by the names of values; empty without draws.
Spread: TypeAlias = Mapping[str, Mapping[str, Floats]]


def segment_values(system: Sequence[SystemCounts]) -> dict[str, list[float]]:
    """Return the scores of segments in all metrics of a system, by name. F of ROUGE has the name of its key."""
    values = {}
    for counts in system:
        titles = {value: title for title, value in counts.scorer.titles.items()}
        for value, scores in counts.scorer.name_values(counts.score_segments()).items():
            values[titles.get(value, value)] = scores.tolist()
    return values


def count(
    scorers: Sequence[Scorer],
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    progress: Callable[[int], object],
) -> list[SystemCounts]:
    """Count a system in each metric, part by part. ``progress`` gets the number of segments in each part."""
    parts: list[list[NDArray[Any]]] = [[] for _ in scorers]
    for first in range(0, len(references), _SEGMENTS_AT_ONCE):
        part = slice(first, first + _SEGMENTS_AT_ONCE)
        with numbered_from(first, "segment {}"):
            for scorer, rows in zip(scorers, parts, strict=True):
                rows.append(scorer.count_batch(hypotheses[part], references[part], first == 0).rows)
        progress(len(references[part]))
    counts = [SystemCounts(scorer, np.concatenate(rows)) for scorer, rows in zip(scorers, parts, strict=True)]
    for metric_counts in counts:
        scorer = metric_counts.scorer
        scorer.measure.warn_of_score(metric_counts.rows.sum(0), scorer.average)
    return counts


def compute_outcome(
    systems: CountsBySystem, names: Sequence[str], texts: Texts, plan: ComparisonPlan, grouping: Groupings
) -> Outcome:
    """Return all results. ``names`` has the names of the metrics."""
    results = _compute_results(systems, plan, plan.test)
    grouped = {
        name: _compute_groups(systems, labels, plan)
        for name, labels in grouping.items()
        if len(set(labels)) <= MOST_GROUPS
    }
    draws = _signature_draws(plan, len(systems) > 1)
    reference_counts = list(map(len, texts.references))
    references = format_references(min(reference_counts), max(reference_counts))
    baseline, *_ = systems.values()
    signatures = {
        name: counts.scorer.signature(references, "text", draws) for name, counts in zip(names, baseline, strict=True)
    }
    return Outcome(results, grouping, grouped, signatures, texts.names, plan)


def _compute_results(systems: CountsBySystem, plan: ComparisonPlan, test: Test | None = None) -> ResultsBySystem:
    """Return the results. Without ``test`` there are no p-values."""
    baseline, *others = systems
    spreads = _compute_spreads([counts for system_counts in systems.values() for counts in system_counts], plan)
    results: ResultsBySystem = {system: {} for system in systems}
    for system, system_counts in systems.items():
        for counts in system_counts:
            results[system] |= _compute_metric(counts, next(spreads))
    if not others:
        return results
    tested = [_pair(same_metric, plan) for same_metric in zip(*systems.values(), strict=True)]
    differences = compare_with_baseline(tested, test, plan.correction, plan.confidence, plan.seed)
    for index, (base, compared) in enumerate(zip(systems[baseline], differences, strict=True)):
        base_score = base.score_corpus()
        base_scores = base.score_segments()
        parts = {name: base.scorer.name_values(part) for name, part in compared.items()}
        for position, system in enumerate(others):
            comparisons = _compare(systems[system][index], base_score, base_scores)
            for title, value in base.scorer.titles.items():
                drawn: dict[str, Any] = {part: values[value][position].item() for part, values in parts.items()}
                results[system][title] = results[system][title]._replace(**comparisons[value], **drawn)
    return results


def _compute_metric(counts: SystemCounts, spread: Spread) -> dict[str, Result]:
    """Return the results of a system in a metric, by title: scores, their intervals and errors, and their parts."""
    scorer = counts.scorer
    values = scorer.name_values(counts.score_corpus())
    results = {}
    for title, value in scorer.titles.items():
        parts: dict[str, Any] = {name: named[value].item() for name, named in spread.items()}
        if f"{title}_precision" in values:
            parts |= {part: values[f"{title}_{part}"].item() for part in ("precision", "recall")}
        if isinstance(scorer.measure, BleuMeasure):
            parts |= _list_bleu_parts(scorer.parts(counts.rows.sum(0)))
        results[title] = Result(values[value].item(), len(counts.rows), **parts)
    return results


def _list_bleu_parts(parts: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Return the parts of BLEU that a result has."""
    hypothesis_length = int(parts["hypothesis_length"])
    reference_length = int(parts["reference_length"])
    return {
        "precisions": tuple(parts["precisions"].tolist()),
        "brevity_penalty": parts["brevity_penalty"].item(),
        "ratio": hypothesis_length / reference_length if reference_length else 0.0,
        "hypothesis_length": hypothesis_length,
        "reference_length": reference_length,
    }


def _compare(counts: SystemCounts, base_score: Floats, base_scores: Floats) -> dict[str, dict[str, Any]]:
    """Return the differences from the scores of the baseline, and wins, ties and losses, by the names of values."""
    scorer = counts.scorer
    apart = scorer.name_values(counts.score_segments() - base_scores)  # each (segments,)
    comparisons = {}
    for value, difference in scorer.name_values(counts.score_corpus() - base_score).items():
        wins = int((apart[value] > _TIE).sum())
        losses = int((apart[value] < -_TIE).sum())
        ties = len(counts.rows) - wins - losses
        comparisons[value] = {"difference": difference.item(), "wins": wins, "ties": ties, "losses": losses}
    return comparisons


def _compute_spreads(all_counts: Sequence[SystemCounts], plan: ComparisonPlan) -> Iterator[Spread]:
    """Yield the ends of the interval and the standard error of each system and metric."""
    if plan.confidence is None:
        yield from [{}] * len(all_counts)
        return
    drawn = [_pair([counts], plan) for counts in all_counts]
    for counts, scores in zip(all_counts, resample_scores(drawn, RESAMPLES, plan.seed), strict=True):
        low, high = interval(scores[:, 0], plan.confidence)
        spread = {"low": low, "high": high, "standard_error": standard_deviation(scores[:, 0])}
        yield {name: counts.scorer.name_values(part) for name, part in spread.items()}


def _pair(systems: Sequence[SystemCounts], plan: ComparisonPlan) -> Paired:
    """Return the counts of systems in one metric side by side."""
    scorer = systems[0].scorer
    rows = np.stack([counts.rows for counts in systems], 1)
    return pair_rows(scorer.measure, scorer.average, rows, plan.clusters)


def _compute_groups(
    systems: CountsBySystem, labels: Sequence[Hashable], plan: ComparisonPlan
) -> dict[Hashable, ResultsBySystem]:
    """Return the results of the segments with each label, in the order of the labels' first segments."""
    indices: dict[Hashable, list[int]] = {}
    for index, label in enumerate(labels):
        indices.setdefault(label, []).append(index)
    grouped = {}
    for label, segments in indices.items():
        parts = {
            system: [counts._replace(rows=counts.rows[segments]) for counts in system_counts]
            for system, system_counts in systems.items()
        }
        grouped[label] = _compute_results(parts, plan.select(np.array(segments)))
    return grouped


def _signature_draws(plan: ComparisonPlan, tested: bool) -> dict[str, str]:
    """Return the fields of the signature about draws and tests."""
    draws = {}
    if plan.confidence is not None or (tested and plan.test == "bootstrap"):
        draws["bs"] = str(RESAMPLES)
    if tested and plan.test == "randomization":
        draws["ar"] = str(TRIALS)
    if draws:
        if plan.clusters is not None:
            draws["clusters"] = str(plan.cluster_count)
        draws["seed"] = str(plan.seed)
    if tested:
        draws |= {"test": plan.test, "alternative": "two-sided", "correction": plan.correction or "none"}
    return draws
