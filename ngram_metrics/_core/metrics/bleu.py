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
=================  ============================================  ===================================================

Differences from other packages:

1. nltk ``method0`` gives about 1e-231 if an order has no match; here the score is 0, as in ignite and sacrebleu.
2. An order longer than every hypothesis has ``t_n = 0``. sacrebleu scores 0, and so do ``none``, ``floor`` and
   ``exp``; ignite divides by 1 instead, and so do ``smooth1`` and ``nltk_smooth2``. nltk does so segment by segment,
   so its corpus score counts an n-gram for each segment that has none. ``effective_order=True`` leaves such orders
   out, as sacrebleu does, and distributes their weight over the others in proportion. Under ``add-k`` and ``smooth2``
   the added counts give every order n-grams, as in sacrebleu.
3. torchmetrics takes the first of two equally near reference lengths, and its ``smooth=True`` scores 0 if an order has
   no match; this package does neither.
4. ignite's ``Bleu`` divides in float32 under ``no_smooth``; here everything is float64.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from ngram_metrics._core.basics.lazy import torch
from ngram_metrics._core.basics.option_checks import (
    MAX_NUMBER,
    MAX_SMOOTH_VALUES,
    SMOOTHINGS,
    Average,
    Smoothing,
    check_booleans,
    checked_number,
    checked_order,
    exact,
    resolve_effective_order,
)
from ngram_metrics._core.counting.documents import UPDATE_GROUPS, Batch, float_dtype
from ngram_metrics._core.counting.matches import closest_reference_length, count_matches, ngram_totals
from ngram_metrics._core.counting.python_matches import Tokens, list_totals, match_ngrams
from ngram_metrics._core.scoring.measure import Layout, Measure, PairCounts, limit_of
from ngram_metrics._core.scoring.scorer import MetricRow, Scorer
from ngram_metrics._core.text.input_types import Tokenizer
from ngram_metrics._core.text.word_reader import WordReader

if TYPE_CHECKING:
    from torch import Tensor

#: The fields of ``BleuStatistics`` in plain Python.
BleuCounts = tuple[list[int], list[int], int, int]
#: What the smoothings add or take; for ``floor`` and ``add-k`` the default of ``smooth_value``.
_SMOOTH_VALUES = {"smooth1": 0.1, "nltk_smooth2": 1.0, "smooth2": 1.0, "floor": 0.1, "add-k": 1.0}
#: The smoothings that add a value to the matches and to the n-grams of each order but the first.
_ADDING = ("nltk_smooth2", "smooth2", "add-k")
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

    matches: Tensor
    totals: Tensor
    hypothesis_length: Tensor
    reference_length: Tensor


