"""What two processes of _torchmetrics/test_ranks.py do with a Trainer, in the process group they are in."""

import os
import tempfile
import warnings
from collections.abc import Sequence
from typing import Any
from unittest import mock

import torch
from metrics.cases import TEXT, Batch
from metrics.ranks import TRAINER_TRAINING, TRAINER_VALIDATION, chosen
from metrics.trainers import Batches, LightningModule, trainer

from ngram_metrics import Bleu, ChrF
from ngram_metrics.lightning import ScoresCallback

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from lightning.pytorch.loggers.logger import DummyLogger


class _Model(LightningModule):
    """Returns what the callback scores."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def training_step(self, batch: Batch, index: int) -> torch.Tensor:
        return self.layer(torch.ones(1, 4)).sum()

    def validation_step(self, batch: Batch, index: int) -> dict[str, Any]:
        return dict(zip(("preds", "target"), batch, strict=True))


class TensorBoardLogger(DummyLogger):
    """Notes the texts, as one of TensorBoard's would be given them."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    @property
    def experiment(self) -> Any:
        return self

    def add_text(self, name: str, text: str, step: int) -> None:
        self.texts.append(text)


def results(rank: int, world_size: int) -> dict[str, Any]:
    """What is logged by a fit and by a validation."""
    # What torchrun sets: from it Lightning knows that the processes are started.
    launched = {
        "RANK": rank,
        "LOCAL_RANK": rank,
        "WORLD_SIZE": world_size,
        "MASTER_PORT": 1,
        "TORCHELASTIC_RUN_ID": "x",
    }
    model, logger = _Model(), TensorBoardLogger()
    scores = ScoresCallback({"bleu": Bleu(average="micro", smooth="exp"), "chrf": ChrF(confidence=0.95)})

    def loader(numbers: Sequence[int]) -> Batches:
        return Batches(chosen(TEXT, numbers))

    with (
        mock.patch.dict(os.environ, {name: str(value) for name, value in launched.items()}),
        warnings.catch_warnings(),
        tempfile.TemporaryDirectory() as folder,
    ):
        warnings.simplefilter("ignore")  # metrics never updated; what Lightning itself deprecates
        options = {"max_epochs": 2, "num_sanity_val_steps": 0, "callbacks": [scores], "logger": logger}
        two = trainer(folder, devices=world_size, strategy="ddp", **options)
        assert two.world_size == world_size
        two.fit(model, loader(TRAINER_TRAINING[rank]), loader(TRAINER_VALIDATION["fit"][rank]))
        logged = [dict(two.callback_metrics)]
        two.validate(model, loader(TRAINER_VALIDATION["validate"][rank]), verbose=False)
        logged.append(dict(two.callback_metrics))
    return {"logged": logged, "texts": logger.texts}
