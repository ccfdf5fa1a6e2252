"""Tokens and the values of arrays become numbers: the ids that the counting module counts."""

from __future__ import annotations

import functools
import operator
from collections import defaultdict
from collections.abc import Hashable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, TypeVar, cast

from ngram_metrics._core.basics.lazy import np, torch
from ngram_metrics._core.counting.documents import RaggedTokens, host_counts, owners, repeat_each
from ngram_metrics._core.text.foreign_values import tensor_types
from ngram_metrics._core.text.input_forms import Segments, refuse_negative
from ngram_metrics._core.text.messages import NameOf, name_unhashable
from ngram_metrics._core.text.word_bounds import Integers

if TYPE_CHECKING:
    from torch import Tensor

_Value = TypeVar("_Value", int, float)


def number_values(values: Integers) -> tuple[Integers, int]:
    """Number the distinct values ``(values,)`` int64 in any order, and return how many there are."""
    most = int(values.max(initial=0))
    if values.min(initial=0) >= 0 and most < 4 * len(values):
        occurs = np.zeros(most + 1, np.bool_)
        occurs[values] = True
        ids = occurs.cumsum() - 1
        return ids.take(values), int(ids[-1]) + 1
    distinct, ids = np.unique(values, return_inverse=True)
    return ids, len(distinct)


def number_in_order(values: Sequence[Hashable]) -> tuple[Integers, int]:
    """Number hashable objects as ``number_values`` does, in the order in which they first appear."""
    numbers: defaultdict[Hashable, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    ids = np.fromiter(map(numbers.__getitem__, values), np.int64, len(values))
    return ids, len(numbers)


def number_tokens(documents: Sequence[Sequence[Hashable]], name_of: NameOf) -> RaggedTokens:
    """Number the tokens ``0, 1, ...`` in any order, or raise the TypeError of ``name_unhashable``."""
    try:
        tokens = list(chain.from_iterable(documents))
        if tokens and type(tokens[0]) is int and set(map(type, tokens)) == {int}:  # a tokenizer returned ids
            return number_ids(cast("Sequence[Sequence[int]]", documents))
        ids, bound = number_in_order(tokens)
    except TypeError:
        name_unhashable(documents, name_of)
        raise
    return RaggedTokens(torch.from_numpy(ids), host_counts(list(map(len, documents))), bound)


def number_ids(documents: Sequence[Sequence[int]]) -> RaggedTokens:
    """Number integers of any type and size ``0, 1, ...`` in any order.

    They are sorted, because a dict takes quadratic time for integers that are chosen to collide.
    """
    lengths = list(map(len, documents))
    tokens = chain.from_iterable(documents)
    try:
        ids, bound = number_values(np.fromiter(tokens, np.int64, sum(lengths)))
    except OverflowError:
        integers = np.array(list(map(int, chain.from_iterable(documents))), object)
        distinct, ids = np.unique(integers, return_inverse=True)
        bound = len(distinct)
    return RaggedTokens(torch.from_numpy(ids), host_counts(lengths), bound)


def number_tensors(segments: Segments, dropped: tuple[int, ...]) -> RaggedTokens:
    """Concatenate 1-D id tensors without ``dropped`` ids, and renumber the rest, which waits for the device."""
    documents = segments.documents
    ids = torch.cat(documents).cpu()
    lengths = host_counts(list(map(len, documents)))
    if dropped:
        is_token = functools.reduce(operator.and_, [ids != no_token for no_token in dropped])
        if any(segments.padded):
            # Negative ids of other segments raise an error below.
            padded = repeat_each(torch.tensor(segments.padded, dtype=torch.int64, device="cpu"), lengths)
            is_token &= (ids >= 0) | (padded == 0)
        lengths = torch.zeros_like(lengths).index_add(0, owners(lengths), is_token.long())
        ids = ids.masked_select(is_token)
    if len(ids) and int(ids.min()) < 0:
        for index, document in enumerate(ids.split(lengths.tolist())):
            refuse_negative(document.tolist(), segments.name_of(index))
    numbers, bound = number_values(ids.numpy())
    return RaggedTokens(torch.from_numpy(numbers), lengths, bound)


def listed_ids(segments: Segments, dropped: tuple[int, ...], separator: int | None = None) -> list[Sequence[int]]:
    """Return the ids of each segment, hypotheses first, without the ids that are not tokens.

    The ``separator`` is kept, even if it is negative or ``dropped``. Another negative id that is not ``dropped`` raises
    ValueError, but in a row of a padded tensor.
    """
    documents = list_on_host(segments.documents)
    without = set(dropped) - {separator}
    if without:
        documents = [[token for token in ids if token not in without] for ids in documents]
    if min(chain.from_iterable(documents), default=0) >= 0:
        return documents
    padded = segments.padded or [False] * len(documents)
    for index, ids in enumerate(documents):
        if padded[index]:
            documents[index] = [token for token in ids if token >= 0 or token == separator]
        else:
            refuse_negative(ids, segments.name_of(index), separator)
    return documents


def list_on_host(rows: Sequence[Sequence[_Value] | Tensor]) -> list[Sequence[_Value]]:
    """Return 1-D tensors as lists, from an accelerator in one copy, because each copy waits for it."""
    types = tensor_types()
    tensors = [row for row in rows if isinstance(row, types)]
    if not tensors:
        return cast("list[Sequence[_Value]]", list(rows))
    if tensors[0].device.type != "cpu" and len({row.device for row in tensors}) == 1:
        tensors = list(torch.cat(tensors).cpu().split(list(map(len, tensors))))
    lists: list[Sequence[_Value]] = []
    remaining = iter(tensors)
    for row in rows:
        lists.append(next(remaining).tolist() if isinstance(row, torch.Tensor) else row)
    return lists
