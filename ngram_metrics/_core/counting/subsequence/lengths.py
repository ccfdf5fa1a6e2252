"""Lengths of longest common subsequences, exact for all int64 ids.

On a CPU RapidFuzz counts: each document becomes a ``str`` whose code points are the ids. For padded tokens of other
devices, and while operations are recorded, this module prepares pairs, and
``_core.counting.subsequence.table`` fills the table. No step depends on data: they run on the ``meta`` device,
compile in one graph and never wait for a GPU. Pairs of sentences of lists are cut into chunks of similar size here, so
that short texts do not take the time of the longest in the batch.

If launching an operation costs more than its work, both halves of the steps run at once. A cut of the short text in the
middle corresponds to some cut of the long text: a common subsequence matches the tokens before one cut with tokens
before the other (Hirschberg 1975). So the first half of the steps runs from the left, and the second half from the
right on both texts reversed, as two pairs of one chunk: half the steps, each twice as wide. The last row of each half
gives the longest common subsequence with either side of any cut of the long text. The largest sum over all cuts is the
length.

Example: the long side ``a b a c`` and the short side ``b a``. The first half is ``b``: with the first 0, 1, 2, 3, 4
tokens of the long side it shares 0 0 1 1 1. The second half is ``a``: with the remaining tokens it shares 1 1 1 0 0.
The largest sum is 2, at the cut after ``a b``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import islice, pairwise, repeat
from typing import TYPE_CHECKING, Any

from ngram_metrics._core.basics.lazy import np, rapidfuzz, torch
from ngram_metrics._core.counting.documents import CPU_SLOTS, DocumentGroups, PaddedPairs, PaddedTokens, RaggedPairs
from ngram_metrics._core.counting.keys import rank_in_rows
from ngram_metrics._core.counting.numpy_matches import NumpySegments, numpy_segments
from ngram_metrics._core.counting.subsequence.table import (
    advance,
    first_state,
    mask_windows,
    pair_words,
    set_bits,
    unpack_bits,
    word_budget,
    word_count,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

#: Up to this number of words a step costs no more than launching its operations: such chunks may be padded freely.
CPU_STEP_WORDS = 1 << 11
#: Up to this number of words of both halves, launching a step on an accelerator costs more than its work. Their bits,
#: 55 per word, take 58 MB.
WORDS_IN_HALVES = 1 << 17
#: Ids below this bound are code points of a ``str``; larger ids are items of a list, which takes several times as long.
CODE_POINTS = sys.maxunicode + 1
#: From this number of tokens on, numbering a pair anew takes less time than it saves: RapidFuzz looks code points below
#: 256 up in a table, and others in a hash map.
LONG_PAIR = 2000
#: Joining costs as much as the launches of this many steps.
JOINING_STEPS = 16


def subsequence_lengths(pairs: RaggedPairs | PaddedPairs) -> Tensor:
    """Return the length of the longest common subsequence of each pair, ``(pairs,)`` int64."""
    if isinstance(pairs, RaggedPairs):
        return torch.from_numpy(_lengths_of_texts(numpy_segments(pairs)))
    # The length is symmetric, so the narrower side is taken as the steps: each step costs its launches.
    long, short = pairs
    if long.ids.shape[1] < short.ids.shape[1]:
        long, short = short, long
    return count_padded(long, short, _chunk_lengths)


def _lengths_of_texts(pairs: NumpySegments) -> NDArray[np.int64]:
    """Count with RapidFuzz."""
    lengths = np.zeros_like(pairs.sizes)
    is_long = pairs.sizes >= LONG_PAIR
    indices = np.flatnonzero(~is_long)
    for chunk in pairs.select(~is_long).chunks(CPU_SLOTS):
        documents = as_texts(chunk.ids, chunk.lengths, pairs.id_bound)
        middle = len(documents) // 2
        lengths[indices[chunk.segments]] = rapidfuzz.process.cpdist(
            documents[:middle], documents[middle:], scorer=rapidfuzz.distance.LCSseq.similarity, dtype=np.int64
        )
    if len(indices) < len(lengths):
        position = np.empty(pairs.id_bound, np.int64)
        long = pairs.select(is_long)
        sides = (np.split(ids, sizes.cumsum()[:-1]) for ids, sizes in zip(long.ids, long.lengths, strict=True))
        lengths[is_long] = list(map(_length_of_long, *sides, repeat(position)))
    return lengths


def _length_of_long(hypothesis: NDArray[np.int64], reference: NDArray[np.int64], position: NDArray[np.int64]) -> int:
    """Count without tokens of one side only, and with the most frequent tokens numbered first.

    ``position`` has an entry for every id, which is overwritten.
    """
    position[hypothesis] = -1
    position[reference] = np.arange(len(reference))
    hypothesis, reference = position[hypothesis], position[reference]
    hypothesis = hypothesis[hypothesis >= 0]
    counts = np.bincount(hypothesis, minlength=len(reference))
    reference = reference[counts[reference] > 0]
    number = np.empty_like(counts)
    number[np.argsort(-counts)] = np.arange(len(counts))
    lengths = np.array([len(hypothesis), len(reference)])
    texts = as_texts(number[np.concatenate((hypothesis, reference))], lengths, len(counts))
    return rapidfuzz.distance.LCSseq.similarity(*texts)


def as_texts(ids: NDArray[np.int64], lengths: NDArray[np.int64], id_bound: int) -> list[str] | list[list[int]]:
    """Return documents, which can be compared with each other, as RapidFuzz takes them: as ``str``, else as lists."""
    tokens: str | list[int]
    if id_bound > CODE_POINTS:
        tokens = np.unique(ids, return_inverse=True)[1].tolist()
    else:
        tokens = ids.astype(np.int32).tobytes().decode(f"utf-32-{sys.byteorder[0]}e", "surrogatepass")
    return [tokens[start:stop] for start, stop in pairwise((0, *lengths.cumsum().tolist()))]  # type: ignore[return-value]


def group_texts(sides: tuple[DocumentGroups, DocumentGroups]) -> list[list[Any]]:
    """Return the documents of each group of each side as ``as_texts`` does."""
    ids = np.concatenate([side.tokens.ids.numpy() for side in sides])
    lengths = np.concatenate([side.tokens.lengths.numpy() for side in sides])
    texts = iter(as_texts(ids, lengths, max(side.tokens.id_bound for side in sides)))
    return [[[*islice(texts, count)] for count in side.counts.tolist()] for side in sides]


def count_padded(
    long: PaddedTokens,
    short: PaddedTokens,
    count_chunk: Callable[[Tensor, Tensor, int], Tensor],
    separator_id: int | None = None,
) -> Tensor:
    """Count something in each pair of rows, ``(pairs,)``, in chunks within the budget of mask words or a single pair.

    ``count_chunk`` takes the ranks of both sides, numbered together, ``(pairs, width)`` and ``(pairs, steps)`` int64,
    which are 0 past a document's end and for a separator, and the largest possible rank.
    """
    width, steps = long.ids.shape[1], short.ids.shape[1]
    counts = [long.lengths.new_zeros(0)]
    at_once = max(1, word_budget(long.ids.device) // pair_words(word_count(width), steps))
    for start in range(0, len(long.ids), at_once):
        sides = [side.slice(start, start + at_once) for side in (long, short)]
        ids = torch.cat([side.ids for side in sides], 1)
        ranks = rank_in_rows(ids) * torch.cat([side.inside() for side in sides], 1)
        if separator_id is not None:
            ranks = ranks * (ids != separator_id)
        counts.append(count_chunk(ranks[:, :width], ranks[:, width:], width + steps))
    return torch.cat(counts)


def _chunk_lengths(positions: Tensor, steps: Tensor, rank_bound: int) -> Tensor:
    """Return lengths ``(pairs,)`` from ranks ``(pairs, width)`` and ``(pairs, steps)``, 0 for padding."""
    if positions.shape[1] == 0 or steps.shape[1] == 0:
        return positions.new_zeros(len(positions))
    if halves_are_faster(len(positions), word_count(positions.shape[1]), steps.shape[1]):
        return _lengths_of_halves(positions, steps, rank_bound)
    return set_bits(_last_rows(positions, steps, rank_bound)).sum(0)


def halves_are_faster(pairs: int, words: int, steps: int) -> bool:
    """Return whether a chunk is faster in halves on an accelerator."""
    return steps > 2 * JOINING_STEPS and 2 * pairs * words <= WORDS_IN_HALVES


def _lengths_of_halves(positions: Tensor, steps: Tensor, rank_bound: int) -> Tensor:
    half = (steps.shape[1] + 1) // 2
    # If the number of steps is odd, the middle one is in the first half; the second half has padding instead.
    middle = steps.new_zeros(len(steps), 2 * half - steps.shape[1])
    both = torch.cat((steps[:, :half], torch.cat((steps[:, half:].flip(1), middle), 1)))  # (2 * pairs, half)
    rows = _last_rows(torch.cat((positions, positions.flip(1))), both, rank_bound)  # (words, 2 * pairs)
    first, second = unpack_bits(rows, positions.shape[1]).chunk(2)  # (pairs, width)
    # When the cut moves by one position, the left sum gains this position's bit, and the right sum loses it.
    gains = (first - second.flip(1)).cumsum(1).amax(1).clamp(min=0)
    return gains + second.sum(1)


def _last_rows(positions: Tensor, steps: Tensor, rank_bound: int) -> Tensor:
    """Return the last row of each pair's table, ``(words, pairs)``."""
    windows = mask_windows(positions, steps, rank_bound)
    state = first_state(windows)
    for start, stop in windows.windows():
        state = advance(state, windows.masks(start, stop))
    return state.increments


