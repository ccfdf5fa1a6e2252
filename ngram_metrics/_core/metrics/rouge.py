r"""ROUGE-N, ROUGE-L and ROUGE-Lsum (Lin 2004), the same numbers as google's rouge_score.

Definition. A key counts what a hypothesis shares with a reference: ``rouge1`` .. ``rouge9`` the n-grams, each as often
as it occurs in both (Lin 2004, section 2); ``rougeL`` the tokens of a longest common subsequence (section 3.1);
``rougeLsum`` the hits of the union of longest common subsequences, sentence by sentence (section 3.2). Let c be this
count, h the total of the hypothesis and r the total of the reference. Then

.. math:: P = \frac{c}{h}, \quad R = \frac{c}{r}, \quad F = \frac{2 P R}{P + R}

Conventions. Values are from 0 to 1; 0 / 0 is 0. The mean of F over segments may be lower than both mean P and mean R,
because F is computed for each segment. The words are those of ``_core.text.rouge_reader``.

Several references. ``best``: for each key the reference with the highest F, the first on ties, as in rouge_score's
``score_multi`` and torchmetrics. ``avg``: the means of P, R and F over the references, as in torchmetrics. ignite has
two others: ``sum``, which it calls ``average``, sums c, h and r over the references; ``best_recall``, which it calls
``best``, takes the reference with the highest recall.

Differences from other packages:

1. rouge_score reports the bootstrap median of a corpus. Here it is the mean of the segments (macro), as in
   torchmetrics and ignite, or the score of the summed counts (micro), which no other package offers.
2. For ``rougeLsum`` torchmetrics splits sentences with nltk's punkt model, which does not split at newlines; here, as
   in rouge_score, a sentence is a line.
3. ignite weights F by ``alpha``, by default 0, so its F is the recall; ``alpha=None`` of ``RougeMeasure`` is F1.
4. rouge_score chooses the best of several references in float64 and torchmetrics in float32; here float64.
5. The original Perl ROUGE-1.5.5 (pyrouge) reads one sentence per line for its ROUGE-L too. So its ROUGE-L is
   rouge_score's ``rougeLsum``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypedDict, get_args

from ngram_metrics._core.basics.arrays import Array, divide, stack
from ngram_metrics._core.basics.option_checks import (
    Average,
    check_choice,
    checked_order,
)
from ngram_metrics._core.counting.counters import count_union_hits, find_common_lengths
from ngram_metrics._core.scoring.measure import (
    Layout,
    MatchStatistics,
    Measure,
    PairCounts,
    Statistics,
    count_pairs,
    to_floats,
)
from ngram_metrics._core.scoring.scorer import MetricEntry, Scorer
from ngram_metrics._core.text.input_types import Tokenizer
from ngram_metrics._core.text.rouge_reader import RougeReader

if TYPE_CHECKING:
    from ngram_metrics._core.counting.counters import AnyBatch

RougeKey: TypeAlias = Literal[
    "rouge1", "rouge2", "rouge3", "rouge4", "rouge5", "rouge6", "rouge7", "rouge8", "rouge9", "rougeL", "rougeLsum"
]
#: What each key counts: n-grams of an order, or a kind of subsequence.
ROUGE_KEYS: dict[str, int | str] = {
    key: int(variant) if (variant := key.removeprefix("rouge")).isdigit() else variant for key in get_args(RougeKey)
}
#: The keys that ROUGE counts by default.
DEFAULT_ROUGE_KEYS: tuple[RougeKey, ...] = ("rouge1", "rouge2", "rougeL", "rougeLsum")
#: torchmetrics' two options for several references of ROUGE.
Accumulate = Literal["best", "avg"]

#: The last part of the name of each value of a key, with the value's index in a score. The first is the usual one.
ROUGE_VALUES = {"fmeasure": 2, "precision": 0, "recall": 1}
#: How several references become one count, see above.
Reducer = Literal["best", "best_recall", "sum"]


class RougeScores(NamedTuple):
    """Means over several references, which cannot be computed from summed counts; each ``(..., keys)`` float64."""

    precision: Array
    recall: Array
    fmeasure: Array


class KeyedMeasure(Measure[Statistics]):
    """The keys, which both ROUGE measures have. Pairs can be scored only if there is a single key."""

    #: For each key the order of its n-grams, 1 to 1,000, or ``"L"`` or ``"Lsum"``.
    variants: tuple[int | str, ...]

    @property
    def score_shape(self) -> tuple[int, ...]:
        """The shape of one score: keys, and precision, recall and F of each."""
        return (len(self.variants), 3)

    @property
    def counts_subsequences(self) -> bool:  # type: ignore[override]
        return self.variants == ("L",)

    @property
    def pair_orders(self) -> tuple[int, ...]:
        """The order of the only key. It is 1 for ``rougeL``, which counts tokens of the subsequence."""
        variant, *others = self.variants
        if others or variant == "Lsum":
            keys = [key for chosen in self.variants for key, variant in ROUGE_KEYS.items() if variant == chosen]
            raise ValueError(
                f"rouge_keys is {keys}: expected a single key other than rougeLsum to score pairs, such as 'rougeL'"
            )
        return (variant if isinstance(variant, int) else 1,)

    def key_settings(self) -> dict[str, object]:
        """Return the setting that both measures have."""
        return {"rouge_keys": tuple(f"rouge{variant}" for variant in self.variants)}

    def select_key(self, key: int) -> KeyedMeasure[Statistics]:
        return replace(self, variants=self.variants[key : key + 1])  # type: ignore[type-var]  # all are dataclasses


@dataclass(frozen=True)
class RougeMeasure(KeyedMeasure[MatchStatistics]):
    """ROUGE under fixed settings.

    Attributes:
        variants: for each key the order of its n-grams, 1 to 1,000, or ``"L"`` or ``"Lsum"``.
        reducer: how several references become one count.
        alpha: the weight in F = P R / ((1 - alpha) P + alpha R), from 0 to 1: 0 makes F the recall, 1 the precision;
            None for F1.

    Statistics are ``(..., keys)``.

    Raises:
        TypeError: an order that is not an integer.
        ValueError: an order out of its range.
    """

    variants: tuple[int | str, ...]
    reducer: Reducer = "best"
    alpha: float | None = None

    def __post_init__(self) -> None:
        checked = tuple(variant if variant in ("L", "Lsum") else checked_order(variant) for variant in self.variants)
        object.__setattr__(self, "variants", checked)
        object.__setattr__(self, "layout", Layout(MatchStatistics, (len(checked),) * 3))

    def settings(self) -> dict[str, object]:
        return {**self.key_settings(), "accumulate": self.reducer, "alpha": self.alpha}

    def statistics(self, batches: Sequence[AnyBatch]) -> MatchStatistics:
        counts = _count(batches, self.variants)
        batch = batches[0]
        if batch.is_paired:
            return counts
        if self.reducer == "sum":
            return MatchStatistics(
                matches=batch.sum_references(counts.matches),
                hypothesis_totals=batch.sum_references(counts.hypothesis_totals),
                reference_totals=batch.sum_references(counts.reference_totals),
            )
        scores = self.score(to_floats(counts))  # (references, keys, 3)
        value = "recall" if self.reducer == "best_recall" else "fmeasure"
        best = batch.take_best(counts, scores[..., ROUGE_VALUES[value]])
        return MatchStatistics(*best)

    def score(self, statistics: MatchStatistics) -> Array:
        """Return ``(..., keys, 3)``: precision, recall and F of each key, from 0 to 1."""
        return _precision_recall_f(statistics, self.alpha)

    def pair_statistics(self, counts: Sequence[PairCounts]) -> MatchStatistics:
        (words,) = counts
        return _select_longest(words)


@dataclass(frozen=True)
class MeanRougeMeasure(KeyedMeasure[RougeScores]):
    """ROUGE averaged over several references: torchmetrics' ``accumulate="avg"``, which has no corpus score."""

    variants: tuple[int | str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "layout", Layout(RougeScores, (len(self.variants),) * 3))

    has_counts = False

    def statistics(self, batches: Sequence[AnyBatch]) -> RougeScores:
        """Score each reference, and take the means."""
        counts = _count(batches, self.variants)
        batch = batches[0]
        scores = _precision_recall_f(to_floats(counts))  # (references, keys, 3)
        means = batch.sum_references(scores) / batch.count_references()[:, None, None]
        return RougeScores(precision=means[..., 0], recall=means[..., 1], fmeasure=means[..., 2])

    def score(self, statistics: RougeScores) -> Array:
        """Return ``(..., keys, 3)``: precision, recall and F of each key, from 0 to 1."""
        return stack(statistics)

    def parts(self, statistics: RougeScores) -> dict[str, Array]:
        """Raise ValueError: means over references have no corpus counts."""
        raise ValueError("accumulate='avg' averages the scores of several references: expected accumulate='best'")

    def settings(self) -> dict[str, object]:
        return {**self.key_settings(), "accumulate": "avg"}

    def pair_statistics(self, counts: Sequence[PairCounts]) -> RougeScores:
        """Return the scores of pairs."""
        (words,) = counts
        scores = _precision_recall_f(to_floats(_select_longest(words)))
        return RougeScores(precision=scores[..., 0], recall=scores[..., 1], fmeasure=scores[..., 2])


