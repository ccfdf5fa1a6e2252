"""BLEU for torchmetrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from typing_extensions import Self

from ngram_metrics import metrics
from ngram_metrics.scores.bleu import SACREBLEU, Smoothing
from ngram_metrics.scores.options import Average
from ngram_metrics.text.inputs import Tokenizer
from ngram_metrics.torchmetrics.accumulator import Accumulator, Level


class Bleu(Accumulator[Level]):
    """BLEU over batches; **by default the mean of the sentences' unsmoothed scores**, as in ignite.

    torchmetrics and sacrebleu report the corpus score instead, which is ``average="micro"`` here. See
    :mod:`ngram_metrics.scores.bleu` for the formula, the smoothings, and the equal settings of other packages.

    Args:
        ngram: the longest order, 1 to 1,000.
        smooth: ``no_smooth``, ``smooth1``, ``nltk_smooth2``, ``smooth2``, ``none``, ``floor``, ``add-k`` or ``exp``.
        smooth_value: the value for ``floor`` (default 0.1) and ``add-k`` (default 1).
        average: ``"macro"``, ``"micro"`` (corpus) or ``"none"`` (one score per sentence).
        weights: one weight for each order; None for equal weights.
        effective_order: whether orders without any n-gram are left out.
        tokenizer: for text: None (whitespace), a name that sacrebleu uses, a callable, or a Hugging Face tokenizer.
        lowercase: for text: whether it is lowercased.
        pad_id: for ids: the id or ids that are no tokens.
        confidence: the level of a bootstrap interval, such as 0.95; the metric then keeps the counts of each sentence.
        device: where the states are stored and text is counted.
        kwargs: keyword arguments of ``torchmetrics.Metric``.

    ``compute`` returns float64 in 0..1: ``()``, or for average none ``(sentences,)``. Before any data it warns and
    returns 0, or for average none no scores.

    Raises:
        ValueError, TypeError: a setting out of its range.
        ModuleNotFoundError: a tokenizer whose package is not installed.

    Example:
        >>> from ngram_metrics import Bleu
        >>> metric = Bleu(smooth="smooth1")
        >>> metric.update(["the cat is on the mat"], [["there is a cat on the mat", "a cat is on the mat"]])
        >>> metric.compute()
        tensor(0.7598, dtype=torch.float64)
    """

    def __init__(
        self,
        ngram: int = 4,
        smooth: Smoothing = "no_smooth",
        smooth_value: float | None = None,
        average: Average = "macro",
        weights: Sequence[float] | None = None,
        effective_order: bool = False,
        tokenizer: Tokenizer | None = None,
        lowercase: bool = False,
        pad_id: int | Sequence[int] | None = None,
        confidence: Level = None,  # type: ignore[assignment]
        device: torch.device | str | None = None,
        **kwargs: object,
    ) -> None:
        text = tokenizer, lowercase, pad_id
        bleu = metrics.bleu(ngram, smooth, smooth_value, average, weights, effective_order, *text)
        super().__init__(bleu, confidence, device, **kwargs)

    @classmethod
    def sacrebleu(cls, **options: Any) -> Self:
        """Return BLEU as papers report it, with sacrebleu's defaults: ``average="micro"``, ``smooth="exp"``, 13a.

        Args:
            options: options of the class; each may replace a default, such as ``tokenizer="zh"``.

        Example:
            >>> from ngram_metrics import Bleu
            >>> metric = Bleu.sacrebleu()
            >>> metric.update(["The cat sat on the mat."], ["The cat sat on a mat."])
            >>> metric.compute()
            tensor(0.4889, dtype=torch.float64)
        """
        return cls(**{**SACREBLEU, **options})
