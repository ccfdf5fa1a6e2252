"""The counts of systems, and the results that follow from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import torch
from torch import Tensor

from ngram_metrics._core.basics.option_checks import RESAMPLES
from ngram_metrics._core.counting.documents import host_counts
from ngram_metrics._core.scoring.paired import TRIALS, Paired, Test, compare_with_baseline, pair_rows, resample_scores
from ngram_metrics._core.scoring.resampling import ExactSum, interval
from ngram_metrics._core.scoring.rows import score_corpora, unpack
from ngram_metrics._core.scoring.scorer import Scorer, count_systems
from ngram_metrics._core.text.messages import numbered_from
from ngram_metrics._evaluation.results import (
    MOST_GROUPS,
    ComparisonPlan,
    Grouping,
    Outcome,
    Results,
    make_results,
)

#: Segments that are counted at a time.
CHUNK = 2048
#: Texts of systems and references read at a time, which limits memory; a progress bar moves after each such part.
_TEXTS_AT_ONCE = 1 << 13
#: Scores of segments that differ by less are equal up to rounding.
_TIE = 1e-12


class SystemCounts:
    """The counts of a system in one metric, on the CPU.

    ``references`` is the number of references of a segment, for the signature, such as ``1`` or ``1-4``. With ``keep``
    the counts of each segment are kept, and not only their sums.
    """

    def __init__(self, scorer: Scorer, references: str, keep: bool) -> None:
        self.scorer, self.references, self._keep = scorer, references, keep
        self.segments = 0
        measure = scorer.measure
        #: The summed counts, ``(fields,)``.
        self.row = torch.zeros(measure.layout.row_width, dtype=measure.row_dtype, device="cpu")
        self._score_sums = [ExactSum() for _ in range(math.prod(measure.score_shape))]
        self._rows: list[Tensor] = []

    def add(self, rows: Tensor) -> None:
        """Add the counts of segments, ``(segments, fields)``."""
        self.row += rows.sum(0)
        self.segments += len(rows)
        if self.scorer.average == "macro":
            scores = self.scorer.scores(rows).reshape(len(rows), -1)
            for exact_sum, column in zip(self._score_sums, scores.unbind(-1), strict=True):
                exact_sum.add(column.tolist())
        if self._keep:
            self._rows.append(rows)

    def part(self, segments: Tensor) -> SystemCounts:
        """Return the counts of the segments with these indices, int64, which needs ``keep``."""
        part = SystemCounts(self.scorer, self.references, keep=True)
        part.add(self.segment_rows()[segments])
        return part

    def score(self) -> Tensor:
        """Return the score of the corpus, ``(*score_shape)``."""
        sums = self.row
        if self.scorer.average == "macro":
            totals = [exact_sum.total() for exact_sum in self._score_sums]
            sums = torch.tensor(totals, dtype=torch.float64, device="cpu").reshape(self.scorer.measure.score_shape)
        return score_corpora(self.scorer.measure, sums, self.segments, self.scorer.average)

    def segment_rows(self) -> Tensor:
        """Return the counts of each segment, ``(segments, fields)``, which needs ``keep``."""
        self._rows = [torch.cat(self._rows)] if len(self._rows) > 1 else self._rows
        return self._rows[0]

    def segment_scores(self, rows: Tensor | None = None) -> Tensor:
        """Return the scores ``(segments, *score_shape)`` of rows, by default of all segments, which needs ``keep``."""
        return self.scorer.segment_scorer().scores(self.segment_rows() if rows is None else rows)


#: The counts of each system for the same metrics; the first system is the baseline.
Systems: TypeAlias = Mapping[str, Sequence[SystemCounts]]


def segment_values(system: Sequence[SystemCounts], rows: Sequence[Tensor | None] = ()) -> dict[str, list[float]]:
    """Return the scores of segments in all metrics of a system by name, F of ROUGE under the name of its key.

    ``rows`` are the counts of the segments in each metric, ``(segments, fields)``, by default of all segments.
    """
    values = {}
    for counts, metric_rows in zip(system, rows or [None] * len(system), strict=True):
        titles = {value: title for title, value in counts.scorer.titles.items()}
        for value, scores in counts.scorer.name_values(counts.segment_scores(metric_rows)).items():
            values[titles.get(value, value)] = scores.tolist()
    return values


def count(
    systems: Systems,
    hypotheses: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    progress: Callable[[int], object],
) -> dict[str, list[Tensor]]:
    """Add at most ``CHUNK`` segments to the counts of all systems, whose texts are in the same order.

    ``progress`` is called with the number of texts that each part has counted. Returns the counts that were added for
    each system and metric, ``(segments, fields)``.
    """
    first_system = next(iter(systems.values()))
    scorers = [counts.scorer for counts in first_system]
    before = first_system[0].segments
    at_once = max(1, _TEXTS_AT_ONCE // (len(systems) + 1))
    parts: list[list[Tensor]] = [[] for _ in scorers]
    for first in range(0, len(references), at_once):
        part = slice(first, first + at_once)
        counted = count_systems(scorers, [texts[part] for texts in hypotheses], references[part])
        with numbered_from(before + first, "segment {}"):
            for metric, rows in counted:
                parts[metric].append(rows.cpu().unflatten(0, (len(systems), -1)))  # (systems, segments, fields)
        progress(len(systems) * len(references[part]))
    system_rows = zip(*(torch.cat(rows, 1) for rows in parts), strict=True)
    added = {system: list(rows) for system, rows in zip(systems, system_rows, strict=True)}
    for system, system_counts in systems.items():
        for counts, rows in zip(system_counts, added[system], strict=True):
            counts.add(rows)
    return added


def compute_outcome(
    systems: Systems, names: Sequence[str], references: Sequence[str], plan: ComparisonPlan, grouping: Grouping
) -> Outcome:
    """Return all results, with the names of the metrics and of the references."""
    results = compute_results(systems, plan, plan.test)
    grouped = {
        name: _score_groups(systems, labels, plan)
        for name, labels in grouping.items()
        if len(set(labels)) <= MOST_GROUPS
    }
    draws = _signature_draws(plan, len(systems) > 1)
    signatures = {}
    for name, counts in zip(names, next(iter(systems.values())), strict=True):
        signatures[name] = counts.scorer.signature(counts.references, "text", draws)
    return Outcome(results, grouping, grouped, signatures, references, plan)


def compute_results(systems: Systems, plan: ComparisonPlan, test: Test | None = None) -> Results:
    """Return the results, whose intervals, wins, ties and losses need the counts of segments.

    Without ``test`` there are no p-values.
    """
    baseline, *others = systems
    ends = _compute_intervals([counts for system_counts in systems.values() for counts in system_counts], plan)
    results: Results = {system: {} for system in systems}
    for system, system_counts in systems.items():
        for counts in system_counts:
            values = {name: score.item() for name, score in counts.scorer.name_values(counts.score()).items()}
            sums = [field.tolist() for field in unpack(counts.row, counts.scorer.measure.layout)]
            metric_results = make_results(counts.scorer, values, sums, counts.segments)
            low, high = next(ends)
            if low:
                for title, value in counts.scorer.titles.items():
                    metric_results[title] = metric_results[title]._replace(
                        low=low[value].item(), high=high[value].item()
                    )
            results[system] |= metric_results
    if not others:
        return results
    tested = [_pair(same_metric, plan) for same_metric in zip(*systems.values(), strict=True)]
    differences = compare_with_baseline(tested, test, plan.correction, plan.confidence, plan.seed)
    for index, (base, tensors) in enumerate(zip(systems[baseline], differences, strict=True)):
        base_score = base.score()
        base_scores = base.segment_scores()
        parts = {name: base.scorer.name_values(tensor) for name, tensor in tensors.items()}
        for position, system in enumerate(others):
            comparisons = _compare(systems[system][index], base_score, base_scores)
            for title, value in base.scorer.titles.items():
                drawn: dict[str, Any] = {part: values[value][position].item() for part, values in parts.items()}
                results[system][title] = results[system][title]._replace(**comparisons[value], **drawn)
    return results


def _compare(counts: SystemCounts, base_score: Tensor, base_scores: Tensor) -> dict[str, dict[str, Any]]:
    """Return the differences from the scores of the baseline, and wins, ties and losses, by the names of values."""
    scorer = counts.scorer
    apart = scorer.name_values(counts.segment_scores() - base_scores)  # each (segments,)
    comparisons = {}
    for value, difference in scorer.name_values(counts.score() - base_score).items():
        wins = int((apart[value] > _TIE).sum())
        losses = int((apart[value] < -_TIE).sum())
        ties = counts.segments - wins - losses
        comparisons[value] = {"difference": difference.item(), "wins": wins, "ties": ties, "losses": losses}
    return comparisons


def _compute_intervals(
    all_counts: Sequence[SystemCounts], plan: ComparisonPlan
) -> Iterator[tuple[dict[str, Tensor], ...]]:
    """Yield both ends of the intervals of values by name for each system and metric, as of the metric alone."""
    if plan.confidence is None:
        yield from [({}, {})] * len(all_counts)
        return
    drawn = [_pair([counts], plan) for counts in all_counts]
    for counts, scores in zip(all_counts, resample_scores(drawn, RESAMPLES, plan.seed), strict=True):
        yield tuple(map(counts.scorer.name_values, interval(scores[:, 0], plan.confidence)))


def _pair(systems: Sequence[SystemCounts], plan: ComparisonPlan) -> Paired:
    """Return the counts of systems in one metric side by side."""
    scorer = systems[0].scorer
    rows = torch.stack([counts.segment_rows() for counts in systems], 1)
    return pair_rows(scorer.measure, scorer.average, rows, plan.clusters)


def _score_groups(systems: Systems, labels: Sequence[Hashable], plan: ComparisonPlan) -> dict[Hashable, Results]:
    """Return the results of the segments with each label, in the order of the labels' first segments."""
    segments: dict[Hashable, list[int]] = {}
    for segment, label in enumerate(labels):
        segments.setdefault(label, []).append(segment)
    return {label: _score_part(systems, host_counts(indices), plan) for label, indices in segments.items()}


def _score_part(systems: Systems, segments: Tensor, plan: ComparisonPlan) -> Results:
    """Return the results of the segments with these indices as a corpus."""
    parts = {system: [counts.part(segments) for counts in system_counts] for system, system_counts in systems.items()}
    return compute_results(parts, plan.select(segments))


def _signature_draws(plan: ComparisonPlan, tested: bool) -> dict[str, str]:
    """Return what the signature says of draws and tests."""
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
