"""Settings: one description of the options, and what follows from it: equality, digest and words."""

import inspect
import pickle
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore
from ngram_metrics._core.scoring.settings import (
    are_equal,
    describe_unequal,
    digest,
    name_unequal,
    number_callables,
    show,
)

pytest.importorskip("ignite", reason="the classes for ignite are tested")

from ngram_metrics.ignite.drop_in import Rouge

#: For each class every option that affects a score, with values that all differ from the default and from each other.
OPTIONS: dict[type, dict[str, list[Any]]] = {
    Bleu: {
        "ngram": [2, 3],
        "smooth": ["none", "floor", "add-k", "smooth1", "nltk_smooth2", "nltk_smooth3"],
        "average": ["macro", "none"],
        "weights": [[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1], [0.25] * 4],
        "effective_order": [True],
        "tokenizer": ["none", "char", "intl", "zh", "unicode", str.split, str.splitlines],
        "lowercase": [True],
        "pad_id": [0, 1, (0, 1)],
    },
    ROUGEScore: {
        "use_stemmer": [True],
        "normalizer": [str.lower, str.upper],
        "tokenizer": ["none", "char", "unicode", str.split],
        "accumulate": ["avg"],
        "rouge_keys": ["rouge1", ("rouge1", "rouge2"), ("rouge2", "rouge1"), "rougeLsum"],
        "average": ["micro", "none"],
        "sentence_splitter": [str.splitlines, str.split],
        "sentence_separator_id": [5, 6],
        "pad_id": [0, 1, (0, 1)],
    },
    ChrF: {
        "char_order": [5, 7],
        "word_order": [1, 2],
        "beta": [1, 1.0000000000000002],
        "lowercase": [True],
        "whitespace": [True],
        "eps_smoothing": [True],
        "average": ["macro", "none"],
        "pad_id": [0, 1, (0, 1)],
    },
    NgramOverlap: {
        "ngram": [2, 3],
        "average": ["micro", "none"],
        "tokenizer": ["13a", "char", str.split],
        "pad_id": [0, 1, (0, 1)],
    },
    Rouge: {
        "variants": [["L"], [1], [1, "L"], ["L", 1]],
        "multiref": ["best"],
        "alpha": [0.5, 0.25, 0.25000000000000006],
        "tokenizer": ["13a", "char", str.split],
        "pad_id": [0, 1, (0, 1)],
    },
}
#: What a class takes and settings do not have: where and how, and ``smooth_value``, which needs a smoothing.
NO_SETTINGS = {"self", "confidence", "device", "kwargs", "output_transform", "metrics_result_mode", "smooth_value"}
each_class = pytest.mark.parametrize("metric", OPTIONS, ids=lambda metric: metric.__name__)


def settings_of(metric: type, **options: Any) -> dict[str, object]:
    return metric(**options).scorer.settings()


@each_class
def test_every_option_is_told_apart(metric: type):
    assert OPTIONS[metric].keys() == inspect.signature(metric.__init__).parameters.keys() - NO_SETTINGS
    all_settings = [settings_of(metric)]
    for name, values in OPTIONS[metric].items():
        all_settings += [settings_of(metric, **{name: value}) for value in values]
    for index, settings in enumerate(all_settings):
        for other in all_settings[:index]:
            assert name_unequal(settings, other)
            assert digest(settings) != digest(other)
        assert not name_unequal(settings, dict(settings))


SMOOTH_VALUES = [("floor", 0.3), ("floor", 0.30000000000000004), ("add-k", 2), ("add-k", 3)]


def test_the_value_of_a_smoothing_is_told_apart():
    settings = [settings_of(Bleu, smooth=smooth, smooth_value=value) for smooth, value in SMOOTH_VALUES]
    assert len(set(map(digest, settings))) == len(settings)


@pytest.mark.parametrize(
    ("metric", "one", "other"),
    [
        (Bleu, {"tokenizer": None}, {"tokenizer": "none"}),
        (NgramOverlap, {"tokenizer": None}, {"tokenizer": "none"}),
        (Bleu, {"smooth": "no_smooth"}, {"smooth": "none"}),
        (Bleu, {"smooth": "smooth2"}, {"smooth": "add-k", "smooth_value": 1}),
        (Bleu, {"smooth": "floor"}, {"smooth": "floor", "smooth_value": 0.1}),
        (Bleu, {"pad_id": 0}, {"pad_id": (0,)}),
        (ChrF, {"pad_id": (0, 1)}, {"pad_id": [1, 0, 1]}),
        (ROUGEScore, {"sentence_separator_id": 5}, {"sentence_separator_id": np.int64(5)}),
        (ROUGEScore, {"rouge_keys": "rouge1"}, {"rouge_keys": ["rouge1"]}),
        (ChrF, {"beta": 2}, {"beta": np.float64(2)}),
        (Bleu, {"average": "macro"}, {"average": "macro", "effective_order": True}),
    ],
    ids=str,
)
def test_options_that_mean_the_same_are_equal_settings(metric: type, one: dict[str, Any], other: dict[str, Any]):
    assert not name_unequal(settings_of(metric, **one), settings_of(metric, **other))
    assert digest(settings_of(metric, **one)) == digest(settings_of(metric, **other))


