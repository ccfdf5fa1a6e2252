"""Clipped matches of pairs on a CPU, in numpy: the same counts as ``ngram_metrics.counting.matches``.

A numpy operation on a few thousand numbers takes a third of the time of a torch operation and starts no threads, and
numpy sorts numbers without an index twice as fast as torch sorts them with one. So the pairs are cut into chunks whose
arrays stay in the cache; words are counted in half the time. The keys are those of
``ngram_metrics.counting.keys``, with three differences, after which one sort without an index is enough:

* Below the last digit is one more bit: 0 in a hypothesis, 1 in a reference.
* If ids are wide, a digit is the place of a token in the chunk, the last place of equal tokens.
* Past the end of a document the digits are 0 in a hypothesis, and all bits are 1 in a reference. Neither is the digit
  of a token, so an n-gram that ends outside its document has no matches.

Pairs whose n-grams do not fit into such a key are left to torch: of long documents, high orders, or large vocabularies.

Example: the hypothesis ``a b a`` and the reference ``b a`` with a = 1 and b = 2, digits of 2 bits, orders 1 to 2, in
base 4, with the additional bit after a dot.

=======  ====  ====  ====  ====  ====
slot     0     1     2     3     4
=======  ====  ====  ====  ====  ====
token    1     2     1     2     1
key      12.0  21.0  10.0  21.1  13.1
sorted   10.0  12.0  13.1  21.0  21.1
order 2  10    12    13    21    21
order 1  1     1     1     2     2
=======  ====  ====  ====  ====  ====

Order 2 has one match, 21. Order 1 has two: 1 occurs twice in the hypothesis and once in the reference, 2 once in both.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.jit._trace import is_tracing
from torch.utils._python_dispatch import _get_current_dispatch_mode

from ngram_metrics.counting.documents import PaddedPairs, RaggedPairs, even_chunks
from ngram_metrics.counting.keys import KEY_BITS, bit_length

_COUNTING = os.environ.get("NGRAM_METRICS_COUNTING", "")
if _COUNTING not in ("", "torch"):
    raise ValueError(f"the environment has NGRAM_METRICS_COUNTING={_COUNTING!r:.60}: expected 'torch', or nothing")
#: Whether the environment has torch count on a CPU too, for comparisons.
FORCES_TORCH = _COUNTING == "torch"
#: The slots of a chunk need at most this many bits, so that an int16 holds the sum of 1 and -1 over them, and at least
#: that many: smaller chunks take more time than torch.
MOST_SLOT_BITS, LEAST_SLOT_BITS = 15, 11
#: A chunk has room for all pairs, or for as many as it has slots, divided by two to this power.
_BITS_OF_A_SHORT_PAIR = 4
#: Ids of padded rows from this bound on are left to torch: a table of all ids would take too much memory.
_MOST_IDS = 1 << 20


class NumpyPairs(NamedTuple):
    """Pairs as numpy arrays.

    Attributes:
        ids: ``(tokens,)`` int64 in ``[0, id_bound)``: of the hypotheses, and of the references.
        lengths: ``(pairs,)`` int64: of the hypotheses, and of the references.
        id_bound: an exclusive upper bound of the ids.
    """

    ids: tuple[NDArray[np.int64], NDArray[np.int64]]
    lengths: tuple[NDArray[np.int64], NDArray[np.int64]]
    id_bound: int

    def chunks(
        self, sizes: NDArray[np.int64], largest: int
    ) -> Iterator[tuple[slice, NDArray[np.int64], NDArray[np.int64]]]:
        """Yield ranges of pairs, each at most ``largest`` by their ``sizes``, or one pair.

        With each, the ids and the lengths of its documents, the hypotheses first; both are copies.
        """
        first = [0, 0]
        for start, stop in even_chunks(sizes, largest):
            lengths = [side[start:stop] for side in self.lengths]
            last = [before + int(side.sum()) for before, side in zip(first, lengths, strict=True)]
            ids = [side[before:end] for side, before, end in zip(self.ids, first, last, strict=True)]
            yield slice(start, stop), np.concatenate(ids), np.concatenate(lengths)
            first = last


class _Plan(NamedTuple):
    """How pairs are cut into chunks.

    Attributes:
        slots: the largest number of slots of a chunk.
        pair_bits: the bits of the number of a pair in its chunk.
        bits: the width of a digit.
        orders: the number of orders.
        renumbers: whether a digit is a place in the chunk, else it is the id + 1.
    """

    slots: int
    pair_bits: int
    bits: int
    orders: int
    renumbers: bool


def numpy_pair_matches(pairs: RaggedPairs | PaddedPairs, max_order: int) -> Tensor | None:
    """Return the matches of each pair, ``(pairs, orders)`` int64.

    Returns None if torch counts them instead: where ``numpy_pairs`` does, and if n-grams do not fit into a key.
    """
    arrays = numpy_pairs(pairs)
    if arrays is None:
        return None
    # No pair has a match that is longer than one of its documents.
    longest = min(int(side.max(initial=1)) for side in arrays.lengths)
    plan = _plan(arrays, min(max_order, max(1, longest)))
    return None if plan is None else add_empty_orders(torch.from_numpy(_matches(arrays, plan)), max_order)


def add_empty_orders(matches: Tensor, orders: int) -> Tensor:
    """Return matches ``(groups, some orders)`` with a 0 for each order that is missing: ``(groups, orders)``."""
    missing = orders - matches.shape[1]
    return torch.nn.functional.pad(matches, (0, missing)) if missing else matches


def numpy_pairs(pairs: RaggedPairs | PaddedPairs) -> NumpyPairs | None:
    """Return pairs as numpy arrays.

    Returns None on another device, where torch must count, and of ids beyond a million in padded rows.
    """
    if pairs.hypotheses.ids.device.type != "cpu" or must_use_torch():
        return None
    try:
        return _convert_padded(pairs) if isinstance(pairs, PaddedPairs) else _convert_ragged(pairs)
    except (RuntimeError, TypeError):  # a tensor without data, such as in vmap or in FakeTensorMode
        return None


def must_use_torch() -> bool:
    """Return whether torch counts on a CPU too: if the environment says so, or while torch records its operations.

    Operations of numpy would be missing from a graph or a trace.
    """
    return FORCES_TORCH or torch.compiler.is_compiling() or is_tracing() or _get_current_dispatch_mode() is not None


def _convert_ragged(pairs: RaggedPairs) -> NumpyPairs:
    hypotheses, references = pairs
    ids = hypotheses.ids.numpy(), references.ids.numpy()
    lengths = hypotheses.lengths.numpy(), references.lengths.numpy()
    return NumpyPairs(ids, lengths, max(hypotheses.id_bound, references.id_bound))


def _convert_padded(pairs: PaddedPairs) -> NumpyPairs | None:
    hypotheses, references = pairs
    lengths = hypotheses.lengths.numpy(), references.lengths.numpy()
    ids = _inside(hypotheses.ids, lengths[0]), _inside(references.ids, lengths[1])
    least = min(int(side.min(initial=0)) for side in ids)
    most = max(int(side.max(initial=0)) for side in ids)
    return None if least < 0 or most >= _MOST_IDS else NumpyPairs(ids, lengths, most + 1)


def _inside(rows: Tensor, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the tokens of padded rows, one row after another: ``(rows, width)`` to ``(tokens,)``."""
    ids: NDArray[np.int64] = rows.numpy()
    return ids[np.arange(ids.shape[1]) < lengths[:, None]]


