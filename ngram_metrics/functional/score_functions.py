"""The metrics in one call, and where the n-grams of hypotheses match."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from ngram_metrics._core.basics.keywords import named_arguments
from ngram_metrics._core.basics.option_checks import Accumulate, Average, RougeKey, Smoothing, checked_order, pad_ids
from ngram_metrics._core.counting.documents import RaggedSides, host_counts, kept_ids, move_result
from ngram_metrics._core.counting.matched_positions import matched_positions
from ngram_metrics._core.metrics.bleu import make_bleu
from ngram_metrics._core.metrics.chrf import make_chrf
from ngram_metrics._core.metrics.gleu import make_gleu
from ngram_metrics._core.metrics.overlap import make_overlap
from ngram_metrics._core.metrics.rouge import make_rouge
from ngram_metrics._core.metrics.ter import make_ter
from ngram_metrics._core.text.input_forms import PaddedSegments, read
from ngram_metrics._core.text.input_types import Hypotheses, References, Tokenizer
from ngram_metrics._core.text.word_reader import WordReader


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
            or ``(segments, references, width)``. See ``_core.text.input_forms``.
        ngram: the longest order, 1 to 1,000.
        smooth: the smoothing; ``_core.metrics.bleu`` lists them with the equal settings of other packages.
        smooth_value: the value for ``floor`` (default 0.1) and ``add-k`` (default 1).
        average: ``"micro"`` (corpus), ``"macro"`` or ``"none"``.
        weights: one weight for each order; None for equal weights.
        effective_order: whether orders without any n-gram are left out; None for sacrebleu's rule: False for average
            micro, True for the others.
        tokenizer: for text: see ``_core.text.tokenizer_option``.
        lowercase: for text: whether it is lowercased.
        pad_id: for ids: the id or ids that are not tokens.
        device: where the result is, by default the device of padded ids, else the CPU. Text and lists are counted on
            the CPU, padded ids on the device they lie on.

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
    text = tokenizer, lowercase, pad_id
    return make_bleu(ngram, smooth, smooth_value, average, weights, effective_order, *text)(preds, target, device)


@named_arguments
def rouge_score(
    preds: Hypotheses,
    target: References,
    accumulate: Accumulate = "best",
    use_stemmer: bool = False,
    normalizer: Callable[[str], str] | None = None,
    tokenizer: Tokenizer | None = None,
    rouge_keys: RougeKey | Sequence[RougeKey] = ("rouge1", "rouge2", "rougeL", "rougeLsum"),
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
    words, sentences = (use_stemmer, normalizer, tokenizer), (sentence_splitter, sentence_separator_id)
    rouge = make_rouge(*words, accumulate, rouge_keys, average, *sentences, pad_id)
    return rouge.name_values(rouge(preds, target, device))


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
    chrf = make_chrf(char_order, word_order, beta, lowercase, whitespace, eps_smoothing, average, pad_id)
    return chrf(preds, target, device)


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
    errors are those of ``bleu_score``, but ``preds`` may also be padded ids ``(segments, samples, width)``, which for
    ``"none"`` give ``(segments, samples)``.

    Example:
        >>> from ngram_metrics.functional import ngram_overlap
        >>> ngram_overlap([["a", "a", "b"]], [["a", "b", "c"]])
        tensor(0.6667, dtype=torch.float64)
    """
    return make_overlap(ngram, average, tokenizer, pad_id)(preds, target, device)


@named_arguments
def gleu_score(
    preds: Hypotheses,
    target: References,
    ngram: int = 4,
    average: Average = "micro",
    tokenizer: Tokenizer | None = None,
    pad_id: int | Sequence[int] | None = None,
    device: torch.device | str | None = None,
) -> Tensor:
    """Return Google-BLEU, by default the corpus score, as in nltk.

    The settings are those of ``ngram_metrics.Gleu``. ``preds``, ``target``, ``device``, the result and the errors
    are those of ``bleu_score``.

    Example:
        >>> from ngram_metrics.functional import gleu_score
        >>> gleu_score(["the cat is on the mat"], [["a cat is on the mat"]])
        tensor(0.7778, dtype=torch.float64)
    """
    return make_gleu(ngram, average, tokenizer, pad_id)(preds, target, device)


