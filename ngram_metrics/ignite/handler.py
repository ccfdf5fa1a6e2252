"""The scores of a run of ignite's ``Engine``, written to its loggers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ngram_metrics._core.basics.keywords import named_arguments
from ngram_metrics._core.scoring.items import is_ours
from ngram_metrics._torchmetrics.outputs import Outputs
from ngram_metrics._torchmetrics.repeated_segments import warn_of_repeated_segments
from ngram_metrics._torchmetrics.values import refuse_shared_names
from ngram_metrics.ignite.metric import Engine, Events, IgniteMetric, OutputTransform, unchanged

if TYPE_CHECKING:
    from ignite.metrics import Metric

__all__ = ["ScoresHandler"]


class ScoresHandler:
    """Writes values, intervals, signatures and samples with their scores to a logger of ignite, and outputs to files.

    On every process, attach the metrics first, and then make the handler. Attach the handler to one logger or several:
    ``tb_logger.attach(evaluator, ScoresHandler(evaluator, metrics), Events.COMPLETED)``. It writes the values as
    ``tb_logger.attach_output_handler`` does, and the signatures and samples of the run: as Markdown to TensorBoard,
    MLflow and ClearML, as configuration and a table to Weights & Biases. In a distributed run, attach it only to the
    logger of process 0. A warning tells you if the ``DistributedSampler`` of the engine's loader repeats segments. See
    the page "ignite".

    Args:
        evaluator: the engine with the segments in its output. The handler reads each output from now on.
        metrics: metrics of ``ngram_metrics.ignite``, or arithmetic such as ``100 * Bleu()``, by the names with which
            they are attached.
        tag: the beginning of all names.
        samples: how many of the first segments to write, and how many of those with the lowest score of the first
            metric; ids are written as numbers.
        outputs: a folder in which each run writes all segments to a file that is named after the number that
            ``global_step_transform`` returns, such as ``step-500.jsonl``, and that ``ngram_metrics.evaluate`` reads.
        details: whether ``<name>_brevity_penalty`` and ``<name>_length_ratio`` of BLEU are written too.
        output_transform: turns the engine's output into ``(y_pred, y)``, or a dict of both, as for the metrics. The
            dict may have a ``source``, a text for each segment.
        global_step_transform: as for ignite's handlers; ``global_step_from_engine(trainer)`` gives the epochs of
            ``trainer``.

    Raises:
        TypeError: a metric of another package; when called, another logger.
        ValueError: no metric, or one with ``average="none"``; two that write one name; a negative number of samples;
            outputs without ``global_step_transform``; when called, a metric that is not attached by its name.
    """

    @named_arguments
    def __init__(
        self,
        evaluator: Engine,
        metrics: Mapping[str, Metric],
        tag: str = "validation",
        samples: int = 5,
        outputs: str | os.PathLike[str] | None = None,
        details: bool = False,
        output_transform: OutputTransform = unchanged,
        global_step_transform: Callable[[Engine, object], int] | None = None,
    ) -> None:
        if outputs is not None and global_step_transform is None:
            raise ValueError(
                "outputs was given without global_step_transform: pass both, because the files are named after the step"
            )
        self.metrics: Mapping[str, Any] = metrics
        self.tag = tag
        self._output_transform = output_transform
        self._step_transform = global_step_transform
        self._outputs = Outputs(metrics, IgniteMetric, samples, outputs, details)
        self._has_warned_of_repeats = False
        refuse_shared_names(metrics)
        # The events at which the metrics are reset, updated and computed.
        evaluator.add_event_handler(Events.EPOCH_STARTED, self._start)
        evaluator.add_event_handler(Events.ITERATION_COMPLETED, self._add)
        evaluator.add_event_handler(Events.EPOCH_COMPLETED, self._finish)

    def _start(self, engine: Engine) -> None:
        """Forget earlier segments, and warn once of a loader that repeats segments."""
        from ignite.distributed import get_rank

        self._outputs.clear()
        if get_rank() == 0 and not self._has_warned_of_repeats:
            self._has_warned_of_repeats = warn_of_repeated_segments([engine.state.dataloader])

    def _add(self, engine: Engine) -> None:
        output: Any = self._output_transform(engine.state.output)
        if isinstance(output, Mapping):
            self._outputs.add(output["y_pred"], output["y"], output.get("source"), output.get("groups"))
        else:
            preds, target, *groups = output
            self._outputs.add(preds, target, groups=groups[0] if groups else None)

    def _finish(self, engine: Engine) -> None:
        """Join the segments of all processes, and write the outputs."""
        from ignite.distributed import get_rank

        self._outputs.finish()
        engine.state.metrics.update({name: float(value) for name, value in self._outputs.details.items()})
        if self._step_transform is not None and get_rank() == 0:
            self._outputs.write(self._step_transform(engine, Events.EPOCH_COMPLETED))

    def __call__(self, engine: Engine, logger: Any, event_name: object) -> None:
        """Write values, signatures and samples when the logger calls.

        Raises:
            TypeError: a logger that cannot store text.
        """
        from ignite.handlers import ClearMLLogger, MLflowLogger, TensorboardLogger, WandBLogger

        if not isinstance(logger, (ClearMLLogger, MLflowLogger, TensorboardLogger, WandBLogger)):
            raise TypeError(
                f"{type(logger).__name__} cannot store text: expected TensorboardLogger, WandBLogger, MLflowLogger or "
                "ClearMLLogger. To write only the values, use attach_output_handler of this logger"
            )
        names, missing = [], []
        for name, metric in self.metrics.items():
            keys = [name + suffix for suffix in metric.suffixes] if is_ours(metric) else [name]
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
        names += self._outputs.details
        output_handler: Any = logger._create_output_handler(self.tag, names, global_step_transform=self._step_transform)
        output_handler(engine, logger, event_name)
        step = output_handler.global_step_transform(engine, event_name)
        name = f"{self.tag}/samples"
        text = self._outputs.markdown()
        if isinstance(logger, TensorboardLogger):
            logger.writer.add_text(name, text, step)
        elif isinstance(logger, MLflowLogger):
            logger.log_text(text, f"{name}/{step}.md")
        elif isinstance(logger, ClearMLLogger):
            logger.clearml_logger.report_text(f"{name}, {step}\n\n{text}", print_console=False)
        else:
            logger.config.update({f"{of}/signature": text for of, text in self._outputs.signatures.items()}, True)
            if self._outputs.rows:
                logger.log({name: logger.Table(columns=self._outputs.columns, data=self._outputs.rows)}, step=step)
