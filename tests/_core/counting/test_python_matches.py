"""The ways to count the matches of a pair in plain Python, against loops over a `Counter` and a table."""

from collections import Counter

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
summaries = st.lists(texts, max_size=5)


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


@example([list("ab"), list("cd")], [list("ba"), list("xyx")])
@example([list("axb"), list("axxb"), []], [list("aba"), [], list("bab")])
@example([list("ab"), list("ab"), list("ba")], [list("ab" * 16), list("ba" * 17)])
@example([list("abc" * 11), ["c"]], [list("cab" * 5), list("a" * 14)])
@example([list("abc" * 11), ["c"]], [list("cab" * 5), list("a" * 15)])
@given(summaries, summaries)
def test_hits_are_those_of_the_walks_sentence_by_sentence(hypothesis, reference):
    """No word in common, equal sentences, and gaps at the first and the last bit of a digit of Python's integers."""
    assert union_hits(hypothesis, reference) == hits(hypothesis, reference)
