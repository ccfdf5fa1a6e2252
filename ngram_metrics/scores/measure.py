"""What is the same for every metric: counts by name, packed into rows, summed and averaged.

The counts of a sentence are a NamedTuple of int64 tensors whose leading dimensions are free: one row a sentence, or the
sum over a corpus, or a matrix of pairs. ``pack`` lays the fields side by side, so that they are added, gathered and
stored as one tensor; ``unpack`` gives the fields their names back.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from typing import Any, Literal, NamedTuple, TypeVar, get_args

import torch
from torch import Tensor

from ngram_metrics.counting.batch import Batch

#: How the scores of sentences become one: of the summed counts, the mean of the scores, or not at all.
Average = Literal["micro", "macro", "none"]

Statistics = TypeVar("Statistics", bound=tuple[Any, ...])


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


class Measure(ABC):
    """A measure: two pure functions and the shape of what passes between them."""

    @property
    @abstractmethod
    def layout(self) -> Any:
        """The statistics' type, each field holding its width in a row, or None for a number without a dimension."""

    @property
    def row_dtype(self) -> torch.dtype:
        """The dtype of a row: int64 for counts."""
        return torch.int64

    @property
    def score_shape(self) -> tuple[int, ...]:
        """The shape of the score of one row; ``()`` for a number."""
        return ()

    @abstractmethod
    def statistics(self, batch: Batch) -> Any:
        """Count: one row a sentence."""

    @abstractmethod
    def score(self, statistics: Any) -> Tensor:
        """Take the formula: statistics of any leading shape to scores ``(..., *score_shape)`` in 0..1."""

    def parts(self, statistics: Any) -> dict[str, Tensor]:
        """Return what the score is made of, by name: the counts, each ``(..., width)``."""
        return dict(statistics._asdict())

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
    def pair_statistics(self, *counts: PairCounts) -> Any:
        """Return the statistics of pairs, of any leading shape, from the counts of each kind of token."""

    def pair_score(self, statistics: Any) -> Tensor:
        """Return one number for each pair, ``(...)`` in 0..1."""
        return self.score(statistics)


def whole_number(value: Any) -> int | None:
    """Return an integer of any kind, numpy's for instance, as ``int``; None for what is no integer, and for a bool."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def checked_order(value: Any) -> int:
    """Return an order of n-grams as ``int``.

    Raises:
        ValueError: what is no integer of at least 1.
    """
    order = whole_number(value)
    if order is None or order <= 0:
        raise ValueError(f"ngram order must be greater than zero (got: {value})")
    return order


def exact(value: float, format_spec: str) -> str:
    """Write a number for a signature: short where that is the whole number, else with all its digits."""
    short = format(value, format_spec)
    return short if float(short) == value else repr(float(value))


def check_average(average: str) -> None:
    """Raise ValueError for an average that is none of the three."""
    if average not in get_args(Average):
        raise ValueError(f"unknown average {average!r}: expected one of {list(get_args(Average))}")


def score_dtype(device: torch.device) -> torch.dtype:
    """Return the dtype of scores: float64 where the device has it."""
    return torch.float32 if device.type == "mps" else torch.float64


def row_width(layout: tuple[int | None, ...]) -> int:
    """Return how many numbers a packed row has."""
    return sum(1 if width is None else width for width in layout)


def pack(statistics: tuple[Tensor, ...], layout: tuple[int | None, ...]) -> Tensor:
    """Lay the fields of statistics side by side: ``(..., row_width)``."""
    fields = zip(statistics, layout, strict=True)
    return torch.cat([field.unsqueeze(-1) if width is None else field for field, width in fields], -1)


def unpack(rows: Tensor, layout: Statistics) -> Statistics:
    """Undo :func:`pack`."""
    fields, start = [], 0
    for width in layout:
        fields.append(rows[..., start] if width is None else rows[..., start : start + width])
        start += 1 if width is None else width
    make: Any = type(layout)
    named: Statistics = make(*fields)
    return named


def averaged_score(measure: Measure, statistics: Any, average: Average) -> Tensor:
    """Score a batch of sentences as one.

    Args:
        measure: what is computed.
        statistics: one row a sentence.
        average: ``"micro"``: the score of the summed counts; ``"macro"``: the mean of the sentences' scores, 0 where
            there is none; ``"none"``: the scores themselves, ``(sentences, ...)``.
    """
    if average == "micro":
        return measure.score(type(statistics)(*(field.sum(0) for field in statistics)))
    scores = measure.score(statistics)
    return scores if average == "none" else scores.sum(0) / max(1, len(scores))


def with_samples(scores: Tensor, samples: int | None) -> Tensor:
    """Give scores ``(hypotheses, ...)`` their leading shape ``(sentences, samples, ...)``, where there are samples."""
    if samples is None:
        return scores
    return scores.reshape(len(scores) // max(1, samples), samples, *scores.shape[1:])
