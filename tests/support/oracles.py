"""What the package computes, once more in plain Python: counters, loops and the formulas of the papers.

Written to be read, not to be fast, and without a line of the package, so that an error is not made twice.
A document is a sequence of hashable tokens.
"""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from string import punctuation
from typing import Any, NamedTuple

import numpy as np
import pytest

Document = Sequence[Hashable]


def close(expected: Any, tolerance: float = 1e-12) -> Any:
    """What equals these values but for rounding; the tolerance is relative."""
    return pytest.approx(expected, rel=tolerance, abs=1e-300, nan_ok=True)


def ngrams(document: Document, order: int) -> Counter:
    """How often each n-gram of one order stands in a document."""
    return Counter(tuple(document[i : i + order]) for i in range(len(document) - order + 1))


def matches(hypothesis: Document, references: Sequence[Document], order: int) -> int:
    """Matches of the n-grams of one order, each counted at most as often as in the reference that has most of it."""
    most: Counter = Counter()
    for reference in references:
        most |= ngrams(reference, order)
    return sum(min(count, most[ngram]) for ngram, count in ngrams(hypothesis, order).items())


def match_rows(batch: Iterable[tuple[Document, Sequence[Document]]], max_order: int) -> list[list[int]]:
    """Matches of each hypothesis with its references, a column for each order."""
    return [[matches(hypothesis, references, n) for n in range(1, max_order + 1)] for hypothesis, references in batch]


def closest_length(hypothesis: Document, references: Sequence[Document]) -> int:
    """The reference length nearest to that of the hypothesis; of two equally near, the shorter."""
    return min(map(len, references), key=lambda length: (abs(length - len(hypothesis)), length))


class BleuCounts(NamedTuple):
    """What BLEU is computed of, for one segment or summed over several."""

    matches: list[int]
    totals: list[int]
    hypothesis_length: int
    reference_length: int


def bleu_counts(hypothesis: Document, references: Sequence[Document], max_order: int = 4) -> BleuCounts:
    orders = range(1, max_order + 1)
    return BleuCounts(
        [matches(hypothesis, references, n) for n in orders],
        [ngrams(hypothesis, n).total() for n in orders],
        len(hypothesis),
        closest_length(hypothesis, references),
    )


def summed(rows: Sequence[tuple]) -> list:
    """The fields of all segments, added: each a number or a list of them."""
    return [np.array(column).sum(0).tolist() for column in zip(*rows, strict=True)]


def bleu_precision(counts: BleuCounts, order: int, smooth: str, value: float | None) -> float:
    """The smoothed precision of an order."""
    m, t = counts.matches[order - 1], counts.totals[order - 1]
    if smooth == "smooth1":
        return (m or 0.1) / max(1, t)
    if smooth == "nltk_smooth2":
        return m / max(1, t) if order == 1 else (m + 1) / (max(1, t) + 1)
    if smooth in ("smooth2", "add-k") and order > 1:
        added = 1 if value is None else value
        m, t = m + added, t + added
    if smooth == "nltk_smooth3":
        zeros = [n for n in range(order) if counts.matches[n] == 0]
        return (m or 0.5 ** len(zeros)) / max(1, t)
    if t == 0:
        return 0.0
    if m == 0 and smooth == "floor":
        return (0.1 if value is None else value) / t
    if m == 0 and smooth == "exp":
        zeros = [n for n in range(order) if counts.matches[n] == 0 and counts.totals[n] > 0]
        return 0.5 ** len(zeros) / t
    return m / t


def bleu(
    counts: BleuCounts, smooth: str, value: float | None, weights: Sequence[float] | None, effective_order: bool
) -> float:
    """BLEU of the counts of a segment or of a corpus."""
    if counts.matches[0] == 0:
        return 0.0
    orders = range(1, len(counts.matches) + 1)
    weight = dict(zip(orders, weights or [1 / len(orders)] * len(orders), strict=True))
    taken = [n for n in orders if weight[n] > 0]
    if effective_order:
        added = value != 0 and smooth in ("smooth2", "add-k")
        taken = [n for n in taken if counts.totals[n - 1] > 0 or (added and n > 1)]
        if not taken:
            return 0.0
        scale = sum(weight.values()) / sum(weight[n] for n in taken)
        weight = {n: weight[n] * scale for n in taken}
    precisions = {n: bleu_precision(counts, n, smooth, value) for n in taken}
    if 0 in precisions.values():
        return 0.0
    penalty = min(1.0, math.exp(1 - counts.reference_length / counts.hypothesis_length))
    return penalty * math.exp(sum(weight[n] * math.log(precisions[n]) for n in taken))


def corpus_bleu(batch: Iterable[tuple[Document, Sequence[Document]]]) -> float:
    """BLEU of the paper."""
    return bleu(BleuCounts(*summed([bleu_counts(*segment) for segment in batch])), "no_smooth", None, None, False)


def overlap_counts(hypothesis: Document, reference: Document, order: int) -> tuple[int, int, int]:
    """Matches, n-grams of the hypothesis, and of the reference."""
    totals = (ngrams(document, order).total() for document in (hypothesis, reference))
    return matches(hypothesis, [reference], order), *totals


def overlap(matches: int, hypothesis: int, reference: int) -> float:
    return 2 * matches / (hypothesis + reference) if hypothesis + reference else 0.0


def words_of(text: str) -> Iterator[str]:
    """chrF's: one punctuation mark is split off the end of a word or, where there is none, off its beginning."""
    for word in text.split():
        if len(word) > 1 and word[-1] in punctuation:
            yield from (word[:-1], word[-1])
        elif len(word) > 1 and word[0] in punctuation:
            yield from (word[0], word[1:])
        else:
            yield word


def chrf_counts(
    *texts: str,
    char_order: int = 6,
    word_order: int = 0,
    lowercase: bool = False,
    whitespace: bool = False,
    **_: object,
) -> tuple[list[int], list[int], list[int]]:
    """Matches, n-grams of the hypothesis, and of the reference, for each order of characters and then of words.

    The texts are a hypothesis and a reference.
    """
    both = [text.lower() if lowercase else text for text in texts]
    characters = both if whitespace else ["".join(text.split()) for text in both]
    words = [list(words_of(text)) for text in both]
    rows = [overlap_counts(*characters, order) for order in range(1, char_order + 1)]
    rows += [overlap_counts(*words, order) for order in range(1, word_order + 1)]
    # A hypothesis counts no n-grams of an order that the reference lacks.
    return tuple(map(list, zip(*((m, h if r else 0, r) for m, h, r in rows), strict=True)))


def chrf(*counts: list[int], beta: float = 2, eps_smoothing: bool = False, **_: object) -> float:
    """The formula of the paper for the counts of `chrf_counts`, averaged over the orders in one of the two ways."""

    def fscore(precision: float, recall: float) -> float:
        return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)

    rows = list(zip(*counts, strict=True))
    if eps_smoothing:
        undefined = 1e-16
        each = [(m / h if h else undefined, m / r if r else undefined) for m, h, r in rows]
        return sum(fscore(*row) if beta**2 * row[0] + row[1] > 0 else undefined for row in each) / len(rows)
    each = [(m / h, m / r) for m, h, r in rows if h and r]
    if not any(precision for precision, _ in each):
        return 0.0
    return fscore(*(sum(column) / len(each) for column in zip(*each, strict=True)))
