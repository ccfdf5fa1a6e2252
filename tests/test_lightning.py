"""ScoresCallback under a real Trainer: what loggers and other callbacks are given of a fit, a validation and a test."""

import csv
import json
import pickle
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import pytest
import sacrebleu
import torch
from logged import COLUMNS, events, expected, samples_of, texts
from torchmetrics import MetricCollection

from ngram_metrics import Bleu, ChrF, GroupedMetric, ROUGEScore, evaluate
from ngram_metrics.functional import bleu_score, chrf_score
from ngram_metrics.hugging_face import ComputeMetrics

pytest.importorskip("ignite", reason="the classes for ignite are tested")
pytest.importorskip("lightning", reason="its Trainer runs")

from ignite.engine import Engine
from metrics.trainers import Batches, LightningModule, Trainer, callbacks, loggers, trainer

import ngram_metrics.ignite
from ngram_metrics.lightning import ScoresCallback

REFERENCES = ["the cat sat on the mat", "it was asleep", "a dog ran home", "we saw it"]
#: What the model writes in each epoch: the second is the best.
WRITTEN = (
    ["the cat", "it", "a cat ran home", "no"],
    ["the cat sat on a mat", "it was asleep", "a dog ran home", "we saw a cat"],
    ["the cat sat", "it was", "a dog", "we"],
)
#: The batches of a validation, by the numbers of their segments.
BATCHES = [[0, 1], [2, 3]]


class Model(LightningModule):
    def __init__(self, returned: Any = None, has_sources: bool = False) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
        self.returned = returned
        self.has_sources = has_sources

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def training_step(self, batch: torch.Tensor, index: int) -> torch.Tensor:
        return self.layer(batch).sum()

    def validation_step(self, batch: list[int], index: int, dataloader_idx: int = 0) -> Any:
        if self.returned is not None:
            return self.returned
        written = WRITTEN[(self.current_epoch + dataloader_idx) % 3]
        output: dict[str, Any] = {
            "preds": [written[segment] for segment in batch],
            "target": [REFERENCES[segment] for segment in batch],
            "loss": torch.ones(()),
        }
        if self.has_sources:
            output["source"] = [str(segment) for segment in batch]
        return output

    test_step = validation_step


def scores(**options: Any) -> ScoresCallback:
    rouge = ROUGEScore(rouge_keys="rougeL")
    return ScoresCallback({"chrf": ChrF(confidence=0.9), "bleu": Bleu(), "rouge": rouge}, **options)


def fit(folder: Path, callbacks: Sequence[Any], has_sources: bool = False, **options: Any) -> Any:
    fitting = trainer(folder, max_epochs=3, callbacks=callbacks, log_every_n_steps=1, **options)
    fitting.fit(Model(has_sources=has_sources), Batches([torch.ones(2, 4)] * 2), Batches(BATCHES))
    return fitting


def values_of(epoch: int) -> dict[str, float]:
    chrf = ChrF(confidence=0.9)
    chrf.update(WRITTEN[epoch], REFERENCES)
    values = {"bleu": bleu_score(WRITTEN[epoch], REFERENCES), **chrf.compute()}
    return {name: float(value) for name, value in values.items()}


class Fit(NamedTuple):
    """A fit of three epochs with TensorBoard and two other callbacks."""

    folder: str
    best: Any
    stopper: Any


@pytest.fixture(scope="module")
def in_tensorboard(tmp_path_factory: pytest.TempPathFactory) -> Fit:
    """The stopper stands first, the callback was pickled, as where processes are spawned, and the sanity check runs."""
    folder = tmp_path_factory.mktemp("fit")
    best = callbacks.ModelCheckpoint(monitor="val/chrf", mode="max", filename="best-{epoch}")
    stopper = callbacks.EarlyStopping(monitor="val/chrf", mode="max", patience=1)
    logger = loggers.TensorBoardLogger(folder, name="")
    callback = pickle.loads(pickle.dumps(scores(samples=1)))
    fit(folder, [stopper, callback, best], logger=logger, num_sanity_val_steps=2, enable_checkpointing=True)
    return Fit(logger.log_dir, best, stopper)


