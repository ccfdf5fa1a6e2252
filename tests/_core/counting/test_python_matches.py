"""The ways to count the matches of a pair in plain Python, against loops over a `Counter` and a table."""

from collections import Counter

from draws import examples
from hypothesis import example, given
from hypothesis import strategies as st
from rouge_oracle import table
from rouge_oracle import union_hits as hits

from ngram_metrics._core.counting.python_matches import (
    match_ngrams,
    match_short_pair,
    match_words,
    subsequence_length,
    union_hits,
)

texts = st.lists(st.sampled_from("abcd"), max_size=14)


@example("acb", "ab", 2)
@given(texts, texts, st.integers(2, 6))
def test_matches_and_lengths_are_those_of_plain_loops(hypothesis, reference, orders):
    expected = []
    for order in range(1, orders + 1):
        counts = [
            Counter(tuple(text[start : start + order]) for start in range(len(text) - order + 1))
            for text in (hypothesis, reference)
        ]
        expected.append((counts[0] & counts[1]).total())
    assert match_ngrams(hypothesis, [reference], orders) == expected
    length = table(hypothesis, reference)[-1][-1]
    assert subsequence_length(hypothesis, reference) == length
    assert match_words(hypothesis, reference) == expected[0]
    assert match_short_pair(hypothesis, reference) == (*expected[:2], length)


@examples(*({"hypothesis": ["ab", "ax"], "reference": ["aa" + "c" * size + "b"]} for size in (28, 29, 30, 31)))
@example(["ab", "cd"], ["ba", "xyx"])
@example(["ax", "ba"], ["aba"])
@example(["abc" * 11, "c", "abc" * 11], ["cab" * 5, "a" * 14])
@example(["abc" * 11, "c"], ["cab" * 5, "a" * 15])
@given(st.lists(st.text("abx", max_size=14), max_size=5), st.lists(st.text("aby", max_size=14), max_size=5))
def test_hits_are_those_of_the_walks_sentence_by_sentence(hypothesis, reference):
    """Long ways down, no word in common, equal sentences, and gaps in the first and the last bit of a digit."""
    assert union_hits(hypothesis, reference) == hits(hypothesis, reference)
