"""Is one system better than another? Paired tests on the counts that the metrics keep for each segment.

``standard_error`` is about one system: the standard deviation of the scores that ``confidence=`` draws (Efron 1979).

The tests estimate how often chance makes a difference as large as the one measured on the same segments:

* ``paired_bootstrap`` (Koehn 2004) draws corpora of resampled segments, the same for all systems. It counts how often
  their difference is at least as far from its mean as the measured difference is from 0.
* ``paired_approximate_randomization`` (Riezler and Maxwell 2005) swaps the outputs of the two systems for each
  segment with probability 1/2. It counts how often the difference is at least the measured one.

Both are two-sided: a difference in either direction counts. If c of n differences count, the p-value is
(c + 1) / (n + 1). It is never below 2 / 2^N for N segments, the smallest value that a two-sided test can have. If all
draws are the same, it is 1. A difference that equals the measured one counts; two are equal if they agree within
1e-12 of the larger score.

Segments of one document are not independent: the quality of a whole document varies. ``clusters=`` names the document
of each segment, and then whole documents are drawn or swapped (Miller 2024, arXiv 2411.00640, whose clusters are groups
of related questions). N is then the number of documents. With one segment in each document all results are the
same as without ``clusters``, to the last bit.

Differences from sacrebleu's tests:

1. sacrebleu's bootstrap asks how often ``|d_i| - mean(|d_i|)`` exceeds ``|d|``. If two systems differ by chance alone,
   it calls them different twice as often as the level says. ``alternative="sacrebleu"`` uses this rule.
2. sacrebleu's randomization does not count a difference that equals the measured one. If all swaps give that
   difference, as with one segment, its p-value is the smallest possible one; here it is 1.
3. If two systems have the same score, the p-value is 1 here, and 1 / (n + 1) in sacrebleu.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, get_args

import numpy as np

from ngram_metrics._core.basics.keywords import named_arguments
from ngram_metrics._core.basics.option_checks import RESAMPLES, check_choice, checked_level, whole_number
from ngram_metrics._core.scoring.items import whole_metric
from ngram_metrics._core.scoring.paired import (
    CORRECTIONS,
    TRIALS,
    Alternative,
    Correction,
    Paired,
    bootstrap_p_values,
    correct,
    pair_rows,
    randomization_p_values,
    resample_corpus,
    resample_scores,
    warn_of_few,
)
from ngram_metrics._core.scoring.resampling import SEED, Floats, checked_seed, interval, standard_deviation
from ngram_metrics._core.scoring.scorer import Metric, Scorer, scorer_of
from ngram_metrics._core.scoring.settings import describe_unequal
from ngram_metrics._core.text.labels import Labels, cluster_numbers
from ngram_metrics._core.text.messages import pluralize, type_name

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

__all__ = ["Comparison", "paired_approximate_randomization", "paired_bootstrap", "standard_error"]


class System(Metric, Protocol):
    """A metric with the counts of each segment of a system's output."""

    @property
    def signature(self) -> str:
        """Everything that affects the score, with the number of references."""

    def has_one_reference(self) -> bool:
        """Return whether each segment of all processes has exactly one reference."""

    def segment_rows(self) -> Tensor:
        """Return the packed statistics ``(segments, fields)`` of all processes."""


class Comparison(NamedTuple):
    """The score of a system, and its comparison with the baseline. See the page "Is the difference real?".

    Attributes:
        score: the score of the system, from 0 to 1.
        p_value: the p-value of its difference from the baseline, from 0 to 1, with the ``correction`` of the test; None
            for the baseline.
        mean: the mean score of the resampled corpora, from 0 to 1. Randomization has neither this nor an interval.
        low: the lower end of the confidence interval.
        high: the upper end of the confidence interval.
    """

    score: float
    p_value: float | None
    mean: float | None = None
    low: float | None = None
    high: float | None = None


