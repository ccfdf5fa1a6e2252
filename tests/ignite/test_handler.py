"""ScoresHandler on an engine of ignite: what its loggers are given of each run."""

import json
import sys
import types
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import pytest
import sacrebleu
from logged import COLUMNS, events, expected, samples_of, texts

import ngram_metrics
from ngram_metrics import evaluate
from ngram_metrics.functional import bleu_score, chrf_score

pytest.importorskip("ignite", reason="the classes for ignite are tested")

import ignite
from ignite.engine import Engine, Events
from ignite.handlers import ClearMLLogger, MLflowLogger, TensorboardLogger, WandBLogger, global_step_from_engine

from ngram_metrics.ignite import Bleu, ChrF, GroupedMetric, ROUGEScore, ScoresHandler

logs_to_wandb = pytest.mark.skipif(
    tuple(map(int, ignite.__version__.split(".")[:3])) < (0, 5, 5),
    reason="ignite before 0.5.5 calls wandb.log with what today's takes no more",
)
REFERENCES = ["the cat sat on the mat", "it was asleep", "a dog ran home"]
WRITTEN = {1: ["the cat", "it", "a cat ran home"], 2: ["the cat sat on a mat", "it was asleep", "a dog"]}


class Run(NamedTuple):
    """A trainer of two epochs, after each of which an evaluator runs over two batches, and its handler."""

    trainer: Engine
    evaluator: Engine
    handler: ScoresHandler


def prepare_run(samples: int = 5) -> Run:
    """The batches name their sides in their own way, which a function tells the metrics and the handler."""

    def sides(output: dict[str, Any]) -> dict[str, Any]:
        return {"y_pred": output["out"], "y": output["gold"]}

    trainer = Engine(lambda engine, batch: None)
    evaluator = Engine(lambda engine, batch: batch)
    options: dict[str, Any] = {"output_transform": sides, "metrics_result_mode": "both"}
    metrics = {
        "chrf": ChrF(confidence=0.9, **options),
        "bleu": Bleu(**options),
        "rouge": ROUGEScore(rouge_keys="rougeL", **options),
    }
    for name, metric in metrics.items():
        metric.attach(evaluator, name)

    @trainer.on(Events.EPOCH_COMPLETED)
    def validate() -> None:
        out = WRITTEN[trainer.state.epoch]
        evaluator.run([{"out": out[:1], "gold": REFERENCES[:1]}, {"out": out[1:], "gold": REFERENCES[1:]}])

    step = global_step_from_engine(trainer)
    handler = ScoresHandler(evaluator, metrics, samples=samples, global_step_transform=step, output_transform=sides)
    return Run(trainer, evaluator, handler)


class Written(NamedTuple):
    """The folder of TensorBoard after a run, and the values that the evaluator had after each epoch."""

    folder: Path
    values: dict[int, dict[str, Any]]


@pytest.fixture(scope="module")
def in_tensorboard(tmp_path_factory: pytest.TempPathFactory) -> Written:
    folder = tmp_path_factory.mktemp("tensorboard")
    run = prepare_run(samples=2)
    values: dict[int, dict[str, Any]] = {}
    with TensorboardLogger(log_dir=folder) as logger:
        logger.attach(run.evaluator, run.handler, Events.COMPLETED)

        @run.evaluator.on(Events.COMPLETED)
        def keep(evaluator: Engine) -> None:
            values[run.trainer.state.epoch] = dict(evaluator.state.metrics)

        run.trainer.run([0], max_epochs=2)
    return Written(folder, values)


NAMES = {
    "bleu",
    "chrf",
    "chrf_low",
    "chrf_high",
    "rouge_rougeL_precision",
    "rouge_rougeL_recall",
    "rouge_rougeL_fmeasure",
}


def test_tensorboard_has_every_value_and_both_ends_of_its_interval(in_tensorboard: Written):
    names = {f"validation/{name}" for name in NAMES}
    assert set(events(in_tensorboard.folder).Tags()["scalars"]) == names


