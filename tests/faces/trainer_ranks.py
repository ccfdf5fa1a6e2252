"""What two processes of tests/test_distributed.py do with a Trainer of Lightning, in the process group they are in."""

import os
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from typing import Any
from unittest import mock

import torch
from faces.cases import TEXT, Batch
from faces.ranks import TRAINER_ALONE, TRAINER_TRAINING, TRAINER_VALIDATION, chosen, collection
from torchmetrics import MetricCollection

with warnings.catch_warnings():
    # Lightning's own imports use what others deprecate.
    warnings.simplefilter("ignore")
    from lightning.pytorch import LightningModule, Trainer


class _Batches:
    """A loader without workers, of which Lightning would warn; a list it takes for several loaders."""

    def __init__(self, batches: Sequence[Batch]) -> None:
        self.batches = batches

    def __iter__(self) -> Iterator[Batch]:
        return iter(self.batches)

    def __len__(self) -> int:
        return len(self.batches)


class _Model(LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
        metrics = collection()
        self.training_metrics, self.validation_metrics = metrics, metrics.clone()
        self.alone = metrics[TRAINER_ALONE].clone()
        self.values: list[dict[str, torch.Tensor]] = []

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def training_step(self, batch: Batch, index: int) -> torch.Tensor:
        self.training_metrics.update(*batch)
        return self.layer(torch.ones(1, 4)).sum()

    def on_train_epoch_end(self) -> None:
        self._note(self.training_metrics)

    def validation_step(self, batch: Batch, index: int) -> None:
        preds, _ = batch
        if preds:  # else the metrics of this rank are never updated
            self.validation_metrics.update(*batch)
            self.alone.update(*batch)

    def on_validation_epoch_end(self) -> None:
        self._note(self.validation_metrics)
        self.log("alone", self.alone)

    def _note(self, metrics: MetricCollection) -> None:
        self.values.append({name: value.clone() for name, value in metrics.compute().items()})
        metrics.reset()


def run(rank: int) -> dict[str, Any]:
    """The values of each epoch: two of a fit, training after validation, and one of a validation."""
    # What torchrun sets: from it Lightning knows that the processes are started.
    launched = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": 2, "TORCHELASTIC_RUN_ID": "here", "MASTER_PORT": 1}
    model = _Model()

    def loader(numbers: Sequence[int]) -> _Batches:
        return _Batches(chosen(TEXT, numbers))

    with (
        mock.patch.dict(os.environ, {name: str(value) for name, value in launched.items()}),
        warnings.catch_warnings(),
        tempfile.TemporaryDirectory() as folder,
    ):
        warnings.simplefilter("ignore")  # metrics never updated; what Lightning itself deprecates
        trainer = Trainer(
            accelerator="cpu",
            devices=2,
            strategy="ddp",
            max_epochs=2,
            num_sanity_val_steps=0,
            default_root_dir=folder,
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
        )
        assert trainer.world_size == 2
        trainer.fit(model, loader(TRAINER_TRAINING[rank]), loader(TRAINER_VALIDATION["fit"][rank]))
        logged = [trainer.callback_metrics["alone"]]
        trainer.validate(model, loader(TRAINER_VALIDATION["validate"][rank]), verbose=False)
        logged.append(trainer.callback_metrics["alone"])
    return {"values": model.values, "logged": logged}