@named_arguments
def paired_bootstrap(
    systems: Mapping[str, System],
    baseline: str,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
    seed: int = SEED,
    alternative: Alternative = "two-sided",
    correction: Correction = None,
    clusters: Labels | None = None,
) -> dict[str, dict[str, Comparison]]:
    """Compare systems with a baseline by paired bootstrap resampling.

    Args:
        systems: metrics of this package by the names of systems, constructed with ``confidence=...`` and the same
            settings, and updated with the same segments in the same order. In a distributed run, call this function
            on every process.
        baseline: the name of the system with which the others are compared.
        resamples: the number of corpora to draw, at least 3.
        confidence: the level of the intervals, at most 1 - 2 / ``resamples``.
        seed: the seed of the draws. It gives the same results on any device, for any order of segments.
        alternative: ``"two-sided"``, or ``"sacrebleu"`` for sacrebleu's rule, see ``ngram_metrics.significance``.
        correction: ``"holm"`` corrects the p-values of each value for the number of systems; None or ``"none"``
            leaves them unchanged.
        clusters: the document of each segment, a hashable label such as a name, in the order of the updates, and in a
            distributed run rank by rank. Documents are then drawn instead of segments. If None, segments are drawn.

    Returns:
        The comparison for each system and each value that the metric computes: ``result[system][value]``.

    Raises:
        TypeError: systems that are not a mapping of names to metrics; a seed that is not an integer; clusters that are
            not a sequence of hashable labels, or None as a label.
        ValueError: an unknown baseline, alternative or correction; no segment, or different segments; metrics with
            different settings, or without ``confidence``; a number of resamples, a level or a seed out of its range;
            different numbers of labels and segments, or one label for all.

    Warns:
        UserWarning: fewer than 50 segments, or clusters, for which p-values of the bootstrap are too small.

    Example:
        >>> from ngram_metrics import ChrF, significance
        >>> references = ["the cat sat on the mat", "a dog ran", "it rains", "who is there"] * 15
        >>> outputs = {"base": ["the cat on mat", "dog run", "rain", "who there"] * 15, "better": references}
        >>> systems = {name: ChrF(confidence=0.95) for name in outputs}
        >>> for name, metric in systems.items():
        ...     metric.update(outputs[name], references)
        >>> result = significance.paired_bootstrap(systems, baseline="base")
        >>> result["better"]["chrf"].p_value < 0.01
        True
    """
    _check_number("resamples", resamples, 3)  # an interval leaves out one draw at each end
    level = checked_level(confidence, resamples)
    seed = checked_seed(seed)
    check_choice("correction", correction, CORRECTIONS)
    check_choice("alternative", alternative, get_args(Alternative))
    tested = _pair_systems(systems, baseline, clusters)
    warn_of_few(tested)
    (scores,) = resample_scores([tested], resamples, seed)
    p_values = bootstrap_p_values(tested, scores, alternative)
    drawn = (scores.mean(0), *interval(scores, level))
    return _build_comparisons(systems, tested, correct(p_values, correction), *drawn)


@named_arguments
def paired_approximate_randomization(
    systems: Mapping[str, System],
    baseline: str,
    trials: int = TRIALS,
    seed: int = SEED,
    correction: Correction = None,
    clusters: Labels | None = None,
) -> dict[str, dict[str, Comparison]]:
    """Compare systems with a baseline by paired approximate randomization.

    Args:
        systems: metrics by the names of systems, as for ``paired_bootstrap``.
        baseline: the name of the system with which the others are compared.
        trials: how often the outputs are swapped, at least 1.
        seed: the seed of the swaps.
        correction: ``"holm"``, ``"none"`` or None, as for ``paired_bootstrap``.
        clusters: the document of each segment, as for ``paired_bootstrap``; the outputs of whole documents are swapped.

    Returns:
        The comparisons, as ``paired_bootstrap`` returns them, without mean and interval.

    Raises:
        TypeError, ValueError: the errors of ``paired_bootstrap``.
    """
    _check_number("trials", trials)
    seed = checked_seed(seed)
    check_choice("correction", correction, CORRECTIONS)
    tested = _pair_systems(systems, baseline, clusters)
    (p_values,) = randomization_p_values([tested], trials, seed)
    return _build_comparisons(systems, tested, correct(p_values, correction))


def standard_error(metric: System) -> float | dict[str, float]:
    """Return the standard error of a score: the standard deviation of the scores that ``confidence=`` draws.

    It estimates how much the score would vary over other test sets with as many similar segments. If the scores of the
    draws are normally distributed, an interval of the level 0.95 is about 3.92 standard errors wide.

    Args:
        metric: a metric of this package, of either framework, constructed with ``confidence=...``, or one value of such
            a metric, such as ``rouge["rougeL_fmeasure"]``. The level has no effect. In a distributed run, call this
            function on every process: it reads the segments of all processes.

    Returns:
        The standard error, on the scale of the score, from 0 to 1. If the metric computes several values, a dict with
        the standard error of each by name.

    Raises:
        TypeError: an object that is not a metric of this package.
        ValueError: a metric without ``confidence``, or without any segment.

    Example:
        >>> from ngram_metrics import ChrF, significance
        >>> metric = ChrF(confidence=0.95)
        >>> metric.update(["the cat on mat", "dog run", "it rains"], ["the cat sat on a mat", "a dog ran", "it rains"])
        >>> significance.standard_error(metric)
        0.143
    """
    values = scorer_of(metric, "metric").values
    whole: System = whole_metric(metric)  # the interval of one value, and its draws, are those of the metric with all
    scorer = whole.scorer
    if scorer.average == "none":
        raise ValueError("the metric has average 'none': expected 'micro' or 'macro', and confidence=0.95")
    rows = whole.segment_rows().cpu().numpy()
    if not len(rows):
        raise ValueError("the metric has counted no segment: expected at least one")
    scores = resample_corpus(scorer.measure, scorer.average, rows)
    errors_by_name = scorer.name_values(standard_deviation(scores))
    errors = {name: float(errors_by_name[name]) for name in values}
    return errors if len(errors) > 1 else next(iter(errors.values()))


