"""The settings of a metric as bytes, to recognize equal settings across processes and in saved counts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from numbers import Number
from typing import Any

import numpy as np

from ngram_metrics._core.text.tokenizer_option import callable_name, tokenizer_signature, vocabulary_package


def digest(*settings: object) -> bytes:
    """Return the SHA-256 of settings, 32 bytes. Equal settings have equal digests in any process.

    The digest of a dataclass covers its name and the fields that differ from their defaults, so a new option leaves
    the digests of saved states valid.
    """
    text = repr([_reduce(setting) for setting in settings])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def describe(part: Any) -> dict[str, str]:
    """Return all settings of a reader or a measure as text, by name."""
    return {field.name: repr(_reduce(getattr(part, field.name))) for field in fields(part)}


def name_differences(other: Mapping[str, str], here: Mapping[str, str]) -> str:
    """Return the settings that differ, with both values, in parentheses, or an empty string if none do."""
    names = [name for name in {**other, **here} if other.get(name) != here.get(name)]
    differing = [f"{name} was {other.get(name)}, and is {here.get(name)} here" for name in names]
    return f" ({'; '.join(differing)})" if differing else ""


def _reduce(value: object) -> object:
    """Reduce a setting to plain values, or to its qualified name if it has none."""
    if value is None or isinstance(value, (str, bool)) or type(value) in (int, float):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        settings = [(field.name, getattr(value, field.name), field.default) for field in fields(value)]
        changed = [(name, _reduce(setting)) for name, setting, default in settings if setting != default]
        return [type(value).__name__, *changed]
    if isinstance(value, (list, tuple)):
        return [_reduce(item) for item in value]
    if isinstance(value, np.generic):
        return value.item()  # a numpy number equals the Python number
    if isinstance(value, Number):
        return value
    if isinstance(value, partial):
        return ["partial", _reduce(value.func), _reduce(value.args), _reduce(sorted(value.keywords.items()))]
    if vocabulary_package(value) is not None:
        return tokenizer_signature(value)["tok"]  # it includes a digest of the vocabulary and the rules
    return callable_name(value)