def _precision_recall_f(counts: MatchStatistics, alpha: float | None = None) -> Array:
    """Return precision, recall and F ``(..., 3)`` of counts ``(...)``. ``alpha`` weighs F."""
    matches, hypothesis, reference = counts
    precision = divide(matches, hypothesis)
    recall = divide(matches, reference)
    if alpha is None:
        # The order of operations is rouge_score's, so that the same references tie.
        fmeasure = divide(2 * precision * recall, precision + recall)
    else:
        fmeasure = divide(precision * recall, (1 - alpha) * precision + alpha * recall)
    return stack((precision, recall, fmeasure))


def _count(batches: Sequence[AnyBatch], variants: Sequence[int | str]) -> MatchStatistics:
    """Count every key for every pair of a hypothesis and a reference, ``(references, keys)``.

    If any document has several sentences, the second batch has the documents with the ends of sentences.
    """
    words = batches[0].pairs()
    orders = [variant for variant in variants if isinstance(variant, int)]
    ngrams = count_pairs(words, max(orders, default=0))
    hypothesis_totals, reference_totals = ngrams.totals()  # (references, orders)
    columns: dict[int | str, MatchStatistics] = {}  # of each variant, (references,)
    for order in orders:
        columns[order] = MatchStatistics(
            matches=ngrams.matches[:, order - 1],
            hypothesis_totals=hypothesis_totals[:, order - 1],
            reference_totals=reference_totals[:, order - 1],
        )
    has_sentences = len(batches) > 1
    # If every document is one sentence, the union is the longest common subsequence.
    if "L" in variants or ("Lsum" in variants and not has_sentences):
        columns["L"] = MatchStatistics(find_common_lengths(words), ngrams.hypothesis_lengths, ngrams.reference_lengths)
    if "Lsum" in variants:
        columns["Lsum"] = _count_summaries(batches[1]) if has_sentences else columns["L"]
    chosen = [columns[variant] for variant in variants]
    return MatchStatistics(
        matches=stack([column.matches for column in chosen]),
        hypothesis_totals=stack([column.hypothesis_totals for column in chosen]),
        reference_totals=stack([column.reference_totals for column in chosen]),
    )


