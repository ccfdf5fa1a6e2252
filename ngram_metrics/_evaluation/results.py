"""All results of systems."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ngram_metrics._core.counting.batch import Integers
from ngram_metrics._core.scoring.paired import Correction, Test

#: The label of each segment by the name of a grouping. Labels without a name have None.
Groupings: TypeAlias = Mapping[str | None, Sequence[Hashable]]
#: A grouping with more labels, such as an id, is not scored.
MOST_GROUPS = 50
#: A difference with a smaller p-value is significant.
SIGNIFICANT = 0.05


class Result(NamedTuple):
    """One value of a system. Scores and their parts are from 0 to 1. Attributes that do not apply are None.

    Attributes:
        score: the score of all segments.
        segments: the number of segments.
        low: the lower end of the bootstrap interval, with ``confidence``.
        high: its upper end.
        difference: the score minus the baseline's. This and all attributes up to ``losses`` are None for the baseline.
        difference_low: the lower end of the bootstrap interval of the difference, with ``confidence``. Both systems are
            scored on the same resampled corpora.
        difference_high: its upper end.
        p_value: the p-value of the difference; None for a group.
        wins: the segments with a better score than the baseline's.
        ties: the segments with the same score, up to 1e-12.
        losses: the segments with a worse score.
        precision: ROUGE's precision; ``score`` is F.
        recall: ROUGE's recall.
        precisions: BLEU's precision for each order, after smoothing.
        brevity_penalty: BLEU's brevity penalty.
        ratio: the length of the hypotheses divided by the length of the references.
        hypothesis_length: the tokens of all hypotheses.
        reference_length: the tokens of the references that BLEU compares them with.
        standard_error: the standard deviation of the scores of the resampled corpora, with ``confidence``.
    """

    score: float
    segments: int
    low: float | None = None
    high: float | None = None
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    p_value: float | None = None
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    precision: float | None = None
    recall: float | None = None
    precisions: tuple[float, ...] | None = None
    brevity_penalty: float | None = None
    ratio: float | None = None
    hypothesis_length: int | None = None
    reference_length: int | None = None
    standard_error: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return all attributes that are not None by name."""
        return {name: part for name, part in self._asdict().items() if part is not None}


#: The results of systems by the names of systems and values.
ResultsBySystem: TypeAlias = dict[str, dict[str, Result]]
#: The results of groups: ``ResultsBySystem`` by label, or by the name of a grouping and label.
ResultsByGroup: TypeAlias = dict[Any, Any]


class ComparisonPlan(NamedTuple):
    """How systems are compared: the arguments of ``ngram_metrics.evaluate``."""

    confidence: float | None
    test: Test
    correction: Correction
    seed: int
    #: The index of each segment's cluster, ``(segments,)``.
    clusters: Integers | None = None

    @property
    def cluster_count(self) -> int | None:
        """The number of clusters, or None without clusters."""
        return None if self.clusters is None else len(np.unique(self.clusters))

    def select(self, segments: Integers) -> ComparisonPlan:
        """Return the plan for the segments with these indices."""
        return self if self.clusters is None else self._replace(clusters=self.clusters[segments])


@dataclass(frozen=True)
class Outcome:
    """All results of systems on the same segments."""

    #: The results by the names of systems and values; the first system is the baseline.
    results: ResultsBySystem
    #: The label of each segment by the name of a grouping.
    grouping: Groupings
    #: The results of each group by the name of its grouping. Groupings of many labels are left out.
    grouped: dict[str | None, dict[Hashable, ResultsBySystem]]
    #: The signatures by the names of metrics.
    signatures: dict[str, str]
    #: The names of the references.
    references: Sequence[str]
    plan: ComparisonPlan

    @property
    def groups(self) -> ResultsByGroup:
        """The results of each group, by the name of its grouping if that has one."""
        return self.grouped.get(None, self.grouped)

    @property
    def baseline(self) -> str:
        """The system that the others are compared with."""
        return next(iter(self.results))

    @property
    def values(self) -> list[str]:
        """The names of the values."""
        return list(self.results[self.baseline])

    @property
    def segments(self) -> int:
        """The number of segments."""
        return next(iter(self.results[self.baseline].values())).segments