def test_other_callbacks_see_the_values(in_tensorboard: Fit):
    assert in_tensorboard.stopper.stopped_epoch == 2
    assert Path(in_tensorboard.best.best_model_path).stem == "best-epoch=1"


@pytest.mark.parametrize("name", ["bleu", "chrf", "chrf_low", "chrf_high"])
def test_a_fit_writes_values_and_intervals_each_epoch(in_tensorboard: Fit, name: str):
    points = events(in_tensorboard.folder).Scalars(f"val/{name}")
    assert [point.step for point in points] == [1, 3, 5]
    assert [point.value for point in points] == pytest.approx([values_of(epoch)[name] for epoch in range(3)])


def test_a_fit_writes_the_values_of_a_dict_each_epoch(in_tensorboard: Fit):
    assert len(events(in_tensorboard.folder).Scalars("val/rouge_rougeL_fmeasure")) == 3


def test_a_fit_writes_samples_each_epoch(in_tensorboard: Fit):
    written = texts(in_tensorboard.folder, "val/samples")
    assert [step for step, _ in written] == [1, 3, 5]
    for epoch, (_, text) in enumerate(written):
        assert samples_of(text) == expected(WRITTEN[epoch], REFERENCES, 1)


def test_a_fit_writes_the_signatures_with_the_samples(in_tensorboard: Fit):
    for _, text in texts(in_tensorboard.folder, "val/samples"):
        assert "- bleu: `nrefs:1|avg:micro|unit:text|case:mixed|eff:no|tok:13a|smooth:exp|" in text
        assert "- chrf: `nrefs:1|bs:1000|" in text


class Client:
    """An MlflowClient of mlflow 3.17: the method that is used."""

    def log_text(self, run_id: str, text: str, artifact_file: str) -> None: ...


class Experiment:
    """An experiment of comet_ml 3.58: the method that is used."""

    def log_text(self, text: str, step: int | None = None, metadata: dict[str, Any] | None = None) -> None: ...


class OtherLoggers(NamedTuple):
    """What the loggers were given in a fit of three epochs, and its warnings."""

    wandb: Any
    mlflow: Any
    comet: Any
    csv_folder: Path
    without_text: Any
    warnings: list[str]


@pytest.fixture(scope="module")
def other_loggers(tmp_path_factory: pytest.TempPathFactory) -> OtherLoggers:
    folder = tmp_path_factory.mktemp("loggers")
    wandb = mock.create_autospec(loggers.WandbLogger, instance=True)
    mlflow = mock.create_autospec(loggers.MLFlowLogger, instance=True)
    mlflow.experiment = mock.create_autospec(Client, instance=True)
    mlflow.run_id = "run 7"
    comet = mock.create_autospec(loggers.CometLogger, instance=True)
    comet.experiment = mock.create_autospec(Experiment, instance=True)
    of_csv = loggers.CSVLogger(folder, name="")
    without_text = mock.create_autospec(loggers.Logger, instance=True)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        fit(folder, [scores(samples=2)], logger=[wandb, mlflow, comet, of_csv, without_text])
    messages = [str(warning.message) for warning in warned]
    return OtherLoggers(wandb, mlflow, comet, Path(of_csv.log_dir), without_text, messages)


#: The step at the end of each epoch.
STEPS = (1, 3, 5)


def test_wandb_is_given_a_table_of_samples_each_epoch(other_loggers: OtherLoggers):
    for epoch, step in enumerate(STEPS):
        (key,), table = other_loggers.wandb.log_text.call_args_list[epoch]
        assert (key, table["step"]) == ("val/samples", step)
        assert table["columns"] == COLUMNS
        assert [[*row[1:3], f"{row[3]:.4f}"] for row in table["data"]] == expected(WRITTEN[epoch], REFERENCES, 2)