def _count_summaries(summaries: AnyBatch) -> MatchStatistics:
    """Return for ``rougeLsum`` the hits, and the tokens of hypothesis and reference, each ``(references,)``."""
    pairs = summaries.pairs()
    words = pairs.drop_sentence_ends()
    return MatchStatistics(count_union_hits(pairs), words.hypothesis_lengths, words.reference_lengths)


def _select_longest(counts: PairCounts) -> MatchStatistics:
    """Return the statistics of the longest order only, each ``(..., 1)``."""
    hypothesis_totals, reference_totals = counts.totals()
    return MatchStatistics(counts.matches[..., -1:], hypothesis_totals[..., -1:], reference_totals[..., -1:])


def checked_keys(rouge_keys: RougeKey | Sequence[RougeKey]) -> tuple[RougeKey, ...]:
    """Return ``rouge_keys`` as a tuple, or raise TypeError or ValueError. A str is one key."""
    if not isinstance(rouge_keys, Iterable) or isinstance(rouge_keys, Set):
        raise TypeError(f"rouge_keys is {rouge_keys!r}: expected a key or a sequence of keys")
    keys: tuple[RougeKey, ...] = (rouge_keys,) if isinstance(rouge_keys, str) else tuple(rouge_keys)
    if not keys:
        raise ValueError(f"rouge_keys is empty: expected at least one of {list(ROUGE_KEYS)}")
    for key in keys:
        if re.fullmatch(r"rouge-?(w|su?)[\d.*-]*", str(key).lower()):
            raise ValueError(
                f"{key} is not available: like rouge_score, torchmetrics and ignite, this package has no ROUGE-W or "
                f"ROUGE-S (expected one of {list(ROUGE_KEYS)})"
            )
        if advice := advise_on_value(str(key)):
            raise ValueError(f"unknown rouge key {key!r}: expected one of {list(ROUGE_KEYS)}{advice}")
        check_choice("rouge key", key, ROUGE_KEYS)
    return keys


