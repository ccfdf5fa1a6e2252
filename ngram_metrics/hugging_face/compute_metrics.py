"""The metrics for Hugging Face's Trainer, as ``compute_metrics``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, distributed
from torchmetrics import Metric

from ngram_metrics._core.basics.keywords import named_arguments
from ngram_metrics._core.basics.option_checks import refuse_average_none, refuse_equal_names
from ngram_metrics._core.text.foreign_values import list_column
from ngram_metrics._core.text.messages import pluralize, type_name, warn_user
from ngram_metrics._core.text.padded_segments import is_dense, to_tensor_or_list
from ngram_metrics._torchmetrics.accumulator import Accumulator
from ngram_metrics._torchmetrics.outputs import Outputs
from ngram_metrics._torchmetrics.values import Metrics, computed_values, copy_metrics

if TYPE_CHECKING:
    from transformers import EvalPrediction, PreTrainedTokenizerBase, Trainer

__all__ = ["ComputeMetrics"]


class ComputeMetrics:
    """The ``compute_metrics`` of a ``Trainer`` or ``Seq2SeqTrainer``, see the page "Hugging Face".

    With ``batch_eval_metrics=True`` the trainer passes one batch after another, and only sums are kept. Without it, the
    trainer passes all predictions at once, or with ``eval_do_concat_batches=False`` a list of batches. In a distributed
    run the trainer gathers the batches of all processes, and each process scores all of them, so the metrics do not
    synchronize. With ``Seq2SeqTrainer`` the last batch then ends with segments that repeat the first batch. These are
    left out with ``batch_eval_metrics=True``; without it they cannot be recognized, see the page. If an error ends an
    evaluation, the next evaluation of the trainer starts without counts. In a loop of your own, call ``reset`` after an
    error between two calls.

    Args:
        metrics: a metric, several metrics, or a ``MetricCollection``; they are copied.
        tokenizer: decodes ids to text, without special tokens and negative ids such as -100. None to score the ids
            themselves, for metrics with a ``pad_id`` that contains all ids that are not tokens.
        samples: how many of the first segments a trainer logs, and how many of those with the lowest score of the first
            metric; see ``attach``.
        outputs: a folder in which each evaluation writes all segments to a file such as ``step-500.jsonl``, which
            ``ngram_metrics.evaluate`` reads; see ``attach``.
        sources: the source of each segment of the evaluated data set, shown next to it.
        groups: for a ``GroupedMetric``, the label of each segment of the evaluated data set.
        details: whether ``<name>_brevity_penalty`` and ``<name>_length_ratio`` of BLEU are returned too.

    Raises:
        ValueError: a metric with ``average="none"``, because it does not compute a single number; two metrics that
            write one name; a negative number of samples.
        TypeError: ``metrics`` is a name or a tokenizer; ``tokenizer`` is not a tokenizer; samples or outputs with a
            metric of another package.

    Example:
        >>> import numpy as np
        >>> from ngram_metrics import ChrF
        >>> from ngram_metrics.hugging_face import ComputeMetrics
        >>> from transformers import EvalPrediction
        >>> compute_metrics = ComputeMetrics(ChrF(pad_id=0))
        >>> compute_metrics(EvalPrediction(np.array([[5, 6, 7, 0]]), np.array([[5, 6, 8, -100]])))
        {'ChrF': 0.3888888888888889}
    """

    @named_arguments
    def __init__(
        self,
        metrics: Metrics,
        tokenizer: PreTrainedTokenizerBase | None = None,
        samples: int = 0,
        outputs: str | os.PathLike[str] | None = None,
        sources: Sequence[str] | None = None,
        groups: Sequence[str] | None = None,
        details: bool = False,
    ) -> None:
        if hasattr(metrics, "batch_decode"):
            raise TypeError(
                f"metrics is {type_name(metrics)}, a tokenizer: expected ComputeMetrics(metrics, tokenizer)"
            )
        if tokenizer is not None and not hasattr(tokenizer, "batch_decode"):
            raise TypeError(
                f"tokenizer is {type_name(tokenizer)}: expected a tokenizer of transformers, or None to score ids"
            )
        self.tokenizer = tokenizer
        self.sources = sources
        self.groups = groups
        self.metrics = copy_metrics(metrics)
        named = dict(self.metrics.items(keep_base=True, copy_state=False))
        for name, metric in named.items():
            refuse_average_none(name, metric)
            for module in metric.modules():  # a value of ROUGE contains the metric
                if isinstance(module, Metric):
                    module.distributed_available_fn = _never
        self._outputs = None
        if samples or details or outputs is not None:  # otherwise metrics of other packages are allowed
            self._outputs = Outputs(named, Accumulator, samples, outputs, details)
        self._counted = self._open_loops = 0
        self._is_finished = self._is_attached = False

    def __call__(self, prediction: EvalPrediction, compute_result: bool | None = None) -> dict[str, float]:
        """Count a batch, or all batches at once.

        Args:
            prediction: ``predictions`` and ``label_ids``, or a pair of both: integers ``(segments, width)``, or a list
                of such batches, whose widths may differ.
            compute_result: whether this is the last batch; None if it is all of them.

        Returns:
            The values from 0 to 1 by the names of the metrics. Ends of intervals are ``<name>_low`` and
            ``<name>_high``, and values of ROUGE ``<name>_<value>``. Before the last batch the dict is empty.

        Raises:
            TypeError: ``predictions`` are logits, one side is None, or ``prediction`` is neither an ``EvalPrediction``
                nor a pair; without a tokenizer, a metric that takes text only.
            ValueError: ids of another shape, several arrays of ids in a tuple, different numbers of batches, or two
                metrics that write one name; without a tokenizer, a metric with an option for text.
        """
        is_last = compute_result is None or compute_result
        open_loops = _count_open_loops()
        # If a loop began after the last batch and no other ended, an error has ended the evaluation of the last batch.
        was_aborted = open_loops > self._open_loops
        self._open_loops = open_loops
        if self._is_finished or compute_result is None or was_aborted:
            self.reset()
        try:
            for batch in _batches(prediction):
                preds, target = map(self._read, batch)
                count = _count_unrepeated(len(preds)) if compute_result else None
                self._update(preds[:count], target[:count])
            values = self._values() if is_last else {}
        except BaseException:
            self.reset()
            raise
        return values

    def reset(self) -> None:
        """Forget all batches."""
        self.metrics.reset()
        self._counted = 0
        self._is_finished = False
        if self._outputs is not None:
            self._outputs.clear()

    def attach(self, trainer: Trainer) -> None:
        """Log the samples and write the outputs of each evaluation of a trainer.

        The samples go where the trainer reports to: as Markdown to TensorBoard and MLflow, as a table to Weights &
        Biases. Process 0 writes the outputs of ``evaluate`` to the folder. An evaluation with another
        ``metric_key_prefix``, such as ``test`` for ``predict``, writes to a subfolder. After a training with
        ``load_best_model_at_end`` the number in the name of the file is that of the best step.
        """
        from transformers import TrainerCallback

        class Writer(TrainerCallback):
            on_evaluate = on_predict = staticmethod(partial(self._write, trainer))

        trainer.add_callback(Writer())
        self._is_attached = True

    def _write(self, trainer: Any, args: Any, state: Any, control: Any, metrics: dict[str, float], **_: Any) -> None:
        """Write samples and outputs after an evaluation. The arguments are those of a callback's event."""
        if self._outputs is None or not self._is_finished or not state.is_world_process_zero:
            return
        prefix = next(name for name in metrics if name.endswith("_runtime")).removesuffix("_runtime")
        step = state.global_step
        if args.load_best_model_at_end and state.best_model_checkpoint and not trainer.is_in_train:
            step = int(state.best_model_checkpoint.rpartition("-")[2])
        self._outputs.write(step, prefix.removeprefix("eval").strip("_"))
        name = f"{prefix}/samples"
        text = self._outputs.markdown()
        for callback in trainer.callback_handler.callbacks:
            kind = type(callback).__name__
            if kind == "TensorBoardCallback" and callback.tb_writer is not None:
                callback.tb_writer.add_text(name, text, state.global_step)
            elif kind == "MLflowCallback":
                import mlflow

                mlflow.log_text(text, f"{name}/{state.global_step}.md")
            elif kind == "WandbCallback":
                import wandb

                table = wandb.Table(columns=self._outputs.columns, data=self._outputs.rows)
                wandb.log({name: table, "train/global_step": state.global_step})

    def _update(self, preds: Tensor | list[str], target: Tensor | list[str]) -> None:
        rows = slice(self._counted, self._counted + len(preds))
        try:
            self.metrics.update(preds, target, **({} if self.groups is None else {"groups": self.groups[rows]}))
        except (TypeError, ValueError) as error:
            if self.tokenizer is None:
                advice = "ids are scored as they are; to score their text, pass the tokenizer as the second argument"
                raise type(error)(f"{error} ({advice})") from error
            raise
        if self._outputs is not None:
            columns = [None if column is None else column[rows] for column in (self.sources, self.groups)]
            self._outputs.add(preds, target, *columns)
        self._counted = rows.stop

    def _values(self) -> dict[str, float]:
        """Return the values of all batches, and forget the counts."""
        for name, column in (("sources", self.sources), ("groups", self.groups)):
            if column is not None and len(column) != self._counted:
                raise ValueError(
                    f"{name} has {pluralize(len(column), 'item')} and the data set has "
                    f"{pluralize(self._counted, 'segment')}: expected one item for each segment"
                )
        # Not metrics.compute(), because its names depend on the other metrics.
        written = [(name, computed_values(name, metric)) for name, metric in self.metrics.items(copy_state=False)]
        if self._outputs is not None:
            self._outputs.finish(is_shared=False)
            written.append(("details", self._outputs.details))
            if self._outputs.is_kept and not self._is_attached:
                warn_user("samples and outputs are not written: call attach(trainer) first")
        refuse_equal_names(written)
        self.metrics.reset()
        self._is_finished = True
        return {name: float(value) for _, values in written for name, value in values.items()}

    def _read(self, side: object) -> Tensor | list[str]:
        # Some models return a tuple of their predictions and their caches.
        first, *others = side if isinstance(side, tuple) else (side,)
        if any(getattr(other, "ndim", 0) == 2 and not torch.as_tensor(other).is_floating_point() for other in others):
            raise ValueError(
                "predictions or label_ids is a tuple of several arrays of ids: expected one array, or a list of batches"
            )
        if first is None:
            raise TypeError("predictions or label_ids is None: expected ids for both")
        ids = _to_tensor(list_column(first, "predictions or label_ids"))
        if ids.numel() and ids.is_floating_point():
            raise TypeError(
                f"the predictions are logits, {ids.dtype} of shape {tuple(ids.shape)}: expected ids. For a "
                "Seq2SeqTrainer, pass predict_with_generate=True to its arguments. For a causal model, define "
                "class MyTrainer(ngram_metrics.hugging_face.Generates, Trainer)"
            )
        if ids.dim() != 2:
            raise ValueError(
                f"the ids have shape {tuple(ids.shape)}: expected (segments, width), or a list of such batches"
            )
        if self.tokenizer is None:
            return ids
        rows = [row[row >= 0].tolist() for row in ids.cpu().to(torch.int64)]  # torch cannot compare unsigned integers
        return list(self.tokenizer.batch_decode(rows, skip_special_tokens=True))


