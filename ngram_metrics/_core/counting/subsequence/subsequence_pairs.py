"""Longest common subsequences of every hypothesis with every reference of its group, for minimum Bayes risk decoding.

RapidFuzz compares a row of documents with all others in one call, in a fifth of the time of as many pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ngram_metrics._core.basics.lazy import np, rapidfuzz, torch
from ngram_metrics._core.counting.all_pairs import MatchBlock
from ngram_metrics._core.counting.documents import DocumentGroups
from ngram_metrics._core.counting.pools import even_runs
from ngram_metrics._core.counting.subsequence.lengths import group_texts

if TYPE_CHECKING:
    from torch import Tensor

#: Pairs in a block, 4 bytes each.
BLOCK_PAIRS = 1 << 22


def all_pairs_subsequences(
    hypotheses: DocumentGroups, references: DocumentGroups, device: torch.device
) -> Iterator[MatchBlock]:
    """Count the longest common subsequence of each hypothesis with each reference of its group, block by block.

    It takes the arguments of ``all_pairs_matches`` and yields such blocks, in which the lengths are the one order. They
    are counted on the CPU.
    """
    measures = torch.stack((hypotheses.counts, references.counts, torch.zeros_like(references.counts)), 1).tolist()
    for groups in even_runs(measures, BLOCK_PAIRS):
        group_hypotheses = hypotheses.slice(*groups)
        group_references = references.slice(*groups)
        lengths = group_hypotheses.padded_lengths().to(device), group_references.padded_lengths().to(device)
        height, width = lengths[0].shape[1], lengths[1].shape[1]
        at_once = max(1, height if len(group_hypotheses.counts) > 1 else BLOCK_PAIRS // max(1, width))
        for first in range(0, max(1, height), at_once):
            rows = first, min(height, first + at_once)
            row_hypotheses = group_hypotheses
            if rows != (0, height):
                tokens = group_hypotheses.tokens.slice(*rows)
                row_hypotheses = DocumentGroups(tokens, torch.full_like(group_hypotheses.counts, tokens.documents))
            shape = len(group_hypotheses.counts), rows[1] - rows[0], width
            matches = _count_texts(row_hypotheses, group_references, shape).to(device)
            yield MatchBlock(groups, rows, matches.unsqueeze(-1), lengths[0][:, slice(*rows)], lengths[1])


def _count_texts(hypotheses: DocumentGroups, references: DocumentGroups, shape: tuple[int, int, int]) -> Tensor:
    lengths = np.zeros(shape, np.int32)
    for group_lengths, texts, others in zip(lengths, *group_texts((hypotheses, references)), strict=True):
        if texts and others:
            # Two lists even if they are equal: RapidFuzz takes longer to compare a list with itself, pair by pair.
            group_lengths[: len(texts), : len(others)] = rapidfuzz.process.cdist(
                texts, others, scorer=rapidfuzz.distance.LCSseq.similarity, dtype=np.int32
            )
    return torch.from_numpy(lengths)
