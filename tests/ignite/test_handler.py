"""ScoresHandler on an engine of ignite: what its loggers are given of each run."""

import json
import sys
import types
from pathlib import Path
from typing import Any
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


def engines(**options: Any) -> tuple[Engine, Engine, ScoresHandler]:
    """A trainer of two epochs, after each of which an evaluator runs over two batches, and its handler."""
    trainer, evaluator = Engine(lambda engine, batch: None), Engine(lambda engine, batch: batch)
    every: dict[str, Any] = {"output_transform": lambda output: {"y_pred": output["out"], "y": output["gold"]}}
    of_metrics = every | {"metrics_result_mode": options.pop("mode", "both")}
    metrics = {"chrf": ChrF(confidence=0.9, **of_metrics), "bleu": Bleu(**of_metrics)}
    metrics |= {"rouge": ROUGEScore(rouge_keys="rougeL", **of_metrics)}
    for name, metric in metrics.items():
        metric.attach(evaluator, name)

    @trainer.on(Events.EPOCH_COMPLETED)
    def validate() -> None:
        out = WRITTEN[trainer.state.epoch]
        evaluator.run([{"out": out[:1], "gold": REFERENCES[:1]}, {"out": out[1:], "gold": REFERENCES[1:]}])

    step = global_step_from_engine(trainer)
    return trainer, evaluator, ScoresHandler(evaluator, metrics, global_step_transform=step, **every, **options)


def test_tensorboard_has_values_intervals_signatures_and_samples_each_epoch(tmp_path: Path):
    trainer, evaluator, handler = engines(samples=2)
    with TensorboardLogger(log_dir=tmp_path) as logger:
        logger.attach(evaluator, handler, Events.COMPLETED)
        runs: list[dict[str, Any]] = []
        evaluator.add_event_handler(Events.COMPLETED, lambda engine: runs.append(dict(engine.state.metrics)))
        trainer.run([0], max_epochs=2)
    written = events(tmp_path)
    names = [name for name, value in runs[0].items() if not isinstance(value, dict)]
    assert {"bleu", "chrf", "chrf_low", "chrf_high", "rouge_rougeL_fmeasure"} <= {*names}
    assert {*written.Tags()["scalars"]} == {f"validation/{name}" for name in names}
    for name in names:
        points = [(point.step, point.value) for point in written.Scalars(f"validation/{name}")]
        assert points == [(epoch, pytest.approx(run[name])) for epoch, run in enumerate(runs, 1)]
    for run, (epoch, text) in zip(runs, texts(tmp_path, "validation/samples"), strict=True):
        assert run["chrf"] == pytest.approx(float(chrf_score(WRITTEN[epoch], REFERENCES)))
        assert samples_of(text) == expected(WRITTEN[epoch], REFERENCES, 2)
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


def test_each_run_writes_all_segments_to_a_file_that_evaluate_reads(tmp_path: Path):
    trainer, evaluator = Engine(lambda engine, batch: None), Engine(lambda engine, batch: batch)
    grouped = GroupedMetric(ChrF(), ["de", "fr"])
    metrics = {"bleu": 100 * Bleu(average="micro", smooth="exp", tokenizer="13a"), "chrf": ChrF(), "grouped": grouped}
    for name, metric in metrics.items():
        metric.attach(evaluator, name)
    step = global_step_from_engine(trainer)
    outputs = tmp_path / "outputs"
    handler = ScoresHandler(evaluator, metrics, outputs=outputs, details=True, global_step_transform=step)
    of_sacrebleu = {epoch: sacrebleu.corpus_bleu(texts, [REFERENCES]) for epoch, texts in WRITTEN.items()}

    @trainer.on(Events.EPOCH_COMPLETED)
    def validate() -> None:
        texts = WRITTEN[trainer.state.epoch]
        found = evaluator.run(
            [{"y_pred": texts, "y": REFERENCES, "groups": ["de"] * 3, "source": ["a", "b", "c"]}]
        ).metrics
        expected = of_sacrebleu[trainer.state.epoch]
        assert found["bleu"] == pytest.approx(expected.score)
        assert found["grouped_de"] == pytest.approx(found["chrf"])
        assert found["bleu_brevity_penalty"] == pytest.approx(expected.bp)
        assert found["bleu_length_ratio"] == pytest.approx(expected.sys_len / expected.ref_len)

    with TensorboardLogger(log_dir=tmp_path) as logger:
        logger.attach(evaluator, handler, Events.COMPLETED)
        trainer.run([0], max_epochs=2)
    assert len(events(tmp_path).Scalars("validation/bleu_brevity_penalty")) == 2
    results = evaluate(outputs, metrics="bleu,chrf").results
    assert list(results) == ["step-1", "step-2"]
    for epoch, values in enumerate(results.values(), 1):
        assert 100 * values["bleu"].score == pytest.approx(of_sacrebleu[epoch].score)
        assert values["chrf"].score == pytest.approx(float(chrf_score(WRITTEN[epoch], REFERENCES)))
    with pytest.raises(
        ValueError,
        match=r"^outputs was given without global_step_transform: pass both, because",
    ):
        ScoresHandler(evaluator, metrics, outputs=outputs)


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


