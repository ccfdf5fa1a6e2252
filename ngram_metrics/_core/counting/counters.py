"""Counts of a batch, by the engine that the batch is for. The reader chose it when it made the batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ngram_metrics._core.basics.arrays import Array
from ngram_metrics._core.counting import matches, subsequences
from ngram_metrics._core.counting.batch import Batch

if TYPE_CHECKING:
    from ngram_metrics._core.counting.padded_batch import PaddedBatch

    #: A batch of either engine.
    AnyBatch: TypeAlias = Batch | PaddedBatch


def count_matches(batch: AnyBatch, orders: int) -> Array:
    """Return the clipped matches of each segment up to the order ``orders``, which may be 0: ``(segments, orders)``."""
    if isinstance(batch, Batch):
        return matches.count_matches(batch, orders)
    from ngram_metrics._core.counting import device_matches  # imports torch

    return device_matches.count_matches(batch, orders)


def find_common_lengths(pairs: AnyBatch) -> Array:
    """Return the length of a longest common subsequence of each segment, ``(segments,)``; each has one reference."""
    if isinstance(pairs, Batch):
        return subsequences.find_common_lengths(pairs)
    from ngram_metrics._core.counting import device_subsequences  # imports torch

    return device_subsequences.find_common_lengths(pairs)


def count_union_hits(pairs: AnyBatch) -> Array:
    """Return the ROUGE-Lsum hits of each segment, ``(segments,)``; each has one reference."""
    if isinstance(pairs, Batch):
        return subsequences.count_union_hits(pairs)
    # A document of a padded batch is one sentence, whose union is its longest common subsequence.
    return find_common_lengths(pairs)
