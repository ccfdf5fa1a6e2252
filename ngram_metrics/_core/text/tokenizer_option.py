"""Tokenizers: the values that ``tokenizer`` accepts, and how external tokenizers are called.

None splits at whitespace. A name is ``"unicode"`` or one of sacrebleu's tokenizers. Names are rules of
``_core.text.word_rules``, except the two that use MeCab: these call sacrebleu. A callable takes one text and returns
its tokens. A Hugging Face tokenizer returns the ids of a whole batch, and a sentencepiece model the pieces. This module
does not import torch.
"""

from __future__ import annotations

import importlib
import unicodedata
from collections.abc import Callable, Hashable, Sequence
from functools import cache, partial
from typing import Any, Literal, TypeAlias, TypeVar, get_args

import numpy as np

from ngram_metrics._core.text.foreign_values import sequence_advice
from ngram_metrics._core.text.messages import NameOf, shortened, type_name
from ngram_metrics._core.text.word_rules import RULES, WordRule

#: The rules of ``_core.text.word_rules``, and sacrebleu's tokenizers that use MeCab.
TokenizerName: TypeAlias = Literal["13a", "char", "intl", "ja-mecab", "ko-mecab", "none", "unicode", "zh"]
_NAMES: list[str] = list(get_args(TokenizerName))
#: From texts, and the function for their names in errors, to the tokens of each text.
BatchTokenizer = Callable[[Sequence[str], NameOf], Sequence[Sequence[Hashable]]]

_Item = TypeVar("_Item")
#: The tokenizers that call sacrebleu, and their classes there.
_OF_SACREBLEU = {"ja-mecab": "tokenizer_ja_mecab.TokenizerJaMecab", "ko-mecab": "tokenizer_ko_mecab.TokenizerKoMecab"}
#: sacrebleu's other tokenizers. They download a model when first used.
_DOWNLOADING = ("spm", "flores101", "flores200", "spBLEU-1K")


def rule_of(tokenizer: object) -> WordRule | None:
    """Return the rule of a tokenizer, or None for an external tokenizer."""
    return RULES.get(tokenizer) if tokenizer is None or isinstance(tokenizer, str) else None


def check_tokenizer(tokenizer: object) -> None:
    """Raise the errors of ``batch_tokenizer`` for an external tokenizer. A rule needs no check."""
    if rule_of(tokenizer) is None:
        batch_tokenizer(tokenizer)


def batch_tokenizer(tokenizer: Any) -> BatchTokenizer:
    """Return the function that tokenizes a batch with an external tokenizer.

    It is ``"ja-mecab"`` or ``"ko-mecab"``, a callable ``str -> sequence of hashables``, a ``tokenizers.Tokenizer``, a
    tokenizer of ``transformers``, or a ``sentencepiece.SentencePieceProcessor``.

    Raises:
        TypeError: another object.
        ValueError: an unknown name, or a tokenizer that truncates its texts.
        ModuleNotFoundError: MeCab is not installed.
    """
    if isinstance(tokenizer, str):
        return partial(_call_sacrebleu, _sacrebleu_tokenizer(tokenizer))
    package = vocabulary_package(tokenizer)
    if package == "tokenizers" and tokenizer.truncation is not None:
        raise ValueError(
            f"this tokenizer truncates ({tokenizer.truncation}), which would change the score: "
            "call its method no_truncation() first"
        )
    if package is not None:
        return partial(_CALLS[package], tokenizer)
    if callable(tokenizer):
        return partial(call_each, tokenizer, "tokenizer", "tokens")
    hint = "; pass its method tokenizer.tokenize" if hasattr(tokenizer, "tokenize") else ""
    raise TypeError(
        f"tokenizer is {type_name(tokenizer)}: expected None, one of {_NAMES}, "
        f"a callable from a str to a sequence of tokens, a SentencePieceProcessor, or a Hugging Face tokenizer{hint}"
    )


def tokenizer_signature(tokenizer: Any) -> dict[str, str]:
    """Return the name of a tokenizer, ``tok``, and the version of its package, for a signature."""
    if tokenizer is None:
        return {"tok": "none"}
    if isinstance(tokenizer, str):
        if tokenizer not in _OF_SACREBLEU and tokenizer in _NAMES:
            data = {"unidata": unicodedata.unidata_version} if tokenizer in ("intl", "unicode") else {}
            return {"tok": tokenizer, **data}
        # sacrebleu's signature contains the versions of MeCab and of its dictionary.
        return {"tok": _sacrebleu_tokenizer(tokenizer).signature(), "sacrebleu": installed_version("sacrebleu")}
    package = vocabulary_package(tokenizer)
    if package is None:
        return {"tok": callable_name(tokenizer)}
    if package == "tokenizers":
        name = f"{callable_name(tokenizer)}[{_digest(tokenizer)}]"
    elif package == "sentencepiece":
        name = f"spm[{_sha256(tokenizer.serialized_model_proto())}]"
    else:
        # A name alone does not tell apart the revisions of a model.
        backend = getattr(tokenizer, "backend_tokenizer", None)
        digest = _digest(backend) if vocabulary_package(backend) == "tokenizers" else ""
        revision = ",".join(filter(None, [getattr(tokenizer, "name_or_path", ""), digest]))
        name = callable_name(tokenizer) + (f"[{revision}]" if revision else "")
    return {"tok": name, package: installed_version(package)}


