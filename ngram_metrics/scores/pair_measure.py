"""Measures whose score is that of one pair: of several references a sentence takes the one with the highest score."""

from __future__ import annotations

from torch import Tensor

from ngram_metrics.counting.batch import Batch
from ngram_metrics.scores.measure import Measure
from ngram_metrics.scores.references import best_statistics, count_pairs, pair_up
from ngram_metrics.scores.rows import Statistics


class PairMeasure(Measure[Statistics]):
    """Needs ``pair_orders``, ``pair_statistics`` and ``score``, and counts by itself."""

    def statistics(self, batch: Batch) -> Statistics:
        """Count each kind of token, and keep the best reference; one row a sentence."""
        pairs = pair_up(batch.sides)
        kinds = [pairs] if batch.words is None else [pairs, pair_up(batch.words)]
        counts = [count_pairs(kind, order) for kind, order in zip(kinds, self.pair_orders, strict=True)]
        statistics = self.pair_statistics(*counts)
        return statistics if pairs.sentence is None else best_statistics(statistics, self.judged(statistics), pairs)

    def judged(self, statistics: Statistics) -> Tensor:
        """Return what decides which reference is the best, ``(...)``: the score."""
        return self.score(statistics)