def _check_number(name: str, count: int, least: int = 1) -> None:
    if (whole_number(count) or 0) < least:
        raise ValueError(f"{name} must be an integer of at least {least} (got: {count!r})")


def _build_comparisons(
    systems: Mapping[str, System], tested: Paired, p_values: Floats, *drawn: Floats
) -> dict[str, dict[str, Comparison]]:
    """Return the comparisons from p-values ``(systems - 1, *score_shape)``, means and ends of intervals."""
    comparisons: dict[str, dict[str, Comparison]] = {name: {} for name in systems}
    name_values = next(iter(systems.values())).scorer.name_values
    columns = list(map(name_values, (tested.corpus_scores, *drawn)))
    for value, other_p_values in name_values(p_values).items():
        system_p_values: list[float | None] = other_p_values.tolist()
        system_p_values.insert(tested.baseline, None)
        scores, *others = (column[value].tolist() for column in columns)
        for name, *parts in zip(systems, scores, system_p_values, *others, strict=True):
            comparisons[name][value] = Comparison(*parts)
    return comparisons


def _pair_systems(systems: Mapping[str, System], baseline: str, clusters: Labels | None) -> Paired:
    """Return the values of all systems, in an order of clusters that does not depend on the input order.

    Raises the errors of ``paired_bootstrap``.
    """
    if not isinstance(systems, Mapping):
        raise TypeError(f"systems is {type_name(systems)}: expected a mapping of names to metrics")
    names = list(systems)
    check_choice("baseline", baseline, names)
    scorers = {name: scorer_of(system, f"system {name!r}") for name, system in systems.items()}
    settings = {name: {**scorer.settings(), "values": tuple(scorer.values.items())} for name, scorer in scorers.items()}
    signature = systems[baseline].signature
    for name, system in systems.items():
        if differences := describe_unequal(settings[name], settings[baseline]):
            raise ValueError(
                f"{name!r} is a metric whose settings differ from {baseline!r}'s: expected the same settings"
                f"{differences}"
            )
        if system.signature != signature:
            # With equal settings only the number of references can differ.
            raise ValueError(
                f"{name!r} was scored as {system.signature}, and {baseline!r} as {signature}: expected the same "
                "number of references"
            )
    rows = {name: system.segment_rows().cpu().numpy() for name, system in systems.items()}
    segments = len(rows[baseline])
    if segments == 0:
        raise ValueError(f"{baseline!r} has counted no segment: expected at least one")
    for name, system_rows in rows.items():
        if len(system_rows) != segments:
            raise ValueError(
                f"{name!r} has {pluralize(len(system_rows), 'segment')} and {baseline!r} has {segments}: "
                "expected the same segments"
            )
    if systems[baseline].has_one_reference():
        _check_references(rows, scorers[baseline], baseline)
    numbers = None if clusters is None else cluster_numbers(clusters, repr(baseline), segments)
    scorer = scorers[baseline]
    joined = np.stack(list(rows.values()), 1)
    return pair_rows(scorer.measure, scorer.average, joined, numbers, names.index(baseline))


def _check_references(rows: Mapping[str, NDArray[Any]], scorer: Scorer, baseline: str) -> None:
    """Raise ValueError if counts show that two systems have different references for a segment.

    Each segment must have one reference. With several, the hypothesis decides which of them is counted.
    """
    statistics = {name: scorer.measure.layout.unpack(system_rows)._asdict() for name, system_rows in rows.items()}
    for field, expected in statistics[baseline].items():
        for name, fields in statistics.items() if field.startswith("reference_") else ():
            actual = fields[field]
            differing = (actual != expected).reshape(len(expected), -1).any(1)
            if differing.any():
                segment = int(differing.argmax())
                raise ValueError(
                    f"segment {segment} has another reference in {name!r} than in {baseline!r} ({field}: "
                    f"{actual[segment].tolist()} and {expected[segment].tolist()}): "
                    "expected the same segments in the same order"
                )
