"""The base class of all measures: named counts, which are summed and averaged."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, TypeAlias, TypeVar

import torch
from torch import Tensor

from ngram_metrics.counting.all_pairs import MatchBlock, all_pairs_matches
from ngram_metrics.counting.documents import Batch, DocumentGroups
from ngram_metrics.scores.python_measures import PythonMeasure

#: A NamedTuple of tensors with any leading dimensions: one row per segment, a sum, or a matrix of pairs.
Statistics = TypeVar("Statistics", bound=tuple[Tensor, ...])


@dataclass(frozen=True)
class Layout(Generic[Statistics]):
    """The columns of statistics in a row.

    Attributes:
        make: the type of the statistics.
        widths: for each field its width in a row, or None for a number without a dimension.
    """

    make: Callable[..., Statistics]
    widths: tuple[int | None, ...]


class MatchStatistics(NamedTuple):
    """The counts of metrics that compare matches with all n-grams of both sides, int64 of one shape.

    Attributes:
        matches: the n-grams or tokens that hypothesis and reference share.
        hypothesis_totals: all n-grams or tokens of the hypothesis.
        reference_totals: all n-grams or tokens of the reference.
    """

    matches: Tensor
    hypothesis_totals: Tensor
    reference_totals: Tensor


class PairCounts(NamedTuple):
    """The counts of pairs of a hypothesis and a reference, whose leading dimensions broadcast.

    Attributes:
        matches: ``(..., orders)`` int64, for each order the sum over n-grams of the smaller of the two counts.
        hypothesis_lengths: ``(...)`` int64, tokens of the hypothesis.
        reference_lengths: ``(...)`` int64, tokens of the reference.
    """

    matches: Tensor
    hypothesis_lengths: Tensor
    reference_lengths: Tensor


class Measure(PythonMeasure, Generic[Statistics]):
    """A measure: two pure functions, ``statistics`` and ``score``, and the layout of the counts between them."""

    #: A power of two that no usual score reaches: sums of scores below it are kept as integers.
    score_bound: ClassVar[int] = 2
    #: Texts of systems and references read at a time, which limits memory; a progress bar moves after each such part.
    texts_at_once: ClassVar[int] = 1 << 13

    @property
    @abstractmethod
    def layout(self) -> Layout[Statistics]:
        """The columns of the statistics in a row."""

    @property
    def row_dtype(self) -> torch.dtype:
        """The dtype of a row: int64 for counts."""
        return torch.int64

    @property
    def score_shape(self) -> tuple[int, ...]:
        """The shape of the score of one row, ``()`` for a number."""
        return ()

    @abstractmethod
    def statistics(self, batch: Batch) -> Statistics:
        """Count a batch: one row per segment."""

    @abstractmethod
    def score(self, statistics: Statistics) -> Tensor:
        """Apply the formula: from statistics of any leading shape to scores ``(..., *score_shape)`` from 0 to 1."""

    def select_key(self, key: int) -> Measure[Statistics]:
        """Return the measure of a key of ROUGE by its index, or this measure if it is not ROUGE."""
        return self

    def parts(self, statistics: Statistics) -> dict[str, Tensor]:
        """Return the parts of the score by name: the counts, each ``(..., width)``."""
        return dict(zip(type(statistics).__annotations__, statistics, strict=True))

    def reference_counts(self, statistics: Statistics) -> dict[str, Tensor]:
        """Return the fields that begin with ``reference_``, by name.

        With one reference per segment they do not depend on the hypothesis.
        """
        fields = Measure.parts(self, statistics)
        return {name: field for name, field in fields.items() if name.startswith("reference_")}

    @property
    def pair_orders(self) -> tuple[int, ...]:
        """The longest order to count in pairs, for each kind of token: words, or characters and words.

        Raises:
            ValueError: the score of a pair is not a function of such counts, or not a single number.
        """
        raise ValueError("this metric does not score pairs by n-gram matches: expected one that does, such as ChrF()")

    def pair_blocks(
        self, hypotheses: DocumentGroups, references: DocumentGroups, device: torch.device
    ) -> Iterator[MatchBlock]:
        """Count every hypothesis with every reference of its group in the first kind of token, block by block."""
        # chrF of words alone has the order 0 of characters, and order 1 sets the limits of its blocks.
        return all_pairs_matches(hypotheses, references, max(1, self.pair_orders[0]), device)

    def pair_statistics(self, *counts: PairCounts) -> Statistics:
        """Return the statistics of pairs, of any leading shape, from the counts of each kind of token."""
        raise NotImplementedError

    def score_pairs(self, *counts: PairCounts) -> Tensor:
        """Return the scores of pairs from the counts of each kind of token."""
        return self.score(self.pair_statistics(*counts))


#: A measure with any type of statistics, for code that does not look into them.
AnyMeasure: TypeAlias = Measure[Any]
