"""Systems compared in several metrics from the same draws: all pairs, and each system with the first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import torch
from torch import Tensor

from ngram_metrics._core.basics.option_checks import RESAMPLES
from ngram_metrics._core.basics.output import Progress
from ngram_metrics._core.scoring.resampling import interval
from ngram_metrics._core.text.messages import warn_user
from ngram_metrics.significance.p_values import bootstrap_p_values, holm, paired_differences, randomization_p_values
from ngram_metrics.significance.paired_systems import Paired, resample_scores

#: The names of the tests.
Test = Literal["randomization", "bootstrap"]
#: How p-values are corrected for the number of comparisons: not at all, or by Holm's method (1979).
Correction = Literal["holm"] | None
CORRECTIONS: tuple[Correction, ...] = (None, "holm")
#: The default of sacrebleu.
TRIALS = 10_000
#: With fewer segments or clusters the bootstrap finds too many differences, see docs/concepts/paired_tests.md.
_FEW = 50
#: The draws for each pair of a matrix: so many that the smallest p-value, corrected, is below .05. Ten times as many
#: are made, up to ``_AMPLE_DRAWS`` for all pairs.
_DRAWS_PER_PAIR = 20
_AMPLE_DRAWS = 25_000
#: A value of a pair that counts this many draws, .05 of ``TRIALS``, is clearly not significant, and stops.
_ENOUGH = TRIALS // 20


class PValue(float):
    """A p-value of a pair of systems with its number of draws, on the page docs/concepts/paired_tests.md.

    Attributes:
        draws: the number of draws. It differs between pairs of a randomization test, see ``matrix``.
    """

    draws: int


#: The p-values of all pairs of systems, by value and two systems.
PairPValues: TypeAlias = dict[str, dict[str, dict[str, PValue]]]


def compare_all_pairs(
    tested: Sequence[Paired], names: Sequence[str], test: Test, correction: Correction, seed: int
) -> list[PairPValues]:
    """Return for each metric what ``ngram_metrics.significance.matrix`` returns, from the same draws."""
    pairs = torch.triu_indices(len(names), len(names), 1, device=tested[0].values.device)
    fewest = _DRAWS_PER_PAIR * pairs.shape[1]
    most = max(RESAMPLES if test == "bootstrap" else TRIALS, fewest, min(10 * fewest, _AMPLE_DRAWS))
    with Progress("draws", most * len(tested)) as bar:
        if test == "bootstrap":
            scores = resample_scores(tested, most, seed, bar.update)
            compared = [(chances, torch.full_like(chances, most)) for chances in _bootstrap(tested, scores, pairs)]
        else:
            compared = randomization_p_values(tested, pairs, most, seed, _ENOUGH, bar.update)
    matrices = []
    for paired, (p_values, draws) in zip(tested, compared, strict=True):
        result: PairPValues = {}
        value_draws = paired.scorer.name_values(draws)
        for value, pair_p_values in paired.scorer.name_values(correct(p_values, correction)).items():
            table = result[value] = {name: {} for name in names}
            columns = (*pairs.tolist(), pair_p_values.tolist(), value_draws[value].tolist())
            for first, second, p_value, drawn in zip(*columns, strict=True):
                table[names[first]][names[second]] = table[names[second]][names[first]] = chance = PValue(p_value)
                chance.draws = int(drawn)
        matrices.append(result)
    return matrices


def compare_with_first(
    tested: Sequence[Paired],
    test: Test | None,
    correction: Correction,
    confidence: float | None,
    seed: int,
) -> list[dict[str, Tensor]]:
    """Compare systems with the first one in several metrics, from the same draws for all metrics.

    Returns for each metric what was asked for, each ``(systems - 1, *score_shape)``: ``p_value``, and of the difference
    ``difference_low``, ``difference_high``, and ``standard_error``, the standard deviation in resampled corpora.
    """
    pairs = baseline_pairs(tested[0], 0)
    draws = confidence is not None or test == "bootstrap"
    scores = resample_scores(tested, RESAMPLES, seed) if draws else []
    p_values: list[Tensor] = []
    if test == "bootstrap":
        p_values = _bootstrap(tested, scores, pairs)
    elif test is not None:
        p_values = [chances for chances, _ in randomization_p_values(tested, pairs, TRIALS, seed)]
    results = []
    for index, paired in enumerate(tested):
        result = {"p_value": correct(p_values[index], correction)} if p_values else {}
        if confidence is not None:
            drawn = paired_differences(paired, scores[index], pairs)
            low, high = interval(drawn, confidence)
            result |= {"difference_low": low, "difference_high": high, "standard_error": drawn.std(0)}
        results.append(result)
    return results


def _bootstrap(tested: Sequence[Paired], scores: Sequence[Tensor], pairs: Tensor) -> list[Tensor]:
    """Return the p-values of pairs in each metric from the scores of resampled corpora."""
    warn_of_few(tested[0])
    return [bootstrap_p_values(paired, drawn, pairs, "two-sided") for paired, drawn in zip(tested, scores, strict=True)]


def warn_of_few(tested: Paired) -> None:
    """Warn if a bootstrap test draws from too few segments or clusters."""
    if len(tested.values) < _FEW:
        needed = f"a bootstrap test needs at least {_FEW} {tested.unit} (got: {len(tested.values)})"
        warn_user(f"{needed}: with fewer its p-values are too small. Randomization has no such minimum")


def baseline_pairs(tested: Paired, baseline: int) -> Tensor:
    """Return each other system with the baseline, ``(2, systems - 1)`` int64."""
    others = [system for system in range(tested.values.shape[1]) if system != baseline]
    return torch.tensor([others, [baseline] * len(others)], dtype=torch.int64, device=tested.values.device)


def correct(p_values: Tensor, correction: Correction) -> Tensor:
    """Return p-values ``(comparisons, ...)``, corrected if a correction is given."""
    return p_values if correction is None else holm(p_values)
