"""Scores of resampled corpora, from rows of counts and never from texts.

A resample draws as many sentences as the corpus has, with replacement. Its weights say how often it drew each sentence.
So the sums of all resamples are one matrix product, weights ``(resamples, sentences)`` by rows ``(sentences, width)``,
exact in float64, and the usual formula gives their scores. The macro average sums scores instead of counts. The weights
come from a generator on the CPU, and the rows are sorted first: a seed gives the same interval on every device, for
every order of sentences, and for every number of processes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import torch
from torch import Tensor

from ngram_metrics.scores.measure import AnyMeasure, score_dtype, unpack
from ngram_metrics.scores.options import Average, whole_number

#: What the names of the ends of an interval have behind that of the value.
ENDS = ("_low", "_high")
#: sacrebleu's defaults.
SEED = 12345
RESAMPLES = 1000
#: Weights made at a time, about 20 bytes each: a number that fits the caches and limits memory.
WEIGHTS_AT_ONCE = 1 << 19
#: The least number of resamples made at a time: each time, all values are read.
_RESAMPLES_AT_ONCE = 8


def check_confidence(confidence: float | None, average: str) -> None:
    """Raise ValueError for a level that is not between 0 and 1, or for average none, which has no interval."""
    if confidence is None:
        return
    if isinstance(confidence, bool) or not isinstance(confidence, (int, float)) or not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, such as 0.95 (got: {confidence})")
    if average == "none":
        raise ValueError(
            "average='none' gives a score for each sentence, and confidence an interval of the score of all: "
            "pass average='micro' or 'macro', or leave out confidence"
        )


def checked_seed(seed: object) -> int:
    """Return a seed as ``int``.

    Raises:
        TypeError: a value that is not an integer.
        ValueError: an integer that the generator does not take.
    """
    number = whole_number(seed)
    if number is None:
        raise TypeError(f"seed is {seed!r}: expected an integer")
    if not -(1 << 63) <= number < 1 << 64:
        raise ValueError("seed is too large: expected an integer from -2^63 to 2^64 - 1")
    return number


def summands(measure: AnyMeasure, rows: Tensor, average: Average) -> Tensor:
    """Return the values whose sums give a corpus score, ``(sentences, ..., width)`` in float64.

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
    """Return the scores ``(..., *score_shape)`` of corpora of ``sentences`` each, from sums of :func:`summands`."""
    if average == "micro":
        return measure.score(unpack(sums, measure.layout))
    return (sums / sentences).reshape((*sums.shape[:-1], *measure.score_shape))


def bootstrap_scores(measure: AnyMeasure, rows: Tensor, average: Average, resamples: int, seed: int) -> Tensor:
    """Return the scores of resampled corpora, ``(resamples, *score_shape)``, for micro or macro.

    ``rows`` are the packed statistics of at least one sentence, ``(sentences, fields)``.
    """
    values = summands(measure, rows[row_order(rows)], average)
    sums = weighted_sums(bootstrap_weights(len(rows), resamples, seed), values)
    return scores_of_sums(measure, sums, len(rows), average)


def interval(scores: Tensor, confidence: float) -> tuple[Tensor, Tensor]:
    """Return the ends ``(...)`` of the central interval that holds ``confidence`` of scores ``(resamples, ...)``.

    As in sacrebleu, the ends are two of the scores: for 1,000 scores and 0.95, the 26th lowest and the 26th highest.
    """
    ordered = scores.sort(0).values
    # In floating point 1 - 0.9 is a little less than 0.1.
    outside = min(math.floor(len(scores) * (1 - confidence) / 2 + 1e-9), (len(scores) - 1) // 2)
    return ordered[outside], ordered[len(scores) - 1 - outside]


def weighted_sums(weights: Iterable[Tensor], values: Tensor) -> Tensor:
    """Return the sums ``(resamples, ...)`` of values ``(sentences, ...)`` under each row of weights."""
    flat = values.flatten(1)
    return torch.cat([block.to(flat.device) @ flat for block in weights]).unflatten(1, values.shape[1:])


def bootstrap_weights(sentences: int, resamples: int, seed: int) -> Iterator[Tensor]:
    """Yield how often each resample draws each sentence, ``(count, sentences)`` float64 on the CPU, a few at a time."""
    generator = torch.Generator(device="cpu").manual_seed(seed)
    for count in _parts(resamples, sentences):
        drawn = torch.randint(sentences, (count, sentences), generator=generator, device="cpu")
        drawn += (torch.arange(count, device="cpu") * sentences).unsqueeze(1)
        weights = torch.bincount(drawn.view(-1), minlength=count * sentences)
        yield weights.view(count, sentences).to(torch.float64)


def swaps(sentences: int, trials: int, seed: int) -> Iterator[Tensor]:
    """Yield which sentences each trial swaps between two systems, ``(count, sentences)`` float64, 0 or 1."""
    generator = torch.Generator(device="cpu").manual_seed(seed)
    for count in _parts(trials, sentences):
        drawn = torch.randint(2, (count, sentences), generator=generator, device="cpu", dtype=torch.uint8)
        yield drawn.to(torch.float64)


def row_order(rows: Tensor) -> Tensor:
    """Return an order of rows ``(rows, width)`` that does not depend on their order: indices ``(rows,)`` int64.

    The rows are sorted by a random linear combination of their columns. For counts it is exact, modulo 2^64: two
    unequal rows have the same combination with a chance of about 2^-60. They then keep their order, which makes no
    score wrong.

    Scores may differ in their last bits between devices. Their combination is a real number and not a hash, so such a
    difference changes it only slightly, and can only swap neighbours whose combinations agree up to the last bits.
    These are equal rows, which may be swapped, or, among n rows with a chance of about n^2 / 2^50, unequal rows. Then
    each resample draws the first as often as it would have drawn the second, and nothing else changes.
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
