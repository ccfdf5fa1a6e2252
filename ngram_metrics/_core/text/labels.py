"""Labels of segments, such as their documents: read and checked from sequences, arrays or columns of tables."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, TypeAlias

import numpy as np

from ngram_metrics._core.counting.batch import Integers
from ngram_metrics._core.text.foreign_values import (
    frame_package,
    is_sequence_like,
    list_values,
    sequence_advice,
    tensor_types,
)
from ngram_metrics._core.text.messages import pluralize, shortened, type_name

#: A label for each segment, such as the name of its article.
Labels: TypeAlias = Sequence[Hashable]


def cluster_numbers(clusters: Labels, system: str, segments: int) -> Integers:
    """Return the index of each segment's cluster, ``(segments,)``. Segments with equal labels are a cluster.

    Raises TypeError or ValueError for bad labels, and for a single cluster of several segments.
    """
    labels = checked_labels("clusters", clusters, system, segments)
    if None in labels:
        raise TypeError(f"label {labels.index(None)} of clusters is None: expected the cluster of the segment")
    for index, label in enumerate(labels):
        if isinstance(label, str) and not label.strip():
            raise ValueError(f"label {index} of clusters is blank: expected the cluster of the segment")
    indices = {label: index for index, label in enumerate(dict.fromkeys(labels))}
    if len(indices) == 1 < segments:
        raise ValueError(
            f"clusters has the same label for all {segments} segments, {shortened(labels[0])}: "
            "expected at least two clusters"
        )
    return np.array([indices[label] for label in labels], np.int64)


def checked_labels(name: str, labels: Any, system: str, segments: int) -> list[Hashable]:
    """Return the labels of a system's segments, None for missing ones, or raise TypeError or ValueError."""
    listed = list_sequence(name, labels, "a label for each segment")
    if len(listed) != segments:
        raise ValueError(
            f"{name} has {pluralize(len(listed), 'label')} and {system} has {pluralize(segments, 'segment')}: "
            "expected one label for each segment"
        )
    for index, label in enumerate(listed):
        # Tensors are hashed by identity, so two of them are never the same label.
        if not isinstance(label, Hashable) or isinstance(label, tensor_types()):
            raise TypeError(f"label {index} of {name} is {shortened(label)}: expected a hashable object, such as a str")
        if label != label:
            reason = "which is not equal to itself"
            raise TypeError(f"label {index} of {name} is {shortened(label)}, {reason}: expected a str or None")
    # Python's times are no finer than microseconds.
    distinct = labels.n_unique() if hasattr(labels, "n_unique") else 0
    if hasattr(labels, "to_pylist"):
        distinct = len(labels.unique())
    if distinct > len(set(listed)):
        raise ValueError(f"{name} has times that differ by less than a microsecond: expected text or integers")
    return listed


def list_sequence(name: str, items: Any, expected: str) -> list[Any]:
    """Return a sequence, an array or a column of a table as a list, or raise TypeError that says what was expected."""
    if frame_package(items) is None and not is_sequence_like(items):
        raise TypeError(f"{name} is {type_name(items)}: expected {expected}{sequence_advice(items)}")
    return list_values(items, name)
