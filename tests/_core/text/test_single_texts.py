"""An error of a function that reads a text one by one names the text, and not the sentence, that it was called with."""

import pytest

from ngram_metrics._core.text.single_texts import read_summaries


def _name(index: int) -> str:
    return ("the first text", "the second text")[index]


@pytest.mark.parametrize("with_sentences", [False, True])
@pytest.mark.parametrize(
    ("normalizer", "tokenizer", "words"),
    [
        (lambda text: None if "wrong" in text else text, None, "the normalizer returned a NoneType"),
        (None, lambda text: None if "wrong" in text else text.split(), "the tokenizer returned a NoneType"),
        (None, lambda text: [1] if "wrong" in text else text.split(), r"the tokenizer returned \[1\]"),
    ],
    ids=["normalizer", "tokenizer", "stemmer"],
)
def test_an_error_in_a_sentence_names_its_text(with_sentences: bool, normalizer, tokenizer, words: str):
    texts = ["one line\nanother line", "a third line\na fourth\nwrong"]
    with pytest.raises(TypeError, match=f"{words} for the second text"):
        read_summaries(texts, with_sentences, True, normalizer, tokenizer, None, _name)
