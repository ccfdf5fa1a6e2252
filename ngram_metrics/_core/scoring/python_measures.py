"""Metrics in plain Python, without torch: the settings of each, and how one segment is counted and scored.

``_core.metrics.bleu`` and its neighbours derive from these, and count and score batches as tensors.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ngram_metrics._core.basics.option_checks import (
    MAX_NUMBER,
    MAX_SMOOTH_VALUES,
    SMOOTHINGS,
    Smoothing,
    check_booleans,
    checked_number,
    checked_order,
    exact,
)
from ngram_metrics._core.counting.python_matches import RougeText, Tokens, match_ngrams
from ngram_metrics._core.scoring import python_scores

#: How several references become one count: see ``_core.metrics.rouge``.
Reducer = Literal["best", "best_recall", "sum"]

_SMOOTH_OF_TORCHMETRICS = (
    "torchmetrics' smooth=True adds 1 to the counts of the orders above 1, as 'add-k' and 'smooth2' do, "
    "and its smooth=False is 'no_smooth'"
)


class PythonMeasure(ABC):
    """The settings of a metric, and how it counts and scores one segment in plain Python."""

    #: Whether a higher score is better. Comparisons respect it; MBR decoding and rewards require True.
    higher_is_better: ClassVar[bool] = True
    #: Whether hypotheses are compared with references; a measure of texts alone ignores the references of a batch.
    has_references: ClassVar[bool] = True

    #: Texts with fewer characters, and other segments with fewer tokens, are counted by ``count_in_python`` on a CPU,
    #: which then takes less time than arrays.
    python_text_limit: ClassVar[int] = 0
    python_token_limit: ClassVar[int] = 0

    def count_in_python(self, hypothesis: Any, references: Sequence[Any]) -> tuple[Any, ...]:
        """Count one segment in plain Python: the fields of the statistics, numbers and lists of them.

        The documents are those that the metric's reader reads in plain Python.
        """
        raise NotImplementedError

    def score_in_python(self, *fields: Any) -> Any:
        """Score one row in plain Python: a number, or lists of them of ``score_shape``.

        The fields are what ``count_in_python`` returns, or sums of it.
        """
        raise NotImplementedError

    @abstractmethod
    def signature(self) -> dict[str, str]:
        """Return the settings that affect the score, by name, as strings."""


@dataclass(frozen=True)
class PythonBleu(PythonMeasure):
    """BLEU under fixed settings.

    Attributes:
        ngram: the longest order, 1 to 1,000.
        smooth: one of ``SMOOTHINGS``.
        smooth_value: the value for ``floor``, 0 to 1, or ``add-k``, 0 to 1e15; None for the default.
        weights: the weight of each order, ``ngram`` numbers from 0 to 1e15; None for equal weights that sum to 1.
        effective_order: whether orders without any n-gram are left out.

    Raises:
        TypeError: a setting of another type.
        ValueError: a setting out of its range.
    """

    ngram: int = 4
    smooth: Smoothing = "exp"
    smooth_value: float | None = None
    weights: Sequence[float] | None = None
    effective_order: bool = False

    python_text_limit, python_token_limit = 6000, 1500

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

    def count_in_python(self, hypothesis: Tokens, references: Sequence[Tokens]) -> python_scores.BleuCounts:
        length = len(hypothesis)
        closest = len(references[0])
        if len(references) > 1:
            closest = min((abs(len(reference) - length), len(reference)) for reference in references)[1]
        totals = python_scores.ngram_totals(length, self.ngram)
        return match_ngrams(hypothesis, references, self.ngram), totals, length, closest

    def score_in_python(self, *fields: Any) -> float:
        return python_scores.bleu_score(fields, self.smooth, self.smooth_value, self.weights, self.effective_order)

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
        default = python_scores.SMOOTH_VALUES.get(self.smooth, 0.0)
        return default if self.smooth_value is None else self.smooth_value


@dataclass(frozen=True)
class PythonChrf(PythonMeasure):
    """chrF under fixed settings.

    Attributes:
        char_order: the longest order of characters, 0 to 1,000.
        word_order: the longest order of words, 0 to 1,000; 2 is chrF++.
        beta: how much recall weighs against precision, 0 to 1e15.
        eps_smoothing: whether F is averaged over all orders; see the module's docstring.

    Raises:
        TypeError: a setting of another type.
        ValueError: a setting out of its range, or both orders 0.
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

    python_text_limit = python_token_limit = 1200

    def count_in_python(
        self, hypothesis: Sequence[Tokens], references: Sequence[Sequence[Tokens]]
    ) -> python_scores.ChrfCounts:
        rows: list[python_scores.ChrfCounts] = []
        for reference in references:
            row: python_scores.ChrfCounts = ([], [], [])
            for tokens, reference_tokens, order in zip(hypothesis, reference, self.pair_orders, strict=True):
                matches = match_ngrams(tokens, [reference_tokens], order)
                fields = python_scores.chrf_fields(matches, len(tokens), len(reference_tokens))
                for counts, kind_counts in zip(row, fields, strict=True):
                    counts.extend(kind_counts)
            rows.append(row)
        if len(rows) == 1:
            return rows[0]
        return max(rows, key=lambda row: python_scores.chrf_score(row, self.beta, self.eps_smoothing, 100))

    def score_in_python(self, *fields: Any) -> float:
        return python_scores.chrf_score(fields, self.beta, self.eps_smoothing)

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


