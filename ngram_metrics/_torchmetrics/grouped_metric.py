"""A metric that scores groups of segments separately, such as the languages of a multilingual model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import torch
from torch import Tensor

from ngram_metrics._core.basics.keywords import named_arguments
from ngram_metrics._core.scoring.groups import TOTALS, checked_groups, group_indices, sum_groups
from ngram_metrics._core.scoring.scorer import Metric, scorer_of
from ngram_metrics._core.text.input_types import Hypotheses, References
from ngram_metrics._torchmetrics.accumulator import Accumulator, MetricKeywords
from ngram_metrics._torchmetrics.adaptor import Adaptor, copy_value
from ngram_metrics._torchmetrics.values import Item

#: For each segment the label of its group, or the label's index.
Groups: TypeAlias = Sequence[str] | Sequence[int] | Tensor


class GroupedMetric(Accumulator[None]):
    """One metric for several groups of segments: the score of each group, their mean, and the score of all segments.

    ``update(preds, target, groups)`` counts a batch, whose segments may be of any groups. ``compute()`` returns the
    values of all batches and ranks; a rank need not have every group. ``reset()`` starts over. See the page "Which
    number should I report?".

    Args:
        metric: a metric of this package, such as ``ChrF()``, or a value of one, such as
            ``ROUGEScore()["rougeL_fmeasure"]``. Its settings, its device and its keyword arguments of
            ``torchmetrics.Metric`` are used; its counts are not.
        groups: the labels of the groups, each a str.

    ``compute`` returns a dict of float64 ``()`` from 0 to 1: for ``ChrF()`` and the groups ``["de", "fr"]`` it has
    ``chrf_de``, ``chrf_fr``, ``chrf_mean``, the mean over the groups that have segments, and ``chrf_all``, the score of
    all segments together. A metric of several values has these for each, such as ``rougeL_fmeasure_de``. A group
    without segments is NaN. ``metric["chrf_mean"]`` is a metric of one value.

    Raises:
        ValueError: a metric with ``average="none"`` or ``confidence``; no label; a label that is blank, ``mean`` or
            ``all``, or that occurs twice.
        TypeError: another object as metric; a label that is not a str.

    Example:
        >>> from ngram_metrics import ChrF, GroupedMetric
        >>> metric = GroupedMetric(ChrF(), ["de", "fr", "cs"])
        >>> metric.update(["das Haus", "la maison"], ["ein Haus", "la maison"], ["de", "fr"])
        >>> {name: round(value.item(), 2) for name, value in metric.compute().items()}
        {'chrf_de': 0.29, 'chrf_fr': 1.0, 'chrf_cs': nan, 'chrf_mean': 0.64, 'chrf_all': 0.69}
    """

    @named_arguments
    def __init__(self, metric: Metric, groups: Sequence[str]) -> None:
        scorer = scorer_of(metric, "metric")
        self.groups = checked_groups(groups)
        whole: Any = metric.whole if isinstance(metric, Item) else metric
        accumulator = whole if isinstance(whole, Accumulator) else whole._accumulator  # that of an ignite metric
        if scorer.average == "none" or accumulator.confidence is not None:
            raise ValueError(f"the metric {metric!r}: expected average 'micro' or 'macro', and no confidence")
        if isinstance(accumulator, GroupedMetric):
            raise ValueError(f"the metric {metric!r} has groups: expected one without")
        keywords = {name: getattr(accumulator, name) for name in MetricKeywords.__annotations__}
        super().__init__(scorer, None, accumulator.device, self.groups, **keywords)
        self.suffixes = tuple(f"_{label}" for label in (*self.groups, *TOTALS))
        self._repr = f"{metric!r}, {list(self.groups)}"

    if TYPE_CHECKING:  # torch declares it for any module

        def __call__(self, preds: Hypotheses, target: References, groups: Groups) -> dict[str, Tensor]: ...  # type: ignore[override]

    @named_arguments
    def update(self, preds: Hypotheses, target: References, groups: Groups) -> None:  # type: ignore[override]
        """Count a batch.

        Args:
            preds: hypotheses, one per segment, as other metrics take them.
            target: for each segment its reference or a list of references.
            groups: for each segment the label of its group, or the index of that label. Indices on a device are not
                read here: ``compute`` raises if one is out of range.

        Raises:
            TypeError, ValueError: segments that cannot be read; an unknown label; the states do not change.
        """
        counted = self.scorer.count(preds, target, is_first=not any(self._codes))
        segments = len(counted.rows) if counted.leading_shape is None else counted.leading_shape[0]
        indices = group_indices(groups, self.groups, segments)
        self._add(counted, sum_groups(self.scorer, counted, indices, len(self.groups) + 1))

    @torch.jit.unused
    @named_arguments
    def forward(self, preds: Hypotheses, target: References, groups: Groups) -> dict[str, Tensor]:  # type: ignore[override]
        """Count a batch and return the values of this batch. If it raises, the states do not change."""
        values: Any = self._call_or_undo(lambda: copy_value(super(Adaptor, self).forward(preds, target, groups)))
        return values

    def compute(self) -> dict[str, Tensor]:  # type: ignore[override]
        """Return the values of all batches since the last reset, by the names that the class describes.

        Raises:
            ValueError: an index out of range; ranks that counted different kinds of input, or have other settings.
        """
        outside = 0 if self.segments.is_meta else int(self.segments[-1])
        if outside:
            raise ValueError(f"{outside} indices of groups are out of range: expected 0 to {len(self.groups) - 1}")
        self._warn_of_score()
        scores = self._score_sums(lambda state: state[:-1], math.nan)
        total = self._score_sums(lambda state: state.sum(0), self.scorer.empty_score)
        scores = torch.cat((scores, scores.nanmean(0, keepdim=True), total[None]))
        return {
            name + suffix: value
            for name, values in self.scorer.name_values(scores).items()
            for suffix, value in zip(self.suffixes, values, strict=True)
        }

    def extra_repr(self) -> str:
        """Return the metric and the labels."""
        return self._repr
