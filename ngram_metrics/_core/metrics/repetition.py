r"""Repetition, distinct-n, self-BLEU and self-repetition: how much texts repeat themselves and one another.

Definition. Let t be the n-grams of one order of a text, and d the distinct ones among them. Then

.. math:: \text{repetition} = 1 - \frac{d}{t} \qquad \text{distinct} = \frac{d}{t}

Repetition is seq-rep-n of Welleck et al. 2020, "Neural Text Generation with Unlikelihood Training". The reward
``get_repetition_penalty_reward`` of open-r1, for TRL, is this number of the lowercased text times its ``max_penalty``.
Distinct-n follows Li et al. 2016, "A Diversity-Promoting Objective Function for Neural Conversation Models".

Conventions. Scores are from 0 to 1. A lower repetition is better. A text that is shorter than the order has no n-gram:
its repetition is 0, because it repeats nothing, and its distinct-n is 0. Micro repetition divides the sums of d and t
over the texts, so a repetition between two texts does not count. Distinct-n of a corpus (micro) counts an n-gram once,
in however many texts it occurs; macro leaves out texts without an n-gram. N-grams never cross the border of two texts.

Differences from other packages:

1. ``diversity`` 0.3.1 joins all texts before it counts n-grams, so it counts n-grams that no text has; and its
   ``ngram_diversity_score`` is the sum of distinct-1 to distinct-4, in 0..4.
2. Distinct-n depends on the length: the more n-grams, the larger the share that occurred before. Compare only texts, or
   samples of them, of similar length and number.

Self-BLEU (Zhu et al. 2018, "Texygen: A Benchmarking Platform for Text Generation Models") is the mean BLEU of each text
with all other texts as its references. Each text gets the same number as from nltk's ``sentence_bleu``, with the
smoothings and conventions of ``_core.metrics.bleu``. Self-repetition (Salkar et al. 2022, "Self-Repetition in
Abstractive Neural Summarizers") counts for each distinct n-gram of a text the other texts that have it. With r the sum
of a text over its n-grams, and T texts,

.. math:: \text{self-repetition} = \frac{1}{T} \sum \ln(1 + r)

Conventions of both. Lower is more varied. Self-BLEU is from 0 to 1; self-repetition is at least 0 and has no upper
bound, since it grows with the number and the length of the texts. A text that is shorter than the order adds 0 to
self-repetition. One text has no other: its self-BLEU and its self-repetition are 0. So are both without texts.

No text is compared with another. An n-gram of a text matches as often as it occurs in one other text at most: that is
the largest count of the n-gram in a text, or the second largest if the text itself has the largest. So the time grows
with the number of words and not of pairs of texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ngram_metrics._core.basics.lazy import torch
from ngram_metrics._core.basics.option_checks import Average
from ngram_metrics._core.counting.corpus import CorpusNgrams, corpus_ngrams, distinct_ngrams
from ngram_metrics._core.counting.documents import Batch, RaggedTokens, float_dtype
from ngram_metrics._core.counting.matches import count_ngrams, ngram_totals
from ngram_metrics._core.counting.python_matches import Tokens
from ngram_metrics._core.metrics.bleu import BleuStatistics
from ngram_metrics._core.scoring.measure import Layout, OrderMeasure, limit_of
from ngram_metrics._core.scoring.scorer import MetricRow, Scorer
from ngram_metrics._core.text.input_types import Tokenizer
from ngram_metrics._core.text.word_reader import WordReader

if TYPE_CHECKING:
    from torch import Tensor


class RepetitionStatistics(NamedTuple):
    """The n-grams of one order.

    Attributes:
        distinct: ``(...,)`` int64, distinct n-grams, each counted once in each text.
        totals: ``(...,)`` int64, all n-grams.
    """

    distinct: Tensor
    totals: Tensor


@dataclass(frozen=True)
class RepetitionMeasure(OrderMeasure[RepetitionStatistics]):
    """Repetition of the order ``ngram``."""

    ngram: int = 4

    layout = Layout(RepetitionStatistics, (None, None))
    higher_is_better = False
    has_references = False

    def statistics(self, batch: Batch) -> RepetitionStatistics:
        texts = batch.sides.hypotheses
        totals = count_ngrams(texts.lengths, self.ngram)
        return RepetitionStatistics(distinct_ngrams(texts, self.ngram), totals)

    def python_limit(self, tokenizer: object) -> int:
        return limit_of(tokenizer)

    def count_in_python(self, hypothesis: Tokens, references: Sequence[Tokens]) -> tuple[int, int]:
        ngrams = [*zip(*(hypothesis[skipped:] for skipped in range(self.ngram)), strict=False)]
        return len({*ngrams}), len(ngrams)

    def score(self, statistics: RepetitionStatistics) -> Tensor:
        dtype = float_dtype(statistics.totals.device)
        repeated = statistics.totals - statistics.distinct
        return repeated.to(dtype) / statistics.totals.clamp(min=1).to(dtype)

    def score_in_python(self, counts: tuple[int, int]) -> float:
        distinct, total = counts
        return (total - distinct) / max(1, total)


def make_repetition(
    ngram: int = 4,
    average: Average = "macro",
    tokenizer: Tokenizer | None = None,
    pad_id: int | Sequence[int] | None = None,
) -> Scorer:
    """Return repetition with the options of ``ngram_metrics.Repetition``."""
    return Scorer(WordReader(tokenizer, pad_id=pad_id), RepetitionMeasure(ngram), average, {"repetition": ()})


ROWS = (MetricRow("repetition", make_repetition, {"tokenizer": "tokenizer"}, needs_references=False),)


def distinct_in_corpus(texts: RaggedTokens, orders: Sequence[int]) -> RepetitionStatistics:
    """Count for each order the distinct n-grams of all texts together, and all n-grams, ``(orders,)``."""
    distinct = [ngrams.distinct() for ngrams in corpus_ngrams(texts, max(orders))]
    lengths = texts.lengths
    return RepetitionStatistics(
        distinct=torch.stack([distinct[order - 1] for order in orders]),
        totals=torch.stack([count_ngrams(lengths, order).sum() for order in orders]),
    )


def distinct_score(statistics: RepetitionStatistics, average: Average) -> Tensor:
    """Return distinct-n, from 0 to 1: for ``"macro"`` the mean of the rows that have n-grams, else of each row."""
    dtype = float_dtype(statistics.totals.device)
    scores = statistics.distinct.to(dtype) / statistics.totals.clamp(min=1).to(dtype)
    if average != "macro":
        return scores
    return scores.sum() / (statistics.totals > 0).sum().clamp(min=1)


def self_bleu_statistics(texts: RaggedTokens, ngram: int) -> BleuStatistics:
    """Count the matches of each of at least two texts with all other texts, up to the order ``ngram``."""
    lengths = texts.lengths
    matches = [_matches(ngrams, len(lengths)) for ngrams in corpus_ngrams(texts, ngram)]
    return BleuStatistics(
        matches=torch.stack(matches, -1),  # (texts, orders)
        totals=ngram_totals(lengths, ngram),
        hypothesis_length=lengths,
        reference_length=_closest_other_length(lengths),
    )


def _matches(ngrams: CorpusNgrams, texts: int) -> Tensor:
    """Return how many n-grams of each text match, each at most as often as one other text has it."""
    most, owner, second = (field.index_select(0, ngrams.ngram) for field in ngrams.largest())
    elsewhere = torch.where(ngrams.document == owner, second, most)
    return ngrams.sum_by_document(torch.minimum(ngrams.times, elsewhere), texts)


def _closest_other_length(lengths: Tensor) -> Tensor:
    """Return the length of the other text that is nearest to each text's own, the shorter on a tie."""
    ascending, order = lengths.sort()
    # Among sorted lengths, the nearest other length is a neighbour's.
    none = ascending.new_full((1,), torch.iinfo(torch.int64).max // 2)
    below = ascending - torch.cat((-none, ascending[:-1]))  # how far it is
    above = torch.cat((ascending[1:], none)) - ascending
    nearest = torch.where(below <= above, ascending - below, ascending + above)
    return torch.empty_like(lengths).index_copy_(0, order, nearest)


def repeated_elsewhere(texts: RaggedTokens, ngram: int) -> Tensor:
    """Return for each text the sum over its distinct n-grams of the other texts that have them, ``(texts,)`` int64."""
    for ngrams in corpus_ngrams(texts, ngram):  # noqa: B007
        pass  # only the last order is needed, and no other is kept
    others = (ngrams.documents().index_select(0, ngrams.ngram) - 1) * (ngrams.times > 0)
    return ngrams.sum_by_document(others, texts.documents)


def self_repetition_score(repeated: Tensor) -> Tensor:
    """Return self-repetition ``()``, from the counts of each text, ``(texts,)``."""
    return repeated.to(float_dtype(repeated.device)).log1p().sum() / max(1, len(repeated))
