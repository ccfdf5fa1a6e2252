"""The n-grams of a corpus: how often each occurs, in how many documents, and in which of them most often.

All texts of a corpus have one vocabulary. A document is a text, or several texts whose n-grams belong together, such as
the references of a segment. No n-gram crosses the border of two texts.

The n-grams of an order are numbered from the order below: an n-gram is the number of its first tokens and the number
of its last one. A stable sort by these two leaves equal n-grams in the order of their documents, so one sort for each
order finds the n-grams and the documents of each n-gram. Nothing is hashed: numbers are equal only for equal n-grams.

Example: the documents ``a b a``, ``b a`` and ``a``, order 1.

========  ========  =====  =========  =======  =====  ======
n-gram    document  count  documents  largest  owner  second
========  ========  =====  =========  =======  =====  ======
a         0, 1, 2   2 1 1  3          2        0      1
b         0, 1      1 1    2          1        0      1
========  ========  =====  =========  =======  =====  ======

The largest count in a document other than the owner is the second one, also for ``b``, whose two counts are equal.

``distinct_ngrams`` counts the n-grams of each document by itself. In padded rows no step of it depends on the ids: it
runs on the ``meta`` device, compiles in one graph and never waits for a GPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ngram_metrics._core.basics.lazy import np, torch
from ngram_metrics._core.counting.documents import (
    PaddedTokens,
    RaggedTokens,
    ragged_chunks,
    remaining_tokens,
    repeat_each,
    row_chunks,
)
from ngram_metrics._core.counting.keys import (
    KEY_BITS,
    Digits,
    bit_length,
    ragged_digits,
    rank_in_rows,
    run_starts,
    sorted_keys,
)
from ngram_metrics._core.counting.numpy_matches import must_use_torch

if TYPE_CHECKING:
    from torch import Tensor


class CorpusNgrams(NamedTuple):
    """The n-grams of one order: an entry for each n-gram of each document that has it.

    Attributes:
        ngram: ``(entries,)`` int64, ascending, the number of the n-gram, from 0 without gaps.
        document: ``(entries,)`` int64, ascending for each n-gram.
        times: ``(entries,)`` int64, how often the document has it.
        prefix: ``(ngrams,)`` int64, the number of the n-gram that ends before the last token, in the order below; 0 for
            order 1. N-grams are numbered by it, and then by their last token.
        last: ``(ngrams,)`` int64, the number of the last token in order 1; for order 1 its id.
    """

    ngram: Tensor
    document: Tensor
    times: Tensor
    prefix: Tensor
    last: Tensor

    def distinct(self) -> Tensor:
        """Return the number of distinct n-grams, ``()`` int64."""
        return self.ngram[-1:].sum() + min(1, len(self.ngram))

    def documents(self) -> Tensor:
        """Return how many documents have each n-gram, ``(ngrams,)`` int64."""
        return torch.zeros_like(self.last).index_add_(0, self.ngram, torch.ones_like(self.times))

    def largest(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return the largest count of each n-gram in a document, the first document with it, and the second largest.

        Each is ``(ngrams,)`` int64. Another document has the second largest count, which is 0 if there is none.
        """
        none = torch.zeros_like(self.last)
        largest = none.scatter_reduce(0, self.ngram, self.times, "amax")
        has_most = self.times == largest.index_select(0, self.ngram)
        entry = torch.arange(len(self.ngram), device=self.ngram.device)
        candidate = torch.where(has_most, entry, len(entry))
        first = torch.full_like(none, len(entry)).scatter_reduce(0, self.ngram, candidate, "amin")
        others = self.times.index_fill(0, first, 0)
        owner = self.document.index_select(0, first)
        return largest, owner, none.scatter_reduce(0, self.ngram, others, "amax")

    def sum_by_document(self, values: Tensor, documents: int) -> Tensor:
        """Sum values of the entries, ``(entries,)``, over each document: ``(documents,)``."""
        return values.new_zeros(documents).index_add_(0, self.document, values)


