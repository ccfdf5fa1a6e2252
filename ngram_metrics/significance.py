"""Is one system better than another? Paired tests on the counts that the metrics keep for each sentence.

Both tests compare systems with a baseline on the same sentences. They estimate how often a difference as large as the
measured one would occur by chance. They are the tests of sacrebleu, with the same formulas:

* :func:`paired_bootstrap` (Koehn 2004): draws corpora of resampled sentences, the same for all systems, and counts how
  often the difference minus its mean exceeds the measured difference.
* :func:`paired_approximate_randomization` (Riezler and Maxwell 2005): each trial swaps the outputs of the two systems
  for each sentence with probability 1/2; it counts how often the difference exceeds the measured difference.

The p-value is (c + 1) / (n + 1) if c of n differences exceed it. There are two differences from sacrebleu. If the
measured difference is 0, the p-value is 1 here; sacrebleu gives 1 / (n + 1), which reads as highly significant. And a
difference that exceeds another by less than 1e-12, in scores of 0..1, counts as equal, because it may be a rounding
error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from ngram_metrics.scores.measure import AnyMeasure, measure_of
from ngram_metrics.scores.options import Average, whole_number
from ngram_metrics.scores.resampling import (
    RESAMPLES,
    SEED,
    bootstrap_weights,
    check_confidence,
    interval,
    row_order,
    scores_of_sums,
    summands,
    swaps,
    weighted_sums,
)

__all__ = ["Comparison", "paired_bootstrap", "paired_approximate_randomization"]

#: The default of sacrebleu.
TRIALS = 10_000
#: Scores that differ by less are equal up to rounding, which is not the same on all devices.
_ROUNDING = 1e-12


class System(Protocol):
    """A metric with the counts of a system's output, for each sentence."""

    @property
    def measure(self) -> AnyMeasure:
        """The counts and the formula."""

    @property
    def average(self) -> Average:
        """How the sentences become one score."""

    @property
    def settings(self) -> Tensor:
        """A tensor that is the same for metrics with the same settings."""

    @property
    def signature(self) -> str:
        """Everything that affects the score, with the number of references."""

    def sentence_rows(self) -> Tensor:
        """Return the packed statistics ``(sentences, fields)`` of all processes."""

    def named_scores(self, score: Tensor) -> dict[str, Tensor]:
        """Return scores ``(..., *score_shape)`` by name."""


class Comparison(NamedTuple):
    """The score of a system, and its comparison with the baseline.

    Attributes:
        score: the score of the system, in 0..1.
        p_value: the p-value of its difference from the baseline, in 0..1; None for the baseline itself.
        mean: the mean score of the resampled corpora; None from the randomization test, as are ``low`` and ``high``.
        low: the lower end of the confidence interval.
        high: the upper end of the confidence interval.
    """

    score: float
    p_value: float | None
    mean: float | None = None
    low: float | None = None
    high: float | None = None


def paired_bootstrap(
    systems: Mapping[str, System],
    baseline: str,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
    seed: int = SEED,
) -> dict[str, dict[str, Comparison]]:
    """Compare systems with a baseline by paired bootstrap resampling.

    Args:
        systems: metrics of this package by the names of systems, constructed with ``confidence=...`` and the same
            settings, and updated with the same sentences in the same order. In a distributed run, call this function
            on every process.
        baseline: the name of the system with which the others are compared.
        resamples: the number of corpora to draw, at least 1.
        confidence: the level of the intervals, between 0 and 1.
        seed: the seed of the draws; the same seed and systems give the same results on any device, for any order of
            sentences.

    Returns:
        The comparison for each system and each value that the metric computes: ``result[system][value]``.

    Raises:
        TypeError: systems that are not a mapping of names to metrics.
        ValueError: an unknown baseline; no sentence, or different numbers of sentences; metrics with different
            settings, or without ``confidence``; a number of resamples or a level out of its range.

    Example:
        >>> from ngram_metrics import ChrF, significance
        >>> references = ["the cat sat on the mat", "a dog ran", "it rains", "who is there"]
        >>> outputs = {"base": ["the cat on mat", "dog run", "rain", "who there"], "better": references}
        >>> systems = {name: ChrF(confidence=0.95) for name in outputs}
        >>> for name, metric in systems.items():
        ...     metric.update(outputs[name], references)
        >>> result = significance.paired_bootstrap(systems, baseline="base")
        >>> result["better"]["chrf"].p_value < 0.01
        True
    """
    check_confidence(confidence, "micro")
    _check_number("resamples", resamples)
    values = _summands(systems, baseline)
    measure, average, base = systems[baseline].measure, systems[baseline].average, list(systems).index(baseline)
    sums = _sums_of_all(bootstrap_weights(len(values), resamples, seed), values)
    scores = scores_of_sums(measure, sums, len(values), average)
    measured = scores_of_sums(measure, values.sum(0), len(values), average)
    differences = (scores - scores[:, base : base + 1]).abs()
    chances = _shares_above(differences - differences.mean(0), measured, base)
    return _compared(systems, baseline, measured, chances, scores.mean(0), *interval(scores, confidence))


