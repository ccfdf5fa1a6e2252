r"""chrF and chrF++ (Popović 2015, 2017), the same numbers as sacrebleu.

Definition. For each order, P is the matches divided by the n-grams of the hypothesis, and R the matches divided by
those of the reference. The orders are ``1..char_order`` of characters and, in chrF++, ``1..word_order`` of words. By
default P and R are averaged over the orders in which both sides have n-grams, and

.. math:: \text{chrF} = \frac{(1 + \beta^2) P R}{\beta^2 P + R}

With ``eps_smoothing`` this F is computed for each order and averaged over all orders; an order without n-grams counts
1e-16. chrF++.py, Moses, nltk and torchmetrics do this.

Conventions. Scores are from 0 to 1; sacrebleu, fastchrf and nltk's documentation use 0..100. If the reference has no
n-grams of an order, those of the hypothesis are not counted either. If a segment has several references, the one with
the highest score is used, the first on ties, and a corpus sums the counts of these. An empty hypothesis scores 0.

Differences from other packages:

1. torchmetrics' ``CHRFScore`` has ``n_word_order=2`` and eps smoothing; ``word_order=2, eps_smoothing=True`` gives its
   score, except for three errors in it: it leaves out the reference n-grams of a segment without any match, keeps the
   hypothesis n-grams of orders that the reference lacks, and treats only the space as whitespace.
2. nltk has ``beta=3`` by default, takes one reference, and reports the mean of the segments for a corpus:
   ``beta=3.0, eps_smoothing=True, average="macro"`` gives its score.
3. fastchrf has no word n-grams and no lowercasing. It counts U+001C to U+001F as characters, while Python and sacrebleu
   treat them as whitespace.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ngram_metrics._core.basics.lazy import torch
from ngram_metrics._core.basics.option_checks import (
    MAX_NUMBER,
    Average,
    check_booleans,
    checked_number,
    checked_order,
    exact,
)
from ngram_metrics._core.counting.documents import Batch, float_dtype
from ngram_metrics._core.counting.matches import ngram_totals
from ngram_metrics._core.counting.python_matches import Tokens, list_totals, match_each
from ngram_metrics._core.scoring.measure import Layout, MatchStatistics, PairCounts, limit_of
from ngram_metrics._core.scoring.references import PairMeasure
from ngram_metrics._core.scoring.rows import PYTHON_ROWS, pack, score_rows
from ngram_metrics._core.scoring.scorer import MetricRow, Scorer
from ngram_metrics._core.text.character_reader import CharacterReader

if TYPE_CHECKING:
    from torch import Tensor

#: The fields of ``MatchStatistics`` in plain Python, a number for each order.
ChrfCounts = tuple[list[int], list[int], list[int]]
#: The value of an order without n-grams under eps smoothing.
_EPSILON = 1e-16


@dataclass(frozen=True)
class ChrfMeasure(PairMeasure[MatchStatistics]):
    """chrF under the settings of ``ngram_metrics.ChrF``, which are checked; either order may be 0, but not both.

    Statistics are ``(..., orders)``, of characters and then of words. A hypothesis has a total of 0 in orders that the
    reference lacks.
    """

    char_order: int = 6
    word_order: int = 0
    beta: float = 2.0
    eps_smoothing: bool = False

    def __post_init__(self) -> None:
        check_booleans(self)
        for name, order in (("char_order", self.char_order), ("word_order", self.word_order)):
            object.__setattr__(self, name, checked_order(order, name, lowest=0))
        if self.char_order + self.word_order == 0:
            raise ValueError("char_order and word_order are both 0: expected at least one order")
        object.__setattr__(self, "beta", checked_number(self.beta, "beta", MAX_NUMBER, "F is then the recall"))
        object.__setattr__(self, "layout", Layout(MatchStatistics, (self.char_order + self.word_order,) * 3))

    def signature(self) -> dict[str, str]:
        """Return the settings, all but the last in sacrebleu's format."""
        return {
            "eff": "no" if self.eps_smoothing else "yes",
            "nc": str(self.char_order),
            "nw": str(self.word_order),
            "beta": exact(self.beta, "g"),
        }

    @property
    def pair_orders(self) -> tuple[int, ...]:
        """The longest orders: of characters and, for chrF++, of words."""
        return (self.char_order, self.word_order) if self.word_order else (self.char_order,)

    def statistics(self, batch: Batch) -> MatchStatistics:
        matches, hypothesis, reference = super().statistics(batch)
        # The totals of a corpus leave out n-grams of orders that the reference lacks.
        return MatchStatistics(matches, hypothesis * (reference > 0), reference)

    def python_limit(self, tokenizer: object) -> int:
        # Words take arrays half as long again.
        return limit_of("char", max(1, self.char_order)) * (3 if self.word_order else 2) // 2

    def count_in_python(self, hypothesis: Sequence[Tokens], references: Sequence[Sequence[Tokens]]) -> ChrfCounts:
        rows: list[ChrfCounts] = [([], [], []) for _ in references]
        kinds = zip(hypothesis, zip(*references, strict=True), self.pair_orders, strict=True)
        for tokens, others, order in kinds:
            totals = list_totals(len(tokens), order)
            for row, matches, other in zip(rows, match_each(tokens, others, order), others, strict=True):
                for counts, kind_counts in zip(row, count_fields(matches, totals, len(other)), strict=True):
                    counts += kind_counts
        if len(rows) == 1:
            return rows[0]
        return max(rows, key=lambda row: self._scaled_in_python(row, 100))

    def score(self, statistics: MatchStatistics) -> Tensor:
        return self._scaled_score(statistics, 1)

    def selection_score(self, statistics: MatchStatistics) -> Tensor:
        """Return chrF from 0 to 100, in sacrebleu's order of operations, so that the same references tie."""
        return self._scaled_score(statistics, 100)

    def score_in_python(self, counts: ChrfCounts) -> float:
        return self._scaled_in_python(counts, 1)

    def _scaled_score(self, statistics: MatchStatistics, scale: int) -> Tensor:
        factor = self.beta**2
        if self.eps_smoothing:
            return scale * _smoothed_sum(statistics, factor) / statistics.matches.shape[-1]
        score = _fscore(*_mean_precision_and_recall(statistics), factor)
        return score if scale == 1 else scale * score

    def _scaled_in_python(self, counts: ChrfCounts, scale: int) -> float:
        factor = self.beta**2
        if self.eps_smoothing:
            total = 0.0
            for matched, has, wants in zip(*counts, strict=True):
                precision = matched / has if has and wants else _EPSILON
                recall = matched / wants if wants else _EPSILON
                weighed = factor * precision + recall
                total += _fscore_in_python(precision, recall, factor) if weighed > 0 else _EPSILON
            return scale * total / len(counts[0])
        precision, recall, orders = 0.0, 0.0, 0
        for matched, has, wants in zip(*counts, strict=True):
            if has and wants:
                precision += matched / has
                recall += matched / wants
                orders += 1
        return scale * _fscore_in_python(precision / max(1, orders), recall / max(1, orders), factor)

    def pair_statistics(self, *counts: PairCounts) -> MatchStatistics:
        """Return the statistics of pairs from the counts of characters and, for chrF++, of words.

        The totals broadcast to the matches. Those of a hypothesis include orders that the reference lacks, which does
        not change the score of a pair.
        """
        kinds = []
        for matches, *lengths in counts:
            totals = (ngram_totals(side_lengths, matches.shape[-1]) for side_lengths in lengths)
            kinds.append(MatchStatistics(matches, *totals))
        return kinds[0] if len(kinds) == 1 else MatchStatistics(*(torch.cat(f, -1) for f in zip(*kinds, strict=True)))

    def score_pairs(self, *counts: PairCounts) -> Tensor:
        """Return the scores of pairs, for few pairs on a CPU in plain Python, which gives the same to the last bit."""
        statistics = self.pair_statistics(*counts)
        if statistics.matches.shape[:-1].numel() > PYTHON_ROWS:
            return self.score(statistics)  # a row for each pair would repeat the totals of its texts
        return score_rows(self, pack(MatchStatistics(*torch.broadcast_tensors(*statistics)), self.layout))


