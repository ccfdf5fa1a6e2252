"""Sums over the segments of groups such as languages, which ``GroupedMetric`` adds to its states."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ngram_metrics._core.basics.arrays import counts_in_torch
from ngram_metrics._core.basics.tensors import copy_to, to_array, to_tensor
from ngram_metrics._core.scoring.scorer import Counted, Scorer
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
        TypeError, ValueError: not one label or index for each segment; an unknown label, or an index out of range.
    """
    if isinstance(groups, Tensor) and counts_in_torch(groups):
        if groups.shape != (segments,) or groups.is_floating_point():
            actual = f"{groups.dtype} of shape {tuple(groups.shape)}"
            raise ValueError(f"groups is {actual}: expected an integer for each of {segments} segments")
        return groups.long().where((groups >= 0) & (groups < len(labels)), len(labels))
    index_of: dict[Hashable, int] = {label: index for index, label in enumerate(labels)}
    index_of |= {index: index for index in range(len(labels))}
    listed = checked_labels("groups", groups, "the batch", segments)
    for position, label in enumerate(listed):
        if label not in index_of:
            expected = f"one of {list(labels)}, or an index below {len(labels)}"
            raise ValueError(f"label {position} of groups is {shortened(label)}: expected {expected}")
    return to_tensor(np.array([index_of[label] for label in listed], np.int64))


def sum_groups(scorer: Scorer, counted: Counted, indices: Tensor, groups: int) -> dict[str, Tensor]:
    """Return the sums over the segments of each group, ``(groups, ...)``, by the names of a metric's states.

    ``indices`` has the group of each segment. If segments have several hypotheses, each hypothesis is a row.
    """
    rows = to_tensor(counted.rows)
    device = rows.device if indices.is_cpu else indices.device  # indices on a device stay there
    (rows,) = copy_to(device, rows)
    (indices,) = copy_to(device, indices)
    if counted.leading_shape is not None:
        indices = indices[:, None].expand(counted.leading_shape).flatten()
    terms = {"segments": torch.ones_like(indices), "row": rows}
    if scorer.average == "macro":
        terms["score_sum"] = to_tensor(scorer.measure.score_rows(to_array(rows)))
    return {
        name: term.new_zeros((groups, *term.shape[1:])).index_add_(0, indices, term) for name, term in terms.items()
    }
