r"""chrF and chrF++ (Popović 2015, 2017), the same numbers as sacrebleu.

Definition. For each order, P is the matches divided by the n-grams of the hypothesis, and R the matches divided by
the n-grams of the reference. The orders are ``1..char_order`` of characters and, in chrF++, ``1..word_order`` of words.
By default P and R are averaged over the orders in which both sides have n-grams, and

.. math:: \text{chrF} = \frac{(1 + \beta^2) P R}{\beta^2 P + R}

With ``eps_smoothing`` this F is computed for each order and averaged over all orders; an order without n-grams counts
1e-16. chrF++.py, Moses, nltk and torchmetrics do this.

Conventions. Scores are from 0 to 1; sacrebleu, fastchrf and nltk's documentation use 0..100. If the reference has no
n-grams of an order, the n-grams of the hypothesis in this order are not counted either. If a segment has several
references, the one with the highest score is used, the first on ties, and a corpus sums the counts of these. An empty
hypothesis scores 0.

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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from ngram_metrics._core.basics.arrays import Array, at_least, divide, namespace, sum_in_order
from ngram_metrics._core.basics.option_checks import (
    MAX_NUMBER,
    Average,
    check_booleans,
    checked_number,
    checked_order,
)
from ngram_metrics._core.scoring.measure import Layout, MatchStatistics, PairCounts, PairMeasure
from ngram_metrics._core.scoring.scorer import MetricEntry, Scorer
from ngram_metrics._core.text.reader import CharacterReader

if TYPE_CHECKING:
    from ngram_metrics._core.counting.counters import AnyBatch

#: The value of an order without n-grams under eps smoothing.
_EPSILON = 1e-16


@dataclass(frozen=True)
class ChrfMeasure(PairMeasure[MatchStatistics]):
    """chrF with the settings of ``ngram_metrics.ChrF``, which are checked. Either order may be 0, but not both.

    Statistics are ``(..., orders)``, first of characters, then of words. The total of a hypothesis is 0 in orders that
    the reference lacks.
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
        object.__setattr__(self, "beta", checked_number(self.beta, "beta", MAX_NUMBER, "F is then already the recall"))
        object.__setattr__(self, "layout", Layout(MatchStatistics, (self.char_order + self.word_order,) * 3))

    def settings(self) -> dict[str, object]:
        return {
            "char_order": self.char_order,
            "word_order": self.word_order,
            "beta": self.beta,
            "eps_smoothing": self.eps_smoothing,
        }

    @property
    def pair_orders(self) -> tuple[int, ...]:
        """The longest order of characters and, for chrF++, of words."""
        return (self.char_order, self.word_order) if self.word_order else (self.char_order,)

    def statistics(self, batches: Sequence[AnyBatch]) -> MatchStatistics:
        matches, hypothesis, reference = super().statistics(batches)
        # The totals of a corpus leave out n-grams of orders that the reference lacks.
        return MatchStatistics(matches, hypothesis * (reference > 0), reference)

    def pair_statistics(self, counts: Sequence[PairCounts]) -> MatchStatistics:
        """Return the statistics of pairs from the counts of characters and, for chrF++, of words.

        The totals broadcast to the matches. A hypothesis keeps its totals in orders that the reference lacks; that does
        not change the score of a pair.
        """
        matches = []
        hypothesis_totals = []
        reference_totals = []
        for kind in counts:
            of_hypothesis, of_reference = kind.totals()
            matches.append(kind.matches)
            hypothesis_totals.append(of_hypothesis)
            reference_totals.append(of_reference)
        concatenate = namespace(matches[0]).concatenate
        return MatchStatistics(
            matches=concatenate(matches, -1),
            hypothesis_totals=concatenate(hypothesis_totals, -1),
            reference_totals=concatenate(reference_totals, -1),
        )

    def score(self, statistics: MatchStatistics) -> Array:
        return self._scaled_score(statistics, 1)

    def selection_score(self, statistics: MatchStatistics) -> Array:
        """Return chrF from 0 to 100. The order of operations is sacrebleu's, so that the same references tie."""
        return self._scaled_score(statistics, 100)

    def _scaled_score(self, statistics: MatchStatistics, scale: int) -> Array:
        matches, hypothesis, reference = statistics
        where = namespace(matches).where
        is_counted = (hypothesis > 0) & (reference > 0)  # (..., orders)
        precision = divide(matches, hypothesis)
        recall = divide(matches, reference)
        factor = self.beta**2
        if self.eps_smoothing:
            precision = where(is_counted, precision, _EPSILON)
            recall = where(reference > 0, recall, _EPSILON)
            score = where(factor * precision + recall > 0, _combine(precision, recall, factor), _EPSILON)
            return scale * sum_in_order(score) / score.shape[-1]
        orders = at_least(is_counted.sum(-1), 1)
        mean_precision = sum_in_order(precision) / orders
        mean_recall = sum_in_order(recall) / orders
        return scale * _combine(mean_precision, mean_recall, factor)


def _combine(precision: Array, recall: Array, factor: float) -> Array:
    """Return F, in which recall weighs ``factor`` times as much as precision."""
    return divide((1 + factor) * precision * recall, factor * precision + recall)


class ChrfOptions(TypedDict, total=False):
    """The types of the options of ``make_chrf``, which has their defaults."""

    char_order: int
    word_order: int
    beta: float
    lowercase: bool
    whitespace: bool
    eps_smoothing: bool
    average: Average
    pad_id: int | Sequence[int] | None


def make_chrf(
    *,
    char_order: int = 6,
    word_order: int = 0,
    beta: float = 2.0,
    lowercase: bool = False,
    whitespace: bool = False,
    eps_smoothing: bool = False,
    average: Average = "micro",
    pad_id: int | Sequence[int] | None = None,
) -> Scorer:
    """Return chrF with the options of ``ngram_metrics.ChrF``. With ``word_order=2`` its name is chrf++."""
    measure = ChrfMeasure(char_order, word_order, beta, eps_smoothing)
    name = "chrf++" if measure.word_order == 2 else "chrf"
    return Scorer(CharacterReader(lowercase, whitespace, word_order > 0, pad_id), measure, average, {name: ()})


_LOWERCASE = {"chrf_lowercase": "lowercase"}
ENTRIES = (
    MetricEntry("chrF", make_chrf, _LOWERCASE),
    MetricEntry("chrF++", make_chrf, _LOWERCASE, {"word_order": 2}),
)
