"""Sums over the segments of groups such as languages, which ``GroupedMetric`` adds to its states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ngram_metrics._core.basics.arrays import Array, counts_in_torch
from ngram_metrics._core.basics.option_checks import whole_number
from ngram_metrics._core.basics.tensors import copy_to, to_array, to_tensor
from ngram_metrics._core.scoring.counts import Counts
from ngram_metrics._core.scoring.items import whole_metric
from ngram_metrics._core.scoring.scorer import CountedBatch, Scorer, scorer_of
from ngram_metrics._core.text.labels import checked_labels, list_sequence
from ngram_metrics._core.text.messages import shortened

#: The suffixes of two more values: the mean of the groups' scores, and the score of all segments.
TOTALS = ("mean", "all")


def checked_groups(groups: Any) -> tuple[str, ...]:
    """Return the labels of groups, or raise TypeError or ValueError for a bad label or one that occurs twice."""
    labels = list_sequence("groups", groups, 'a list of labels, such as ["de", "fr"]')
    for label in labels:
        if not isinstance(label, str):
            raise TypeError(f"the label {shortened(label)} of groups: expected a str")
        if not label.strip() or label in TOTALS:
            raise ValueError(f"the label {label!r} of groups: expected one that is not blank, {' or '.join(TOTALS)}")
    if len(set(labels)) < len(labels) or not labels:
        raise ValueError(f"groups is {labels}: expected at least one label, and each once")
    return tuple(labels)


def group_indices(groups: Any, labels: Sequence[str], segments: int) -> Tensor:
    """Return the index of each segment's group, ``(segments,)`` int64, from labels or indices.

    Reading indices on a device would wait for it. Instead, those out of range become the number of labels.

    Raises:
        TypeError, ValueError: not one label or index for each segment; an unknown label, or an index out of range. A
            bool or a float is no index.
    """
    if isinstance(groups, Tensor) and (groups.is_floating_point() or groups.dtype == torch.bool):
        raise TypeError(f"groups is {groups.dtype}: expected labels, or integers, which are indices of labels")
    if isinstance(groups, Tensor) and counts_in_torch(groups):
        if groups.shape != (segments,):
            actual = f"{groups.dtype} of shape {tuple(groups.shape)}"
            raise ValueError(f"groups is {actual}: expected an integer for each of {segments} segments")
        return groups.long().where((groups >= 0) & (groups < len(labels)), len(labels))
    index_of = {label: index for index, label in enumerate(labels)}
    indices = np.empty(segments, np.int64)
    for position, label in enumerate(checked_labels("groups", groups, "the batch", segments)):
        index = index_of.get(label) if isinstance(label, str) else whole_number(label)
        if index is None or not 0 <= index < len(labels):
            expected = f"one of {list(labels)}, or an index below {len(labels)}"
            raise ValueError(f"label {position} of groups is {shortened(label)}: expected {expected}")
        indices[position] = index
    return to_tensor(indices)


def add_up_groups(scorer: Scorer, batch: CountedBatch, indices: Tensor, groups: int) -> Counts:
    """Return the sums over the segments of each group, ``(groups, ...)``.

    ``indices`` has the group of each segment. If segments have several hypotheses, each hypothesis is a row.
    """
    rows = to_tensor(batch.rows)
    device = rows.device if indices.is_cpu else indices.device  # indices on a device stay there
    (rows,) = copy_to(device, rows)
    (indices,) = copy_to(device, indices)
    if batch.leading_shape is not None:
        indices = indices[:, None].expand(batch.leading_shape).flatten()

    def add_up(terms: Tensor) -> Array:
        return to_array(terms.new_zeros((groups, *terms.shape[1:])).index_add_(0, indices, terms))

    score_sum = None
    if scorer.average == "macro":
        score_sum = add_up(to_tensor(scorer.measure.score_rows(to_array(rows))))
    return Counts(
        kind=batch.kind,
        samples=None,
        segments=add_up(torch.ones_like(indices)),
        reference_range=batch.reference_range,
        row=add_up(rows),
        score_sum=score_sum,
    )


def select_groups(counts: Counts, select: Callable[[Array], Array]) -> Counts:
    """Return counts whose sums are what ``select`` takes from the sums ``(groups, ...)``."""
    return counts._replace(
        segments=select(counts.segments),
        row=select(counts.row),
        score_sum=None if counts.score_sum is None else select(counts.score_sum),
    )


def checked_scorer(metric: Any) -> Scorer:
    """Return the scorer of a metric that can be counted by groups, or raise TypeError or ValueError."""
    scorer = scorer_of(metric, "metric")
    whole = whole_metric(metric)
    if scorer.average == "none" or whole.confidence is not None:
        raise ValueError(f"the metric {metric!r}: expected average 'micro' or 'macro', and no confidence")
    if whole.groups:
        raise ValueError(f"the metric {metric!r} has groups: expected one without")
    return scorer
