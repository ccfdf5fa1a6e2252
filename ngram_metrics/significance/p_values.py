"""P-values of paired tests, as the docstring of ``ngram_metrics.significance`` defines them (Phipson and Smyth 2010).

Two differences are equal if they agree within 1e-12 of the larger of the two measured scores, some 4,000 units in the
last place: sums in another order, or on another device, differ by less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import torch
from torch import Tensor

from ngram_metrics._core.scoring.resampling import swaps
from ngram_metrics.significance.paired_systems import NUMBERS_AT_ONCE, Paired

#: Which differences of resampled corpora count: see ``bootstrap_p_values``.
Alternative = Literal["two-sided", "sacrebleu"]
#: Differences that agree within this share of the larger score are equal.
_ROUNDING = 1e-12


def bootstrap_p_values(paired: Paired, scores: Tensor, pairs: Tensor, alternative: Alternative) -> Tensor:
    """Return the p-values ``(pairs, *score_shape)`` of the paired bootstrap.

    ``scores`` has the scores of resampled corpora, ``(draws, systems, *score_shape)``, and ``pairs`` two systems each,
    ``(2, pairs)`` int64. With d the measured difference and d_i the difference in a resample, ``"two-sided"`` counts
    where ``|d_i - mean(d_i)| >= |d|``, and p is 1 if no resample differs from another; ``"sacrebleu"`` counts where
    ``|d_i| - mean(|d_i|) > |d|``, and p is 1 if d is 0, and is not limited by the number of clusters.
    """
    p_values = []
    for first, second in _split(scores[:, :1].numel(), *pairs):
        difference, rounding = _measure_difference(paired.corpus_scores, first, second)
        drawn = scores[:, first] - scores[:, second]  # (draws, pairs, ...)
        if alternative == "sacrebleu":
            drawn = drawn.abs()
            count = (drawn - drawn.mean(0) > difference + rounding).sum(0)
            shares = _share(count, len(scores), None)
            differs = difference > rounding
        else:
            apart = (drawn - drawn.mean(0)).abs()
            shares = _share((apart >= difference - rounding).sum(0), len(scores), len(paired.values))
            differs = apart.amax(0) > rounding
        p_values.append(torch.where(differs, shares, 1.0))
    return torch.cat(p_values)


def randomization_p_values(
    tested: Sequence[Paired],
    pairs: Tensor,
    trials: int,
    seed: int,
    enough: int | None = None,
    progress: Callable[[int], object] = lambda draws: None,
) -> list[tuple[Tensor, Tensor]]:
    """Return for each metric p-values of randomization and their draws, ``(pairs, *score_shape)``, from the same swaps.

    A value that has counted ``enough`` draws stops at that draw, the l-th, with p = enough / l, which is valid (Besag
    and Clifford 1991); None for no stop. ``progress`` is called with the number of draws that a metric has scored.
    """
    enough = trials + 1 if enough is None else enough
    tallies = [_Tally(paired, pairs, trials, enough) for paired in tested]
    for weights in swaps(len(tested[0].values), trials, seed):
        for tally in tallies:
            for sums in tally.paired.sums(weights):
                if not len(tally.going):
                    break
                tally.add(sums)
                progress(len(sums))
        if not any(len(tally.going) for tally in tallies):
            break
    return [(tally.p_values(), tally.draws) for tally in tallies]


class _Tally:
    """How many draws make each pair differ at least as much as measured, until these are ``enough``.

    Attributes:
        count: the number of these draws, ``(pairs, *score_shape)`` int64, as ``draws``.
        draws: the number of draws, of a value that stops those up to its stop.
        going: the indices of the pairs of which a value has not stopped, int64.
    """

    def __init__(self, paired: Paired, pairs: Tensor, trials: int, enough: int) -> None:
        self.paired, self._pairs, self._enough = paired, pairs, enough
        self.count = torch.zeros_like(paired.corpus_scores[pairs[0]], dtype=torch.int64)
        self.draws = torch.full_like(self.count, trials)
        self.going = torch.arange(pairs.shape[1], device=pairs.device)
        self._drawn = 0

    def add(self, sums: Tensor) -> None:
        """Count the next draws, from the sums ``(draws, systems, width)`` over what is swapped."""
        paired, totals = self.paired, self.paired.totals
        for places, first, second in _split(sums[:, :1].numel(), self.going, *self._pairs[:, self.going]):
            difference, rounding = _measure_difference(paired.corpus_scores, first, second)
            # What a trial moves from the sums of the first system to the sums of the second.
            moved = sums.index_select(1, first) - sums.index_select(1, second)  # (draws, pairs, width)
            drawn = paired.score(totals[first] - moved) - paired.score(totals[second] + moved)
            counts = drawn.abs() >= difference - rounding  # (draws, pairs, *score_shape)
            before = self.count[places]
            after = before + counts.sum(0)
            if (stops := (before < self._enough) & (after >= self._enough)).any():
                going = (before[stops] + counts[:, stops].cumsum(0) < self._enough).sum(0)
                self.draws[places] = self.draws[places].masked_scatter(stops, self._drawn + going + 1)
            self.count[places] = after.clamp(max=self._enough)
        self._drawn += len(sums)
        self.going = (self.count < self._enough).unsqueeze(-1).flatten(1).any(1).nonzero()[:, 0]

    def p_values(self) -> Tensor:
        """Return the p-values ``(pairs, *score_shape)``."""
        # enough / l is (c + 1) / (n + 1) of the draws before the l-th.
        stopped = (self.count == self._enough).to(torch.int64)
        return _share(self.count - stopped, self.draws - stopped, len(self.paired.values))


def paired_differences(paired: Paired, scores: Tensor, pairs: Tensor) -> Tensor:
    """Return the differences of pairs in resampled corpora, ``(draws, pairs, *score_shape)``, without rounding."""
    first, second = scores[:, pairs[0]], scores[:, pairs[1]]
    rounding = _ROUNDING * torch.maximum(first.abs(), second.abs())
    return torch.where((first - second).abs() > rounding, first - second, 0.0)


def holm(p_values: Tensor) -> Tensor:
    """Return p-values ``(comparisons, ...)`` corrected for the number of comparisons (Holm 1979).

    The smallest of m is multiplied by m, the next by m - 1, and so on; the order stays, and none is above 1.
    """
    ordered, order = p_values.sort(0)
    factors = torch.arange(len(ordered), 0, -1, device=ordered.device).reshape(-1, *[1] * (ordered.dim() - 1))
    corrected = (ordered * factors).cummax(0).values.clamp(max=1)
    return torch.empty_like(corrected).scatter(0, order, corrected)


def _split(numbers: int, *of_pairs: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """Yield blocks of what belongs to pairs, where each pair needs ``numbers`` numbers."""
    at_once = max(1, NUMBERS_AT_ONCE // numbers)
    yield from zip(*(tensor.split(at_once) for tensor in of_pairs), strict=True)


def _measure_difference(corpus_scores: Tensor, first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    """Return how far apart the scores of each pair are, and the largest difference that is rounding."""
    ours, theirs = corpus_scores[first], corpus_scores[second]
    return (ours - theirs).abs(), _ROUNDING * torch.maximum(ours.abs(), theirs.abs())


def _share(count: Tensor, draws: Tensor | int, clusters: int | None) -> Tensor:
    """Return (c + 1) / (n + 1), for N ``clusters`` at least 2 / 2^N."""
    lowest = 0.0 if clusters is None else min(1.0, 2.0 ** (1 - clusters))
    return ((count.to(torch.float64) + 1) / (draws + 1)).clamp(min=lowest)
