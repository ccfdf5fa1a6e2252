"""The table of all metrics for ignite: those of metrics/cases.py, and those that are ignite's alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from metrics.cases import IDS, KINDS_OF_STATE, MORE_PADDING, PADDED, PAIRS, TEXT, Batch, Case, joined

pytest.importorskip("ignite", reason="its metrics are tested")

from ngram_metrics import ignite as for_ignite
from ngram_metrics.ignite import drop_in


@dataclass(frozen=True)
class IgniteCase:
    """A class for ignite under settings, and data.

    Attributes:
        name: names it in a test's id.
        metric: the class.
        batches: as those of a case.
        options: the settings.
        others: changes of the settings under which states are not exchanged.
        case: the same class for torchmetrics; None for what is ignite's alone.
        average: that of the case.
        is_default: whether it runs by default, or if slow tests run too.
    """

    name: str
    metric: Any
    batches: tuple[Batch, ...]
    options: Mapping[str, Any]
    others: tuple[Mapping[str, Any], ...]
    case: Case | None = None
    average: str = "macro"
    is_default: bool = False

    def make(self, **options: Any) -> Any:
        settings = {**self.options, **options}
        return self.metric(**settings)

    def filled(self, batches: Sequence[Batch] | None = None, **options: Any) -> Any:
        """A metric that has seen the batches, by default all."""
        metric = self.make(**options)
        for batch in self.batches if batches is None else batches:
            metric.update(batch)
        return metric

    def value(self, batches: Sequence[Batch] | None = None) -> Any:
        """What it must compute of the batches: what the class for torchmetrics does, in ignite's types."""
        batches = self.batches if batches is None else batches
        if self.case is None:
            return self.filled([joined(batches)]).compute()
        value = self.case.value(self.average, batches)
        if self.average == "none":
            return value
        return {name: float(one) for name, one in value.items()} if isinstance(value, Mapping) else float(value)


def _of_case(name: str, case: Case, average: str) -> IgniteCase:
    options = {**case.options, "average": average}
    metric = getattr(for_ignite, case.metric.__name__)
    return IgniteCase(name, metric, case.batches, options, case.others, case, average, average in case.by_default)


IGNITE_CASES = (
    *(_of_case(name, *pair) for name, pair in PAIRS.items()),
    IgniteCase(
        "Rouge-text",
        drop_in.Rouge,
        TEXT,
        {"variants": [1, 2, "L"], "alpha": 0.5},
        ({"alpha": 0.4},),
        is_default=True,
    ),
    IgniteCase("RougeN-text", drop_in.RougeN, TEXT, {"ngram": 2, "multiref": "best"}, ({"ngram": 1},)),
    IgniteCase("RougeL-ids", drop_in.RougeL, IDS, {"alpha": 0.3, **PADDED}, (MORE_PADDING,)),
    IgniteCase("RougeL-text", drop_in.RougeL, TEXT, {"multiref": "best"}, ({"multiref": "average"},)),
)
IGNITE_KINDS_OF_STATE = [one for one in IGNITE_CASES if one.name in (*KINDS_OF_STATE, "Rouge-text")]
each_kind_of_state = pytest.mark.parametrize("ignite_case", IGNITE_KINDS_OF_STATE, ids=lambda one: one.name)


def named_ignite_cases(choose: Callable[[IgniteCase], bool] = lambda one: True) -> list[Any]:
    """The rows that are chosen, as parameters of a test."""
    return [
        pytest.param(one, id=one.name, marks=() if one.is_default else pytest.mark.slow)
        for one in IGNITE_CASES
        if choose(one)
    ]


each_ignite_case = pytest.mark.parametrize("ignite_case", named_ignite_cases())
#: Without the classes that only ignite has.
each_of_both_frameworks = pytest.mark.parametrize("ignite_case", named_ignite_cases(lambda one: one.case is not None))
