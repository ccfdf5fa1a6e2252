"""Arithmetic of metrics, such as ``100 * Bleu()``: torchmetrics' compositions, with states that can be merged."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

import torch
import torchmetrics
from torch import Tensor
from torchmetrics.metric import CompositionalMetric
from torchmetrics.utilities import dim_zero_cat

from ngram_metrics._core.basics.tensors import host_counts
from ngram_metrics._torchmetrics.adaptor import Adaptor, copy_value
from ngram_metrics._torchmetrics.plots import plot_values
from ngram_metrics._torchmetrics.states import State, list_rows, pack_states, unpack_states

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The bytes before the packed states of a metric: two int64.
_HEADER = 16


class Composable:
    """The operators of ``torchmetrics.Metric``, which here make a ``Composition``."""


class Composition(Composable, CompositionalMetric):
    """The result of an operator on one or two metrics.

    torchmetrics' compositions have no states, so ``Running`` refuses them and ``merge_state`` loses counts. If all
    metrics are of this package, the state ``packed`` has the states of each as bytes. Before these come the address of
    this object, because a ``MetricCollection`` joins compositions with equal states, and the number of bytes.
    """

    #: The name of the value in plots.
    value = "score"

    def __init__(self, operator: Callable[..., Any], metric_a: Any, metric_b: Any) -> None:
        super().__init__(operator, metric_a, metric_b)
        if self.full_state_update is False:
            self._defaults["packed"], self._reductions["packed"], self._persistent["packed"] = [], dim_zero_cat, False

    @property
    def full_state_update(self) -> bool | None:  # type: ignore[override]
        """False if all metrics are of this package, else None."""
        return False if all(isinstance(metric, Adaptor) for metric in self._metrics) else None

    @property
    def packed(self) -> list[Tensor]:
        """The states of each metric."""
        packed = []
        for metric in self._metrics:
            states = pack_states(metric.saved_states(), metric.row.device)
            header = host_counts((id(self), len(states))).view(torch.uint8)
            packed.append(torch.cat((header.to(states.device), states)))
        return packed

    @property
    def _metrics(self) -> list[Any]:
        metrics = [module for module in self.modules() if isinstance(module, torchmetrics.Metric)]
        return [metric for metric in metrics if not isinstance(metric, CompositionalMetric)]

    def _reduce_states(self, incoming_state: Mapping[str, State]) -> None:
        """Add packed states. Those of several ranks follow one another."""
        parts = list_rows(incoming_state["packed"])
        packed = torch.cat(parts) if parts else host_counts(())
        for metric in cycle(self._metrics):
            if not len(packed):
                return
            stop = _HEADER + int(packed[:_HEADER].clone().view(torch.int64)[1])
            states = unpack_states(packed[_HEADER:stop], metric.saved_defaults())
            metric.merge_state({**states, "callables": metric.callables})
            packed = packed[stop:]

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Count a batch, and return the value of this batch."""
        return copy_value(super().forward(*args, **kwargs))

    def plot(self, val: Any = None, ax: Axes | None = None) -> tuple[Figure, Axes]:
        """Plot the value, see ``Bleu.plot``."""
        return plot_values(self.compute() if val is None else val, self.value, ax)

    def _apply(self, fn: Callable[[Tensor], Tensor], exclude_state: Sequence[str] = "") -> Any:
        """Apply moves to the metrics, which have the states."""
        return super()._apply(fn, (*exclude_state, "packed"))

    def __hash__(self) -> int:
        # Metric.__hash__ hashes the states, but each access packs them into a new tensor.
        return id(self)


def _composing(name: str) -> Callable[..., Composition]:
    """Return the operator of ``torchmetrics.Metric`` with this name, changed to make a ``Composition``."""
    combine = getattr(torchmetrics.Metric, name)

    @functools.wraps(combine)
    def compose(self: torchmetrics.Metric, *others: Any) -> Composition:
        combined = combine(self, *others)
        return Composition(combined.op, combined.metric_a, combined.metric_b)

    return compose


for _name, _function in vars(torchmetrics.Metric).items():
    if "CompositionalMetric" in str(getattr(_function, "__annotations__", {}).get("return")):
        setattr(Composable, _name, _composing(_name))
