"""The scores of a run of Lightning's ``Trainer``, written to its loggers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from torchmetrics import MetricCollection

from ngram_metrics._core.basics.keywords import named_arguments
from ngram_metrics._core.basics.output import write_file
from ngram_metrics._core.text.messages import warn_user
from ngram_metrics._torchmetrics.accumulator import Accumulator
from ngram_metrics._torchmetrics.outputs import Outputs
from ngram_metrics._torchmetrics.repeated_segments import warn_of_repeated_segments
from ngram_metrics._torchmetrics.values import Metrics, computed_values, copy_metrics

try:
    from lightning.pytorch import Callback, LightningModule, Trainer
except ImportError as error:
    raise ModuleNotFoundError(
        "ngram_metrics.lightning needs lightning: pip install lightning", name=error.name
    ) from error

__all__ = ["ScoresCallback"]

#: Loggers by name, because pytorch_lightning has classes of its own. DummyLogger is that of a fast_dev_run.
_TAKE_TEXT = {"TensorBoardLogger", "WandbLogger", "MLFlowLogger", "CometLogger", "CSVLogger", "DummyLogger"}


class _Scored(NamedTuple):
    """The metrics and the outputs of one data loader. The names of its values end with the suffix."""

    suffix: str
    metrics: MetricCollection
    outputs: Outputs


class ScoresCallback(Callback):
    """Scores what ``validation_step`` and ``test_step`` return, and writes values, samples and outputs.

    A step returns a dict with ``preds`` and ``target``, as ``update`` of the metrics takes them. It may add ``groups``
    for a ``GroupedMetric``, and ``source``, a text for each segment. At the end of the epoch every process logs the
    values over the segments of all processes. ``EarlyStopping`` and ``ModelCheckpoint`` can monitor ``val/chrf`` with
    ``mode="max"``, in any order of the callbacks. Process 0 then writes the signatures and the samples, which are
    segments with their scores: to TensorBoard, MLflow and Comet as Markdown, to Weights & Biases as configuration and a
    table, and for a ``CSVLogger`` as files in its folder. Other loggers cannot store text: they get only the
    signatures, as hyperparameters, and a warning says so. Another warning tells you if a ``DistributedSampler`` repeats
    segments. The sanity check writes nothing. See the page "Lightning".

    A value has the name of its metric after ``val/`` or ``test/``: ``val/chrf``, with an interval also
    ``val/chrf_low`` and ``val/chrf_high``, for ROUGE ``val/rouge_rougeL_fmeasure`` and so on. Several data loaders are
    scored separately; their names end with ``/dataloader_idx_0`` and so on.

    Args:
        metrics: metrics of this package by name, or a ``MetricCollection`` of them. A single metric or a list of
            metrics is named after the classes. ``100 * Bleu()`` and ``rouge["rougeL_fmeasure"]`` are accepted too. The
            metrics are copied.
        samples: how many of the first segments to write, and how many of those with the lowest score of the first
            metric; ids are written as numbers.
        outputs: a folder in which each validation of a fit writes all segments to a file that is named after the number
            of optimizer steps, such as ``step-500.jsonl``, and that ``ngram_metrics.evaluate`` reads.
            ``Trainer.validate`` and ``Trainer.test`` write to the folders ``val`` and ``test`` in it.
        details: whether ``<name>_brevity_penalty`` and ``<name>_length_ratio`` of BLEU are logged too.

    Raises:
        TypeError: a metric of another package; in a run, a step that returns another object.
        ValueError: no metric, or one with ``average="none"``; two metrics that write one name; a negative number of
            samples.

    Example:
        >>> from ngram_metrics import Bleu, ChrF
        >>> from ngram_metrics.lightning import ScoresCallback
        >>> scores = ScoresCallback({"bleu": Bleu(), "chrf": ChrF()})
        >>> # Trainer(callbacks=[scores, EarlyStopping(monitor="val/chrf", mode="max")])
    """

    @named_arguments
    def __init__(
        self,
        metrics: Metrics,
        samples: int = 5,
        outputs: str | os.PathLike[str] | None = None,
        details: bool = False,
    ) -> None:
        self.metrics = copy_metrics(metrics)
        self.samples = samples
        self.outputs = outputs
        self.details = details
        self._has_warned_of_repeats = False
        self._made: dict[tuple[str, str], _Scored] = {}
        self._scored = [self._make("val", "")]  # raises for wrong arguments

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Warn before the run about loggers that cannot store text."""
        others = [type(logger).__name__ for logger in trainer.loggers if not _names(logger) & _TAKE_TEXT]
        if others and self.samples and trainer.is_global_zero:
            warn_user(f"{', '.join(others)} cannot store text: the samples are not written")

    def on_validation_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Forget earlier segments, and warn once of loaders that repeat segments."""
        if trainer.is_global_zero and not self._has_warned_of_repeats:
            loaders = trainer.test_dataloaders if trainer.testing else trainer.val_dataloaders
            self._has_warned_of_repeats = warn_of_repeated_segments(_flatten(loaders))
        loader_count = len(trainer.num_test_batches if trainer.testing else trainer.num_val_batches)
        suffixes = [f"/dataloader_idx_{index}" for index in range(loader_count)] if loader_count > 1 else [""]
        self._scored = [self._make(_stage(trainer), suffix) for suffix in suffixes]
        for _, metrics, outputs in self._scored:
            metrics.to(pl_module.device)
            metrics.reset()
            outputs.clear()

    def on_validation_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: Any,
        batch: object,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Count the segments that the step returned.

        Raises:
            TypeError: the step returned no dict with ``preds`` and ``target``.
        """
        if not isinstance(outputs, Mapping) or not {"preds", "target"} <= set(outputs):
            step = "test_step" if trainer.testing else "validation_step"
            actual = f"a dict with {list(outputs)}" if isinstance(outputs, Mapping) else type(outputs).__name__
            raise TypeError(f"{step} must return a dict with 'preds' and 'target' (got: {actual})")
        scored = self._scored[dataloader_idx]
        groups = {"groups": outputs["groups"]} if "groups" in outputs else {}
        scored.metrics.update(outputs["preds"], outputs["target"], **groups)  # only a GroupedMetric takes groups
        scored.outputs.add(outputs["preds"], outputs["target"], outputs.get("source"), **groups)

    def on_validation_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Log the values, and write signatures, samples and outputs."""
        for suffix, metrics, outputs in self._scored:
            outputs.finish()
            values: dict[str, Any] = dict(outputs.details)
            for name, metric in metrics.items(copy_state=False):
                values |= computed_values(name, metric)
            # The values are the same on all processes. Without sync_dist Lightning would warn.
            logged = {f"{_stage(trainer)}/{name}{suffix}": value for name, value in values.items()}
            pl_module.log_dict(logged, sync_dist=True, add_dataloader_idx=False)
            if trainer.is_global_zero and not trainer.sanity_checking:
                # After a fit the weights may be those of another step, so other runs have folders of their own.
                subfolder = "" if trainer.state.fn == "fit" else _stage(trainer)
                outputs.write(trainer.global_step, (subfolder + suffix).strip("/"))
                step = _step_of_values(trainer)
                for logger in trainer.loggers:
                    _write(logger, _stage(trainer), suffix, outputs, step)

    on_test_epoch_start = on_validation_epoch_start
    on_test_batch_end = on_validation_batch_end
    on_test_epoch_end = on_validation_epoch_end

    def _make(self, stage: str, suffix: str) -> _Scored:
        if (stage, suffix) not in self._made:
            metrics = self.metrics.clone()
            named = dict(metrics.items(copy_state=False))
            outputs = Outputs(named, Accumulator, self.samples, self.outputs, self.details)
            self._made[stage, suffix] = _Scored(suffix, metrics, outputs)
        return self._made[stage, suffix]


def _step_of_values(trainer: Trainer) -> int:
    """Return the step that Lightning logs values with.

    It has no public name, and Lightning's own callbacks read it this way too. If a later version does not have it, the
    samples get the number of optimizer steps instead, so they are one step after the values.
    """
    return getattr(trainer.fit_loop.epoch_loop, "_batches_that_stepped", trainer.global_step)


def _write(logger: Any, stage: str, suffix: str, outputs: Outputs, step: int) -> None:
    """Write samples and signatures to a logger, through the functions of its kind."""
    kind = _names(logger)
    name = f"{stage}/samples{suffix}"
    text = outputs.markdown()
    if "TensorBoardLogger" in kind:
        logger.experiment.add_text(name, text, step)
    elif "MLFlowLogger" in kind:
        logger.experiment.log_text(logger.run_id, text, f"{name}/{step}.md")
    elif "CometLogger" in kind:
        logger.experiment.log_text(text, step=step, metadata={"name": name})
    else:
        logger.log_hyperparams({f"{stage}/{of}{suffix}/signature": text for of, text in outputs.signatures.items()})
        if "WandbLogger" in kind and outputs.rows:
            logger.log_text(name, columns=outputs.columns, data=outputs.rows, step=step)
        elif "CSVLogger" in kind:
            os.makedirs(os.path.join(logger.log_dir, name), exist_ok=True)
            write_file(os.path.join(logger.log_dir, name, f"{step}.md"), text)


def _flatten(loaders: Any) -> Iterator[object]:
    """Yield each data loader of a collection, which Lightning takes in nested lists and dicts."""
    if isinstance(loaders, Mapping):
        loaders = list(loaders.values())
    if not isinstance(loaders, (list, tuple)):
        yield loaders
        return
    for item in loaders:
        yield from _flatten(item)


def _names(logger: object) -> set[str]:
    return {kind.__name__ for kind in logger.__class__.__mro__}


def _stage(trainer: Trainer) -> str:
    return "test" if trainer.testing else "val"