@pytest.mark.parametrize("name", sorted(NAMES))
def test_tensorboard_has_the_values_of_each_epoch(in_tensorboard: Written, name: str):
    points = events(in_tensorboard.folder).Scalars(f"validation/{name}")
    assert [point.step for point in points] == [1, 2]
    assert [point.value for point in points] == pytest.approx([in_tensorboard.values[epoch][name] for epoch in (1, 2)])


@pytest.mark.parametrize("epoch", [1, 2])
def test_the_values_of_an_epoch_are_those_of_its_texts(in_tensorboard: Written, epoch: int):
    score = chrf_score(WRITTEN[epoch], REFERENCES).item()
    assert in_tensorboard.values[epoch]["chrf"] == pytest.approx(score)


def test_tensorboard_has_samples_of_each_epoch(in_tensorboard: Written):
    written = texts(in_tensorboard.folder, "validation/samples")
    assert [epoch for epoch, _ in written] == [1, 2]
    for epoch, text in written:
        assert samples_of(text) == expected(WRITTEN[epoch], REFERENCES, 2)


def test_tensorboard_has_the_signatures_with_the_samples(in_tensorboard: Written):
    for _, text in texts(in_tensorboard.folder, "validation/samples"):
        assert "- chrf: `nrefs:1|bs:1000|seed:12345|avg:micro|unit:text|" in text


@pytest.mark.parametrize("as_dict", [True, False])
def test_each_group_of_an_engine_is_read_by_its_own_options(tmp_path: Path, as_dict: bool):
    columns = {
        "y_pred": ["The cat sat on a mat.", "房子是空的。"],
        "y": ["The cat sat on the mat.", "这座房子是空的。"],
        "groups": ["en", "zh"],
    }
    evaluator = Engine(lambda engine, batch: batch)
    metric = GroupedMetric({"en": ngram_metrics.Bleu(), "zh": ngram_metrics.Bleu(tokenizer="zh")})
    metric.attach(evaluator, "bleu")
    ScoresHandler(evaluator, {"bleu": metric}, outputs=tmp_path, global_step_transform=lambda engine, event: 1)
    values = evaluator.run([columns if as_dict else tuple(columns.values())]).metrics
    english, chinese = zip(columns["y_pred"], columns["y"], strict=True)
    scores = {
        "en": bleu_score(*english).item(),
        "zh": bleu_score(*chinese, tokenizer="zh").item(),
    }
    assert values["bleu"] == {
        "bleu_en": pytest.approx(scores["en"]),
        "bleu_zh": pytest.approx(scores["zh"]),
        "bleu_mean": pytest.approx(sum(scores.values()) / 2),
    }
    (file,) = tmp_path.rglob("*.jsonl")
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert lines[1]["bleu"] == pytest.approx(bleu_score(*chinese, tokenizer="zh", average="none").item())


class RunWithOutputs(NamedTuple):
    """What two epochs wrote to a folder and to TensorBoard, and the values that the evaluator had after each."""

    outputs: Path
    tensorboard: Path
    values: dict[int, dict[str, Any]]


@pytest.fixture(scope="module")
def with_outputs(tmp_path_factory: pytest.TempPathFactory) -> RunWithOutputs:
    folder = tmp_path_factory.mktemp("outputs")
    trainer = Engine(lambda engine, batch: None)
    evaluator = Engine(lambda engine, batch: batch)
    metrics = {
        "bleu": 100 * Bleu(average="micro", smooth="exp", tokenizer="13a"),
        "chrf": ChrF(),
        "grouped": GroupedMetric(ChrF(), ["de", "fr"]),
    }
    for name, metric in metrics.items():
        metric.attach(evaluator, name)
    step = global_step_from_engine(trainer)
    handler = ScoresHandler(evaluator, metrics, outputs=folder / "outputs", details=True, global_step_transform=step)
    values: dict[int, dict[str, Any]] = {}

    @trainer.on(Events.EPOCH_COMPLETED)
    def validate() -> None:
        epoch = trainer.state.epoch
        batch = {"y_pred": WRITTEN[epoch], "y": REFERENCES, "groups": ["de"] * 3, "source": ["a", "b", "c"]}
        values[epoch] = dict(evaluator.run([batch]).metrics)

    with TensorboardLogger(log_dir=folder) as logger:
        logger.attach(evaluator, handler, Events.COMPLETED)
        trainer.run([0], max_epochs=2)
    return RunWithOutputs(folder / "outputs", folder, values)


