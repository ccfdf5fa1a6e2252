"""The formulas of ``_core.metrics`` once more, for one segment, in ``int`` and ``float``.

The counts have the fields of the measures' named tuples, in the same order. The operations are in the same order too,
so that the same one of several references is chosen.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from functools import cache

from ngram_metrics._core.counting.python_matches import (
    RougeText,
    match_ngrams,
    match_short_pair,
    match_words,
    subsequence_length,
    union_hits,
)

#: Below this number of words in a pair, operations on integers with a bit for each word are faster than those on lists.
_FEW_WORDS = 600
#: The fields of ``BleuStatistics``.
BleuCounts = tuple[list[int], list[int], int, int]
#: The fields of ``MatchStatistics``, of chrF lists of them.
ChrfCounts = tuple[list[int], list[int], list[int]]
#: The fields of ``MatchStatistics``, of ROUGE for one key.
Counts = tuple[int, int, int]

#: What the smoothings of BLEU add or take; for ``floor`` and ``add-k`` the default of ``smooth_value``.
SMOOTH_VALUES = {"smooth1": 0.1, "nltk_smooth2": 1.0, "smooth2": 1.0, "floor": 0.1, "add-k": 1.0}
#: The smoothings that add a value to the matches and to the n-grams of each order but the first.
_ADDING = ("nltk_smooth2", "smooth2", "add-k")
#: More scores are summed up to a few numbers.
_MOST_TERMS = 1 << 13
#: The value of an order without n-grams under eps smoothing of chrF.
EPSILON = 1e-16


def bleu_precisions(
    matches: Sequence[int], totals: Sequence[int], smooth: str = "exp", value: float | None = None
) -> list[float]:
    """Return the smoothed precision of each order, with the smoothing's ``value``."""
    value = SMOOTH_VALUES.get(smooth, 0.0) if value is None else value
    is_adding = smooth in _ADDING
    least = 1 if smooth in ("smooth1", "nltk_smooth2") else 0
    precisions = []
    unmatched = 0
    for order, (matched, total) in enumerate(zip(matches, totals, strict=True)):
        numerator: float = matched
        denominator: float = total or least
        if is_adding and order:
            numerator, denominator = numerator + value, denominator + value
        elif not matched:
            unmatched += 1
            numerator = {"smooth1": value, "floor": value, "exp": 2.0**-unmatched}.get(smooth, 0.0)
        precisions.append(numerator / denominator if denominator > 0 else 0.0)
    return precisions


def brevity_penalty(hypothesis_length: int, reference_length: int) -> float:
    """Return BLEU's brevity penalty, which is 0 if the hypothesis is empty and the reference is not."""
    if not hypothesis_length:
        return 0.0 if reference_length else 1.0
    return math.exp(min(0.0, 1 - reference_length / hypothesis_length))


def length_ratio(hypothesis_length: int, reference_length: int) -> float:
    """Return the length of the hypotheses divided by the length of the references, 0 if these are empty."""
    return hypothesis_length / reference_length if reference_length else 0.0


def bleu_score(
    counts: BleuCounts,
    smooth: str = "exp",
    value: float | None = None,
    weights: Sequence[float] | None = None,
    effective_order: bool = False,
) -> float:
    """Return BLEU from 0 to 1, with the smoothing's ``value``."""
    matches, totals, hypothesis_length, reference_length = counts
    if not matches[0]:
        return 0.0
    order_weights = [1.0] * len(matches) if weights is None else weights
    # An added value makes an order without n-grams count.
    added = smooth in ("smooth2", "add-k") and (SMOOTH_VALUES[smooth] if value is None else value) > 0
    log_mean = weight_sum = 0.0
    precisions = bleu_precisions(matches, totals, smooth, value)
    for order, (total, precision, weight) in enumerate(zip(totals, precisions, order_weights, strict=True)):
        if effective_order and not total and not (added and order > 0):
            continue
        weight_sum += weight
        if weight:
            log_mean += weight * math.log(precision) if precision > 0 else -math.inf
    if weights is None or effective_order:
        if weight_sum <= 0:
            return 0.0
        log_mean = log_mean * (1.0 if weights is None else math.fsum(weights)) / weight_sum
    return brevity_penalty(hypothesis_length, reference_length) * math.exp(log_mean)


def chrf_fields(matches: list[int], hypothesis_length: int, reference_length: int) -> ChrfCounts:
    """Return the matches of a pair in one kind of token with its totals, in each order."""
    wanted = ngram_totals(reference_length, len(matches))
    totals = ngram_totals(hypothesis_length, len(matches))
    return matches, [has if wants else 0 for has, wants in zip(totals, wanted, strict=True)], wanted


