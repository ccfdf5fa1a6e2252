"""The ways to count the matches of a pair in plain Python, against loops over a `Counter` and a table."""

from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rouge_oracle import table

from ngram_metrics._core.counting.python_matches import (
    RougeText,
    match_ngrams,
    match_short_pair,
    match_words,
    subsequence_length,
)
from ngram_metrics._core.scoring import python_scores

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


@pytest.mark.parametrize("limit", [0, 10**9])
@given(hypothesis=texts, reference=texts, variants=st.sampled_from([(1,), (2, "L"), ("L",), (1, 3, "L"), ("Lsum", 1)]))
def test_counts_of_rouge_do_not_depend_on_the_number_of_words(limit, hypothesis, reference, variants):
    sides = [RougeText(text, [text]) for text in (hypothesis, reference)]
    expected = python_scores.rouge_counts(sides[0], sides[1:], variants)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(python_scores, "_FEW_WORDS", limit)
        assert python_scores.rouge_counts(sides[0], sides[1:], variants) == expected


def test_the_one_sentence_of_a_summary_may_have_other_words():
    """A splitter may return anything."""
    sides = [RougeText(["a", "b"], [["c"]]), RougeText(["a", "b"], [["c", "d"]])]
    assert python_scores.rouge_counts(sides[0], sides[1:], ["L", "Lsum"]) == [(2, 2, 2), (1, 1, 2)]
