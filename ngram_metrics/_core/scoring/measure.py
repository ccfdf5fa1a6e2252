"""The base classes of the metrics' definitions: what is counted in a segment, and the formula.

A measure is two pure functions. ``statistics`` turns a batch into named integers, one row for each segment. ``score``
is the formula, for such rows with any leading shape. Both work on NumPy arrays and on tensors.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

from ngram_metrics._core.basics.arrays import Array, count_ngrams, namespace, to_float
from ngram_metrics._core.basics.option_checks import Average
from ngram_metrics._core.counting.counters import count_matches

if TYPE_CHECKING:
    from ngram_metrics._core.counting.counters import AnyBatch

#: A NamedTuple of arrays with any leading dimensions: one row per segment, a sum, or a matrix of pairs.
Statistics = TypeVar("Statistics", bound="tuple[Array, ...]")


@dataclass(frozen=True)
class Layout(Generic[Statistics]):
    """Where the fields of statistics are in a row.

    Attributes:
        make: the type of the statistics.
        widths: the width of each field, or None for a field that is one number.
        columns: the column or the columns of each field.
        row_width: the number of columns.
    """

    make: Callable[..., Statistics]
    widths: tuple[int | None, ...]
    columns: Sequence[int | slice] = field(init=False, compare=False)
    row_width: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        columns: list[int | slice] = []
        start = 0
        for width in self.widths:
            if width is None:
                columns.append(start)
                start += 1
            else:
                columns.append(slice(start, start + width))
                start += width
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "row_width", start)

    def pack(self, statistics: Statistics) -> Array:
        """Concatenate the fields of statistics into rows ``(..., row_width)``."""
        fields = zip(statistics, self.widths, strict=True)
        parts = [part[..., None] if width is None else part for part, width in fields]
        return namespace(parts[0]).concatenate(parts, -1)

    def unpack(self, rows: Array) -> Statistics:
        """Return the statistics of rows ``(..., row_width)``: the inverse of ``pack``."""
        fields = [rows[..., columns] for columns in self.columns]
        return self.make(*fields)


class MatchStatistics(NamedTuple):
    """The counts of metrics that compare the matches with all n-grams of both sides. All have one shape.

    Attributes:
        matches: the n-grams or tokens that hypothesis and reference share.
        hypothesis_totals: all n-grams or tokens of the hypothesis.
        reference_totals: all n-grams or tokens of the reference.
    """

    matches: Array
    hypothesis_totals: Array
    reference_totals: Array


class PairCounts(NamedTuple):
    """The counts of pairs of a hypothesis and a reference, whose leading dimensions broadcast.

    Attributes:
        matches: ``(..., orders)`` int64, the clipped matches of each order.
        hypothesis_lengths: ``(...)`` int64, tokens of the hypothesis.
        reference_lengths: ``(...)`` int64, tokens of the reference.
    """

    matches: Array
    hypothesis_lengths: Array
    reference_lengths: Array

    def totals(self) -> tuple[Array, Array]:
        """Return the n-grams of each order of both sides, each ``(..., orders)``."""
        orders = self.matches.shape[-1]
        return count_ngrams(self.hypothesis_lengths, orders), count_ngrams(self.reference_lengths, orders)


class Measure(ABC, Generic[Statistics]):
    """The settings of a metric, its two pure functions, and the layout of the counts between them."""

    #: The columns of the statistics in a row.
    layout: Layout[Statistics]
    #: Whether a row holds integers; otherwise it holds floating-point numbers.
    has_counts = True
    #: Whether pairs are scored by the length of a longest common subsequence, as matches of order 1.
    counts_subsequences = False

    @abstractmethod
    def settings(self) -> dict[str, object]:
        """Return the options that affect a score, by name. Options that mean the same have one value."""

    @property
    def score_shape(self) -> tuple[int, ...]:
        """The shape of the score of one row, ``()`` for a number."""
        return ()

    @abstractmethod
    def statistics(self, batches: Sequence[AnyBatch]) -> Statistics:
        """Count segments, one row for each. There is one batch for each kind of token that the reader reads."""

    @abstractmethod
    def score(self, statistics: Statistics) -> Array:
        """Apply the formula: from statistics in floating point to scores ``(..., *score_shape)`` from 0 to 1."""

    def score_rows(self, rows: Array) -> Array:
        """Return the scores ``(..., *score_shape)`` of rows ``(..., row_width)``, arrays or tensors."""
        return self.score(self.layout.unpack(to_float(rows)))

    def warn_of_score(self, row: Array, average: Average) -> None:
        """Warn if the score of a corpus with these counts, an array ``(row_width,)``, says little. By default never."""

    def select_key(self, key: int) -> Measure[Statistics]:
        """Return the measure of one key, by its index, or this measure if it has no keys."""
        return self

    def parts(self, statistics: Statistics) -> dict[str, Array]:
        """Return the parts of the score by name: the counts, each ``(..., width)``."""
        return dict(zip(type(statistics).__annotations__, statistics, strict=True))

    @property
    def pair_orders(self) -> tuple[int, ...]:
        """The longest order to count in pairs for each kind of token: words, or characters and words.

        Raises ValueError if the score of a pair is not one number, or does not follow from such counts.
        """
        raise ValueError("this metric does not score pairs by n-gram matches: expected one that does, such as ChrF()")

    def pair_statistics(self, counts: Sequence[PairCounts]) -> Statistics:
        """Return the statistics of pairs from the counts of each kind of token, with any leading shape."""
        raise NotImplementedError

    def score_pairs(self, counts: Sequence[PairCounts]) -> Array:
        """Return the scores of pairs from the counts of each kind of token."""
        return self.score(to_floats(self.pair_statistics(counts)))


class PairMeasure(Measure[Statistics]):
    """A measure that keeps the best of several references.

    A subclass defines ``pair_orders``, ``pair_statistics`` and ``score``.
    """

    def statistics(self, batches: Sequence[AnyBatch]) -> Statistics:
        """Count each kind of token, and keep the best reference: one row for each segment."""
        counts = [count_pairs(batch.pairs(), orders) for batch, orders in zip(batches, self.pair_orders, strict=True)]
        statistics = self.pair_statistics(counts)
        batch = batches[0]
        if batch.is_paired:
            return statistics
        scores = self.selection_score(to_floats(statistics))
        best = batch.take_best(statistics, scores)
        return type(statistics)(*best)

    def selection_score(self, statistics: Statistics) -> Array:
        """Return the score ``(...)`` that decides which reference is the best."""
        return self.score(statistics)


def to_floats(statistics: Statistics) -> Statistics:
    """Return statistics in floating point."""
    fields = [to_float(field) for field in statistics]
    return type(statistics)(*fields)


def count_pairs(pairs: AnyBatch, orders: int) -> PairCounts:
    """Count the matches of each segment up to the order ``orders``, which may be 0. Each segment has one reference."""
    return PairCounts(
        matches=count_matches(pairs, orders),
        hypothesis_lengths=pairs.hypothesis_lengths,
        reference_lengths=pairs.reference_lengths,
    )


#: A measure with any type of statistics.
AnyMeasure: TypeAlias = Measure[Any]
