"""The values of metrics: one of several values as a separate metric, and the names under which values are written."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import torch
import torchmetrics
from torch import Tensor
from torchmetrics.metric import CompositionalMetric

from ngram_metrics._core.basics.option_checks import refuse_equal_names
from ngram_metrics._core.scoring.items import Item, is_ours, value_names
from ngram_metrics._core.scoring.scorer import rename_values
from ngram_metrics._core.text.input_types import Hypotheses, References
from ngram_metrics._torchmetrics.plots import plot_values
from ngram_metrics._torchmetrics.states import STATES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Metrics as the classes of this package take them.
Metrics: TypeAlias = (
    torchmetrics.Metric
    | Sequence[torchmetrics.Metric]
    | Mapping[str, torchmetrics.Metric]
    | torchmetrics.MetricCollection
)


class NamedValue(CompositionalMetric):
    """One value of a metric that computes several, such as ``chrf["chrf_low"]``. Both share their counts.

    torchmetrics' compositions have no states, so ``Running`` refuses them and ``merge_state`` loses counts. This class
    has the states of the metric.
    """

    higher_is_better = True
    full_state_update = False

    #: Properties that torch.jit.script must not compile.
    __jit_unused_properties__: ClassVar[list[str]] = [
        *torchmetrics.Metric.__jit_unused_properties__,
        *("whole", "scorer", "average", "device", "signature"),
    ]

    if TYPE_CHECKING:  # torchmetrics declares them for any metric

        def __call__(self, preds: Hypotheses, target: References) -> Tensor: ...
        def compute(self) -> Tensor: ...
        def update(self, preds: Hypotheses, target: References) -> None: ...

    def __init__(self, whole: torchmetrics.Metric, value: str) -> None:
        super().__init__(operator.itemgetter(value), whole, None)
        self.value = value
        self._defaults = whole._defaults
        self._reductions = whole._reductions
        self._persistent = dict.fromkeys(whole._defaults, False)  # the metric saves them

    @property
    def whole(self) -> Any:
        """The metric with all values."""
        return self.metric_a

    def __getattr__(self, name: str) -> Any:
        return getattr(self.whole, name) if name in STATES else super().__getattr__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in STATES:
            setattr(self.whole, name, value)
        else:
            super().__setattr__(name, value)

    @torch.jit.unused
    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Count a batch, and return the value of this batch."""
        return super().forward(*args, **kwargs).clone()  # torchmetrics would return what it keeps

    def plot(self, val: Any = None, ax: Axes | None = None) -> tuple[Figure, Axes]:
        """Plot the value, see ``Bleu.plot``."""
        return plot_values(self.compute() if val is None else val, self.value, ax)

    def _reduce_states(self, incoming_state: dict[str, Any]) -> None:
        self.whole._reduce_states(incoming_state)

    def _copy_state_dict(self) -> dict[str, Any]:
        return self.whole._copy_state_dict()

    def _apply(self, fn: Any, exclude_state: Sequence[str] = "") -> Any:
        return super()._apply(fn, (*exclude_state, *self._defaults))

    def __hash__(self) -> int:
        return id(self)  # as that of the metric

    __repr__ = Item.__repr__


class ScoredValue(Item, NamedValue):
    """One value that segments can be scored by, unlike the end of an interval: ``rouge["rougeL_fmeasure"]``."""


def computed_values(name: str, metric: Any) -> dict[str, Any]:
    """Return what a metric of any package computes, under names that begin with ``name``."""
    return rename_values(name, metric.compute(), metric.scorer if is_ours(metric) else None)


def refuse_shared_names(metrics: Mapping[str, Any]) -> None:
    """Raise ValueError if two metrics of this package would write the same name."""
    refuse_equal_names(
        (name, rename_values(name, dict.fromkeys(value_names(metric)), metric.scorer) if is_ours(metric) else [name])
        for name, metric in metrics.items()
    )


def copy_metrics(metrics: Metrics) -> torchmetrics.MetricCollection:
    """Return a collection of copies in the order given.

    Raises:
        TypeError: a name or a class instead of a metric.
        ValueError: two metrics that would write one name.
    """
    if isinstance(metrics, str):
        raise TypeError(f"metrics is {metrics!r}: expected metric objects, such as Bleu() or {{'bleu': Bleu()}}")
    # Copies, because two values of one ROUGE would count each segment twice.
    # The names in a collection begin with its prefix.
    named: Any = dict(metrics.items()) if isinstance(metrics, (Mapping, torchmetrics.MetricCollection)) else metrics
    _refuse_classes(named)
    collected: Any = dict(torchmetrics.MetricCollection(named).items())
    names = named if isinstance(named, dict) and named.keys() == collected.keys() else collected
    copies = {name: collected[name].clone() for name in names}
    refuse_shared_names(copies)
    collection = torchmetrics.MetricCollection({})
    for name, metric in copies.items():  # a collection sorts the names of a dict
        collection.add_metrics({name: metric})
    return collection


def _refuse_classes(metrics: Any) -> None:
    """Raise TypeError for a class in place of one of its objects. torchmetrics' own error names a private module."""
    parts = [metrics]
    if isinstance(metrics, dict):
        parts = list(metrics.values())
    elif isinstance(metrics, (list, tuple)):
        parts = list(metrics)
    for part in parts:
        if isinstance(part, type):
            name = part.__name__
            raise TypeError(f"metrics has the class {name}: expected metric objects, such as {name}()")
