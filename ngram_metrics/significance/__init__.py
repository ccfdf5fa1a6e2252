"""Is one system better than another? Paired tests on the counts that the metrics keep for each segment.

The tests estimate how often chance makes a difference as large as the one measured on the same segments:

* ``paired_bootstrap`` (Koehn 2004) draws corpora of resampled segments, the same for all systems, and counts how
  often their difference is at least as far from its mean as the measured difference is from 0.
* ``paired_approximate_randomization`` (Riezler and Maxwell 2005) swaps the outputs of the two systems for each
  segment with probability 1/2, and counts how often the difference is at least the measured one.

Both are two-sided: a difference in either direction counts, whether a higher or a lower score is better. If c of n
differences count, the p-value is (c + 1) / (n + 1). It is never below 2 / 2^N for N segments, the smallest value that a
two-sided test can have. If no draw differs from another, it is 1. A difference that equals the measured one counts;
``ngram_metrics.significance.p_values`` says when two differences are equal.

Segments of one document are not independent: the quality of a whole document varies. ``clusters=`` names the document
of each segment, and then whole documents are drawn or swapped (Miller 2024, arXiv 2411.00640, whose clusters are groups
of related questions). N is then the number of documents. With one segment in each document all results are the
same as without ``clusters``, to the last bit.

Differences from sacrebleu's tests:

1. sacrebleu's bootstrap asks how often ``|d_i| - mean(|d_i|)`` exceeds ``|d|``. If two systems differ by chance alone,
   it calls them different twice as often as the level says. ``alternative="sacrebleu"`` has this rule.
2. sacrebleu's randomization does not count a difference that equals the measured one. If all swaps do, as with one
   segment, its p-value is the smallest possible one; here it is 1.
3. If two systems have the same score, the p-value is 1 here, and 1 / (n + 1) in sacrebleu.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, get_args

from torch import Tensor

from ngram_metrics._core.basics.keywords import named_arguments
from ngram_metrics._core.basics.option_checks import RESAMPLES, check_choice, check_confidence, whole_number
from ngram_metrics._core.scoring.resampling import SEED, checked_seed, interval
from ngram_metrics._core.text.labels import Labels
from ngram_metrics.significance.comparisons import (
    CORRECTIONS,
    TRIALS,
    Correction,
    PairPValues,
    PValue,
    Test,
    baseline_pairs,
    compare_all_pairs,
    correct,
    warn_of_few,
)
from ngram_metrics.significance.p_values import Alternative, bootstrap_p_values, randomization_p_values
from ngram_metrics.significance.paired_systems import Paired, System, list_names, pair_systems, resample_scores

__all__ = ["Comparison", "PValue", "matrix", "paired_approximate_randomization", "paired_bootstrap", "standard_error"]


class Comparison(NamedTuple):
    """The score of a system, and its comparison with the baseline, on the page docs/concepts/paired_tests.md.

    Attributes:
        score: the score of the system, from 0 to 1.
        p_value: the p-value of its difference from the baseline, from 0 to 1, corrected if the test was asked to; None
            for the baseline itself.
        mean: the mean score of the resampled corpora, from 0 to 1; None for randomization, as are ``low`` and ``high``.
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
        seed: the seed of the draws, which gives the same results on any device, for any order of segments.
        alternative: ``"two-sided"``, or ``"sacrebleu"`` for sacrebleu's rule, see the module's docstring.
        correction: ``"holm"`` corrects the p-values of each value for the number of systems; None leaves them.
        clusters: the document of each segment, a hashable label such as a name, in the order of the updates, and in a
            distributed run rank by rank. Documents are drawn instead of segments. None to draw each segment by itself.

    Returns:
        The comparison for each system and each value that the metric computes: ``result[system][value]``.

    Raises:
        TypeError: systems that are not a mapping of names to metrics; a seed that is not an integer; clusters that are
            not a sequence of hashable labels, or None as a label.
        ValueError: an unknown baseline, alternative or correction; no segment, or different segments; metrics with
            different settings, or without ``confidence``; a number of resamples, a level or a seed out of its range;
            another number of labels than of segments, or one label for all.

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
    check_confidence(confidence, "micro", resamples)
    seed = checked_seed(seed)
    check_choice("correction", correction, CORRECTIONS)
    check_choice("alternative", alternative, get_args(Alternative))
    tested = pair_systems(systems, baseline, clusters)
    warn_of_few(tested)
    (scores,) = resample_scores([tested], resamples, seed)
    pairs = baseline_pairs(tested, list(systems).index(baseline))
    p_values = bootstrap_p_values(tested, scores, pairs, alternative)
    drawn = (scores.mean(0), *interval(scores, confidence))
    return _build_comparisons(systems, baseline, tested, correct(p_values, correction), *drawn)


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
        correction: ``"holm"`` or None, as for ``paired_bootstrap``.
        clusters: the document of each segment, as for ``paired_bootstrap``; the outputs of whole documents are swapped.

    Returns:
        The comparisons, as ``paired_bootstrap`` returns them, without mean and interval.

    Raises:
        TypeError, ValueError: the errors of ``paired_bootstrap``.
    """
    _check_number("trials", trials)
    seed = checked_seed(seed)
    check_choice("correction", correction, CORRECTIONS)
    tested = pair_systems(systems, baseline, clusters)
    pairs = baseline_pairs(tested, list(systems).index(baseline))
    ((p_values, _),) = randomization_p_values([tested], pairs, trials, seed)
    return _build_comparisons(systems, baseline, tested, correct(p_values, correction))


@named_arguments
def matrix(
    systems: Mapping[str, System],
    test: Test = "randomization",
    correction: Correction = "holm",
    seed: int = SEED,
    clusters: Labels | None = None,
) -> PairPValues:
    """Compare all pairs of systems, with the same draws for all.

    The number of draws is the default of the test's function or, if that is more, 200 for each pair up to 25,000 for
    all, or 20 for each pair, of which a corrected p-value below .05 needs 20. Randomization stops for a pair that is
    clearly not significant: where the l-th draw is the 500th that counts, p is 500 / l (Besag and Clifford 1991). The
    bootstrap needs 8 bytes for each draw, system and value. A terminal shows a progress bar as ``evaluate`` does.

    Args:
        systems: at least two metrics by the names of systems, as for ``paired_bootstrap``.
        test: ``"randomization"`` or ``"bootstrap"``, two-sided.
        correction: ``"holm"`` corrects the p-values of each value for the number of pairs; None leaves them.
        seed: the seed of the draws.
        clusters: the document of each segment, as for the test's function.

    Returns:
        The p-values from 0 to 1, by value and two systems in either order: ``result[value][a][b]`` is
        ``result[value][b][a]``, a float that has its number of draws as ``draws``.

    Raises:
        TypeError, ValueError: the errors of ``paired_bootstrap``; an unknown test, or fewer than two systems.

    Warns:
        UserWarning: the bootstrap of fewer than 50 segments, or clusters.

    Example:
        >>> from ngram_metrics import ChrF, significance
        >>> references = ["the cat sat on the mat", "a dog ran", "it rains", "who is there"] * 15
        >>> systems = {name: ChrF(confidence=0.95) for name in ("first", "second", "third")}
        >>> for name, cut in (("first", 0), ("second", 0), ("third", 2)):
        ...     systems[name].update([text[cut:] for text in references], references)
        >>> p_values = significance.matrix(systems)["chrf"]
        >>> p_values["first"]["second"], p_values["first"]["third"] < 0.01
        (1.0, True)
        >>> p_values["first"]["second"].draws, p_values["first"]["third"].draws
        (500, 10000)
    """
    check_choice("test", test, get_args(Test))
    check_choice("correction", correction, CORRECTIONS)
    seed = checked_seed(seed)
    names = list_names(systems)
    if len(names) < 2:
        raise ValueError(f"a matrix compares pairs of systems: expected at least two (got: {names})")
    tested = pair_systems(systems, names[0], clusters)
    return compare_all_pairs([tested], names, test, correction, seed)[0]


@named_arguments
def standard_error(
    metric: System, resamples: int = RESAMPLES, seed: int = SEED, clusters: Labels | None = None
) -> dict[str, float]:
    """Return the bootstrap's estimate of the standard error of each value (Efron 1979).

    It is the standard deviation of the scores of the resampled corpora that give the interval of ``confidence=``. The
    interval, which need not be symmetric, says more.

    Args:
        metric: a metric, as for ``ngram_metrics.significance.paired_bootstrap``.
        resamples: the number of corpora to draw, at least 2.
        seed: the seed of the draws.
        clusters: the document of each segment, as for the same function.

    Returns:
        The standard error of each value by its name, in the unit of the score: at most 0.5 for scores from 0 to 1.

    Raises:
        TypeError, ValueError: the errors of the same function.

    Example:
        >>> from ngram_metrics import ChrF, significance
        >>> metric = ChrF(confidence=0.95)
        >>> metric.update(["the cat on mat", "a dog", "it rains"], ["the cat sat on the mat", "a dog ran", "it rains"])
        >>> significance.standard_error(metric)
        {'chrf': 0.153}
    """
    _check_number("resamples", resamples, 2)
    seed = checked_seed(seed)
    tested = pair_systems({"the metric": metric}, "the metric", clusters)
    (scores,) = resample_scores([tested], resamples, seed)  # (resamples, 1, *score_shape)
    return {name: spread.item() for name, spread in tested.scorer.name_values(scores[:, 0].std(0)).items()}


def _check_number(name: str, count: int, least: int = 1) -> None:
    if (whole_number(count) or 0) < least:
        raise ValueError(f"{name} must be an integer of at least {least} (got: {count!r})")


def _build_comparisons(
    systems: Mapping[str, System], baseline: str, tested: Paired, p_values: Tensor, *drawn: Tensor
) -> dict[str, dict[str, Comparison]]:
    """Return the comparisons from p-values ``(systems - 1, *score_shape)``, means and ends of intervals."""
    comparisons: dict[str, dict[str, Comparison]] = {name: {} for name in systems}
    columns = [tested.scorer.name_values(scores) for scores in (tested.corpus_scores, *drawn)]
    for value, other_p_values in tested.scorer.name_values(p_values).items():
        system_p_values: list[float | None] = other_p_values.tolist()
        system_p_values.insert(list(systems).index(baseline), None)
        scores, *others = (column[value].tolist() for column in columns)
        for name, *parts in zip(systems, scores, system_p_values, *others, strict=True):
            comparisons[name][value] = Comparison(*parts)
    return comparisons
