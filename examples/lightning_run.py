"""Log all four metrics in Lightning, stop early on chrF and keep the best model, in one process or several.

    pip install -e ".[lightning,report]"
    python examples/lightning_run.py
    python examples/lightning_run.py --devices 2

It trains the same network as `restore_text.py`, which restores the vowels of sentences. It takes less
than a minute on one CPU core, and downloads nothing.

The metrics are in a torchmetrics `MetricCollection` of the module. `validation_step` updates it, and
`on_validation_epoch_end` logs what `compute` returns, and resets it. `self.log_dict(collection)` is not
enough: Lightning itself can only log metrics with a single value, and ROUGE has several.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

import torch
from character_model import Characters, Restorer

try:
    from lightning.pytorch import LightningDataModule, LightningModule, Trainer, seed_everything
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is not installed: pip install -e '.[lightning,report]'") from error
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger
from python_topics import without_vowels
from torch import Tensor, nn
from torch.utils.data import DataLoader
from torchmetrics import MetricCollection
from vowel_batches import Batch, Task, make_batches, prepare

from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore, evaluate
from ngram_metrics.distributed import UnrepeatedSampler
from ngram_metrics.functional import chrf_score


class VowelRestorer(LightningModule):
    """The network, its loss and its metrics."""

    def __init__(self, alphabet: str, learning_rate: float = 3e-3) -> None:
        super().__init__()
        self.save_hyperparameters()  # so that load_from_checkpoint needs the file only
        self.characters = Characters([alphabet])
        self.network = Restorer(len(self.characters))
        self.loss = nn.CrossEntropyLoss(ignore_index=Characters.PADDING)
        self.metrics = MetricCollection(
            {
                "bleu": Bleu(),
                "chrf": ChrF(),
                "rouge": ROUGEScore(rouge_keys="rougeL"),  # three values: F, precision and recall
                "overlap": NgramOverlap(ngram=2),
            },
            prefix="val/",
        )
        # For the report: what this epoch has read so far, and what all epochs wrote, of all processes.
        self.pairs: list[tuple[str, str]] = []
        self.written: dict[str, list[str]] = {}
        self.references: list[str] = []

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Return the optimizer."""
        return torch.optim.Adam(self.parameters(), lr=self.hparams.learning_rate)

    def training_step(self, batch: Batch, batch_index: int) -> Tensor:
        """Predict each next character from START on, END included."""
        source, target, texts = batch
        scores = self.network(source, target[:, :-1])
        loss = self.loss(scores.flatten(0, 1), target[:, 1:].flatten())
        self.log("train/loss", loss, prog_bar=True, batch_size=len(texts))
        return loss

    def validation_step(self, batch: Batch, batch_index: int) -> None:
        """Count the n-grams of what the network writes and of what it should have written."""
        source, _, references = batch
        restored = self.characters.decode(self.network.greedy(source))
        self.metrics.update(restored, references)
        self.pairs += zip(restored, references, strict=True)

    def on_validation_epoch_end(self) -> None:
        """Log the scores of all sentences, of all processes."""
        values = self.metrics.compute()
        self.log_dict(values)
        self.metrics.reset()
        pairs, self.pairs = self.of_all_processes(self.pairs), []
        if not self.trainer.sanity_checking:
            self.written[f"epoch {self.current_epoch}"] = [restored for restored, _ in pairs]
            self.references = [reference for _, reference in pairs]
            shown = "   ".join(f"{name} {value.item():.4f}" for name, value in values.items())
            self.print(f"epoch {self.current_epoch}   {shown}")

    def of_all_processes(self, pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return the pairs of all processes, in one order in every epoch."""
        if self.trainer.world_size == 1:
            return pairs
        parts: list[Any] = [None] * self.trainer.world_size
        torch.distributed.all_gather_object(parts, pairs)
        return [pair for part in parts for pair in part]


class Shares(LightningDataModule):
    """Gives each process its share of the sentences.

    Lightning's own sampler would repeat some of them until all shares are as long, and in a
    validation what is repeated counts twice.
    """

    def __init__(self, task: Task) -> None:
        super().__init__()
        self.task = task

    def train_dataloader(self) -> DataLoader[Batch]:
        """Return as many batches as every other process has: they wait for one another at each step."""
        batches = self.task.training_batches
        even = len(batches) - len(batches) % self.trainer.world_size
        # batch_size=None leaves the ready batches as they are.
        return DataLoader(self.share(batches[:even]), batch_size=None, shuffle=True)

    def val_dataloader(self) -> DataLoader[Batch]:
        """Return batches of this process' sentences; the processes may have different numbers of them."""
        batches = make_batches(self.share(self.task.validation), self.task.characters, batch_size=64)
        return DataLoader(batches, batch_size=None)

    def share(self, whole: list[Any]) -> list[Any]:
        """Return what is this process' own."""
        return [whole[index] for index in UnrepeatedSampler(whole)]


def main() -> None:
    """Prepare, train, and let the best model restore a sentence."""
    arguments = parse_arguments()
    seed_everything(arguments.seed, verbose=False)
    torch.set_num_threads(1)  # the network is so small that threads would only wait for each other
    # The batches lie ready in memory, and every process has the same scores: neither hint applies.
    warnings.filterwarnings("ignore", ".*does not have many workers")
    warnings.filterwarnings("ignore", ".*sync_dist=True")

    task = prepare(arguments.sentences)
    if arguments.devices > len(task.validation):
        sys.exit(f"{len(task.validation)} sentences to validate with: expected at least one for each device")
    best = ModelCheckpoint(
        dirpath=arguments.out,
        filename="epoch{epoch}-chrf{val/chrf:.4f}",
        auto_insert_metric_name=False,  # its slash would make a folder
        monitor="val/chrf",
        mode="max",
        save_last=True,
    )
    stopper = EarlyStopping(monitor="val/chrf", mode="max", patience=arguments.patience)
    trainer = Trainer(
        max_epochs=arguments.epochs,
        accelerator=arguments.accelerator,
        devices=arguments.devices,
        strategy="ddp" if arguments.devices > 1 else "auto",
        use_distributed_sampler=False,  # see Shares
        callbacks=[best, stopper],
        logger=CSVLogger(arguments.out, name="scores"),
        log_every_n_steps=10,
        gradient_clip_val=1.0,
        enable_model_summary=False,
    )
    model, data = VowelRestorer("".join(task.characters.alphabet)), Shares(task)
    trainer.fit(model, data, ckpt_path="last" if arguments.resume else None)

    if stopper.stopped_epoch:
        model.print(f"stopped: no better chrF in {arguments.patience} epochs")
    if trainer.is_global_zero:
        print(f"the best model: {best.best_model_path}")
        report_epochs(model, arguments.out / "report.html")
        # The file holds all that is needed to make the model again.
        restored = VowelRestorer.load_from_checkpoint(best.best_model_path, map_location="cpu").eval()
        source = without_vowels(task.validation[0])
        written = restored.network.greedy(restored.characters.encode([source]))
        print(f"\nsource     {source}\nrestored   {restored.characters.decode(written)[0]}")


def report_epochs(model: VowelRestorer, path: Path) -> None:
    """Write a page that compares the best epoch of this run with those before it, sentence by sentence."""
    chrf = {name: chrf_score(texts, model.references).item() for name, texts in model.written.items()}
    if chrf:
        best = max(chrf, key=chrf.__getitem__)
        systems = dict(list(model.written.items())[: list(chrf).index(best) + 1])
        evaluate(systems, model.references, baseline=best).write_report(path, title="Vowels given back")
        print(f"where it is right and wrong: {path}")


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description="Train with Lightning: early stopping and checkpoints on chrF.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--epochs", type=int, default=4, help="times through the training text, all runs together")
    parser.add_argument("--patience", type=int, default=2, help="epochs without a better chrF before it stops")
    parser.add_argument("--sentences", type=int, help="use only so many sentences")
    parser.add_argument("--out", type=Path, default=Path("runs/lightning"), help="folder for checkpoints and scores")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint in that folder")
    parser.add_argument("--accelerator", default="cpu", help="where to train, as cpu or gpu")
    parser.add_argument("--devices", type=int, default=1, help="number of processes; of several, each has a share")
    parser.add_argument("--seed", type=int, default=0, help="seed of everything random")
    return parser.parse_args()


if __name__ == "__main__":
    main()