def paired_approximate_randomization(
    systems: Mapping[str, System],
    baseline: str,
    trials: int = TRIALS,
    seed: int = SEED,
) -> dict[str, dict[str, Comparison]]:
    """Compare systems with a baseline by paired approximate randomization.

    Args:
        systems: metrics by the names of systems, as for :func:`paired_bootstrap`.
        baseline: the name of the system with which the others are compared.
        trials: how often the outputs are swapped, at least 1.
        seed: the seed of the swaps.

    Returns:
        The comparisons, as :func:`paired_bootstrap` returns them, without mean and interval.

    Raises:
        TypeError, ValueError: the errors of :func:`paired_bootstrap`.
    """
    _check_number("trials", trials)
    values = _summands(systems, baseline)
    measure, average, base = systems[baseline].measure, systems[baseline].average, list(systems).index(baseline)
    totals, of_baseline = values.sum(0), values[:, base : base + 1]
    # The amount that each trial moves from a system's sums to the baseline's.
    moved = _sums_of_all(swaps(len(values), trials, seed), values - of_baseline)
    first, second = (
        scores_of_sums(measure, sums, len(values), average) for sums in (of_baseline.sum(0) + moved, totals - moved)
    )
    measured = scores_of_sums(measure, totals, len(values), average)
    return _compared(systems, baseline, measured, _shares_above((first - second).abs(), measured, base))


def _check_number(name: str, number: int) -> None:
    if (whole_number(number) or 0) < 1:
        raise ValueError(f"{name} must be an integer of at least 1 (got: {number})")


def _checked_rows(systems: Mapping[str, System], baseline: str) -> dict[str, Tensor]:
    """Return the rows of each system, after a check that sentences and settings are the same."""
    if not isinstance(systems, Mapping):
        raise TypeError(f"systems is a {type(systems).__name__}: expected a mapping of names to metrics")
    for name, system in systems.items():
        measure_of(system, f"system {name!r}")
    if baseline not in systems:
        raise ValueError(f"unknown baseline {baseline!r}: expected one of {list(systems)}")
    settings, signature = systems[baseline].settings, systems[baseline].signature
    for name, system in systems.items():
        if not torch.equal(system.settings.cpu(), settings.cpu()):
            raise ValueError(f"{name!r} is a metric with other settings than {baseline!r}: expected the same ones")
        if system.signature != signature:
            # The numbers of references differ.
            raise ValueError(
                f"{name!r} was scored as {system.signature}, and {baseline!r} as {signature}: expected the same"
            )
    rows = {name: system.sentence_rows() for name, system in systems.items()}
    sentences = len(rows[baseline])
    if sentences == 0:
        raise ValueError(f"{baseline!r} has counted no sentence: expected at least one")
    for name, system_rows in rows.items():
        if len(system_rows) != sentences:
            raise ValueError(
                f"{name!r} has {len(system_rows)} sentences and {baseline!r} {sentences}: expected the same ones"
            )
    return rows


def _summands(systems: Mapping[str, System], baseline: str) -> Tensor:
    """Return the values to sum, ``(sentences, systems, width)``, in an order independent of the input order."""
    rows = list(_checked_rows(systems, baseline).values())
    joined = torch.stack([system_rows.to(rows[0].device) for system_rows in rows], 1)
    return summands(systems[baseline].measure, joined[row_order(joined.flatten(1))], systems[baseline].average)


def _sums_of_all(weights: Iterable[Tensor], values: Tensor) -> Tensor:
    """Return the sums ``(n, systems, width)`` of values ``(sentences, systems, width)`` under each row of weights."""
    # Columns that are the same for all systems, such as the lengths of references, are summed once.
    shared = (values == values[:, :1]).flatten(0, 1).all(0)
    differing = values[:, :, ~shared]
    parts = weighted_sums(weights, torch.cat((differing.flatten(1), values[:, 0, shared]), 1))
    sums = values.new_empty(len(parts), *values.shape[1:])
    differing_width = differing.shape[1] * differing.shape[2]
    sums[..., ~shared] = parts[:, :differing_width].unflatten(1, differing.shape[1:])
    sums[..., shared] = parts[:, None, differing_width:]
    return sums


def _shares_above(differences: Tensor, measured: Tensor, base: int) -> Tensor:
    """Return p-values ``(systems, ...)``: the share of the differences ``(n, systems, ...)`` above the measured one."""
    difference = (measured - measured[base]).abs()
    above = (differences > difference + _ROUNDING).sum(0).to(torch.float64)
    return torch.where(difference > _ROUNDING, (above + 1) / (len(differences) + 1), 1.0)


def _compared(
    systems: Mapping[str, System], baseline: str, score: Tensor, p_value: Tensor, *others: Tensor
) -> dict[str, dict[str, Comparison]]:
    """Return the comparisons of each system, from their columns, each ``(systems, *score_shape)``."""
    named = systems[baseline].named_scores
    columns = [
        {value: of_all.tolist() for value, of_all in named(scores).items()} for scores in (score, p_value, *others)
    ]
    result: dict[str, dict[str, Comparison]] = {}
    for number, name in enumerate(systems):
        result[name] = {value: Comparison(*(column[value][number] for column in columns)) for value in columns[0]}
    result[baseline] = {value: comparison._replace(p_value=None) for value, comparison in result[baseline].items()}
    return result
