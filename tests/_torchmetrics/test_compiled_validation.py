"""Compiled validation steps count what plain ones do, also under ``inference_mode``, Lightning's default."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torchmetrics import MetricCollection

from ngram_metrics import Bleu, ChrF, GroupedMetric, NgramOverlap, ROUGEScore, functional

pytest.importorskip("ignite", reason="the classes for ignite are tested")
pytest.importorskip("lightning", reason="its Trainer runs")

from metrics.trainers import Batches, LightningModule, trainer

from ngram_metrics import ignite

TEXTS = ["the cat sat on the mat today", "it was asleep"], ["the cat is on the mat today", "it was fast asleep"]
TOKENS = [text.split() for text in TEXTS[0]], [text.split() for text in TEXTS[1]]
IDS = [[5, 6, 7, 8], [5, 6]], [[5, 6, 7], [5, 6, 9]]
PADDED = torch.tensor([[5, 6, 7, 8, 0], [5, 6, 7, 9, 9]]), torch.tensor([[5, 6, 7, 8, 8], [5, 6, 7, 0, 0]])
LABELS = ["de", "fr"]


def update(metric: Any, batch: Any) -> None:
    metric.update(*batch)


def call(metric: Any, batch: Any) -> Any:
    return metric(*batch)


def update_by_keyword(metric: Any, batch: Any) -> None:
    metric.update(preds=batch[0], target=batch[1])


def update_of_ignite(metric: Any, batch: Any) -> None:
    metric.update(batch)


def update_groups(metric: Any, batch: Any) -> None:
    metric.update(*batch, LABELS)


def update_groups_of_ignite(metric: Any, batch: Any) -> None:
    metric.update((*batch, LABELS))


def same_metrics() -> MetricCollection:
    """A collection with a compute group: torchmetrics compares the states of both, and updates one of them."""
    return MetricCollection({"bleu": Bleu(), "again": Bleu(), "rouge": ROUGEScore()})


#: The metric, the step and the batch.
STEPS: dict[str, tuple[Callable[[], Any], Callable[[Any, Any], Any], Any]] = {
    "Bleu of texts": (Bleu, update, TEXTS),
    "ChrF of texts, macro": (lambda: ChrF(average="macro"), update, TEXTS),
    "ROUGEScore of texts": (ROUGEScore, update, TEXTS),
    "NgramOverlap of tokens": (NgramOverlap, update, TOKENS),
    "Bleu of lists of ids": (lambda: Bleu(average="none"), update, IDS),
    "Bleu with an interval": (lambda: Bleu(confidence=0.9), update, TEXTS),
    "Bleu of padded ids": (lambda: Bleu(pad_id=0), update, PADDED),
    "ROUGEScore of sentences of ids": (lambda: ROUGEScore(pad_id=0, sentence_separator_id=7), update, PADDED),
    "one value of ROUGE": (lambda: ROUGEScore()["rougeL_fmeasure"], update, TEXTS),
    "arithmetic": (lambda: 100 * Bleu(), update, TEXTS),
    "keywords": (Bleu, update_by_keyword, TEXTS),
    "a call with texts": (Bleu, call, TEXTS),
    "a call with padded ids": (lambda: Bleu(pad_id=0), call, PADDED),
    "a collection": (lambda: MetricCollection([Bleu(), ChrF()]), update, TEXTS),
    "a collection with a compute group": (same_metrics, update, TEXTS),
    "a call of a collection": (lambda: MetricCollection([Bleu(), ChrF()]), call, TEXTS),
    "groups": (lambda: GroupedMetric(ChrF(), LABELS), update_groups, TEXTS),
    "groups of padded ids": (lambda: GroupedMetric(ChrF(pad_id=0), LABELS), update_groups, PADDED),
    "ignite": (ignite.Bleu, update_of_ignite, TEXTS),
    "ignite, padded ids": (lambda: ignite.Bleu(pad_id=0), update_of_ignite, PADDED),
    "ignite, groups": (lambda: ignite.GroupedMetric(ignite.ChrF(), LABELS), update_groups_of_ignite, TEXTS),
}


#: A metric of each framework. The others are slow, because each compiles for a second.
BY_DEFAULT = {"Bleu of texts", "ignite"}


@pytest.mark.usefixtures("compiling")
@pytest.mark.parametrize(
    "name", [name if name in BY_DEFAULT else pytest.param(name, marks=pytest.mark.slow) for name in STEPS]
)
def test_a_compiled_step_counts_under_inference_mode_what_a_plain_one_does(name: str):
    make, step, batch = STEPS[name]
    metric = make()
    plain = make()
    compiled = torch.compile(lambda: step(metric, batch), backend="eager")
    with torch.inference_mode():
        for _ in range(3):
            torch.testing.assert_close(compiled(), step(plain, batch), rtol=1e-12, atol=0)
    torch.testing.assert_close(metric.compute(), plain.compute(), rtol=1e-12, atol=0)


@pytest.mark.slow
@pytest.mark.usefixtures("compiling")
@pytest.mark.parametrize("name", ["bleu_score", "rouge_score", "chrf_score", "ngram_overlap"])
def test_a_compiled_function_scores_under_inference_mode_what_a_plain_one_does(name: str):
    function = getattr(functional, name)
    compiled = torch.compile(lambda: function(*TEXTS), backend="eager")
    with torch.inference_mode():
        torch.testing.assert_close(compiled(), function(*TEXTS), rtol=1e-12, atol=0)


@pytest.mark.slow
@pytest.mark.usefixtures("compiling")
def test_a_compiled_step_records_nothing_of_texts_for_a_new_batch():
    counter = torch._dynamo.testing.CompileCounter()
    metric = Bleu()

    def step(loss: torch.Tensor, preds: list[str], target: list[str]) -> torch.Tensor:
        metric.update(preds, target)
        return loss + 1

    compiled = torch.compile(step, backend=counter)
    with torch.inference_mode():
        for length in range(1, 6):
            hypotheses, references = TEXTS
            compiled(torch.zeros(()), [f"{text}{' x' * length}" for text in hypotheses[:length]], references[:length])
    assert counter.frame_count == 1


class Validating(LightningModule):
    """A model whose validation step has a tensor to compute and a text to score."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)
        self.metrics = MetricCollection({"bleu": Bleu(), "chrf": ChrF()})

    def validation_step(self, batch: Any, index: int) -> None:
        hypotheses, references = batch
        self.layer(torch.ones(len(hypotheses), 2))
        self.metrics.update(hypotheses, references)
        self.log_dict(self.metrics, batch_size=len(hypotheses))


@pytest.mark.slow
@pytest.mark.usefixtures("compiling")
def test_a_compiled_lightning_module_validates():
    plain = trainer(".").validate(Validating(), Batches([TEXTS, TEXTS]), verbose=False)
    compiled = trainer(".").validate(
        torch.compile(Validating(), backend="eager"), Batches([TEXTS, TEXTS]), verbose=False
    )
    assert compiled == plain
