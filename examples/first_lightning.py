"""BLEU, chrF and ROUGE-L in Lightning, printed after each epoch, with early stopping and the best model kept.

``--devices 2`` starts two processes. Replace the model and the data with yours. The lines about metrics are marked with
(1) to (3).
"""

import argparse

try:
    from lightning.pytorch import LightningDataModule, LightningModule, Trainer
    from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is not installed: pip install -e '.[lightning]'") from error
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

from ngram_metrics import Bleu, ChrF, ROUGEScore
from ngram_metrics.distributed import UnrepeatedSampler
from ngram_metrics.lightning import ScoresCallback

WORDS = ["the", "a", "cat", "dog", "bird", "sat", "ran", "sang", "here", "there"]


class Translator(LightningModule):
    """A dictionary to learn: the right translation of word i is word i."""

    def __init__(self) -> None:
        super().__init__()
        self.translate = nn.Embedding(len(WORDS), len(WORDS))

    def training_step(self, source: Tensor, index: int) -> Tensor:
        return nn.functional.cross_entropy(self.translate(source).flatten(0, 1), source.flatten())

    def validation_step(self, source: Tensor, index: int) -> dict[str, list[str]]:
        translations = self.translate(source).argmax(-1)
        hypotheses, references = ([" ".join(WORDS[i] for i in row) for row in ids] for ids in (translations, source))
        return {"preds": hypotheses, "target": references}  # (1) what the metrics compare

    def on_validation_end(self) -> None:
        scores = self.trainer.callback_metrics
        self.print(f"epoch {self.current_epoch}", {name: round(value.item(), 3) for name, value in scores.items()})

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters(), lr=0.02)


class Sentences(LightningDataModule):
    """The sentences to train and to validate with."""

    def __init__(self, training: Tensor, validation: Tensor) -> None:
        super().__init__()
        self.training, self.validation = training, validation

    def train_dataloader(self) -> DataLoader[Tensor]:
        # On several processes Lightning adds its sampler. A step takes 16 segments in total, so that two processes
        # train the same model as one.
        return DataLoader(self.training, 16 // self.trainer.world_size)

    def val_dataloader(self) -> DataLoader[Tensor]:
        # (2) Each process takes its own share. Lightning's sampler would repeat segments, and count them twice.
        return DataLoader(self.validation, 16, sampler=UnrepeatedSampler(self.validation))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", type=int, default=1)
    torch.manual_seed(0)
    # (3) Each process counts, and the score over all is logged. mode="max": a higher score is better.
    rouge = ROUGEScore(rouge_keys="rougeL")["rougeL_fmeasure"]
    metrics = {"bleu": Bleu(), "chrf": ChrF(confidence=0.95), "rougeL": rouge}
    watch = {"monitor": "val/chrf", "mode": "max"}
    callbacks = [ScoresCallback(metrics), ModelCheckpoint("runs/first_lightning", **watch), EarlyStopping(**watch)]
    options = {"max_epochs": 20, "logger": False, "num_sanity_val_steps": 0}
    trainer = Trainer(devices=parser.parse_args().devices, callbacks=callbacks, **options)
    trainer.fit(Translator(), Sentences(*torch.randint(len(WORDS), (371, 6)).split([320, 51])))