def callable_name(function: object) -> str:
    """Return the qualified name of a function or of a callable's class. A partial adds its arguments."""
    if isinstance(function, partial):
        arguments = [_show_argument(value) for value in function.args]
        arguments += [f"{name}={_show_argument(value)}" for name, value in sorted(function.keywords.items())]
        return f"{callable_name(function.func)}({','.join(arguments)})"
    named = function if hasattr(function, "__qualname__") else type(function)
    module = getattr(named, "__module__", None)  # built-in methods have no module
    return f"{module}.{named.__qualname__}" if module else named.__qualname__


def _show_argument(value: object) -> str:
    if isinstance(value, np.generic):
        value = value.item()  # a numpy number equals the Python number
    return callable_name(value) if callable(value) else repr(value)


def _digest(tokenizer: Any) -> str:
    """Return a digest of the vocabulary and the rules of a tokenizer."""
    import json  # imported lazily: most tokenizers need no digest

    settings = json.loads(tokenizer.to_str())
    for name in ("padding", "truncation"):  # these may change between calls, and do not affect the counts
        settings.pop(name, None)
    return _sha256(json.dumps(settings, sort_keys=True).encode())


def installed_version(package: str) -> str:
    """Return the version of an installed package."""
    from importlib.metadata import version  # imported lazily: it loads the email package

    return version(package)


def _sha256(content: bytes) -> str:
    """Return the first digits of the SHA-256."""
    from hashlib import sha256  # imported lazily: it loads OpenSSL

    return sha256(content).hexdigest()[:8]


def reads_text_as_it_is(tokenizer: object) -> bool:
    """Return whether a tokenizer gets the original text: one given by name, or one with a vocabulary."""
    return isinstance(tokenizer, str) or vocabulary_package(tokenizer) is not None


def vocabulary_package(tokenizer: object) -> Literal["tokenizers", "transformers", "sentencepiece"] | None:
    """Return the package of a tokenizer that has a vocabulary, or None for any other object."""
    if hasattr(tokenizer, "encode_batch") and hasattr(tokenizer, "truncation"):  # other objects may have one of them
        return "tokenizers"
    if hasattr(tokenizer, "convert_ids_to_tokens"):
        return "transformers"
    return "sentencepiece" if hasattr(tokenizer, "serialized_model_proto") else None


@cache
def _sacrebleu_tokenizer(name: str) -> Any:
    if name in _DOWNLOADING:
        raise ValueError(
            f"tokenizer {name!r} would download a model: load its sentencepiece model yourself and "
            "pass the SentencePieceProcessor"
        )
    if name not in _OF_SACREBLEU:
        hint = f"for a model, pass its tokenizer, such as AutoTokenizer.from_pretrained({name!r})"
        if name.lower() in _NAMES:
            hint = f"did you mean {name.lower()!r}?"
        raise ValueError(f"unknown tokenizer {name!r}: expected one of {_NAMES}, or a tokenizer object; {hint}")
    module, class_name = _OF_SACREBLEU[name].split(".")
    try:
        tokenizer = getattr(importlib.import_module(f"sacrebleu.tokenizers.{module}"), class_name)()
    except (ImportError, RuntimeError) as error:  # sacrebleu raises RuntimeError if MeCab is missing
        raise ModuleNotFoundError(
            f"tokenizer {name!r} needs a package that is not installed: pip install 'sacrebleu[ja,ko]'"
        ) from error
    return tokenizer


def _call_sacrebleu(tokenizer: Callable[[str], str], texts: Sequence[str], name_of: NameOf) -> list[list[str]]:
    # As sacrebleu does: strip whitespace at the right end, and split the result at whitespace.
    return [tokenizer(text.rstrip()).split() for text in texts]


def _call_tokenizers(tokenizer: Any, texts: Sequence[str], name_of: NameOf) -> list[Sequence[int]]:
    encodings = tokenizer.encode_batch(list(texts), add_special_tokens=False)
    if tokenizer.padding is None:
        return [encoding.ids for encoding in encodings]
    return [
        [token for token, is_token in zip(encoding.ids, encoding.attention_mask, strict=True) if is_token]
        for encoding in encodings
    ]


def _call_transformers(tokenizer: Any, texts: Sequence[str], name_of: NameOf) -> list[Sequence[int]]:
    if not texts:
        return []
    return tokenizer(
        list(texts),
        add_special_tokens=False,
        truncation=False,
        padding=False,
        return_attention_mask=False,
        return_token_type_ids=False,
        verbose=False,  # no warning about texts beyond the model's limit
    )["input_ids"]


def _call_sentencepiece(tokenizer: Any, texts: Sequence[str], name_of: NameOf) -> list[list[str]]:
    # As sacrebleu does with its models: strip the right end, and split the pieces at whitespace.
    stripped = [text.rstrip() for text in texts]
    return [" ".join(pieces).split() for pieces in tokenizer.encode(stripped, out_type=str, num_threads=1)]


_CALLS: dict[str, Callable[[Any, Sequence[str], NameOf], Sequence[Sequence[Hashable]]]] = {
    "tokenizers": _call_tokenizers,
    "transformers": _call_transformers,
    "sentencepiece": _call_sentencepiece,
}


def call_each(
    function: Callable[[str], Sequence[_Item]], name: str, items: str, texts: Sequence[str], name_of: NameOf
) -> list[Sequence[_Item]]:
    """Call a caller's function on each text, and raise TypeError if it does not return a sequence of ``items``."""
    results = []
    for index, text in enumerate(texts):
        result = function(text)
        if isinstance(result, str) or not isinstance(result, Sequence):
            raise TypeError(
                f"the {name} returned {type_name(result)} for {name_of(index)}, {shortened(text)}: "
                f"expected a sequence of {items}{sequence_advice(result)}"
            )
        results.append(result)
    return results
