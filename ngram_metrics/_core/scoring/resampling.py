"""Scores of resampled corpora, from rows of counts, in NumPy.

A resample draws as many segments as the corpus has, with replacement. Its weights say how often it drew each one.
So the sums of all resamples are one matrix product, weights ``(resamples, segments)`` by rows ``(segments, width)``,
which is exact for counts. The macro average sums scores instead of counts. The random numbers come from the Mersenne
Twister, and the rows are sorted first: a seed gives the same interval on every device, for every order of segments and
for every number of processes.

Segments that depend on one another, such as those of an article, are drawn together, as one cluster (Miller 2024,
arXiv 2411.00640). A resample draws as many clusters as there are, so the number of its segments varies, and a macro
average is divided by it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ngram_metrics._core.basics.option_checks import Average, whole_number
from ngram_metrics._core.counting.batch import Integers
from ngram_metrics._core.scoring.measure import AnyMeasure

Floats = NDArray[np.float64]
#: How often each draw has each cluster, ``(draws, clusters)``.
Weights = NDArray[np.float32]
#: The ends of the names of the two ends of an interval, after the name of the value.
ENDS = ("_low", "_high")
#: sacrebleu's default.
SEED = 12345
#: The number of weights that are made at a time, which limits memory.
WEIGHTS_AT_ONCE = 1 << 19
#: The number of multiplications in a part of a product: few enough for OpenBLAS to start no threads.
_MULTIPLICATIONS = 1 << 18
#: float32 has all integers up to this one.
_FLOAT32_LIMIT = 1 << 24
#: The least number of resamples that are made at a time, because all values are read each time.
_RESAMPLES_AT_ONCE = 8


class Clusters(NamedTuple):
    """The clusters of segments that are drawn. Without clusters each segment is one.

    Attributes:
        values: ``(clusters, ..., width)``, the sums over each cluster of counts or scores, in float32 if the counts of
            all resamples are exact there, else in float64.
        segments: ``(clusters,)`` float64, the number of segments of each cluster.
    """

    values: Floats
    segments: Floats


def checked_seed(seed: object) -> int:
    """Return a seed as ``int``, or raise TypeError, or ValueError for one that does not fit 64 bits."""
    integer = whole_number(seed)
    if integer is None:
        raise TypeError(f"seed is {seed!r}: expected an integer")
    if not -(1 << 63) <= integer < 1 << 64:
        raise ValueError("seed is too large: expected an integer from -2^63 to 2^64 - 1")
    return integer


def score_corpora(measure: AnyMeasure, sums: Floats, segments: Floats, average: Average) -> Floats:
    """Return the scores ``(..., *score_shape)`` of corpora of ``(...)`` segments, from sums ``(..., width)``.

    The sums are of packed statistics for micro, and of the segments' scores for macro.
    """
    if average == "micro":
        return measure.score_rows(sums)
    means = sums / segments[..., None]
    return means.reshape(means.shape[:-1] + measure.score_shape)


def clusters_of(measure: AnyMeasure, rows: NDArray[Any], average: Average, numbers: Integers | None = None) -> Clusters:
    """Return the clusters of segments. Their order depends neither on the order of segments nor on ``numbers``.

    Args:
        measure: the formula.
        rows: ``(segments, ..., fields)``, the packed statistics of at least one segment.
        average: ``"micro"`` or ``"macro"``.
        numbers: ``(segments,)`` int64, the number of each segment's cluster; None if each segment is one.
    """
    keys = _row_keys(rows.reshape(len(rows), -1))
    order = np.argsort(keys, kind="stable")
    values = rows
    if average == "macro":
        values = measure.score_rows(rows).reshape((*rows.shape[:-1], math.prod(measure.score_shape)))
    if numbers is None:
        return Clusters(_to_floats(values)[order], np.ones(len(values)))
    order = order[np.argsort(numbers[order], kind="stable")]
    starts = np.diff(numbers[order], prepend=-1).nonzero()[0]
    counts = np.diff(starts, append=len(rows))
    # Clusters with the same sum are ordered by their sum of squares.
    sums = np.add.reduceat(keys[order], starts)
    squares = np.add.reduceat(np.square(keys + 1)[order], starts)
    cluster_order = np.lexsort((squares, sums))
    cluster_values = np.add.reduceat(values[order], starts)  # (clusters, ..., width)
    return Clusters(_to_floats(cluster_values)[cluster_order], counts[cluster_order].astype(np.float64))


def _to_floats(values: NDArray[Any]) -> NDArray[Any]:
    """Return counts ``(clusters, ...)`` in float32 if all resamples' sums are exact there, else in float64."""
    if values.dtype.kind == "f":
        return values
    is_exact = len(values) * int(values.max(initial=0)) <= _FLOAT32_LIMIT
    return values.astype(np.float32 if is_exact else np.float64)


