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
3. ignite weights F by ``alpha``, by default 0, so its F is the recall; ``alpha=None`` here is F1.
4. rouge_score chooses the best of several references in float64 and torchmetrics in float32; here float64.
5. The original Perl ROUGE-1.5.5 (pyrouge) reads one sentence per line for its ROUGE-L too. So its ROUGE-L is
   rouge_score's ``rougeLsum``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple, cast, get_args

from ngram_metrics._core.basics.lazy import torch
from ngram_metrics._core.basics.option_checks import (
    DEFAULT_ROUGE_KEYS,
    ROUGE_KEYS,
    ROUGE_VALUES,
    Accumulate,
    Average,
    RougeKey,
    check_choice,
    checked_keys,
    checked_order,
    exact,
)
from ngram_metrics._core.counting.all_pairs import MatchBlock
from ngram_metrics._core.counting.documents import (
    Batch,
    DocumentGroups,
    PaddedPairs,
    PaddedSides,
    RaggedSides,
    float_dtype,
    owners,
)
from ngram_metrics._core.counting.matches import count_ngrams, ngram_totals
from ngram_metrics._core.counting.python_matches import (
    RougeText,
    Tokens,
    match_ngrams,
    match_short_pair,
    match_words,
    subsequence_length,
    union_hits,
)
from ngram_metrics._core.counting.subsequence.lengths import subsequence_lengths
from ngram_metrics._core.counting.subsequence.subsequence_pairs import all_pairs_subsequences
from ngram_metrics._core.counting.subsequence.union import union_subsequence_hits
from ngram_metrics._core.scoring.measure import Layout, MatchStatistics, Measure, PairCounts, Statistics, limit_of
from ngram_metrics._core.scoring.references import (
    Pairs,
    best_statistics,
    count_pairs,
    count_references,
    pair_up,
    sum_over_references,
)
from ngram_metrics._core.scoring.scorer import MetricRow, Scorer
from ngram_metrics._core.text.input_types import Tokenizer
from ngram_metrics._core.text.rouge_reader import RougeReader

if TYPE_CHECKING:
    from torch import Tensor

#: How several references become one count: see above.
Reducer = Literal["best", "best_recall", "sum"]
#: The fields of ``MatchStatistics`` in plain Python, for one key.
Counts = tuple[int, int, int]
#: Below this number of words in a pair, operations on integers with a bit for each word are faster than those on lists.
_FEW_WORDS = 600


class RougeScores(NamedTuple):
    """Means over several references, which one row of counts does not give, each ``(..., keys)`` float64."""

    precision: Tensor
    recall: Tensor
    fmeasure: Tensor