@dataclass(frozen=True)
class BleuMeasure(Measure[BleuStatistics]):
    """BLEU under the settings of ``ngram_metrics.Bleu``; wrong ones raise TypeError or ValueError."""

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
                raise ValueError(f"smooth_value is for {list(MAX_SMOOTH_VALUES)}, not for smooth={self.smooth!r}")
            reason = "a larger one makes precisions above 1" if self.smooth == "floor" else "precisions are then 1"
            value = checked_number(self.smooth_value, "smooth_value", MAX_SMOOTH_VALUES[self.smooth], reason)
            object.__setattr__(self, "smooth_value", value)
        if self.weights is not None:
            object.__setattr__(self, "weights", _checked_weights(self.weights, self.ngram))
        object.__setattr__(self, "layout", Layout(BleuStatistics, (self.ngram, self.ngram, None, None)))

    def signature(self) -> dict[str, str]:
        """Return the settings, the first two in sacrebleu's format."""
        smooth: str = self.smooth
        if smooth in MAX_SMOOTH_VALUES:
            smooth += f"[{exact(self.smoothing_value, '.2f')}]"
        fields = {"eff": "yes" if self.effective_order else "no", "smooth": smooth, "order": str(self.ngram)}
        return fields if self.weights is None else {**fields, "weights": ",".join(map(str, self.weights))}

    @property
    def smoothing_value(self) -> float:
        """What the smoothing adds or takes."""
        default = _SMOOTH_VALUES.get(self.smooth, 0.0)
        return default if self.smooth_value is None else self.smooth_value

    def statistics(self, batch: Batch) -> BleuStatistics:
        hypotheses, references = batch.sides
        lengths = hypotheses.lengths
        return BleuStatistics(
            matches=count_matches(batch.sides, self.ngram),
            totals=ngram_totals(lengths, self.ngram),
            hypothesis_length=lengths,
            reference_length=closest_reference_length(lengths, references),
        )

    def python_limit(self, tokenizer: object) -> int:
        return limit_of(tokenizer, self.ngram)

    def count_in_python(self, hypothesis: Tokens, references: Sequence[Tokens]) -> BleuCounts:
        length = len(hypothesis)
        closest = len(references[0])
        if len(references) > 1:
            closest = min((abs(len(reference) - length), len(reference)) for reference in references)[1]
        totals = list_totals(length, self.ngram)
        return match_ngrams(hypothesis, references, self.ngram), totals, length, closest

    def score(self, statistics: BleuStatistics) -> Tensor:
        precision, has_weight = self._precisions(statistics)
        weights = has_weight  # (..., orders); None if all orders count alike
        if self.weights is not None:
            # Each weight is filled in on the device: making a tensor from Python numbers would wait for the device.
            weights = torch.stack([precision.new_full((), weight) for weight in self.weights])
            weights = weights if has_weight is None else has_weight * weights
        possible = statistics.matches[..., 0] > 0
        # A precision of 0 with a weight makes this -inf, and BLEU 0. MKL's log starts threads, like its exp.
        if weights is None:
            log_mean = torch.xlogy(possible.unsqueeze(-1), precision).mean(-1)
        else:
            log_mean = torch.xlogy(weights, precision).sum(-1)
        if weights is not None and self.effective_order:
            weight_sum = weights.sum(-1)
            full_sum = 1.0 if self.weights is None else math.fsum(self.weights)
            log_mean = log_mean * full_sum / torch.where(weight_sum > 0, weight_sum, 1.0)
            possible = possible & (weight_sum > 0)
        return _brevity_penalty(statistics) * _exponential(log_mean) * possible

    def score_in_python(self, counts: BleuCounts) -> float:
        matches, totals, *lengths = counts
        if not matches[0]:
            return 0.0
        weights = [1.0] * len(matches) if self.weights is None else self.weights
        # An added value makes an order without n-grams count.
        is_added = self.smooth in ("smooth2", "add-k") and self.smoothing_value > 0
        log_mean = weight_sum = 0.0
        precisions = self._precisions_in_python(matches, totals)
        for order, (total, precision, weight) in enumerate(zip(totals, precisions, weights, strict=True)):
            if not total and self.effective_order and not (is_added and order > 0):
                continue
            weight_sum += weight
            if weight:
                log_mean += weight * math.log(precision) if precision > 0 else -math.inf
        if self.weights is None or self.effective_order:
            if weight_sum <= 0:
                return 0.0
            log_mean = log_mean * (1.0 if self.weights is None else math.fsum(weights)) / weight_sum
        return _brevity_penalty_in_python(*lengths) * math.exp(log_mean)

    def _precisions(self, statistics: BleuStatistics) -> tuple[Tensor, Tensor | None]:
        """Return the smoothed precision of each order ``(..., orders)``, and 1 if the order counts, else 0.

        The second is None if all orders count.
        """
        dtype = float_dtype(statistics.matches.device)
        matches = statistics.matches.to(dtype)
        totals = statistics.totals
        value = self.smoothing_value
        if self.smooth in ("smooth1", "nltk_smooth2"):
            totals = totals.clamp(min=1)
        if self.smooth in _ADDING:
            added = value * (torch.arange(self.ngram, device=matches.device) > 0).to(dtype)
            matches, totals = matches + added, totals + added
        elif self.smooth in ("smooth1", "floor"):
            matches = matches.clamp(min=value)  # which is at most 1
        elif self.smooth == "exp":
            # The first order without a match counts 1 / 2, the second 1 / 4, and so on.
            matches = torch.maximum(matches, matches.clamp(0.5, 1).cumprod(-1))
        precisions = (matches / totals).nan_to_num(nan=0.0, posinf=0.0)  # without n-grams
        if not self.effective_order:
            return precisions, None
        has_ngrams = (totals if self.smooth in ("smooth2", "add-k") else statistics.totals) > 0
        return precisions, has_ngrams.to(dtype)

    def _precisions_in_python(self, matches: Sequence[int], totals: Sequence[int]) -> list[float]:
        """Return the smoothed precision of each order."""
        value = self.smoothing_value
        is_adding = self.smooth in _ADDING
        least = 1 if self.smooth in ("smooth1", "nltk_smooth2") else 0
        precisions = []
        unmatched = {"smooth1": value, "floor": value, "exp": 1.0}.get(self.smooth, 0.0)  # an order's numerator
        for order, (matched, total) in enumerate(zip(matches, totals, strict=True)):
            numerator: float = matched
            denominator: float = total or least
            if is_adding and order:
                numerator, denominator = numerator + value, denominator + value
            elif not matched:
                if self.smooth == "exp":
                    unmatched /= 2
                numerator = unmatched
            precisions.append(numerator / denominator if denominator > 0 else 0.0)
        return precisions

    def parts(self, statistics: BleuStatistics) -> dict[str, Tensor]:
        """Return the smoothed precisions ``(..., orders)``, the brevity penalty ``(...)``, and the counts."""
        precisions, _ = self._precisions(statistics)
        return {"precisions": precisions, "brevity_penalty": _brevity_penalty(statistics), **statistics._asdict()}

    @property
    def pair_orders(self) -> tuple[int, ...]:
        return (self.ngram,)

    def pair_statistics(self, *counts: PairCounts) -> BleuStatistics:
        """Return the statistics of pairs: the only reference of a pair is the closest one."""
        ((matches, hypothesis_lengths, reference_lengths),) = counts
        return BleuStatistics(
            matches, ngram_totals(hypothesis_lengths, self.ngram), hypothesis_lengths, reference_lengths
        )


