"""Longest common subsequences among many documents: of all pairs, or of those that have a long one.

``all_pairs_subsequences`` compares every hypothesis with every reference of its group, for minimum Bayes risk decoding.
RapidFuzz compares a row of documents with all others in one call, in a fifth of the time of as many pairs.

``near_pairs`` compares many documents with each other, without a matrix of all pairs. A common subsequence is no longer
than the shorter document, and no longer than what both documents share as bags of tokens. Most pairs are ruled out by
these two bounds:

* The documents are sorted by length, and a document is compared with those that are long enough.
* Tokens fall into buckets, the second occurrence of a token in a document into another one than the first, and the most
  frequent into buckets of their own. If a document has h tokens in b buckets, and the other document has g of these
  buckets too, at least b - g tokens are not shared, and at most h - b + g are. A matrix product gives g for a tile of
  pairs.

RapidFuzz counts the remaining pairs. No pair is lost, and memory does not depend on the number of pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from ngram_metrics._core.basics.lazy import np, rapidfuzz, torch
from ngram_metrics._core.counting.all_pairs import MatchBlock
from ngram_metrics._core.counting.documents import DocumentGroups, RaggedTokens
from ngram_metrics._core.counting.pools import even_runs
from ngram_metrics._core.counting.subsequence.lengths import as_texts, group_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

Integers: TypeAlias = "NDArray[np.int64]"
#: Pairs in a block, 4 bytes each.
BLOCK_PAIRS = 1 << 22
#: Documents on each side of a tile.
TILE = 1 << 11
#: Buckets for each token of a document of average length, and the least and the most buckets.
BUCKETS_PER_TOKEN, LEAST_BUCKETS, MOST_BUCKETS = 8, 128, 4096
#: A pair among all pairs of a tile takes a tenth of the time of a pair by itself.
_ALONE = 10
#: Bounds are rounded up to whole multiples of 1 / 64. Sums of them are exact in float32, in any order, for documents
#: below this number of tokens; longer ones take float64.
_PARTS, _LONG = 64, 1 << 17
#: The share is lowered by more than the rounding of a score.
_ROUNDING = 1e-12


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


def near_pairs(documents: RaggedTokens, share: float) -> Iterator[tuple[Integers, Integers, Integers]]:
    """Yield the pairs whose longest common subsequence may be at least a share of their lengths: 2 c >= share (h + r).

    Each such pair is yielded once, and so are some others, but no pair with an empty document. ``share`` is in [0, 1].
    Some pairs at a time are the indices of their documents and the lengths c, each ``(pairs,)`` int64.
    """
    order = np.argsort(-documents.lengths.numpy(), kind="stable")
    order = order[documents.lengths.numpy()[order] > 0]
    if not len(order):
        return
    indices = torch.from_numpy(order)
    tokens = documents.take(indices)
    ids = tokens.ids.numpy()
    lengths = tokens.lengths.numpy()
    texts = as_texts(ids, lengths, documents.id_bound)
    starts = lengths.cumsum() - lengths
    bucket, buckets = _buckets(ids, lengths)
    dtype = np.float32 if lengths[0] < _LONG else np.float64
    least = share * (1 - _ROUNDING)
    for rows in _tiles(0, len(lengths)):
        # If r <= h, then 2 r >= share (h + r). The last row has the smallest h.
        fewest = least / (2 - least) * lengths[rows.stop - 1]
        last = int(np.searchsorted(-lengths, -fewest, side="right"))
        row_marks = _mark_buckets(bucket, starts, lengths, rows, buckets).astype(dtype)
        # One product is the bound less what is needed, h - b + g - share (h + r) / 2.
        fixed = _round_up((1 - least / 2) * lengths[rows], dtype) - row_marks.sum(1, keepdims=True)
        left = np.concatenate((row_marks, fixed, np.ones_like(fixed)), 1)  # (rows, buckets + 2)
        for columns in _tiles(rows.start, last):
            column_marks = _mark_buckets(bucket, starts, lengths, columns, buckets).astype(dtype)
            needed = _round_up(-least / 2 * lengths[columns], dtype)
            right = np.concatenate((column_marks, np.ones_like(needed), needed), 1)
            near = np.flatnonzero(left @ right.T >= 0)
            first, second = np.divmod(near, len(right))
            later = first + rows.start < second + columns.start
            yield _count_near(texts, order, rows, columns, first[later], second[later])


def _count_near(
    texts: list[str] | list[list[int]], order: Integers, rows: slice, columns: slice, first: Integers, second: Integers
) -> tuple[Integers, Integers, Integers]:
    row_texts, column_texts = texts[rows], texts[columns]
    if _ALONE * len(first) > len(row_texts) * len(column_texts):
        matrix = rapidfuzz.process.cdist(
            row_texts, column_texts, scorer=rapidfuzz.distance.LCSseq.similarity, dtype=np.int32
        )
        lengths = matrix[first, second].astype(np.int64)
    else:
        pairs = [row_texts[index] for index in first.tolist()], [column_texts[index] for index in second.tolist()]
        lengths = rapidfuzz.process.cpdist(*pairs, scorer=rapidfuzz.distance.LCSseq.similarity, dtype=np.int64)
    return order[rows][first], order[columns][second], lengths


def _round_up(bounds: NDArray[np.float64], dtype: type[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """Return bounds ``(documents, 1)`` as multiples of 1 / 64."""
    return (np.ceil(bounds[:, None] * _PARTS) / _PARTS).astype(dtype)


def _buckets(ids: Integers, lengths: Integers) -> tuple[Integers, int]:
    """Return the bucket of each token, and the number of buckets: about eight times as many as a document fills."""
    buckets = int(np.clip(BUCKETS_PER_TOKEN * len(ids) // len(lengths), LEAST_BUCKETS, MOST_BUCKETS))
    distinct, token_number = np.unique(ids, return_inverse=True)
    # How often the document has had the token before.
    keys = np.arange(len(lengths)).repeat(lengths) * len(distinct) + token_number
    order = np.argsort(keys, kind="stable")
    index = np.arange(len(keys))
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    before = np.empty_like(token_number)
    before[order] = index - starts.repeat(np.diff(starts, append=len(keys)))
    _, token_number, counts = np.unique(before * len(distinct) + token_number, return_inverse=True, return_counts=True)
    rank = np.empty_like(counts)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return rank[token_number] % buckets, buckets


def _tiles(first: int, last: int) -> Iterator[slice]:
    for start in range(first, last, TILE):
        yield slice(start, min(start + TILE, last))


def _mark_buckets(
    bucket: Integers, starts: Integers, lengths: Integers, documents: slice, buckets: int
) -> NDArray[np.bool_]:
    """Return which buckets some documents have, ``(documents, buckets)``."""
    sizes = lengths[documents]
    marked = np.zeros((len(sizes), buckets), np.bool_)
    first = starts[documents.start]
    owner = np.arange(len(sizes)).repeat(sizes)
    marked[owner, bucket[first : first + len(owner)]] = True
    return marked
