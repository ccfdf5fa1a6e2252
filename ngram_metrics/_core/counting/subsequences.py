"""Longest common subsequences on a CPU: their lengths, and the hits of their union, which ROUGE-Lsum counts.

A document is a ``str`` here whose characters are its ids, because RapidFuzz compares such texts.

The hits of a summary (Lin 2004, section 3.2). A reference sentence has a longest common subsequence with every sentence
of the hypothesis. The hits are the reference tokens in any of these, each token counted at most as often as it occurs
in the hypothesis. Among equally long subsequences the choice is rouge_score's, token for token. rouge_score walks the
table of lengths back from the last cell (reference position p, hypothesis token s). It takes a pair of equal tokens;
else it moves to p - 1 unless the length is larger at (p, s - 1) than at (p - 1, s). So for token s the walk moves down
from its position to the first one that either equals the token or where the table's row grows. It takes the position in
the first case, and stays there for s - 1 in the second.

Example: the reference ``a b`` and the hypothesis ``b a``. Both subsequences have one token. At the last token, ``a``,
the walk is at ``b``; the highest candidate at or below it is ``a``, which is a hit. So the hits are 1 0, and ``b`` is
not a hit.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from rapidfuzz.distance.LCSseq import similarity
from rapidfuzz.process import cdist

from ngram_metrics._core.counting.batch import Batch, Integers
from ngram_metrics._core.counting.pools import Pools

#: The number of slots that become texts at a time, which limits memory.
SLOTS = 1 << 16
#: The character that ends a sentence, whose code point is the id ``END_OF_SENTENCE`` of a batch.
_END_OF_SENTENCE = "\x02"


def find_common_lengths(pairs: Batch) -> Integers:
    """Return the length of a longest common subsequence of each segment, ``(segments,)``; each has one reference."""
    texts = list(_read_texts(pairs))
    lengths = list(map(similarity, texts[::2], texts[1::2]))
    return np.array(lengths, np.int64)


def match_subsequences(pools: Pools) -> Any:
    """Return the lengths of all pairs, ``(groups, hypotheses, references, 1)`` float32, 0 for missing documents."""
    texts = list(_decode(pools.documents))
    lengths = np.zeros(pools.shape, np.float32)
    for group, (start, stop) in enumerate(pairwise(pools.document_starts)):
        height = pools.hypotheses[group]
        width = pools.references[group]
        hypotheses = texts[start : start + height]
        references = texts[stop - width : stop]
        lengths[group, :height, :width] = cdist(hypotheses, references, scorer=similarity, dtype=np.int64)
    return lengths[..., None]


def count_union_hits(pairs: Batch) -> Integers:
    """Return the ROUGE-Lsum hits of each segment, ``(segments,)``; each has one reference."""
    summaries = [list(filter(None, text.split(_END_OF_SENTENCE))) for text in _read_texts(pairs)]
    hits = list(map(_hit_union, summaries[::2], summaries[1::2]))
    return np.array(hits, np.int64)


def _read_texts(batch: Batch) -> Iterator[str]:
    """Yield each document as a text. Only texts of one segment are comparable."""
    for chunk in batch.chunks(SLOTS):
        yield from _decode(chunk)


def _decode(documents: Batch) -> Iterator[str]:
    """Yield documents as texts whose code points are the ids, renumbered if they are too large for that."""
    if documents.bound > sys.maxunicode:
        documents = documents.narrow()
    text = documents.ids.astype("<i4").tobytes().decode("utf-32-le", "surrogatepass")
    for start, stop in pairwise((0, *(documents.lengths + 1).cumsum().tolist())):
        yield text[start : stop - 1]


def _hit_union(hypothesis: Sequence[str], reference: Sequence[str]) -> int:
    """Return the hits of a hypothesis in a reference, both as sentences.

    A row of the table is an integer with one bit for each reference token that the hypothesis has, of all sentences at
    once. The bit is 0 where the length grows (Hyyrö 2004). The gap before each sentence stays 0 and absorbs the carry.
    The walk back reads the bits mirrored, so that one subtraction finds its next position in every sentence.
    """
    if len(hypothesis) <= 1 and len(reference) <= 1:
        return similarity("".join(hypothesis), "".join(reference))
    had = _count_tokens("".join(hypothesis))
    tokens = _END_OF_SENTENCE
    for sentence in reference:
        tokens += "".join(filter(had.__contains__, sentence)) + _END_OF_SENTENCE
    tokens += _END_OF_SENTENCE * (-len(tokens) % 8)  # up to a whole byte
    positions = _find_tokens(tokens)
    mirrored = _find_tokens(tokens[::-1])
    gaps = mirrored[_END_OF_SENTENCE]
    all_bits = (1 << len(tokens)) - 1
    inside = all_bits ^ positions[_END_OF_SENTENCE]
    union = 0
    for sentence in set(hypothesis):
        row = inside
        steps = []
        mask = 0
        for token in sentence:
            mask_before = mask
            mask = positions.get(token, 0)
            if mask:
                matches = row & mask
                # The sum carries from each match up to the next bit where the length grows, as in Hyyrö 2004.
                row = ((row + matches) | (row - matches)) & inside
                steps.append((mirrored[token], row))
            elif mask_before:
                steps.append((0, row))  # a series of tokens without a match moves the walk once
        union |= _walk_back(steps, inside, gaps, len(tokens) // 8)
    hits = union.bit_count()
    # A token that the reference has more often than the hypothesis may be hit too often.
    for token, mask in mirrored.items():
        allowed = had.get(token, 0)
        if mask.bit_count() > allowed:
            hits -= max(0, (union & mask).bit_count() - allowed)
    return hits


def _walk_back(steps: Sequence[tuple[int, int]], inside: int, gaps: int, width: int) -> int:
    """Return the positions that the walks of all sentences take, as mirrored bits.

    Each step has the positions of its token, mirrored, and its row, ``width`` bytes.
    """
    mirrored_bytes = _mirrored_bytes()
    union = 0
    reach = -1
    for mask, row in reversed(steps):
        grows = (row ^ inside).to_bytes(width, "little").translate(mirrored_bytes)
        candidates = (mask | int.from_bytes(grows, "big")) & reach
        if not candidates:
            break
        # In each sentence the gap above it minus the candidates is their two's complement: it has the lowest candidate,
        # the inverted bits above that, and no bits below.
        complement = gaps - candidates
        lowest = candidates & complement
        from_lowest_on = candidates | complement
        taken = lowest & mask
        reach = from_lowest_on ^ taken
        union |= taken
    return union


def _count_tokens(text: str) -> dict[str, int]:
    """Return how often a text has each of its characters."""
    counts = dict.fromkeys(text, 0)
    for token in text:
        counts[token] += 1
    return counts


def _find_tokens(text: str) -> dict[str, int]:
    """Return the positions of each character as the bits of an integer."""
    positions = dict.fromkeys(text, 0)
    bit = 1
    for token in text:
        positions[token] |= bit
        bit += bit
    return positions


@cache
def _mirrored_bytes() -> bytes:
    """Return each byte with its bits in reverse order."""
    return bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))