def test_mlflow_is_given_samples_each_epoch(other_loggers: OtherLoggers):
    for epoch, step in enumerate(STEPS):
        run, text, path = other_loggers.mlflow.experiment.log_text.call_args_list[epoch].args
        assert (run, path) == ("run 7", f"val/samples/{step}.md")
        assert samples_of(text) == expected(WRITTEN[epoch], REFERENCES, 2)


def test_comet_is_given_samples_each_epoch(other_loggers: OtherLoggers):
    for epoch, step in enumerate(STEPS):
        call = other_loggers.comet.experiment.log_text.call_args_list[epoch]
        assert call.kwargs == {"step": step, "metadata": {"name": "val/samples"}}
        assert samples_of(call.args[0]) == expected(WRITTEN[epoch], REFERENCES, 2)


def test_a_logger_of_csv_files_has_a_file_of_samples_for_each_epoch(other_loggers: OtherLoggers):
    for epoch, step in enumerate(STEPS):
        text = (other_loggers.csv_folder / f"val/samples/{step}.md").read_text()
        assert samples_of(text) == expected(WRITTEN[epoch], REFERENCES, 2)


def test_a_logger_of_csv_files_has_the_values_of_each_epoch(other_loggers: OtherLoggers):
    with (other_loggers.csv_folder / "metrics.csv").open() as file:
        values = [float(row["val/chrf_low"]) for row in csv.DictReader(file) if row["val/chrf_low"]]
    assert values == pytest.approx([values_of(epoch)["chrf_low"] for epoch in range(3)])


def test_a_logger_without_texts_is_warned_of_once(other_loggers: OtherLoggers):
    told = [message for message in other_loggers.warnings if "cannot store text" in message]
    assert len(told) == 1
    assert "MagicMock cannot store text: the samples are not written" in told[0]


def test_the_signatures_are_hyperparameters_of_every_logger(other_loggers: OtherLoggers):
    (config,) = other_loggers.wandb.log_hyperparams.call_args.args
    signature = config["val/chrf/signature"]
    assert signature.startswith("nrefs:1|bs:1000|seed:12345|avg:micro|unit:text|")
    assert other_loggers.without_text.log_hyperparams.call_args == other_loggers.wandb.log_hyperparams.call_args
    assert signature in (other_loggers.csv_folder / "hparams.yaml").read_text().replace("\n  ", " ")


class FitWithOutputs(NamedTuple):
    """A fit of three epochs whose outputs went to a folder."""

    trainer: Any
    outputs: Path
    values: dict[str, float]


@pytest.fixture
def with_outputs(tmp_path: Path) -> FitWithOutputs:
    metrics = {"bleu": 100 * Bleu(), "rougeL": ROUGEScore(rouge_keys="rougeL")["rougeL_fmeasure"]}
    callback = ScoresCallback(metrics, samples=0, outputs=tmp_path / "outputs", details=True)
    fitted = fit(tmp_path, [callback], has_sources=True, num_sanity_val_steps=2)
    values = {name: float(value) for name, value in fitted.callback_metrics.items()}
    return FitWithOutputs(fitted, tmp_path / "outputs", values)


def test_each_validation_of_a_fit_writes_all_segments(with_outputs: FitWithOutputs):
    for epoch, step in enumerate((2, 4, 6)):  # after two batches an epoch
        lines = (with_outputs.outputs / f"step-{step}.jsonl").read_text().splitlines()
        written = [json.loads(line) for line in lines]
        assert [line["hypothesis"] for line in written] == WRITTEN[epoch]
        assert [line["source"] for line in written] == ["0", "1", "2", "3"]
        scores = 100 * bleu_score(WRITTEN[epoch], REFERENCES, average="none")
        assert [line["bleu"] for line in written] == pytest.approx(scores.tolist())


