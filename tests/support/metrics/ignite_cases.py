"""The table of all metrics for ignite: those of metrics/cases.py, and those that are ignite's alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ignite.metrics
import pytest
from covering import grid
from metrics.cases import CASES, IDS, KINDS_OF_STATE, MORE_PADDING, PADDED, TEXT, Batch, Case, assert_same, joined
from torch import Tensor

from ngram_metrics import Bleu
from ngram_metrics import ignite as for_ignite


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
    """

    name: str
    metric: type[ignite.metrics.Metric]
    batches: tuple[Batch, ...]
    options: Mapping[str, Any]
    others: tuple[Mapping[str, Any], ...]
    case: Case | None = None
    average: str = "macro"

    def make(self, **options: Any) -> Any:
        return self.metric(**{**self.options, **options})

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
        if self.average == "none" or (self.metric, self.average, type(value)) == (for_ignite.Bleu, "macro", Tensor):
            return value
        return {name: float(one) for name, one in value.items()} if isinstance(value, Mapping) else float(value)


IGNITE_CASES = (
    *(
        IgniteCase(
            f"{case.name}-{average}",
            getattr(for_ignite, case.metric.__name__),
            case.batches,
            {**case.options, "average": average},
            case.others,
            case,
            average,
        )
        for case in CASES
        for average in case.tried
        if (case.metric, average) != (Bleu, "none")  # as in ignite, there is none
    ),
    IgniteCase("Rouge-text", for_ignite.Rouge, TEXT, {"variants": [1, 2, "L"], "alpha": 0.5}, ({"alpha": 0.4},)),
    IgniteCase("RougeN-text", for_ignite.RougeN, TEXT, {"ngram": 2, "multiref": "best"}, ({"ngram": 1},)),
    IgniteCase("RougeL-ids", for_ignite.RougeL, IDS, {"alpha": 0.3, **PADDED}, (MORE_PADDING,)),
    IgniteCase("RougeL-text", for_ignite.RougeL, TEXT, {"multiref": "best"}, ({"multiref": "average"},)),
)
_PARAMS = [pytest.param(ignite_case, id=ignite_case.name) for ignite_case in IGNITE_CASES]
each_kind_of_state = pytest.mark.parametrize(
    "ignite_case", [param for param in _PARAMS if param.id in (*KINDS_OF_STATE, "Rouge-text")]
)
each_ignite_case = grid("ignite_case", _PARAMS)


def assert_equal(value: Any, expected: Any) -> None:
    """Equal to 1e-12 and of the same types."""
    assert type(value) is type(expected)
    assert_same(value, expected)