class KeyedMeasure(Measure[Statistics]):
    """What ROUGE of any reduction has: its keys, and pairs that are scored by the only one."""

    #: For each key the order of its n-grams, 1 to 1,000, or ``"L"`` or ``"Lsum"``.
    variants: tuple[int | str, ...]

    @property
    def score_shape(self) -> tuple[int, ...]:
        """The shape of one score: keys, and precision, recall and F of each."""
        return (len(self.variants), 3)

    @property
    def pair_orders(self) -> tuple[int, ...]:
        """The order of the one key, which is 1 for ``rougeL``, whose count is the length of the subsequence."""
        variant, *others = self.variants
        if others or variant == "Lsum":
            keys = [key for chosen in self.variants for key, variant in ROUGE_KEYS.items() if variant == chosen]
            raise ValueError(
                f"the rouge keys are {keys}: expected one of 'rouge1' .. 'rouge9', or 'rougeL', to score pairs by"
            )
        return (variant if isinstance(variant, int) else 1,)

    def pair_blocks(
        self, hypotheses: DocumentGroups, references: DocumentGroups, device: torch.device
    ) -> Iterator[MatchBlock]:
        if self.variants == ("L",):
            return all_pairs_subsequences(hypotheses, references, device)
        return super().pair_blocks(hypotheses, references, device)


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

    def signature(self) -> dict[str, str]:
        fields = {"keys": ",".join(map(str, self.variants)), "multiref": self.reducer}
        return fields if self.alpha is None else {**fields, "alpha": exact(self.alpha, "g")}

    def statistics(self, batch: Batch) -> MatchStatistics:
        counts, pairs = _count(batch, self.variants)
        if pairs.segment is None:
            return counts
        if self.reducer == "sum":
            return MatchStatistics(*(sum_over_references(field, pairs) for field in counts))
        return best_statistics(counts, self.score(counts)[..., 1 if self.reducer == "best_recall" else 2], pairs)

    def python_limit(self, tokenizer: object) -> int:
        return 4 * limit_of(tokenizer, 3) // 3  # subsequences take arrays longer than a third order

    def count_in_python(
        self, hypothesis: RougeText | Tokens, references: Sequence[RougeText | Tokens]
    ) -> tuple[Sequence[int], ...]:
        # Without sentences, the words are one sentence.
        first, *others = (
            document if isinstance(document, RougeText) else RougeText(document, [document])
            for document in (hypothesis, *references)
        )
        return tuple(zip(*self.count_keys(first, others), strict=True))

    def count_keys(self, hypothesis: RougeText, references: Sequence[RougeText]) -> list[Counts]:
        """Return the counts of each key in plain Python, with its best reference or summed."""
        if len(references) == 1:
            return _count_in_python(hypothesis, references[0], self.variants)
        rows = [_count_in_python(hypothesis, reference, self.variants) for reference in references]
        rows_by_key = zip(*rows, strict=True)
        if self.reducer == "sum":
            fields = [zip(*key_rows, strict=True) for key_rows in rows_by_key]
            return [(sum(matched), sum(has), sum(wants)) for matched, has, wants in fields]
        column = 1 if self.reducer == "best_recall" else 2
        return [max(key_rows, key=lambda counts: self.score_key(counts)[column]) for key_rows in rows_by_key]

    def score(self, statistics: MatchStatistics) -> Tensor:
        """Return ``(..., keys, 3)``: precision, recall and F of each key, from 0 to 1."""
        return precision_recall_f(statistics, self.alpha)

    def score_in_python(self, counts: tuple[Sequence[int], ...]) -> list[tuple[float, float, float]]:
        return list(map(self.score_key, zip(*counts, strict=True)))

    def score_key(self, counts: Counts) -> tuple[float, float, float]:
        """Return precision, recall and F of a key."""
        matched, has, wants = counts
        precision = matched / (has or 1)
        recall = matched / (wants or 1)
        if not matched:
            return precision, recall, 0.0
        if self.alpha is None:
            return precision, recall, 2 * precision * recall / (precision + recall)
        return precision, recall, precision * recall / ((1 - self.alpha) * precision + self.alpha * recall)

    def select_key(self, key: int) -> RougeMeasure:
        return replace(self, variants=self.variants[key : key + 1])

    def pair_statistics(self, *counts: PairCounts) -> MatchStatistics:
        return _statistics_of_longest(*counts)


@dataclass(frozen=True)
class MeanRougeMeasure(KeyedMeasure[RougeScores]):
    """ROUGE averaged over several references: torchmetrics' ``accumulate="avg"``, which has no corpus score."""

    variants: tuple[int | str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "layout", Layout(RougeScores, (len(self.variants),) * 3))

    @property
    def row_dtype(self) -> torch.dtype:
        return torch.float64

    def statistics(self, batch: Batch) -> RougeScores:
        """Score each reference, and take the means."""
        counts, pairs = _count(batch, self.variants)
        scores = sum_over_references(precision_recall_f(counts), pairs)  # (segments, keys, 3)
        return RougeScores(*(scores / count_references(pairs).reshape(-1, 1, 1)).unbind(-1))

    def select_key(self, key: int) -> MeanRougeMeasure:
        return MeanRougeMeasure(self.variants[key : key + 1])

    def score(self, statistics: RougeScores) -> Tensor:
        """Return ``(..., keys, 3)``: precision, recall and F of each key, from 0 to 1."""
        return torch.stack(tuple(statistics), -1)

    def parts(self, statistics: RougeScores) -> dict[str, Tensor]:
        """Raise ValueError: means over references have no corpus counts."""
        raise ValueError("accumulate='avg' averages the scores of several references: expected accumulate='best'")

    def signature(self) -> dict[str, str]:
        return {"keys": ",".join(map(str, self.variants)), "multiref": "avg"}

    def pair_statistics(self, *counts: PairCounts) -> RougeScores:
        """Return the scores of pairs."""
        return RougeScores(*precision_recall_f(_statistics_of_longest(*counts)).unbind(-1))


