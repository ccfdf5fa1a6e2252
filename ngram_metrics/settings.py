"""Settings of a metric as bytes: metrics with equal settings are recognised in any process, and in saved counts."""

from __future__ import annotations

import hashlib
from dataclasses import fields, is_dataclass
from functools import partial
from numbers import Number

import numpy as np

from ngram_metrics.document_frequency import DocumentFrequency
from ngram_metrics.text.tokenizers import callable_name, has_vocabulary, tokenizer_signature


def digest(*settings: object) -> bytes:
    """Return the SHA-256 of settings, 32 bytes: equal settings in any process give equal digests."""
    text = repr([_described(setting) for setting in settings])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _described(value: object) -> object:
    """Reduce a setting to plain values; a value that has none is identified by its qualified name."""
    if value is None or isinstance(value, (str, bool)) or type(value) in (int, float):
        return value
    if isinstance(value, DocumentFrequency):
        return value.digest
    if is_dataclass(value) and not isinstance(value, type):
        return [type(value).__name__, *((part.name, _described(getattr(value, part.name))) for part in fields(value))]
    if isinstance(value, (list, tuple)):
        return [_described(item) for item in value]
    if isinstance(value, np.generic):
        return value.item()  # a numpy number is the same setting as Python's
    if isinstance(value, Number):
        return value
    if isinstance(value, partial):
        return ["partial", _described(value.func), _described(value.args), _described(sorted(value.keywords.items()))]
    if has_vocabulary(value):
        return tokenizer_signature(value)["tok"]  # with a digest of its vocabulary and rules
    return callable_name(value)
