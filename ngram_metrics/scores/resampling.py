"""Scores of resampled corpora, from rows of counts and never from texts.

A resample draws as many sentences as there are, with replacement; it is described by how often it drew each. So the
sums of all resamples are one product, weights ``(resamples, sentences)`` by rows ``(sentences, width)``, exact in
float64, and the score of those sums is the same formula as ever. The macro average sums scores instead of counts.

The weights come from a generator on the CPU, and rows are put in an order of their own first: a seed gives the same
interval on every device, for every order of sentences, and for every number of processes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

import torch
from torch import Tensor

from ngram_metrics.scores.measure import AnyMeasure, score_dtype
from ngram_metrics.scores.options import Average
from ngram_metrics.scores.rows import unpack

#: sacrebleu's defaults.
SEED = 12345
RESAMPLES = 1000
#: Weights made at a time, about 20 bytes each: few enough for the caches, and for memory.
WEIGHTS_AT_ONCE = 1 << 19
#: Resamples made at a time at least: each time all values are read.
_RESAMPLES_AT_ONCE = 8


def check_confidence(confidence: float | None, average: str) -> None:
    """Raise ValueError for a confidence level that is none, or for an average without an interval."""
    if confidence is None:
        return
    if isinstance(confidence, bool) or not isinstance(confidence, (int, float)) or not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, as 0.95 (got: {confidence})")
    if average == "none":
        raise ValueError(
            "average='none' gives a score for each sentence, and confidence an interval of the score of all: "
            "pass average='micro' or 'macro', or leave out confidence"
        )


def summands(measure: AnyMeasure, rows: Tensor, average: Average) -> Tensor:
    """Return what a corpus score is made of the sums of, ``(sentences, ..., width)`` in float64.

    Args:
        measure: the formula.
        rows: ``(sentences, ..., fields)``, packed statistics.
        average: ``"micro"``: the counts themselves; ``"macro"``: the sentences' scores.
    """
    if score_dtype(rows.device) != torch.float64:
        rows = rows.cpu()
    if average == "micro":
        return rows.to(torch.float64)
    width = math.prod(measure.score_shape)
    return measure.score(unpack(rows, measure.layout)).reshape((*rows.shape[:-1], width))


def scores_of_sums(measure: AnyMeasure, sums: Tensor, sentences: int, average: Average) -> Tensor:
    """Return the scores ``(..., *score_shape)`` of corpora of so many sentences, from sums of :func:`summands`."""
    if average == "micro":
        return measure.score(unpack(sums, measure.layout))
    return (sums / sentences).reshape((*sums.shape[:-1], *measure.score_shape))


def bootstrap_scores(measure: AnyMeasure, rows: Tensor, average: Average, resamples: int, seed: int) -> Tensor:
    """Return the scores of resampled corpora, ``(resamples, *score_shape)``.

    Args:
        measure: the formula.
        rows: ``(sentences, fields)``, packed statistics of at least one sentence.
        average: ``"micro"`` or ``"macro"``.
        resamples: how many.
        seed: of the weights.
    """
    values = summands(measure, rows[row_order(rows)], average)
    sums = weighted_sums(bootstrap_weights(len(rows), resamples, seed), values)
    return scores_of_sums(measure, sums, len(rows), average)


def with_interval(
    measure: AnyMeasure,
    rows: Tensor,
    average: Average,
    confidence: float,
    score: Tensor,
    named: Callable[[Tensor], dict[str, Tensor]],
) -> dict[str, Tensor]:
    """Return each value of a score by its name, and the ends of its interval as ``<name>_low`` and ``<name>_high``.

    Args:
        measure: the formula.
        rows: ``(sentences, fields)``, packed statistics; of no sentence, both ends are the score.
        average: ``"micro"`` or ``"macro"``.
        confidence: the level, between 0 and 1.
        score: ``(*score_shape)``, of the same rows.
        named: gives scores ``(..., *score_shape)`` their names.
    """
    low = high = score
    if len(rows):
        ends = interval(bootstrap_scores(measure, rows, average, RESAMPLES, SEED), confidence)
        low, high = (end.to(score) for end in ends)
    by_suffix = {"": named(score), "_low": named(low), "_high": named(high)}
    return {name + suffix: values[name] for name in by_suffix[""] for suffix, values in by_suffix.items()}


def interval(scores: Tensor, confidence: float) -> tuple[Tensor, Tensor]:
    """Return the ends of the middle ``confidence`` of scores ``(resamples, ...)``, each ``(...)``.

    As in sacrebleu, the ends are scores themselves: of 1,000 and 0.95, the 26th lowest and the 26th highest.
    """
    ordered = scores.sort(0).values
    # 1 - 0.9 is a little less than 0.1.
    outside = min(math.floor(len(scores) * (1 - confidence) / 2 + 1e-9), (len(scores) - 1) // 2)
    return ordered[outside], ordered[len(scores) - 1 - outside]


def weighted_sums(weights: Iterable[Tensor], values: Tensor) -> Tensor:
    """Return the sums ``(resamples, ...)`` of values ``(sentences, ...)`` under each row of weights."""
    flat = values.flatten(1)
    return torch.cat([some.to(flat.device) @ flat for some in weights]).unflatten(1, values.shape[1:])


def bootstrap_weights(sentences: int, resamples: int, seed: int) -> Iterator[Tensor]:
    """Yield how often each resample draws each sentence, ``(some, sentences)`` float64 on the CPU."""
    generator = torch.Generator(device="cpu").manual_seed(seed)
    for some in _parts(resamples, sentences):
        drawn = torch.randint(sentences, (some, sentences), generator=generator, device="cpu")
        drawn += (torch.arange(some, device="cpu") * sentences).unsqueeze(1)
        weights = torch.bincount(drawn.view(-1), minlength=some * sentences)
        yield weights.view(some, sentences).to(torch.float64)


def swaps(sentences: int, trials: int, seed: int) -> Iterator[Tensor]:
    """Yield which sentences each trial swaps between two systems, ``(some, sentences)`` of 0 and 1, as the weights."""
    generator = torch.Generator(device="cpu").manual_seed(seed)
    for some in _parts(trials, sentences):
        drawn = torch.randint(2, (some, sentences), generator=generator, device="cpu", dtype=torch.uint8)
        yield drawn.to(torch.float64)


def row_order(rows: Tensor) -> Tensor:
    """Return an order of rows ``(rows, width)`` that does not depend on how they came.

    They are sorted by a random linear combination of their columns. That of counts is exact, modulo 2^64: unequal rows
    share one with a chance of about 2^-60, and then keep the order in which they came; no score is the worse for it.

    Scores may differ in their last bits from device to device. Their combination is a real number, and not a hash, so
    that such a difference moves it by as little. It can only swap neighbours whose combinations agree but for the last
    bits. These are equal rows, which may trade places; or, among n rows with a chance of about n^2 / 2^50, unequal
    ones, and then each resample draws the one as often as it would have drawn the other, and all else stays.
    """
    generator = torch.Generator(device="cpu").manual_seed(SEED)
    if rows.is_floating_point():
        factors = torch.rand(rows.shape[1], generator=generator, dtype=rows.dtype, device="cpu")
    else:
        factors = torch.randint(-(1 << 62), 1 << 62, (rows.shape[1],), generator=generator, device="cpu")
    keys = (rows * factors.to(rows.device)).sum(1)
    return torch.sort(keys, stable=True).indices


def _parts(total: int, sentences: int) -> Iterator[int]:
    at_once = max(_RESAMPLES_AT_ONCE, WEIGHTS_AT_ONCE // sentences)
    for first in range(0, total, at_once):
        yield min(at_once, total - first)
