"""Hits of the union of longest common subsequences: the count behind ROUGE-Lsum (Lin 2004, section 3.2).

A reference sentence has a longest common subsequence with every sentence of the hypothesis. The hits of a summary are
the reference tokens in any of these, each token counted at most as often as it occurs in the hypothesis. Among equally
long subsequences the choice is rouge_score's, token for token. rouge_score walks the table back from the last cell
(reference position p, hypothesis token s). It takes a pair of equal tokens; else it moves to p - 1 unless the length is
larger at (p, s - 1) than at (p - 1, s). So at token s the walk moves down to the highest position, at or below its own,
that equals the token, which it takes, or where the table's row grows, where it stays for s - 1.

Example: the reference ``a b`` and the hypothesis ``b a``. Both subsequences have one token. At the last token, ``a``,
the walk is at ``b``; the highest candidate at or below it is ``a``, which is a hit. So the hits are 1 0, and ``b`` is
not a hit.

All sentences of a summary are walked at once. The bits of its reference sentences are adjacent in the words of
``_core.counting.subsequence.table``, with a gap between two sentences that no borrow crosses. A gap between
two sentences of the hypothesis restarts all tables. The walk back keeps for each position whether it is at or below the
current position of its sentence's walk: filling the bits below all candidates finds the highest candidate of every
sentence together. It goes from high words to low words and from the last time to the first, so the same skew serves
both directions. The rows of the table are kept for one window of times, and computed again for earlier windows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ngram_metrics._core.basics.lazy import torch
from ngram_metrics._core.counting.documents import (
    DocumentGroups,
    PaddedPairs,
    RaggedPairs,
    RaggedSummaries,
    host_counts,
    owners,
    repeat_each,
)
from ngram_metrics._core.counting.keys import rank_in_rows
from ngram_metrics._core.counting.python_matches import union_hits
from ngram_metrics._core.counting.subsequence.lengths import (
    count_padded,
    group_texts,
    similar_pairs,
    subsequence_lengths,
)
from ngram_metrics._core.counting.subsequence.table import (
    WORD_BITS,
    MaskWindows,
    SentenceLimits,
    TableState,
    advance,
    first_state,
    mask_windows,
    pack_bits,
    unpack_bits,
)

if TYPE_CHECKING:
    from torch import Tensor

#: A batch or chunk of fewer pairs of summaries is counted in plain Python, which takes less time than launches.
FEW_PAIRS = 200
#: Plain Python keeps the rows of one sentence of the hypothesis, which may take this number of bits.
ROW_BITS = 1 << 30


def union_subsequence_hits(summaries: RaggedSummaries | PaddedPairs, separator_id: int | None = None) -> Tensor:
    """Return the hits of each hypothesis summary in the reference summary of the same index, ``(pairs,)`` int64.

    A ragged summary has any number of sentences. ``separator_id`` is between two sentences of a padded summary; without
    it a row is one sentence. No step for padded summaries depends on data.
    """
    # With one sentence on each side, the union is the subsequence itself, and no token is hit too often.
    if isinstance(summaries, PaddedPairs):
        if separator_id is None:
            return subsequence_lengths(summaries)
        return count_padded(summaries.references, summaries.hypotheses, _chunk_hits, separator_id)
    if all(int(side.counts.max()) <= 1 for side in summaries if len(side.counts)):
        return subsequence_lengths(RaggedPairs(*(side.join() for side in summaries)))
    return _ragged_hits(*summaries)


def _ragged_hits(hypotheses: DocumentGroups, references: DocumentGroups) -> Tensor:
    # A gap after every sentence.
    positions, steps = (side.join().lengths + side.counts for side in (references, hypotheses))
    if len(positions) < FEW_PAIRS:
        longest = max(hypotheses.tokens.lengths.tolist(), default=0)
        if longest * int(positions.max()) < ROW_BITS:
            return host_counts(list(map(union_hits, *group_texts((hypotheses, references)))))
    hits = torch.zeros_like(positions)
    for pairs, width, count in similar_pairs(positions, steps):
        sides = hypotheses.take(pairs), references.take(pairs)
        if len(pairs) < min(FEW_PAIRS, len(positions)):  # a chunk of all pairs would come back here
            chunk_hits = _ragged_hits(*sides)
        else:
            ids = torch.cat((_pad_sentences(sides[1], width), _pad_sentences(sides[0], count)), 1)
            ranks = rank_in_rows(ids) * (ids > 0)
            chunk_hits = _chunk_hits(ranks[:, :width], ranks[:, width:], width + count)
        hits.index_copy_(0, pairs, chunk_hits)
    return hits


def _pad_sentences(summaries: DocumentGroups, width: int) -> Tensor:
    """Return each summary as a row of ids from 1, with 0 after every sentence, ``(summaries, width)`` int64."""
    lengths = summaries.join().lengths
    sizes = lengths + summaries.counts
    first = torch.arange(len(sizes), device=sizes.device) * width - (sizes.cumsum(0) - sizes)
    sentence = owners(summaries.tokens.lengths)
    slot = torch.arange(len(sentence), device=sizes.device) + sentence + repeat_each(first, lengths)
    return sizes.new_zeros(len(sizes) * width).index_copy_(0, slot, summaries.tokens.ids + 1).view(len(sizes), width)


def _chunk_hits(positions: Tensor, steps: Tensor, rank_bound: int) -> Tensor:
    """Return the hits ``(pairs,)`` of one chunk.

    The ranks of the reference's tokens ``(pairs, width)`` and of the hypothesis's ``(pairs, steps)`` are 0 between and
    after sentences.
    """
    if positions.shape[1] == 0 or steps.shape[1] == 0:
        return positions.new_zeros(len(positions))
    union = unpack_bits(_union_bits(positions, steps, rank_bound), positions.shape[1])
    # Two tables: for batches of a training loop each is small enough for one thread.
    hit, had = (steps.new_zeros(len(steps), rank_bound + 1) for _ in range(2))
    hit.scatter_add_(1, positions, union)
    had.scatter_add_(1, steps, torch.ones_like(steps))
    # rouge_score counts down the remaining occurrences of a token on both sides. The order does not matter, because a
    # position is hit only once, so the reference never runs out first. Gaps have rank 0 and are never hit.
    return torch.minimum(hit, had).sum(1)


class _Walk(NamedTuple):
    """The state of the walks of all sentences between two times.

    Attributes:
        hit: ``(words, pairs)`` int64, the positions taken so far.
        reach: ``(words, pairs)`` int64, the positions at or below the current position of their sentence's walk.
        below: ``(words + 1, pairs)`` int64, a word of 0, then the positions at or below the latest candidate of their
            sentence; the filling of lower words continues from these.
        fills: for each distance 1, 2, 4, ... ``(words, pairs)`` int64, the positions without a gap in this many
            positions from themselves upwards; they may be filled from the position above these.
    """

    hit: Tensor
    reach: Tensor
    below: Tensor
    fills: tuple[tuple[int, Tensor], ...]


def _union_bits(positions: Tensor, steps: Tensor, rank_bound: int) -> Tensor:
    """Return the hits as bits of positions: ``(words, pairs)`` int64, the highest word first."""
    windows = mask_windows(positions, steps, rank_bound)
    tokens = (windows.steps != 0).long().neg().T.contiguous()
    sentences = SentenceLimits(tokens, pack_bits(positions == 0))
    states = [first_state(windows, sentences)]
    for start, stop in windows.windows()[:-1]:
        states.append(advance(TableState(*map(torch.clone, states[-1])), windows.masks(start, stop), start, sentences))
    walk = _first_walk(windows, sentences)
    while states:
        start, stop = windows.windows()[len(states) - 1]
        masks = list(windows.masks(start, stop))
        rows = positions.new_empty(stop - start, *walk.hit.shape)
        advance(states.pop(), masks, start, sentences, rows)
        walk = _walk_back(walk, masks, rows, sentences, start)
    return walk.hit


def _first_walk(windows: MaskWindows, sentences: SentenceLimits) -> _Walk:
    gaps = sentences.gaps
    fills, distance = [(1, ~gaps)], 1
    while distance * 2 <= WORD_BITS:
        fills.append((distance * 2, fills[-1][1] & fills[-1][1] >> distance))
        distance *= 2
    below = gaps.new_zeros(windows.words + 1, gaps.shape[1])
    return _Walk(torch.zeros_like(gaps), torch.full_like(gaps, -1), below, tuple(fills))


def _walk_back(walk: _Walk, masks: list[Tensor], rows: Tensor, sentences: SentenceLimits, start: int) -> _Walk:
    """Run the times of a window from the last one back to ``start``, and overwrite the walk.

    Each mask is ``(words, pairs)``; ``rows`` ``(times, words, pairs)`` int64 has the increments of each time.
    """
    hit, reach, below, fills = walk
    words = len(hit)
    inside = ~sentences.gaps
    between = ~sentences.kept
    filled = torch.empty_like(hit)
    shifted = torch.empty_like(hit)
    for time in range(len(masks) - 1, -1, -1):
        torch.bitwise_or(rows[time], masks[time], out=filled).bitwise_and_(inside).bitwise_and_(reach)
        if words > 1:
            # If the word above has filled its lowest position, the bit above the top of this word is set.
            torch.bitwise_and(below[:-1], 1, out=shifted).bitwise_left_shift_(WORD_BITS)
            filled.bitwise_or_(shifted)
        for distance, free in fills:
            torch.bitwise_right_shift(filled, distance, out=shifted).bitwise_and_(free)
            filled.bitwise_or_(shifted)
        below[1:].copy_(filled)
        # A filled position without a filled position right above it is the candidate itself.
        torch.bitwise_right_shift(filled, 1, out=shifted).bitwise_and_(fills[0][1])
        shifted.bitwise_xor_(filled).bitwise_and_(masks[time])
        hit.bitwise_or_(shifted)
        torch.bitwise_xor(filled, shifted, out=reach).bitwise_or_(between[start + time : start + time + words])
    return _Walk(hit, reach, below, fills)
