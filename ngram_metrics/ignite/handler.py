"""The scores of a run of ignite's ``Engine``, written to its loggers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ngram_metrics._core.basics.keywords import named_arguments
from ngram_metrics._core.scoring.segment_table import SegmentTable
from ngram_metrics._torchmetrics.values import refuse_shared_names
from ngram_metrics.ignite.metric import Engine, Events, IgniteMetric, IgniteValue, OutputTransform, unchanged

__all__ = ["ScoresHandler"]


class ScoresHandler:
    """Writes values, intervals, signatures and the first segments with their scores to a logger of ignite.

    The page is docs/guides/ignite.md. First attach the metrics, then the handler, to one logger or several:
    ``tb_logger.attach(evaluator, ScoresHandler(evaluator, metrics), Events.COMPLETED)``. It writes the values like
    ``tb_logger.attach_output_handler``, and the signatures and the first segments of the run: as Markdown to
    TensorBoard, MLflow and ClearML, as configuration and a table to Weights & Biases. In a distributed run, attach it
    to the logger of process 0 only: values cover all segments; segments and ``nrefs`` are from process 0.

    Args:
        evaluator: the engine with the segments in its output; the handler reads each output from now on.
        metrics: metrics of ``ngram_metrics.ignite`` by the names with which they are attached.
        tag: the beginning of all names.
        segments: the number of segments to write, at least 0; ids are written as numbers.
        output_transform: turns the engine's output into ``(y_pred, y)``, or a dict of both, as for the metrics.
        global_step_transform: as for ignite's handlers; ``global_step_from_engine(trainer)`` gives the epochs of
            ``trainer``.

    Raises:
        TypeError: a metric of another package; when called, another logger.
        ValueError: no metric, or one with ``average="none"``; two that write one name; a negative number of segments;
            when called, a metric that is not attached by its name.
    """

    @named_arguments
    def __init__(
        self,
        evaluator: Engine,
        metrics: Mapping[str, IgniteMetric | IgniteValue],
        tag: str = "validation",
        segments: int = 5,
        output_transform: OutputTransform = unchanged,
        global_step_transform: Callable[[Engine, object], int] | None = None,
    ) -> None:
        self.metrics, self.tag = metrics, tag
        self._output_transform, self._step_transform = output_transform, global_step_transform
        self._table = SegmentTable(metrics, IgniteMetric, segments)
        refuse_shared_names(metrics)
        # The events at which the metrics are reset and updated.
        evaluator.add_event_handler(Events.EPOCH_STARTED, self._table.clear)
        evaluator.add_event_handler(Events.ITERATION_COMPLETED, self._add)

    def _add(self, engine: Engine) -> None:
        output: Any = self._output_transform(engine.state.output)
        self._table.add(*((output["y_pred"], output["y"]) if isinstance(output, Mapping) else output[:2]))

    def __call__(self, engine: Engine, logger: Any, event_name: object) -> None:
        """Write values, signatures and segments when the logger calls.

        Raises:
            TypeError: a logger that cannot store text.
        """
        from ignite.handlers import ClearMLLogger, MLflowLogger, TensorboardLogger, WandBLogger

        if not isinstance(logger, (ClearMLLogger, MLflowLogger, TensorboardLogger, WandBLogger)):
            raise TypeError(
                f"{type(logger).__name__} cannot store text: expected TensorboardLogger, WandBLogger, MLflowLogger or "
                "ClearMLLogger. Its attach_output_handler writes the values"
            )
        names, missing = [], []
        for name, metric in self.metrics.items():
            keys = [name + suffix for suffix in metric.suffixes]
            if isinstance(metric, IgniteMetric):
                values = [value + suffix for value in metric.scorer.values for suffix in metric.suffixes]
                keys = list(metric.name_values(name, dict.fromkeys(values)))
            # In the mode "named" the engine has a dict by this name.
            written = [key for key in keys if key in engine.state.metrics] or [name] * (name in engine.state.metrics)
            names += written
            missing += [] if written else [name]
        if missing:
            raise ValueError(f"no metric is attached as {missing}: expected the names given to metric.attach(...)")
        # The handler of attach_output_handler writes a dict value by value, as <name>/<value>.
        output_handler: Any = logger._create_output_handler(self.tag, names, global_step_transform=self._step_transform)
        output_handler(engine, logger, event_name)
        step = output_handler.global_step_transform(engine, event_name)
        # Not metric.signature, which waits for all processes.
        signatures = {name: metric._accumulator.local_signature() for name, metric in self.metrics.items()}
        name = f"{self.tag}/segments"
        text = self._table.markdown(signatures)
        if isinstance(logger, TensorboardLogger):
            logger.writer.add_text(name, text, step)
        elif isinstance(logger, MLflowLogger):
            logger.log_text(text, f"{name}/{step}.md")
        elif isinstance(logger, ClearMLLogger):
            logger.clearml_logger.report_text(f"{name}, {step}\n\n{text}", print_console=False)
        else:
            logger.config.update({f"{of}/signature": written for of, written in signatures.items()}, True)
            if self._table.rows:
                logger.log({name: logger.Table(columns=self._table.columns, data=self._table.rows)}, step=step)