each_epoch = pytest.mark.parametrize("epoch", WRITTEN)


@each_epoch
def test_a_run_that_writes_outputs_has_the_scores_of_sacrebleu(with_outputs: RunWithOutputs, epoch: int):
    theirs = sacrebleu.corpus_bleu(WRITTEN[epoch], [REFERENCES])
    assert with_outputs.values[epoch]["bleu"] == pytest.approx(theirs.score)


@each_epoch
def test_the_parts_of_bleu_are_values_of_the_run_if_details_are_asked_for(with_outputs: RunWithOutputs, epoch: int):
    theirs = sacrebleu.corpus_bleu(WRITTEN[epoch], [REFERENCES])
    values = with_outputs.values[epoch]
    assert values["bleu_brevity_penalty"] == pytest.approx(theirs.bp)
    assert values["bleu_length_ratio"] == pytest.approx(theirs.sys_len / theirs.ref_len)


def test_the_parts_of_bleu_are_logged(with_outputs: RunWithOutputs):
    assert len(events(with_outputs.tensorboard).Scalars("validation/bleu_brevity_penalty")) == 2


@each_epoch
def test_a_group_of_all_segments_has_the_score_of_all(with_outputs: RunWithOutputs, epoch: int):
    assert with_outputs.values[epoch]["grouped_de"] == pytest.approx(with_outputs.values[epoch]["chrf"])


def test_evaluate_reads_the_outputs_of_each_epoch(with_outputs: RunWithOutputs):
    results = evaluate(with_outputs.outputs, metrics="bleu,chrf").results
    assert list(results) == ["step-1", "step-2"]
    for epoch, of_epoch in enumerate(results.values(), 1):
        theirs = sacrebleu.corpus_bleu(WRITTEN[epoch], [REFERENCES])
        assert 100 * of_epoch["bleu"].score == pytest.approx(theirs.score)
        assert of_epoch["chrf"].score == pytest.approx(chrf_score(WRITTEN[epoch], REFERENCES).item())


def test_outputs_without_a_step_to_name_them_are_refused(tmp_path: Path):
    with pytest.raises(ValueError, match=r"^outputs was given without global_step_transform: pass both, because"):
        ScoresHandler(Engine(lambda engine, batch: batch), {"chrf": ChrF()}, outputs=tmp_path)


class Wandb:
    """The module wandb 0.31 as far as it is used: each call is noted, with the parameters that it has there."""

    def init(self) -> None: ...
    def Table(self, columns: Any = None, data: Any = None, rows: Any = None) -> Any: ...
    def log(self, data: dict[str, Any], step: int | None = None, commit: bool | None = None) -> None: ...


class Config:
    """Its configuration."""

    def update(self, d: dict[str, Any], allow_val_change: bool | None = None) -> None: ...


class Mlflow:
    """The module mlflow 3.17, likewise."""

    def active_run(self) -> Any: ...
    def log_text(self, text: str, artifact_file: str, run_id: str | None = None) -> None: ...
    def log_metrics(self, metrics: dict[str, float], step: int | None = None, synchronous: Any = None) -> Any: ...


class Clearml:
    """A clearml.Logger of clearml 2.1, likewise."""

    def report_text(self, msg: str, level: int = 20, print_console: bool = True, *args: Any, **_: Any) -> None: ...
    def report_scalar(self, title: str, series: str, value: float, iteration: int) -> None: ...


class OtherLoggers(NamedTuple):
    """What was called of the packages behind three loggers in a run of two epochs, with one sample."""

    wandb: Any
    mlflow: Any
    clearml: Any


