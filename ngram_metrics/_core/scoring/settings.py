"""Functions of the settings of a metric: signature, ``repr``, digest, equality, and the words for differences.

A reader and a measure describe their options once, in ``settings()``: a dict of the options by name, in canonical form,
so that equal settings are equal values. All functions of this module start from such a dict.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import MethodType
from typing import Any, NamedTuple, TypeAlias

from ngram_metrics._core.basics.option_checks import exact
from ngram_metrics._core.text.rouge_reader import SentenceSeparator
from ngram_metrics._core.text.tokenizer_option import (
    callable_name,
    reads_text_as_it_is,
    tokenizer_signature,
    vocabulary_package,
)
from ngram_metrics._version import __version__

Settings: TypeAlias = Mapping[str, object]

#: The addresses of callables seen in this process, numbered. A new object may reuse the address of a deleted one. That
#: is harmless: only existing metrics are compared, and these keep their callables alive.
_numbers: dict[tuple[int, ...], int] = {}


def are_equal(one: object, other: object) -> bool:
    """Return whether two values of an option are equal.

    Partial functions are compared by their parts, and tokenizers that have a vocabulary by its content. Other callables
    are compared by ``==``: two functions with one name are different functions.
    """
    if isinstance(one, partial) and isinstance(other, partial):
        return (
            are_equal(one.func, other.func)
            and len(one.args) == len(other.args)
            and all(map(are_equal, one.args, other.args))
            and one.keywords.keys() == other.keywords.keys()
            and all(are_equal(value, other.keywords[name]) for name, value in one.keywords.items())
        )
    if vocabulary_package(one) is not None and vocabulary_package(other) is not None:
        return tokenizer_signature(one) == tokenizer_signature(other)
    return bool(one == other)


def name_unequal(one: Settings, other: Settings) -> list[str]:
    """Return the names of the options that differ, in their order."""
    missing = object()
    return [name for name in {**one, **other} if not are_equal(one.get(name, missing), other.get(name, missing))]


def describe_unequal(other: Settings, here: Settings) -> str:
    """Return the options that differ, with both values, in parentheses; an empty string if none do."""
    parts = []
    for name in name_unequal(other, here):
        theirs = show(other[name]) if name in other else "missing"
        ours = show(here[name]) if name in here else "missing"
        if theirs == ours:
            parts.append(f"{name} is another object named {ours}: define the function once, with def, for both metrics")
        else:
            parts.append(f"{name} was {theirs}, and is {ours} here")
    return f" ({'; '.join(parts)})" if parts else ""


def show(value: object) -> str:
    """Write the value of an option. A callable is written by its name, so the result is the same in any process."""
    if vocabulary_package(value) is not None:
        return tokenizer_signature(value)["tok"]  # includes a digest of the vocabulary and the rules
    if isinstance(value, SentenceSeparator):
        return value.signature()
    if callable(value):
        return callable_name(value)
    return repr(value)


def show_changed(settings: Settings, defaults: Settings, names: Iterable[str]) -> str:
    """Write the options with these names that differ from the defaults, as a call would pass them."""
    unequal = name_unequal(settings, defaults)
    return ", ".join(f"{name}={show(settings[name])}" for name in names if name in unequal)


def digest(settings: Settings) -> bytes:
    """Return the SHA-256 of settings, 32 bytes. Settings that are written alike have one digest in any process."""
    text = repr(sorted((name, show(value)) for name, value in settings.items()))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def number_callables(settings: Settings) -> int:
    """Return a number for the callables among settings, which is valid in this process.

    It tells apart functions of one name, such as two lambdas, which have one digest.
    """
    addresses = tuple(address for value in settings.values() for address in _addresses(value))
    return _numbers.setdefault(addresses, len(_numbers))


def _addresses(value: object) -> Iterator[int]:
    """Yield the addresses of the parts of a callable; none for a plain value, and none for a vocabulary."""
    if not callable(value) or vocabulary_package(value) is not None:
        return
    if isinstance(value, MethodType):  # each access to a method makes another object
        yield id(value.__self__)
        yield id(value.__func__)
    elif isinstance(value, partial):
        yield from _addresses(value.func)
        for argument in (*value.args, *value.keywords.values()):
            yield from _addresses(argument)
    else:
        yield id(value)


class _Field(NamedTuple):
    """A field of a signature.

    Attributes:
        name: the name of the field.
        option: the option that it shows.
        write: from the option's value and all settings to the text of the field; None leaves the field out.
    """

    name: str
    option: str
    write: Callable[[Any, Mapping[str, Any]], str | None]


def _write(value: object, settings: Settings) -> str | None:
    return None if value is None else str(value)


def _write_bool(if_true: str, if_false: str) -> Callable[[bool, Settings], str]:
    return lambda value, settings: if_true if value else if_false


def _write_number(value: float | None, settings: Settings) -> str | None:
    return None if value is None else exact(value, "g")


def _write_several(values: Iterable[object] | None, settings: Settings) -> str | None:
    return ",".join(map(str, values or ())) or None


def _write_smoothing(smooth: str, settings: Mapping[str, Any]) -> str:
    value = settings["smooth_value"]
    return smooth if value is None else f"{smooth}[{exact(value, '.2f')}]"


def _write_normalizer(normalizer: object, settings: Settings) -> str:
    if normalizer is not None:
        return callable_name(normalizer)
    return "none" if reads_text_as_it_is(settings["tokenizer"]) else "rule"


def _write_splitter(splitter: object, settings: Mapping[str, Any]) -> str | None:
    if "rougeLsum" not in settings["rouge_keys"]:
        return None
    return "lines" if splitter is None else show(splitter)


def _write_keys(keys: Iterable[str], settings: Settings) -> str:
    return ",".join(key.removeprefix("rouge") for key in keys)


#: The fields of settings in order. The fields that sacrebleu (Post 2018) has too are in its order.
_FIELDS = (
    _Field("avg", "average", _write),
    _Field("unit", "unit", _write),
    _Field("case", "lowercase", _write_bool("lc", "mixed")),
    _Field("eff", "effective_order", _write_bool("yes", "no")),
    _Field("eff", "eps_smoothing", _write_bool("no", "yes")),
    _Field("tok", "tok", _write),
    _Field("smooth", "smooth", _write_smoothing),
    _Field("order", "ngram", _write),
    _Field("weights", "weights", _write_several),
    _Field("nc", "char_order", _write),
    _Field("nw", "word_order", _write),
    _Field("beta", "beta", _write_number),
    _Field("space", "whitespace", _write_bool("yes", "no")),
    _Field("keys", "rouge_keys", _write_keys),
    _Field("multiref", "accumulate", _write),
    _Field("alpha", "alpha", _write_number),
    _Field("norm", "normalizer", _write_normalizer),
    _Field("stem", "use_stemmer", _write_bool("porter-nltk", "no")),
    _Field("split", "sentence_splitter", _write_splitter),
    _Field("sep", "sentence_separator_id", _write),
    _Field("pad", "pad_id", _write_several),
)
#: The options that the fields show. Another option has a field of its own name.
_SHOWN = {"tokenizer", "smooth_value", *(field.option for field in _FIELDS)}
#: The fields of resampling and of a test, which come before the fields of settings.
_DRAWS = ("bs", "ar", "clusters", "seed", "test", "alternative", "correction")
#: All fields that a signature may have between the number of references and the versions.
SIGNATURE_FIELDS = (*_DRAWS, *dict.fromkeys(field.name for field in _FIELDS))


def format_references(fewest: int, most: int) -> str:
    """Return the number of references of a segment: ``1``, ``1-4``, or ``?`` before any segment."""
    if most == 0:
        return "?"
    return str(most) if fewest == most else f"{fewest}-{most}"


def format_signature(settings: Settings, kind: str, references: str, draws: Mapping[str, str]) -> str:
    """Return everything that affects a score, in sacrebleu's format.

    Args:
        settings: the settings of the metric.
        kind: the kind of input: ``text``, ``tokens``, ``ids``, or ``?`` before any input. Tokens and ids have no
            tokenizer.
        references: the number of references of a segment, as ``format_references`` writes it.
        draws: the fields of resampling and of a test.
    """
    shown = {**settings, "unit": kind}
    packages: dict[str, str] = {}
    if kind in ("text", "?"):
        packages = _name_tokenizer(settings)
        if "tok" in packages:
            shown["tok"] = packages.pop("tok")
    fields = {"nrefs": references}
    fields |= {name: draws[name] for name in _DRAWS if name in draws}
    for field in _FIELDS:
        if field.option in shown:
            text = field.write(shown[field.option], shown)
            if text is not None:
                fields[field.name] = text
    fields |= {name: show(value) for name, value in settings.items() if name not in _SHOWN}
    fields |= {**packages, "version": f"ngram_metrics-{__version__}"}
    return "|".join(f"{name}:{text}" for name, text in fields.items())


def join_signatures(signatures: Mapping[str, str]) -> str:
    """Return one signature for the signatures of metrics by label.

    A field that differs has the value of each label: ``tok:de=13a,zh=zh``.
    """
    metrics = {
        label: dict(field.split(":", 1) for field in signature.split("|")) for label, signature in signatures.items()
    }
    names = dict.fromkeys(name for fields in metrics.values() for name in fields)
    joined = []
    for name in names:
        values = {label: fields[name] for label, fields in metrics.items() if name in fields}
        if len(values) == len(metrics) and len(set(values.values())) == 1:
            joined.append(f"{name}:{next(iter(values.values()))}")
        else:
            joined.append(f"{name}:{','.join(f'{label}={value}' for label, value in values.items())}")
    return "|".join(joined)


def _name_tokenizer(settings: Settings) -> dict[str, str]:
    """Return the name of the tokenizer, ``tok``, and the version of its package; empty without this option."""
    if "tokenizer" not in settings:
        return {}
    if settings["tokenizer"] is None:
        return {"tok": "rule"}  # rouge_score's, ROUGE's default
    return tokenizer_signature(settings["tokenizer"])