@dataclass(frozen=True)
class PythonOrder(PythonMeasure):
    """A metric whose only setting is the longest order, ``ngram``, 1 to 1,000.

    Raises:
        TypeError: an order that is not an integer.
        ValueError: an order out of its range.
    """

    ngram: int

    python_text_limit, python_token_limit = 8000, 1200

    def __post_init__(self) -> None:
        object.__setattr__(self, "ngram", checked_order(self.ngram))

    def signature(self) -> dict[str, str]:
        return {"order": str(self.ngram)}


@dataclass(frozen=True)
class PythonOverlap(PythonOrder):
    """N-gram overlap of the order ``ngram``."""

    ngram: int = 1

    def count_in_python(self, hypothesis: Tokens, references: Sequence[Tokens]) -> tuple[int, ...]:
        has = max(0, len(hypothesis) - self.ngram + 1)
        rows = [
            (match_ngrams(hypothesis, [reference], self.ngram)[-1], has, max(0, len(reference) - self.ngram + 1))
            for reference in references
        ]
        return max(rows, key=python_scores.overlap_score)

    def score_in_python(self, *fields: Any) -> float:
        return python_scores.overlap_score(fields)


@dataclass(frozen=True)
class PythonGleu(PythonOrder):
    """GLEU up to the order ``ngram``."""

    ngram: int = 4

    def count_in_python(self, hypothesis: Tokens, references: Sequence[Tokens]) -> tuple[int, ...]:
        has = sum(python_scores.ngram_totals(len(hypothesis), self.ngram))
        rows = []
        for reference in references:
            wants = sum(python_scores.ngram_totals(len(reference), self.ngram))
            rows.append((sum(match_ngrams(hypothesis, [reference], self.ngram)), max(has, wants)))
        return max(rows, key=lambda row: python_scores.gleu_score(row) if row[1] else -1.0)

    def score_in_python(self, *fields: Any) -> float:
        return python_scores.gleu_score(fields)


@dataclass(frozen=True)
class PythonRepetition(PythonOrder):
    """Repetition of the order ``ngram``."""

    ngram: int = 4

    higher_is_better = False
    has_references = False
    python_text_limit, python_token_limit = 6000, 1200

    def count_in_python(self, hypothesis: Tokens, references: Sequence[Tokens]) -> tuple[int, int]:
        ngrams = [*zip(*(hypothesis[skipped:] for skipped in range(self.ngram)), strict=False)]
        return len({*ngrams}), len(ngrams)

    def score_in_python(self, *fields: Any) -> float:
        return python_scores.repetition_score(fields)


@dataclass(frozen=True)
class PythonRouge(PythonMeasure):
    """ROUGE under fixed settings.

    Attributes:
        variants: for each key the order of its n-grams, 1 to 1,000, or ``"L"`` or ``"Lsum"``.
        reducer: how several references become one count.
        alpha: the weight in F = P R / ((1 - alpha) P + alpha R), from 0 to 1: 0 makes F the recall, 1 the precision;
            None for F1.

    Raises:
        TypeError: an order that is not an integer.
        ValueError: an order out of its range.
    """

    variants: tuple[int | str, ...]
    reducer: Reducer = "best"
    alpha: float | None = None

    python_text_limit, python_token_limit = 6000, 1000

    def __post_init__(self) -> None:
        checked = tuple(variant if variant in ("L", "Lsum") else checked_order(variant) for variant in self.variants)
        object.__setattr__(self, "variants", checked)

    def count_in_python(
        self, hypothesis: RougeText | Tokens, references: Sequence[RougeText | Tokens]
    ) -> tuple[Sequence[int], ...]:
        # Without sentences, the words are one sentence.
        first, *others = (
            document if isinstance(document, RougeText) else RougeText(document, [document])
            for document in (hypothesis, *references)
        )
        rows = python_scores.rouge_counts(first, others, self.variants, self.reducer, self.alpha)
        return tuple(zip(*rows, strict=True))

    def score_in_python(self, *fields: Sequence[int]) -> list[tuple[float, float, float]]:
        return [python_scores.rouge_score(counts, self.alpha) for counts in zip(*fields, strict=True)]

    def signature(self) -> dict[str, str]:
        fields = {"keys": ",".join(map(str, self.variants)), "multiref": self.reducer}
        return fields if self.alpha is None else {**fields, "alpha": exact(self.alpha, "g")}


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
