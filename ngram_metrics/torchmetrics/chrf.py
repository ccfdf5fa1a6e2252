"""chrF for torchmetrics."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ngram_metrics.scores.chrf import ChrfMeasure
from ngram_metrics.scores.options import Average
from ngram_metrics.text.character_reader import CharacterReader
from ngram_metrics.torchmetrics.accumulator import Accumulator


class ChrF(Accumulator):
    """chrF, and with ``word_order=2`` chrF++, over batches; by default sacrebleu's, of the corpus.

    See :mod:`ngram_metrics.scores.chrf` for the formula and what differs from whom.

    Args:
        char_order: the longest order of characters.
        word_order: the longest order of words; 2 is chrF++.
        beta: how much recall weighs against precision, at least 0.
        lowercase: for text.
        whitespace: for text: whether whitespace counts as characters.
        eps_smoothing: whether F is averaged over all orders, as in chrF++.py, nltk and torchmetrics.
        average: ``"micro"`` (corpus), ``"macro"`` (mean of the sentences) or ``"none"``.
        pad_id: for ids, which are then the characters: the id or ids that are none.
        confidence: the level of a bootstrap interval, as 0.95; the counts of each sentence are then kept.
        device: where the states lie and text is counted.
        kwargs: those of ``torchmetrics.Metric``.

    ``compute`` returns float64 in 0..1; before any data it warns and gives 0, for average none no score.

    Raises:
        ValueError, TypeError: a setting out of its range.

    Example:
        >>> from ngram_metrics import ChrF
        >>> metric = ChrF()
        >>> metric.update(["the cat is on the mat"], [["there is a cat on the mat", "a cat is on the mat"]])
        >>> metric.compute()
        tensor(0.8799, dtype=torch.float64)
    """

    score_name = "chrf"

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
        confidence: float | None = None,
        device: torch.device | str | None = None,
        **kwargs: object,
    ) -> None:
        measure = ChrfMeasure(char_order, word_order, beta, eps_smoothing)
        reader = CharacterReader(lowercase, whitespace, word_order > 0, pad_id)
        super().__init__(reader, measure, average, confidence, device, **kwargs)
