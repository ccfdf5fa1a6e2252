"""The metrics as pytorch-ignite metrics: thin faces, no arithmetic.

Drop-ins for ``ignite.metrics.nlp``: the same parameters in the same order, results, errors and ``state_dict``. The one
deliberate difference: a ``str`` is text and is split into words, where ignite would read it as characters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from ignite import metrics as ignite_metrics
from ignite.exceptions import NotComputableError
from ignite.metrics.metric import reinit__is_reduced, sync_all_reduce
from torch import Tensor

from ngram_metrics.metrics.accumulator import Reader
from ngram_metrics.scores.bleu import BleuMetric
from ngram_metrics.scores.statistics import Metric, pack, row_width, unpack
from ngram_metrics.text.encoding import WordReader

__all__ = ["Bleu"]

_CPU = torch.device("cpu")
_IGNITE_SMOOTHINGS = ["no_smooth", "smooth1", "nltk_smooth2", "smooth2"]


class _Face(ignite_metrics.Metric):
    """Counts batches and scores their sum or their mean, on the device that ignite is told."""

    _state_dict_all_req_keys = ("_row", "_score_sum", "_sentences")

    def __init__(
        self,
        reader: Reader,
        metric: Metric,
        average: str,
        output_transform: Callable[[Any], Any],
        device: str | torch.device,
    ) -> None:
        if average not in ["macro", "micro"]:
            raise ValueError(f'Average must be either "macro" or "micro" (got: {average})')
        self.reader, self.metric, self.average = reader, metric, average
        # ignite would hand over (list of tensors, list of tensors) pair by pair.
        super().__init__(output_transform=output_transform, device=device, skip_unrolling=True)

    @reinit__is_reduced
    def reset(self) -> None:
        """Forget all batches."""
        self._row = torch.zeros(row_width(self.metric.layout), dtype=torch.int64, device=self._device)
        self._score_sum = torch.zeros((), dtype=self._double_dtype, device=self._device)
        self._sentences = 0

    @reinit__is_reduced
    def update(self, output: tuple[Any, Any]) -> None:
        """Count a batch ``(y_pred, y)``. An error leaves what was counted before as it was."""
        y_pred, y = output
        if not isinstance(y_pred, str) and len(y_pred) != len(y):
            raise ValueError(f"nb of candidates should be equal to nb of reference lists ({len(y_pred)} != {len(y)})")
        statistics = self.metric.statistics(*self.reader.read(y_pred, y, self._device))
        scores = self.metric.score(statistics)
        row = self._row + pack(statistics, self.metric.layout).sum(0).to(self._device)
        self._score_sum = self._score_sum + scores.sum(0).to(self._score_sum)
        self._row, self._sentences = row, self._sentences + len(scores)

    @sync_all_reduce("_row", "_score_sum", "_sentences")
    def compute(self) -> Any:
        """Return the score of all batches since the last reset."""
        if self.average == "micro":
            return float(self.metric.score(unpack(self._row, self.metric.layout)))
        if self._sentences == 0:
            name = type(self).__name__
            raise NotComputableError(f"{name} must have at least one example before it can be computed.")
        mean: Tensor = self._score_sum / self._sentences
        return mean


class Bleu(_Face):
    """BLEU attached to an ignite engine. See :mod:`ngram_metrics.scores.bleu` for the formula.

    ``update`` takes ``(y_pred, y)`` or ``{"y_pred": ..., "y": ...}``: hypotheses, and for each its reference or a list
    of them, as text, tokens, ids, or padded id tensors. Counts are int64 where ignite's are floating point.

    Args:
        ngram: the longest order.
        smooth: ``no_smooth``, ``smooth1``, ``nltk_smooth2`` or ``smooth2``.
        output_transform: from the engine's output to what ``update`` takes.
        device: where the counts are accumulated.
        average: ``"macro"`` or ``"micro"``.
        pad_id: for ids: the id or ids that are no tokens.
        tokenizer: for text, see :func:`ngram_metrics.text.tokenizers.batch_tokenizer`.

    ``compute`` returns a float64 tensor for macro, a float for micro, both in 0..1.

    Raises:
        ValueError: a setting out of its range; different numbers of hypotheses and references.
        NotComputableError: macro ``compute`` before any data; micro gives 0.

    Example:
        >>> from ngram_metrics.ignite import Bleu
        >>> metric = Bleu(ngram=4, smooth="smooth1")
        >>> y_pred = "the the the the the the the"
        >>> y = ["the cat is on the mat", "there is a cat on the mat"]
        >>> metric.update(([y_pred.split()], [[reference.split() for reference in y]]))
        >>> print(metric.compute())
        tensor(0.0393, dtype=torch.float64)
    """

    def __init__(
        self,
        ngram: int = 4,
        smooth: str = "no_smooth",
        output_transform: Callable[[Any], Any] = lambda x: x,
        device: str | torch.device = _CPU,
        average: str = "macro",
        *,
        pad_id: int | Sequence[int] | None = None,
        tokenizer: Any = None,
    ) -> None:
        if ngram > 0 and smooth not in _IGNITE_SMOOTHINGS:
            raise ValueError(f"Smooth is not valid (expected: {_IGNITE_SMOOTHINGS}, got: {smooth})")
        super().__init__(
            WordReader(tokenizer, pad_id=pad_id), BleuMetric(ngram, smooth), average, output_transform, device
        )
