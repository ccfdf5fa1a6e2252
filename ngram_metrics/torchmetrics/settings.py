"""Settings as states.

``torchmetrics.MetricCollection`` merges two metrics into one compute group if all their states are equal after the
first batch. From then on both report the same counts. Two metrics with different settings may have equal counts after
one batch, so the settings are states too: as a digest, which is the same in all processes, and as a number, valid in
this process only, that distinguishes callables with the same name, such as two lambdas.

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

#: The number of the layout of the states and of the text that is digested: one more for each change of either.
LAYOUT = 1
#: The identities seen in this process, numbered. An entry outlives its callables, and new objects may reuse their
#: addresses. That is harmless: only metrics that exist are compared, and these keep their callables alive.
_numbers: dict[tuple[int, ...], int] = {}


def settings_digest(*settings: object) -> Tensor:
    """Return the layout and the SHA-256 of settings, ``(33,)`` uint8: the same for equal settings in any process."""
    text = repr([_described(setting) for setting in settings])
    return _bytes(bytes([LAYOUT]) + hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())


def callables_number(*settings: object) -> Tensor:
    """Return a number of this process for the callables among settings, ``(8,)`` uint8."""
    identity = tuple(address for setting in settings for address in _addresses(setting))
    number = _numbers.setdefault(identity, len(_numbers))
    return _bytes(number.to_bytes(8, "little"))


def _bytes(values: bytes) -> Tensor:
    return torch.tensor(list(values), dtype=torch.uint8, device="cpu")


def _described(value: object) -> object:
    """Reduce a setting to plain values; a value that has none is identified by its qualified name."""
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
        return value.item()  # a numpy number is the same setting as Python's
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
    elif isinstance(value, MethodType):  # each access makes a new object
        yield from (id(value.__self__), id(value.__func__))
    elif value is not None and not isinstance(value, (str, Number)):
        yield id(value)
