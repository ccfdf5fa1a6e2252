"""What torchmetrics and Lightning build on a metric: scripts, windows, and a real fit in every precision."""

import pickle
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pytest
import torch
from metrics.cases import CASES, FUNCTIONS, IDS, TEXT, Batch, Case, assert_same, each_metric, joined, named_pairs
from metrics.trainers import Batches, LightningModule, callbacks, trainer
from torchmetrics import MetricCollection
from torchmetrics.metric import CompositionalMetric
from torchmetrics.wrappers import Running

from ngram_metrics import Bleu, GroupedMetric, ROUGEScore
from ngram_metrics.functional import bleu_score


@each_metric
def test_a_metric_is_not_differentiable(case: Case, average: str):
    assert case.metric.is_differentiable is False
    assert case.make(average).is_differentiable is False


@each_metric
def test_a_forward_updates_once(case: Case, average: str):
    """``merge_state``, ``Running`` and Lightning require it."""
    assert case.metric.full_state_update is False
    assert case.make(average).full_state_update is False


@each_metric
def test_a_plot_begins_at_0(case: Case, average: str):
    assert case.metric.plot_lower_bound == 0
    assert case.make(average).plot_lower_bound == 0


@each_metric
def test_a_higher_score_is_better(case: Case, average: str):
    assert case.metric.higher_is_better
    assert case.make(average).higher_is_better


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:This property will be removed in 2.0.0:DeprecationWarning")
@pytest.mark.parametrize("average", ["macro", "none"])
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


def _check_windows_of_two(
    running: Running, batches: Sequence[Batch], value_of: Callable[[Sequence[Batch]], Any]
) -> None:
    """Each call returns the value of its batch, and compute that of the last two."""
    for index, batch in enumerate(batches):
        assert_same(running(*batch), value_of([batch]))
        assert_same(running.compute(), value_of(batches[max(0, index - 1) : index + 1]))


@each_score_of_the_corpus
def test_a_running_metric_scores_the_last_two_batches(case: Case, average: str):
    running = Running(case.make(average), window=2)
    _check_windows_of_two(running, case.batches, lambda batches: case.value(average, batches))


@each_of_several_values
def test_a_running_value_scores_the_last_two_batches(case: Case, average: str):
    name = _name_of_value(case)
    running = Running(case.make(average)[name], window=2)
    _check_windows_of_two(running, case.batches, lambda batches: case.value(average, batches)[name])


@each_score_of_the_corpus
def test_a_running_metric_is_pickled(case: Case, average: str):
    running = pickle.loads(pickle.dumps(Running(case.make(average), window=2)))
    _check_windows_of_two(running, case.batches, lambda batches: case.value(average, batches))


@each_of_several_values
def test_a_running_value_is_pickled(case: Case, average: str):
    name = _name_of_value(case)
    running = pickle.loads(pickle.dumps(Running(case.make(average)[name], window=2)))
    _check_windows_of_two(running, case.batches, lambda batches: case.value(average, batches)[name])


@each_score_of_the_corpus
def test_a_running_metric_counts_again_after_a_cast_and_a_reset(case: Case, average: str):
    running = Running(case.make(average), window=2)
    running.update(*case.batches[1])
    running.half().reset()  # ``Running`` keeps copies of the states, which a cast reaches too
    running.update(*case.batches[0])
    assert_same(running.compute(), case.value(average, case.batches[:1]))


@each_of_several_values
def test_a_running_value_counts_again_after_a_cast_and_a_reset(case: Case, average: str):
    name = _name_of_value(case)
    running = Running(case.make(average)[name], window=2)
    running.update(*case.batches[1])
    running.half().reset()  # ``Running`` keeps copies of the states, which a cast reaches too
    running.update(*case.batches[0])
    assert_same(running.compute(), case.value(average, case.batches[:1])[name])


@each_of_several_values
def test_one_value_has_a_hash_and_no_state_to_save(case: Case, average: str):
    value = case.filled(average, case.batches[:1])[_name_of_value(case)]
    assert hash(value) == hash(value)
    assert value.state_dict() == {}


@each_of_several_values
def test_one_value_is_merged(case: Case, average: str):
    name = _name_of_value(case)
    first = case.filled(average, case.batches[:1])[name]
    second = case.filled(average, case.batches[1:2])[name]
    first.merge_state(second)
    assert_same(first.compute(), case.value(average, case.batches[:2])[name])


@each_of_several_values
def test_changing_a_returned_value_in_place_does_not_change_what_is_kept(case: Case, average: str):
    name = _name_of_value(case)
    metric = case.make(average)[name]
    metric(*case.batches[2]).mul_(100)
    assert_same(metric._forward_cache, case.value(average, case.batches[2:3])[name])


def test_one_value_of_other_settings_is_not_merged():
    plain = ROUGEScore(use_stemmer=False)["rougeL_fmeasure"]
    of_stems = ROUGEScore(use_stemmer=True)["rougeL_fmeasure"]
    for metric in (plain, of_stems):
        metric.update(["the cats sat"], ["the cat sat"])
    with pytest.raises(ValueError, match="whose settings differ from this ROUGEScore"):
        plain.merge_state(of_stems)


def test_equal_compositions_count_by_themselves_in_a_collection():
    metrics = MetricCollection({"a": 100 * Bleu(), "b": 100 * Bleu(), "c": Bleu() + Bleu(average="macro")})
    batch = ["the cat sat on the mat"], ["the cat sat on a mat"]
    for _ in range(2):
        metrics.update(*batch)
        values = metrics.compute()
        assert values["a"] == values["b"] == 50 * values["c"] == 100 * bleu_score(*batch)
    assert len(metrics.compute_groups) == 3


