"""The values of metrics: one of several as a metric of its own, and the names under which values are written."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import torch
import torchmetrics
from torch import Tensor
from torchmetrics.metric import CompositionalMetric

from ngram_metrics.options import Average, refuse_equal_names
from ngram_metrics.scorer import Scorer, rename_values
from ngram_metrics.scores.resampling import ENDS
from ngram_metrics.text.inputs import Hypotheses, References

if TYPE_CHECKING:
    from ngram_metrics.torchmetrics.metric_classes import ROUGEScore

#: Metrics as the classes of this package take them.
Metrics: TypeAlias = (
    torchmetrics.Metric
    | Sequence[torchmetrics.Metric]
    | Mapping[str, torchmetrics.Metric]
    | torchmetrics.MetricCollection
)


class Item:
    """One value of a metric of several, such as ``rouge["rougeL_fmeasure"]``, in either framework.

    Attributes:
        whole: the metric with all values.
        value: the name of this one.
    """

    whole: Any
    value: str
    #: The interval has two values of its own.
    confidence = None

    def __repr__(self) -> str:
        """Show the metric and the name of the value."""
        return f'{self.whole!r}["{self.value}"]'

    @property
    def scorer(self) -> Scorer:
        """The metric of this value, without its states."""
        return self.whole.scorer.item(self.value)

    @property
    def average(self) -> Average:
        """How segments become one score."""
        return self.whole.average

    @property
    def device(self) -> torch.device:
        """Where text is counted."""
        return self.whole.device

    @property
    def signature(self) -> str:
        """The signature of the metric."""
        return self.whole.signature

    def has_one_reference(self) -> bool:
        """Return what the metric returns."""
        result: bool = self.whole.has_one_reference()
        return result

    def sentence_rows(self) -> Tensor:
        """Return the counts of each segment for this value, or raise as the metric's ``sentence_rows`` does."""
        return self.whole.scorer.item_rows(self.value, self.whole.sentence_rows())


class ROUGEValue(Item, CompositionalMetric):
    """One value of a ``ROUGEScore``, with which it shares its states: ``rouge["rougeL_fmeasure"]``."""

    if TYPE_CHECKING:  # torchmetrics declares them for any metric

        def __call__(self, preds: Hypotheses, target: References) -> Tensor: ...
        def compute(self) -> Tensor: ...
        def update(self, preds: Hypotheses, target: References) -> None: ...

    def __init__(self, whole: ROUGEScore, value: str) -> None:
        super().__init__(operator.itemgetter(value), whole, None)
        self.value = value

    @property
    def whole(self) -> ROUGEScore:
        """The metric with all values."""
        return cast("ROUGEScore", self.metric_a)


def is_item(metric: Any, name: object) -> bool:
    """Return whether a name is that of a value, and not of the end of its interval.

    Raises:
        KeyError: the metric computes no value with this name.
    """
    names = _value_names(metric)
    if name not in names:
        headline = metric.scorer.titles.get(name)  # F of a key of ROUGE
        advice = f"did you mean {headline!r}?" if headline else f"expected one of {names}"
        raise KeyError(f"{name!r} is not a value of this metric: {advice}")
    return name in metric.scorer.values


def computed_values(name: str, metric: Any) -> dict[str, Any]:
    """Return what a metric, also of another package, computes, under names that begin with ``name``."""
    return rename_values(name, metric.compute(), metric.scorer if _is_ours(metric) else None)


def refuse_shared_names(metrics: Mapping[str, Any]) -> None:
    """Raise ValueError if two metrics of this package would write the same name."""
    refuse_equal_names(
        (name, rename_values(name, dict.fromkeys(_value_names(metric)), metric.scorer) if _is_ours(metric) else [name])
        for name, metric in metrics.items()
    )


def copied(metrics: Metrics) -> torchmetrics.MetricCollection:
    """Return a collection of copies that share nothing: two values of one ROUGE would count each segment twice.

    Raises:
        ValueError: two metrics that would write one name.
    """
    # The names in a collection have its prefix.
    named: Any = dict(metrics.items()) if isinstance(metrics, (Mapping, torchmetrics.MetricCollection)) else metrics
    found: Any = torchmetrics.MetricCollection(named).items(copy_state=False)
    copies = {name: metric.clone() for name, metric in found}
    refuse_shared_names(copies)
    return torchmetrics.MetricCollection(copies)


def _is_ours(metric: object) -> bool:
    return isinstance(getattr(metric, "scorer", None), Scorer)


def _value_names(metric: Any) -> list[str]:
    """Return the names of a metric's values and of the ends of their intervals."""
    ends = ("",) if metric.confidence is None else ("", *ENDS)
    return [f"{name}{end}" for end in ends for name in metric.scorer.values]
