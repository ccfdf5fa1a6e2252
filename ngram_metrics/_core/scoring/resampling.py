"""Scores of resampled corpora, from rows of counts.

A resample draws as many segments as the corpus has, with replacement. Its weights say how often it drew each segment.
So the sums of all resamples are one matrix product, weights ``(resamples, segments)`` by rows ``(segments, width)``,
exact in float64. The macro average sums scores instead of counts. The weights come from a generator on the CPU, and the
rows are sorted first: a seed gives the same interval on every device, for every order of segments, and for every number
of processes.

Segments that depend on one another, such as those of an article, are drawn together, as one cluster (Miller 2024,
arXiv 2411.00640). A resample draws as many clusters as there are, so the number of its segments varies, and a macro
average is divided by it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ngram_metrics._core.basics.lazy import np, torch
from ngram_metrics._core.basics.option_checks import Average, whole_number
from ngram_metrics._core.counting.documents import float_dtype
from ngram_metrics._core.scoring.measure import AnyMeasure
from ngram_metrics._core.scoring.rows import unpack

if TYPE_CHECKING:
    from torch import Tensor

#: The ends of the names of the two ends of an interval, after the name of the value.
ENDS = ("_low", "_high")
#: sacrebleu's default.
SEED = 12345
#: Weights made at a time, about 16 bytes each, which fit the caches and limit memory.
WEIGHTS_AT_ONCE = 1 << 19
#: The least number of resamples made at a time, because all values are read each time.
_RESAMPLES_AT_ONCE = 8


class Clusters(NamedTuple):
    """Clusters of segments, or each segment by itself, to be drawn.

    Attributes:
        values: ``(clusters, ..., width)`` float64, the sums over each cluster of the values of ``summands``.
        segments: ``(clusters,)`` float64, the number of segments of each cluster.
    """

    values: Tensor
    segments: Tensor


def checked_seed(seed: object) -> int:
    """Return a seed as ``int``, or raise TypeError, or ValueError for one that the generator does not take."""
    integer = whole_number(seed)
    if integer is None:
        raise TypeError(f"seed is {seed!r}: expected an integer")
    if not -(1 << 63) <= integer < 1 << 64:
        raise ValueError("seed is too large: expected an integer from -2^63 to 2^64 - 1")
    return integer


def summands(measure: AnyMeasure, rows: Tensor, average: Average) -> Tensor:
    """Return the values whose sums give a corpus score, ``(segments, ..., width)`` in float64.

    For micro they are the counts of rows ``(segments, ..., fields)``, for macro the scores of the segments.
    """
    if float_dtype(rows.device) != torch.float64:
        rows = rows.cpu()
    if average == "micro":
        return rows.to(torch.float64)
    width = math.prod(measure.score_shape)
    return measure.score(unpack(rows, measure.layout)).reshape((*rows.shape[:-1], width))


def clusters_of(measure: AnyMeasure, rows: Tensor, average: Average, numbers: Tensor | None = None) -> Clusters:
    """Return the clusters of segments, in an order that depends neither on the order of segments nor on the numbers.

    Args:
        measure: the formula.
        rows: ``(segments, ..., fields)``, the packed statistics of at least one segment.
        average: ``"micro"`` or ``"macro"``.
        numbers: ``(segments,)`` int64 on the CPU, the number of each segment's cluster; None if each segment is one.
    """
    keys = _row_keys(rows.flatten(1))
    order = torch.sort(keys, stable=True).indices
    values = summands(measure, rows[order], average)
    if numbers is None:
        return Clusters(values, values.new_ones(len(values)))
    # The CPU adds the segments of a cluster in their order. On other devices sums may vary in the last bits.
    order = order.cpu()
    keys = keys.cpu()
    numbers, by_cluster = torch.sort(numbers[order], stable=True)
    counts = torch.unique_consecutive(numbers, return_counts=True)[1]
    starts = (counts.cumsum(0) - counts).numpy()

    def sum_clusters(terms: Tensor) -> Tensor:
        return torch.from_numpy(np.add.reduceat(terms[by_cluster].numpy(), starts))

    # The sum of squares orders clusters whose rows have the same sum.
    squares = sum_clusters((keys + 1)[order].square())
    cluster_order = torch.sort(squares, stable=True).indices
    cluster_order = cluster_order[torch.sort(sum_clusters(keys[order])[cluster_order], stable=True).indices]
    sums = sum_clusters(values.cpu())[cluster_order]  # (clusters, ..., width)
    return Clusters(sums.to(values.device), counts[cluster_order].to(values))


def interval(scores: Tensor, confidence: float) -> tuple[Tensor, Tensor]:
    """Return the ends ``(...)`` of the central interval that holds ``confidence`` of scores ``(resamples, ...)``.

    As in sacrebleu, the ends are two of the scores: for 1,000 scores and 0.95, the 26th lowest and the 26th highest.
    """
    ordered = scores.sort(0).values
    # In floating point 1 - 0.9 is a little less than 0.1.
    outside = min(math.floor(len(scores) * (1 - confidence) / 2 + 1e-9), (len(scores) - 1) // 2)
    return ordered[outside], ordered[len(scores) - 1 - outside]


def bootstrap_weights(clusters: int, resamples: int, seed: int) -> Iterator[Tensor]:
    """Yield how often each resample draws each cluster, ``(count, clusters)`` float32 on the CPU, a few at a time.

    Every tensor is overwritten when the next one is asked for.
    """
    for drawn, weights in _draw(clusters, clusters, resamples, seed, torch.int64):
        yield weights.zero_().scatter_add_(1, drawn, weights.new_ones(()).expand_as(weights))


def swaps(clusters: int, trials: int, seed: int) -> Iterator[Tensor]:
    """Yield which clusters each trial swaps between two systems, 0 or 1, in tensors as ``bootstrap_weights`` does."""
    for drawn, weights in _draw(2, clusters, trials, seed, torch.uint8):
        yield weights.copy_(drawn)


def _draw(bound: int, clusters: int, draws: int, seed: int, dtype: torch.dtype) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield random numbers below ``bound`` for each draw and cluster, and room for float32 weights.

    The tensors are overwritten: with 300,000 clusters, new ones each time would fragment the heap and keep 3 GB.
    """
    generator = torch.Generator(device="cpu").manual_seed(seed)
    at_once = min(draws, max(_RESAMPLES_AT_ONCE, WEIGHTS_AT_ONCE // clusters))
    drawn = torch.empty(at_once, clusters, dtype=dtype, device="cpu")
    weights = torch.empty(at_once, clusters, dtype=torch.float32, device="cpu")
    for first in range(0, draws, at_once):
        count = min(at_once, draws - first)
        torch.randint(bound, (count, clusters), generator=generator, out=drawn[:count], device="cpu")
        yield drawn[:count], weights[:count]


def _row_keys(rows: Tensor) -> Tensor:
    """Return keys ``(rows,)`` by which rows ``(rows, width)`` are sorted, in an order that does not depend on theirs.

    A key is a random linear combination of the columns. For counts it is exact, modulo 2^64: two unequal rows have the
    same one with a chance of about 2^-60, and then keep their order.

    Scores may differ in their last bits between devices, which can only swap rows whose keys agree up to these bits:
    equal rows, or, among n rows with a chance of about n^2 / 2^50, unequal ones. Then each resample draws the first as
    often as it would have drawn the second, and nothing else changes.
    """
    generator = torch.Generator(device="cpu").manual_seed(SEED)
    if rows.is_floating_point():
        factors = torch.rand(rows.shape[1], generator=generator, dtype=rows.dtype, device="cpu")
    else:
        factors = torch.randint(-(1 << 62), 1 << 62, (rows.shape[1],), generator=generator, device="cpu")
    return (rows * factors.to(rows.device)).sum(1)