def precision_recall_f(counts: MatchStatistics, alpha: float | None = None) -> Tensor:
    """Return precision, recall and F ``(..., 3)`` of counts ``(...)``, where ``alpha`` weighs F and 0 / 0 is 0."""
    dtype = float_dtype(counts.matches.device)
    matches, hypothesis, reference = (field.to(dtype) for field in counts)
    precision, recall = matches / hypothesis.clamp(min=1), matches / reference.clamp(min=1)
    product = precision * recall
    has_matches = product > 0
    if alpha is None:
        # In rouge_score's order of operations, so that the same references tie.
        weighed, share = 2 * precision * recall, precision + recall
    else:
        weighed, share = product, (1 - alpha) * precision + alpha * recall
    fmeasure = torch.where(has_matches, weighed / torch.where(has_matches, share, 1), 0)
    return torch.stack((precision, recall, fmeasure), -1)


def _count(batch: Batch, variants: Sequence[int | str]) -> tuple[MatchStatistics, Pairs]:
    """Count every key for every pair, ``(pairs, keys)``."""
    pairs = pair_up(batch.sides)
    longest = max([0, *(variant for variant in variants if isinstance(variant, int))])
    ngrams, *lengths = count_pairs(pairs, longest)
    totals = [ngram_totals(length, longest) for length in lengths]  # each (pairs, orders)
    columns: dict[int | str, tuple[Tensor, ...]] = {
        order: tuple(field[:, order - 1] for field in (ngrams, *totals)) for order in range(1, longest + 1)
    }
    by_sentence = _count_summaries(batch, pairs) if "Lsum" in variants else None
    # If both summaries are one sentence, the union is the longest common subsequence itself.
    if "L" in variants or ("Lsum" in variants and by_sentence is None):
        columns["L"] = (subsequence_lengths(pairs.documents), *lengths)
    if "Lsum" in variants:
        columns["Lsum"] = by_sentence or columns["L"]
    fields = zip(*(columns[variant] for variant in variants), strict=True)
    return MatchStatistics(*(torch.stack(field, -1) for field in fields)), pairs


def _count_summaries(batch: Batch, pairs: Pairs) -> tuple[Tensor, ...] | None:
    """Return hits, tokens of the hypothesis and tokens of the reference for ``rougeLsum``, each ``(pairs,)``."""
    summaries = batch.summaries
    if summaries is None:
        return None
    if isinstance(summaries, PaddedSides):
        separated = pair_up(summaries)
        hits = union_subsequence_hits(cast(PaddedPairs, separated.documents), batch.separator_id)
        if separated.present is not None and isinstance(batch.sides, RaggedSides):
            hits = hits[separated.present]  # lists leave missing references out
        return hits, *(side.lengths for side in pairs.documents)
    if pairs.references is not None:
        summaries = summaries._replace(hypotheses=summaries.hypotheses.take(owners(pairs.references.counts)))
    return union_subsequence_hits(summaries), *(side.join().lengths for side in summaries)


def _count_in_python(hypothesis: RougeText, reference: RougeText, variants: Sequence[int | str]) -> list[Counts]:
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


def _statistics_of_longest(counts: PairCounts) -> MatchStatistics:
    """Return the statistics of the longest order only, each ``(..., 1)``."""
    order = counts.matches.shape[-1]
    totals = (count_ngrams(lengths, order).unsqueeze(-1) for lengths in counts[1:])
    return MatchStatistics(counts.matches[..., order - 1 :], *totals)


def make_rouge(
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
    """Return ROUGE with the options of ``ngram_metrics.ROUGEScore``, whose score is NaN without segments."""
    keys = checked_keys(rouge_keys)
    check_choice("accumulate", accumulate, get_args(Accumulate))
    if accumulate == "avg" and average == "micro":
        raise ValueError(
            "accumulate='avg' averages scores, which leaves no counts to sum: expected average 'macro' or 'none'"
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


ROWS = (
    MetricRow(
        "ROUGE",
        make_rouge,
        {"stem": "use_stemmer"},
    ),
)
