"""Clipped n-gram matches of padded ids in torch, on any device and in recorded graphs.

The counts are those of ``_core.counting.matches``. No step depends on data: everything runs on the ``meta`` device,
compiles to one graph and never waits for a GPU. The keys of both sides are sorted, and the keys of a hypothesis are
looked up in each of its references.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ngram_metrics._core.counting.padded_batch import PAST_HYPOTHESIS, PAST_REFERENCE, PaddedBatch

#: Bits of a key: int64 without its sign.
KEY_BITS = 63
#: The number of slots that are counted at a time, which limits memory.
SLOTS = 1 << 22


def count_matches(batch: PaddedBatch, orders: int) -> Tensor:
    """Return the clipped matches of each segment and order, ``(segments, orders)`` int64."""
    hypotheses = batch.hypotheses
    references = batch.references
    segments, count, reference_width = references.shape
    # Orders longer than every document have no n-grams.
    counted = min(orders, hypotheses.shape[1], reference_width)
    if segments == 0 or counted == 0:
        return hypotheses.new_zeros(segments, orders)
    at_once = max(1, SLOTS // (count * (hypotheses.shape[1] + reference_width)))
    parts = [
        _count_rows(hypotheses[first : first + at_once], references[first : first + at_once], counted)
        for first in range(0, segments, at_once)
    ]
    matches = parts[0] if len(parts) == 1 else torch.cat(parts)
    return matches if counted == orders else torch.nn.functional.pad(matches, (0, orders - counted))


def _count_rows(hypotheses: Tensor, references: Tensor, orders: int) -> Tensor:
    """Return the matches of each row, ``(segments, orders)``. No row is shorter than the longest order.

    The documents of a segment follow one another, separated by the ids past their ends, and every slot gets a key.
    """
    segments, width = hypotheses.shape
    _, count, reference_width = references.shape
    # Both ids in one kernel.
    past = torch.arange(PAST_HYPOTHESIS, PAST_REFERENCE + 1, device=hypotheses.device)
    past_hypothesis, past_reference = past.expand(segments, 2).split(1, 1)
    row = [hypotheses, past_hypothesis]
    for reference in references.unbind(1):
        row += (reference, past_reference)
    digits = rank_in_rows(torch.cat((*row, past_reference.expand(-1, orders - 1)), 1))
    bits = _bit_length(digits.shape[1])
    head = None
    orders_done = 0
    matches = []
    while orders_done < orders:
        digits_in_key = KEY_BITS // bits
        if head is not None:
            digits_in_key -= 1
        orders_taken = min(orders - orders_done, digits_in_key)
        keys = _join_digits(digits[:, orders_done:], orders_taken, bits)
        if head is not None:
            keys = _append_digits(head[:, : keys.shape[1]], keys, orders_taken * bits)
        reference_keys = keys[:, width + 1 : width + 1 + count * (reference_width + 1)].unflatten(1, (count, -1))
        matches.append(_look_up(keys[:, :width], reference_keys, orders_taken, bits))
        orders_done += orders_taken
        if orders_done < orders:
            head = rank_in_rows(keys)
    return (matches[0] if len(matches) == 1 else torch.cat(matches)).T


def _look_up(hypotheses: Tensor, references: Tensor, orders: int, bits: int) -> Tensor:
    """Return the matches ``(orders, segments)`` of keys ``(segments, width)`` and ``(segments, references, width)``.

    Keys are as long as the last of these orders. Among equal n-grams of a hypothesis the first k match, where k is the
    largest count in one reference.
    """
    device = hypotheses.device
    dropped_bits = torch.arange((orders - 1) * bits, -1, -bits, device=device).reshape(-1, 1, 1)
    # Sorted keys stay sorted when their last digits are cut.
    wanted = torch.bitwise_right_shift(torch.sort(hypotheses).values, dropped_bits)  # (orders, segments, width)
    keys = torch.bitwise_right_shift(torch.sort(references).values, dropped_bits.unsqueeze(-1))
    sought = wanted.unsqueeze(2)
    if references.shape[1] > 1:
        sought = sought.expand(-1, -1, references.shape[1], -1).contiguous()
    # Positions in a row fit int32, which halves the memory traffic.
    count = torch.searchsorted(keys, sought, right=True, out_int32=True)
    count = count - torch.searchsorted(keys, sought, out_int32=True)
    count = count.amax(2) if references.shape[1] > 1 else count.squeeze(2)
    slots = torch.arange(wanted.shape[-1], dtype=torch.int32, device=device)
    earlier = slots - torch.searchsorted(wanted, wanted, out_int32=True)
    return (earlier < count).sum(-1)


def rank_in_rows(ids: Tensor) -> Tensor:
    """Return the rank of each id ``(..., slots)`` in its row, from 1 to ``slots``; equal ids have equal ranks."""
    return torch.searchsorted(torch.sort(ids).values, ids.contiguous(), right=True)


def _join_digits(digits: Tensor, length: int, bits: int) -> Tensor:
    """Return at each slot the number made of the next ``length`` digits, ``(..., slots - length + 1)``."""
    if length == 1:
        return digits
    half = length // 2
    keys = _join_digits(digits, half, bits)
    keys = _append_digits(keys[..., :-half], keys[..., half:], half * bits)
    return _append_digits(keys[..., :-1], digits[..., length - 1 :], bits) if length % 2 else keys


def _append_digits(keys: Tensor, digits: Tensor, bits: int) -> Tensor:
    """Return keys followed by digits that are ``bits`` wide, in one kernel."""
    return torch.add(digits, keys, alpha=1 << bits)


def _bit_length(number: int) -> int:
    """Return how many bits a number needs. ``int.bit_length`` would break a compiled graph."""
    bits = 0
    while number >= 1 << bits:
        bits += 1
    return bits
