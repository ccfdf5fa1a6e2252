"""chrF for torchmetrics."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ngram_metrics import metrics
from ngram_metrics.scores.options import Average
from ngram_metrics.torchmetrics.accumulator import Accumulator, Level


class ChrF(Accumulator[Level]):
    """chrF over batches, or chrF++ with ``word_order=2``; by default the corpus score, as in sacrebleu.

    See :mod:`ngram_metrics.scores.chrf` for the formula and the differences from other packages.

    Args:
        char_order: the longest order of character n-grams, 1 to 1,000.
        word_order: the longest order of word n-grams, 0 to 1,000; 2 is chrF++.
        beta: how much recall weighs against precision, 0 to 1e15.
        lowercase: for text: whether it is lowercased.
        whitespace: for text: whether whitespace characters are counted.
        eps_smoothing: whether F is averaged over all orders, as in chrF++.py, nltk and torchmetrics.
        average: ``"micro"`` (corpus), ``"macro"`` (mean of the sentences) or ``"none"``.
        pad_id: for ids, which are counted as characters: the id or ids that are padding.
        confidence: the level of a bootstrap interval, such as 0.95; the metric then keeps the counts of each sentence.
        device: where the states are stored and text is counted.
        kwargs: keyword arguments of ``torchmetrics.Metric``.

    ``compute`` returns float64 in 0..1: ``()``, or for average none ``(sentences,)``. Before any data it warns and
    returns 0, or for average none no scores.

    Raises:
        ValueError, TypeError: a setting out of its range.

    Example:
        >>> from ngram_metrics import ChrF
        >>> metric = ChrF()
        >>> metric.update(["the cat is on the mat"], [["there is a cat on the mat", "a cat is on the mat"]])
        >>> metric.compute()
        tensor(0.8799, dtype=torch.float64)
    """

    def __init__(
        self,
        char_order: int = 6,
        word_order: int = 0,
        beta: float = 2.0,
        lowercase: bool = False,
        whitespace: bool = False,
        eps_smoothing: bool = False,
        average: Average = "micro",
        pad_id: int | Sequence[int] | None = None,
        confidence: Level = None,  # type: ignore[assignment]
        device: torch.device | str | None = None,
        **kwargs: object,
    ) -> None:
        chrf = metrics.chrf(char_order, word_order, beta, lowercase, whitespace, eps_smoothing, average, pad_id)
        super().__init__(chrf, confidence, device, **kwargs)
