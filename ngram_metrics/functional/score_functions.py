"""The metrics in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from ngram_metrics._core.basics.keywords import named_arguments
from ngram_metrics._core.basics.option_checks import Average
from ngram_metrics._core.basics.tensors import call_outside_graphs, move_result, to_tensor
from ngram_metrics._core.metrics.bleu import Smoothing, make_bleu
from ngram_metrics._core.metrics.chrf import make_chrf
from ngram_metrics._core.metrics.overlap import make_overlap
from ngram_metrics._core.metrics.rouge import DEFAULT_ROUGE_KEYS, Accumulate, RougeKey, make_rouge
from ngram_metrics._core.scoring.scorer import Scorer
from ngram_metrics._core.text.input_types import Hypotheses, References, Tokenizer
from ngram_metrics._core.text.messages import warn_of_no_segment


@named_arguments
def bleu_score(
    preds: Hypotheses,
    target: References,
    ngram: int = 4,
    smooth: Smoothing = "exp",
    smooth_value: float | None = None,
    average: Average = "micro",
    weights: Sequence[float] | None = None,
    effective_order: bool | None = None,
    tokenizer: Tokenizer | None = "13a",
    lowercase: bool = False,
    pad_id: int | Sequence[int] | None = None,
    device: torch.device | str | None = None,
) -> Tensor:
    """Return BLEU, by default sacrebleu's corpus score, and with average none its sentence BLEU.

    Args:
        preds: hypotheses: texts, sequences of tokens or ids, or one padded id tensor ``(segments, width)``.
        target: for each segment its reference or a list of references, of the same kind; padded ``(segments, width)``
            or ``(segments, references, width)``. See the page "Input formats".
        ngram: the longest order, 1 to 1,000.
        smooth: the smoothing. The page "BLEU" lists all smoothings, with the settings of other packages that give the
            same number.
        smooth_value: the value for ``floor`` (default 0.1) and ``add-k`` (default 1).
        average: ``"micro"`` (corpus), ``"macro"`` or ``"none"``.
        weights: one weight for each order; None for equal weights.
        effective_order: whether orders without any n-gram are left out; None for sacrebleu's rule: False for average
            micro, True for the others.
        tokenizer: for text: as in ``ngram_metrics.Bleu``.
        lowercase: for text: whether it is lowercased.
        pad_id: for ids: the id or ids that are not tokens.
        device: where the result is, by default the device of padded ids, else the CPU. Text and lists are counted on
            the CPU, padded ids on their own device.

    Returns:
        ``()`` float64 from 0 to 1 (float32 if the device has no float64), or ``(segments,)`` for ``"none"``.

    Raises:
        ValueError, TypeError: a setting out of its range, or segments that cannot be read.

    Example:
        >>> from ngram_metrics.functional import bleu_score
        >>> references = ["the cat is on the mat", "there is a cat on the mat"]
        >>> bleu_score("the cat is on the mat today", references)
        tensor(0.8091, dtype=torch.float64)
    """
    bleu = make_bleu(
        ngram=ngram,
        smooth=smooth,
        smooth_value=smooth_value,
        average=average,
        weights=weights,
        effective_order=effective_order,
        tokenizer=tokenizer,
        lowercase=lowercase,
        pad_id=pad_id,
    )
    return _count_and_score(bleu, preds, target, device)


@named_arguments
def rouge_score(
    preds: Hypotheses,
    target: References,
    accumulate: Accumulate = "best",
    use_stemmer: bool = False,
    normalizer: Callable[[str], str] | None = None,
    tokenizer: Tokenizer | None = None,
    rouge_keys: RougeKey | Sequence[RougeKey] = DEFAULT_ROUGE_KEYS,
    average: Average = "macro",
    sentence_splitter: Callable[[str], Sequence[str]] | None = None,
    sentence_separator_id: int | None = None,
    pad_id: int | Sequence[int] | None = None,
    device: torch.device | str | None = None,
) -> dict[str, Tensor]:
    """Return ROUGE. The first parameters are those of ``torchmetrics.functional.text.rouge_score``, in its order.

    The settings are those of ``ngram_metrics.ROUGEScore``; ``preds``, ``target`` and ``device`` are those of
    ``bleu_score``.

    Returns:
        A dict with ``<key>_fmeasure``, ``<key>_precision`` and ``<key>_recall`` for each key, each ``()`` float64
        from 0 to 1, or ``(segments,)`` for ``"none"``. Without segments the values are NaN, as in torchmetrics.

    Raises:
        ValueError, TypeError: a setting out of its range; ``accumulate="avg"`` with ``average="micro"``; segments that
            cannot be read.
        ModuleNotFoundError: a tokenizer whose package is not installed.

    Example:
        >>> from ngram_metrics.functional import rouge_score
        >>> scores = rouge_score("My name is John", "Is your name John", rouge_keys="rouge1")
        >>> scores["rouge1_fmeasure"]
        tensor(0.7500, dtype=torch.float64)
    """
    rouge = make_rouge(
        use_stemmer=use_stemmer,
        normalizer=normalizer,
        tokenizer=tokenizer,
        accumulate=accumulate,
        rouge_keys=rouge_keys,
        average=average,
        sentence_splitter=sentence_splitter,
        sentence_separator_id=sentence_separator_id,
        pad_id=pad_id,
    )
    return rouge.name_values(_count_and_score(rouge, preds, target, device))


@named_arguments
def chrf_score(
    preds: Hypotheses,
    target: References,
    char_order: int = 6,
    word_order: int = 0,
    beta: float = 2.0,
    lowercase: bool = False,
    whitespace: bool = False,
    eps_smoothing: bool = False,
    average: Average = "micro",
    pad_id: int | Sequence[int] | None = None,
    device: torch.device | str | None = None,
) -> Tensor:
    """Return chrF, or chrF++ with ``word_order=2``, by default the corpus score, as in sacrebleu.

    The settings are those of ``ngram_metrics.ChrF``. ``preds``, ``target``, ``device``, the result and the errors are
    those of ``bleu_score``. Ids are counted as characters.

    Example:
        >>> from ngram_metrics.functional import chrf_score
        >>> chrf_score(["abc"], ["abcdefgh"])
        tensor(0.3225, dtype=torch.float64)
    """
    chrf = make_chrf(
        char_order=char_order,
        word_order=word_order,
        beta=beta,
        lowercase=lowercase,
        whitespace=whitespace,
        eps_smoothing=eps_smoothing,
        average=average,
        pad_id=pad_id,
    )
    return _count_and_score(chrf, preds, target, device)


@named_arguments
def ngram_overlap(
    preds: Hypotheses,
    target: References,
    ngram: int = 1,
    average: Average = "macro",
    tokenizer: Tokenizer | None = None,
    pad_id: int | Sequence[int] | None = None,
    device: torch.device | str | None = None,
) -> Tensor:
    """Return the clipped n-gram overlap, 2c / (h + r), of one order.

    The settings are those of ``ngram_metrics.NgramOverlap``. ``preds``, ``target``, ``device``, the result and the
    errors are those of ``bleu_score``. ``preds`` may also be padded ids ``(segments, samples, width)``; for ``"none"``
    their scores are ``(segments, samples)``.

    Example:
        >>> from ngram_metrics.functional import ngram_overlap
        >>> ngram_overlap([["a", "a", "b"]], [["a", "b", "c"]])
        tensor(0.6667, dtype=torch.float64)
    """
    overlap = make_overlap(ngram=ngram, average=average, tokenizer=tokenizer, pad_id=pad_id)
    return _count_and_score(overlap, preds, target, device)


def _count_and_score(
    scorer: Scorer, preds: Hypotheses, target: References, device: torch.device | str | None
) -> Tensor:
    """Return the score of a batch on a device. None is the device of padded ids, else the CPU."""
    if scorer.reader.can_be_recorded(preds, target):
        return _score_here(scorer, preds, target, device)
    return call_outside_graphs(_score_here, scorer, preds, target, device)


def _score_here(scorer: Scorer, preds: Hypotheses, target: References, device: torch.device | str | None) -> Tensor:
    """Return the score of a batch from this graph, if there is one."""
    batch = scorer.count_batch(preds, target)
    if not batch.segments:
        warn_of_no_segment()
    counts = scorer.add_up(batch)
    scorer.warn_of_score(counts)
    return move_result(to_tensor(scorer.score(counts)), batch.device if device is None else device)
