"""One segment on two ranks of Lightning: what each rank does and raises, as JSON; run by torchrun."""

import json
import sys
import warnings
from typing import Any

import torch
from lightning.pytorch import LightningModule, Trainer
from torch.utils.data import DataLoader

from ngram_metrics import ChrF
from ngram_metrics.distributed import UnrepeatedSampler


class Model(LightningModule):
    def __init__(self, allowed: bool) -> None:
        super().__init__()
        self.allow_zero_length_dataloader_with_multiple_devices = allowed
        self.layer = torch.nn.Linear(1, 1)
        self.chrf = ChrF()
        self.batches = 0

    def validation_step(self, batch: Any, index: int) -> None:
        self.batches += 1
        self.chrf.update(batch, batch)

    def on_validation_epoch_end(self) -> None:
        self.log("chrf", self.chrf.compute())


def main(allowed: bool) -> None:
    options: dict[str, Any] = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False}
    trainer, model, error = Trainer(accelerator="cpu", devices=2, strategy="ddp", **options), Model(allowed), ""
    segments = ["the cat"]
    try:
        trainer.validate(model, DataLoader(segments, sampler=UnrepeatedSampler(segments)), verbose=False)
    except RuntimeError as raised:
        error = str(raised)
    print(json.dumps({"rank": trainer.global_rank, "batches": model.batches, "error": error}), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main("allowed" in sys.argv)