def _plan(pairs: NumpyPairs, orders: int) -> _Plan | None:
    """Return the largest chunks whose keys fit, or None."""
    id_bits = bit_length(pairs.id_bound + 1)
    sizes = np.add(*pairs.lengths)
    largest = int(sizes.max(initial=0))
    for slot_bits in range(MOST_SLOT_BITS, LEAST_SLOT_BITS - 1, -1):
        bits = min(id_bits, slot_bits)
        slots = (1 << slot_bits) - 2
        pair_bits = KEY_BITS - 1 - orders * bits
        enough = min(bit_length(len(sizes)), slot_bits - _BITS_OF_A_SHORT_PAIR)
        if pair_bits >= enough and largest <= slots:
            return _Plan(slots, pair_bits, bits, orders, bits < id_bits)
    return None


def _matches(pairs: NumpyPairs, plan: _Plan) -> NDArray[np.int64]:
    """Return the matches of pairs, ``(pairs, orders)``."""
    sizes = np.add(*pairs.lengths)
    matches = np.zeros((plan.orders, len(sizes)), np.int64)
    # Of each equal token the last place is read, so only entries that this chunk wrote: nothing is cleared.
    places = np.empty(pairs.id_bound if plan.renumbers else 0, np.int64)
    # A short pair counts as several slots, which bounds the number of pairs of a chunk.
    bounded = np.maximum(sizes, (plan.slots >> plan.pair_bits) + 1)
    for chunk, digits, lengths in pairs.chunks(bounded, plan.slots):
        if plan.renumbers:
            places[digits] = np.arange(len(digits), dtype=np.int64)
            digits = places[digits]
        digits += 1
        if len(digits):
            keys = _sorted_keys(digits, lengths, plan)
            matches[:, chunk] = _count(keys, sizes[chunk], plan)
    return matches.T


