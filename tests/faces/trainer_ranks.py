"""What two processes of tests/test_distributed.py do with a Trainer of Lightning, in the process group they are in."""

import os
import tempfile
import warnings
from collections.abc import Sequence
from typing import Any
from unittest import mock

import torch
from faces.cases import TEXT, Batch
from faces.ranks import TRAINER_ALONE, TRAINER_TRAINING, TRAINER_VALIDATION, chosen, collection
from faces.trainers import Batches, Model, trainer


class _Model(Model):
    """Counts in training and in validation."""

    def __init__(self) -> None:
        metrics = collection()
        super().__init__(metrics, metrics[TRAINER_ALONE].clone())
        self.of_training = metrics.clone()

    def training_step(self, batch: Batch, index: int) -> torch.Tensor:
        self.of_training.update(*batch)
        return self.layer(torch.ones(1, 4)).sum()

    def on_train_epoch_end(self) -> None:
        self.note(self.of_training)

    def validation_step(self, batch: Batch, index: int) -> None:
        preds, _ = batch
        if preds:  # else the metrics of this rank are never updated
            self.metrics.update(*batch)
            self.alone.update(*batch)

    def on_validation_epoch_end(self) -> None:
        self.note(self.metrics)
        self.log("alone", self.alone)


def results(rank: int, world_size: int) -> dict[str, Any]:
    """The values of each epoch: two of a fit, training after validation, and one of a validation."""
    # What torchrun sets: from it Lightning knows that the processes are started.
    launched = {
        "RANK": rank,
        "LOCAL_RANK": rank,
        "WORLD_SIZE": world_size,
        "TORCHELASTIC_RUN_ID": "here",
        "MASTER_PORT": 1,
    }
    model = _Model()

    def loader(numbers: Sequence[int]) -> Batches:
        return Batches(chosen(TEXT, numbers))

    with (
        mock.patch.dict(os.environ, {name: str(value) for name, value in launched.items()}),
        warnings.catch_warnings(),
        tempfile.TemporaryDirectory() as folder,
    ):
        warnings.simplefilter("ignore")  # metrics never updated; what Lightning itself deprecates
        two = trainer(folder, devices=world_size, strategy="ddp", max_epochs=2, num_sanity_val_steps=0)
        assert two.world_size == world_size
        two.fit(model, loader(TRAINER_TRAINING[rank]), loader(TRAINER_VALIDATION["fit"][rank]))
        logged = [two.callback_metrics["alone"]]
        two.validate(model, loader(TRAINER_VALIDATION["validate"][rank]), verbose=False)
        logged.append(two.callback_metrics["alone"])
    return {"values": model.values, "logged": logged}
