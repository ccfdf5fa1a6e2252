"""Scores of sentences of similar length: they show whether a system is weak on short or on long sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from ngram_metrics.cli.intervals import intervals
from ngram_metrics.cli.tally import Tally

_BUCKETS = 5


def buckets(
    tallies: Mapping[str, Sequence[Tally]], lengths: Sequence[float], level: float, digits: int
) -> list[dict[str, Any]]:
    """Return up to five buckets of similar size, by the length of the reference.

    Args:
        tallies: the tallies of each system, with the counts of each sentence.
        lengths: the length of the reference of each sentence, in words.
        level: the level of the intervals, between 0 and 1.
        digits: the digits of scores after the decimal point.

    Returns:
        For each bucket the shortest and the longest reference, the number of sentences, and ``scores``: for each value
        and system the score in 0..100 and the ends of its interval.
    """
    words = np.asarray(lengths)
    edges = np.unique(np.quantile(words, np.linspace(0, 1, _BUCKETS + 1)[1:-1], method="lower"))
    bucket = np.searchsorted(edges, words, "left")
    return [_bucket(tallies, words, np.flatnonzero(bucket == number), level, digits) for number in np.unique(bucket)]


def _bucket(
    tallies: Mapping[str, Sequence[Tally]], words: Any, places: Any, level: float, digits: int
) -> dict[str, Any]:
    parts = [tally.part(torch.from_numpy(places)) for of_system in tallies.values() for tally in of_system]
    scores: dict[str, list[list[float]]] = {}
    for part, ends in zip(parts, intervals(parts, level), strict=True):
        found = part.scores()
        for value in part.metric.values:
            numbers = (found[value], *ends[value])
            scores.setdefault(value, []).append([round(100 * number, digits) for number in numbers])
    inside = words[places]
    return {"from": inside.min().item(), "to": inside.max().item(), "sentences": len(places), "scores": scores}
