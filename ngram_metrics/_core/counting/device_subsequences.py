"""Lengths of longest common subsequences of padded ids in torch, with 55 cells of the table per machine operation.

Row s, column p of the classical table is the length of the longest common subsequence of the first s tokens of one text
and the first p of the other. Along a row it grows by 0 or 1 per column, so a row needs one bit per column: bit p of
``increments`` says that the length grows there. ``mask`` has the columns whose token is the row's token. Each row then
follows from the row above (Allison and Dix 1986; Crochemore et al. 2001 and Hyyro 2004 do the same on inverted bits):

    either = increments | mask
    increments = either & (2 * increments - either)

A column is a position of the *long* side, 55 positions per int64 word. A row is a *step*, a token of the *short* side,
and is computed for all pairs of a chunk at once. A word with a negative difference borrows from the next higher word.
As in Hyyro 2004, section 3.3, no step waits for borrows to propagate: word w takes step s at time s + w, one time after
the word below. The borrow needs no operation either: in words this narrow the highest byte of the difference is -1 for
a borrow, else 0. So each time takes four operations, whatever the number of words.

Launching an operation often costs more than its work, so both halves of the steps run at once. A common subsequence
that is cut at the middle of the short text is also cut somewhere in the long text: its first part lies before both
cuts, and its second part after both (Hirschberg 1975). The first half of the steps runs from the left, and the second
half from the right on both texts reversed, as two pairs of one chunk. Their last rows give the length of each part for
every cut of the long text. The largest sum over all cuts is the answer.

Example: the long side ``a b a c``, its positions from the left, and the short side ``b a``. The first half is ``b``:
its mask is 0100, so the increments are 0100, and with the first 0, 1, 2, 3, 4 tokens of the long side it shares 0 0 1 1
1. The second half is ``a``: with the remaining tokens it shares 1 1 1 0 0. The largest sum is 2, at the cut after
``a b``.

The layout is ``(words, pairs)`` with the highest word first, so that the skew is a view with positive strides. A table
of masks is built by adding up bits. All sizes come from shapes; nothing depends on data.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import torch
from torch import Tensor

from ngram_metrics._core.basics.arrays import is_batched
from ngram_metrics._core.counting.device_matches import rank_in_rows
from ngram_metrics._core.counting.padded_batch import PaddedBatch

#: Positions per word. Twice a word minus a word minus a borrow is in [-2^55, 2^56), so the highest byte of the
#: difference holds nothing but the sign.
WORD_BITS = 55
#: The index of the highest byte in an int64.
HIGHEST_BYTE = 7 if sys.byteorder == "little" else 0
#: The number of mask words that are made at a time, unless a single pair needs more. This limits memory.
MASK_WORDS = 1 << 26
#: The number of times, and of words, whose masks are made together: few enough to stay in the cache.
TILE = 64


def find_common_lengths(pairs: PaddedBatch) -> Tensor:
    """Return the length of a longest common subsequence of each segment, ``(segments,)``; each has one reference."""
    references = pairs.references.squeeze(1)
    # The length is symmetric, so the narrower side provides the steps: each step launches its own kernels.
    sides = [(pairs.hypotheses, pairs.hypothesis_lengths), (references, pairs.reference_lengths)]
    sides.sort(key=lambda side: side[0].shape[1], reverse=True)
    (long, long_lengths), (short, short_lengths) = sides
    segments, width = long.shape
    steps_width = short.shape[1]
    if segments == 0 or steps_width == 0:
        return long_lengths.new_zeros(segments)
    slot = torch.arange(width, device=long.device)
    is_token = torch.cat((slot < long_lengths.unsqueeze(1), slot[:steps_width] < short_lengths.unsqueeze(1)), 1)
    ranks = rank_in_rows(torch.cat((long, short), 1)) * is_token
    positions, steps = ranks.split((width, steps_width), 1)
    at_once = max(1, MASK_WORDS // _pair_words(_word_count(width), steps_width))
    parts = [
        _chunk_lengths(positions[first : first + at_once], steps[first : first + at_once], ranks.shape[1])
        for first in range(0, segments, at_once)
    ]
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def _chunk_lengths(positions: Tensor, steps: Tensor, rank_bound: int) -> Tensor:
    """Return lengths ``(pairs,)`` from ranks ``(pairs, width)`` and ``(pairs, steps)``, 0 for padding."""
    half = (steps.shape[1] + 1) // 2
    # If the number of steps is odd, the middle one is in the first half; the second half has padding instead.
    middle = steps.new_zeros(len(steps), 2 * half - steps.shape[1])
    both = torch.cat((steps[:, :half], torch.cat((steps[:, half:].flip(1), middle), 1)))  # (2 * pairs, half)
    rows = _last_rows(torch.cat((positions, positions.flip(1))), both, rank_bound)  # (words, 2 * pairs)
    first, second = _unpack_bits(rows, positions.shape[1]).chunk(2)  # (pairs, width)
    # When the cut moves by one position, the left sum gains this position's bit, and the right sum loses it.
    gains = (first - second.flip(1)).cumsum(1).amax(1).clamp(min=0)
    return gains + second.sum(1)


def _last_rows(positions: Tensor, steps: Tensor, rank_bound: int) -> Tensor:
    """Return the last row of each pair's table, ``(words, pairs)``, the highest word first.

    Raises:
        RuntimeError: inside ``torch.jit.trace`` or ``torch.vmap``, which cannot follow steps that overwrite their rows.
    """
    is_traced = torch.jit.is_tracing()  # type: ignore[attr-defined]  # torch exports it without saying so
    if not torch.compiler.is_compiling() and (is_traced or is_batched(steps)):
        raise RuntimeError("ROUGE-L cannot run inside torch.jit.trace or torch.vmap: call it on all rows as one batch")
    words = _word_count(positions.shape[1])
    increments = positions.new_zeros(words, len(positions))
    either = torch.empty_like(increments)
    # Two arrays alternate: one has the differences of this time, and the other the differences of the time before.
    difference, borrows = _make_differences(positions, words)
    difference_before, borrows_before = _make_differences(positions, words)
    for mask in _make_masks(positions, steps, rank_bound):
        torch.bitwise_or(mask, increments, out=either)
        if words > 1:
            torch.add(borrows_before, increments, alpha=2, out=difference)
        else:
            torch.add(increments, increments, out=difference)
        difference.sub_(either)
        torch.bitwise_and(difference, either, out=increments)
        difference, difference_before = difference_before, difference
        borrows, borrows_before = borrows_before, borrows
    return increments


def _make_differences(positions: Tensor, words: int) -> tuple[Tensor, Tensor]:
    """Return zeros for the differences of all words, ``(words, pairs)``, and a view of the borrows of the same shape.

    A word's borrow is -1 if the difference of the word below is negative, else 0.
    """
    with_row_below = positions.new_zeros(words + 1, len(positions))
    difference = with_row_below[:-1]
    if words == 1:
        return difference, difference  # a single word needs no borrows, and XLA cannot view bytes
    return difference, with_row_below[1:].view(torch.int8)[:, HIGHEST_BYTE::8]


def _make_masks(positions: Tensor, steps: Tensor, rank_bound: int) -> Iterator[Tensor]:
    """Yield the masks of each time, ``(words, pairs)``, the highest word first."""
    pairs = len(positions)
    words = _word_count(positions.shape[1])
    # With this padding on both sides the words, highest first, take the steps t, ..., t + words - 1 at time t.
    around = steps.new_zeros(pairs, words - 1)
    steps = torch.cat((around, steps, around), 1)
    # One table per block of words: the skew adds as many rows to a table as its block has words.
    tables = [
        _mask_table(positions, steps, rank_bound, range(first, min(words, first + TILE)))
        for first in range(0, words, TILE)
    ]
    end = steps.shape[1] - words + 1
    for time in range(0, end, TILE):
        times = min(TILE, end - time)
        tiles = []
        for table, rows in tables:
            block = table.shape[1]
            chosen = table.index_select(0, rows[time : time + times + block - 1].flatten())
            # chosen is (steps, pairs, words): read it along a diagonal, because each next word takes the next step.
            tiles.append(chosen.as_strided((times, block, pairs), (pairs * block, pairs * block + 1, block)))
        yield from (tiles[0] if len(tiles) == 1 else torch.cat(tiles, 1)).unbind()


def _mask_table(positions: Tensor, steps: Tensor, rank_bound: int, block: range) -> tuple[Tensor, Tensor]:
    """Return the masks of a block of words, ``(pairs * rows, words)``, and the row there of each step and pair."""
    pairs = len(positions)
    words = _word_count(positions.shape[1])
    positions = positions[:, (words - block.stop) * WORD_BITS : (words - block.start) * WORD_BITS]
    steps = steps[:, block.start : steps.shape[1] - words + block.stop]
    rows = min(rank_bound, steps.shape[1]) + 1
    if rows <= rank_bound:
        positions, steps = _rows_of_steps(positions, steps, rank_bound)
    position = torch.arange(positions.shape[1], device=steps.device)
    bit = torch.ones_like(position) << position % WORD_BITS
    word = (len(block) - 1) - position.div(WORD_BITS, rounding_mode="floor")
    table = bit.new_zeros(pairs, rows * len(block))
    table.scatter_add_(1, positions * len(block) + word, bit.expand_as(positions))
    table[:, : len(block)].zero_()  # row 0: padding matches nothing, not even itself
    before = (torch.arange(pairs, device=steps.device) * rows).unsqueeze(1)
    return table.view(pairs * rows, len(block)), (steps + before).T.contiguous()


def _unpack_bits(words: Tensor, width: int) -> Tensor:
    """Return the bits of words ``(words, pairs)``, the highest word first: ``(pairs, width)`` int64, 0 or 1."""
    bit = torch.arange(WORD_BITS, device=words.device)
    return (words.T.flip(1).unsqueeze(-1) >> bit & 1).flatten(1)[:, :width]


def _word_count(width: int) -> int:
    """Return the number of words, at least 1, for ``width`` positions."""
    return max(1, -(-width // WORD_BITS))


def _pair_words(words: int, steps: int) -> int:
    """Return the words that a pair adds to a chunk: its masks, with the skew at both ends, and its ids."""
    return words * (steps + 2 * words + WORD_BITS)


def _rows_of_steps(positions: Tensor, steps: Tensor, rank_bound: int) -> tuple[Tensor, Tensor]:
    """Replace each rank by the number, from 1, of a step that has it, or by 0 if no step has it."""
    row_of_rank = steps.new_zeros(len(steps), rank_bound + 1)
    # Any step will do if several have the same rank: all positions with this rank read the same entry.
    row_of_rank.scatter_(1, steps, torch.arange(1, steps.shape[1] + 1, device=steps.device).expand_as(steps))
    row_of_rank[:, 0].zero_()
    return row_of_rank.gather(1, positions), row_of_rank.gather(1, steps)
