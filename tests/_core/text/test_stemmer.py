"""Porter stems, against nltk's."""

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer
from rouge_score import tokenize

from ngram_metrics._core.text.stemmer import porter_stem, rouge_stem

NLTK = PorterStemmer()
#: Every suffix of every rule, and letters that the rules ask for.
ENDINGS = (
    "ational tional enci anci izer bli alli entli eli ousli ization ation ator alism iveness fulness ousness aliti "
    "iviti biliti fulli logi icate ative alize iciti ical ful ness al ance ence er ic able ible ant ement ment ent "
    "sion tion ion ou ism ate iti ous ive ize sses ies ss s eed ed ing ied y yy e ll at bl iz ply x"
)
SUFFIXES = ENDINGS.split()
LETTERS = "aeiouyybcdlstzwxnYEéß\u0130\u212a\ud800"


@pytest.mark.parametrize("number", [10_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_stems_are_those_of_nltk(number):
    """Of words made of letters and endings; every night those of another seed."""
    seed = number if number < 1_000_000 else random.randrange(1 << 40)
    chance = random.Random(seed)
    for _ in range(number):
        letters = chance.choices(chance.choice([LETTERS, string.ascii_lowercase]), k=chance.randrange(7))
        word = "".join(letters + chance.choices(SUFFIXES, k=chance.randrange(4)))
        assert porter_stem(word) == NLTK.stem(word), f"{word!r}, seed {seed}"


def test_irregular_words_and_their_neighbours_are_stemmed_as_by_nltk():
    pool = [*NLTK.pool, *(word + "s" for word in NLTK.pool), *map(str.upper, NLTK.pool)]
    assert list(map(porter_stem, pool)) == list(map(NLTK.stem, pool))


@given(st.lists(st.text(st.sampled_from("aeinglysdo1"), max_size=8) | st.text(), max_size=9))
def test_words_of_rouge_are_stemmed_as_by_rouge_score(drawn):
    text = " ".join(drawn)
    assert list(map(rouge_stem, tokenize.tokenize(text, None))) == tokenize.tokenize(text, NLTK)


@pytest.mark.parametrize("no_word", [b"running", ("a", "b", "c", "d"), 7, None])
def test_what_is_no_word_is_refused(no_word):
    with pytest.raises(TypeError, match=r"str|len|hash"):
        rouge_stem(no_word)
