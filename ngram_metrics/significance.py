"""Is one system better than another? Paired tests on the counts that the metrics have kept of each sentence.

Both tests compare systems with a baseline on the same sentences, and ask how often a difference at least as large as
the measured one would come about by chance. They are sacrebleu's, from the same formulas:

* :func:`paired_bootstrap` (Koehn 2004): corpora of resampled sentences, the same for all systems; how often the
  difference, less its mean, exceeds the measured one.
* :func:`paired_approximate_randomization` (Riezler and Maxwell 2005): each trial swaps the two systems' outputs for
  half of the sentences; how often the difference then exceeds the measured one.

The p-value is (c + 1) / (n + 1) for c of n. Differences from sacrebleu: where the measured difference is 0 it is 1
here, and 1 / (n + 1) there, which reads as highly significant; and a difference that exceeds another by rounding alone,
by less than 1e-12 in scores of 0..1, counts as equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

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
from ngram_metrics.scores.statistics import Average, Metric

__all__ = ["Comparison", "paired_bootstrap", "paired_approximate_randomization"]

#: sacrebleu's default.
TRIALS = 10_000
#: Scores that differ by less are equal but for rounding, which is not the same on all devices.
_ROUNDING = 1e-12


class System(Protocol):
    """A metric that has counted a system's output and kept the counts of each sentence."""

    @property
    def metric(self) -> Metric:
        """What was counted, and the score."""

    @property
    def average(self) -> Average:
        """How the sentences become one score."""

    @property
    def settings(self) -> Tensor:
        """Equal for metrics of equal settings."""

    def sentence_rows(self) -> Tensor:
        """Return the packed statistics, ``(sentences, fields)``, of all processes."""

    def named_scores(self, score: Tensor) -> dict[str, Tensor]:
        """Name scores ``(..., *score_shape)``."""


class Comparison(NamedTuple):
    """How a system scores, and how it compares with the baseline.

    Attributes:
        score: of the system, in 0..1.
        p_value: of its difference to the baseline, in 0..1; None for the baseline itself.
        mean: of the scores of resampled corpora; None from the randomization test, as what follows.
        low: the lower end of the confidence interval.
        high: the upper end.
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
        systems: for each name a metric of this package, constructed with ``confidence=...`` and updated with the same
            sentences in the same order; all of the same settings. In a distributed run, call this on every process.
        baseline: the name that the others are compared with.
        resamples: how many corpora are drawn.
        confidence: the level of the intervals.
        seed: of the draws; equal seeds give equal results on any device, for any order of sentences.

    Returns:
        For each system, for each value that the metric computes, the comparison.

    Raises:
        ValueError: an unknown baseline; no sentence, or different numbers of sentences; metrics of other settings, or
            that kept no rows; a number of resamples or a level out of its range.

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
    rows = _checked_rows(systems, baseline)
    sentences = len(rows[baseline])
    values = _in_one_order(systems, rows)
    sums = weighted_sums(bootstrap_weights(sentences, resamples, seed), list(values.values()))
    scores = {name: _score(systems[name], own, sentences) for name, own in zip(values, sums, strict=True)}
    measured = {name: _score(systems[name], own.sum(0), sentences) for name, own in values.items()}
    result = {}
    for name in systems:
        difference = (scores[name] - scores[baseline]).abs()
        chance = _share_above(difference - difference.mean(0), measured[name], measured[baseline])
        low, high = interval(scores[name], confidence)
        result[name] = _compared(
            systems[name], measured[name], None if name == baseline else chance, scores[name].mean(0), low, high
        )
    return result


def paired_approximate_randomization(
    systems: Mapping[str, System],
    baseline: str,
    trials: int = TRIALS,
    seed: int = SEED,
) -> dict[str, dict[str, Comparison]]:
    """Compare systems with a baseline by paired approximate randomization.

    Args:
        systems: as for :func:`paired_bootstrap`.
        baseline: likewise.
        trials: how often the outputs are swapped.
        seed: of the swaps.

    Returns:
        As :func:`paired_bootstrap`, without mean and interval.

    Raises:
        ValueError: as :func:`paired_bootstrap`.
    """
    _check_number("trials", trials)
    rows = _checked_rows(systems, baseline)
    sentences = len(rows[baseline])
    values = _in_one_order(systems, rows)
    ours = values[baseline]
    # What each trial moves from a system's sums to the baseline's.
    moved = weighted_sums(swaps(sentences, trials, seed), [own - ours for own in values.values()])
    base = _score(systems[baseline], ours.sum(0), sentences)
    result = {}
    for (name, own), shift in zip(values.items(), moved, strict=True):
        measured = _score(systems[name], own.sum(0), sentences)
        ends = (ours.sum(0) + shift, own.sum(0) - shift)
        first, second = (_score(systems[name], one, sentences) for one in ends)
        chance = None if name == baseline else _share_above((first - second).abs(), measured, base)
        result[name] = _compared(systems[name], measured, chance)
    return result


def _check_number(name: str, number: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise ValueError(f"{name} must be an integer of at least 1 (got: {number})")


def _checked_rows(systems: Mapping[str, System], baseline: str) -> dict[str, Tensor]:
    """Return the rows of each system, as many and of the same settings."""
    if baseline not in systems:
        raise ValueError(f"unknown baseline {baseline!r}: expected one of {list(systems)}")
    settings = systems[baseline].settings
    for name, system in systems.items():
        if not torch.equal(system.settings.cpu(), settings.cpu()):
            raise ValueError(f"{name!r} is a metric of other settings than {baseline!r}: expected the same ones")
    rows = {name: system.sentence_rows() for name, system in systems.items()}
    sentences = len(rows[baseline])
    if sentences == 0:
        raise ValueError(f"{baseline!r} has counted no sentence: expected at least one")
    for name, own in rows.items():
        if len(own) != sentences:
            raise ValueError(f"{name!r} has {len(own)} sentences and {baseline!r} {sentences}: expected the same ones")
    return rows


def _in_one_order(systems: Mapping[str, System], rows: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return what is summed of each system, sentences in an order that does not depend on how they came."""
    device = next(iter(rows.values())).device
    order = row_order(torch.cat([own.to(device) for own in rows.values()], 1))
    return {
        name: summands(systems[name].metric, own.to(device)[order], systems[name].average) for name, own in rows.items()
    }


def _score(system: System, sums: Tensor, sentences: int) -> Tensor:
    return scores_of_sums(system.metric, sums, sentences, system.average)


def _share_above(differences: Tensor, measured: Tensor, baseline: Tensor) -> Tensor:
    """Return the p-value: how many of the differences ``(n, ...)`` lie above the measured one, ``(...)``."""
    difference = (measured - baseline).abs()
    above = (differences > difference + _ROUNDING).sum(0).to(torch.float64)
    return torch.where(difference > _ROUNDING, (above + 1) / (len(differences) + 1), 1.0)


def _compared(
    system: System,
    score: Tensor,
    p_value: Tensor | None,
    mean: Tensor | None = None,
    low: Tensor | None = None,
    high: Tensor | None = None,
) -> dict[str, Comparison]:
    columns = [None if one is None else system.named_scores(one) for one in (score, p_value, mean, low, high)]
    return {
        name: Comparison(*(None if column is None else column[name].item() for column in columns))  # type: ignore[arg-type]
        for name in system.named_scores(score)
    }