def chrf_score(counts: ChrfCounts, beta: float = 2.0, eps_smoothing: bool = False, scale: int = 1) -> float:
    """Return chrF in 0..``scale``."""
    factor = beta**2
    if eps_smoothing:
        total = 0.0
        for matched, has, wants in zip(*counts, strict=True):
            precision = matched / has if has and wants else EPSILON
            recall = matched / wants if wants else EPSILON
            total += _f_score(precision, recall, factor) if factor * precision + recall > 0 else EPSILON
        return scale * total / len(counts[0])
    precision, recall, orders = 0.0, 0.0, 0
    for matched, has, wants in zip(*counts, strict=True):
        if has and wants:
            precision += matched / has
            recall += matched / wants
            orders += 1
    return scale * _f_score(precision / max(1, orders), recall / max(1, orders), factor)


def overlap_score(counts: Counts) -> float:
    """Return the overlap from 0 to 1."""
    matched, has, wants = counts
    return 2 * matched / (has + wants or 1)


def gleu_score(counts: tuple[int, int]) -> float:
    """Return GLEU from 0 to 1."""
    return counts[0] / max(1, counts[1])


def repetition_score(counts: tuple[int, int]) -> float:
    """Return the repetition from 0 to 1."""
    distinct, total = counts
    return (total - distinct) / max(1, total)


def rouge_counts(
    hypothesis: RougeText,
    references: Sequence[RougeText],
    variants: Sequence[int | str],
    reducer: str = "best",
    alpha: float | None = None,
) -> list[Counts]:
    """Return the counts of each key, which is an order of n-grams, ``"L"`` or ``"Lsum"``, with its best reference.

    The best has the highest F with ``alpha``, or with the reducer ``"best_recall"`` the highest recall. The reducer
    ``"sum"`` adds the counts of all references.
    """
    if len(references) == 1:
        return _rouge_row(hypothesis, references[0], variants)
    rows = [_rouge_row(hypothesis, reference, variants) for reference in references]
    counts_by_key = zip(*rows, strict=True)
    if reducer == "sum":
        return [
            (sum(matched), sum(has), sum(wants))
            for matched, has, wants in (zip(*key, strict=True) for key in counts_by_key)
        ]
    column = 1 if reducer == "best_recall" else 2
    return [max(key_counts, key=lambda counts: rouge_score(counts, alpha)[column]) for key_counts in counts_by_key]


def _rouge_row(hypothesis: RougeText, reference: RougeText, variants: Sequence[int | str]) -> list[Counts]:
    """Return the counts of each key with one reference."""
    words, sentences = hypothesis
    other_words, other_sentences = reference
    has, wants = len(words), len(other_words)
    longest = _longest_order(tuple(variants))
    length = None
    matches: Sequence[int] = ()
    if longest > 2 or has + wants >= _FEW_WORDS:
        matches = match_ngrams(words, [other_words], longest)
    elif longest == len(variants) == 1:
        matches = (match_words(words, other_words),)
    elif longest:
        *matches, length = match_short_pair(words, other_words)
    counts: list[Counts] = []
    for variant in variants:
        if variant.__class__ is int:
            left = variant - 1
            counts.append((matches[left], has - left if has > left else 0, wants - left if wants > left else 0))
        elif variant == "L" or ([words], [other_words]) == (sentences, other_sentences):
            if length is None:
                length = subsequence_length(words, other_words)
            counts.append((length, has, wants))
        else:
            hits = union_hits(sentences, other_sentences)
            counts.append((hits, sum(map(len, sentences)), sum(map(len, other_sentences))))
    return counts


@cache
def _longest_order(variants: tuple[int | str, ...]) -> int:
    return max((variant for variant in variants if isinstance(variant, int)), default=0)


def rouge_score(counts: Counts, alpha: float | None = None) -> tuple[float, float, float]:
    """Return precision, recall and F, from 0 to 1, with the weight ``alpha`` in F, or F1 if it is None."""
    matched, has, wants = counts
    precision = matched / (has or 1)
    recall = matched / (wants or 1)
    if not matched:
        return precision, recall, 0.0
    if alpha is None:
        return precision, recall, 2 * precision * recall / (precision + recall)
    return precision, recall, precision * recall / ((1 - alpha) * precision + alpha * recall)


def ngram_totals(length: int, orders: int) -> list[int]:
    """Return the number of n-grams of each order."""
    return [length - order if length > order else 0 for order in range(orders)]


def _f_score(precision: float, recall: float, factor: float) -> float:
    return (1 + factor) * precision * recall / max(factor * precision + recall, sys.float_info.min)


class ExactSum:
    """A sum of scores without rounding, so that a mean depends neither on their order nor on where they are cut."""

    def __init__(self) -> None:
        self._terms: list[float] = []

    def add(self, scores: Iterable[float]) -> None:
        """Add scores."""
        self._terms += scores
        if len(self._terms) > _MOST_TERMS:
            parts: list[float] = []
            # Each part is what rounding the sum left over, until nothing is left.
            while part := math.fsum([*self._terms, *(-part for part in parts)]):
                parts.append(part)
                if not math.isfinite(part):
                    break
            self._terms = parts

    def total(self) -> float:
        """Return the sum."""
        return math.fsum(self._terms)
