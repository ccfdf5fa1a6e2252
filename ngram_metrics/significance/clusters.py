"""The labels of sentences, checked; those that say which sentences are drawn together, as numbers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeAlias

import torch
from torch import Tensor

from ngram_metrics.text.messages import counted, shortened, type_name

#: A label for each sentence, such as the name of its article.
Labels: TypeAlias = Sequence[Hashable]


def cluster_numbers(clusters: Labels, system: str, sentences: int, noun: str) -> Tensor:
    """Return the number of each sentence's cluster, ``(sentences,)`` int64 on the CPU.

    Args:
        clusters: a label for each sentence; sentences with equal labels are a cluster.
        system: a system, as an error message names it.
        sentences: the number of its sentences.
        noun: the word for them.

    Raises:
        TypeError: the errors of ``checked_labels``; None as a label.
        ValueError: another number of labels than of sentences; one label for several sentences.
    """
    labels = checked_labels("clusters", clusters, system, sentences, noun)
    if None in labels:
        raise TypeError(f"label {labels.index(None)} of clusters is None: expected the cluster of the {noun}")
    numbers: dict[Hashable, int] = {}
    found = [numbers.setdefault(label, len(numbers)) for label in labels]
    if len(numbers) == 1 < sentences:
        raise ValueError(
            f"clusters has the same label for all {sentences} {noun}s, {shortened(labels[0])}: "
            "expected at least two clusters"
        )
    return torch.tensor(found, dtype=torch.int64, device="cpu")


def checked_labels(name: str, labels: Any, system: str, sentences: int, noun: str) -> list[Hashable]:
    """Return labels as a list; the arguments are those of ``cluster_numbers``, and the name of the labels.

    Raises:
        TypeError: not a sequence, an array or a column of hashable labels; NaN as a label.
        ValueError: another number of labels than of sentences.
    """
    is_listed = hasattr(labels, "__len__") and hasattr(labels, "__iter__")
    if isinstance(labels, (str, bytes, Mapping)) or not is_listed:
        raise TypeError(f"{name} is {type_name(labels)}: expected a label for each {noun}")
    listed = list(labels.tolist() if hasattr(labels, "tolist") else labels)
    if len(listed) != sentences:
        raise ValueError(
            f"{name} has {counted(len(listed), 'label')} and {system} {counted(sentences, noun)}: expected as many"
        )
    for index, label in enumerate(listed):
        # Two tensors are never equal labels: they are compared by their identity.
        if not isinstance(label, Hashable) or isinstance(label, Tensor) or label != label:
            raise TypeError(f"label {index} of {name} is {shortened(label)}: expected a hashable, such as a str")
    return listed