def _brevity_penalty(statistics: BleuStatistics) -> Tensor:
    r"""Return ``min(1, exp(1 - r / h))`` ``(...,)``, 0 where the hypothesis is empty and the reference is not."""
    dtype = float_dtype(statistics.matches.device)
    # If the hypothesis is empty, this is -inf. If both are, 0 / 0 is nan, and the penalty 1.
    exponent = 1 - statistics.reference_length.to(dtype) / statistics.hypothesis_length
    return _exponential(exponent).nan_to_num(nan=1.0).clamp(max=1)


def _brevity_penalty_in_python(hypothesis_length: int, reference_length: int) -> float:
    """Return the brevity penalty, 0 if the hypothesis is empty and the reference is not."""
    if not hypothesis_length:
        return 0.0 if reference_length else 1.0
    return math.exp(min(0.0, 1 - reference_length / hypothesis_length))


def _exponential(exponent: Tensor) -> Tensor:
    """Return e to the power of each number, for batches of a training loop in parts of 64 numbers.

    On a CPU MKL computes more than 64 numbers in threads, and waits milliseconds if data loaders keep the cores busy.
    """
    if torch.compiler.is_compiling() or exponent.device.type != "cpu" or not 64 < exponent.numel() <= UPDATE_GROUPS:
        return exponent.exp()
    parts = exponent.reshape(-1).split(64)
    return torch.cat([part.exp() for part in parts]).reshape(exponent.shape)


def _checked_weights(weights: Sequence[float], orders: int) -> tuple[float, ...]:
    """Return weights as plain numbers, so that settings can be compared."""
    if not hasattr(weights, "__len__"):
        raise TypeError(f"weights must be a sequence of {orders} numbers (got: {weights!r})")
    if len(weights) != orders:
        raise ValueError(f"weights must be one for each of {orders} orders (got: {len(weights)})")
    numbers = tuple(checked_number(weight, f"weights[{index}]", MAX_NUMBER) for index, weight in enumerate(weights))
    if not any(numbers):
        raise ValueError(f"weights must not all be 0 (got: {list(numbers)})")
    return numbers


def make_bleu(
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


ROWS = (
    MetricRow(
        "BLEU",
        make_bleu,
        {"tokenizer": "tokenizer", "lowercase": "lowercase"},
    ),
)
