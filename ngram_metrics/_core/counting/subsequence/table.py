"""The table of longest common subsequences, with 55 cells per machine operation.

Row s, column p of the classical table is the length of the longest common subsequence of the first s tokens of one text
and the first p of the other. Along a row it grows by 0 or 1 per column, so a row needs one bit per column: bit p of
``increments`` says that the length grows there. Let ``mask`` be the columns whose token is the row's token. Then a row
follows from the row above (Allison and Dix 1986; Crochemore et al. 2001 and Hyyro 2004 do the same on inverted bits):

    either = increments | mask
    increments = either & (2 * increments - either)

A column is a position of the *long* side, 55 positions per int64 word. A row is a *step*, a token of the *short* side,
and is computed for all pairs of a chunk at once. The subtraction borrows from the next higher word if its difference is
negative. No step waits for a borrow to propagate, as in Hyyro 2004, section 3.3: word w takes step s at the time s + w,
one time after the word below. Nor does a step compute the borrow: a word is so narrow that the highest byte of its
difference is -1 if it borrows, else 0. So a time is four operations, whatever the number of words.

Example: the long side ``a b a c``, its positions from the left, and the short side ``b a``. Before the first step
``increments`` is 0000. Step ``b``: mask 0100, so the increments are 0100 and the lengths 0 1 1 1. Step ``a``: mask
1010, either 1110, of which the second line keeps 1010; the lengths are 1 1 2 2: the subsequence ``b a`` has 2 tokens.

The layout is ``(words, pairs)`` with the highest word first, so that the skew is a view with positive strides. The
masks of a window of times are in a table, which is a sum of bits. All sizes come from shapes; nothing depends on data.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ngram_metrics._core.basics.lazy import torch

if TYPE_CHECKING:
    from torch import Tensor

#: Positions per word: twice a word minus a word minus a borrow is in [-2^55, 2^56), so that the highest byte of the
#: difference only repeats the sign.
WORD_BITS = 55
#: The index of the highest byte in an int64.
HIGHEST_BYTE = 7 if sys.byteorder == "little" else 0
Size = TypeVar("Size", int, "Tensor")
#: Mask words per window. The CPU's bound keeps an array below 32 MiB, up to which freed memory is reused at once.
CPU_WORDS = 3 << 20
ACCELERATOR_WORDS = 1 << 26
#: Masks are laid out for this many times and words together, and read while they are in the cache.
TILE = 64


class MaskWindows(NamedTuple):
    """The masks of a chunk of pairs, made on request for a window of times.

    Attributes:
        positions: ``(pairs, width)`` int64, the long side's ranks among the tokens of the pair; 0 for padding.
        steps: ``(pairs, steps + 2 * (words - 1))`` int64, the short side's ranks with zeros on both sides: at time t
            the words, the highest first, take the steps in the columns ``t, ..., t + words - 1``.
        rank_bound: the largest possible rank.
        words: the number of words of a pair.
        times: the number of times, ``steps + words - 1``.
        at_once: the number of times of a window.
    """

    positions: Tensor
    steps: Tensor
    rank_bound: int
    words: int
    times: int
    at_once: int

    def windows(self) -> list[tuple[int, int]]:
        """Return the windows of times, first to last."""
        starts = range(0, self.times, self.at_once)
        return [(start, min(self.times, start + self.at_once)) for start in starts]

    def masks(self, start: int, stop: int) -> Iterator[Tensor]:
        """Yield the masks of the times of a window, each ``(words, pairs)``, the highest word first."""
        # Blocks of words, because the skew adds as many rows to the table of a block as the block has words.
        tables = [
            self._table(start, stop, first, min(self.words, first + TILE)) for first in range(0, self.words, TILE)
        ]
        pairs = len(self.positions)
        for time in range(0, stop - start, TILE):
            times = min(TILE, stop - start - time)
            tiles = []
            for table, rows in tables:
                words = table.shape[1]
                chosen = table.index_select(0, rows[time : time + times + words - 1].flatten())
                # chosen is (steps, pairs, words), and the next word takes the next step.
                tiles.append(chosen.as_strided((times, words, pairs), (pairs * words, pairs * words + 1, words)))
            yield from (tiles[0] if len(tiles) == 1 else torch.cat(tiles, 1)).unbind()

    def _table(self, start: int, stop: int, first: int, last: int) -> tuple[Tensor, Tensor]:
        """Return the masks of a block ``(pairs * rows, words)``, and in it the row of each step and pair."""
        pairs = len(self.positions)
        words = last - first
        low = (self.words - last) * WORD_BITS
        positions = self.positions[:, low : (self.words - first) * WORD_BITS]
        steps = self.steps[:, start + first : stop + last - 1]
        rows = min(self.rank_bound, steps.shape[1]) + 1
        if rows <= self.rank_bound:
            positions, steps = _rows_of_steps(positions, steps, self.rank_bound)
        position = torch.arange(positions.shape[1], device=steps.device)
        bit = torch.ones_like(position) << position % WORD_BITS
        word = (words - 1) - position.div(WORD_BITS, rounding_mode="floor")
        table = bit.new_zeros(pairs, rows * words)
        table.scatter_add_(1, positions * words + word, bit.expand_as(positions))
        table[:, :words].zero_()  # row 0: padding matches nothing, not even itself
        before = (torch.arange(pairs, device=steps.device) * rows).unsqueeze(1)
        return table.view(pairs * rows, words), (steps + before).T.contiguous()


def mask_windows(positions: Tensor, steps: Tensor, rank_bound: int) -> MaskWindows:
    """Prepare the masks of a chunk from ranks ``(pairs, width)``, not empty, and ``(pairs, steps)``, 0 for padding.

    Raises:
        RuntimeError: inside ``torch.jit.trace`` or ``torch.vmap``, which cannot follow steps that overwrite their rows.
    """
    is_compiling = torch.compiler.is_compiling()
    if not is_compiling and (torch.jit._trace.is_tracing() or torch._C._functorch.is_batchedtensor(steps)):
        raise RuntimeError("ROUGE-L cannot run inside torch.jit.trace or torch.vmap: call it on all rows as one batch")
    words = word_count(positions.shape[1])
    times = steps.shape[1] + words - 1
    around = steps.new_zeros(len(steps), words - 1)
    at_once = max(1, min(times, word_budget(steps.device) // max(1, len(steps) * words)))
    return MaskWindows(positions, torch.cat((around, steps, around), 1), rank_bound, words, times, at_once)


class SentenceLimits(NamedTuple):
    """The limits of sentences in documents: each sentence of one side has its own table with each of the other side.

    Attributes:
        kept: ``(steps + 2 * (words - 1), pairs)`` int64: -1 if a step has a token, 0 between sentences.
        gaps: ``(words, pairs)`` int64, the bits of the positions between sentences, the highest word first.
    """

    kept: Tensor
    gaps: Tensor


class TableState(NamedTuple):
    """The state of the tables of a chunk between two times.

    Attributes:
        increments: ``(words, pairs)`` int64, the bits of the current rows, the highest word first.
        difference: ``(words + 1, pairs)`` int64, negative if a word borrows from the word before it; the last row is 0.
    """

    increments: Tensor
    difference: Tensor


def first_state(windows: MaskWindows, sentences: SentenceLimits | None = None) -> TableState:
    """Return the state before the first time: the row above the first row, with only the bits of gaps set."""
    pairs = len(windows.positions)
    increments = windows.positions.new_zeros(windows.words, pairs)
    if sentences is not None:
        increments.bitwise_or_(sentences.gaps)
    return TableState(increments, windows.positions.new_zeros(windows.words + 1, pairs))


def advance(
    state: TableState,
    masks: Iterable[Tensor],
    start: int = 0,
    sentences: SentenceLimits | None = None,
    history: Tensor | None = None,
) -> TableState:
    """Run the times of a window from ``start`` on, with masks ``(words, pairs)``, and overwrite the state.

    ``history`` ``(times, words, pairs)`` int64 receives the increments of each time.
    """
    increments = state.increments
    words = len(state.increments)
    either = torch.empty_like(increments)
    spare = torch.zeros_like(state.difference)
    # This time and the time before alternate between two arrays, each with views of its differences and its borrows: -1
    # if the word below borrows, else 0. A single word needs no borrows, and XLA has no such view.
    now, before = (
        (whole, whole[:-1], whole[1:].view(torch.int8)[:, HIGHEST_BYTE::8] if words > 1 else whole)
        for whole in (spare, state.difference)
    )
    for time, mask in enumerate(masks):
        difference = now[1]
        torch.bitwise_or(mask, increments, out=either)
        if words > 1:
            torch.add(before[2], increments, alpha=2, out=difference)
        else:
            torch.add(increments, increments, out=difference)
        difference.sub_(either)
        if sentences is None:
            torch.bitwise_and(difference, either, out=increments)
        else:
            row = increments if history is None else history[time]
            torch.bitwise_and(difference, either, out=row)
            # The bit of a gap is set before every step and absorbs a borrow from below: no borrow leaves its sentence.
            torch.bitwise_and(row, sentences.kept[start + time : start + time + words], out=increments)
            increments.bitwise_or_(sentences.gaps)
        now, before = before, now
    return TableState(increments, before[0])


def set_bits(words: Tensor) -> Tensor:
    """Count the set bits of each word: in groups of 2, 4 and 8 bits, then the sum of the bytes."""
    words = words - (words >> 1 & 0x5555555555555555)
    words = (words & 0x3333333333333333) + (words >> 2 & 0x3333333333333333)
    words = words + (words >> 4) & 0x0F0F0F0F0F0F0F0F
    for shift in (8, 16, 32):
        words = words + (words >> shift)
    return words & 0x7F


def pack_bits(marks: Tensor) -> Tensor:
    """Pack marks ``(pairs, width)`` bool into words: ``(words, pairs)`` int64, the highest word first."""
    pairs, width = marks.shape
    words = word_count(width)
    bits = marks.new_zeros(pairs, words * WORD_BITS, dtype=torch.int64)
    bits[:, :width] = marks
    bit = torch.arange(WORD_BITS, device=marks.device)
    return (bits.view(pairs, words, WORD_BITS) << bit).sum(-1).flip(1).T.contiguous()


def unpack_bits(words: Tensor, width: int) -> Tensor:
    """Return the bits of words, ``(pairs, width)`` int64, 0 or 1, which is the inverse of ``pack_bits``."""
    bit = torch.arange(WORD_BITS, device=words.device)
    return (words.T.flip(1).unsqueeze(-1) >> bit & 1).flatten(1)[:, :width]


def word_count(width: Size) -> Size:
    """Return the number of words, at least 1, for ``width`` positions, a number or a tensor of numbers."""
    return (width + (width == 0) + WORD_BITS - 1) // WORD_BITS


def word_budget(device: torch.device) -> int:
    """Return the largest number of mask words of a window on a device."""
    return CPU_WORDS if device.type == "cpu" else ACCELERATOR_WORDS


def pair_words(words: Size | int, steps: Size) -> Size:
    """Return the words that a pair adds to a window: its masks, with the skew at both ends, and its ids."""
    return words * (steps + 2 * words + WORD_BITS)


def _rows_of_steps(positions: Tensor, steps: Tensor, rank_bound: int) -> tuple[Tensor, Tensor]:
    """Replace each rank by the number, from 1, of a step that has it, or by 0 if no step has it."""
    row_of_rank = steps.new_zeros(len(steps), rank_bound + 1)
    # If several steps have the same rank, any of them will do: all positions with this rank read the same entry.
    row_of_rank.scatter_(1, steps, torch.arange(1, steps.shape[1] + 1, device=steps.device).expand_as(steps))
    row_of_rank[:, 0].zero_()
    return row_of_rank.gather(1, positions), row_of_rank.gather(1, steps)
