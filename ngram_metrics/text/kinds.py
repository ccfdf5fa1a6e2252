"""Tokens or ids: the type of each token alone decides.

* An integer of any type is an id; a ``bool`` is not.
* A floating-point number is neither and is an error; so are lists, sets, dicts, tensors and arrays.
* Every other hashable is a token.

A sentence or a batch cannot mix ids and tokens: all sentences that are not empty must be of the same kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NoReturn

import numpy as np
from torch import Tensor

from ngram_metrics.counting.documents import Kind
from ngram_metrics.text.inputs import Document
from ngram_metrics.text.messages import NameOf, shortened, type_name

_CONTAINERS = (Tensor, np.ndarray, list, dict, set)
_FLOATS = (float, np.floating)


def token_types(sentences: Sequence[Document], name_of: NameOf) -> set[type]:
    """Return the types of all tokens.

    Args:
        sentences: lists of tokens or 1-D tensors of ids.
        name_of: returns the name of a sentence from its index.

    Raises:
        TypeError: a token of a wrong type; the message names its sentence.
    """
    lists = [sentence for sentence in sentences if not isinstance(sentence, Tensor)]
    types = set(map(type, chain.from_iterable(lists)))
    wrong = tuple(kind for kind in types if issubclass(kind, _CONTAINERS + _FLOATS))
    if wrong:
        _refuse_token(sentences, wrong, name_of)
    has_tensors = len(lists) < len(sentences)
    return types | {int} if has_tensors and any(len(s) for s in sentences if isinstance(s, Tensor)) else types


def common_kind(types: set[type], sentences: Sequence[Document], name_of: NameOf) -> Kind:
    """Return the kind of sentences, from the types of all their tokens: ``"ids"``, or ``"tokens"`` also without tokens.

    Raises:
        TypeError: ids and tokens are mixed; the message names the sentence.
    """
    kinds = set(map(_kind_of_type, types))
    if len(kinds) > 1:
        _refuse_mixed(sentences, name_of)
    return kinds.pop() if kinds else "tokens"


def _kind_of_type(token_type: type) -> Kind:
    is_integer = issubclass(token_type, (int, np.integer)) and not issubclass(token_type, bool)
    return "ids" if is_integer else "tokens"


def _refuse_token(sentences: Sequence[Document], wrong: tuple[type, ...], name_of: NameOf) -> NoReturn:
    index, token = next(
        (index, token)
        for index, sentence in enumerate(sentences)
        if not isinstance(sentence, Tensor)
        for token in sentence
        if type(token) in wrong
    )
    name = type_name(token)
    if isinstance(token, _FLOATS):
        raise TypeError(
            f"{name_of(index)} holds {shortened(token)}, {name}: expected token ids, which are integers, or tokens "
            "such as words"
        )
    raise TypeError(
        f"{name_of(index)} holds {name} as a token: expected hashable tokens, or ids as integers or as one 1-D tensor"
    )


def _refuse_mixed(sentences: Sequence[Document], name_of: NameOf) -> NoReturn:
    before: tuple[int, Kind] | None = None  # the first sentence that is not empty
    for index, sentence in enumerate(sentences):
        tokens = sentence[:1].tolist() if isinstance(sentence, Tensor) else sentence
        found = {_kind_of_type(type(token)): token for token in tokens}
        if len(found) > 1:
            raise TypeError(
                f"{name_of(index)} holds {shortened(found['ids'])}, an id, and {shortened(found['tokens'])}, a token: "
                "expected ids, which are integers, or tokens, which are not"
            )
        for kind in found:
            if before is not None and kind != before[1]:
                raise TypeError(
                    f"{name_of(index)} holds {kind}, {shortened(sentence)}, but {name_of(before[0])} holds {before[1]}"
                    ": expected one kind"
                )
            before = before or (index, kind)
    raise AssertionError("types of two kinds, but no sentence that differs")
