"""The ways to count the matches of a pair in plain Python, against the counters of the oracle and a table."""

import oracles
import pytest
from draws import examples
from hypothesis import example, given
from hypothesis import strategies as st
from rouge_oracle import table
from rouge_oracle import union_hits as hits

from ngram_metrics._core.counting import python_matches
from ngram_metrics._core.counting.python_matches import (
    match_each,
    match_ngrams,
    match_short_pair,
    match_words,
    subsequence_length,
    union_hits,
)

texts = st.lists(st.sampled_from("abcd"), max_size=14)


@example("acb", ["ab"], 2)
@example("abab", ["ab", "bab", "abab", ""], 4)
@example("ab", ["abcab", "abdab"], 3)
@given(texts, st.lists(texts, min_size=1, max_size=4), st.integers(2, 6))
def test_matches_and_lengths_are_those_of_plain_loops(hypothesis, references, orders):
    assert match_ngrams(hypothesis, references, orders) == oracles.match_rows([(hypothesis, references)], orders)[0]
    expected = oracles.match_rows([(hypothesis, [reference]) for reference in references], orders)
    assert match_each(hypothesis, references, orders) == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(python_matches, "_LONG_TEXTS", -1)
        assert match_each("".join(hypothesis), list(map("".join, references)), orders) == expected
    length = table(hypothesis, references[0])[-1][-1]
    assert subsequence_length(hypothesis, references[0]) == length
    assert match_words(hypothesis, references[0]) == expected[0][0]
    assert match_short_pair(hypothesis, references[0]) == (*expected[0][:2], length)


def test_a_sequence_that_adds_itself_to_lists_is_read_as_any_other():
    class Added(tuple):
        __slots__ = ()

        def __radd__(self, other):
            raise AssertionError

    assert match_ngrams(Added("abc"), [Added("abd")], 3) == [2, 1, 0]


@pytest.mark.parametrize("spare", [0, 1])
def test_long_texts_are_counted_as_slices(monkeypatch, spare):
    sliced = []
    monkeypatch.setattr(python_matches, "_match_slices", lambda *given: sliced.append(given))
    monkeypatch.setattr(python_matches, "_LONG_TEXTS", 6)
    match_each("ab", ["a" * (4 + spare)], 2)
    match_each([*"ab"], [[*"aaaaa"]], 2)
    match_each("ab", ["aaaaa"], 11)  # each order joins its own n-grams
    assert len(sliced) == spare


@examples(*({"hypothesis": ["ab", "ax"], "reference": ["aa" + "c" * size + "b"]} for size in (28, 29, 30, 31)))
@example(["ab", "cd"], ["ba", "xyx"])
@example(["ax", "ba"], ["aba"])
@example(["abc" * 11, "c", "abc" * 11], ["cab" * 5, "a" * 14])
@example(["abc" * 11, "c"], ["cab" * 5, "a" * 15])
@given(st.lists(st.text("abx", max_size=14), max_size=5), st.lists(st.text("aby", max_size=14), max_size=5))
def test_hits_are_those_of_the_walks_sentence_by_sentence(hypothesis, reference):
    """Long ways down, no word in common, equal sentences, and gaps in the first and the last bit of a digit."""
    assert union_hits(hypothesis, reference) == hits(hypothesis, reference)
