"""Longest common subsequences of every hypothesis with every reference of its group, for minimum Bayes risk decoding.

On a CPU RapidFuzz compares a row of documents with all others in one call, in a fifth of the time of as many pairs. On
other devices the pairs are laid out and counted by ``ngram_metrics.counting.subsequence.lengths``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cdist
from torch import Tensor

from ngram_metrics.counting.all_pairs import MatchBlock
from ngram_metrics.counting.chunks import ragged_chunks
from ngram_metrics.counting.documents import DocumentGroups, RaggedPairs
from ngram_metrics.counting.pools import even_runs
from ngram_metrics.counting.subsequence.lengths import as_texts, subsequence_lengths

#: Pairs in a block, 4 bytes each.
BLOCK_PAIRS = 1 << 22


def all_pairs_subsequences(hypotheses: DocumentGroups, references: DocumentGroups) -> Iterator[MatchBlock]:
    """Count the longest common subsequence of each hypothesis with each reference of its group, block by block.

    Args:
        hypotheses: any number of documents per group, even 0.
        references: any number of documents for each of the same groups, with the same vocabulary.

    Yields:
        Blocks that cover all groups, in order; ``matches`` has the lengths as its one order.
    """
    device = hypotheses.tokens.ids.device
    measures = torch.stack((hypotheses.counts, references.counts, torch.zeros_like(references.counts)), 1).tolist()
    for groups in even_runs(measures, BLOCK_PAIRS):
        own, others = hypotheses.slice(*groups), references.slice(*groups)
        lengths = own.padded_lengths().to(device), others.padded_lengths().to(device)
        height, width = lengths[0].shape[1], lengths[1].shape[1]
        at_once = max(1, height if len(own.counts) > 1 else BLOCK_PAIRS // max(1, width))
        for first in range(0, max(1, height), at_once):
            rows = first, min(height, first + at_once)
            of_rows = own
            if rows != (0, height):
                tokens = own.tokens.slice(*rows)
                of_rows = DocumentGroups(tokens, torch.full_like(own.counts, tokens.documents))
            matches = _block(of_rows, others, (len(own.counts), rows[1] - rows[0], width))
            yield MatchBlock(groups, rows, matches.unsqueeze(-1), lengths[0][:, slice(*rows)], lengths[1])


def _block(hypotheses: DocumentGroups, references: DocumentGroups, shape: tuple[int, int, int]) -> Tensor:
    """Return the lengths ``(groups, hypotheses, references)`` of some groups; 0 for missing documents."""
    by_text = hypotheses.tokens.ids.device.type == "cpu"
    return _by_text(hypotheses, references, shape) if by_text else _by_pairs(hypotheses, references, shape)


def _by_text(hypotheses: DocumentGroups, references: DocumentGroups, shape: tuple[int, int, int]) -> Tensor:
    sides = hypotheses.tokens, references.tokens
    ids, sizes = (np.concatenate([getattr(side, name).numpy() for side in sides]) for name in ("ids", "lengths"))
    texts = as_texts(ids, sizes, max(side.id_bound for side in sides))
    lengths = np.zeros(shape, np.int32)
    first, second = 0, hypotheses.tokens.documents
    for of_group, height, width in zip(lengths, hypotheses.counts.tolist(), references.counts.tolist(), strict=True):
        if height and width:
            # Two lists, also of equal documents: of one list with itself RapidFuzz counts half of the pairs, one by
            # one, which takes longer than all pairs several at a time.
            own, others = texts[first : first + height], texts[second : second + width]
            of_group[:height, :width] = cdist(own, others, scorer=LCSseq.similarity, dtype=np.int32)
        first, second = first + height, second + width
    return torch.from_numpy(lengths)


def _by_pairs(hypotheses: DocumentGroups, references: DocumentGroups, shape: tuple[int, int, int]) -> Tensor:
    device = hypotheses.tokens.ids.device
    inside = [
        torch.arange(size, device="cpu") < side.counts.unsqueeze(1)
        for side, size in zip((hypotheses, references), shape[1:], strict=True)
    ]
    place = (inside[0].unsqueeze(2) & inside[1].unsqueeze(1)).nonzero()  # (pairs, 3)
    group, own, other = place.unbind(1)
    numbers = [
        index + (side.counts.cumsum(0) - side.counts).index_select(0, group)
        for side, index in ((hypotheses, own), (references, other))
    ]
    sides = hypotheses.tokens, references.tokens
    sizes = sides[0].lengths.index_select(0, numbers[0]) + sides[1].lengths.index_select(0, numbers[1])
    lengths = torch.zeros(shape, dtype=torch.int64, device=device).flatten()
    flat = ((group * shape[1] + own) * shape[2] + other).to(device)
    for start, stop in ragged_chunks(sizes, device):
        pairs = RaggedPairs(*(side.take(index[start:stop]) for side, index in zip(sides, numbers, strict=True)))
        lengths.index_copy_(0, flat[start:stop], subsequence_lengths(pairs))
    return lengths.view(shape)
