"""Count n-grams and common subsequences of token ids, on any device. The metrics of this package count with it.

``clipped_matches``, ``ngram_counts`` and ``common_subsequence_lengths`` take token ids only, and return int64 tensors.
The counts are exact for all ids. No text, formula or framework is involved.

Ids are read as the metrics read them, in two layouts:

* Padded: one integer tensor or array of ids in rows, hypotheses ``(segments, width)``, references ``(segments, width)``
  or ``(segments, references, width)``. ``pad_id`` names the id or ids that are not tokens. These and negative ids, such
  as -100, are dropped at every position. The tensors are counted on their device; only ``ngram_counts`` copies them
  to the CPU.
* Lists: a sequence with one item for each segment: a sequence of integers, or a 1-D integer tensor or array. An item of
  ``target`` may also be a sequence of several references. Lists are counted on the CPU.

On a CPU, NumPy counts n-grams, and RapidFuzz computes common subsequences. On other devices, and in graphs that
``torch.compile`` or a trace records, torch gives the same counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from torch import Tensor

from ngram_metrics._core.basics.arrays import count_ngrams
from ngram_metrics._core.basics.keywords import named_arguments
from ngram_metrics._core.basics.option_checks import checked_order, pad_ids, refuse_missing_pad_id
from ngram_metrics._core.basics.tensors import copy_to, to_tensor
from ngram_metrics._core.counting.batch import Integers
from ngram_metrics._core.counting.counters import count_matches, find_common_lengths
from ngram_metrics._core.counting.ngram_counts import count_each_ngram
from ngram_metrics._core.text.id_lists import flatten_ids
from ngram_metrics._core.text.input_forms import read, read_documents
from ngram_metrics._core.text.input_types import Hypotheses, References
from ngram_metrics._core.text.messages import shortened
from ngram_metrics._core.text.reader import WordReader
from ngram_metrics._core.text.segments import Kind, PaddedSegments, Segments

if TYPE_CHECKING:
    from ngram_metrics._core.counting.counters import AnyBatch

__all__ = ["clipped_matches", "NgramMatches", "ngram_counts", "NgramCounts", "common_subsequence_lengths"]


class NgramMatches(NamedTuple):
    """The n-gram matches of hypotheses with their references.

    See the page "Count n-grams on tensors".

    Attributes:
        matches: ``(segments, orders)`` int64, the n-grams of each hypothesis that match. An n-gram matches at most as
            often as it occurs in any one reference (Papineni et al. 2002, section 2.1).
        hypothesis_ngrams: ``(segments, orders)`` int64, all n-grams of each hypothesis; in order 1 its tokens.
        reference_ngrams: ``(segments, orders)`` int64, all n-grams of the reference whose length is closest to that of
            the hypothesis, the shorter reference on a tie.
    """

    matches: Tensor
    hypothesis_ngrams: Tensor
    reference_ngrams: Tensor


class NgramCounts(NamedTuple):
    """The n-grams of one order that each document has.

    See the page "Count n-grams on tensors".

    Attributes:
        ngrams: ``(entries, ngram)`` int64, the ids of the n-gram.
        documents: ``(entries,)`` int64, the index of the document.
        counts: ``(entries,)`` int64, how often the document has this n-gram, at least 1.
    """

    ngrams: Tensor
    documents: Tensor
    counts: Tensor


@named_arguments
def clipped_matches(
    preds: Hypotheses, target: References, ngram: int = 4, pad_id: int | Sequence[int] | None = None
) -> NgramMatches:
    """Count how many n-grams of each hypothesis match its references, for the orders 1 to ``ngram``.

    Args:
        preds: the hypotheses, ``(segments, width)`` or a sequence of ids for each segment.
        target: the references, ``(segments, width)``, ``(segments, references, width)``, or for each segment one
            sequence of ids or several; ``[[]]`` is one empty reference. In a tensor a row without tokens is a missing
            reference. If all are missing, the segment has one empty reference.
        ngram: the longest order, 1 to 1,000.
        pad_id: the id or ids that are not tokens. A padded tensor needs it.

    Returns:
        Three int64 tensors ``(segments, ngram)``, on the device of padded ids, else on the CPU. Padded ids are
        counted without waiting for the device: no step depends on the data.

    Raises:
        TypeError: text, or tokens that are not integers, with the lines that number words; a setting of another type.
        ValueError: tensors of other shapes or on different devices; different numbers of segments; a segment without a
            reference, such as the item ``[]``; in a list a negative id that ``pad_id`` does not name; in a tensor or
            array an id of 2^63 or more; an order out of its range.

    Example:
        >>> from ngram_metrics.counting import clipped_matches
        >>> counts = clipped_matches([[1, 2, 1, 2, 3]], [[[1, 2, 3], [1, 2, 4, 1, 2]]], ngram=2)
        >>> counts.matches, counts.hypothesis_ngrams, counts.reference_ngrams
        (tensor([[5, 3]]), tensor([[5, 4]]), tensor([[5, 4]]))
    """
    order = checked_order(ngram)
    segments = read(preds, target)
    _check_ids(segments, preds=preds, target=target)
    batch = _encode(segments, pad_id)
    return NgramMatches(
        matches=to_tensor(count_matches(batch, order)),
        hypothesis_ngrams=to_tensor(count_ngrams(batch.hypothesis_lengths, order)),
        reference_ngrams=to_tensor(count_ngrams(batch.closest_lengths(), order)),
    )


@named_arguments
def ngram_counts(
    ids: Hypotheses, ngram: int, pad_id: int | Sequence[int] | None = None, corpus: bool = False
) -> NgramCounts:
    """Count how often each document has each of its n-grams of one order.

    Ids are counted on the CPU. Ids on a device are copied, which waits for the device, and the result is copied back.

    Args:
        ids: the documents, ``(documents, width)`` or a sequence of ids for each.
        ngram: the order, 1 to 1,000.
        pad_id: the id or ids that are not tokens. A padded tensor needs it.
        corpus: whether all documents are counted together, as document 0.

    Returns:
        One entry for each distinct n-gram of a document, on the device of a padded tensor, else on the CPU. The
        entries are sorted by document, and then by ids.

    Raises:
        TypeError, ValueError: the errors of ``clipped_matches``; in a list an id of 2^63 or more.

    Example:
        >>> from ngram_metrics.counting import ngram_counts
        >>> counts = ngram_counts([[7, 8, 7, 8], [8, 7]], ngram=2)
        >>> list(zip(counts.documents.tolist(), counts.ngrams.tolist(), counts.counts.tolist()))
        [(0, [7, 8], 2), (0, [8, 7], 1), (1, [8, 7], 1)]
        >>> ngram_counts([[7, 8, 7, 8], [8, 7]], ngram=2, corpus=True).counts
        tensor([2, 2])
    """
    order = checked_order(ngram)
    tokens, lengths = _read_documents(ids, pad_id)
    entries = map(to_tensor, count_each_ngram(tokens, lengths, order, corpus))
    return NgramCounts(*(copy_to(ids.device, *entries) if isinstance(ids, Tensor) else entries))


@named_arguments
def common_subsequence_lengths(
    preds: Hypotheses, target: References, pad_id: int | Sequence[int] | None = None
) -> Tensor:
    """Return the length of a longest common subsequence of each hypothesis and its reference.

    Args:
        preds: the hypotheses, ``(segments, width)`` or a sequence of ids for each segment.
        target: the reference of each, as for ``clipped_matches``.
        pad_id: the id or ids that are not tokens. A padded tensor needs it.

    Returns:
        ``(segments,)`` int64, on the device of padded ids, else on the CPU. Padded ids are counted without waiting
        for the device.

    Raises:
        TypeError, ValueError: the errors of ``clipped_matches``; several references of a segment.

    Example:
        >>> import torch
        >>> from ngram_metrics.counting import common_subsequence_lengths
        >>> common_subsequence_lengths(torch.tensor([[1, 2, 3, 4]]), torch.tensor([[2, 9, 4, 0]]), pad_id=0)
        tensor([2])
    """
    segments = read(preds, target)
    _check_ids(segments, preds=preds, target=target)
    batch = _encode(segments, pad_id)
    # The shape of padded references decides. Counting them would not do: on a CPU those without tokens are left out.
    if not batch.is_paired or (isinstance(segments, PaddedSegments) and segments.references.shape[1] > 1):
        raise ValueError("target has several references for a segment: expected one reference for each segment")
    return to_tensor(find_common_lengths(batch))


def _encode(segments: Segments | PaddedSegments, pad_id: int | Sequence[int] | None) -> AnyBatch:
    return WordReader(pad_id=pad_id).encode(segments)[0]


def _read_documents(ids: Hypotheses, pad_id: int | Sequence[int] | None) -> tuple[Integers, Integers]:
    """Return the ids of all documents, joined, and the length of each document."""
    segments = read_documents(ids)
    dropped = pad_ids(pad_id)
    if isinstance(segments, Tensor):
        refuse_missing_pad_id(dropped)
        rows = segments.long().cpu().numpy()
        is_token = (rows >= 0) & ~np.isin(rows, dropped)
        return rows[is_token], is_token.sum(1)
    _check_ids(segments, ids=ids)
    tokens, lengths, _ = flatten_ids(segments, dropped, None)
    if tokens.dtype == object and len(tokens) and max(tokens) >> 63:
        index = int((tokens >= 1 << 63).argmax())
        name = segments.name_of(int(lengths.cumsum().searchsorted(index, side="right")))
        raise ValueError(f"{name} has the id {shortened(tokens[index])}: expected ids below 2^63")
    return tokens.astype(np.int64), lengths


def _check_ids(segments: Segments | PaddedSegments, **arguments: Any) -> None:
    """Raise TypeError for text or tokens, with the lines that number the words of the arguments."""
    if segments.known_kind in ("ids", None):
        return
    lines = ["number_of = defaultdict(count().__next__)  # from collections and itertools"]
    is_one_segment = isinstance(next(iter(arguments.values())), str)
    for name, argument in arguments.items():
        given = f"[{name}]" if is_one_segment else name
        item = argument if is_one_segment else next(iter(argument))
        lines.append(f"{name} = {_numbering(given, segments.kind, has_several=_has_several(item, segments.kind))}")
    advice = "".join(f"\n    {line}" for line in lines)
    raise TypeError(
        f"the segments are {segments.kind}: expected token ids, which are integers. Number the words first:\n{advice}"
    )


def _has_several(item: Any, kind: Kind) -> bool:
    """Return whether an item of ``target`` is a sequence of references, not one reference."""
    if kind == "text":
        return not isinstance(item, str)
    return isinstance(next(iter(item), None), list | tuple)


def _numbering(given: str, kind: Kind, has_several: bool) -> str:
    """Return the expression that replaces each word in texts or lists of words by its number."""
    words, document = ("text.split()", "text") if kind == "text" else ("words", "words")
    numbers = f"[number_of[word] for word in {words}]"
    if has_several:
        return f"[[{numbers} for {document} in references] for references in {given}]"
    return f"[{numbers} for {document} in {given}]"