@pytest.fixture(scope="module")
def other_loggers() -> OtherLoggers:
    wandb = mock.create_autospec(Wandb, instance=True)
    wandb.config = mock.create_autospec(Config, instance=True)
    mlflow = mock.create_autospec(Mlflow, instance=True)
    names = types.SimpleNamespace(validate_param_and_metric_name=lambda name: True)
    of_clearml = ClearMLLogger.__new__(ClearMLLogger)  # its constructor looks for a server
    of_clearml.clearml_logger = mock.create_autospec(Clearml, instance=True)
    modules = {"wandb": wandb, "mlflow": mlflow, "mlflow.utils": mlflow, "mlflow.utils.validation": names}
    run = prepare_run(samples=1)
    with mock.patch.dict(sys.modules, modules):
        for logger in (WandBLogger(), MLflowLogger(), of_clearml):
            logger.attach(run.evaluator, run.handler, Events.COMPLETED)
        run.trainer.run([0], max_epochs=2)
    return OtherLoggers(wandb, mlflow, of_clearml.clearml_logger)


@logs_to_wandb
@each_epoch
def test_wandb_is_given_the_values_and_then_the_table_of_samples(other_loggers: OtherLoggers, epoch: int):
    wandb = other_loggers.wandb
    values, table = wandb.log.call_args_list[2 * (epoch - 1) : 2 * epoch]
    assert values.args[0]["validation/chrf"] == pytest.approx(chrf_score(WRITTEN[epoch], REFERENCES).item())
    assert table == mock.call({"validation/samples": wandb.Table.return_value}, step=epoch)


@logs_to_wandb
@each_epoch
def test_the_table_of_wandb_has_the_samples(other_loggers: OtherLoggers, epoch: int):
    table = other_loggers.wandb.Table.call_args_list[epoch - 1].kwargs
    assert table["columns"] == COLUMNS
    assert [[*row[1:3], f"{row[3]:.4f}"] for row in table["data"]] == expected(WRITTEN[epoch], REFERENCES, 1)


@logs_to_wandb
def test_the_configuration_of_wandb_has_the_signatures(other_loggers: OtherLoggers):
    config, may_change = other_loggers.wandb.config.update.call_args.args
    assert config["chrf/signature"].startswith("nrefs:1|bs:1000|")
    assert may_change


@logs_to_wandb
@each_epoch
def test_mlflow_is_given_a_file_of_samples_and_the_values(other_loggers: OtherLoggers, epoch: int):
    text, path = other_loggers.mlflow.log_text.call_args_list[epoch - 1].args
    assert path == f"validation/samples/{epoch}.md"
    assert samples_of(text) == expected(WRITTEN[epoch], REFERENCES, 1)
    assert other_loggers.mlflow.log_metrics.call_args_list[epoch - 1].kwargs["step"] == epoch


@logs_to_wandb
@each_epoch
def test_clearml_is_given_the_samples_and_prints_nothing(other_loggers: OtherLoggers, epoch: int):
    call = other_loggers.clearml.report_text.call_args_list[epoch - 1]
    title, _, text = call.args[0].partition("\n\n")
    assert title == f"validation/samples, {epoch}"
    assert samples_of(text) == expected(WRITTEN[epoch], REFERENCES, 1)
    assert call.kwargs == {"print_console": False}


@logs_to_wandb
def test_clearml_is_given_every_value(other_loggers: OtherLoggers):
    assert other_loggers.clearml.report_scalar.call_count == 2 * len(NAMES)


def test_what_is_no_metric_of_this_package_is_refused():
    evaluator = Engine(lambda engine, batch: batch)
    with pytest.raises(TypeError, match=r"the metric f is a MetricsLambda .* a metric of ngram_metrics.ignite, or"):
        ScoresHandler(evaluator, {"f": ROUGEScore(confidence=0.9)["rougeL_fmeasure_low"]})


def test_a_logger_that_cannot_store_text_is_refused():
    run = prepare_run()
    with pytest.raises(TypeError, match="SimpleNamespace cannot store text: expected TensorboardLogger, WandBLogger"):
        run.handler(run.evaluator, types.SimpleNamespace(), Events.COMPLETED)


def test_a_metric_that_is_attached_to_no_engine_is_refused():
    evaluator = Engine(lambda engine, batch: batch)
    handler = ScoresHandler(evaluator, {"other": Bleu()})
    with pytest.raises(ValueError, match=r"no metric is attached as \['other'\]"):
        handler(evaluator, TensorboardLogger.__new__(TensorboardLogger), Events.COMPLETED)
