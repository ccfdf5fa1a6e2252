"""Sums over the segments of groups such as languages, which ``GroupedMetric`` adds to its states.

Groups are read alike, or each by options for text of its own, such as the tokenizer of its language.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ngram_metrics._core.basics.arrays import Array, counts_in_torch
from ngram_metrics._core.basics.option_checks import whole_number
from ngram_metrics._core.basics.tensors import copy_to, float_dtype, to_array, to_tensor
from ngram_metrics._core.scoring.counts import Counts
from ngram_metrics._core.scoring.items import whole_metric
from ngram_metrics._core.scoring.scorer import CountedBatch, Scorer, scorer_of
from ngram_metrics._core.scoring.settings import name_unequal, show
from ngram_metrics._core.text.input_types import Hypotheses, References
from ngram_metrics._core.text.labels import checked_labels, list_sequence
from ngram_metrics._core.text.messages import shortened
from ngram_metrics._core.text.segments import Segments

#: The suffixes of two more values: the mean of the groups' scores, and the score of all segments.
TOTALS = ("mean", "all")
#: The options that may differ between the metrics of groups: how text becomes tokens.
TEXT_OPTIONS = ("tokenizer", "lowercase", "use_stemmer", "normalizer", "sentence_splitter")


class Grouping(NamedTuple):
    """The groups of a metric, and how each is read.

    Attributes:
        labels: the labels of the groups.
        scorers: the metric of each group. These differ only in ``TEXT_OPTIONS``. Empty if all groups are read alike.
    """

    labels: tuple[str, ...] = ()
    scorers: tuple[Scorer, ...] = ()

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The suffixes of the name of each value. Segments that are read in different ways have no common score."""
        totals = TOTALS[:1] if self.scorers else TOTALS
        return tuple(f"_{label}" for label in (*self.labels, *totals))

    def settings(self) -> dict[str, object]:
        """Return what must be equal before counts are joined, by name."""
        settings: dict[str, object] = {"groups": self.labels}
        if self.scorers:
            options = [option for option in TEXT_OPTIONS if option in self.scorers[0].settings()]
            for label, scorer in zip(self.labels, self.scorers, strict=True):
                settings |= {f"{option} of {label}": scorer.settings()[option] for option in options}
        return settings


def _checked_labels(groups: Any) -> tuple[str, ...]:
    """Return the labels of groups, or raise TypeError or ValueError for a bad label or one that occurs twice."""
    labels = list_sequence("groups", groups, 'a list of labels, such as ["de", "fr"]')
    for label in labels:
        if not isinstance(label, str):
            raise TypeError(f"groups has the label {shortened(label)}: expected a str")
        if not label.strip() or label in TOTALS:
            raise ValueError(
                f"groups has the label {label!r}: expected one that is not blank, {' or '.join(map(repr, TOTALS))}"
            )
    if len(set(labels)) < len(labels) or not labels:
        raise ValueError(f"groups is {labels}: expected at least one label, and each label only once")
    return tuple(labels)


def group_indices(groups: Any, labels: Sequence[str], segments: int) -> Tensor:
    """Return the index of each segment's group, ``(segments,)`` int64, from labels or indices.

    Reading indices on a device would wait for it. Instead, indices out of range become the number of labels.

    Raises:
        TypeError, ValueError: not one label or index for each segment; an unknown label, or an index out of range. A
            bool or a float is not an index.
    """
    if isinstance(groups, Tensor) and (groups.is_floating_point() or groups.dtype == torch.bool):
        raise TypeError(
            f"groups is a tensor of {groups.dtype}: expected labels, or indices of labels, which are integers"
        )
    if isinstance(groups, Tensor) and counts_in_torch(groups):
        if groups.shape != (segments,):
            raise ValueError(
                f"groups is a tensor of shape {tuple(groups.shape)}: expected ({segments},), an index for each segment"
            )
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
    device = indices.device  # indices on a device stay there, unless the rows are scores that it has no dtype for
    if device.type == "cpu" or (rows.dtype == torch.float64 and float_dtype(device) != torch.float64):
        device = rows.device
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
    segments = select(counts.segments)
    if isinstance(segments, np.generic):
        segments = np.asarray(segments)  # a sum over groups in NumPy is a scalar, not an array
    return counts._replace(
        segments=segments,
        row=select(counts.row),
        score_sum=None if counts.score_sum is None else select(counts.score_sum),
    )


