"""The values of metrics: one of several values as a metric of its own, and the names under which values are written."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import torch
import torchmetrics
from torch import Tensor

from ngram_metrics._core.basics.option_checks import Average, refuse_equal_names
from ngram_metrics._core.scoring.scorer import Scorer, rename_values
from ngram_metrics._core.text.input_types import Hypotheses, References
from ngram_metrics._torchmetrics.compositions import Composition

#: Metrics as the classes of this package take them.
Metrics: TypeAlias = (
    torchmetrics.Metric
    | Sequence[torchmetrics.Metric]
    | Mapping[str, torchmetrics.Metric]
    | torchmetrics.MetricCollection
)


class Item:
    """One value of a metric that computes several, such as ``rouge["rougeL_fmeasure"]``, in either framework."""

    #: The metric with all values.
    whole: Any
    #: The name of this one.
    value: str
    #: The interval has two values of its own.
    suffixes = ("",)

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
        """Where the states of the metric are."""
        return self.whole.device

    @property
    def signature(self) -> str:
        """The signature of the metric."""
        return self.whole.signature

    def has_one_reference(self) -> bool:
        """Return whether each segment of all processes has exactly one reference."""
        result: bool = self.whole.has_one_reference()
        return result

    def segment_rows(self) -> Tensor:
        """Return the counts of each segment for this value, or raise as the metric's ``segment_rows`` does."""
        return self.whole.scorer.item_rows(self.value, self.whole.segment_rows())


class NamedValue(Composition):
    """One value of a metric that computes several, such as ``chrf["chrf_low"]``. Both share their states."""

    higher_is_better = True

    if TYPE_CHECKING:  # torchmetrics declares them for any metric

        def __call__(self, preds: Hypotheses, target: References) -> Tensor: ...
        def compute(self) -> Tensor: ...
        def update(self, preds: Hypotheses, target: References) -> None: ...

    def __init__(self, whole: torchmetrics.Metric, value: str) -> None:
        super().__init__(operator.itemgetter(value), whole, None)
        self.value = value

    @property
    def whole(self) -> Any:
        """The metric with all values."""
        return self.metric_a

    __repr__ = Item.__repr__


class ScoredValue(Item, NamedValue):
    """One value that segments can be scored by, unlike the end of an interval: ``rouge["rougeL_fmeasure"]``."""


def computes_several(metric: Any) -> bool:
    """Return whether a metric computes several values or an interval, as a dict."""
    return len(metric.scorer.values) > 1 or metric.suffixes != ("",)


def is_scored_value(metric: Any, index: object) -> bool:
    """Return whether an index names one of several values. Raise KeyError if it names nothing."""
    if not computes_several(metric):
        if metric.average == "none" and not isinstance(index, str):
            return False
        raise KeyError(f"{index!r} is not a value of this metric, which computes a single value without a name")
    names = _value_names(metric)
    if index not in names:
        headline = metric.scorer.titles.get(str(index))  # F of a key of ROUGE
        advice = f"did you mean {headline!r}?" if headline in names else f"expected one of {names}"
        raise KeyError(f"{index!r} is not a value of this metric: {advice}")
    return len(metric.scorer.values) > 1 and index in metric.scorer.values


def computed_values(name: str, metric: Any) -> dict[str, Any]:
    """Return what a metric of any package computes, under names that begin with ``name``."""
    return rename_values(name, metric.compute(), metric.scorer if is_ours(metric) else None)


def refuse_shared_names(metrics: Mapping[str, Any]) -> None:
    """Raise ValueError if two metrics of this package would write the same name."""
    refuse_equal_names(
        (name, rename_values(name, dict.fromkeys(_value_names(metric)), metric.scorer) if is_ours(metric) else [name])
        for name, metric in metrics.items()
    )


def copy_metrics(metrics: Metrics) -> torchmetrics.MetricCollection:
    """Return a collection of copies in the order given. Raise ValueError if two metrics would write one name."""
    # Copies, because two values of one ROUGE would count each segment twice.
    # The names in a collection begin with its prefix.
    named: Any = dict(metrics.items()) if isinstance(metrics, (Mapping, torchmetrics.MetricCollection)) else metrics
    collected: Any = dict(torchmetrics.MetricCollection(named).items(copy_state=False))
    names = named if isinstance(named, dict) and named.keys() == collected.keys() else collected
    copies = {name: collected[name].clone() for name in names}
    refuse_shared_names(copies)
    collection = torchmetrics.MetricCollection({})
    for name, metric in copies.items():  # a collection sorts the names of a dict
        collection.add_metrics({name: metric})
    return collection


def is_ours(metric: object) -> bool:
    """Return whether an object is a metric of this package, or one value of such."""
    return isinstance(getattr(metric, "scorer", None), Scorer)


def _value_names(metric: Any) -> list[str]:
    """Return the names of all values that a metric computes."""
    return [f"{name}{suffix}" for suffix in metric.suffixes for name in metric.scorer.values]
