"""One of several values that a metric computes, such as ``rouge["rougeL_fmeasure"]``, in either framework."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ngram_metrics._core.basics.option_checks import Average
from ngram_metrics._core.scoring.scorer import Scorer

if TYPE_CHECKING:
    import torch
    from torch import Tensor


class Item:
    """One value of a metric that computes several, such as ``rouge["rougeL_fmeasure"]``, in either framework."""

    if TYPE_CHECKING:  # torch.jit.script cannot read it
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
        """The metric of this value, without its counts."""
        return self.whole.scorer.item(self.value)

    @property
    def average(self) -> Average:
        """How segments become one score."""
        return self.whole.average

    @property
    def device(self) -> torch.device:
        """Where the counts of the metric are."""
        return self.whole.device

    @property
    def signature(self) -> str:
        """The signature of the metric."""
        return self.whole.signature

    def has_one_reference(self) -> bool:
        """Return whether each segment of all processes has exactly one reference."""
        return self.whole.has_one_reference()

    def segment_rows(self) -> Tensor:
        """Return the counts of each segment for this value, or raise as the metric's ``segment_rows`` does."""
        return self.whole.scorer.item_rows(self.value, self.whole.segment_rows())


def whole_metric(metric: Any) -> Any:
    """Return the metric with all values, from this metric or from one of its values."""
    return metric.whole if isinstance(metric, Item) else metric


def is_ours(metric: object) -> bool:
    """Return whether an object is a metric of this package, or one value of such a metric."""
    return isinstance(getattr(metric, "scorer", None), Scorer)


def value_names(metric: Any) -> list[str]:
    """Return the names of all values that a metric computes."""
    return [f"{name}{suffix}" for suffix in metric.suffixes for name in metric.scorer.values]


def computes_several(metric: Any) -> bool:
    """Return whether a metric computes several values or an interval, as a dict."""
    return len(metric.scorer.values) > 1 or metric.suffixes != ("",)


def is_scored_value(metric: Any, index: object) -> bool:
    """Return whether an index names one of several values. Raise KeyError if it names nothing."""
    if not computes_several(metric):
        if metric.average == "none" and not isinstance(index, str):
            return False
        raise KeyError(f"{index!r} is not a value of this metric, which computes a single value without a name")
    names = value_names(metric)
    if index not in names:
        headline = metric.scorer.titles.get(str(index))  # F of a key of ROUGE
        advice = f"did you mean {headline!r}?" if headline in names else f"expected one of {names}"
        raise KeyError(f"{index!r} is not a value of this metric: {advice}")
    return len(metric.scorer.values) > 1 and index in metric.scorer.values