@named_arguments
def ter_score(
    preds: Hypotheses,
    target: References,
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
    average: Average = "micro",
) -> Tensor:
    """Return TER, the translation edit rate, by default the corpus score, as in sacrebleu. Lower is better.

    The settings, the result and the errors are those of ``ngram_metrics.Ter``. ``preds`` and ``target`` are texts,
    which are counted on the CPU.

    Example:
        >>> from ngram_metrics.functional import ter_score
        >>> ter_score(["the cat is on the mat"], [["a cat is on the mat"]])
        tensor(0.1667, dtype=torch.float64)
    """
    return make_ter(normalized, no_punct, asian_support, case_sensitive, average)(preds, target)


@named_arguments
def matched_orders(
    preds: Hypotheses,
    target: References,
    ngram: int = 4,
    tokenizer: Tokenizer | None = None,
    lowercase: bool = False,
    pad_id: int | Sequence[int] | None = None,
    device: torch.device | str | None = None,
) -> Tensor | list[Tensor]:
    """Return for each token of the hypotheses the longest order of a matched n-gram that covers it.

    The matched n-grams are those that BLEU counts (Papineni et al. 2002, section 2.1): the first k of equal n-grams in
    a hypothesis, where k is their largest count in one reference. So a word that is repeated too often has 0 from then
    on, unless a longer n-gram around it is matched.

    The parameters and the errors are as in ``bleu_score``, but there are none for smoothing, weights or averages.
    ``tokenizer`` is None by default, which splits text at whitespace; the result has a number for each token that the
    tokenizer returns. A padded tensor needs ``pad_id``.

    Returns:
        int64 in ``[0, ngram]``, 0 if no matched n-gram covers the token, or if it is in ``pad_id``. For padded ids a
        tensor of the shape of ``preds``, made without waiting for the device; else a list of tensors ``(tokens,)``, one
        per segment.

    Example:
        >>> from ngram_metrics.functional import matched_orders
        >>> matched_orders("the cat sat on the the mat", "the cat is on the mat")
        [tensor([2, 2, 0, 2, 2, 2, 2])]
    """
    order = checked_order(ngram)
    reader = WordReader(tokenizer, lowercase, pad_id)
    segments = read(preds, target)
    sides = reader.encode(segments).sides
    orders, _ = matched_positions(sides, order)
    dropped = pad_ids(pad_id)
    if isinstance(segments, PaddedSegments):
        is_token = kept_ids(segments.hypotheses.long(), dropped)
        if isinstance(sides, RaggedSides):
            return move_result(_put_back(orders, is_token), device)
        index = (is_token.cumsum(-1, dtype=torch.int64) - 1).clamp(min=0)
        return move_result(orders.gather(-1, index) * is_token, device)
    orders = move_result(orders, device)
    by_segment = list(orders.split(sides.hypotheses.lengths.tolist()))
    if segments.kind == "ids":
        for segment, ids in enumerate(segments.hypotheses):
            # In a list an id may be larger than int64.
            is_list = not isinstance(ids, Tensor)
            is_token = host_counts([i not in dropped for i in ids]) > 0 if is_list else kept_ids(ids.long(), dropped)
            by_segment[segment] = _put_back(by_segment[segment], is_token.to(orders.device))
    is_padded = isinstance(preds, (Tensor, np.ndarray)) and any(segments.padded)
    return torch.stack(by_segment) if is_padded and by_segment else by_segment


def _put_back(orders: Tensor, is_token: Tensor) -> Tensor:
    """Return orders ``(tokens,)`` where ``is_token`` ``(...)`` bool is true, and 0 elsewhere."""
    return torch.zeros_like(is_token, dtype=torch.int64).masked_scatter_(is_token, orders)