def advise_on_value(name: str) -> str:
    """Return advice that ends the error if the name is that of a value, such as rougeL_fmeasure, else an empty str."""
    key, _, value = name.partition("_")
    if key not in ROUGE_KEYS or value not in ROUGE_VALUES:
        return ""
    return f'; it is a value of {key!r}, whose score is F. In Python, use ROUGEScore(rouge_keys="{key}")["{name}"]'


class RougeOptions(TypedDict, total=False):
    """The types of the options of ``make_rouge``, which has their defaults."""

    use_stemmer: bool
    normalizer: Callable[[str], str] | None
    tokenizer: Tokenizer | None
    accumulate: Accumulate
    rouge_keys: RougeKey | Sequence[RougeKey]
    average: Average
    sentence_splitter: Callable[[str], Sequence[str]] | None
    sentence_separator_id: int | None
    pad_id: int | Sequence[int] | None


def make_rouge(
    *,
    use_stemmer: bool = False,
    normalizer: Callable[[str], str] | None = None,
    tokenizer: Tokenizer | None = None,
    accumulate: Accumulate = "best",
    rouge_keys: RougeKey | Sequence[RougeKey] = DEFAULT_ROUGE_KEYS,
    average: Average = "macro",
    sentence_splitter: Callable[[str], Sequence[str]] | None = None,
    sentence_separator_id: int | None = None,
    pad_id: int | Sequence[int] | None = None,
) -> Scorer:
    """Return ROUGE with the options of ``ngram_metrics.ROUGEScore``. Without segments its score is NaN."""
    keys = checked_keys(rouge_keys)
    check_choice("accumulate", accumulate, get_args(Accumulate))
    if accumulate == "avg" and average == "micro":
        raise ValueError(
            "average='micro' sums counts, but accumulate='avg' averages the scores of several references: expected "
            "average='macro' or 'none'"
        )
    reader = RougeReader(
        use_stemmer, normalizer, tokenizer, sentence_splitter, sentence_separator_id, pad_id, "rougeLsum" in keys
    )
    variants = tuple(ROUGE_KEYS[key] for key in keys)
    measure = MeanRougeMeasure(variants) if accumulate == "avg" else RougeMeasure(variants)
    titles: dict[str, str] = {key: f"{key}_fmeasure" for key in keys}
    values = {
        f"{key}_{name}": (index, column) for index, key in enumerate(keys) for name, column in ROUGE_VALUES.items()
    }
    return Scorer(reader, measure, average, values, titles, math.nan)


_TEXT_OPTIONS = {
    "stem": "use_stemmer",
    "rouge_tokenizer": "tokenizer",
    "sentence_separator": "sentence_splitter",  # a SentenceSeparator
}
ENTRIES = (MetricEntry("ROUGE", make_rouge, _TEXT_OPTIONS),)
