"""N-gram overlap for torchmetrics."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ngram_metrics import metrics
from ngram_metrics.scores.options import Average
from ngram_metrics.text.inputs import Tokenizer
from ngram_metrics.torchmetrics.accumulator import Accumulator, Level


class NgramOverlap(Accumulator[Level]):
    """Clipped n-gram overlap, 2c / (h + r), of one order over batches.

    See :mod:`ngram_metrics.scores.overlap` for the formula and the differences from torch-ngram. In addition to the
    usual inputs, ``preds`` may be padded ids ``(sentences, samples, width)``, several hypotheses for each reference.

    Args:
        ngram: the order, 1 to 1,000.
        average: ``"macro"`` (mean over all hypotheses), ``"micro"`` (of the summed counts) or ``"none"``.
        tokenizer: for text: None (whitespace), a name, a callable, or a Hugging Face tokenizer.
        pad_id: for ids: the id or ids that are no tokens.
        confidence: the level of a bootstrap interval, such as 0.95; the metric then keeps the counts of each sentence.
        device: where the states are stored and text is counted.
        kwargs: keyword arguments of ``torchmetrics.Metric``.

    ``compute`` returns float64 in 0..1: ``()``, or for average none ``(sentences,)`` or ``(sentences, samples)``.
    Before any data it warns and returns 0, or for average none no scores.

    Raises:
        ValueError, TypeError: a setting out of its range; for average none, batches with different numbers of samples.
        ModuleNotFoundError: a tokenizer whose package is not installed.

    Example:
        >>> import torch
        >>> from ngram_metrics import NgramOverlap
        >>> metric = NgramOverlap(ngram=2, average="none", pad_id=0)
        >>> metric.update(torch.tensor([[[5, 6, 7], [5, 6, 0]]]), torch.tensor([[5, 6, 7]]))
        >>> metric.compute()
        tensor([[1.0000, 0.6667]], dtype=torch.float64)
    """

    def __init__(
        self,
        ngram: int = 1,
        average: Average = "macro",
        tokenizer: Tokenizer | None = None,
        pad_id: int | Sequence[int] | None = None,
        confidence: Level = None,  # type: ignore[assignment]
        device: torch.device | str | None = None,
        **kwargs: object,
    ) -> None:
        super().__init__(metrics.overlap(ngram, average, tokenizer, pad_id), confidence, device, **kwargs)
