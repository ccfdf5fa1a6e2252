"""Settings as states.

``torchmetrics.MetricCollection`` merges two metrics into one compute group when all their states are equal after the
first batch, and from then on reports the counts of one for both. Two metrics whose settings differ may well count the
same in one batch, so the settings stand among the states: as a digest, which is equal wherever the settings are, and as
a number of this process that tells apart callables of one name, two lambdas for instance.

Both are small integers in uint8, because the comparison is ``allclose`` with a tolerance relative to the value.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from numbers import Number
from types import MethodType

import numpy as np
import torch
from torch import Tensor

from ngram_metrics.text.tokenizers import callable_name, has_vocabulary, tokenizer_signature

#: Identities seen in this process, numbered. An entry outlives its callables, whose addresses may then be taken by
#: others; that is harmless, because only metrics that are alive, and so keep theirs alive, are ever compared.
_numbers: dict[tuple[int, ...], int] = {}


def settings_digest(*settings: object) -> Tensor:
    """Return the SHA-256 of settings, ``(32,)`` uint8: equal settings in any process give equal digests."""
    text = repr([_described(setting) for setting in settings])
    return _bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())


def callables_number(*settings: object) -> Tensor:
    """Return a number of this process for the callables among settings, ``(8,)`` uint8."""
    identity = tuple(address for setting in settings for address in _addresses(setting))
    number = _numbers.setdefault(identity, len(_numbers))
    return _bytes(number.to_bytes(8, "little"))


def _bytes(values: bytes) -> Tensor:
    return torch.tensor(list(values), dtype=torch.uint8, device="cpu")


def _described(value: object) -> object:
    """Reduce a setting to plain values; what has no plain value is known by its qualified name."""
    if is_dataclass(value) and not isinstance(value, type):
        return [
            type(value).__name__,
            *((field.name, _described(getattr(value, field.name))) for field in fields(value)),
        ]
    if isinstance(value, (list, tuple)):
        return [_described(item) for item in value]
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, np.generic):
        return value.item()  # a number of numpy's is the same setting as Python's
    if isinstance(value, Number):
        return value
    if isinstance(value, partial):
        return ["partial", _described(value.func), _described(value.args), _described(sorted(value.keywords.items()))]
    if has_vocabulary(value):
        return tokenizer_signature(value)["tok"]  # with a digest of its vocabulary and rules
    return callable_name(value)


def _addresses(value: object) -> Iterator[int]:
    if is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _addresses(getattr(value, field.name))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _addresses(item)
    elif isinstance(value, MethodType):  # a new object at every access
        yield from (id(value.__self__), id(value.__func__))
    elif value is not None and not isinstance(value, (str, Number)):
        yield id(value)
