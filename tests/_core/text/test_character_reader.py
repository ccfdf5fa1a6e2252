"""chrF's reading: code points without whitespace, words with their punctuation split off, ids as characters."""

import sys
from itertools import product

import numpy as np
import pytest
import torch
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from layouts import apart, documents_of, numbered, read_batch
from sacrebleu.metrics import CHRF
from sacrebleu.metrics.helpers import extract_all_char_ngrams

from ngram_metrics._core.counting.documents import DocumentGroups, RaggedTokens
from ngram_metrics._core.text import character_reader
from ngram_metrics._core.text.character_reader import CharacterReader, number_characters

#: Every kind of whitespace that `str.split` knows, some marks that are none, and characters of one to four bytes.
SPACES = "".join(filter(str.isspace, map(chr, range(sys.maxunicode + 1))))
NO_SPACES = "\u200b\u200d\u2060\ufeff\u180e\u0301_"
texts = st.text(st.sampled_from("abA.(é😀\ud800\x00\U0010ffff" + SPACES + NO_SPACES), max_size=12)


FEW, CHUNKS, SMALL = [0, 1, 64], [1, 2, 13, 1 << 16], [-1, 12, 1 << 16]


@examples(
    *(
        {"several": ["aA", "é", "", "A😀\x85é("], "whitespace": False, "few": few, "chunk": chunk, "small": small}
        for few, chunk, small in product(FEW, CHUNKS, SMALL)
    )
)
@given(
    st.lists(texts, max_size=6),
    st.booleans(),
    st.sampled_from(FEW),
    st.sampled_from(CHUNKS),
    st.sampled_from(SMALL),
)
def test_characters_are_code_points_in_chunks_of_any_size(several, whitespace, few, chunk, small):
    """New code points may be in the first texts, in the first chunk, or in a later one; or all texts are few."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(character_reader, "_FEW_CHARACTERS", small)
        patch.setattr(character_reader, "_FEW", few)
        patch.setattr(character_reader, "CHARACTERS", chunk)
        tokens = number_characters(several, whitespace)
    kept = [text if whitespace else "".join(text.split()) for text in several]
    assert numbered(documents_of(tokens)) == numbered(list(map(list, kept)))
    assert set(tokens.ids.tolist()) == set(range(tokens.id_bound))
    assert (tokens.ids.dtype, tokens.lengths.dtype) == (torch.int64, torch.int64)


def test_more_code_points_than_two_bytes_hold():
    every = "".join("".join(map(chr, range(15, 0x110000, 16))).split())
    tokens = number_characters([every[:7], every, every[:7]], False)
    assert tokens.id_bound == len(every) > 1 << 16
    assert sorted(tokens.ids[7:-7].tolist()) == list(range(len(every)))
    assert tokens.ids[:7].tolist() == tokens.ids[-7:].tolist() == tokens.ids[7:14].tolist()


def test_the_table_of_numbers_is_as_long_as_the_highest_code_point_needs():
    numbering = character_reader._Numbering(whitespace=False)
    for character in "abcdefghij":
        numbering.extend(character)
    assert len(numbering.number_of) == ord("j") + 2


@pytest.mark.parametrize("few", [-1, 1 << 13])
def test_all_whitespace_of_python_is_left_out_and_nothing_else(monkeypatch, few):
    monkeypatch.setattr(character_reader, "_FEW_CHARACTERS", few)
    # What sacrebleu drops is what `str.split` splits at.
    assert len(SPACES) == 29
    assert {"\t", "\n", "\x1c", "\x85", "\u00a0", "\u2003", "\u2028", "\u202f", "\u3000"} < set(SPACES)
    documents = documents_of(number_characters([SPACES, f"a{SPACES}b", NO_SPACES, "ba"], False))
    assert (documents[0], documents[1]) == ([], documents[3][::-1])
    assert len(documents_of(number_characters([NO_SPACES], False))[0]) == len(NO_SPACES)
    assert len(documents_of(number_characters([SPACES], True))[0]) == len(SPACES)
    assert sum(extract_all_char_ngrams(f"a{SPACES}b", 1)[0].values()) == 2


@given(st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=3)), min_size=1, max_size=4), st.booleans())
def test_a_batch_of_text_is_read_as_characters_and_words(batch, whitespace):
    preds, target = apart(batch)
    read = read_batch(CharacterReader(whitespace=whitespace, words=True), preds, target)
    every = preds + [one for several in target for one in several]
    kept = [text if whitespace else "".join(text.split()) for text in every]
    assert numbered(documents_of(read.sides.hypotheses) + documents_of(read.sides.references.tokens)) == numbered(
        list(map(list, kept))
    )
    words = [CHRF()._remove_punctuation(text) for text in every]
    assert numbered(documents_of(read.words.hypotheses) + documents_of(read.words.references.tokens)) == numbered(words)
    counts = list(map(len, target))
    assert read.sides.references.counts.tolist() == read.words.references.counts.tolist() == counts
    assert isinstance(read.sides.hypotheses, RaggedTokens)
    assert isinstance(read.sides.references, DocumentGroups)


def test_words_are_read_only_where_they_are_asked_for():
    read = read_batch(CharacterReader(), ["a b"], ["a b"])
    assert read.words is None


@pytest.mark.parametrize("make", [list, tuple, np.array, torch.tensor])
def test_ids_are_the_characters(make):
    """No whitespace is known among them: an id that is that of a blank counts."""
    preds, target = [make([32, 97, 32]), make([97])], [[make([32, 97])], [make([97]), make([98])]]
    read = read_batch(CharacterReader(), preds, target)
    several = documents_of(read.sides.hypotheses) + documents_of(read.sides.references.tokens)
    assert numbered(several) == numbered([[32, 97, 32], [97], [32, 97], [97], [98]])
    assert read.sides.references.counts.tolist() == [1, 2]


def test_tokens_may_be_the_characters():
    read = read_batch(CharacterReader(), [[("a", 1), "c"]], [["c", ("a", 1), " "]])
    several = documents_of(read.sides.hypotheses) + documents_of(read.sides.references.tokens)
    assert numbered(several) == [[0, 1], [1, 0, 2]]


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
