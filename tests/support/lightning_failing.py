"""Train examples/lightning_resume.py on two processes, of which the first fails, and save as Lightning does then."""

import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
from lightning.pytorch import Trainer
from lightning.pytorch.callbacks import ModelCheckpoint, OnExceptionCheckpoint
from lightning.pytorch.strategies import DDPStrategy
from programs import example
from torch import Tensor


def main(folder: Path, way: str, all_ranks_save: bool) -> None:
    resume = example("lightning_resume")

    class Failing(resume.Translator):
        def on_train_batch_start(self, batch: Tensor, index: int) -> None:
            super().on_train_batch_start(batch, index)
            if index == 2 and self.global_rank == 0:
                raise InterruptedError("the first rank fails")

    saving: dict[str, Any] = {
        "OnExceptionCheckpoint": lambda: OnExceptionCheckpoint(folder, "failed"),
        "save_on_exception": lambda: ModelCheckpoint(folder, "failed", save_on_exception=True),
    }
    torch.manual_seed(0)
    trainer = Trainer(
        max_epochs=1,
        devices=2,
        accelerator="cpu",
        strategy=DDPStrategy(timeout=timedelta(seconds=30)),
        callbacks=[saving[way]()],
        logger=False,
        use_distributed_sampler=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    batches = list(torch.randint(len(resume.WORDS), (64, 6)).split(8))
    share = resume.Share(batches[trainer.global_rank :: trainer.world_size])
    trainer.fit(Failing(all_ranks_save=all_ranks_save), share)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "all")
