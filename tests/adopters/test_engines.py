"""The evaluator of ignite and the Trainer of Lightning, as users write them."""

import warnings
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from ignite.engine import create_supervised_evaluator
from metrics.trainers import Batches, trainer

from ngram_metrics import Bleu, ChrF
from ngram_metrics import ignite as for_ignite
from ngram_metrics.functional import bleu_score, chrf_score

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from lightning.pytorch import LightningModule

WRITTEN = ["the cat sat on a mat", "it was asleep", "a dog ran home very fast"]
REFERENCES = ["the cat sat on the mat", "it was fast asleep", "a dog ran home fast"]
BATCHES = [(torch.tensor([0, 1]), torch.tensor([0, 1])), (torch.tensor([2]), torch.tensor([2]))]


def texts(batch: Sequence[torch.Tensor]) -> tuple[list[str], list[str]]:
    written, rows = batch
    return [WRITTEN[row] for row in written], [REFERENCES[row] for row in rows]


def expected() -> dict[str, float]:
    scores = {"bleu": bleu_score(WRITTEN, REFERENCES), "chrf": chrf_score(WRITTEN, REFERENCES)}
    return pytest.approx({name: score.item() for name, score in scores.items()}, rel=1e-6)


def test_the_evaluator_of_ignite_reports_the_score_of_all_batches():
    sacrebleus = {"average": "micro", "smooth": "exp", "tokenizer": "13a"}
    metrics = {
        "bleu": for_ignite.Bleu(output_transform=texts, **sacrebleus),
        "chrf": for_ignite.ChrF(output_transform=texts),
    }
    evaluator = create_supervised_evaluator(torch.nn.Identity(), metrics=metrics)
    assert evaluator.run(BATCHES).metrics == expected()


class Module(LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.bleu, self.chrf = Bleu(), ChrF()

    def validation_step(self, batch: Sequence[torch.Tensor], index: int) -> None:
        for name, metric in self.named_children():
            metric.update(*texts(batch))
            self.log(name, metric, batch_size=len(batch[0]))


def test_the_trainer_of_lightning_reports_the_score_of_all_batches(tmp_path: Path):
    (logged,) = trainer(tmp_path).validate(Module(), Batches(BATCHES), verbose=False)
    assert logged == expected()
