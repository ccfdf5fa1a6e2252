"""What is the same for every metric: counts by name, summed and averaged.

The counts of a sentence are a NamedTuple of int64 tensors whose leading dimensions are free: one row a sentence, or the
sum over a corpus, or a matrix of pairs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, NamedTuple, TypeAlias

import torch
from torch import Tensor

from ngram_metrics.counting.batch import Batch
from ngram_metrics.scores.options import Average
from ngram_metrics.scores.rows import Layout, Statistics


class PairCounts(NamedTuple):
    """What is counted of pairs of a hypothesis and a reference, whose leading dimensions broadcast.

    Attributes:
        matches: ``(..., orders)`` int64, for each order the sum over n-grams of the smaller count.
        hypothesis_lengths: ``(...)`` int64, tokens.
        reference_lengths: ``(...)`` int64, tokens.
    """

    matches: Tensor
    hypothesis_lengths: Tensor
    reference_lengths: Tensor


class Measure(ABC, Generic[Statistics]):
    """A measure: two pure functions and the shape of what passes between them."""

    @property
    @abstractmethod
    def layout(self) -> Layout[Statistics]:
        """How the statistics of a sentence lie in a row."""

    @property
    def row_dtype(self) -> torch.dtype:
        """The dtype of a row: int64 for counts."""
        return torch.int64

    @property
    def score_shape(self) -> tuple[int, ...]:
        """The shape of the score of one row; ``()`` for a number."""
        return ()

    @abstractmethod
    def statistics(self, batch: Batch) -> Statistics:
        """Count: one row a sentence."""

    @abstractmethod
    def score(self, statistics: Statistics) -> Tensor:
        """Take the formula: statistics of any leading shape to scores ``(..., *score_shape)`` in 0..1."""

    @property
    def sentence_measure(self) -> Measure[Statistics]:
        """The measure that scores the counts of one sentence, where those of a corpus are scored by this one."""
        return self

    def parts(self, statistics: Statistics) -> dict[str, Tensor]:
        """Return what the score is made of, by name: the counts, each ``(..., width)``."""
        return dict(zip(type(statistics).__annotations__, statistics, strict=True))

    @abstractmethod
    def signature(self) -> dict[str, str]:
        """Return the settings that affect the score, in words."""

    @property
    @abstractmethod
    def pair_orders(self) -> tuple[int, ...]:
        """The longest order that is counted of pairs, for each kind of token: words, or characters and words.

        Raises:
            ValueError: the score of a pair is no function of n-gram matches, or no single number.
        """

    @abstractmethod
    def pair_statistics(self, *counts: PairCounts) -> Statistics:
        """Return the statistics of pairs, of any leading shape, from the counts of each kind of token."""

    def pair_score(self, statistics: Statistics) -> Tensor:
        """Return one number for each pair, ``(...)`` in 0..1."""
        return self.score(statistics)


#: A measure of any statistics, where only its own functions touch them.
AnyMeasure: TypeAlias = Measure[Any]


def measure_of(metric: object, name: str) -> AnyMeasure:
    """Return what a metric counts.

    Args:
        metric: the object that was passed as a metric.
        name: what it is called in an error.

    Raises:
        TypeError: an object that is no metric of this package, or a class.
    """
    measure = getattr(metric, "measure", None)
    if not isinstance(measure, Measure):
        kind = f"the class {metric.__name__}" if isinstance(metric, type) else f"a {type(metric).__name__}"
        raise TypeError(f"{name} is {kind}: expected a metric object of this package, such as ChrF()")
    return measure


def score_dtype(device: torch.device) -> torch.dtype:
    """Return the dtype of scores: float64 where the device has it."""
    return torch.float32 if device.type == "mps" else torch.float64


def averaged_score(measure: Measure[Statistics], statistics: Statistics, average: Average) -> Tensor:
    """Score a batch of sentences as one.

    Args:
        measure: what is computed.
        statistics: one row a sentence.
        average: ``"micro"``: the score of the summed counts; ``"macro"``: the mean of the sentences' scores, 0 where
            there is none; ``"none"``: the scores themselves, ``(sentences, ...)``.
    """
    if average == "micro":
        return measure.score(measure.layout.make(*(field.sum(0) for field in statistics)))
    scores = measure.score(statistics)
    return scores if average == "none" else scores.sum(0) / max(1, len(scores))
