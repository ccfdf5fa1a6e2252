"""What torchmetrics and Lightning build on a metric: scripts, windows, and a real fit in every precision."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from metrics.cases import CASES, FUNCTIONS, Batch, Case, assert_same, each_metric, joined, named_pairs
from metrics.trainers import Batches, LightningModule, callbacks, trainer
from torchmetrics import MetricCollection
from torchmetrics.metric import CompositionalMetric
from torchmetrics.wrappers import Running

from ngram_metrics import Bleu, GroupedMetric, ROUGEScore
from ngram_metrics.functional import bleu_score


@each_metric
def test_what_torchmetrics_asks_of_a_class(case: Case, average: str):
    for metric in (case.make(average), case.metric):
        assert metric.is_differentiable is False
        # One update per forward, and merge_state, Running and Lightning work.
        assert metric.full_state_update is False
        assert metric.plot_lower_bound == 0
        assert metric.higher_is_better


@pytest.mark.filterwarnings("ignore:This property will be removed in 2.0.0:DeprecationWarning")
@pytest.mark.parametrize("average", ["macro", pytest.param("none", marks=pytest.mark.slow)])
@pytest.mark.parametrize("metric", FUNCTIONS)
def test_torch_jit_script_takes_a_metric(metric: type, average: str):
    """As torchmetrics' own tester asks of every metric: scripted as part of a model, update and compute left out."""
    torch.jit.script(metric(average=average))


def _name_of_value(case: Case) -> str:
    """The name of the first of several values."""
    return next(iter(case.value("macro")))


each_score_of_the_corpus = pytest.mark.parametrize(
    ("case", "average"), named_pairs(lambda case, average: average != "none")
)
each_of_several_values = pytest.mark.parametrize(
    ("case", "average"),
    named_pairs(lambda case, average: average != "none" and isinstance(case.value("macro"), dict)),
)


@each_score_of_the_corpus
def test_running(case: Case, average: str):
    _check_running(case, average, case.make(average), lambda value: value)


@each_of_several_values
def test_running_of_one_value(case: Case, average: str):
    name = _name_of_value(case)
    _check_running(case, average, case.make(average)[name], lambda value: value[name])


def _check_running(case: Case, average: str, metric: Any, value_of: Callable[[Any], Any]) -> None:
    running = pickle.loads(pickle.dumps(Running(metric, window=2)))
    for seen, batch in enumerate(case.batches, 1):
        assert_same(running(*batch), value_of(case.value(average, [batch])))
        assert_same(running.compute(), value_of(case.value(average, case.batches[max(0, seen - 2) : seen])))
    running.half().reset()
    running.update(*case.batches[0])
    assert_same(running.compute(), value_of(case.value(average, case.batches[:1])))


@each_of_several_values
def test_one_value_is_merged_and_changed_in_place(case: Case, average: str):
    name = _name_of_value(case)
    first, second = (case.filled(average, [batch])[name] for batch in case.batches[:2])
    assert hash(first) == hash(first)
    assert first.state_dict() == {}
    first.merge_state(second)
    assert_same(first.compute(), case.value(average, case.batches[:2])[name])
    value = first(*case.batches[2])
    value.mul_(100)
    assert_same(first._forward_cache, case.value(average, case.batches[2:3])[name])


def test_one_value_of_other_settings_is_not_merged():
    first, second = (ROUGEScore(use_stemmer=stems)["rougeL_fmeasure"] for stems in (False, True))
    for metric in (first, second):
        metric.update(["the cats sat"], ["the cat sat"])
    with pytest.raises(ValueError, match="whose settings differ from this ROUGEScore"):
        first.merge_state(second)


def test_equal_compositions_count_by_themselves_in_a_collection():
    metrics = MetricCollection({"a": 100 * Bleu(), "b": 100 * Bleu(), "c": Bleu() + Bleu(average="macro")})
    batch = ["the cat sat on the mat"], ["the cat sat on a mat"]
    for _ in range(2):
        metrics.update(*batch)
        values = metrics.compute()
        assert values["a"] == values["b"] == 50 * values["c"] == 100 * bleu_score(*batch)
    assert len(metrics.compute_groups) == 3


