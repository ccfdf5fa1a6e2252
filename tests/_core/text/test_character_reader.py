"""chrF's reading: code points without whitespace, words with their punctuation split off, ids as characters."""

import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from layouts import apart, encoded, numbered_segments, read_batch, segments_of
from sacrebleu.metrics import CHRF
from sacrebleu.metrics.helpers import extract_all_char_ngrams

from ngram_metrics._core.counting import batch as batch_module
from ngram_metrics._core.text.reader import CharacterReader

#: Every kind of whitespace that `str.split` knows, some marks that are none, and characters of one to four bytes.
SPACES = "".join(filter(str.isspace, map(chr, range(sys.maxunicode + 1))))
NO_SPACES = "\u200b\u200d\u2060\ufeff\u180e\u0301_"
texts = st.text(st.sampled_from("abA.(é😀\ud800\x00\U0010ffff" + SPACES + NO_SPACES), max_size=12)


@given(
    st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=3)), min_size=1, max_size=4),
    st.booleans(),
    st.sampled_from([2, 4, 128]),
)
def test_a_text_is_read_as_code_points_and_words_in_portions_of_any_size(batch, whitespace, portion):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch_module, "PORTION", portion)
        characters, words = read_batch(CharacterReader(whitespace=whitespace, words=True), *apart(batch))

    def characters_of(text):
        return list(text if whitespace else "".join(text.split()))

    for read, expected in ((characters, characters_of), (words, CHRF()._remove_punctuation)):
        as_expected = [(expected(first), list(map(expected, others))) for first, others in batch]
        assert numbered_segments(segments_of(read)) == numbered_segments(as_expected)


def test_more_code_points_than_two_bytes_hold():
    every = "".join("".join(map(chr, range(15, 0x110000, 16))).split())
    assert len(every) > 1 << 16
    count = list(range(len(every)))
    assert encoded(CharacterReader(), [every], [[every, every[:7]]]) == [[count, [count, count[:7]]]]


def test_all_whitespace_of_python_is_left_out_and_nothing_else():
    # What sacrebleu drops is what `str.split` splits at.
    assert len(SPACES) == 29
    assert {"\t", "\n", "\x1c", "\x85", "\u00a0", "\u2003", "\u2028", "\u202f", "\u3000"} < set(SPACES)
    several = list(range(len(NO_SPACES)))
    assert encoded(CharacterReader(), [SPACES], [[f"a{SPACES}b", "ba"]]) == [[[], [[0, 1], [1, 0]]]]
    assert encoded(CharacterReader(), [NO_SPACES], [""]) == [[several, [[]]]]
    assert encoded(CharacterReader(whitespace=True), [SPACES], [""]) == [[list(range(29)), [[]]]]
    assert sum(extract_all_char_ngrams(f"a{SPACES}b", 1)[0].values()) == 2


@pytest.mark.parametrize("make", [list, tuple, np.array, torch.tensor])
def test_ids_are_the_characters(make):
    """No whitespace is known among them: an id that is that of a blank counts."""
    preds, target = [make([32, 97, 32]), make([97])], [[make([32, 97])], [make([97]), make([98])]]
    assert encoded(CharacterReader(), preds, target) == [[[0, 1, 0], [[0, 1]]], [[0], [[0], [1]]]]


def test_tokens_may_be_the_characters():
    assert encoded(CharacterReader(), [[("a", 1), "c"]], [["c", ("a", 1), " "]]) == [[[0, 1], [[1, 0, 2]]]]


@pytest.mark.parametrize(
    ("preds", "target", "words"),
    [
        (
            [["a"], ["b", "cat"]],
            [["a"], ["b"]],
            "segment 1 has the token 'cat', but this metric counts characters: expected text, such as words",
        ),
        ([["a"]], [[["a"], ["", "a"]]], "reference 1 of segment 0 has the token ''.*tokens of one char"),
    ],
)
def test_tokens_that_are_words_are_refused(preds, target, words):
    with pytest.raises(TypeError, match=words):
        read_batch(CharacterReader(), preds, target)