def test_evaluate_reads_the_outputs_of_a_fit(with_outputs: FitWithOutputs):
    results = evaluate(with_outputs.outputs, metrics="bleu").results
    assert list(results) == ["step-2", "step-4", "step-6"]
    for epoch, result in enumerate(results.values()):
        assert result["bleu"].score == pytest.approx(float(bleu_score(WRITTEN[epoch], REFERENCES)))


def test_the_parts_of_bleu_are_logged_if_details_are_asked_for(with_outputs: FitWithOutputs):
    last = sacrebleu.corpus_bleu(WRITTEN[2], [REFERENCES])
    assert with_outputs.values["val/bleu"] == pytest.approx(last.score)
    assert with_outputs.values["val/bleu_brevity_penalty"] == pytest.approx(last.bp)
    assert with_outputs.values["val/bleu_length_ratio"] == pytest.approx(last.sys_len / last.ref_len)
    assert {name for name in with_outputs.values if "rouge" in name} == {"val/rougeL"}


def test_no_later_validation_or_test_replaces_a_file_of_the_fit(with_outputs: FitWithOutputs):
    """Their weights may be those of another step."""
    running = with_outputs.trainer
    running.validate(running.model, Batches(BATCHES[:1]), verbose=False)
    running.test(running.model, [Batches(BATCHES[:1]), Batches(BATCHES)], verbose=False)
    files = {str(path.relative_to(with_outputs.outputs)) for path in with_outputs.outputs.rglob("*.jsonl")}
    of_the_fit = {"step-2.jsonl", "step-4.jsonl", "step-6.jsonl"}
    of_the_test = {f"test/dataloader_idx_{index}/step-6.jsonl" for index in range(2)}
    assert files == of_the_fit | {"val/step-6.jsonl"} | of_the_test


def test_groups_of_a_step_reach_the_metrics_that_take_them(tmp_path: Path):
    hypotheses = WRITTEN[0]
    references = REFERENCES
    groups = ["de", "fr", "de", "fr"]
    returned = {"preds": hypotheses, "target": references, "groups": groups}
    metrics = {"chrf": GroupedMetric(ChrF(), ["de", "fr"]), "bleu": Bleu()}
    running = trainer(tmp_path, callbacks=[ScoresCallback(metrics, outputs=tmp_path / "outputs", details=True)])
    (logged,) = running.validate(Model(returned), Batches([[0]]), verbose=False)
    assert logged["val/chrf_de"] == pytest.approx(float(chrf_score(hypotheses[::2], references[::2])))
    assert logged["val/chrf_all"] == pytest.approx(float(chrf_score(hypotheses, references)))
    assert logged["val/bleu"] == pytest.approx(float(bleu_score(hypotheses, references)))
    lines = (tmp_path / "outputs" / "val" / "step-0.jsonl").read_text().splitlines()
    of_segments = chrf_score(hypotheses, references, average="none").tolist()
    assert [json.loads(line)["chrf"] for line in lines] == pytest.approx(of_segments)


def test_each_group_of_a_step_is_read_by_its_own_options(tmp_path: Path):
    returned = {
        "preds": ["The cat sat on a mat.", "房子是空的。", "The dog ran home."],
        "target": ["The cat sat on the mat.", "这座房子是空的。", "The dog ran away."],
        "groups": ["en", "zh", "en"],
    }
    metrics = {"bleu": GroupedMetric({"en": Bleu(), "zh": Bleu(tokenizer="zh")})}
    running = trainer(tmp_path, callbacks=[ScoresCallback(metrics, outputs=tmp_path / "outputs", details=True)])
    (logged,) = running.validate(Model(returned), Batches([[0]]), verbose=False)
    english = [returned[side][::2] for side in ("preds", "target")]
    chinese = [returned[side][1:2] for side in ("preds", "target")]
    assert logged["val/bleu_en"] == pytest.approx(float(bleu_score(*english)))
    assert logged["val/bleu_zh"] == pytest.approx(float(bleu_score(*chinese, tokenizer="zh")))
    assert logged["val/bleu_mean"] == pytest.approx((logged["val/bleu_en"] + logged["val/bleu_zh"]) / 2)
    lines = (tmp_path / "outputs" / "val" / "step-0.jsonl").read_text().splitlines()
    scores = bleu_score(*english, average="none").tolist()
    scores.insert(1, *bleu_score(*chinese, tokenizer="zh", average="none").tolist())
    assert [json.loads(line)["bleu"] for line in lines] == pytest.approx(scores)