def interval(scores: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return the ends ``(...)`` of the central interval that holds ``confidence`` of scores ``(resamples, ...)``.

    As in sacrebleu, the ends are two of the scores: for 1,000 scores and 0.95, the 26th lowest and the 26th highest.
    """
    ordered = np.sort(scores, 0)
    # In floating point 1 - 0.9 is a little less than 0.1.
    outside = min(math.floor(len(scores) * (1 - confidence) / 2 + 1e-9), (len(scores) - 1) // 2)
    return ordered[outside], ordered[len(scores) - 1 - outside]


def standard_deviation(scores: Floats) -> Floats:
    """Return the standard deviation ``(...)`` of scores ``(resamples, ...)``: the standard error of the score."""
    deviation: Floats = scores.std(0, ddof=1)
    return deviation


def bootstrap_weights(clusters: int, resamples: int, seed: int) -> Iterator[Weights]:
    """Yield how often each resample draws each cluster, ``(count, clusters)`` float32, a few at a time.

    Every array is overwritten when the next one is asked for.
    """
    for numbers, weights in _draw(clusters, resamples, seed):
        numbers %= clusters
        for drawn, row in zip(numbers, weights, strict=True):
            row[:] = np.bincount(drawn, minlength=clusters)
        yield weights


def swaps(clusters: int, trials: int, seed: int) -> Iterator[Weights]:
    """Yield which clusters each trial swaps between two systems, 0 or 1, in arrays as ``bootstrap_weights`` does."""
    for numbers, weights in _draw(clusters, trials, seed):
        numbers &= 1
        weights[:] = numbers
        yield weights


def _draw(clusters: int, draws: int, seed: int) -> Iterator[tuple[NDArray[np.uint32], Weights]]:
    """Yield random numbers of 32 bits for each draw and cluster, and room for weights, which is used again."""
    generator = np.random.RandomState(seed & 0xFFFFFFFF)
    at_once = min(draws, max(_RESAMPLES_AT_ONCE, WEIGHTS_AT_ONCE // clusters))
    weights = np.empty((at_once, clusters), np.float32)
    for first in range(0, draws, at_once):
        count = min(at_once, draws - first)
        yield generator.randint(0, 1 << 32, (count, clusters), np.uint32), weights[:count]


def weighted_sums(weights: Weights, values: NDArray[Any]) -> NDArray[Any]:
    """Return the sums ``(draws, width)`` of values ``(clusters, width)`` under each row of weights.

    The product is computed in parts, without the threads of BLAS.
    """
    draws, clusters = weights.shape
    width = values.shape[1]
    height = min(draws, max(1, math.isqrt(_MULTIPLICATIONS // width)))
    depth = max(1, _MULTIPLICATIONS // (height * width))
    sums = np.zeros((draws, width), values.dtype)
    room = np.empty((height, width), values.dtype)
    for start in range(0, clusters, depth):
        for first in range(0, draws, height):
            part = weights[first : first + height, start : start + depth].astype(values.dtype, copy=False)
            product = np.matmul(part, values[start : start + depth], out=room[: len(part)])
            sums[first : first + height] += product
    return sums


def _row_keys(rows: NDArray[Any]) -> NDArray[Any]:
    """Return a number for each row ``(rows, width)``. Sorting by it removes the order in which segments came.

    It is a random linear combination of the columns. For counts it is exact, modulo 2^64. Two unequal rows have the
    same number with a probability of about 2^-60, and then keep their order.
    """
    words = np.random.RandomState(SEED).randint(0, 1 << 32, (rows.shape[1], 2), np.uint32).astype(np.uint64)
    numbers = words[:, 0] << np.uint64(32) | words[:, 1]
    if rows.dtype.kind == "f":
        return (rows * ((numbers & np.uint64((1 << 53) - 1)) * 2.0**-53)).sum(1)
    factors = (numbers % np.uint64(1 << 63)).astype(np.int64) - (1 << 62)
    return rows @ factors