def test_rouges_own_rule_is_another_setting_than_blanks():
    own = ROUGEScore()
    blanks = ROUGEScore(tokenizer="none")
    for metric in (own, blanks):
        metric.update(["The Cat sat."], ["the cat sat"])
    assert (own.compute()["rouge1_fmeasure"], blanks.compute()["rouge1_fmeasure"]) == (1, 0)
    assert name_unequal(own.scorer.settings(), blanks.scorer.settings()) == ["tokenizer"]


class Splitter:
    """A callable object, and one with methods."""

    def __call__(self, text: str) -> list[str]:
        return text.split()

    def split(self, text: str) -> list[str]:
        return text.split()


def make_function() -> Callable[[str], list[str]]:
    return lambda text: text.split()


def test_callables_are_compared_by_what_they_are():
    splitter = Splitter()
    other = Splitter()
    assert are_equal(str.split, str.split)
    assert are_equal(splitter, splitter)
    assert are_equal(splitter.split, splitter.split)  # two objects
    assert not are_equal(splitter, other)
    assert not are_equal(splitter.split, other.split)
    assert not are_equal(make_function(), make_function())


def test_partial_functions_are_compared_by_their_parts():
    one = partial(re.split, " ", maxsplit=2)
    assert are_equal(one, partial(re.split, " ", maxsplit=2))
    for other in (
        partial(re.split, " ", maxsplit=3),
        partial(re.split, " "),
        partial(re.split, " ", maxsplit=2, flags=0),
        partial(re.split, "-", maxsplit=2),
        partial(re.findall, " ", maxsplit=2),
        partial(re.split, " ", "text", maxsplit=2),
        re.split,
    ):
        assert not are_equal(one, other)
    function = make_function()
    assert are_equal(partial(map, function), partial(map, function))
    assert not are_equal(partial(map, function), partial(map, make_function()))


def make_tokenizer(*words: str) -> Any:
    tokenizers = pytest.importorskip("tokenizers", reason="its tokenizers are compared")
    vocabulary = {word: number for number, word in enumerate(words)}
    return tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token=words[0]))


def test_tokenizers_with_a_vocabulary_are_compared_by_it():
    """A copy of a metric copies its tokenizer."""
    assert are_equal(make_tokenizer("a", "b"), make_tokenizer("a", "b"))
    assert not are_equal(make_tokenizer("a", "b"), make_tokenizer("a", "c"))
    numbers = [number_callables({"tokenizer": make_tokenizer("a", word)}) for word in "bc"]
    assert numbers[0] == numbers[1]  # the digest tells them apart


def test_callables_of_one_name_share_a_digest_and_no_number():
    """The digest is the same in another process, where no object is; the number is for this process."""
    one, other = ({"tokenizer": make_function()} for _ in range(2))
    assert digest(one) == digest(other)
    assert number_callables(one) != number_callables(other)
    assert number_callables(one) == number_callables(dict(one))
    splitter = Splitter()
    assert number_callables({"tokenizer": splitter.split}) == number_callables({"tokenizer": splitter.split})
    parts = [{"tokenizer": partial(make_function, flag=value)} for value in (str.lower, str.upper)]
    assert number_callables(parts[0]) != number_callables(parts[1])


@pytest.mark.parametrize("name", [*"abc", "position"])
def test_the_digest_does_not_depend_on_the_order_or_the_process(name: str):
    settings = {"ngram": 3, "tokenizer": str.split, name: partial(str.split, maxsplit=np.int64(3))}
    again = pickle.loads(pickle.dumps(dict(reversed(settings.items()))))
    assert digest(settings) == digest(again)


def test_what_differs_is_named_with_both_values():
    other = settings_of(Bleu, ngram=3, lowercase=True)
    here = settings_of(Bleu, tokenizer=str.split)
    assert describe_unequal(other, here) == (
        " (tokenizer was '13a', and is str.split here; lowercase was True, and is False here; "
        "ngram was 3, and is 4 here)"
    )
    assert describe_unequal(here, dict(here)) == ""
    assert describe_unequal({"ngram": 3}, {}) == " (ngram was 3, and is missing here)"


def test_functions_of_one_name_are_told_apart_in_words():
    one, other = ({"tokenizer": make_function()} for _ in range(2))
    assert describe_unequal(one, other) == (
        f" (tokenizer is another object named {show(one['tokenizer'])}: define the function once, with def, for both "
        "metrics)"
    )
