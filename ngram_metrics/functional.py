"""The metrics in one call: read, count, score. No state, no module, so rewards compile into one graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor

from ngram_metrics.scores.bleu import BleuMetric
from ngram_metrics.scores.statistics import Average, averaged_score, check_average
from ngram_metrics.text.encoding import WordReader

__all__ = ["bleu_score"]


def bleu_score(
    preds: Any,
    target: Any,
    ngram: int = 4,
    smooth: str = "no_smooth",
    smooth_value: float | None = None,
    average: str = "macro",
    weights: Sequence[float] | None = None,
    effective_order: bool = False,
    tokenizer: Any = None,
    lowercase: bool = False,
    pad_id: int | Sequence[int] | None = None,
    device: torch.device | str | None = None,
) -> Tensor:
    """Return BLEU, by default the mean of the sentences' unsmoothed scores.

    Args:
        preds: hypotheses: texts, sequences of tokens or ids, or one padded id tensor ``(sentences, width)``.
        target: for each sentence its reference or a list of them, of the same kind; padded ``(sentences, width)`` or
            ``(sentences, references, width)``. See :mod:`ngram_metrics.text.door`.
        ngram: the longest order.
        smooth: see :mod:`ngram_metrics.scores.bleu` for what equals what elsewhere.
        smooth_value: for ``floor`` and ``add-k``.
        average: ``"micro"`` (corpus), ``"macro"`` or ``"none"``.
        weights: one for each order.
        effective_order: whether orders without any n-gram are left out.
        tokenizer: for text, see :func:`ngram_metrics.text.tokenizers.batch_tokenizer`.
        lowercase: for text.
        pad_id: for ids, the id or ids that are no tokens.
        device: where text and lists are counted, by default the CPU; tensors are counted where they lie.

    Returns:
        A float64 score in 0..1 (float32 where the device has no float64), or ``(sentences,)`` of them for ``"none"``.

    Raises:
        ValueError, TypeError: a setting out of its range, or sentences that cannot be read.

    Example:
        >>> from ngram_metrics.functional import bleu_score
        >>> references = ["the cat is on the mat", "there is a cat on the mat"]
        >>> bleu_score("the the the the the the the", references, smooth="smooth1")
        tensor(0.0393, dtype=torch.float64)
    """
    check_average(average)
    metric = BleuMetric(ngram, smooth, smooth_value, weights, effective_order)
    batch = WordReader(tokenizer, lowercase, pad_id).read(preds, target, torch.device(device or "cpu"))
    return averaged_score(metric, metric.statistics(*batch), cast(Average, average))
