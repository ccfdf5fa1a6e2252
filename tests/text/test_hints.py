"""Warnings of what is almost surely meant otherwise, and what must not be warned of."""

import numpy as np
import pytest
import torch

from ngram_metrics.text.door import read
from ngram_metrics.text.rouge_reader import RougeReader
from ngram_metrics.text.tokenizers import batch_tokenizer

CPU = torch.device("cpu")


@pytest.mark.parametrize(
    ("preds", "target"),
    [
        (["the cat sat"], [["the", "cat", "sat"]]),
        ("the cat sat", ["the", "cat", "sat"]),
        (["the cat sat"], [("a", "cat", "sat", "down")]),
        (["the cat sat"], [np.array(["the", "cat"])]),
        (["x y", "the cat sat"], [["a", "dog"], ["the", " cat\n", "sat"]]),
    ],
)
def test_references_that_are_the_words_of_one_are_warned_of(preds, target):
    with pytest.warns(
        UserWarning, match="single words, and a hypothesis has several of them: a list of str in target is a"
    ):
        read(preds, target)


@pytest.mark.parametrize(
    ("preds", "target"),
    [
        # Answers of one word, one or with their other spellings, beside an answer of several.
        (["it was Paris"], ["Paris"]),
        (["it was Paris"], [["Paris"]]),
        (["it was Paris"], [["Paris", "paris", "Parigi", "Paris"]]),
        (["in 1912 or so", "no"], [["1912", "MCMXII"], ["no", "nope"]]),
        (["cat"], [["cat", "dog"]]),
        # One of the references is a text of several words, or a sentence has only one.
        (["the cat sat"], [["the", "cat", "cat sat"]]),
        (["the cat sat", "a b"], [["the", "cat"], ["a b", "c"]]),
        (["the cat sat", "a b"], [["the", "cat"], ["a"]]),
        # A script without blanks.
        (["我喜欢猫"], [["我喜欢猫", "我爱猫"]]),
        # Tokens are what they say.
        ([["the", "cat", "sat"]], [["the", "cat", "sat"]]),
        ([["the", "cat", "sat"]], [[["the"], ["cat"]]]),
        ([[1, 2]], [[[1], [2]]]),
        ([""], [["", ""]]),
        ([], []),
    ],
)
def test_ordinary_references_are_not_warned_of(preds, target):
    read(preds, target)  # a warning is an error here


UNREAD = (["слово"], ["東京", "नमस्ते 。"], ["!?", "Zürich 東京", "é"])


@pytest.mark.parametrize("texts", UNREAD)
@pytest.mark.parametrize("options", [{}, {"tokenizer": str.split}, {"sentences": False}, {"use_stemmer": True}])
def test_a_text_of_which_the_ascii_rule_leaves_nothing_is_warned_of(texts, options):
    for preds, target in ((["a"] * len(texts), texts), (texts, [["a", "b"]] * len(texts))):
        with pytest.warns(UserWarning, match="a text without words scores 0: tokenizer='unicode' keeps"):
            RougeReader(**options).read(preds, target, CPU)


@pytest.mark.parametrize("texts", UNREAD)
@pytest.mark.parametrize("options", [{"tokenizer": "unicode"}, {"normalizer": str}, {"tokenizer": "char"}])
def test_another_rule_is_not_warned_of(texts, options):
    RougeReader(**options).read(texts, texts, CPU)


@pytest.mark.parametrize("texts", [["", " \n"], ["!?", "…"], ["👍", "a 東京"], ["_", "Zürich"]])
def test_a_text_without_letters_or_with_some_that_stay_is_not_warned_of(texts):
    RougeReader().read(texts, texts, CPU)


@pytest.mark.parametrize("name", ["bert-base-uncased", "facebook/bart-large", "gpt2"])
def test_the_name_of_a_model_says_to_pass_its_tokenizer(name):
    with pytest.raises(
        ValueError, match=rf"of a model, pass its tokenizer, such as AutoTokenizer.from_pretrained\('{name}'"
    ):
        batch_tokenizer(name)
