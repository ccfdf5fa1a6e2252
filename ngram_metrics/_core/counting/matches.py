"""Clipped n-gram matches: how many n-grams of a hypothesis occur in its references, at most as often as there.

Papineni et al. 2002, section 2.1: the matches of an n-gram are the smaller of its counts in hypothesis and reference;
with several references, the reference count is the largest of their counts.

On a CPU ``_core.counting.numpy_matches`` counts. Padded tokens on other devices, and in calls that are
compiled or traced, are counted here. No step depends on data: they run on the ``meta`` device, compile in one graph and
never wait for a GPU. The keys of both sides are sorted, and a hypothesis's keys are looked up in each reference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ngram_metrics._core.basics.lazy import torch
from ngram_metrics._core.counting.documents import (
    PAST_HYPOTHESIS,
    PAST_REFERENCE,
    DocumentGroups,
    PaddedPairs,
    PaddedReferences,
    RaggedPairs,
    RaggedSides,
    SidesOrPairs,
    owners,
    row_chunks,
)
from ngram_metrics._core.counting.keys import KEY_BITS, append_digits, bit_length, join_digits, rank_in_rows
from ngram_metrics._core.counting.numpy_matches import add_empty_orders, numpy_matches

if TYPE_CHECKING:
    from torch import Tensor


def ngram_totals(lengths: Tensor, max_order: int) -> Tensor:
    """Return the number of n-grams of documents: from lengths ``(...,)`` to ``(..., orders)``, int64."""
    shorter = torch.arange(max_order, device=lengths.device)
    return (lengths.unsqueeze(-1) - shorter).clamp(min=0)


def count_ngrams(lengths: Tensor, order: int) -> Tensor:
    """Return the number of n-grams of one order of documents: from lengths ``(...,)`` to ``(...,)``, int64."""
    return (lengths - (order - 1)).clamp(min=0)


def count_matches(documents: SidesOrPairs, max_order: int) -> Tensor:
    """Count the matches of each hypothesis with its references, up to an order of at least 1.

    They are ``(segments, orders)`` int64: for each order the sum over its n-grams of the smaller of the count in the
    hypothesis and the largest count in one reference.
    """
    if isinstance(documents, (RaggedPairs, RaggedSides)):
        return numpy_matches(documents, max_order)
    if isinstance(documents, PaddedPairs):
        return _row_matches(documents.hypotheses.ids, documents.references.ids.unsqueeze(1), max_order)
    return _row_matches(documents.hypotheses.ids, documents.references.tokens.ids, max_order)


def closest_reference_length(hypothesis_lengths: Tensor, references: DocumentGroups | PaddedReferences) -> Tensor:
    """Return the reference length nearest to each hypothesis length ``(segments,)`` int64, the shorter on a tie."""
    lengths = references.tokens.lengths
    if references.single or len(hypothesis_lengths) == 0:
        return lengths.reshape(-1)
    if isinstance(references, PaddedReferences):
        assert references.present is not None
        distance = _distance(hypothesis_lengths.unsqueeze(-1), lengths)
        distance = distance.masked_fill_(~references.present, torch.iinfo(torch.int64).max)
        return lengths.gather(-1, distance.argmin(-1, keepdim=True)).squeeze(-1)
    segment = owners(references.counts)
    distance = _distance(hypothesis_lengths.index_select(0, segment), lengths)
    nearest = torch.zeros_like(hypothesis_lengths).scatter_reduce(0, segment, distance, "amin", include_self=False)
    # Four times the distance, and 1 more if the reference is longer than the hypothesis, 1 less if it is shorter.
    apart = (nearest + 1) >> 2
    return hypothesis_lengths + torch.where((nearest & 2) == 0, apart, -apart)


def _distance(hypothesis: Tensor, reference: Tensor) -> Tensor:
    """Return a number that sorts reference lengths by nearness, the shorter before the longer if equally near."""
    return (4 * (reference - hypothesis) + 1).abs()


def _row_matches(hypotheses: Tensor, references: Tensor, max_order: int) -> Tensor:
    """Count the matches of hypotheses ``(segments, width)`` with references ``(segments, references, width)``."""
    segments, count, reference_width = references.shape
    # Orders longer than a document have no n-grams, and take neither time nor memory.
    orders = min(max_order, hypotheses.shape[1], reference_width)
    if segments == 0 or orders == 0:
        return hypotheses.new_zeros(segments, max_order)
    # The hypothesis is looked up in each of its references.
    slots = count * (hypotheses.shape[1] + reference_width)
    matches = [
        _count_rows(hypotheses[start:stop], references[start:stop], orders)
        for start, stop in row_chunks(segments, slots, hypotheses.device)
    ]
    return add_empty_orders(matches[0] if len(matches) == 1 else torch.cat(matches), max_order)


def _count_rows(hypotheses: Tensor, references: Tensor, orders: int) -> Tensor:
    """Return the matches of each row, ``(segments, orders)``, where no row is shorter than the longest order.

    The documents of a segment are laid out one after another, and a key is made at every slot. The ids past their ends
    separate them, so that no n-gram that leaves its document is on both sides.
    """
    segments, width = hypotheses.shape
    _, count, reference_width = references.shape
    past = torch.arange(PAST_HYPOTHESIS, PAST_REFERENCE + 1, device=hypotheses.device)
    past_hypothesis, past_reference = past.expand(segments, 2).split(1, 1)
    row = [hypotheses, past_hypothesis]
    for reference in references.unbind(1):
        row += (reference, past_reference)
    digits = rank_in_rows(torch.cat((*row, past_reference.expand(-1, orders - 1)), 1))
    bits = bit_length(digits.shape[1])
    head, served, matches = None, 0, []
    while served < orders:
        taken = min(orders - served, KEY_BITS // bits - (head is not None))
        keys = join_digits(digits[:, served:], taken, bits)
        if head is not None:
            keys = append_digits(head[:, : keys.shape[1]], keys, taken * bits)
        reference_keys = keys[:, width + 1 : width + 1 + count * (reference_width + 1)].unflatten(1, (count, -1))
        matches.append(_look_up(keys[:, :width], reference_keys, taken, bits))
        served += taken
        if served < orders:
            head = rank_in_rows(keys)
    return (matches[0] if len(matches) == 1 else torch.cat(matches)).T


def _look_up(hypotheses: Tensor, references: Tensor, orders: int, bits: int) -> Tensor:
    """Return the matches ``(orders, segments)`` of keys ``(segments, width)`` and ``(segments, references, width)``.

    The last digits of the keys are the last tokens of these orders. The first k of equal n-grams of a hypothesis are
    matched, where k is the largest count in one reference.
    """
    device = hypotheses.device
    dropped_bits = torch.arange((orders - 1) * bits, -1, -bits, device=device).reshape(-1, 1, 1)
    # The first digits of sorted keys are sorted too.
    wanted = torch.bitwise_right_shift(torch.sort(hypotheses).values, dropped_bits)  # (orders, segments, width)
    keys = torch.bitwise_right_shift(torch.sort(references).values, dropped_bits.unsqueeze(-1))
    sought = wanted.unsqueeze(2)
    if references.shape[1] > 1:
        sought = sought.expand(-1, -1, references.shape[1], -1).contiguous()
    count = torch.searchsorted(keys, sought, right=True) - torch.searchsorted(keys, sought)
    count = count.amax(2) if references.shape[1] > 1 else count.squeeze(2)
    earlier = torch.arange(wanted.shape[-1], device=device) - torch.searchsorted(wanted, wanted)
    return (earlier < count).sum(-1)