def corpus_ngrams(tokens: RaggedTokens, max_order: int, document: Tensor | None = None) -> Iterator[CorpusNgrams]:
    """Count the n-grams of a corpus of texts with one vocabulary for each of the orders ``1..max_order``.

    ``document`` ``(texts,)`` int64, ascending, is the document of each text; None if each text is one.
    """
    lengths = tokens.lengths
    document = torch.arange(len(lengths), device="cpu") if document is None else document
    remaining = remaining_tokens(lengths)
    owner = repeat_each(document, lengths)
    slot = torch.arange(len(tokens.ids), device="cpu")
    last = ngram_number = tokens.ids  # (slots,), of the token and of the n-gram of the order below
    last_bits = bit_length(max(1, tokens.id_bound - 1))
    number_bits = 0
    for order in range(1, max_order + 1):
        if order > 1:
            slot = slot.masked_select(remaining.index_select(0, slot) >= order)
        key = last.index_select(0, slot + (order - 1))
        if order > 1:
            key |= ngram_number.index_select(0, slot) << last_bits
        key, sorted_slot = _sort_slots(key, slot, last_bits + number_bits)
        starts = run_starts(key)
        ngram = starts.cumsum(0, dtype=torch.int64) - 1  # (n-grams with repetitions,)
        distinct = key.masked_select(starts)
        entries = _entries(ngram, owner.index_select(0, sorted_slot))
        yield CorpusNgrams(*entries, distinct >> last_bits, distinct & ((1 << last_bits) - 1))
        ngram_number = torch.empty_like(tokens.ids).index_copy_(0, sorted_slot, ngram)
        number_bits = bit_length(max(1, len(distinct) - 1))
        if order == 1:
            last, last_bits = ngram_number, number_bits


def _sort_slots(key: Tensor, slot: Tensor, key_bits: int) -> tuple[Tensor, Tensor]:
    """Sort keys with their ascending slots, where equal keys keep the order of their slots.

    NumPy sorts plain numbers much faster than torch sorts numbers with an index. So the index is in the lowest bits of
    each number, if both fit.
    """
    index_bits = bit_length(len(slot))
    if must_use_torch() or key_bits + index_bits > KEY_BITS:
        key, order = torch.sort(key, stable=True)
        return key, slot.index_select(0, order)
    packed = (key << index_bits | torch.arange(len(slot), device="cpu")).numpy()
    packed.sort()
    index = torch.from_numpy(packed & np.int64((1 << index_bits) - 1))
    return torch.from_numpy(packed >> index_bits), slot.index_select(0, index)


def _entries(ngram: Tensor, document: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return each n-gram and document once, equal n-grams as neighbours, with their number of occurrences."""
    starts = (run_starts(ngram) | run_starts(document)).nonzero().squeeze(1)
    count = starts.diff(append=starts.new_full((1,), len(ngram)))
    return ngram.index_select(0, starts), document.index_select(0, starts), count


def distinct_ngrams(tokens: RaggedTokens | PaddedTokens, order: int) -> Tensor:
    """Return the number of distinct n-grams of one order in each document, ``(documents,)`` int64."""
    counts = [tokens.ids.new_zeros(0)]
    if isinstance(tokens, PaddedTokens):
        rows, width = tokens.ids.shape
        for start, stop in row_chunks(rows, width, tokens.ids.device):
            counts.append(_count_in_rows(tokens.slice(start, stop), order))
    else:
        for start, stop in ragged_chunks(tokens.lengths, tokens.ids.device, update=True):
            counts.append(_count_in_documents(tokens.slice(start, stop), order))
    return torch.cat(counts)


def _count_in_rows(tokens: PaddedTokens, order: int) -> Tensor:
    width = tokens.ids.shape[1]
    if width < order:
        return torch.zeros_like(tokens.lengths)
    digits = Digits(rank_in_rows(tokens.ids), tokens.remaining(), bit_length(width), None, 0)
    return _first_of_their_kind(digits, order).sum(1)


def _count_in_documents(tokens: RaggedTokens, order: int) -> Tensor:
    documents = tokens.documents
    digits = ragged_digits((tokens,), torch.arange(documents, device=tokens.ids.device), documents)
    assert digits.group is not None
    # Sorting leaves each document its range of slots.
    return tokens.ids.new_zeros(documents).index_add_(0, digits.group, _first_of_their_kind(digits, order).long())


def _first_of_their_kind(digits: Digits, order: int) -> Tensor:
    """Mark one slot of each distinct n-gram, ``(..., slots)`` bool, among slots that are sorted by n-gram."""
    for keys in sorted_keys(digits, order):  # noqa: B007
        pass  # only the last sort is needed, and no other is kept
    prefix = keys.prefix(order)
    return run_starts(prefix) & keys.valid(prefix)
