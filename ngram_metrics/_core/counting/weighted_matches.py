"""Weighted n-gram matches of hypotheses with their references: a corpus gives each n-gram a weight.

The n-grams of a corpus are a trie. An n-gram is looked up by the number of the n-gram without its last token, and by
this token; both make a key, which is found among the sorted keys of its order. Ragged documents are counted as a corpus
is, so that each distinct n-gram is looked up once. Padded rows are counted pair by pair, and no step depends on data:
they run on the ``meta`` device, compile in one graph and never wait for a GPU.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from ngram_metrics._core.counting.corpus import corpus_ngrams
from ngram_metrics._core.counting.documents import (
    PaddedPairs,
    RaggedSides,
    RaggedTokens,
    concatenate,
    owners,
    row_chunks,
)
from ngram_metrics._core.counting.keys import Digits, bit_length, rank_in_rows, run_ends, run_starts, sorted_keys

#: Bits of a count where a sum holds the counts of both sides, as in ``_core.counting.matches``.
_BITS = 31
_LOW = (1 << _BITS) - 1


class NgramWeights(NamedTuple):
    """The weights of the n-grams of a corpus.

    Attributes:
        keys: for each order above 1 the sorted keys of its n-grams, ``(ngrams,)`` int64: the number of the n-gram
            without its last token, times the number of tokens, plus the number of this token.
        weights: for each order ``(ngrams + 1,)`` floating point, the weight of each n-gram, and of one that is not in
            the corpus. A token below the number of tokens is a token of the corpus, any other is not.
    """

    keys: Sequence[Tensor]
    weights: Sequence[Tensor]

    def tokens(self, ids: Tensor) -> Tensor:
        """Return the number of each token in the corpus, and the number of tokens for an unknown one."""
        tokens = len(self.weights[0]) - 1
        return torch.where((ids >= 0) & (ids < tokens), ids, tokens)

    def longer(self, order: int, prefix: Tensor, last: Tensor) -> Tensor:
        """Return the numbers of n-grams of an order above 1, and for an unknown one how many n-grams the order has.

        ``prefix`` is the number of each n-gram without its last token, and ``last`` the number of this token.
        """
        keys, tokens = self.keys[order - 2], len(self.weights[0]) - 1
        if not len(keys):
            return torch.zeros_like(prefix)
        key = prefix * tokens + last
        index = torch.searchsorted(keys, key).clamp(max=len(keys) - 1)
        # An unknown prefix makes a key above all keys, and an unknown token the key of another n-gram.
        is_known = (last < tokens) & (keys.take(index) == key)
        return torch.where(is_known, index, len(keys))


class WeightedMatches(NamedTuple):
    """Sums over the n-grams of pairs, for each order ``(pairs, orders)`` floating point.

    With the weight w of an n-gram, and its counts h in the hypothesis and r in the reference:

    Attributes:
        products: the sum of ``w² r min(h, r)``.
        hypothesis_squares: the sum of ``w² h²``.
        reference_squares: the sum of ``w² r²``.
    """

    products: Tensor
    hypothesis_squares: Tensor
    reference_squares: Tensor


def ragged_weighted_matches(sides: RaggedSides, max_order: int, weights: NgramWeights | None) -> WeightedMatches:
    """Sum the weighted n-grams of each hypothesis and each of its references.

    Without ``weights``, an n-gram weighs ln(segments / segments in which a reference has it, at least 1).
    """
    segments = sides.hypotheses.documents
    documents, hypothesis, reference = _hypotheses_first(sides)
    segment = owners(sides.references.counts + 1)
    is_reference = torch.zeros_like(segment, dtype=torch.bool).index_fill_(0, reference, True)
    dtype = torch.float64
    # The numbers of n-grams, and of tokens, in the table of weights.
    ngram_number = tokens = documents.ids[:0]
    sums = []
    for order, ngrams in enumerate(corpus_ngrams(documents, max_order), 1):
        in_reference = is_reference.index_select(0, ngrams.document)
        starts = run_starts(ngrams.ngram) | run_starts(segment.index_select(0, ngrams.document))
        if weights is None:
            # If a reference of a segment has this n-gram, the last document of the segment with it is a reference.
            has_reference = torch.cat((starts[1:], starts.new_ones(min(1, len(starts))))) & in_reference
            frequency = torch.zeros_like(ngrams.last).index_add_(0, ngrams.ngram, has_reference.long())
            weight = math.log(max(1, segments)) - frequency.clamp(min=1).to(dtype).log()
        else:
            if order == 1:
                ngram_number = tokens = weights.tokens(ngrams.last)
            else:
                prefix = ngram_number.index_select(0, ngrams.prefix)
                last = tokens.index_select(0, ngrams.last)
                ngram_number = weights.longer(order, prefix, last)
            weight = weights.weights[order - 1].take(ngram_number)
        weight = weight.index_select(0, ngrams.ngram)  # (entries,)
        # If the hypothesis of a segment has the n-gram, the first entry of the segment is its own.
        first = (torch.arange(len(starts), device="cpu") * starts).cummax(0).values
        hypothesis_weights = (ngrams.times * ~in_reference).index_select(0, first) * weight
        own_weights = ngrams.times * weight
        products = torch.minimum(hypothesis_weights, own_weights) * own_weights * in_reference
        terms = products, own_weights.square()
        sums.append(torch.stack([ngrams.sum_by_document(values, documents.documents) for values in terms]))
    products, squares = torch.stack(sums, -1).unbind(0)  # (documents, orders)
    own_squares = squares.index_select(0, hypothesis)
    return WeightedMatches(products.index_select(0, reference), own_squares, squares.index_select(0, reference))


def _hypotheses_first(sides: RaggedSides) -> tuple[RaggedTokens, Tensor, Tensor]:
    """Return all documents, each hypothesis before its references.

    Also returns the index of each reference's hypothesis and of the reference itself, ``(references,)`` int64.
    """
    counts = sides.references.counts
    owner = owners(counts)
    hypothesis = torch.arange(len(counts), device="cpu") + counts.cumsum(0) - counts
    reference = owner + torch.arange(1, len(owner) + 1, device="cpu")
    documents = concatenate((sides.hypotheses, sides.references.tokens))
    return documents.take(torch.cat((hypothesis, reference)).argsort()), hypothesis.index_select(0, owner), reference


def padded_weighted_matches(pairs: PaddedPairs, weights: NgramWeights) -> WeightedMatches:
    """Sum the weighted n-grams of pairs, whose tokens have the numbers of the corpus."""
    width, reference_width = (side.ids.shape[1] for side in pairs)
    sums = [weights.weights[0].new_zeros(0, 3, len(weights.weights))]
    for start, stop in row_chunks(len(pairs.hypotheses.ids), width + reference_width, pairs.hypotheses.ids.device):
        rows = [side.slice(start, stop) for side in pairs]
        ids = torch.cat([side.ids for side in rows], 1)
        remaining = torch.cat([side.remaining() for side in rows], 1)
        digits = Digits(rank_in_rows(ids), remaining, bit_length(ids.shape[1]), None, 0)
        sums.append(_sum_rows(digits, ids, width, weights))
    return WeightedMatches(*torch.cat(sums).unbind(1))


def _sum_rows(digits: Digits, ids: Tensor, width: int, weights: NgramWeights) -> Tensor:
    """Return the three sums of each row, ``(rows, 3, orders)``, whose first ``width`` slots are the hypothesis."""
    tokens = weights.tokens(ids)
    ngram_number, sums = tokens, []
    for keys in sorted_keys(digits, len(weights.weights)):
        step = 1 + _LOW * (keys.slot >= width)
        upto = step.cumsum(-1)
        before = upto - step
        for order in range(keys.first, keys.last + 1):
            if order > 1:
                # Near the end of a row there is no n-gram; what is looked up there does not count.
                ngram_number = weights.longer(order, ngram_number, tokens.roll(1 - order, -1))
            (prefix,) = keys.prefixes(order, order)
            packed = upto - (before * run_starts(prefix)).cummax(-1).values
            is_last = run_ends(prefix) & keys.valid(prefix)
            weight = weights.weights[order - 1].take(ngram_number).gather(-1, keys.slot) * is_last
            hypothesis, reference = (packed & _LOW) * weight, (packed >> _BITS) * weight
            terms = torch.minimum(hypothesis, reference) * reference, hypothesis.square(), reference.square()
            sums.append(torch.stack(terms, 1).sum(-1))  # (rows, 3)
    return torch.stack(sums, -1)
