"""Errors for unknown keywords. They name our option if the keyword is another package's."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")

#: What to write instead of each keyword. The first word is our option.
_OURS = {
    # torchmetrics, torcheval
    "n_gram": "ngram",
    "n_char_order": "char_order",
    "n_word_order": "word_order",
    "return_sentence_level_score": "average='none'",
    # sacrebleu; tokenize is torchmetrics' too
    "max_ngram_order": "ngram",
    "tokenize": "tokenizer",
    "smooth_method": "smooth",
    "n_bootstrap": "confidence, the level of the interval",
    "use_effective_order": "effective_order",
    "trg_lang": "tokenizer, such as 'zh', 'ja-mecab' or 'ko-mecab'",
    "force": "tokenizer=None, for text that is already tokenized",
    "hypotheses": "preds",
    "references": "target",
    # nltk
    "smoothing_function": "smooth",
    "auto_reweigh": "effective_order",
    "hypothesis": "preds",
    "list_of_references": "target",
    "max_len": "char_order",
    "ignore_whitespace": "whitespace, which means the opposite",
    # fastchrf
    "remove_whitespace": "whitespace, which means the opposite",
    # rouge_score, and ignite's Rouge
    "split_summaries": "sentence_splitter, such as nltk.sent_tokenize",
    "variants": "rouge_keys",
    "multiref": "accumulate",
    # others
    "n": "ngram",
    # Hugging Face evaluate
    "predictions": "preds",
    "max_order": "ngram",
    "rouge_types": "rouge_keys",
    "use_aggregator": "average, 'none' for a score of each segment",
    # TensorBLEU
    "pad_token_id": "pad_id",
}


def unknown_keyword(name: str, keyword: str, options: Iterable[str]) -> TypeError:
    """Return the error for an unknown keyword of the function or class ``name``. It suggests the option meant."""
    names = list(options)
    ours = _OURS.get(keyword, "")
    # Do not suggest an option that this metric lacks, such as ngram to chrF.
    if ours.replace("=", ",").split(",")[0] in names:
        return TypeError(f"{name}: unknown argument {keyword}, did you mean {ours}?")
    close = get_close_matches(keyword, names, 1)
    advice = f"did you mean {close[0]}?" if close else f"expected one of {names}"
    return TypeError(f"{name}: unknown argument {keyword}, {advice}")


def options_of(*functions: Callable[..., object]) -> list[str]:
    """Return the names of the parameters that can be passed by keyword, each once."""
    parameters = [parameter for function in functions for parameter in inspect.signature(function).parameters.values()]
    by_keyword = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    names = [parameter.name for parameter in parameters if parameter.kind in by_keyword and parameter.name != "self"]
    return list(dict.fromkeys(names))


def named_arguments(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """Make the errors of a function for wrong arguments suggest the option that was meant, and name its class."""

    @functools.wraps(function)
    def call_checked(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Returned:
        try:
            return function(*args, **kwargs)
        except TypeError:
            _check_arguments(function, args, kwargs)
            raise

    return call_checked


def _check_arguments(function: Callable[..., object], args: tuple[object, ...], keywords: Mapping[str, object]) -> None:
    """Raise TypeError if arguments do not fit the parameters."""
    signature = inspect.signature(function)
    name = function.__name__
    if "self" in signature.parameters:
        name = type(args[0]).__name__ + (f".{name}" if name != "__init__" else "")
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in signature.parameters.values())
    for keyword in keywords:
        if keyword not in signature.parameters and not takes_any:
            raise unknown_keyword(name, keyword, options_of(function)) from None
    try:
        signature.bind(*args, **keywords)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None
