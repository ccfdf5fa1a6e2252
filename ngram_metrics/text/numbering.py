"""Tokens become numbers: the ids that the counting module reads."""

from __future__ import annotations

import functools
import operator
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from itertools import chain

import numpy as np
import torch
from torch import Tensor

from ngram_metrics.counting.token_batch import RaggedTokens, owners, ragged_from_ids
from ngram_metrics.text.tokenizers import shortened


def number_tokens(
    documents: Sequence[Sequence[Hashable]], device: torch.device, place: Callable[[int], str]
) -> RaggedTokens:
    """Number the tokens ``0, 1, ...`` in the order in which they first appear.

    Raises:
        TypeError: a token is not hashable; ``place`` names the document of an index.
    """
    vocabulary: defaultdict[Hashable, int] = defaultdict()
    vocabulary.default_factory = vocabulary.__len__
    lengths = host_counts(list(map(len, documents)))
    numbered = map(vocabulary.__getitem__, chain.from_iterable(documents))
    try:
        ids = np.fromiter(numbered, np.int64, int(lengths.sum()))
    except TypeError:
        _name_unhashable(documents, place)
        raise
    return RaggedTokens(torch.from_numpy(ids).to(device), lengths, len(vocabulary))


def number_tensors(documents: list[Tensor], dropped: tuple[int, ...]) -> RaggedTokens:
    """Lay 1-D id tensors end to end without the ``dropped`` ids, and rename the others; this waits for the device."""
    ids = torch.cat(documents)
    lengths = host_counts(list(map(len, documents)))
    if dropped:
        kept = functools.reduce(operator.and_, [ids != no_token for no_token in dropped])
        lengths = torch.zeros_like(lengths).index_add(0, owners(lengths), kept.cpu().long())
        ids = ids.masked_select(kept)
    return ragged_from_ids(ids, lengths)


def host_counts(counts: Sequence[int]) -> Tensor:
    """Return numbers as an int64 tensor on the CPU, whatever the default device."""
    return torch.tensor(counts, dtype=torch.int64, device="cpu")


def _name_unhashable(documents: Sequence[Sequence[Hashable]], place: Callable[[int], str]) -> None:
    """Raise a TypeError that names the document with a token that is not hashable."""
    for index, document in enumerate(documents):
        for token in document:
            try:
                hash(token)
            except TypeError as error:
                raise TypeError(
                    f"{place(index)} has the token {shortened(token)}, a {type(token).__name__}: expected a hashable"
                ) from error
