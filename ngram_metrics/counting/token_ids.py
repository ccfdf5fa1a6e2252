"""The public functions of ``ngram_metrics.counting``: token ids, checked, and their counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias, cast

import torch
from torch import Tensor

from ngram_metrics.basics.keywords import named_arguments
from ngram_metrics.basics.options import checked_order, pad_ids, refuse_missing_pad_id, whole_number
from ngram_metrics.counting import matches
from ngram_metrics.counting.corpus import corpus_ngrams
from ngram_metrics.counting.documents import (
    DocumentGroups,
    PaddedSides,
    RaggedSides,
    RaggedTokens,
    drop_ids,
    host_counts,
    padded_sides,
    ragged_from_ids,
)
from ngram_metrics.counting.subsequence.lengths import subsequence_lengths

#: The token ids of one document.
Ids: TypeAlias = Sequence[int] | Tensor
#: One padded tensor, or the ids of each segment.
Documents: TypeAlias = Tensor | Sequence[Ids]
#: One padded tensor, or the reference or the references of each segment.
References: TypeAlias = Tensor | Sequence[Ids | Sequence[Ids]]


class NgramMatches(NamedTuple):
    """The n-gram matches of hypotheses with their references, on the page docs/guides/counting.md.

    Attributes:
        matches: ``(segments, orders)`` int64, the n-grams of each hypothesis that match, each at most as often as it
            occurs in the reference that has most of it (Papineni et al. 2002, section 2.1).
        hypothesis_ngrams: ``(segments, orders)`` int64, all n-grams of each hypothesis; those of order 1 are its
            tokens.
        reference_ngrams: ``(segments, orders)`` int64, all n-grams of the reference whose length is closest to that of
            the hypothesis; of two as close, of the shorter.
    """

    matches: Tensor
    hypothesis_ngrams: Tensor
    reference_ngrams: Tensor


class NgramCounts(NamedTuple):
    """The n-grams of one order that each document has, on the page docs/guides/counting.md.

    Attributes:
        ngrams: ``(entries, ngram)`` int64, the ids of the n-gram.
        documents: ``(entries,)`` int64, the index of the document.
        counts: ``(entries,)`` int64, at least 1, how often it has this n-gram.
    """

    ngrams: Tensor
    documents: Tensor
    counts: Tensor


@named_arguments
def clipped_matches(
    preds: Documents, target: References, ngram: int = 4, pad_id: int | Sequence[int] | None = None
) -> NgramMatches:
    """Count how many n-grams of each hypothesis match its references, for the orders 1 to ``ngram``.

    Args:
        preds: the hypotheses, ``(segments, width)`` or a sequence of ids for each segment.
        target: the references, ``(segments, width)``, ``(segments, references, width)``, or for each segment one
            sequence of ids or a sequence of several. In a tensor a row without a token is a missing reference; if all
            are missing there is one empty reference.
        ngram: the longest order, 1 to 1,000.
        pad_id: the id or ids that are not tokens. A padded tensor needs it.

    Returns:
        Three int64 tensors ``(segments, ngram)``, on the device of padded ids, else on the CPU. Padded ids are counted
        without waiting for the device: no step depends on the data.

    Raises:
        TypeError: neither two integer tensors nor two sequences of ids; a setting of another type.
        ValueError: tensors of other shapes or on different devices; different numbers of segments; a segment without a
            reference; in a list a negative id that ``pad_id`` does not name; an order out of its range.

    Example:
        >>> from ngram_metrics.counting import clipped_matches
        >>> counts = clipped_matches([[1, 2, 1, 2, 3]], [[[1, 2, 3], [1, 2, 4, 1, 2]]], ngram=2)
        >>> counts.matches, counts.hypothesis_ngrams, counts.reference_ngrams
        (tensor([[5, 3]]), tensor([[5, 4]]), tensor([[5, 4]]))
    """
    order = checked_order(ngram)
    sides = _read_sides(preds, target, pad_ids(pad_id))
    hypotheses, references = sides
    lengths = hypotheses.device_lengths
    closest = matches.closest_reference_length(lengths, references)
    return NgramMatches(
        matches.clipped_matches(sides, order),
        matches.ngram_totals(lengths, order),
        matches.ngram_totals(closest, order),
    )


@named_arguments
def ngram_counts(
    ids: Documents, ngram: int, pad_id: int | Sequence[int] | None = None, corpus: bool = False
) -> NgramCounts:
    """Count how often each document has each of the n-grams of one order that it contains.

    How many entries there are depends on the data: for ids on a device this waits for it.

    Args:
        ids: the documents, ``(documents, width)`` or a sequence of ids for each.
        ngram: the order, 1 to 1,000.
        pad_id: the id or ids that are not tokens. A padded tensor needs it.
        corpus: whether all documents are counted together, as document 0.

    Returns:
        An entry for each document and n-gram that it has, on the device of a padded tensor, else on the CPU; those of
        the first document first, and in a document in ascending order of the ids.

    Raises:
        TypeError: neither an integer tensor nor a sequence of ids; a setting of another type.
        ValueError: a tensor of another shape; in a list a negative id that ``pad_id`` does not name; an order out of
            its range.

    Example:
        >>> from ngram_metrics.counting import ngram_counts
        >>> counts = ngram_counts([[7, 8, 7, 8], [8, 7]], ngram=2)
        >>> list(zip(counts.documents.tolist(), counts.ngrams.tolist(), counts.counts.tolist()))
        [(0, [7, 8], 2), (0, [8, 7], 1), (1, [8, 7], 1)]
        >>> ngram_counts([[7, 8, 7, 8], [8, 7]], ngram=2, corpus=True).counts
        tensor([2, 2])
    """
    order = checked_order(ngram)
    dropped = pad_ids(pad_id)
    if isinstance(ids, Tensor):
        rows = drop_ids(_check_rows(ids, "ids", dropped), dropped)
        is_token = torch.arange(rows.ids.shape[1], device=ids.device) < rows.lengths.unsqueeze(1)
        tokens = rows.ids.masked_select(is_token)
        lengths = rows.lengths.cpu()
    else:
        documents = [_read_ids(document, f"ids[{index}]", dropped) for index, document in enumerate(_items(ids, "ids"))]
        tokens, lengths = _join(documents)
    names, numbers = torch.unique(tokens, return_inverse=True)
    texts = RaggedTokens(numbers, lengths, len(names))
    orders = corpus_ngrams(texts, order, torch.zeros_like(texts.device_lengths) if corpus else None)
    entries = next(orders)
    token_ids = names.index_select(0, entries.last)
    ngrams = token_ids.unsqueeze(1)  # (ngrams of the order, order)
    for entries in orders:
        last = token_ids.index_select(0, entries.last)
        ngrams = torch.cat((ngrams.index_select(0, entries.prefix), last.unsqueeze(1)), 1)
    by_document = torch.sort(entries.document, stable=True).indices
    by_document = by_document.masked_select(entries.times.index_select(0, by_document) > 0)
    ngram_of_entry = entries.ngram.index_select(0, by_document)
    return NgramCounts(
        ngrams.index_select(0, ngram_of_entry),
        entries.document.index_select(0, by_document),
        entries.times.index_select(0, by_document),
    )


@named_arguments
def common_subsequence_lengths(
    preds: Documents, target: Documents, pad_id: int | Sequence[int] | None = None
) -> Tensor:
    """Return the length of a longest common subsequence of each hypothesis and its reference.

    Args:
        preds: the hypotheses, ``(segments, width)`` or a sequence of ids for each segment.
        target: the reference of each, in the same form.
        pad_id: the id or ids that are not tokens. A padded tensor needs it.

    Returns:
        ``(segments,)`` int64, on the device of padded ids, else on the CPU. Padded ids are counted without waiting for
        the device.

    Raises:
        TypeError, ValueError: the errors of ``clipped_matches``; several references of a segment.

    Example:
        >>> import torch
        >>> from ngram_metrics.counting import common_subsequence_lengths
        >>> common_subsequence_lengths(torch.tensor([[1, 2, 3, 4]]), torch.tensor([[2, 9, 4, 0]]), pad_id=0)
        tensor([2])
    """
    references: References = target
    if not isinstance(target, Tensor):
        references = [[ids] for ids in _items(target, "target")]  # an empty item is an empty reference here
    pairs = _read_sides(preds, references, pad_ids(pad_id)).only_pairs
    if pairs is None:
        raise ValueError("target has several references of a segment: expected one of each")
    return subsequence_lengths(pairs)


def _read_sides(preds: Documents, target: References, dropped: tuple[int, ...]) -> RaggedSides | PaddedSides:
    if not isinstance(preds, Tensor) or not isinstance(target, Tensor):
        return _read_lists(_items(preds, "preds"), _items(target, "target"), dropped)
    _check_rows(preds, "preds", dropped)
    if target.dim() == 2:
        target = target.unsqueeze(1)
    if target.dim() != 3 or target.shape[1] == 0:
        raise ValueError(
            f"target has shape {tuple(target.shape)}: expected (segments, width), or (segments, references, width) "
            "with at least one reference"
        )
    _check_dtype(target, "target")
    _check_segments(len(preds), len(target))
    if preds.device != target.device:
        raise ValueError(f"preds is on {preds.device} and target is on {target.device}: expected the same device")
    return padded_sides(preds, target, dropped)


def _read_lists(preds: Sequence[Ids], target: Sequence[Ids | Sequence[Ids]], dropped: tuple[int, ...]) -> RaggedSides:
    _check_segments(len(preds), len(target))
    hypotheses = [_read_ids(ids, f"preds[{index}]", dropped) for index, ids in enumerate(preds)]
    references: list[list[int]] = []
    counts = []
    for index, item in enumerate(target):
        where = f"target[{index}]"
        if not isinstance(item, Tensor) and not len(_items(item, where)):
            raise ValueError(f"{where} is empty: expected a reference; one empty reference is written [[]]")
        if isinstance(item, Tensor) or not isinstance(item[0], (Tensor, Sequence)):
            references.append(_read_ids(cast(Ids, item), where, dropped))
            counts.append(1)
        else:
            for reference_index, ids in enumerate(cast(Sequence[Ids], item)):
                references.append(_read_ids(ids, f"{where}[{reference_index}]", dropped))
            counts.append(len(item))
    tokens = ragged_from_ids(*_join(hypotheses + references))
    groups = DocumentGroups(tokens.slice(len(hypotheses), tokens.documents), host_counts(counts))
    return RaggedSides(tokens.slice(0, len(hypotheses)), groups)


def _read_ids(ids: Ids, where: str, dropped: tuple[int, ...]) -> list[int]:
    """Return the ids of a document that are tokens."""
    if isinstance(ids, Tensor):
        _check_dtype(ids, where)
        if ids.dim() != 1:
            raise ValueError(f"{where} has shape {tuple(ids.shape)}: expected 1-D ids")
    tokens = []
    for item in ids.tolist() if isinstance(ids, Tensor) else _items(ids, where):
        token = whole_number(item)
        if token is None:
            raise TypeError(f"{where} holds {item!r:.60}: expected token ids, which are integers")
        if token in dropped:
            continue
        if not 0 <= token < 1 << 63:
            raise ValueError(f"{where} has the id {token!r:.60}: expected ids from 0 to 2^63 - 1, or in pad_id")
        tokens.append(token)
    return tokens


def _join(documents: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Return the ids of all documents one after another, and the length of each."""
    lengths = host_counts([len(document) for document in documents])
    return host_counts([token for document in documents for token in document]), lengths