def count_fields(matches: list[int], totals: list[int], reference_length: int) -> ChrfCounts:
    """Return the matches of a pair in one kind of token, the totals of the hypothesis and those of the reference."""
    wanted = list_totals(reference_length, len(matches))
    return matches, totals[:reference_length] + [0] * (len(matches) - reference_length), wanted


def _mean_precision_and_recall(statistics: MatchStatistics) -> tuple[Tensor, Tensor]:
    """Return precision and recall, each ``(...)``, averaged over the orders in which both sides have n-grams.

    The orders are added one after another, as sacrebleu adds them. A side without n-grams has no matches either, so its
    quotient is 0.
    """
    matches, *totals = statistics
    matches = matches.to(float_dtype(matches.device))
    if all(total.shape == matches.shape for total in totals):
        both = torch.stack(totals)
        orders = (both.amin(0) > 0).sum(-1)
        sums, *others = (matches / both.clamp(min=1)).unbind(-1)
        for quotients in others:
            sums = sums + quotients
        precision, recall = sums / orders.clamp(min=1)
        return precision, recall
    # Totals of pairs, which broadcast to the matches, are never expanded.
    divisors, present = zip(
        *((total.clamp(min=1).to(matches.dtype).unbind(-1), (total > 0).short().unbind(-1)) for total in totals),
        strict=True,
    )
    precision, recall = (torch.zeros_like(matches[..., 0]) for _ in range(2))
    counted = torch.zeros_like(precision, dtype=torch.int16)
    by_order = zip(matches.unbind(-1), *divisors, *present, strict=True)
    for counts, hypothesis_total, reference_total, in_hypothesis, in_reference in by_order:
        precision.addcdiv_(counts, hypothesis_total)
        recall.addcdiv_(counts, reference_total)
        counted.addcmul_(in_hypothesis, in_reference)
    divisor = counted.clamp_(min=1).to(matches.dtype)
    return precision.div_(divisor), recall.div_(divisor)


