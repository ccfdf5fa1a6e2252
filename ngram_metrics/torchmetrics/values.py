"""The names under which the values of several metrics are written, and metrics that are copied to be written so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import torchmetrics

from ngram_metrics.scores.measure import Measure
from ngram_metrics.scores.one_value import value_names
from ngram_metrics.scores.options import refuse_equal_names

#: Metrics as the classes of this package take them.
Metrics: TypeAlias = (
    torchmetrics.Metric
    | Sequence[torchmetrics.Metric]
    | Mapping[str, torchmetrics.Metric]
    | torchmetrics.MetricCollection
)


def values_by_name(name: str, value: Any, score_name: str = "") -> dict[str, Any]:
    """Return what a metric computed, under names that begin with ``name`` and do not depend on other metrics.

    Args:
        name: the name of a single value; several values are ``<name>_<value>``, such as those of ROUGE.
        value: what ``compute`` returned.
        score_name: the metric's ``score_name``, which ``name`` replaces, as in ``<name>_low``.
    """
    if not isinstance(value, dict):
        return {name: value}
    return {name + (key.removeprefix(score_name) if score_name else f"_{key}"): part for key, part in value.items()}


def refuse_shared_names(metrics: Mapping[str, Any]) -> None:
    """Raise ValueError if two metrics of this package would write one name; of others, the values are not yet known."""
    refuse_equal_names([(name, _names(name, metric)) for name, metric in metrics.items()])


def _names(name: str, metric: Any) -> list[str]:
    if not isinstance(getattr(metric, "measure", None), Measure):
        return [name]
    return list(values_by_name(name, dict.fromkeys(value_names(metric)), metric.score_name))


def copied(metrics: Metrics) -> torchmetrics.MetricCollection:
    """Return a collection of copies that share nothing: two values of one ROUGE would count each sentence twice.

    Raises:
        ValueError: two metrics that would write one name.
    """
    # The names in a collection have its prefix.
    named: Any = dict(metrics.items()) if isinstance(metrics, (Mapping, torchmetrics.MetricCollection)) else metrics
    found: Any = torchmetrics.MetricCollection(named).items(copy_state=False)
    copies = {name: metric.clone() for name, metric in found}
    refuse_shared_names(copies)
    return torchmetrics.MetricCollection(copies)
