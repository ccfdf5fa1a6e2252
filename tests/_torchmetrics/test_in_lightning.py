"""A real run of Lightning's Trainer gives the same numbers in every precision, epoch after epoch."""

from pathlib import Path
from typing import Any

import pytest
import torch
from metrics.cases import CASES, Batch, Case, assert_same, joined
from metrics.trainers import Batches, Model, trainer
from torchmetrics import MetricCollection

#: Metrics of one value on one kind of input go into one collection: Lightning logs numbers.
KINDS: dict[str, list[Case]] = {
    kind: [case for case in CASES if case.batches is CASES[first].batches and "confidence" not in case.options]
    for kind, first in (("text", 0), ("ids", 1))
}


def _collection(kind: str) -> MetricCollection:
    pairs = [(case, average) for case in KINDS[kind] for average in case.averages if average != "none"]
    return MetricCollection({f"{case.name}-{average}": case.make(average) for case, average in pairs})


def _expected(kind: str, batches: tuple[Batch, ...]) -> dict[str, Any]:
    collection = _collection(kind)
    collection.update(*joined(batches))
    return collection.compute()


class _Model(Model):
    """As in docs and examples: update per step, log and reset at the end of the epoch."""

    def __init__(self, kind: str) -> None:
        super().__init__(_collection(kind), KINDS[kind][0].make("macro"))
        self.dtypes: list[torch.dtype] = []

    def training_step(self, batch: torch.Tensor, index: int) -> torch.Tensor:
        return self.layer(batch).sum()

    def validation_step(self, batch: Batch, index: int) -> None:
        # In bf16-mixed this product is of bfloat16, so autocast is on.
        self.dtypes.append(self.layer(torch.ones(1, 4, dtype=self.layer.weight.dtype)).dtype)
        self.count(batch)

    def on_validation_epoch_end(self) -> None:
        self.log_dict(self.note(self.metrics))


@pytest.mark.parametrize(("kind", "precision"), [("text", "bf16-mixed"), ("ids", "bf16-true")])
def test_every_validation_epoch_of_a_fit_logs_the_exact_values(kind: str, precision: str, tmp_path: Path):
    model, batches = _Model(kind), KINDS[kind][0].batches
    fitting = trainer(tmp_path, precision=precision, max_epochs=2, num_sanity_val_steps=1)
    fitting.fit(model, Batches([torch.ones(2, 4)]), Batches(batches))
    assert set(model.dtypes) == {torch.bfloat16}

    sanity, first, second = model.values
    assert_same(sanity, _expected(kind, batches[:1]))
    assert_same(first, _expected(kind, batches))
    assert_same(second, first)
    logged = {name: value for name, value in fitting.callback_metrics.items() if name != "alone"}
    assert logged.keys() == first.keys()
    for name, value in logged.items():
        assert float(value) == pytest.approx(float(first[name]), abs=1e-6)
    alone = float(KINDS[kind][0].value("macro"))
    assert float(fitting.callback_metrics["alone"]) == pytest.approx(alone, abs=1e-6)
