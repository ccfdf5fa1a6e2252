"""Stop a Lightning run on several processes within an epoch, and resume it to the scores of a run without a stop.

    pip install -e ".[lightning]"
    python examples/lightning_resume.py --devices 2
    python examples/lightning_resume.py --devices 2 --stop 5
    python examples/lightning_resume.py --devices 2 --resume

The second command stops after five steps, and the third prints what the first printed. What a checkpoint needs is
marked with (1) and (2): rank 0 writes it, and `AllRanks` brings it the counts of the other ranks.
"""

import argparse
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

try:
    from lightning.pytorch import LightningModule, Trainer
    from lightning.pytorch.callbacks import ModelCheckpoint
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is not installed: pip install -e '.[lightning]'") from error
from torch import Tensor, nn
from torchmetrics import MetricCollection

from ngram_metrics import Bleu, ChrF, ROUGEScore
from ngram_metrics.distributed import AllRanks

WORDS = ["the", "a", "cat", "dog", "bird", "sat", "ran", "sang", "here", "there"]


class Translator(LightningModule):
    """A dictionary to learn, whose translations are scored while it learns.

    Args:
        stop: the step after which the process ends, as if it had been killed.
        all_ranks_save: whether checkpoints are written while every rank takes part. Turn it off where one rank alone
            saves, as with `save_on_exception=True`, `OnExceptionCheckpoint` and SLURM's requeue: there the ranks would
            wait for one another, and the checkpoint would not be written at all.
    """

    def __init__(self, stop: int | None = None, all_ranks_save: bool = True) -> None:
        super().__init__()
        self.translate = nn.Embedding(len(WORDS), len(WORDS))
        self.metrics = MetricCollection(
            {"bleu": Bleu(), "chrf": ChrF(confidence=0.95), "rouge": ROUGEScore(rouge_keys="rougeL")}
        )
        self.stop, self.all_ranks_save = stop, all_ranks_save
        self.counted_epoch = -1  # the epoch of the counts

    def training_step(self, source: Tensor, index: int) -> Tensor:
        """Learn, and score what was translated so far."""
        scores = self.translate(source)
        texts, references = ([" ".join(WORDS[i] for i in row) for row in ids] for ids in (scores.argmax(-1), source))
        self.metrics.update(texts, references)
        return nn.functional.cross_entropy(scores.flatten(0, 1), source.flatten())

    def on_train_batch_end(self, outputs: Any, batch: Tensor, index: int) -> None:
        """End the process where a run is to be stopped: at the step after the last checkpoint."""
        if self.global_step == self.stop:
            os._exit(1)

    def on_train_batch_start(self, batch: Tensor, index: int) -> None:
        """Begin an epoch without counts; at its start and end Lightning calls no hook where a run goes on there."""
        if self.counted_epoch != self.current_epoch:
            self.metrics.reset()
            self.counted_epoch = self.current_epoch

    def on_train_epoch_end(self) -> None:
        """Print the scores of the epoch."""
        values = {name: value.item() for name, value in self.metrics.compute().items()}
        self.print(json.dumps({"epoch": self.current_epoch, **values}), flush=True)

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Put the counts of all ranks into the checkpoint (1); Lightning calls this on every rank."""
        if self.all_ranks_save:
            checkpoint["metrics"] = AllRanks(self.metrics).state_dict()
            checkpoint["counted_epoch"] = self.counted_epoch

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Take this rank's own counts (2)."""
        if "metrics" in checkpoint:
            AllRanks(self.metrics).load_state_dict(checkpoint["metrics"])
            self.counted_epoch = checkpoint["counted_epoch"]

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Return the optimizer."""
        return torch.optim.Adam(self.parameters(), lr=0.02)


class Share:
    """The batches of a rank: a loader that resumes where a checkpoint was written."""

    def __init__(self, batches: list[Tensor]) -> None:
        self.batches, self.read = batches, 0

    def __len__(self) -> int:
        """Return the number of batches."""
        return len(self.batches)

    def __iter__(self) -> Iterator[Tensor]:
        """Yield the batches that were not yet read in this epoch."""
        self.read %= len(self.batches)
        for batch in self.batches[self.read :]:
            self.read += 1
            yield batch

    def state_dict(self) -> dict[str, int]:
        """Return the number of batches read."""
        return {"read": self.read}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Resume there."""
        self.read = state["read"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--stop", type=int, help="end after so many steps, as a killed run")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    parser.add_argument("--out", type=Path, default=Path("runs/lightning_resume"), help="folder of the checkpoint")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    saving = ModelCheckpoint(arguments.out, filename="last", every_n_train_steps=4, enable_version_counter=False)
    trainer = Trainer(
        max_epochs=arguments.epochs,
        devices=arguments.devices,
        accelerator="cpu",
        strategy="ddp" if arguments.devices > 1 else "auto",
        callbacks=[saving],
        logger=False,
        use_distributed_sampler=False,  # it would repeat segments
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    model = Translator(arguments.stop)
    batches = list(torch.randint(len(WORDS), (16 * 8, 6)).split(8))
    share = Share(batches[trainer.global_rank :: trainer.world_size])
    trainer.fit(model, share, ckpt_path=arguments.out / "last.ckpt" if arguments.resume else None)
