"""Several references a sentence, for metrics that score each pair and then choose or combine.

Every hypothesis is laid beside each of its own references, which makes a list of pairs; what is computed of a pair is
then reduced to the sentence. Nothing here depends on the data of padded batches, only on their shapes.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from ngram_metrics.counting.matches import pair_matches
from ngram_metrics.counting.token_batch import DocumentGroups, PaddedReferences, PaddedTokens, RaggedTokens, owners
from ngram_metrics.scores.measure import PairCounts

#: The reference range of no sentence, see :func:`joined_range`.
NO_REFERENCES = (-(1 << 62), 0)


class Pairs(NamedTuple):
    """Hypotheses beside references, one pair after another, those of the first sentence first.

    Attributes:
        hypotheses: ``pairs`` documents; a hypothesis stands as often as it has references.
        references: ``pairs`` documents.
        sentence: ``(pairs,)`` int64, the sentence of each pair; None where each sentence has one pair.
        present: ``(pairs,)`` bool, whether the reference is not missing; None where all are there.
        sentences: how many sentences there are.
        counts: ``(sentences,)`` int64 on the CPU, the pairs of each sentence; None where all have as many.
    """

    hypotheses: RaggedTokens | PaddedTokens
    references: RaggedTokens | PaddedTokens
    sentence: Tensor | None
    present: Tensor | None
    sentences: int
    counts: Tensor | None = None


def pair_up(hypotheses: RaggedTokens | PaddedTokens, references: DocumentGroups | PaddedReferences) -> Pairs:
    """Lay each hypothesis beside each of its references."""
    if isinstance(hypotheses, PaddedTokens):
        assert isinstance(references, PaddedReferences)
        sentences, count, width = references.tokens.ids.shape
        # In numbers and not as -1, which a width of 0 leaves open.
        flat = PaddedTokens(
            references.tokens.ids.reshape(sentences * count, width), references.tokens.lengths.reshape(-1)
        )
        if references.single:
            return Pairs(hypotheses, flat, None, None, sentences)
        repeated = PaddedTokens(
            hypotheses.ids.repeat_interleave(count, 0, output_size=sentences * count),
            hypotheses.lengths.repeat_interleave(count, 0, output_size=sentences * count),
        )
        sentence = torch.arange(sentences * count, device=flat.ids.device).div(count, rounding_mode="floor")
        return Pairs(repeated, flat, sentence, references.present.reshape(-1), sentences)
    assert isinstance(references, DocumentGroups)
    if references.single:
        return Pairs(hypotheses, references.tokens, None, None, hypotheses.documents)
    sentence = owners(references.counts)
    return Pairs(
        hypotheses.take(sentence),
        references.tokens,
        sentence.to(hypotheses.ids.device),
        None,
        hypotheses.documents,
        references.counts,
    )


def count_pairs(pairs: Pairs, max_order: int) -> PairCounts:
    """Count the n-grams of the orders up to ``max_order``, which may be 0, that the sides of each pair share."""
    device = pairs.hypotheses.ids.device
    lengths = [side.lengths.to(device) for side in (pairs.hypotheses, pairs.references)]
    if max_order == 0:
        return PairCounts(lengths[0].new_zeros(len(lengths[0]), 0), *lengths)
    return PairCounts(pair_matches(pairs.hypotheses, pairs.references, max_order), *lengths)


def best_pair(score: Tensor, pairs: Pairs) -> Tensor:
    """Return the pair of the highest score of each sentence, the first of equally high ones.

    Args:
        score: ``(pairs, ...)``, at least 0.
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


def joined_range(known: Tensor, references: DocumentGroups | PaddedReferences) -> Tensor:
    """Join how many references sentences have, ``known``, with those of a batch, which may be of no sentence.

    A range is ``[-fewest, most]`` int64, so that ranges join by the maximum.
    """
    if isinstance(references, PaddedReferences):
        counts = references.present.sum(1)
    else:
        counts = references.counts
    if len(counts) == 0:
        return known
    return torch.maximum(known, torch.stack((-counts.amin(), counts.amax())).to(known.device))


def sum_over_references(values: Tensor, pairs: Pairs) -> Tensor:
    """Sum ``(pairs, ...)`` over the references that are there, one after another: ``(sentences, ...)``.

    Floating-point sums hang on the order of additions, which one ``index_add`` of all pairs leaves open on a GPU. Here
    each step adds at most one reference to a sentence.
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
    return sum_over_references(torch.ones_like(pairs.references.lengths.to(pairs.references.ids.device)), pairs)
