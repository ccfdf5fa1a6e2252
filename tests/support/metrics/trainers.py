"""What the tests of Lightning share: a loader, a model that counts segments, and a trainer that writes nothing."""

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torchmetrics import MetricCollection

from ngram_metrics import Bleu

pytest.importorskip("lightning", reason="its Trainer runs")

with warnings.catch_warnings():
    # Lightning's own imports use what others deprecate.
    warnings.simplefilter("ignore")
    from lightning.pytorch import LightningModule, Trainer
    from lightning.pytorch import callbacks as callbacks
    from lightning.pytorch import loggers as loggers


class Batches:
    """A loader without workers, of which Lightning would warn; a list it takes for several loaders."""

    def __init__(self, batches: Sequence[Any]) -> None:
        self.batches = batches

    def __iter__(self) -> Iterator[Any]:
        return iter(self.batches)

    def __len__(self) -> int:
        return len(self.batches)


class Segments(Bleu):
    """The number of segments that were given."""

    def compute(self) -> torch.Tensor:
        return self.segments


class Counting(LightningModule):
    """Validates batches of hypotheses and references."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)
        self.metrics = MetricCollection(
            {"bleu": Bleu(**options), "segments": Segments(**options)}, compute_groups=False
        )

    def validation_step(self, batch: Any, index: int) -> None:
        self.metrics.update(*batch)
        self.log_dict(self.metrics, batch_size=len(batch[0]))


def trainer(
    folder: Path | str, devices: int = 1, enable_checkpointing: bool = False, logger: Any = False, **options: Any
) -> Trainer:
    return Trainer(
        accelerator="cpu",
        default_root_dir=folder,
        enable_progress_bar=False,
        enable_model_summary=False,
        devices=devices,
        enable_checkpointing=enable_checkpointing,
        logger=logger,
        **options,
    )
