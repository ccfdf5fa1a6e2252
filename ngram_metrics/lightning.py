"""The scores of a run of Lightning's ``Trainer``, written where its loggers show them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

from torchmetrics import Metric, MetricCollection

from ngram_metrics.sentence_table import SentenceTable
from ngram_metrics.torchmetrics.accumulator import Accumulator

try:
    from lightning.pytorch import Callback, LightningModule, Trainer
except ImportError as error:
    raise ModuleNotFoundError(
        "ngram_metrics.lightning needs lightning: pip install lightning", name=error.name
    ) from error

__all__ = ["ScoresCallback"]

#: By name: the package pytorch_lightning has other classes of the same names. Of a fast_dev_run nothing is kept.
_TAKE_TEXT = {"TensorBoardLogger", "WandbLogger", "MLFlowLogger", "CometLogger", "DummyLogger"}


class _Scored(NamedTuple):
    """What is scored of one data loader; its names end with the suffix."""

    suffix: str
    metrics: MetricCollection
    table: SentenceTable


class ScoresCallback(Callback):
    """Scores what ``validation_step`` and ``test_step`` return, logs the values and writes a few sentences.

    A step returns ``{"preds": ..., "target": ...}``, as ``update`` of the metrics takes them, and whatever else. At the
    end of the epoch every process logs the values of all processes' sentences, so that ``EarlyStopping`` and
    ``ModelCheckpoint`` may monitor ``val/chrf``, wherever they stand among the callbacks. Process 0 then writes the
    signatures, and the first sentences it has seen with their scores: to TensorBoard, MLflow and Comet as Markdown, to
    Weights & Biases as configuration and a table. Other loggers take no text, of which it warns; they get the
    signatures as hyperparameters. The sanity check writes nothing.

    Names begin with ``val/`` or ``test/``, and go on as those of a ``MetricCollection``. Each of several data loaders
    is scored by itself; their names end with ``/dataloader_idx_0`` and so on.

    Args:
        metrics: metrics of this package by name, or a ``MetricCollection`` of them. They are copied.
        sentences: how many are written, 0 for none; ids are written as numbers.

    Raises:
        TypeError: a metric of another package, or one value of ROUGE; in a run, a step that returned something else.
        ValueError: no metric, or one with ``average="none"``; a negative number of sentences.

    Example:
        >>> from ngram_metrics import Bleu, ChrF
        >>> from ngram_metrics.lightning import ScoresCallback
        >>> scores = ScoresCallback({"bleu": Bleu(average="micro", smooth="exp"), "chrf": ChrF(confidence=0.95)})
        >>> # Trainer(callbacks=[scores, EarlyStopping(monitor="val/chrf", mode="max")])
    """

    def __init__(self, metrics: Mapping[str, Metric] | MetricCollection, sentences: int = 5) -> None:
        self.metrics = metrics if isinstance(metrics, MetricCollection) else MetricCollection(dict(metrics))
        self.sentences = sentences
        self._made: dict[tuple[str, str], _Scored] = {}
        self._scored = [self._make("val", "")]  # refuses wrong arguments

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Warn of loggers that take no text, before hours of training."""
        others = [type(logger).__name__ for logger in trainer.loggers if not _names(logger) & _TAKE_TEXT]
        if others and self.sentences and trainer.is_global_zero:
            warnings.warn(f"{', '.join(others)} takes no text: the sentences are not written", stacklevel=2)

    def on_validation_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Forget what was scored before."""
        loaders = len(trainer.num_test_batches if trainer.testing else trainer.num_val_batches)
        suffixes = [f"/dataloader_idx_{index}" for index in range(loaders)] if loaders > 1 else [""]
        self._scored = [self._make(_stage(trainer), suffix) for suffix in suffixes]
        for _, metrics, table in self._scored:
            metrics.to(pl_module.device)
            metrics.reset()
            table.clear()

    def on_validation_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Count what the step returned."""
        if not isinstance(outputs, Mapping) or not {"preds", "target"} <= set(outputs):
            step = "test_step" if trainer.testing else "validation_step"
            found = f"a dict with {list(outputs)}" if isinstance(outputs, Mapping) else type(outputs).__name__
            raise TypeError(f"{step} must return a dict with 'preds' and 'target', got {found}")
        _, metrics, table = self._scored[dataloader_idx]
        metrics.update(outputs["preds"], outputs["target"])
        if trainer.is_global_zero:
            table.add(outputs["preds"], outputs["target"])

    def on_validation_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Log the values, and write."""
        for suffix, metrics, table in self._scored:
            # The mean of equal values, which changes nothing: without it Lightning recommends it.
            pl_module.log_dict(metrics.compute(), sync_dist=True, add_dataloader_idx=False)
            # On every process: a signature asks all for their numbers of references.
            named: Any = metrics.items(keep_base=True)
            signatures = {f"{_stage(trainer)}/{name}": metric.signature for name, metric in named}
            if trainer.is_global_zero and not trainer.sanity_checking:
                # That of the values: so Lightning's own callbacks ask for it.
                step = trainer.fit_loop.epoch_loop._batches_that_stepped
                for logger in trainer.loggers:
                    _write(logger, f"{_stage(trainer)}/sentences{suffix}", table, signatures, step)

    on_test_epoch_start = on_validation_epoch_start
    on_test_batch_end = on_validation_batch_end
    on_test_epoch_end = on_validation_epoch_end

    def _make(self, stage: str, suffix: str) -> _Scored:
        if (stage, suffix) not in self._made:
            metrics = self.metrics.clone(prefix=f"{stage}/", postfix=suffix)
            named = dict(metrics.items(keep_base=True, copy_state=False))
            self._made[stage, suffix] = _Scored(suffix, metrics, SentenceTable(named, Accumulator, self.sentences))
        return self._made[stage, suffix]


def _write(logger: Any, name: str, table: SentenceTable, signatures: Mapping[str, str], step: int) -> None:
    """Write sentences and signatures to a logger, by whatever it has for them."""
    kind, text = _names(logger), table.markdown(signatures)
    if "TensorBoardLogger" in kind:
        logger.experiment.add_text(name, text, step)
    elif "MLFlowLogger" in kind:
        logger.experiment.log_text(logger.run_id, text, f"{name}/{step}.md")
    elif "CometLogger" in kind:
        logger.experiment.log_text(text, step=step, metadata={"name": name})
    else:
        logger.log_hyperparams({f"{of}/signature": signature for of, signature in signatures.items()})
        if "WandbLogger" in kind and table.rows:
            logger.log_text(name, columns=table.columns, data=table.rows, step=step)


def _names(logger: object) -> set[str]:
    return {kind.__name__ for kind in logger.__class__.__mro__}


def _stage(trainer: Trainer) -> str:
    return "test" if trainer.testing else "val"
