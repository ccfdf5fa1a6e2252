"""What the tests of Lightning share: a loader, and a trainer that writes nothing."""

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

with warnings.catch_warnings():
    # Lightning's own imports use what others deprecate.
    warnings.simplefilter("ignore")
    from lightning.pytorch import LightningModule as LightningModule
    from lightning.pytorch import Trainer as Trainer
    from lightning.pytorch.callbacks import EarlyStopping as EarlyStopping


class Batches:
    """A loader without workers, of which Lightning would warn; a list it takes for several loaders."""

    def __init__(self, batches: Sequence[Any]) -> None:
        self.batches = batches

    def __iter__(self) -> Iterator[Any]:
        return iter(self.batches)

    def __len__(self) -> int:
        return len(self.batches)


def trainer(folder: Path | str, **options: Any) -> Trainer:
    return Trainer(
        accelerator="cpu",
        default_root_dir=folder,
        enable_progress_bar=False,
        enable_model_summary=False,
        **{"devices": 1, "enable_checkpointing": False, "logger": False, **options},
    )
