"""Pairs of documents with a long common subsequence, among all pairs of many documents, without a matrix of them.

A common subsequence is no longer than the shorter document, and no longer than what both documents share as bags of
tokens. Most pairs are ruled out by these two bounds:

* The documents are sorted by length, and a document is compared with those that are long enough.
* Tokens fall into buckets, the second occurrence of a token in a document into another one than the first, and the most
  frequent into buckets of their own. Of a document of h tokens in b buckets, of which the other document has g too, at
  least one token for each of the b - g buckets is not shared: at most h - b + g are. A matrix product gives g for a
  tile of pairs.

RapidFuzz counts the pairs that are left. No pair is lost, and memory does not depend on the number of pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cdist, cpdist

from ngram_metrics.counting.documents import RaggedTokens
from ngram_metrics.counting.subsequence.lengths import as_texts

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


class NearPairs(NamedTuple):
    """Some pairs of documents.

    Attributes:
        first: ``(pairs,)`` int64, the index of a document.
        second: ``(pairs,)`` int64, the index of another one.
        lengths: ``(pairs,)`` int64, the length of their longest common subsequence.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    lengths: NDArray[np.int64]


def near_pairs(documents: RaggedTokens, share: float) -> Iterator[NearPairs]:
    """Yield the pairs whose longest common subsequence may be at least a share of their lengths: 2 c >= share (h + r).

    Args:
        documents: documents on the CPU.
        share: from 0 to 1.

    Yields:
        Each such pair once, and others; no pair of which one document is empty.
    """
    order = np.argsort(-documents.lengths.numpy(), kind="stable")
    order = order[documents.lengths.numpy()[order] > 0]
    if not len(order):
        return
    tokens = documents.take(torch.from_numpy(order))
    ids, lengths = tokens.ids.numpy(), tokens.lengths.numpy()
    texts = as_texts(ids, lengths, documents.id_bound)
    starts = lengths.cumsum() - lengths
    bucket, buckets = _buckets(ids, lengths)
    dtype = np.float32 if lengths[0] < _LONG else np.float64
    least = share * (1 - _ROUNDING)
    for rows in _tiles(0, len(lengths)):
        # Of h and r tokens, r being fewer, 2 r >= share (h + r). All rows have as many as the last one, or more.
        fewest = least / (2 - least) * lengths[rows.stop - 1]
        last = int(np.searchsorted(-lengths, -fewest, side="right"))
        own = _marked(bucket, starts, lengths, rows, buckets).astype(dtype)
        # One product is the bound less what is needed, h - b + g - share (h + r) / 2.
        fixed = _rounded_up((1 - least / 2) * lengths[rows], dtype) - own.sum(1, keepdims=True)
        left = np.concatenate((own, fixed, np.ones_like(fixed)), 1)  # (rows, buckets + 2)
        for columns in _tiles(rows.start, last):
            others = _marked(bucket, starts, lengths, columns, buckets).astype(dtype)
            needed = _rounded_up(-least / 2 * lengths[columns], dtype)
            right = np.concatenate((others, np.ones_like(needed), needed), 1)
            found = np.flatnonzero(left @ right.T >= 0)
            first, second = np.divmod(found, len(right))
            later = first + rows.start < second + columns.start
            yield _counted(texts, order, rows, columns, first[later], second[later])


def _counted(
    texts: list[str] | list[list[int]],
    order: NDArray[np.int64],
    rows: slice,
    columns: slice,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
) -> NearPairs:
    own, others = texts[rows], texts[columns]
    if _ALONE * len(first) > len(own) * len(others):
        lengths = cdist(own, others, scorer=LCSseq.similarity, dtype=np.int32)[first, second].astype(np.int64)
    else:
        pairs = [own[place] for place in first.tolist()], [others[place] for place in second.tolist()]
        lengths = cpdist(*pairs, scorer=LCSseq.similarity, dtype=np.int64)
    return NearPairs(order[rows][first], order[columns][second], lengths)


def _rounded_up(bounds: NDArray[np.float64], dtype: type[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """Return bounds ``(documents, 1)`` as multiples of 1 / 64."""
    return (np.ceil(bounds[:, None] * _PARTS) / _PARTS).astype(dtype)


def _buckets(ids: NDArray[np.int64], lengths: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Return the bucket of each token, and the number of buckets: about eight times as many as a document fills."""
    buckets = int(np.clip(BUCKETS_PER_TOKEN * len(ids) // len(lengths), LEAST_BUCKETS, MOST_BUCKETS))
    distinct, number = np.unique(ids, return_inverse=True)
    # How often the document has had the token before: its place among the equal tokens of the document.
    keys = np.arange(len(lengths)).repeat(lengths) * len(distinct) + number
    order = np.argsort(keys, kind="stable")
    place = np.arange(len(keys))
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    before = np.empty_like(number)
    before[order] = place - starts.repeat(np.diff(starts, append=len(keys)))
    _, number, counts = np.unique(before * len(distinct) + number, return_inverse=True, return_counts=True)
    rank = np.empty_like(counts)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return rank[number] % buckets, buckets


def _tiles(first: int, last: int) -> Iterator[slice]:
    for start in range(first, last, TILE):
        yield slice(start, min(start + TILE, last))


def _marked(
    bucket: NDArray[np.int64],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    documents: slice,
    buckets: int,
) -> NDArray[np.bool_]:
    """Return which buckets some documents have, ``(documents, buckets)``."""
    of_documents = lengths[documents]
    marked = np.zeros((len(of_documents), buckets), np.bool_)
    first = starts[documents.start]
    owner = np.arange(len(of_documents)).repeat(of_documents)
    marked[owner, bucket[first : first + len(owner)]] = True
    return marked