def test_a_process_that_is_not_the_first_logs_values_and_writes_no_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Trainer, "is_global_zero", property(lambda running: False))
    wandb = mock.create_autospec(loggers.WandbLogger, instance=True)
    running = fit(tmp_path, [scores(samples=2)], logger=[wandb, loggers.CSVLogger(tmp_path)])
    assert wandb.log_text.call_count == wandb.log_hyperparams.call_count == 0
    assert float(running.callback_metrics["val/chrf"]) == pytest.approx(values_of(2)["chrf"])


@pytest.mark.parametrize("stage", ["validate", "test"])
def test_each_of_several_loaders_is_scored_by_itself(stage: str, tmp_path: Path):
    logger = loggers.TensorBoardLogger(tmp_path, name="")
    prefix = {"validate": "val", "test": "test"}[stage]
    running = trainer(tmp_path, logger=logger, callbacks=[scores()])
    for loaders in ([Batches(BATCHES), Batches(BATCHES[:1])], [Batches(BATCHES)]):
        getattr(running, stage)(Model(), loaders, verbose=False)
    logger.finalize("success")
    for suffix, epoch, segments in (("/dataloader_idx_0", 0, 4), ("/dataloader_idx_1", 1, 2), ("", 0, 4)):
        (point,) = events(logger.log_dir).Scalars(f"{prefix}/chrf{suffix}")
        assert point.value == pytest.approx(float(chrf_score(WRITTEN[epoch][:segments], REFERENCES[:segments])))
        ((_, text),) = texts(logger.log_dir, f"{prefix}/samples{suffix}")
        assert samples_of(text) == expected(WRITTEN[epoch][:segments], REFERENCES[:segments], 5)


@pytest.mark.parametrize(
    ("returned", "found"), [(torch.ones(()), "Tensor"), ({"preds": [], "loss": 1}, r"a dict with \['preds', 'loss'\]")]
)
@pytest.mark.parametrize(("stage", "step"), [("validate", "validation_step"), ("test", "test_step")])
def test_a_step_that_returns_something_else_is_told(returned: Any, found: str, stage: str, step: str, tmp_path: Path):
    running = trainer(tmp_path, callbacks=[scores()])
    with pytest.raises(TypeError, match=f"^{step} must return a dict with 'preds' and 'target' .got: {found}.$"):
        getattr(running, stage)(Model(returned), Batches(BATCHES), verbose=False)


@pytest.mark.filterwarnings("error::UserWarning")
def test_a_fast_dev_run_warns_of_nothing(tmp_path: Path):
    running = trainer(tmp_path, callbacks=[scores()], fast_dev_run=True, logger=loggers.CSVLogger(tmp_path))
    running.validate(Model(), Batches(BATCHES[1:]), verbose=False)


def test_the_metrics_go_to_the_device_of_the_module():
    callback = scores()
    running = mock.Mock(testing=False, num_val_batches=[1])
    callback.on_validation_epoch_start(running, mock.Mock(device=torch.device("meta")))
    (scored,) = callback._scored
    assert {metric.device.type for metric in scored.metrics.values()} == {"meta"}


def test_samples_get_the_optimizer_step_if_lightning_has_no_name_for_the_step_of_values():
    comet = mock.create_autospec(loggers.CometLogger, instance=True)
    comet.experiment = mock.create_autospec(Experiment, instance=True)
    running = mock.Mock(testing=False, sanity_checking=False, num_val_batches=[1], loggers=[comet], global_step=7)
    running.fit_loop.epoch_loop = object()
    callback = scores(samples=1)
    module = mock.Mock(device=torch.device("cpu"))
    callback.on_validation_epoch_start(running, module)
    callback.on_validation_batch_end(running, module, {"preds": WRITTEN[0], "target": REFERENCES}, None, 0)
    callback.on_validation_epoch_end(running, module)
    assert comet.experiment.log_text.call_args.kwargs["step"] == 7