def _items(side: object, where: str) -> Sequence[Ids]:
    if isinstance(side, Tensor):
        raise TypeError(f"{where} is a tensor and the other side is not: expected two padded tensors or two sequences")
    if not isinstance(side, Sequence) or isinstance(side, (str, bytes)):
        raise TypeError(
            f"{where} is {type(side).__name__}: expected token ids, as a padded tensor or as sequences of integers"
        )
    return side


def _check_rows(ids: Tensor, where: str, dropped: tuple[int, ...]) -> Tensor:
    refuse_missing_pad_id(dropped)
    if ids.dim() != 2:
        raise ValueError(f"{where} has shape {tuple(ids.shape)}: expected ids in rows, (segments, width)")
    _check_dtype(ids, where)
    return ids


def _check_dtype(ids: Tensor, where: str) -> None:
    # Ids of uint64 would have to be looked at, which waits for the device.
    if ids.is_floating_point() or ids.is_complex() or ids.dtype in (torch.bool, torch.uint64):
        raise TypeError(f"{where} is a tensor of {ids.dtype}: expected token ids, such as torch.int64")


def _check_segments(hypotheses: int, references: int) -> None:
    if hypotheses != references:
        raise ValueError(f"preds has {hypotheses} segments and target has {references}: expected references for each")
