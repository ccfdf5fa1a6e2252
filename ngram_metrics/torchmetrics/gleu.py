"""Google-BLEU for torchmetrics."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ngram_metrics import metrics
from ngram_metrics.scores.options import Average
from ngram_metrics.text.inputs import Tokenizer
from ngram_metrics.torchmetrics.accumulator import Accumulator, Level


class Gleu(Accumulator[Level]):
    """Google-BLEU over batches, by default nltk's ``corpus_gleu``. See :mod:`ngram_metrics.scores.gleu`.

    Args:
        ngram: the longest order, 1 to 1,000.
        average: ``"micro"`` (corpus), ``"macro"`` (mean of the sentences) or ``"none"``.

    The other parameters, the errors and the result of ``compute`` are those of :class:`ngram_metrics.NgramOverlap`;
    Gleu takes one hypothesis per sentence.

    Example:
        >>> from ngram_metrics import Gleu
        >>> metric = Gleu()
        >>> metric.update(["the cat is on the mat"], [["there is a cat on the mat", "a cat is on the mat"]])
        >>> metric.compute()
        tensor(0.7778, dtype=torch.float64)
    """

    def __init__(
        self,
        ngram: int = 4,
        average: Average = "micro",
        tokenizer: Tokenizer | None = None,
        pad_id: int | Sequence[int] | None = None,
        confidence: Level = None,  # type: ignore[assignment]
        device: torch.device | str | None = None,
        **kwargs: object,
    ) -> None:
        super().__init__(metrics.gleu(ngram, average, tokenizer, pad_id), confidence, device, **kwargs)
