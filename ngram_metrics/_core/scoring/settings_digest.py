"""Settings of a metric as bytes: metrics with equal settings are recognized in any process, and in saved counts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from numbers import Number
from typing import Any

from ngram_metrics._core.basics.lazy import np
from ngram_metrics._core.metrics.bleu import BleuMeasure
from ngram_metrics._core.metrics.chrf import ChrfMeasure
from ngram_metrics._core.metrics.gleu import GleuMeasure
from ngram_metrics._core.metrics.overlap import OverlapMeasure
from ngram_metrics._core.metrics.repetition import RepetitionMeasure
from ngram_metrics._core.metrics.rouge import MeanRougeMeasure, RougeMeasure
from ngram_metrics._core.metrics.ter import TerMeasure
from ngram_metrics._core.text.character_reader import CharacterReader
from ngram_metrics._core.text.rouge_reader import RougeReader
from ngram_metrics._core.text.tokenizer_option import callable_name, has_vocabulary, tokenizer_signature
from ngram_metrics._core.text.word_reader import TextReader, WordReader

_ROUGE_OPTIONS = ("use_stemmer", "normalizer", "tokenizer", "sentence_splitter", "sentence_separator_id")
#: For each class its name in a digest, also if it is renamed, and the settings that every digest has. Other settings
#: enter a digest unless they have their default, so that a new option leaves the digests of saved states valid.
_DIGESTED: Mapping[type, tuple[str, tuple[str, ...]]] = {
    WordReader: ("WordReader", ("tokenizer", "lowercase", "pad_id", "samples")),
    CharacterReader: ("CharacterReader", ("lowercase", "whitespace", "words", "pad_id")),
    RougeReader: ("RougeReader", (*_ROUGE_OPTIONS, "pad_id", "sentences")),
    TextReader: ("TextReader", ("splits", "pad_id")),
    BleuMeasure: ("BleuMeasure", ("ngram", "smooth", "smooth_value", "weights", "effective_order")),
    ChrfMeasure: ("ChrfMeasure", ("char_order", "word_order", "beta", "eps_smoothing")),
    RougeMeasure: ("RougeMeasure", ("variants", "reducer", "alpha")),
    MeanRougeMeasure: ("MeanRougeMeasure", ("variants",)),
    OverlapMeasure: ("OverlapMeasure", ("ngram",)),
    GleuMeasure: ("GleuMeasure", ("ngram",)),
    RepetitionMeasure: ("RepetitionMeasure", ("ngram",)),
    TerMeasure: ("TerMeasure", ("normalized", "no_punct", "asian_support", "case_sensitive")),
}
#: The names in a digest of values that were renamed after counts had been saved.
_DIGESTED_VALUES = {"chrf++": "chrf"}


def digest(*settings: object) -> bytes:
    """Return the SHA-256 of settings, 32 bytes: equal settings in any process give equal digests."""
    text = repr([_described(setting) for setting in settings])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def digested_values(names: Iterable[str]) -> list[str]:
    """Return the names of a metric's values as a digest of its settings holds them."""
    return [_DIGESTED_VALUES.get(name, name) for name in names]


def describe(part: object) -> dict[str, str]:
    """Return the settings of a reader or a measure in words, by the names that they have in a digest."""
    name, settings = _settings_of(part)
    return {setting: repr(value) for setting, value in settings} or {name: repr(_described(part))}


def name_differences(
    saved: Mapping[str, str] | None, here: Mapping[str, str], words: str = "{} was {}, and is {} here"
) -> str:
    """Return the settings that differ with both values, in parentheses, or nothing if one of them is not known."""
    both = [(name, (saved or here).get(name), here.get(name)) for name in {**(saved or here), **here}]
    differing = [words.format(*values) for values in both if values[1] != values[2]]
    return f" ({'; '.join(differing)})" if differing else ""


def _settings_of(value: Any) -> tuple[str, list[tuple[str, object]]]:
    """Return the name of a reader, a measure or another dataclass in a digest, and its settings in their order."""
    if not is_dataclass(value):
        return type(value).__name__, []
    name, always = _DIGESTED.get(type(value), (type(value).__name__, None))
    settings = []
    for part in fields(value):
        setting = getattr(value, part.name)
        if always is None or part.name in always or setting != part.default:
            settings.append((part.name, _described(setting)))
    return name, settings


def _described(value: object) -> object:
    """Reduce a setting to plain values, or to its qualified name if it has none."""
    if value is None or isinstance(value, (str, bool)) or type(value) in (int, float):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        name, settings = _settings_of(value)
        return [name, *settings]
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