def test_wrong_arguments_are_refused_at_once():
    with pytest.raises(ValueError, match="the metric 'chrf' has average='none'"):
        ScoresCallback({"chrf": ChrF(average="none")})


def names_on_page() -> list[list[str]]:
    """The names in each row of the table of names, without those of the ways."""
    page = (Path(__file__).parents[1] / "docs" / "guides" / "lightning.md").read_text()
    section = page.partition("### The names of values\n")[2].partition("\n#")[0]
    rows = [line.split("|")[2:] for line in section.splitlines() if line.startswith("| ")][1:]
    return [re.findall("`(.+?)`", "".join(cells)) for cells in rows]


class Logging(Model):
    """Logs a collection itself."""

    def __init__(self, metrics: dict[str, Any]) -> None:
        super().__init__()
        self.metrics = MetricCollection(metrics, prefix="val/")

    def validation_step(self, batch: list[int], index: int) -> None:
        self.metrics.update(WRITTEN[0], REFERENCES)

    def on_validation_epoch_end(self) -> None:
        self.log_dict(self.metrics.compute())


def test_the_page_shows_the_names_that_each_way_of_logging_gives(tmp_path: Path):
    def metrics(package: Any = ngram_metrics) -> dict[str, Any]:
        return {"quality": package.ChrF(confidence=0.95), "summary": package.ROUGEScore(rouge_keys="rougeL")}

    def logged(model: LightningModule, of_ours: Sequence[Any] = ()) -> set[str]:
        validating = trainer(tmp_path, callbacks=list(of_ours))
        validating.validate(model, Batches(BATCHES), verbose=False)
        return set(validating.callback_metrics)

    evaluator = Engine(lambda engine, batch: batch)
    for name, metric in metrics(ngram_metrics.ignite).items():
        metric.attach(evaluator, name)
    attached = evaluator.run([(WRITTEN[0], REFERENCES)]).metrics
    ids = torch.tensor([[5, 6, 7]])
    computed = ComputeMetrics(
        {"quality": ChrF(confidence=0.95, pad_id=0), "summary": ROUGEScore(rouge_keys="rougeL", pad_id=0)}
    )((ids, ids))
    clashing = logged(Logging({**metrics(), "other": ChrF(confidence=0.95)}))
    items = {"quality": ChrF(), "summary": ROUGEScore(rouge_keys="rougeL")["rougeL_fmeasure"]}
    assert list(map(set, names_on_page())) == [
        logged(Model(), [ScoresCallback(metrics())]),
        set(attached),
        set(computed),
        logged(Logging(metrics())),
        {name for name in clashing if "other" not in name},
        logged(Logging(items)),
    ]


class LoggingOneMetric(Model):
    """Logs the same metric for each loader, as Troubleshooting warns."""

    def __init__(self) -> None:
        super().__init__()
        self.chrf = ChrF()

    def validation_step(self, batch: list[int], index: int, dataloader_idx: int = 0) -> None:
        self.chrf.update([WRITTEN[0][n] for n in batch], [REFERENCES[n] for n in batch])
        self.log("chrf", self.chrf, batch_size=len(batch))


def test_lightning_keeps_the_counts_of_the_first_loader_in_a_metric_that_two_loaders_log(tmp_path: Path):
    loaders = [Batches(BATCHES[:1]), Batches(BATCHES[1:])]
    _, second = trainer(tmp_path).validate(LoggingOneMetric(), loaders, verbose=False)
    both = float(chrf_score(WRITTEN[0], REFERENCES, average="micro"))
    assert second == {"chrf/dataloader_idx_1": pytest.approx(both)}
