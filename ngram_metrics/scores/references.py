"""Several references a sentence, for metrics that score each pair and then choose or combine.

Every hypothesis is laid beside each of its own references, which makes a list of pairs; what is computed of a pair is
then reduced to the sentence. Nothing here depends on the data of padded batches, only on their shapes.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from ngram_metrics.counting.batch import PaddedPairs, PaddedSides, RaggedPairs, RaggedSides
from ngram_metrics.counting.matches import pair_matches
from ngram_metrics.counting.token_batch import DocumentGroups, PaddedReferences, PaddedTokens, owners
from ngram_metrics.scores.measure import PairCounts
from ngram_metrics.scores.rows import Statistics

#: The reference range of no sentence, see :func:`joined_range`.
NO_REFERENCES = (-(1 << 62), 0)


class Pairs(NamedTuple):
    """Hypotheses beside references, one pair after another, those of the first sentence first.

    Attributes:
        documents: ``pairs`` hypotheses, each as often as it has references, beside as many references.
        sentence: ``(pairs,)`` int64, the sentence of each pair; None where each sentence has one pair.
        present: ``(pairs,)`` bool, whether the reference is not missing; None where all are there.
        sentences: how many sentences there are.
        counts: ``(sentences,)`` int64 on the CPU, the pairs of each sentence; None where all have as many.
    """

    documents: RaggedPairs | PaddedPairs
    sentence: Tensor | None
    present: Tensor | None
    sentences: int
    counts: Tensor | None = None


def pair_up(sides: RaggedSides | PaddedSides) -> Pairs:
    """Lay each hypothesis beside each of its references."""
    if isinstance(sides, PaddedSides):
        ids, lengths = sides.references.tokens
        sentences, count, width = ids.shape
        # In numbers and not as -1, which a width of 0 leaves open.
        flat = PaddedTokens(ids.reshape(sentences * count, width), lengths.reshape(-1))  # (pairs, width), (pairs,)
        if sides.references.single:
            return Pairs(PaddedPairs(sides.hypotheses, flat), None, None, sentences)
        repeated = PaddedTokens(
            *(side.repeat_interleave(count, 0, output_size=sentences * count) for side in sides.hypotheses)
        )
        sentence = torch.arange(sentences * count, device=ids.device).div(count, rounding_mode="floor")
        return Pairs(PaddedPairs(repeated, flat), sentence, sides.references.present.reshape(-1), sentences)
    if sides.references.single:
        return Pairs(RaggedPairs(sides.hypotheses, sides.references.tokens), None, None, sides.hypotheses.documents)
    owner = owners(sides.references.counts)
    documents = RaggedPairs(sides.hypotheses.take(owner), sides.references.tokens)
    sentence = owner.to(sides.hypotheses.ids.device)
    return Pairs(documents, sentence, None, sides.hypotheses.documents, sides.references.counts)


def count_pairs(pairs: Pairs, max_order: int) -> PairCounts:
    """Count the n-grams of the orders up to ``max_order``, which may be 0, that the sides of each pair share."""
    device = pairs.documents.hypotheses.ids.device
    lengths = [side.lengths.to(device) for side in pairs.documents]
    if max_order == 0:
        return PairCounts(lengths[0].new_zeros(len(lengths[0]), 0), *lengths)
    return PairCounts(pair_matches(pairs.documents, max_order), *lengths)


def best_pair(score: Tensor, pairs: Pairs) -> Tensor:
    """Return the pair of the highest score of each sentence, the first of equally high ones.

    Args:
        score: ``(pairs, ...)``, above -1.
        pairs: what was scored.

    Returns:
        ``(sentences, ...)`` int64, indices of pairs.
    """
    number = torch.arange(len(score), device=score.device).reshape(-1, *[1] * (score.dim() - 1)).expand_as(score)
    if pairs.sentence is None:
        return number
    if pairs.present is not None:
        # A reference that is missing never wins: each sentence has one that is not.
        score = torch.where(pairs.present.reshape(-1, *[1] * (score.dim() - 1)), score, -1)
    sentence = pairs.sentence.reshape(-1, *[1] * (score.dim() - 1)).expand_as(score)
    shape = (pairs.sentences, *score.shape[1:])
    highest = score.new_full(shape, -1).scatter_reduce(0, sentence, score, "amax")
    candidate = torch.where(score == highest.gather(0, sentence), number, len(score))
    return number.new_full(shape, len(score)).scatter_reduce(0, sentence, candidate, "amin")


def best_statistics(statistics: Statistics, score: Tensor, pairs: Pairs) -> Statistics:
    """Keep of each sentence the statistics of its reference of the highest score, the first of equally high ones.

    Args:
        statistics: one row a pair.
        score: ``(pairs,)``, or ``(pairs, keys)`` where each key has a best reference of its own.
        pairs: what was counted.
    """
    if pairs.sentence is None:
        return statistics
    best = best_pair(score, pairs)
    take = (lambda field: field.gather(0, best)) if best.dim() > 1 else (lambda field: field[best])
    return type(statistics)(*map(take, statistics))


def joined_range(known: Tensor, references: DocumentGroups | PaddedReferences) -> Tensor:
    """Join how many references sentences have, ``known``, with those of a batch, which may be of no sentence.

    A range is ``[-fewest, most]`` int64, so that ranges join by the maximum.
    """
    counts = references.present.sum(1) if isinstance(references, PaddedReferences) else references.counts
    if len(counts) == 0:
        return known
    return torch.maximum(known, torch.stack((-counts.amin(), counts.amax())).to(known.device))


def sum_over_references(values: Tensor, pairs: Pairs) -> Tensor:
    """Sum ``(pairs, ...)`` over the references that are there, one after another: ``(sentences, ...)``.

    Floating-point sums depend on the order of additions, which one ``index_add`` of all pairs leaves open on a GPU.
    Here each step adds at most one reference to a sentence.
    """
    if pairs.sentence is None:
        return values
    sums = values.new_zeros((pairs.sentences, *values.shape[1:]))
    if pairs.counts is None:
        assert pairs.present is not None
        values = values * pairs.present.reshape(-1, *[1] * (values.dim() - 1))
        by_sentence = values.unflatten(0, (pairs.sentences, len(values) // max(1, pairs.sentences)))
        for reference in by_sentence.unbind(1):
            sums = sums + reference
        return sums
    counts, number = pairs.counts, 0
    sentence, first = torch.arange(len(counts), device="cpu"), counts.cumsum(0) - counts
    while len(sentence):
        # The sentences that have a reference of this number. Each stands here once: nothing is added to it twice.
        there = counts.index_select(0, sentence) > number
        sentence = sentence.masked_select(there)
        pair = first.index_select(0, sentence) + number
        sums.index_add_(0, sentence.to(sums.device), values.index_select(0, pair.to(values.device)))
        number += 1
    return sums


def references_of_sentences(pairs: Pairs) -> Tensor:
    """Return how many references each sentence has, ``(sentences,)`` int64."""
    return sum_over_references(
        torch.ones_like(pairs.documents.references.lengths.to(pairs.documents.references.ids.device)), pairs
    )
