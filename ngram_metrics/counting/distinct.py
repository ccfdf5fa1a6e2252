"""How many distinct n-grams each document has.

No step depends on the ids of padded rows: they run on the ``meta`` device, compile in one graph and never wait for a
GPU.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ngram_metrics.counting.chunks import ragged_chunks, row_chunks
from ngram_metrics.counting.documents import PaddedTokens, RaggedTokens
from ngram_metrics.counting.keys import Digits, bit_length, ragged_digits, rank_in_rows, run_starts, sorted_keys


def distinct_ngrams(tokens: RaggedTokens | PaddedTokens, order: int) -> Tensor:
    """Count the distinct n-grams of one order in each document.

    Args:
        tokens: documents one after another, or in rows ``(documents, width)``.
        order: at least 1.

    Returns:
        ``(documents,)`` int64 on the device of the ids.
    """
    counts = [tokens.ids.new_zeros(0)]
    if isinstance(tokens, PaddedTokens):
        rows, width = tokens.ids.shape
        for start, stop in row_chunks(rows, width, tokens.ids.device):
            counts.append(_in_rows(PaddedTokens(*(field[start:stop] for field in tokens)), order))
    else:
        for start, stop in ragged_chunks(tokens.lengths, tokens.ids.device, update=True):
            counts.append(_in_documents(tokens.slice(start, stop), order))
    return torch.cat(counts)


def _in_rows(tokens: PaddedTokens, order: int) -> Tensor:
    ids, lengths = tokens
    width = ids.shape[1]
    if width < order:
        return lengths.new_zeros(len(lengths))
    remaining = lengths.unsqueeze(1) - torch.arange(width, device=ids.device)
    return _first_of_their_kind(Digits(rank_in_rows(ids), remaining, bit_length(width), None, 0), order).sum(1)


def _in_documents(tokens: RaggedTokens, order: int) -> Tensor:
    documents = tokens.documents
    digits = ragged_digits((tokens,), torch.arange(documents, device="cpu"), documents)
    assert digits.group is not None
    # Sorting leaves each document its range of slots.
    return tokens.ids.new_zeros(documents).index_add_(0, digits.group, _first_of_their_kind(digits, order).long())


def _first_of_their_kind(digits: Digits, order: int) -> Tensor:
    """Mark one slot of each distinct n-gram, ``(..., slots)`` bool; the slots are sorted by n-gram."""
    *_, keys = sorted_keys(digits, order)
    (prefix,) = keys.prefixes(order, order)
    return run_starts(prefix) & keys.valid(prefix)