def _sorted_keys(digits: NDArray[np.int64], lengths: NDArray[np.int64], plan: _Plan) -> NDArray[np.int64]:
    """Return the sorted keys of a chunk, ``(slots,)``, from the ``lengths`` of all its documents."""
    pairs = len(lengths) // 2
    ends = lengths.cumsum()
    keys, order = digits, 1
    for doubled in bin(plan.orders)[3:]:  # the bits of the number of orders below the highest
        keys = _append_keys(keys, keys, order, order * plan.bits)
        order *= 2
        if doubled == "1":
            keys = _append_keys(keys, digits, order, plan.bits)
            order += 1
    # The last slots of each document have digits past its end, where those of the next one are so far.
    tails = np.minimum(lengths, plan.orders - 1)
    tail_slot = np.arange(int(tails.sum())) + (ends - tails.cumsum()).repeat(tails)
    past_end = (1 << (plan.orders - ends.repeat(tails) + tail_slot) * plan.bits) - 1
    keys[tail_slot] |= past_end
    hypothesis_tails = int(tails[:pairs].sum())
    keys[tail_slot[:hypothesis_tails]] -= past_end[:hypothesis_tails]
    pair = np.arange(pairs, dtype=np.int64) << 1 + plan.orders * plan.bits
    keys <<= 1
    keys |= np.concatenate((pair, pair + 1)).repeat(lengths)
    keys.sort()
    return keys


def _append_keys(keys: NDArray[np.int64], others: NDArray[np.int64], distance: int, bits: int) -> NDArray[np.int64]:
    """Return each key with the key of ``others`` that is ``distance`` slots after it, which has this number of bits."""
    longer = keys << bits
    longer[: max(0, len(keys) - distance)] |= others[distance:]
    return longer


def _count(keys: NDArray[np.int64], sizes: NDArray[np.int64], plan: _Plan) -> NDArray[np.int64]:
    """Return the matches of the pairs of a chunk, ``(orders, pairs)``, whose slots are ``sizes``.

    A slot of a hypothesis counts 1 and a slot of a reference -1. The absolute sum over the run of an n-gram is the
    number of its slots without a match; all others are matched, one of each text.
    """
    some = sizes.nonzero()[0]
    starts = (sizes.cumsum() - sizes)[some]  # (pairs with tokens,)
    before = np.zeros(len(keys) + 1, np.int16)  # the sum of all slots before each, and of all
    before[1:] = keys
    before &= 1
    before *= -2
    before[1:] += 1
    # numpy's running sum takes six times as long, for it adds in memory.
    torch.from_numpy(before).cumsum_(0)
    differs = np.full(len(keys) + 1, 1 << KEY_BITS - 1, np.int64)  # from the slot before; at both ends, in every order
    np.bitwise_xor(keys[1:], keys[:-1], out=differs[1:-1])
    unmatched = np.zeros((plan.orders, len(sizes)), np.int64)
    for order in range(1, plan.orders + 1):
        # Neighbours differ in their first digits if the highest bit in which they differ is one of these.
        bounds = (differs >= 1 << 1 + (plan.orders - order) * plan.bits).nonzero()[0]
        before_bounds = before.take(bounds, mode="clip")  # unchecked; (runs + 1,)
        run_sums = before_bounds[1:] - before_bounds[:-1]
        np.abs(run_sums, out=run_sums)
        unmatched[order - 1, some] = np.add.reduceat(run_sums, bounds.searchsorted(starts), dtype=np.int16)
    return (sizes - unmatched) >> 1
