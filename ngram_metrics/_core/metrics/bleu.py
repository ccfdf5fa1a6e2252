r"""BLEU (Papineni et al. 2002), with the smoothings of Chen & Cherry 2014 and of sacrebleu (Post 2018).

Definition. Let ``m_n`` be the matches of order n, clipped by the largest count in one reference, ``t_n`` the
number of n-grams of the hypothesis, h its length and r the closest reference length. Then

.. math:: \text{BLEU} = \min(1, e^{1 - r / h}) \cdot \exp \sum_{n=1}^{N} w_n \log \frac{m_n}{t_n}

for the summed counts of a corpus (micro), or for the counts of one segment.

Conventions. Scores are from 0 to 1. The closest reference length is the one nearest to the hypothesis length; if two
are equally near, the shorter. Without any unigram match the score is 0 under every smoothing. An empty hypothesis
scores 0, also against an empty reference. Weights need not sum to 1; an order with weight 0 is ignored.

The smoothings, and the packages that give the same number. A smoothing applies to orders with ``m_n = 0`` unless
the table says "always":

=================  ============================================  ===================================================
smooth             precision                                     the same in
=================  ============================================  ===================================================
no_smooth, none    0, so the score is 0                          ignite ``no_smooth``; sacrebleu ``none``;
                                                                 torchmetrics ``smooth=False``
smooth1            0.1 / max(1, t)                               ignite ``smooth1``; nltk ``method1``
nltk_smooth2       n > 1, always: (m + 1) / (max(1, t) + 1)      ignite ``nltk_smooth2``; nltk ``method2``
smooth2            n > 1, always: (m + 1) / (t + 1)              ignite ``smooth2``; sacrebleu ``add-k``
floor              smooth_value / t, by default 0.1              sacrebleu ``floor``
add-k              n > 1, always: (m + k) / (t + k), k = 1       sacrebleu ``add-k``
exp                1 / (2^k t) for the k-th order without match  sacrebleu ``exp``; nltk ``method3`` where t > 0
nltk_smooth3       the same, with max(1, t) for t                nltk ``method3``
=================  ============================================  ===================================================

Differences from other packages:

1. nltk ``method0`` gives about 1e-231 if an order has no match; here the score is 0, as in ignite and sacrebleu.
2. An order longer than every hypothesis has ``t_n = 0``. sacrebleu scores 0, and so do ``none``, ``floor`` and
   ``exp``; ignite divides by 1 instead, and so do ``smooth1``, ``nltk_smooth2`` and ``nltk_smooth3``. nltk does so
   segment by segment, so its corpus score counts an n-gram for each segment that has none. ``effective_order=True``
   leaves such orders out, as sacrebleu does, and distributes their weight over the others in proportion. Under
   ``add-k`` and ``smooth2`` the added counts give every order n-grams, as in sacrebleu.
3. torchmetrics takes the first of two equally near reference lengths, and its ``smooth=True`` scores 0 if an order has
   no match; this package does neither.
4. ignite's ``Bleu`` divides in float32 under ``no_smooth``; here everything is float64.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, TypedDict, get_args

from ngram_metrics._core.basics.arrays import (
    Array,
    at_least,
    at_most,
    count_ngrams,
    divide,
    namespace,
    stack,
    sum_in_order,
    to_float,
)
from ngram_metrics._core.basics.option_checks import (
    MAX_NUMBER,
    Average,
    check_booleans,
    checked_number,
    checked_order,
)
from ngram_metrics._core.counting.counters import count_matches
from ngram_metrics._core.scoring.measure import Layout, Measure, PairCounts, to_floats
from ngram_metrics._core.scoring.scorer import MetricEntry, Scorer
from ngram_metrics._core.text.input_types import Tokenizer
from ngram_metrics._core.text.messages import pluralize, warn_user
from ngram_metrics._core.text.reader import WordReader

if TYPE_CHECKING:
    from ngram_metrics._core.counting.counters import AnyBatch

#: The smoothings: ignite's, nltk's method3, then sacrebleu's.
Smoothing = Literal["no_smooth", "smooth1", "nltk_smooth2", "smooth2", "nltk_smooth3", "none", "floor", "add-k", "exp"]
SMOOTHINGS: tuple[Smoothing, ...] = get_args(Smoothing)
#: The smoothings that take a value, and its limit. With a larger floor a precision could exceed 1.
MAX_SMOOTH_VALUES = {"floor": 1.0, "add-k": MAX_NUMBER}
#: The value that each smoothing adds to the counts, or puts in place of 0 matches.
_SMOOTH_VALUES = {"smooth1": 0.1, "nltk_smooth2": 1.0, "smooth2": 1.0, "floor": 0.1, "add-k": 1.0}
#: The smoothings that add a value to the matches and to the n-grams of each order but the first.
_ADDING = ("nltk_smooth2", "smooth2", "add-k")
#: The smoothings that count one n-gram in an order without n-grams.
_AS_IF_ONE_NGRAM = ("smooth1", "nltk_smooth2", "nltk_smooth3")
#: Names of ignite for smoothings that sacrebleu has too, with their values there.
_SAME_SMOOTHINGS: dict[str, Smoothing] = {"no_smooth": "none", "smooth2": "add-k"}
_SMOOTH_OF_TORCHMETRICS = (
    "torchmetrics' smooth=True adds 1 to the counts of the orders above 1, as 'add-k' and 'smooth2' do, "
    "and its smooth=False is 'no_smooth'"
)


class BleuStatistics(NamedTuple):
    """The counts from which BLEU is computed.

    Attributes:
        matches: ``(..., orders)`` int64, clipped n-gram matches.
        totals: ``(..., orders)`` int64, n-grams of the hypotheses.
        hypothesis_length: ``(...,)`` int64, tokens of the hypotheses.
        reference_length: ``(...,)`` int64, tokens of the closest references.
    """

    matches: Array
    totals: Array
    hypothesis_length: Array
    reference_length: Array


@dataclass(frozen=True)
class BleuMeasure(Measure[BleuStatistics]):
    """BLEU with the settings of ``ngram_metrics.Bleu``. Wrong settings raise TypeError or ValueError."""

    ngram: int = 4
    smooth: Smoothing = "exp"
    smooth_value: float | None = None
    weights: Sequence[float] | None = None
    effective_order: bool = False

    def __post_init__(self) -> None:
        check_booleans(self)
        object.__setattr__(self, "ngram", checked_order(self.ngram))
        if self.smooth not in SMOOTHINGS:
            # In ignite's words.
            hint = f": {_SMOOTH_OF_TORCHMETRICS}" if isinstance(self.smooth, bool) else ""
            raise ValueError(f"Smooth is not valid (expected: {list(SMOOTHINGS)}, got: {self.smooth}){hint}")
        if self.smooth_value is not None:
            if self.smooth not in MAX_SMOOTH_VALUES:
                known = " or ".join(f"smooth={smooth!r}" for smooth in MAX_SMOOTH_VALUES)
                raise ValueError(f"smooth_value has no effect with smooth={self.smooth!r}: expected {known}")
            reason = "a larger one would give precisions above 1" if self.smooth == "floor" else "precisions are then 1"
            value = checked_number(self.smooth_value, "smooth_value", MAX_SMOOTH_VALUES[self.smooth], reason)
            object.__setattr__(self, "smooth_value", value)
        if self.weights is not None:
            object.__setattr__(self, "weights", _checked_weights(self.weights, self.ngram))
        object.__setattr__(self, "layout", Layout(BleuStatistics, (self.ngram, self.ngram, None, None)))

    def settings(self) -> dict[str, object]:
        smooth = _SAME_SMOOTHINGS.get(self.smooth, self.smooth)
        return {
            "ngram": self.ngram,
            "smooth": smooth,
            "smooth_value": self.smoothing_value if smooth in MAX_SMOOTH_VALUES else None,
            "weights": self.weights,
            "effective_order": self.effective_order,
        }

    @property
    def smoothing_value(self) -> float:
        """The value that the smoothing adds to the counts, or puts in place of 0 matches."""
        default = _SMOOTH_VALUES.get(self.smooth, 0.0)
        return default if self.smooth_value is None else self.smooth_value

    def statistics(self, batches: Sequence[AnyBatch]) -> BleuStatistics:
        (batch,) = batches
        lengths = batch.hypothesis_lengths
        return BleuStatistics(
            matches=count_matches(batch, self.ngram),
            totals=count_ngrams(lengths, self.ngram),
            hypothesis_length=lengths,
            reference_length=batch.closest_lengths(),
        )

    def score(self, statistics: BleuStatistics) -> Array:
        """Return ``(...)``: the brevity penalty times the geometric mean of the precisions, from 0 to 1.

        The mean is 0 if a precision is 0. With ``effective_order`` it is the mean over the orders with n-grams.
        """
        xp = namespace(statistics.matches)
        precisions, ngrams = self._precisions(statistics)  # (..., orders)
        is_counted = ngrams > 0
        if self.effective_order:
            precisions = xp.where(is_counted, precisions, 1.0)  # the logarithm of 1 leaves the order out
        is_zero = precisions == 0
        # A precision of 0 becomes 1 here, and the score 0 below.
        log_sum = sum_in_order(self._weigh(xp.log(precisions + is_zero)))
        if self.weights is not None:
            # An order with weight 0 may have a precision of 0.
            is_zero = self._weigh(to_float(is_zero)) > 0
        is_possible = (statistics.matches[..., 0] > 0) & ~is_zero.any(-1)
        if self.effective_order:
            weight_sum = sum_in_order(self._weigh(to_float(is_counted)))
            if self.weights is not None:
                log_sum = log_sum * math.fsum(self.weights)
                is_possible = is_possible & (weight_sum > 0)
            log_sum = log_sum / (weight_sum + (weight_sum == 0))
        elif self.weights is None:
            log_sum = log_sum / self.ngram
        return _brevity_penalty(statistics) * xp.exp(log_sum) * is_possible

    def _weigh(self, values: Array) -> Array:
        """Multiply values ``(..., orders)`` by the weights of their orders, if there are weights."""
        if self.weights is None:
            return values
        # One by one, by Python numbers: copying an array of weights to a device would wait for it.
        return stack([values[..., order] * weight for order, weight in enumerate(self.weights)])

    def _precisions(self, statistics: BleuStatistics) -> tuple[Array, Array]:
        """Return the smoothed precisions, 0 in orders without n-grams, and the n-grams, both ``(..., orders)``."""
        xp = namespace(statistics.matches)
        matches = statistics.matches
        totals = statistics.totals
        value = self.smoothing_value
        if self.smooth in _AS_IF_ONE_NGRAM:
            totals = at_least(totals, 1)
        if self.smooth in _ADDING:
            # In each order but the first.
            matches = xp.concatenate((matches[..., :1], matches[..., 1:] + value), -1)
            totals = xp.concatenate((totals[..., :1], totals[..., 1:] + value), -1)
        elif self.smooth in ("smooth1", "floor"):
            matches = at_least(matches, value)  # changes only 0, because the value is at most 1
        elif self.smooth in ("exp", "nltk_smooth3"):
            # The first order without a match counts 1 / 2, the second 1 / 4, and so on.
            halves = at_most(at_least(matches, 0.5), 1)  # 1/2 in orders without a match, else 1
            matches = xp.maximum(matches, xp.cumprod(halves, -1))
        # Not ``divide``: small added values could be below its bound.
        has_ngrams = totals > 0
        precisions = matches / xp.where(has_ngrams, totals, 1) * has_ngrams
        if self.smooth in ("smooth2", "add-k"):
            return precisions, totals  # the added value makes an order without n-grams count
        return precisions, statistics.totals

    def warn_of_score(self, row: Array, average: Average) -> None:
        """Warn if the score is 0 only because no hypothesis has an n-gram of the longest order."""
        if self.effective_order or self.layout.unpack(row).totals[-1] or self.score_rows(row):
            return
        if replace(self, effective_order=True).score_rows(row):
            other_average = ", or average='macro', the mean of sentence BLEU" if average == "micro" else ""
            warn_user(
                f"BLEU is 0 because every hypothesis has fewer than {self.ngram} tokens: pass effective_order=True, "
                f"which leaves out the orders without n-grams, or a lower ngram{other_average}"
            )

    def parts(self, statistics: BleuStatistics) -> dict[str, Array]:
        """Return the smoothed precisions ``(..., orders)``, the brevity penalty ``(...)``, and the counts."""
        numbers = to_floats(statistics)
        precisions, _ = self._precisions(numbers)
        return {"precisions": precisions, "brevity_penalty": _brevity_penalty(numbers), **statistics._asdict()}

    @property
    def pair_orders(self) -> tuple[int, ...]:
        return (self.ngram,)

    def pair_statistics(self, counts: Sequence[PairCounts]) -> BleuStatistics:
        """Return the statistics of pairs: the only reference of a pair is the closest one."""
        (words,) = counts
        return BleuStatistics(
            matches=words.matches,
            totals=count_ngrams(words.hypothesis_lengths, self.ngram),
            hypothesis_length=words.hypothesis_lengths,
            reference_length=words.reference_lengths,
        )


def _brevity_penalty(statistics: BleuStatistics) -> Array:
    r"""Return ``min(1, exp(1 - r / h))`` ``(...)``, or 0 where only the hypothesis is empty."""
    xp = namespace(statistics.matches)
    ratio = divide(statistics.reference_length, statistics.hypothesis_length)
    return xp.exp(at_most(1 - ratio, 0))


def _checked_weights(weights: Sequence[float], orders: int) -> tuple[float, ...]:
    """Return weights as plain numbers, so that settings can be compared."""
    if not hasattr(weights, "__len__"):
        raise TypeError(f"weights must be a sequence of {orders} numbers (got: {weights!r})")
    if len(weights) != orders:
        raise ValueError(
            f"weights must have one number for each of the {orders} orders (got: {pluralize(len(weights), 'number')})"
        )
    numbers = tuple(checked_number(weight, f"weights[{index}]", MAX_NUMBER) for index, weight in enumerate(weights))
    if not any(numbers):
        raise ValueError(f"weights must not all be 0 (got: {list(numbers)})")
    return numbers


def resolve_effective_order(effective_order: bool | None, average: Average) -> bool:
    """Return BLEU's ``effective_order``. None is sacrebleu's rule: True where single segments are scored."""
    return average != "micro" if effective_order is None else effective_order


class BleuOptions(TypedDict, total=False):
    """The types of the options of ``make_bleu``, which has their defaults."""

    ngram: int
    smooth: Smoothing
    smooth_value: float | None
    average: Average
    weights: Sequence[float] | None
    effective_order: bool | None
    tokenizer: Tokenizer | None
    lowercase: bool
    pad_id: int | Sequence[int] | None


def make_bleu(
    *,
    ngram: int = 4,
    smooth: Smoothing = "exp",
    smooth_value: float | None = None,
    average: Average = "micro",
    weights: Sequence[float] | None = None,
    effective_order: bool | None = None,
    tokenizer: Tokenizer | None = "13a",
    lowercase: bool = False,
    pad_id: int | Sequence[int] | None = None,
) -> Scorer:
    """Return BLEU with the options of ``ngram_metrics.Bleu``."""
    measure = BleuMeasure(ngram, smooth, smooth_value, weights, resolve_effective_order(effective_order, average))
    segment_measure = replace(measure, effective_order=resolve_effective_order(effective_order, "none"))
    reader = WordReader(tokenizer, lowercase, pad_id)
    return Scorer(reader, measure, average, {"bleu": ()}, segment_measure=segment_measure)


ENTRIES = (MetricEntry("BLEU", make_bleu, {"tokenizer": "tokenizer", "lowercase": "lowercase"}),)