def test_arithmetic_is_torchmetrics_own():
    """It has no states of its own, so it cannot be merged, and ``Running`` refuses it."""
    metric = 100 * Bleu()
    assert type(metric) is CompositionalMetric
    batch = ["the cat sat on the mat"], ["the cat sat on a mat"]
    expected = 100 * bleu_score(*batch)
    assert metric(*batch) == expected == metric.compute()
    metric.reset()
    metric.update(*batch)
    assert metric.compute() == expected
    with pytest.raises(ValueError, match="full_state_update"):
        Running(metric, window=2)
    with pytest.raises(RuntimeError, match="``merge_state`` is not supported"):
        metric.merge_state(100 * Bleu())


#: Metrics of one value on one kind of input go into one collection: Lightning logs numbers.
KINDS: dict[str, list[Case]] = {
    kind: [case for case in CASES if case.batches is CASES[first].batches and "confidence" not in case.options]
    for kind, first in (("text", 0), ("ids", 1))
}


def _collection(kind: str) -> MetricCollection:
    pairs = [(case, average) for case in KINDS[kind] for average in case.averages if average != "none"]
    return MetricCollection({f"{case.name}-{average}": case.make(average) for case, average in pairs})


def _expected(kind: str, batches: tuple[Batch, ...]) -> dict[str, Any]:
    collection = _collection(kind)
    collection.update(*joined(batches))
    return collection.compute()


LANGUAGES = ("de", "fr")


class _Model(LightningModule):
    """As in docs and examples: update per step, log and reset at the end of the epoch."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
        self.metrics, self.alone = _collection(kind), KINDS[kind][0].make("macro")
        self.grouped = GroupedMetric(KINDS[kind][0].make("macro"), LANGUAGES)
        self.values: list[dict[str, torch.Tensor]] = []
        self.dtypes: list[torch.dtype] = []

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def training_step(self, batch: torch.Tensor, index: int) -> torch.Tensor:
        return self.layer(batch).sum()

    def validation_step(self, batch: Batch, index: int) -> None:
        # In bf16-mixed this product is of bfloat16, so autocast is on.
        self.dtypes.append(self.layer(torch.ones(1, 4, dtype=self.layer.weight.dtype)).dtype)
        self.metrics.update(*batch)
        self.alone.update(*batch)
        self.grouped.update(*batch, [LANGUAGES[index % 2]] * len(batch[0]))
        self.log("alone", self.alone, on_step=False, on_epoch=True, batch_size=1)

    def on_validation_epoch_end(self) -> None:
        self.values.append({name: value.clone() for name, value in self.metrics.compute().items()})
        self.metrics.reset()
        self.log_dict({**self.values[-1], **self.grouped.compute()})
        self.grouped.reset()


@pytest.mark.parametrize(("kind", "precision"), [("text", "bf16-mixed"), ("ids", "bf16-true")])
def test_every_validation_epoch_of_a_fit_logs_the_exact_values(kind: str, precision: str, tmp_path: Path):
    """Of each language too, though no batch has both."""
    model, batches, case = _Model(kind), KINDS[kind][0].batches, KINDS[kind][0]
    stopping = callbacks.EarlyStopping(monitor="bleu_mean", mode="max", patience=1)
    fitting = trainer(tmp_path, precision=precision, max_epochs=9, num_sanity_val_steps=1, callbacks=[stopping])
    fitting.fit(model, Batches([torch.ones(2, 4)]), Batches(batches))
    assert set(model.dtypes) == {torch.bfloat16}

    sanity, first, second = model.values
    assert_same(sanity, _expected(kind, batches[:1]))
    assert_same(first, _expected(kind, batches))
    assert_same(second, first)
    alone, of_languages = case.value("macro"), [case.value("macro", batches[start::2]) for start in range(2)]
    grouped = {"mean": sum(of_languages) / 2, "all": alone, **dict(zip(LANGUAGES, of_languages, strict=True))}
    expected = {**first, "alone": alone, **{f"bleu_{name}": value for name, value in grouped.items()}}
    assert {name: float(value) for name, value in fitting.callback_metrics.items()} == pytest.approx(
        {name: float(value) for name, value in expected.items()}, abs=1e-6
    )
    assert stopping.best_score.item() == pytest.approx(float(grouped["mean"]), abs=1e-6)