def count_each_group(
    grouping: Grouping, preds: Hypotheses, target: References, groups: Any, is_first: bool
) -> tuple[CountedBatch, Tensor]:
    """Count a batch, each text by the metric of its group.

    Returns:
        The counts of the batch, and the index of each segment's group, ``(segments,)``.

    Raises:
        TypeError: indices on a device, which cannot be read without waiting for it.
        TypeError, ValueError: the errors of ``Scorer.count_batch`` and of ``group_indices``.
    """
    if isinstance(groups, Tensor) and counts_in_torch(groups):
        raise TypeError(
            f"groups is a tensor on {groups.device}: expected labels, or indices on the CPU, because each group is "
            "read by its own options"
        )
    scorer = grouping.scorers[0]
    segments = scorer.reader.find_segments(preds, target, is_first)
    indices = group_indices(groups, grouping.labels, len(segments.hypotheses))
    if not isinstance(segments, Segments) or segments.kind != "text" or not segments.hypotheses:
        for other in grouping.scorers:
            other.reader.check_text_options(segments.kind)
        return scorer.count_segments(segments, is_first), indices  # tokens and ids are read alike
    index_of_each = to_array(indices)
    parts = []
    places = []
    for index in np.unique(index_of_each):
        positions = np.flatnonzero(index_of_each == index)
        parts.append(grouping.scorers[index].count_segments(segments.select(positions.tolist()), is_first))
        places.append(positions)
    order = np.argsort(np.concatenate(places))
    return CountedBatch(
        rows=np.concatenate([part.rows for part in parts])[order],
        kind=segments.known_kind,
        reference_range=np.max([part.reference_range for part in parts], 0),
    ), indices


def checked_grouping(metric: Any, groups: Any, shared: Sequence[str] = ("device",)) -> tuple[Any, Grouping]:
    """Return a metric and its groups, from the two arguments of a ``GroupedMetric``.

    ``shared`` names attributes in which the metrics of a mapping may not differ. The first of them is returned.

    Raises:
        TypeError, ValueError: a metric that cannot be counted by groups, a bad label, metrics of a mapping that differ
            in more than options for text, or ``groups`` beside a mapping.
    """
    if not isinstance(metric, Mapping):
        if groups is None:
            raise TypeError("groups is missing: expected the labels of the groups, or a mapping of labels to metrics")
        _checked_scorer(metric, "metric")
        return metric, Grouping(_checked_labels(groups))
    if groups is not None:
        raise TypeError(
            f"groups is {shortened(groups)}, but metric is a mapping whose keys are the labels: leave out groups"
        )
    labels = _checked_labels(list(metric))
    scorers = tuple(_checked_scorer(metric[label], f"the metric of {label!r}") for label in labels)
    _refuse_other_options(metric, shared)
    return metric[labels[0]], Grouping(labels, scorers)


def _checked_scorer(metric: Any, name: str) -> Scorer:
    """Return the scorer of a metric that can be counted by groups, or raise TypeError or ValueError."""
    try:
        scorer = scorer_of(metric, name)
    except TypeError as error:
        raise TypeError(f"{error}, whose counts can be added up by groups") from None
    whole = whole_metric(metric)
    if scorer.average == "none" or whole.confidence is not None:
        raise ValueError(
            f"{name} is {metric!r}: expected average 'micro' or 'macro', and no confidence, because groups keep only "
            "sums"
        )
    if whole.groups:
        raise ValueError(f"{name} is {metric!r}, which has groups of its own: expected a metric without groups")
    return scorer


def _refuse_other_options(metrics: Mapping[str, Any], shared: Sequence[str]) -> None:
    """Raise ValueError if the metrics of two groups differ in more than options for text."""
    first_label, *labels = metrics
    first = _describe(metrics[first_label], shared)
    for label in labels:
        other = _describe(metrics[label], shared)
        unequal = [name for name in name_unequal(first, other) if name not in TEXT_OPTIONS]
        if unequal:
            name = unequal[0]
            values = [show(described[name]) if name in described else "missing" for described in (first, other)]
            raise ValueError(
                f"{name} is {values[0]} for {first_label!r} and {values[1]} for {label!r}: expected metrics that "
                f"differ only in options for text ({', '.join(TEXT_OPTIONS)})"
            )


def _describe(metric: Any, shared: Sequence[str]) -> dict[str, object]:
    """Return everything but the counts of a metric, by name."""
    whole = whole_metric(metric)
    of_framework = {name: getattr(whole, name, None) for name in shared}
    described = {"class": type(whole).__name__, "values": tuple(metric.scorer.values)}
    return {**described, **metric.scorer.settings(), **of_framework}
