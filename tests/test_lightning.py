"""A real run of Lightning's Trainer gives the same numbers in every precision, epoch after epoch."""

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from faces.cases import CASES, PADDING, Batch, assert_same, joined
from torchmetrics import MetricCollection

with warnings.catch_warnings():
    # Lightning's own imports use what others deprecate.
    warnings.simplefilter("ignore")
    from lightning.pytorch import LightningModule, Trainer

#: Metrics on one kind of input go into one collection.
KINDS = {
    "text": [case for case in CASES if isinstance(case.batches[0][0], list)],
    "ids": [case for case in CASES if isinstance(case.batches[0][0], torch.Tensor)],
}


def _collection(kind: str) -> MetricCollection:
    return MetricCollection(
        {
            f"{case.name}-{average}": case.make(average)
            for case in KINDS[kind]
            for average in case.averages
            if average != "none"  # Lightning logs numbers
        }
    )


def _expected(kind: str, batches: tuple[Batch, ...]) -> dict[str, Any]:
    collection = _collection(kind)
    collection.update(*joined(batches))
    return collection.compute()


class _Batches:
    """A loader without workers, of which Lightning would warn; a list it takes for several loaders."""

    def __init__(self, batches: Sequence[Any]) -> None:
        self.batches = batches

    def __iter__(self) -> Iterator[Any]:
        return iter(self.batches)

    def __len__(self) -> int:
        return len(self.batches)


class _Model(LightningModule):
    """As in docs and examples: update per step, log and reset at the end of the epoch."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
        self.metrics = _collection(kind)
        self.alone = KINDS[kind][0].make("macro")
        self.values: list[dict[str, Any]] = []
        self.dtypes: list[torch.dtype] = []

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def training_step(self, batch: torch.Tensor, index: int) -> torch.Tensor:
        return self.layer(batch).sum()

    def validation_step(self, batch: Batch, index: int) -> None:
        # In bf16-mixed this product is of bfloat16, so autocast is on.
        self.dtypes.append(self.layer(torch.ones(1, 4, dtype=self.layer.weight.dtype)).dtype)
        self.metrics.update(*batch)
        self.alone.update(*batch)
        self.log("alone", self.alone, on_step=False, on_epoch=True, batch_size=1)

    def on_validation_epoch_end(self) -> None:
        values = self.metrics.compute()
        self.log_dict(values)
        self.metrics.reset()
        self.values.append(values)


def _trainer(folder: Path, precision: str, **options: Any) -> Trainer:
    return Trainer(
        accelerator="cpu",
        devices=1,
        precision=precision,
        default_root_dir=folder,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        **options,
    )


precisions = pytest.mark.parametrize(
    ("precision", "dtype"),
    [("32", torch.float32), ("bf16-mixed", torch.bfloat16), ("bf16-true", torch.bfloat16)],
    ids=["32", "bf16-mixed", "bf16-true"],
)
kinds = pytest.mark.parametrize("kind", KINDS)


@precisions
@kinds
def test_every_validation_epoch_of_a_fit_logs_the_exact_values(
    kind: str, precision: str, dtype: torch.dtype, tmp_path: Path
):
    model, batches = _Model(kind), KINDS[kind][0].batches
    trainer = _trainer(tmp_path, precision, max_epochs=2, num_sanity_val_steps=1)
    trainer.fit(model, _Batches([torch.ones(2, 4)]), _Batches(batches))
    assert set(model.dtypes) == {dtype}

    sanity, first, second = model.values
    assert_same(sanity, _expected(kind, batches[:1]))
    assert_same(first, _expected(kind, batches))
    assert_same(second, first)
    logged = {name: value for name, value in trainer.callback_metrics.items() if name != "alone"}
    assert logged.keys() == first.keys()
    for name, value in logged.items():
        assert float(value) == pytest.approx(float(first[name]), abs=1e-6)
    alone = float(KINDS[kind][0].value("macro"))
    assert float(trainer.callback_metrics["alone"]) == pytest.approx(alone, abs=1e-6)


@precisions
def test_validate_returns_the_values(precision: str, dtype: torch.dtype, tmp_path: Path):
    model, batches = _Model("ids"), KINDS["ids"][0].batches
    assert any(PADDING in preds for preds, _ in batches)
    (returned,) = _trainer(tmp_path, precision).validate(model, _Batches(batches), verbose=False)
    expected = {name: float(value) for name, value in _expected("ids", batches).items()}
    expected["alone"] = float(KINDS["ids"][0].value("macro"))
    assert returned == pytest.approx(expected, abs=1e-6)
    assert set(model.dtypes) == {dtype}
