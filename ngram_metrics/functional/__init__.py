"""The metrics in one call: read, count, score. No state, no module, so rewards compile into one graph."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
from torch import Tensor
from torch.nn.functional import pad

from ngram_metrics.scores.all_pairs import pair_scores
from ngram_metrics.scores.bleu import BleuMeasure
from ngram_metrics.scores.chrf import ChrfMeasure, aggregate_scores
from ngram_metrics.scores.measure import Average, Measure, averaged_score, check_average
from ngram_metrics.scores.overlap import OverlapMeasure
from ngram_metrics.scores.rouge import by_key, checked_keys, rouge_measure
from ngram_metrics.text.character_reader import CharacterReader
from ngram_metrics.text.groups import read_rows
from ngram_metrics.text.reader import Reader, WordReader
from ngram_metrics.text.rouge_reader import RougeReader
from ngram_metrics.text.samples import SampleReader, samples_of

__all__ = [
    "bleu_score",
    "rouge_score",
    "chrf_score",
    "ngram_overlap",
    "get_score",
    "pad2max",
    "pairwise_chrf",
    "aggregate_chrf",
]


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
    measure = BleuMeasure(ngram, smooth, smooth_value, weights, effective_order)
    return _score(WordReader(tokenizer, lowercase, pad_id), measure, preds, target, average, device)


def rouge_score(
    preds: Any,
    target: Any,
    accumulate: str = "best",
    use_stemmer: bool = False,
    normalizer: Callable[[str], str] | None = None,
    tokenizer: Any = None,
    rouge_keys: str | Sequence[str] = ("rouge1", "rouge2", "rougeL", "rougeLsum"),
    average: str = "macro",
    sentence_splitter: Callable[[str], Sequence[str]] | None = None,
    sentence_separator_id: int | None = None,
    pad_id: int | Sequence[int] | None = None,
    device: torch.device | str | None = None,
) -> dict[str, Tensor]:
    """Return ROUGE, with the parameters of ``torchmetrics.functional.text.rouge_score``, and ours after them.

    Args:
        preds: hypotheses, as for :func:`bleu_score`.
        target: references.
        accumulate: see :class:`ngram_metrics.ROUGEScore`, as for all that follow.
        use_stemmer: see there.
        normalizer: see there.
        tokenizer: see there.
        rouge_keys: see there.
        average: see there.
        sentence_splitter: see there.
        sentence_separator_id: see there.
        pad_id: see there.
        device: where text and lists are counted, by default the CPU.

    Returns:
        ``<key>_fmeasure``, ``<key>_precision`` and ``<key>_recall`` for each key, each ``()`` in 0..1, or
        ``(sentences,)`` for ``"none"``. Without any sentence NaN, as torchmetrics.

    Raises:
        ValueError, TypeError, ModuleNotFoundError: as :class:`ngram_metrics.ROUGEScore`.

    Example:
        >>> from ngram_metrics.functional import rouge_score
        >>> scores = rouge_score("My name is John", "Is your name John", rouge_keys="rouge1")
        >>> scores["rouge1_fmeasure"]
        tensor(0.7500, dtype=torch.float64)
    """
    check_average(average)
    keys = checked_keys(rouge_keys)
    measure = rouge_measure(keys, accumulate, average)
    reader = RougeReader(
        use_stemmer, normalizer, tokenizer, sentence_splitter, sentence_separator_id, pad_id, "rougeLsum" in keys
    )
    # Without any sentence there is no score, as in torchmetrics; the others' is 0.
    return by_key(_score(reader, measure, preds, target, average, device, empty_score=math.nan), keys)


def chrf_score(
    preds: Any,
    target: Any,
    char_order: int = 6,
    word_order: int = 0,
    beta: float = 2.0,
    lowercase: bool = False,
    whitespace: bool = False,
    eps_smoothing: bool = False,
    average: str = "micro",
    pad_id: int | Sequence[int] | None = None,
    device: torch.device | str | None = None,
) -> Tensor:
    """Return chrF, or with ``word_order=2`` chrF++, by default of the corpus as sacrebleu.

    Args:
        preds: hypotheses, as for :func:`bleu_score`; of ids, the ids are the characters.
        target: references.
        char_order: see :class:`ngram_metrics.ChrF`, as for all that follow.
        word_order: see there.
        beta: see there.
        lowercase: see there.
        whitespace: see there.
        eps_smoothing: see there.
        average: see there.
        pad_id: see there.
        device: where text and lists are counted, by default the CPU.

    Returns:
        ``()`` in 0..1, or ``(sentences,)`` for ``"none"``.

    Raises:
        ValueError, TypeError: as :class:`ngram_metrics.ChrF`.

    Example:
        >>> from ngram_metrics.functional import chrf_score
        >>> chrf_score(["abc"], ["abcdefgh"])
        tensor(0.3225, dtype=torch.float64)
    """
    check_average(average)
    measure = ChrfMeasure(char_order, word_order, beta, eps_smoothing)
    reader = CharacterReader(lowercase, whitespace, word_order > 0, pad_id)
    return _score(reader, measure, preds, target, average, device)


def ngram_overlap(
    preds: Any,
    target: Any,
    ngram: int = 1,
    average: str = "macro",
    tokenizer: Any = None,
    pad_id: int | Sequence[int] | None = None,
    device: torch.device | str | None = None,
) -> Tensor:
    """Return the clipped n-gram overlap, 2c / (h + r), of one order.

    Args:
        preds: hypotheses, as for :func:`bleu_score`, or padded ids ``(sentences, samples, width)``.
        target: references.
        ngram: see :class:`ngram_metrics.NgramOverlap`, as for all that follow.
        average: see there.
        tokenizer: see there.
        pad_id: see there.
        device: where text and lists are counted, by default the CPU.

    Returns:
        ``()`` in 0..1; for ``"none"`` ``(sentences,)`` or ``(sentences, samples)``.

    Raises:
        ValueError, TypeError: as :class:`ngram_metrics.NgramOverlap`.

    Example:
        >>> from ngram_metrics.functional import ngram_overlap
        >>> ngram_overlap([["a", "a", "b"]], [["a", "b", "c"]])
        tensor(0.6667, dtype=torch.float64)
    """
    check_average(average)
    measure, samples = OverlapMeasure(ngram), samples_of(preds)
    scores = _score(SampleReader(tokenizer, pad_id=pad_id), measure, preds, target, average, device)
    return scores if samples is None or average != "none" else scores.reshape(len(preds), samples)


def get_score(ref_tensor: Tensor, sys_tensor: Tensor, pad_id: int, n_gram: int) -> Tensor:
    """Return the overlap of each sample with its reference: torch_ngram's ``get_score``, with exact clipped counts.

    Args:
        ref_tensor: ``(batch, width)``, padded ids.
        sys_tensor: ``(batch, samples, width)``, padded ids.
        pad_id: the id that is no token.
        n_gram: the order, at least 1.

    Returns:
        ``(batch, samples)`` in 0..1, float64 where the device has it. See :mod:`ngram_metrics.scores.overlap` for where
        torch_ngram gives another number.

    Raises:
        ValueError, TypeError: tensors of other shapes or dtypes.

    Example:
        >>> import torch
        >>> from ngram_metrics.functional import get_score
        >>> get_score(torch.tensor([[1, 2, 3, 4]]), torch.tensor([[[1, 2, 3, 0], [2, 4, 6, 8]]]), pad_id=0, n_gram=2)
        tensor([[0.8000, 0.0000]], dtype=torch.float64)
    """
    for name, given in (("ref_tensor", ref_tensor), ("sys_tensor", sys_tensor)):
        if not isinstance(given, Tensor):
            raise TypeError(f"{name} is a {type(given).__name__}: expected a tensor of ids")
    if sys_tensor.dim() != 3 or ref_tensor.dim() != 2:
        raise ValueError(
            f"ref_tensor has shape {tuple(ref_tensor.shape)} and sys_tensor {tuple(sys_tensor.shape)}: "
            "expected (batch, width) and (batch, samples, width)"
        )
    return ngram_overlap(sys_tensor, ref_tensor, n_gram, average="none", pad_id=pad_id)


def pad2max(input_tensors: list[Tensor], pad_id: int) -> Tensor:
    """Pad id tensors to the longest and stack them: torch_ngram's ``pad2max``.

    Args:
        input_tensors: at least one; int64, alike in all dimensions but the last.
        pad_id: what the gaps are filled with.

    Returns:
        ``(tensors, ..., longest)`` int64.

    Raises:
        ValueError: no tensor.
        TypeError: a tensor that is not int64.
    """
    if not input_tensors:
        raise ValueError("input_tensors is empty: expected at least one tensor")
    for index, tensor in enumerate(input_tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"tensor {index} is a {type(tensor).__name__}: expected int64 token ids")
        if tensor.dtype != torch.int64 or tensor.dim() == 0:
            raise TypeError(f"tensor {index} is {tensor.dtype} of {tensor.dim()} dimension: expected int64 token ids")
    longest = max(tensor.shape[-1] for tensor in input_tensors)
    return torch.stack([pad(tensor, (0, longest - tensor.shape[-1]), value=pad_id) for tensor in input_tensors])


def pairwise_chrf(
    hypotheses: Any,
    references: Any,
    char_order: int = 6,
    beta: float = 2.0,
    remove_whitespace: bool = True,
    eps_smoothing: bool = False,
    device: torch.device | str | None = None,
) -> Tensor | list[Tensor]:
    """Return chrF of each hypothesis with each reference of its row: fastchrf's ``pairwise_chrf``.

    Args:
        hypotheses: at least one row of texts, each of any number of them; see :mod:`ngram_metrics.text.groups`.
        references: as many rows; the same object, or the same texts, are counted once.
        char_order: the longest order, at least 1.
        beta: how much recall weighs against precision, at least 0.
        remove_whitespace: whether whitespace is left out.
        eps_smoothing: see :mod:`ngram_metrics.scores.chrf`.
        device: where text is counted, by default the CPU.

    Returns:
        ``(rows, hypotheses, references)`` float64 in 0..100 (float32 where the device has no float64); of rows of
        different sizes a list with ``(hypotheses, references)`` for each, where fastchrf gives lists of lists.

    Raises:
        TypeError: a str where a row is due, or a document that is none.
        ValueError: no rows, different numbers of rows, or a setting out of its range.

    Example:
        >>> from ngram_metrics.functional import pairwise_chrf
        >>> references = ["The cat sat on the mat.", "The fat cat sat on the mat.", "A cat sat on a mat."]
        >>> pairwise_chrf([["The cat sat on the mat.", "The cat sat on the hat."]], [references])
        tensor([[[100.0000,  74.6319,  55.7707],
                 [ 79.6537,  57.1529,  50.7218]]], dtype=torch.float64)
    """
    measure = ChrfMeasure(char_order, 0, beta, eps_smoothing)
    reader = CharacterReader(whitespace=not remove_whitespace)
    scores = pair_scores(measure, read_rows(reader, hypotheses, references, torch.device(device or "cpu")))
    return scores.mul_(100) if isinstance(scores, Tensor) else [one.mul_(100) for one in scores]


def aggregate_chrf(
    hypotheses: Any,
    references: Any,
    char_order: int = 6,
    beta: float = 2.0,
    remove_whitespace: bool = True,
    eps_smoothing: bool = False,
    device: torch.device | str | None = None,
) -> Tensor | list[Tensor]:
    """Return chrF of each hypothesis with the average counts of its row's references: fastchrf's ``aggregate_chrf``.

    Vamvas and Sennrich 2024, "Linear-time Minimum Bayes Risk Decoding with Reference Aggregation". It is neither the
    mean over the references nor chrF of several references.

    Args:
        hypotheses: as for :func:`pairwise_chrf`, as all that follow.
        references: see there; a row without references scores 0.
        char_order: see there.
        beta: see there.
        remove_whitespace: see there.
        eps_smoothing: see there.
        device: see there.

    Returns:
        ``(rows, hypotheses)`` float64 in 0..100; of rows of different sizes a list with ``(hypotheses,)`` for each.

    Raises:
        TypeError, ValueError: as :func:`pairwise_chrf`.

    Example:
        >>> from ngram_metrics.functional import aggregate_chrf
        >>> references = ["The cat sat on the mat.", "The fat cat sat on the mat.", "A cat sat on a mat."]
        >>> aggregate_chrf([["The cat sat on the mat.", "The cat sat on the hat."]], [references])
        tensor([[78.5639, 63.3719]], dtype=torch.float64)
    """
    measure = ChrfMeasure(char_order, 0, beta, eps_smoothing)
    reader = CharacterReader(whitespace=not remove_whitespace)
    ((own, others),) = read_rows(reader, hypotheses, references, torch.device(device or "cpu"))
    scores = 100 * aggregate_scores(measure, own, others)
    rows = scores.split(own.counts.tolist())
    return torch.stack(rows) if len(set(map(len, rows))) == 1 else list(rows)


def _score(
    reader: Reader[Any],
    measure: Measure,
    preds: Any,
    target: Any,
    average: str,
    device: torch.device | str | None,
    empty_score: float = 0,
) -> Tensor:
    """Read, count and score a batch: what every metric's function does; of no sentence the score is ``empty_score``."""
    statistics = measure.statistics(*reader.read(preds, target, torch.device(device or "cpu")))
    scores = averaged_score(measure, statistics, cast(Average, average))
    return scores if average == "none" or len(statistics[0]) else torch.full_like(scores, empty_score)
