"""The metrics of the registry, and where each is called: found in the code and the signatures of the package.

A metric has a class for torchmetrics, one for ignite, and a function, all of which call the function that makes it.
None stands for what is missing, which tests/_core/metrics/test_registry.py names.
"""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import ngram_metrics
from ngram_metrics import functional
from ngram_metrics._core.metrics.registry import REGISTRY
from ngram_metrics._core.scoring.scorer import MetricEntry

#: What a class or a function has beside the options of the metric.
INPUT = {"preds", "target"}
OF_FRAMEWORKS = {"device", "confidence", "output_transform", "metrics_result_mode"}
#: The names of the classes that score by themselves; GroupedMetric takes one of them.
METRICS = [name for name in ngram_metrics.__all__ if name not in ("GroupedMetric", "evaluate", "Evaluation")]


def options(function: Callable[..., Any]) -> dict[str, Any]:
    """The options of the metric and their defaults in a signature."""
    parameters = inspect.signature(function).parameters.values()
    assert all(parameter.kind is not parameter.VAR_POSITIONAL for parameter in parameters)
    return {
        parameter.name: parameter.default
        for parameter in parameters
        if parameter.kind is not parameter.VAR_KEYWORD and parameter.name not in INPUT | OF_FRAMEWORKS
    }


class Api(NamedTuple):
    """A metric by its name in the registry, its class for torchmetrics, and its function of ``functional``."""

    name: str
    entry: MetricEntry
    metric: Any
    function: Any

    @property
    def options(self) -> dict[str, Any]:
        """The options of the metric and their defaults."""
        return options(self.entry.make)

    @property
    def flags(self) -> list[str]:
        """The options that are True or False."""
        return [
            parameter.name
            for parameter in inspect.signature(self.entry.make).parameters.values()
            if parameter.annotation in ("bool", "bool | None")
        ]


def _caller(make: Callable[..., Any], candidates: list[Any]) -> Any:
    """The class or function that calls the function that makes a metric; of several that with most of its options."""
    bodies = {one: one.__init__ if isinstance(one, type) else inspect.unwrap(one) for one in candidates}
    callers = [one for one, body in bodies.items() if make.__name__ in body.__code__.co_names]
    return max(callers, key=lambda one: len(options(one).keys() & options(make).keys()), default=None)


_CLASSES = [getattr(ngram_metrics, name) for name in METRICS]
_FUNCTIONS = [getattr(functional, name) for name in functional.__all__]
#: The metrics by name. chrF++ is chrF with another option.
APIS = {
    name: Api(name, entry, _caller(entry.make, _CLASSES), _caller(entry.make, _FUNCTIONS))
    for name, entry in REGISTRY.items()
    if not entry.options
}
#: Those that tests can call, of which no part is missing.
COMPLETE = [api for api in APIS.values() if api.metric and api.function]
#: The function of each class.
FUNCTIONS: dict[type, Callable[..., Any]] = {api.metric: api.function for api in COMPLETE}
