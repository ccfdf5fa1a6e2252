"""The table of the metrics: the name of each in the registry, its class for torchmetrics, and its function.

tests/_core/metrics/test_registry.py holds that every public metric class is in it.
"""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore
from ngram_metrics._core.metrics.registry import REGISTRY
from ngram_metrics._core.scoring.scorer import MetricEntry
from ngram_metrics.functional import bleu_score, chrf_score, ngram_overlap, rouge_score

#: What a class or a function has beside the options of the metric.
INPUT = {"preds", "target"}
OF_FRAMEWORKS = {"device", "confidence", "output_transform", "metrics_result_mode"}


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
    """Where a metric is called."""

    name: str
    metric: Any
    function: Callable[..., Any]

    @property
    def entry(self) -> MetricEntry:
        return REGISTRY[self.name]

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


COMPLETE = [
    Api("bleu", Bleu, bleu_score),
    Api("rouge", ROUGEScore, rouge_score),
    Api("chrf", ChrF, chrf_score),
    Api("overlap", NgramOverlap, ngram_overlap),
]
#: The same by their names.
APIS = {api.name: api for api in COMPLETE}
#: The names of the classes that score by themselves; GroupedMetric takes one of them.
METRICS = [api.metric.__name__ for api in COMPLETE]
#: The function of each class.
FUNCTIONS: dict[type, Callable[..., Any]] = {api.metric: api.function for api in COMPLETE}
