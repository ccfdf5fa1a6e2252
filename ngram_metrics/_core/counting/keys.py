"""Integer keys of n-grams: equal keys are equal n-grams, and sorting the keys sorts the n-grams.

An n-gram is a number with one digit per token, the first token highest, after the number of its group (only documents
of the same group are compared). The digit 0 means 'past the end of the document', so an n-gram counts if its last digit
is not 0. Nothing is hashed.

Sorting the keys of the longest order makes equal n-grams of every shorter order adjacent too, because a shorter n-gram
is the number without its last digits. So one sort serves all orders whose digits fit an int64 together. If not all fit,
the n-grams that fit are ranked, and the next sort continues with the rank in place of group and prefix.

Example: the document ``b a b a`` with a = 1 and b = 2, digits of 2 bits, orders 1 to 2, in base 4.

=========  =====  =====  =====  =====
slot       0      1      2      3
=========  =====  =====  =====  =====
token      2      1      2      1
remaining  4      3      2      1
key        21     12     21     10
sorted     10     12     21     21
order 2    none   12     21     21
order 1    1      1      2      2
=========  =====  =====  =====  =====

Slot 3 has no bigram: the last digit of its key is 0. Without their last digit the sorted keys are sorted unigrams.

``sorted_keys`` makes keys of documents. ``matches`` joins digits here too, and has another kernel. ``numpy_matches``
joins them in arrays, and ``pools`` with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ngram_metrics._core.basics.lazy import torch
from ngram_metrics._core.counting.documents import RaggedTokens, remaining_tokens, repeat_each

if TYPE_CHECKING:
    from torch import Tensor

#: Bits of a key: int64 without its sign.
KEY_BITS = 63
#: More ids are ranked on a CPU in half the time of a search.
SEARCHED_SLOTS = 1 << 11


class Digits(NamedTuple):
    """The tokens of hypotheses and references in one tensor, from which keys are made.

    Attributes:
        digits: ``(slots or more,)`` int64 in ``[0, 2**bits)``; at least 1 for a token, ignored elsewhere.
        remaining: ``(slots,)`` int64, the number of tokens from this slot to the end of its document.
        bits: the width of a digit.
        group: ``(slots,)`` int64, the group of each slot.
        group_bits: the width of a group number; 0 for a single group.
    """

    digits: Tensor
    remaining: Tensor
    bits: int
    group: Tensor
    group_bits: int


class SortedKeys(NamedTuple):
    """The keys of one sort, and the orders that it serves.

    Attributes:
        keys: ``(..., slots)`` int64, ascending.
        slot: ``(..., slots)`` int64, the slot of each key.
        first: the shortest order served.
        last: the longest order served, whose last digit is the lowest of the key.
        bits: the width of a digit.
    """

    keys: Tensor
    slot: Tensor
    first: int
    last: int
    bits: int

    @property
    def orders(self) -> range:
        """The orders served, ascending."""
        return range(self.first, self.last + 1)

    def prefix(self, order: int) -> Tensor:
        """Return the keys of one order, ``(..., slots)``."""
        return self.keys >> (self.bits * (self.last - order))

    def valid(self, prefixes: Tensor) -> Tensor:
        """Return which prefixes are n-grams that end inside their document, bool."""
        return (prefixes & ((1 << self.bits) - 1)) != 0


def ragged_digits(sides: Sequence[RaggedTokens], group: Tensor, groups: int) -> Digits:
    """Lay out documents with one vocabulary one after another.

    ``group`` ``(documents of all sides,)`` int64 is the group of each, below ``groups``.
    """
    # N-grams that start at the last tokens need digits after them, of any value.
    ids = torch.cat([*(side.ids for side in sides), torch.zeros(KEY_BITS, dtype=torch.int64, device="cpu")])
    lengths = torch.cat([side.lengths for side in sides])
    bits = bit_length(max(1, *(side.id_bound for side in sides)))
    return Digits(ids.add_(1), remaining_tokens(lengths), bits, repeat_each(group, lengths), bit_length(groups - 1))


def bit_length(number: int) -> int:
    """Return how many bits ``0..number`` need. A loop, because ``int.bit_length`` breaks a compiled graph."""
    bits = 0
    while number >= 1 << bits:
        bits += 1
    return bits


def run_starts(ascending: Tensor) -> Tensor:
    """Mark the first slot of every run of equal values along the last dimension."""
    first = torch.ones_like(ascending[..., :1], dtype=torch.bool)
    return torch.cat((first, ascending[..., 1:] != ascending[..., :-1]), -1)


def dense_ranks(ascending: Tensor, slot: Tensor) -> Tensor:
    """Number the runs of sorted values ``1, 2, ...`` and return the numbers in the original order of the slots."""
    rank = run_starts(ascending).cumsum(-1, dtype=torch.int64)
    return torch.empty_like(rank).scatter_(-1, slot, rank)


def rank_in_rows(ids: Tensor) -> Tensor:
    """Number the ids ``(..., slots)`` of each row ascending in ``[1, slots]``, equal ids with equal numbers."""
    ascending, slot = torch.sort(ids)
    if ids.device.type == "cpu" and ids.numel() > SEARCHED_SLOTS:
        return dense_ranks(ascending, slot)
    return torch.searchsorted(ascending, ids.contiguous(), right=True)  # a single launch


def join_digits(digits: Tensor, length: int, bits: int) -> Tensor:
    """Return the number that the ``length`` digits from each slot on form: ``(..., slots - length + 1)``.

    The result may be ``digits`` itself.
    """
    if length == 1:
        return digits
    half = length // 2
    keys = join_digits(digits, half, bits)
    keys = append_digits(keys[..., :-half], keys[..., half:], half * bits)
    return append_digits(keys[..., :-1], digits[..., length - 1 :], bits) if length % 2 else keys


def append_digits(keys: Tensor, digits: Tensor, bits: int) -> Tensor:
    """Return keys followed by digits that are ``bits`` wide, in one launch."""
    return torch.add(digits, keys, alpha=1 << bits)


def sorted_keys(tokens: Digits, max_order: int) -> Iterator[SortedKeys]:
    """Sort the n-grams of the orders ``1..max_order``, in as few sorts as the bits of a key allow.

    Exactly one of the results serves each order. Every sort leaves each group its range of slots.
    """
    slots = tokens.remaining.shape[-1]
    if tokens.bits + max(tokens.group_bits, bit_length(slots)) > KEY_BITS:
        # These digits are too wide to follow a group or a rank; their ranks are narrow enough.
        tokens = tokens._replace(digits=rank_in_rows(tokens.digits), bits=bit_length(tokens.digits.shape[-1]))
    head, head_bits, served = tokens.group, tokens.group_bits, 0
    while served < max_order:
        taken = min(max_order - served, (KEY_BITS - head_bits) // tokens.bits)
        keys, slot = torch.sort(_make_keys(tokens, head if head_bits else None, served, taken))
        yield SortedKeys(keys, slot, served + 1, served + taken, tokens.bits)
        served += taken
        if served < max_order:
            head = dense_ranks(keys, slot)
            head_bits = bit_length(slots)


def _make_keys(tokens: Digits, head: Tensor | None, served: int, taken: int) -> Tensor:
    """Return ``head`` followed by ``taken`` digits, after those already ``served``: ``(..., slots)``."""
    needed = tokens.remaining.shape[-1] + taken - 1
    digits = tokens.digits[..., served : served + needed]
    if missing := needed - digits.shape[-1]:
        digits = torch.nn.functional.pad(digits, (0, missing))
    keys = join_digits(digits, taken, tokens.bits)
    if head is not None:
        keys = append_digits(head, keys, taken * tokens.bits)
    # The last digits of an n-gram past the end of its document are from the next document: they become 0.
    past = (served + taken - tokens.remaining).clamp_(0, taken).mul_(tokens.bits)
    return keys.bitwise_right_shift(past).bitwise_left_shift_(past)