@logs_to_wandb
def test_other_loggers_are_given_what_they_take(monkeypatch: pytest.MonkeyPatch):
    wandb, mlflow, clearml = (mock.create_autospec(of, instance=True) for of in (Wandb, Mlflow, Clearml))
    wandb.config = mock.create_autospec(Config, instance=True)
    names = types.SimpleNamespace(validate_param_and_metric_name=lambda name: True)
    modules = {"wandb": wandb, "mlflow": mlflow, "mlflow.utils": mlflow, "mlflow.utils.validation": names}
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    third = ClearMLLogger.__new__(ClearMLLogger)  # its constructor looks for a server
    third.clearml_logger = clearml
    trainer, evaluator, handler = engines(samples=1)
    for logger in (WandBLogger(), MLflowLogger(), third):
        logger.attach(evaluator, handler, Events.COMPLETED)
    trainer.run([0], max_epochs=2)
    for epoch in (1, 2):
        values, table = wandb.log.call_args_list[2 * epoch - 2 : 2 * epoch]
        assert values.args[0]["validation/chrf"] == pytest.approx(float(chrf_score(WRITTEN[epoch], REFERENCES)))
        assert table == mock.call({"validation/samples": wandb.Table.return_value}, step=epoch)
        columns, rows = (wandb.Table.call_args_list[epoch - 1].kwargs[key] for key in ("columns", "data"))
        assert columns == COLUMNS
        assert [[*row[1:3], f"{row[3]:.4f}"] for row in rows] == expected(WRITTEN[epoch], REFERENCES, 1)
        text, path = mlflow.log_text.call_args_list[epoch - 1].args
        assert path == f"validation/samples/{epoch}.md"
        assert samples_of(text) == expected(WRITTEN[epoch], REFERENCES, 1)
        assert clearml.report_text.call_args_list[epoch - 1] == mock.call(
            f"validation/samples, {epoch}\n\n{text}", print_console=False
        )
        assert mlflow.log_metrics.call_args_list[epoch - 1].kwargs["step"] == epoch
    config, may_change = wandb.config.update.call_args.args
    assert config["chrf/signature"].startswith("nrefs:1|bs:1000|")
    assert may_change
    assert clearml.report_scalar.call_count == 2 * (1 + 3 + 3)


def test_what_cannot_be_written_is_refused():
    _, evaluator, handler = engines()
    with pytest.raises(TypeError, match=r"the metric f is a MetricsLambda .* a metric of ngram_metrics.ignite, or"):
        ScoresHandler(evaluator, {"f": ROUGEScore(confidence=0.9)["rougeL_fmeasure_low"]})
    with pytest.raises(TypeError, match="SimpleNamespace cannot store text: expected TensorboardLogger, WandBLogger"):
        handler(evaluator, types.SimpleNamespace(), Events.COMPLETED)
    _, evaluator, _ = engines()
    handler = ScoresHandler(evaluator, {"other": Bleu()})
    with pytest.raises(ValueError, match=r"no metric is attached as \['other'\]"):
        handler(evaluator, TensorboardLogger.__new__(TensorboardLogger), Events.COMPLETED)