def _smoothed_sum(statistics: MatchStatistics, factor: float) -> Tensor:
    """Return the sum of F over the orders, with ``_EPSILON`` for an order without n-grams."""
    dtype = float_dtype(statistics.matches.device)
    total = torch.zeros_like(statistics.matches[..., 0], dtype=dtype)
    for matches, hypothesis, reference in zip(*(field.unbind(-1) for field in statistics), strict=True):
        counts = matches.to(dtype)
        precision, recall = counts / hypothesis.clamp(min=1), counts / reference.clamp(min=1)
        precision = torch.where((hypothesis > 0) & (reference > 0), precision, _EPSILON)
        recall = torch.where(reference > 0, recall, _EPSILON)
        total += torch.where(factor * precision + recall > 0, _fscore(precision, recall, factor), _EPSILON)
    return total


def _fscore(precision: Tensor, recall: Tensor, factor: float) -> Tensor:
    weighed = factor * precision + recall
    return (1 + factor) * precision * recall / weighed.clamp(min=torch.finfo(weighed.dtype).tiny)


def _fscore_in_python(precision: float, recall: float, factor: float) -> float:
    return (1 + factor) * precision * recall / max(factor * precision + recall, sys.float_info.min)


def make_chrf(
    char_order: int = 6,
    word_order: int = 0,
    beta: float = 2.0,
    lowercase: bool = False,
    whitespace: bool = False,
    eps_smoothing: bool = False,
    average: Average = "micro",
    pad_id: int | Sequence[int] | None = None,
) -> Scorer:
    """Return chrF with the options of ``ngram_metrics.ChrF``, which is called chrf++ with words up to order 2."""
    measure = ChrfMeasure(char_order, word_order, beta, eps_smoothing)
    name = "chrf++" if measure.word_order == 2 else "chrf"
    return Scorer(CharacterReader(lowercase, whitespace, word_order > 0, pad_id), measure, average, {name: ()})


_LOWERCASE = {"chrf_lowercase": "lowercase"}
ROWS = (
    MetricRow("chrF", make_chrf, _LOWERCASE),
    MetricRow("chrF++", make_chrf, _LOWERCASE, {"word_order": 2}),
)
