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
from typing import NamedTuple

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
#: Bounds are float32: they are lowered by more than their rounding.
_ROUNDING, _SLACK = 1e-5, 1e-3


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
        share: in 0..1.

    Yields:
        Each such pair once, and others; no pair of which one document is empty.
    """
    order = np.argsort(-documents.lengths.numpy(), kind="stable")
    order = order[documents.lengths.numpy()[order] > 0]
    if not len(order):
        return
    ids, lengths = _reordered(documents, order)
    texts = as_texts(ids, lengths, documents.id_bound)
    starts = lengths.cumsum() - lengths
    bucket, buckets = _buckets(ids, lengths)
    for rows in _tiles(0, len(lengths)):
        # Of h and r tokens, r being fewer, 2 r >= share (h + r). All rows have as many as the last one, or more.
        fewest = share / (2 - share) * lengths[rows.stop - 1] * (1 - _ROUNDING)
        last = int(np.searchsorted(-lengths, -fewest, side="right"))
        own = _marked(bucket, starts, lengths, rows, buckets)
        tokens = lengths[rows].astype(np.float32)[:, None]
        # (rows, buckets + 2): the bound h - b + g - share (h + r) / 2 is one product.
        fixed = tokens - own.sum(1, keepdims=True) - share / 2 * tokens * (1 - _ROUNDING) + _SLACK
        left = np.concatenate((own, fixed, np.ones_like(fixed)), 1)
        for columns in _tiles(rows.start, last):
            of_columns = lengths[columns].astype(np.float32)[:, None]
            needed = -share / 2 * of_columns * (1 - _ROUNDING)
            others = _marked(bucket, starts, lengths, columns, buckets)
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


def _reordered(documents: RaggedTokens, order: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ids and lengths of documents in another order."""
    tokens = documents.take(torch.from_numpy(order))
    return tokens.ids.numpy(), tokens.lengths.numpy()


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
) -> NDArray[np.float32]:
    """Return which buckets some documents have, ``(documents, buckets)``, 0 or 1."""
    of_documents = lengths[documents]
    marked = np.zeros((len(of_documents), buckets), np.float32)
    first = starts[documents.start]
    owner = np.arange(len(of_documents)).repeat(of_documents)
    marked[owner, bucket[first : first + len(owner)]] = 1
    return marked