def similar_pairs(long: Tensor, short: Tensor) -> Iterator[tuple[Tensor, int, int]]:
    """Cut pairs into chunks of similar size, so that padding a chunk to its largest pair wastes little.

    ``long`` ``(pairs,)`` int64 is the lengths that fill the words, and ``short`` the numbers of steps.

    Yields:
        The indices of the pairs of a chunk, int64, each pair once; and the largest lengths in it.
    """
    budget = word_budget(long.device)
    words = word_count(long)
    # Pairs with most words first, and with most steps on a tie.
    order = torch.argsort(words * (short.sum() + 1) + short, descending=True, stable=True)
    long, words, steps = (sizes.index_select(0, order) for sizes in (long, words, short))
    start = 0
    while start < len(order):
        most_words = int(words[start])
        ahead = slice(start, start + max(1, budget // (2 * most_words**2)))
        count = torch.arange(1, len(words[ahead]) + 1, device=words.device)
        padded = count * pair_words(most_words, steps[ahead].cummax(0).values)
        needed = pair_words(words[ahead], steps[ahead]).cumsum(0)
        fits = (padded <= budget) & ((padded <= 2 * needed) | (count * most_words <= CPU_STEP_WORDS))
        stop = start + max(1, int(fits.long().cumprod(0).sum()))
        yield order[start:stop], int(long[start:stop].max()), int(steps[start:stop].max())
        start = stop