def _batches(prediction: object) -> list[tuple[object, object]]:
    """Return the predictions and labels of each batch."""
    if isinstance(prediction, (tuple, list)) and len(prediction) == 2:
        predictions, labels = prediction
    elif hasattr(prediction, "predictions") and hasattr(prediction, "label_ids"):
        predictions = prediction.predictions
        labels = prediction.label_ids
    else:
        raise TypeError(
            f"prediction is {type_name(prediction)}: expected an EvalPrediction, or (predictions, label_ids)"
        )
    # With eval_do_concat_batches=False both are lists of batches. A batch may be a tuple of predictions and caches.
    first = predictions[0] if isinstance(predictions, list) and predictions else None
    if not isinstance(first, tuple) and getattr(first, "ndim", 1) < 2:
        return [(predictions, labels)]
    if not isinstance(labels, list) or len(labels) != len(predictions):
        raise ValueError(
            f"predictions is a list of batches, {len(predictions)} in all: expected label_ids to be a list of as many"
        )
    return list(zip(predictions, labels, strict=True))


def _to_tensor(ids: object) -> Tensor:
    """Return a dense tensor, or raise TypeError or ValueError."""
    if np.ma.is_masked(ids):
        ids = to_tensor_or_list(ids, "predictions or label_ids")
    try:
        tensor = torch.as_tensor(ids)
    except (RuntimeError, TypeError, ValueError) as error:
        raise ValueError(
            f"predictions or label_ids are not rows of integers of equal width, (segments, width): {error}"
        ) from error
    if not is_dense(tensor):
        raise TypeError(
            "predictions or label_ids are a nested, quantized or sparse tensor: expected a dense one, (segments, width)"
        )
    return tensor


def _count_open_loops() -> int:
    """Return how many loops over accelerate's loaders have begun but not ended, as after an error."""
    if "accelerate" not in sys.modules:
        return 0
    from accelerate.state import GradientState

    return len(GradientState().dataloader_references)


def _count_unrepeated(size: int) -> int | None:
    """Return how many segments of the last batch, gathered from all processes, are not repeats, or None for all."""
    # Several processes repeat segments to fill the last batch. Trainer leaves repeats out, by accelerate's
    # gather_for_metrics, but Seq2SeqTrainer gathers them too.
    if "accelerate" not in sys.modules or not distributed.is_available() or not distributed.is_initialized():
        return None
    from accelerate.state import GradientState

    state = GradientState()
    is_full = state.end_of_dataloader and size == getattr(state.active_dataloader, "total_batch_size", None)
    return state.remainder if is_full and state.remainder > 0 and distributed.get_world_size() > 1 else None


def _never() -> bool:
    return False
