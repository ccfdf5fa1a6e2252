"""BLEU, chrF and ROUGE-L in Lightning, in TensorBoard after each epoch, with early stopping and the best checkpoint.

    pip install -e ".[lightning,tensorboard]"
    python examples/first_lightning.py
    python examples/first_lightning.py --devices 2
    tensorboard --logdir runs/first_lightning

The model learns a dictionary of ten words, in seconds on a CPU. Put your model in its place; what concerns the metrics
is marked with (1) to (4).
"""

import argparse
import warnings

import torch
from lightning.pytorch import LightningModule, Trainer, seed_everything
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
from lightning.pytorch.loggers import TensorBoardLogger
from torch import Tensor, nn
from torch.utils.data import DataLoader

from ngram_metrics import Bleu, ChrF, ROUGEScore
from ngram_metrics.lightning import ScoresCallback

ENGLISH = ["the", "a", "cat", "dog", "bird", "sat", "ran", "sang", "here", "there"]
FRENCH = ["le", "un", "chat", "chien", "oiseau", "assis", "court", "chante", "ici", "là"]
Batch = tuple[Tensor, list[str]]  # (sentences, words) ids of English words, and the French sentences


def sentences(count: int, seed: int) -> list[tuple[Tensor, str]]:
    """Draw English sentences, as ids, with their translations, as text."""
    ids = torch.randint(len(ENGLISH), (count, 6), generator=torch.Generator().manual_seed(seed))
    return [(row, " ".join(FRENCH[word] for word in row)) for row in ids]


class Translator(LightningModule):
    """Translates word by word."""

    def __init__(self) -> None:
        super().__init__()
        self.translate = nn.Embedding(len(ENGLISH), len(FRENCH))

    def training_step(self, batch: Batch, index: int) -> Tensor:
        """Return the loss; the right translation of word i is word i."""
        source, _ = batch
        loss = nn.functional.cross_entropy(self.translate(source).flatten(0, 1), source.flatten())
        self.log("train/loss", loss, batch_size=len(source))
        return loss

    def validation_step(self, batch: Batch, index: int) -> dict[str, list[str]]:
        """Translate."""
        source, references = batch
        hypotheses = [" ".join(FRENCH[word] for word in row) for row in self.translate(source).argmax(-1).tolist()]
        return {"preds": hypotheses, "target": references}  # (1) what the metrics compare

    def on_validation_end(self) -> None:
        """Print some of what was logged."""
        logged = self.trainer.callback_metrics
        values = {name: round(logged[name].item(), 3) for name in ("val/bleu", "val/chrf", "val/rouge_rougeL_fmeasure")}
        self.print(f"epoch {self.current_epoch}", values)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Return the optimizer."""
        return torch.optim.Adam(self.parameters(), lr=0.02)

    def train_dataloader(self) -> DataLoader[Batch]:
        """Return this process' share of the training sentences."""
        return DataLoader(self.share(sentences(320, seed=0)), batch_size=16)

    def val_dataloader(self) -> DataLoader[Batch]:
        """Return this process' share of 51 sentences: shares may differ in size, and none is counted twice."""
        return DataLoader(self.share(sentences(51, seed=1)), batch_size=16)

    def share(self, whole: list[tuple[Tensor, str]]) -> list[tuple[Tensor, str]]:
        """Return the sentences of this process."""
        return whole[self.trainer.global_rank :: self.trainer.world_size]


def main() -> None:
    """Train until chrF stops rising, and score the best model again."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--devices", type=int, default=1, help="number of processes")
    parser.add_argument("--out", default="runs/first_lightning", help="folder for the checkpoint and the scores")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", ".*does not have many workers")
    seed_everything(0, verbose=False)

    # (2) Counts on each process, scores the sentences of all, logs the values, and writes the signatures and five
    # sentences with their scores.
    scores = ScoresCallback(
        {
            "bleu": Bleu.sacrebleu(),
            "chrf": ChrF(confidence=0.95),  # logs val/chrf, val/chrf_low and val/chrf_high
            "rouge": ROUGEScore(rouge_keys="rougeL", tokenizer="unicode"),  # F, precision and recall
        }
    )
    # (3) By the names that are logged; a score is better when it is higher.
    best = ModelCheckpoint(monitor="val/chrf", mode="max")
    stopper = EarlyStopping(monitor="val/chrf", mode="max", patience=2)
    trainer = Trainer(
        max_epochs=20,
        accelerator="cpu",
        devices=arguments.devices,
        strategy="ddp" if arguments.devices > 1 else "auto",
        use_distributed_sampler=False,  # it would repeat sentences to make the shares equal, and count them twice
        callbacks=[scores, best, stopper],
        logger=TensorBoardLogger(arguments.out, name=""),  # (4) or WandbLogger, MLFlowLogger, CometLogger
        log_every_n_steps=10,
        num_sanity_val_steps=0,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    model = Translator()
    trainer.fit(model)
    model.print("best:", best.best_model_path)
    trainer.validate(model, ckpt_path="best", verbose=False)


if __name__ == "__main__":
    main()
