"""One value of a metric of several, such as ``rouge["rougeL_fmeasure"]``, wherever a metric is taken."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from ngram_metrics.counting.batch import Batch
from ngram_metrics.scores.measure import AnyMeasure, Measure, PairCounts
from ngram_metrics.scores.options import Average
from ngram_metrics.scores.resampling import ENDS
from ngram_metrics.scores.rouge import MeanRougeMeasure, RougeMeasure
from ngram_metrics.scores.rows import Layout, pack, unpack


def score_places(metric: Any) -> dict[str, int]:
    """Return the names of a metric's values without their intervals, each with its place in a score of one row."""
    shape = metric.measure.score_shape
    places = torch.arange(math.prod(shape), device="cpu").reshape(shape)
    return {name: int(place) for name, place in metric.named_scores(places).items()}


def value_names(metric: Any) -> list[str]:
    """Return the names of a metric's values and of the ends of their intervals."""
    ends = ("",) if metric.confidence is None else ("", *ENDS)
    return [f"{name}{end}" for end in ends for name in score_places(metric)]


def is_score(metric: Any, name: object) -> bool:
    """Return whether a name is that of a score, and not of the end of an interval.

    Raises:
        KeyError: the metric has no value with this name.
    """
    if name not in value_names(metric):
        raise KeyError(f"{name!r} is no value of this metric: expected one of {value_names(metric)}")
    return name in score_places(metric)


@dataclass(frozen=True)
class ValueMeasure(Measure[Any]):
    """One value of ROUGE.

    Attributes:
        key: ROUGE of one key.
        column: 0 for precision, 1 for recall, 2 for F.
    """

    key: RougeMeasure | MeanRougeMeasure
    column: int

    @property
    def layout(self) -> Layout[Any]:
        """The width of each field in a row."""
        return self.key.layout

    @property
    def row_dtype(self) -> torch.dtype:
        """The dtype of a row."""
        return self.key.row_dtype

    def statistics(self, batch: Batch) -> Any:
        """Count a batch: one row per sentence."""
        return self.key.statistics(batch)

    def score(self, statistics: Any) -> Tensor:
        """Return the value, in 0..1, for statistics of any leading shape."""
        return self.key.score(statistics)[..., 0, self.column]

    def signature(self) -> dict[str, str]:
        """Return the settings."""
        return self.key.signature()

    @property
    def pair_orders(self) -> tuple[int, ...]:
        """The order of the key."""
        return self.key.pair_orders

    def pair_statistics(self, *counts: PairCounts) -> Any:
        """Return the statistics of pairs."""
        return self.key.pair_statistics(*counts)


class Value:
    """What a metric of one value has in both frameworks: all that is read from a metric without its states.

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
    def _place(self) -> tuple[int, int]:
        """The number of the key, and the column."""
        return divmod(score_places(self.whole)[self.value], 3)

    @property
    def measure(self) -> AnyMeasure:
        """The counts and the formula."""
        key, column = self._place
        return ValueMeasure(replace(self.whole.measure, variants=self.whole.measure.variants[key : key + 1]), column)

    @property
    def reader(self) -> Any:
        """How text is read."""
        return self.whole.reader

    @property
    def average(self) -> Average:
        """How the sentences become one score."""
        average: Average = self.whole.average
        return average

    @property
    def device(self) -> torch.device:
        """Where text is counted."""
        device: torch.device = self.whole.device
        return device

    @property
    def settings(self) -> Tensor:
        """The settings of the metric and the value, uint8."""
        settings: Tensor = self.whole.settings
        return torch.cat((settings, torch.tensor(list(self.value.encode()), dtype=torch.uint8, device=settings.device)))

    @property
    def signature(self) -> str:
        """The signature of the metric."""
        signature: str = self.whole.signature
        return signature

    @property
    def score_name(self) -> str:
        """The name of the value."""
        return self.value

    def sentence_rows(self) -> Tensor:
        """Return the counts of each sentence for the key of this value; raises as the metric's ``sentence_rows``."""
        rows, (key, _) = self.whole.sentence_rows(), self._place
        fields = (field[..., key : key + 1] for field in unpack(rows, self.whole.measure.layout))
        return pack(tuple(fields), self.measure.layout)

    def named_scores(self, score: Tensor) -> dict[str, Tensor]:
        """Return scores ``(...)`` by the name of the value."""
        return {self.value: score}
