"""Scores of a collection of texts: how varied it is, and which texts are nearly equal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, get_args

import torch
from torch import Tensor

from ngram_metrics.basics.keywords import named_arguments
from ngram_metrics.basics.option_checks import Average, Smoothing, check_choice, checked_number, checked_order
from ngram_metrics.counting.documents import RaggedSides, RaggedTokens, move_result
from ngram_metrics.counting.subsequence.subsequence_pairs import near_pairs
from ngram_metrics.metric import definitions
from ngram_metrics.scores.bleu import BleuMeasure
from ngram_metrics.scores.measure import PairCounts
from ngram_metrics.scores.repetition import (
    RepetitionMeasure,
    distinct_in_corpus,
    distinct_score,
    repeated_elsewhere,
    self_bleu_statistics,
    self_repetition_score,
)
from ngram_metrics.text.groups import read_rows
from ngram_metrics.text.input_forms import read_texts
from ngram_metrics.text.input_types import Hypotheses, Tokenizer
from ngram_metrics.text.messages import shortened, warn_of_no_segment, warn_user
from ngram_metrics.text.word_reader import WordReader


@named_arguments
def distinct(
    texts: Hypotheses,
    ngram: int | Sequence[int] = 2,
    average: Average = "micro",
    tokenizer: Tokenizer | None = None,
    pad_id: int | Sequence[int] | None = None,
    device: torch.device | str | None = None,
) -> Tensor:
    """Return distinct-n: distinct n-grams divided by all n-grams. See ``ngram_metrics.scores.repetition``.

    Args:
        texts: texts, sequences of tokens or ids, or padded ids ``(texts, width)`` or ``(segments, samples, width)``.
        ngram: the order, 1 to 1,000, or several orders: the texts are then read once.
        average: ``"micro"``: an n-gram is distinct among all texts, as in Li et al.; ``"macro"``: the mean of the
            texts' own numbers, without texts that are shorter than the order; ``"none"``: a number for each text, 0 for
            a text that is shorter than the order.
        tokenizer: for text: see ``ngram_metrics.text.tokenizer_option``.
        pad_id: for ids: the id or ids that are not tokens.
        device: where the result is, by default the device of padded ids, else the CPU. Text and lists are counted on
            the CPU, padded ids on the device they lie on.

    Returns:
        ``()`` float64 from 0 to 1 (float32 if the device has no float64); for ``"none"`` ``(texts,)`` or ``(segments,
        samples)``; for several orders with one more dimension, the last. 0 if no text has an n-gram. For padded ids,
        macro and none do not wait for the device.

    Raises:
        ValueError, TypeError: a setting out of its range, or texts that cannot be read.

    Warns:
        UserWarning: no texts.

    Example:
        >>> from ngram_metrics.functional import distinct
        >>> distinct(["a b a b", "a b c"])
        tensor(0.6000, dtype=torch.float64)
        >>> distinct(["a b a b", "a b c"], average="none")
        tensor([0.6667, 1.0000], dtype=torch.float64)
        >>> distinct(["a b a b", "a b c"], (1, 2, 3))
        tensor([0.4286, 0.6000, 1.0000], dtype=torch.float64)
    """
    check_choice("average", average, get_args(Average))
    orders = [checked_order(order) for order in (ngram if isinstance(ngram, Sequence) else [ngram])]
    if not orders:
        raise ValueError("ngram is empty: expected one order or more")
    if average == "micro":
        corpus = _read(texts, tokenizer, False, pad_id)
        scores = distinct_score(distinct_in_corpus(corpus, orders), average)  # (orders,)
    else:
        batch = WordReader(tokenizer, pad_id=pad_id).encode(read_texts(texts))
        if not len(batch.sides.hypotheses.lengths):
            warn_of_no_segment()
        by_order = [distinct_score(RepetitionMeasure(order).statistics(batch), average) for order in orders]
        scores = torch.stack(by_order, -1)  # (..., orders)
        if average == "none" and batch.leading_shape is not None:
            scores = scores.reshape(*batch.leading_shape, len(orders))
    return move_result(scores if isinstance(ngram, Sequence) else scores.squeeze(-1), device, texts)


@named_arguments
def repetition(
    texts: Hypotheses,
    ngram: int = 4,
    average: Average = "macro",
    tokenizer: Tokenizer | None = None,
    pad_id: int | Sequence[int] | None = None,
    device: torch.device | str | None = None,
) -> Tensor:
    """Return repetition: the share of the n-grams of a text that occurred in it before, 1 - distinct / all.

    The settings are those of ``ngram_metrics.Repetition``; ``texts``, ``device``, the errors and the warning are those
    of ``distinct``. A lower number is better.

    Returns:
        ``()`` float64 from 0 to 1 (float32 if the device has no float64); for ``"none"`` ``(texts,)`` or ``(segments,
        samples)``. 0 for a text that is shorter than the order. Padded ids do not wait for the device.

    Example:
        >>> from ngram_metrics.functional import repetition
        >>> repetition(["so it goes so it goes", "so it goes"], ngram=2)
        tensor(0.2000, dtype=torch.float64)
    """
    return definitions.repetition(ngram, average, tokenizer, pad_id)(texts, None, device)


@named_arguments
def self_repetition(
    texts: Hypotheses,
    ngram: int = 4,
    tokenizer: Tokenizer | None = None,
    pad_id: int | Sequence[int] | None = None,
    device: torch.device | str | None = None,
) -> Tensor:
    """Return self-repetition: how much the texts repeat n-grams of each other.

    For each text the other texts that share its n-grams are counted, and the mean of ln(1 + count) is returned; see
    ``ngram_metrics.scores.repetition``. The parameters and the errors are those of ``distinct``.

    Returns:
        ``()`` float64, at least 0 (float32 if the device has no float64); 0 for one text or none.

    Warns:
        UserWarning: fewer than two texts.

    Example:
        >>> from ngram_metrics.functional import self_repetition
        >>> self_repetition(["so it goes", "and so it goes", "it ends"], ngram=2)
        tensor(0.7324, dtype=torch.float64)
    """
    order = checked_order(ngram)
    corpus = _read(texts, tokenizer, False, pad_id)
    _warn_of_one_text(corpus)
    return move_result(self_repetition_score(repeated_elsewhere(corpus, order)), device, texts)


@named_arguments
def self_bleu(
    texts: Hypotheses,
    ngram: int = 4,
    smooth: Smoothing = "no_smooth",
    smooth_value: float | None = None,
    average: Average = "macro",
    weights: Sequence[float] | None = None,
    effective_order: bool = False,
    tokenizer: Tokenizer | None = None,
    lowercase: bool = False,
    pad_id: int | Sequence[int] | None = None,
    device: torch.device | str | None = None,
) -> Tensor:
    """Return self-BLEU: BLEU of each text with all other texts as its references, lower for more varied texts.

    See ``ngram_metrics.scores.repetition``. The settings are those of ``ngram_metrics.Bleu``, without average micro;
    ``texts``, ``device`` and the errors are those of ``distinct``.

    Returns:
        ``()`` float64 from 0 to 1 (float32 if the device has no float64), or ``(texts,)`` for ``"none"``; 0 for one
        text.

    Warns:
        UserWarning: fewer than two texts.

    Example:
        >>> from ngram_metrics.functional import self_bleu
        >>> self_bleu(["the cat sat on the mat", "the cat sat on a mat", "a dog ran"], ngram=2, average="none")
        tensor([0.7071, 0.7746, 0.0000], dtype=torch.float64)
    """
    check_choice("average", average, ("macro", "none"))
    measure = BleuMeasure(ngram, smooth, smooth_value, weights, effective_order)
    corpus = _read(texts, tokenizer, lowercase, pad_id)
    if corpus.documents < 2:
        _warn_of_one_text(corpus)
        scores = torch.zeros(corpus.documents, dtype=torch.float64, device="cpu")
    else:
        scores = measure.score(self_bleu_statistics(corpus, measure.ngram))
    return move_result(scores if average == "none" else scores.sum() / max(1, len(scores)), device, texts)


def _read(
    texts: Hypotheses, tokenizer: Tokenizer | None, lowercase: bool, pad_id: int | Sequence[int] | None
) -> RaggedTokens:
    """Read texts that are compared with each other, which waits for the device if they are padded ids."""
    sides = WordReader(tokenizer, lowercase, pad_id).encode(read_texts(texts, together=True)).sides
    assert isinstance(sides, RaggedSides)
    documents = sides.hypotheses
    if not documents.documents:
        warn_of_no_segment()
    return documents


def _warn_of_one_text(corpus: RaggedTokens) -> None:
    if corpus.documents == 1:
        warn_user("a single text has nothing to be compared with: the value is 0 whatever it says")


@named_arguments
def near_duplicates(
    texts: Sequence[Any],
    threshold: float = 0.7,
    use_stemmer: bool = False,
    normalizer: Callable[[str], str] | None = None,
    tokenizer: Tokenizer | None = None,
    pad_id: int | Sequence[int] | None = None,
) -> list[tuple[int, int, float]]:
    """Return the pairs of texts whose ROUGE-L is above a threshold: the filter of Self-Instruct (Wang et al. 2023).

    Self-Instruct keeps a new text if no text that it has kept is above 0.7. All pairs are compared here, with bounds
    that rule out most of them, see ``ngram_metrics.counting.subsequence.subsequence_pairs``. Memory grows with the
    texts and with the pairs that are returned, not with the pairs that are compared.

    Args:
        texts: texts, sequences of tokens or ids, or one padded id tensor ``(texts, width)``.
        threshold: at least 0, and below 1.
        use_stemmer: for text: whether words are stemmed.
        normalizer: for text: see ``ngram_metrics.text.rouge_reader``.
        tokenizer: for text: None for rouge_score's rule, which keeps ``a-z0-9``; for other scripts see
            ``ngram_metrics.text.tokenizer_option``.
        pad_id: for ids: the id or ids that are not tokens.

    Returns:
        ``(i, j, F)`` for each pair with F above the threshold, i below j, in ascending order. F, from 0 to 1, is the
        ``rougeL`` of ``rouge_score``. A text without words is in no pair. Tensors are read on the CPU.

    Raises:
        TypeError, ValueError: a threshold out of its range, or texts that cannot be read; in a message the texts are
            the hypotheses of row 0.

    Example:
        >>> from ngram_metrics.functional import near_duplicates
        >>> near_duplicates(["Name three fruits.", "Write a poem.", "Name three green fruits."])
        [(0, 2, 0.8571428571428571)]
    """
    least = checked_number(threshold, "threshold")
    if least >= 1:
        raise ValueError(f"threshold must be below 1, because no F is above 1 (got: {threshold})")
    if isinstance(texts, str):
        raise TypeError(f"texts is a str, {shortened(texts)}: expected a sequence of texts")
    rouge = definitions.rouge(use_stemmer, normalizer, tokenizer, rouge_keys="rougeL", pad_id=pad_id)
    rows = [texts]
    ((groups, _),) = read_rows(rouge.reader, rows, rows)
    documents = groups.tokens
    duplicates: list[tuple[int, int, float]] = []
    for pairs in near_pairs(documents, least):
        first, second, lengths = map(torch.from_numpy, pairs)
        sizes = documents.lengths.index_select(0, first), documents.lengths.index_select(0, second)
        counts = rouge.measure.pair_statistics(PairCounts(lengths.unsqueeze(1), *sizes))
        scores = rouge.measure.score(counts)[:, 0, 2]
        above = scores > least
        ends = torch.stack((first, second), 1)[above].sort(1).values
        duplicates += [(*pair, score) for pair, score in zip(ends.tolist(), scores[above].tolist(), strict=True)]
    return sorted(duplicates)