BATCH = ["the cat sat on the mat"], ["the cat sat on a mat"]


def test_arithmetic_with_a_metric_is_torchmetrics_own():
    metric = 100 * Bleu()
    assert type(metric) is CompositionalMetric
    assert metric(*BATCH) == 100 * bleu_score(*BATCH)
    assert metric.compute() == 100 * bleu_score(*BATCH)


def test_arithmetic_with_a_metric_counts_again_after_a_reset():
    metric = 100 * Bleu()
    metric.update(["a"], ["b"])
    metric.reset()
    metric.update(*BATCH)
    assert metric.compute() == 100 * bleu_score(*BATCH)


def test_arithmetic_has_no_states_of_its_own_to_merge_or_to_take_back():
    metric = 100 * Bleu()
    with pytest.raises(ValueError, match="full_state_update"):
        Running(metric, window=2)
    with pytest.raises(RuntimeError, match="``merge_state`` is not supported"):
        metric.merge_state(100 * Bleu())


def _cases_of(batches: Any) -> list[Case]:
    """The metrics of one value on one kind of input, which go into one collection: Lightning logs numbers."""
    return [case for case in CASES if case.batches is batches and "confidence" not in case.options]


CASES_BY_KIND = {"text": _cases_of(TEXT), "ids": _cases_of(IDS)}


def _collection(kind: str) -> MetricCollection:
    metrics = {}
    for case in CASES_BY_KIND[kind]:
        for average in case.averages:
            if average != "none":
                metrics[f"{case.name}-{average}"] = case.make(average)
    return MetricCollection(metrics)


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
        self.metrics = _collection(kind)
        self.alone = CASES_BY_KIND[kind][0].make("macro")
        self.grouped = GroupedMetric(CASES_BY_KIND[kind][0].make("macro"), LANGUAGES)
        self.values: list[dict[str, torch.Tensor]] = []
        self.dtypes: list[torch.dtype] = []

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def training_step(self, batch: torch.Tensor, index: int) -> torch.Tensor:
        return self.layer(batch).sum()

    def validation_step(self, batch: Batch, index: int) -> None:
        # A product of bfloat16 shows that autocast is on, in bf16-mixed.
        self.dtypes.append(self.layer(torch.ones(1, 4, dtype=self.layer.weight.dtype)).dtype)
        self.metrics.update(*batch)
        self.alone.update(*batch)
        self.grouped.update(*batch, [LANGUAGES[index % 2]] * len(batch[0]))
        self.log("alone", self.alone, on_step=False, on_epoch=True, batch_size=1)

    def on_validation_epoch_end(self) -> None:
        values = {name: value.clone() for name, value in self.metrics.compute().items()}
        self.values.append(values)
        self.metrics.reset()
        self.log_dict({**values, **self.grouped.compute()})
        self.grouped.reset()


class Fit(NamedTuple):
    """A sanity check of one batch, and two epochs. Early stopping ended the fit, because the values stayed the same."""

    kind: str
    case: Case
    model: _Model
    logged: dict[str, float]
    stopping: Any


@pytest.fixture(scope="module", params=[("text", "bf16-mixed"), ("ids", "bf16-true")], ids="-".join)
def fit(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Fit:
    kind, precision = request.param
    case = CASES_BY_KIND[kind][0]
    model = _Model(kind)
    stopping = callbacks.EarlyStopping(monitor="bleu_mean", mode="max", patience=1)
    fitting = trainer(
        tmp_path_factory.mktemp("fit"), precision=precision, max_epochs=9, num_sanity_val_steps=1, callbacks=[stopping]
    )
    fitting.fit(model, Batches([torch.ones(2, 4)]), Batches(case.batches))
    logged = {name: float(value) for name, value in fitting.callback_metrics.items()}
    return Fit(kind, case, model, logged, stopping)


def test_the_fit_is_in_bfloat16(fit: Fit):
    assert set(fit.model.dtypes) == {torch.bfloat16}


def test_every_validation_epoch_of_a_fit_has_the_exact_values(fit: Fit):
    sanity, first, second = fit.model.values
    assert_same(sanity, _expected(fit.kind, fit.case.batches[:1]))
    assert_same(first, _expected(fit.kind, fit.case.batches))
    assert_same(second, _expected(fit.kind, fit.case.batches))


def test_a_fit_logs_the_values_of_a_collection(fit: Fit):
    for name, value in fit.model.values[-1].items():
        assert fit.logged[name] == pytest.approx(float(value), abs=1e-6)


def test_a_fit_logs_the_value_of_a_metric_at_the_end_of_the_epoch(fit: Fit):
    assert fit.logged["alone"] == pytest.approx(float(fit.case.value("macro")), abs=1e-6)


def test_a_fit_logs_the_value_of_each_language_though_no_batch_has_both(fit: Fit):
    german = float(fit.case.value("macro", fit.case.batches[0::2]))
    french = float(fit.case.value("macro", fit.case.batches[1::2]))
    assert fit.logged["bleu_de"] == pytest.approx(german, abs=1e-6)
    assert fit.logged["bleu_fr"] == pytest.approx(french, abs=1e-6)
    assert fit.logged["bleu_mean"] == pytest.approx((german + french) / 2, abs=1e-6)
    assert fit.logged["bleu_all"] == pytest.approx(float(fit.case.value("macro")), abs=1e-6)


def test_early_stopping_monitors_the_mean_of_the_languages(fit: Fit):
    assert fit.stopping.best_score.item() == pytest.approx(fit.logged["bleu_mean"], abs=1e-6)
    assert fit.stopping.stopped_epoch == 1
