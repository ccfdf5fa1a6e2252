"""Measures that score one pair: of several references, a sentence uses the one with the highest score."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from ngram_metrics.counting.documents import Batch
from ngram_metrics.scores.measure import Measure
from ngram_metrics.scores.options import checked_order
from ngram_metrics.scores.references import best_statistics, count_pairs, pair_up
from ngram_metrics.scores.rows import Statistics


class PairMeasure(Measure[Statistics]):
    """A measure of pairs: a subclass defines ``pair_orders``, ``pair_statistics`` and ``score``."""

    def statistics(self, batch: Batch) -> Statistics:
        """Count each kind of token, and keep the best reference: one row per sentence."""
        pairs = pair_up(batch.sides)
        kinds = [pairs] if batch.words is None else [pairs, pair_up(batch.words)]
        counts = [count_pairs(kind, order) for kind, order in zip(kinds, self.pair_orders, strict=True)]
        statistics = self.pair_statistics(*counts)
        return statistics if pairs.sentence is None else best_statistics(statistics, self.judged(statistics), pairs)

    def judged(self, statistics: Statistics) -> Tensor:
        """Return the score ``(...)`` by which the best reference is chosen."""
        return self.score(statistics)


@dataclass(frozen=True)
class OrderMeasure(PairMeasure[Statistics]):
    """A measure of pairs whose only setting is the longest order, ``ngram``, 1 to 1,000.

    Raises:
        TypeError: an order that is not an integer.
        ValueError: an order out of its range.
    """

    ngram: int

    def __post_init__(self) -> None:
        """Check the setting."""
        object.__setattr__(self, "ngram", checked_order(self.ngram))

    def signature(self) -> dict[str, str]:
        """Return the setting."""
        return {"order": str(self.ngram)}

    @property
    def pair_orders(self) -> tuple[int, ...]:
        """The longest order."""
        return (self.ngram,)
