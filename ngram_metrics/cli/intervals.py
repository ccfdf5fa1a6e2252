"""Bootstrap intervals of all systems and metrics at once, from one set of draws.

Each interval is the one that ``confidence=`` gives for the system alone, because the rows of each system are sorted.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ngram_metrics.cli.tally import Tally
from ngram_metrics.scores.resampling import (
    RESAMPLES,
    SEED,
    bootstrap_weights,
    interval,
    row_order,
    scores_of_sums,
    summands,
    weighted_sums,
)


def intervals(tallies: Sequence[Tally], level: float) -> list[dict[str, tuple[float, float]]]:
    """Return for each tally the ends of the intervals of its values, in 0..1, by name."""
    sentences = tallies[0].sentences
    parts = []
    for tally in tallies:
        rows = tally.sentence_rows()
        parts.append(summands(tally.measure, rows[row_order(rows)], tally.average))  # (sentences, width)
    sums = weighted_sums(bootstrap_weights(sentences, RESAMPLES, SEED), torch.cat(parts, 1))
    found = []
    for tally, of_tally in zip(tallies, sums.split([part.shape[1] for part in parts], 1), strict=True):
        low, high = interval(scores_of_sums(tally.measure, of_tally, sentences, tally.average), level)
        ends = zip(tally.named_scores(low).items(), tally.named_scores(high).values(), strict=True)
        found.append({name: (lower.item(), upper.item()) for (name, lower), upper in ends})
    return found
