"""What the tests of Lightning share: a model with metrics, a loader, and a trainer that writes nothing."""

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torchmetrics import Metric, MetricCollection

with warnings.catch_warnings():
    # Lightning's own imports use what others deprecate.
    warnings.simplefilter("ignore")
    from lightning.pytorch import LightningModule, Trainer


class Batches:
    """A loader without workers, of which Lightning would warn; a list it takes for several loaders."""

    def __init__(self, batches: Sequence[Any]) -> None:
        self.batches = batches

    def __iter__(self) -> Iterator[Any]:
        return iter(self.batches)

    def __len__(self) -> int:
        return len(self.batches)


class Model(LightningModule):
    """Something to train, and metrics whose values at the end of each epoch are noted."""

    def __init__(self, metrics: MetricCollection, alone: Metric) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
        self.metrics, self.alone = metrics, alone
        self.values: list[dict[str, torch.Tensor]] = []

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def count(self, batch: Any) -> None:
        self.metrics.update(*batch)
        self.alone.update(*batch)
        self.log("alone", self.alone, on_step=False, on_epoch=True, batch_size=1)

    def note(self, metrics: MetricCollection) -> dict[str, torch.Tensor]:
        """Compute, note the values, and reset."""
        self.values.append({name: value.clone() for name, value in metrics.compute().items()})
        metrics.reset()
        return self.values[-1]


def trainer(folder: Path | str, **options: Any) -> Trainer:
    return Trainer(
        accelerator="cpu",
        default_root_dir=folder,
        enable_progress_bar=False,
        enable_model_summary=False,
        **{"devices": 1, "enable_checkpointing": False, "logger": False, **options},
    )
