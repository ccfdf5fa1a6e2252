"""Compare systems with a baseline on the same segments, by resampled and by swapped corpora.

``ngram_metrics.significance`` defines the p-values (Phipson and Smyth 2010). Two differences are equal if they agree
within 1e-12 of the larger of the two measured scores. That is some 4,000 units in the last place; sums in another order
differ by less.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ngram_metrics._core.basics.option_checks import RESAMPLES, Average
from ngram_metrics._core.counting.batch import Integers
from ngram_metrics._core.scoring.measure import AnyMeasure
from ngram_metrics._core.scoring.resampling import (
    SEED,
    Floats,
    Weights,
    bootstrap_weights,
    clusters_of,
    interval,
    score_corpora,
    swaps,
    weighted_sums,
)
from ngram_metrics._core.text.messages import warn_user

#: The names of the tests.
Test = Literal["randomization", "bootstrap"]
#: Which differences of resampled corpora count: see ``bootstrap_p_values``.
Alternative = Literal["two-sided", "sacrebleu"]
#: How p-values are corrected for the number of comparisons: by Holm's method (1979), or not at all.
Correction = Literal["holm", "none"] | None
CORRECTIONS: tuple[Correction, ...] = ("holm", "none", None)
#: The default of sacrebleu.
TRIALS = 10_000
#: With fewer segments or clusters the bootstrap finds too many differences, see the page "Is the difference real?".
_FEW = 50
#: How many numbers are computed at a time. At 8 bytes each, this limits memory.
_NUMBERS_AT_ONCE = 1 << 18
#: Differences that agree within this share of the larger score are equal.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Paired:
    """Several systems on the same segments.

    Attributes:
        measure: the formula of the metric of all systems.
        average: ``"micro"`` or ``"macro"``.
        values: ``(clusters, systems, width)``, the counts or scores whose sums give scores, summed over each cluster.
            Without clusters each segment is one, see ``Clusters``.
        segments: ``(clusters,)`` float64, the number of segments of each cluster.
        unit: what is drawn, ``"segments"`` or ``"clusters"``.
        baseline: the index of the system with which the others are compared.
    """

    measure: AnyMeasure
    average: Average
    values: Floats
    segments: Floats
    unit: str
    baseline: int = 0

    def score_sums(self, sums: Floats, segments: Floats | None = None) -> Floats:
        """Return the scores ``(..., *score_shape)`` of sums ``(..., width)`` over ``segments``, None for all."""
        counts = self.segments.sum() if segments is None else segments
        return score_corpora(self.measure, sums, counts, self.average)

    @cached_property
    def corpus_scores(self) -> Floats:
        """The score of each system, ``(systems, *score_shape)``."""
        return self.score_sums(self.values.sum(0))

    def split(self, numbers: Floats) -> tuple[Floats, Floats]:
        """Return the numbers ``(draws, systems, ...)`` of the other systems, and those of the baseline."""
        others = [system for system in range(numbers.shape[1]) if system != self.baseline]
        return numbers[:, others], numbers[:, self.baseline : self.baseline + 1]

    def blocks(self, weights: Weights) -> Iterator[tuple[Floats, Floats]]:
        """Yield blocks of sums ``(draws, systems, width)`` under rows of weights ``(draws, clusters)``.

        With the sums comes the number of segments of each draw, ``(draws, 1)``.
        """
        at_once = max(1, _NUMBERS_AT_ONCE // self.values[0].size)
        for first in range(0, len(weights), at_once):
            rows = weights[first : first + at_once]
            sums = weighted_sums(rows, self.values.reshape(len(self.values), -1))
            yield sums.reshape(-1, *self.values.shape[1:]), weighted_sums(rows, self.segments[:, None])


def pair_rows(
    measure: AnyMeasure, average: Average, rows: NDArray[Any], clusters: Integers | None = None, baseline: int = 0
) -> Paired:
    """Return the values of systems from their rows ``(segments, systems, fields)``.

    ``clusters`` has the index of each segment's cluster, ``(segments,)``.
    """
    values, segments = clusters_of(measure, rows, average, clusters)
    return Paired(measure, average, values, segments, "segments" if clusters is None else "clusters", baseline)


def resample_scores(tested: Sequence[Paired], resamples: int, seed: int) -> list[Floats]:
    """Score all systems on the same resampled corpora: for each metric ``(resamples, systems, *score_shape)``."""
    scores: list[list[Floats]] = [[] for _ in tested]
    for weights in bootstrap_weights(len(tested[0].values), resamples, seed):
        for paired, drawn in zip(tested, scores, strict=True):
            drawn += [paired.score_sums(sums, segments) for sums, segments in paired.blocks(weights)]
    return list(map(np.concatenate, scores))


def interval_ends(
    measure: AnyMeasure, average: Average, rows: NDArray[Any], confidence: float
) -> tuple[Floats, Floats]:
    """Return both ends ``score_shape`` of the bootstrap interval of a corpus of at least one segment."""
    return interval(resample_corpus(measure, average, rows), confidence)


def resample_corpus(measure: AnyMeasure, average: Average, rows: NDArray[Any]) -> Floats:
    """Return the scores ``(resamples, *score_shape)`` of the draws behind the ``confidence`` of every metric.

    ``rows`` has the packed statistics of at least one segment, ``(segments, fields)``.
    """
    (scores,) = resample_scores([pair_rows(measure, average, rows[:, None])], RESAMPLES, SEED)
    return scores[:, 0]


def compare_with_baseline(
    tested: Sequence[Paired], test: Test | None, correction: Correction, confidence: float | None, seed: int
) -> list[dict[str, Floats]]:
    """Compare systems with the baseline in several metrics, from the same draws for all metrics.

    For each metric the result has what was asked for, each ``(systems - 1, *score_shape)``: ``p_value``, and the ends
    of the interval of the difference, ``difference_low`` and ``difference_high``.
    """
    scores = resample_scores(tested, RESAMPLES, seed) if confidence is not None or test == "bootstrap" else []
    p_values: list[Floats] = []
    if test == "bootstrap":
        warn_of_few(tested[0])
        p_values = [bootstrap_p_values(paired, drawn) for paired, drawn in zip(tested, scores, strict=True)]
    elif test == "randomization":
        p_values = randomization_p_values(tested, TRIALS, seed)
    results: list[dict[str, Floats]] = [{} for _ in tested]
    for result, chances in zip(results, p_values, strict=False):
        result["p_value"] = correct(chances, correction)
    if confidence is not None:
        for result, paired, drawn in zip(results, tested, scores, strict=True):
            ours, base = paired.split(drawn)
            apart = ours - base
            differences = np.where(np.abs(apart) > _rounding(ours, base), apart, 0.0)
            result["difference_low"], result["difference_high"] = interval(differences, confidence)
    return results


def bootstrap_p_values(paired: Paired, scores: Floats, alternative: Alternative = "two-sided") -> Floats:
    """Return the p-values ``(systems - 1, *score_shape)`` of the paired bootstrap, without the baseline's.

    ``scores`` has the scores of resampled corpora, ``(draws, systems, *score_shape)``. Let d be the measured difference
    and d_i the difference in a resample. ``"two-sided"`` counts where ``|d_i - mean(d_i)| >= |d|``, and p is 1 if all
    resamples are the same. ``"sacrebleu"`` counts where ``|d_i| - mean(|d_i|) > |d|``, p is 1 if d is 0, and the number
    of clusters sets no lower limit.
    """
    difference, rounding = _measure_difference(paired)
    ours, base = paired.split(scores)
    drawn = ours - base
    if alternative == "sacrebleu":
        drawn = np.abs(drawn)
        count = (drawn - drawn.mean(0) > difference + rounding).sum(0)
        differs = difference > rounding
        return np.where(differs, _share(count, len(scores), None), 1.0)
    apart = np.abs(drawn - drawn.mean(0))
    count = (apart >= difference - rounding).sum(0)
    differs = apart.max(0) > rounding
    return np.where(differs, _share(count, len(scores), len(paired.values)), 1.0)


def randomization_p_values(tested: Sequence[Paired], trials: int, seed: int) -> list[Floats]:
    """Return for each metric the p-values ``(systems - 1, *score_shape)`` of randomization, from the same swaps."""
    tallies = [np.zeros(_measure_difference(paired)[0].shape, np.int64) for paired in tested]
    for weights in swaps(len(tested[0].values), trials, seed):
        for paired, count in zip(tested, tallies, strict=True):
            count += _count_swaps(paired, weights)
    return [_share(count, trials, len(paired.values)) for paired, count in zip(tested, tallies, strict=True)]


def _count_swaps(paired: Paired, weights: Weights) -> Integers:
    """Return in how many of these swaps each system differs from the baseline at least as much as measured."""
    difference, rounding = _measure_difference(paired)
    total, base_total = paired.split(paired.values.sum(0)[None])
    count = np.zeros(difference.shape, np.int64)
    for sums, _ in paired.blocks(weights):
        ours, base = paired.split(sums)
        moved = ours - base  # (draws, systems - 1, width), from the sums of a system to those of the baseline
        drawn = paired.score_sums(total - moved) - paired.score_sums(base_total + moved)
        count += (np.abs(drawn) >= difference - rounding).sum(0)
    return count


def correct(p_values: Floats, correction: Correction) -> Floats:
    """Return p-values ``(comparisons, ...)``, corrected for their number by Holm's method if asked to.

    The smallest of m is multiplied by m, the next by m - 1, and so on. Their order stays, and none is above 1.
    """
    if correction != "holm":
        return p_values
    order = np.argsort(p_values, 0)
    factors = np.arange(len(p_values), 0, -1).reshape(-1, *[1] * (p_values.ndim - 1))
    corrected = np.maximum.accumulate(np.take_along_axis(p_values, order, 0) * factors, 0)
    result = np.empty_like(corrected)
    np.put_along_axis(result, order, np.minimum(corrected, 1), 0)
    return result


def warn_of_few(tested: Paired) -> None:
    """Warn if a bootstrap test draws from too few segments or clusters."""
    if len(tested.values) < _FEW:
        needed = f"a bootstrap test needs at least {_FEW} {tested.unit} (got: {len(tested.values)})"
        warn_user(f"{needed}: with fewer, its p-values are too small. The randomization test has no such minimum")


def _measure_difference(paired: Paired) -> tuple[Floats, Floats]:
    """Return how far each system is from the baseline, and the largest difference that is rounding."""
    all_ours, all_base = paired.split(paired.corpus_scores[None])
    ours = all_ours[0]
    base = all_base[0]
    return np.abs(ours - base), _rounding(ours, base)


def _rounding(ours: Floats, base: Floats) -> Floats:
    return _ROUNDING * np.maximum(np.abs(ours), np.abs(base))


def _share(count: Integers, draws: int, clusters: int | None) -> Floats:
    """Return (c + 1) / (n + 1), but at least 2 / 2^N for N ``clusters``."""
    lowest = 0.0 if clusters is None else min(1.0, 2.0 ** (1 - clusters))
    return np.maximum((count + 1) / (draws + 1), lowest)
