"""From segments to token batches: the same tokens get the same id, padding goes, and options fit the kind."""

import layouts
import numpy as np
import pytest
import torch
from crossings import crossings
from hypothesis import given
from hypothesis import strategies as st
from layouts import apart, numbered_segments, read_batch

from ngram_metrics._core.basics.option_checks import pad_ids
from ngram_metrics._core.text.reader import WordReader


def encoded(preds, target, **options):
    return layouts.encoded(WordReader(**options), preds, target)


tokens = st.sampled_from(["a", "b", ("a",), True, None, "\ud800", "\x00"])
sentences = st.lists(tokens, max_size=6)


@given(st.lists(st.tuples(sentences, st.lists(sentences, min_size=1, max_size=3)), max_size=5))
def test_equal_tokens_have_equal_ids(batch):
    batch = [(["a"], [["a"]]), *batch]
    assert encoded(*apart(batch)) == numbered_segments(batch)


@given(st.lists(st.lists(tokens | st.sampled_from([1, 1.5, -1, 0]), max_size=6), min_size=2, max_size=5))
def test_a_tokenizer_may_return_any_hashable(documents):
    texts = list(map(str, range(len(documents))))
    returned = encoded(texts[1:], texts[:1] * (len(texts) - 1), tokenizer=lambda text: documents[int(text)])
    # 1 and True are one token, as they are one key of a dict.
    assert returned == numbered_segments([(one, documents[:1]) for one in documents[1:]])


@given(st.data())
def test_padded_and_ragged_ids_are_one_batch(data):
    """Rows of one width, padding anywhere in them: as a tensor, an array, 1-D tensors and lists."""
    pads = data.draw(st.sampled_from([-100, (0,), [0, 2, -100], np.int64(0)]))
    width, count, rows = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 3), st.integers(1, 4)))
    # Where padding names no negative id, a padded tensor may still hold some.
    ids = st.sampled_from([0, 1, 2, 3, 2**63 - 1] + [-100] * (-100 in pad_ids(pads)))
    preds = data.draw(st.lists(st.lists(ids, min_size=width, max_size=width), min_size=rows, max_size=rows))
    target = [data.draw(st.lists(st.lists(ids, min_size=4, max_size=4), min_size=count, max_size=count)) for _ in preds]
    dropped = pad_ids(pads)
    segments = [
        ([token for token in row if token not in dropped], [[one for one in r if one not in dropped] for r in several])
        for row, several in zip(preds, target, strict=True)
    ]
    expected = numbered_segments(segments)
    tensors = [torch.tensor(row) for row in preds], [[torch.tensor(row) for row in several] for several in target]
    assert encoded(preds, target, pad_id=pads) == expected
    assert encoded(*tensors, pad_id=pads) == expected
    assert encoded(torch.tensor(preds), target, pad_id=pads) == expected
    assert encoded(np.array(preds), tensors[1], pad_id=pads) == expected
    ends = [[*row, -1, -100, -(2**63)] for row in preds], [[[-7, *row] for row in rows] for rows in target]
    assert encoded(torch.tensor(ends[0]), target, pad_id=pads) == expected
    assert encoded(np.array(ends[0]), tensors[1], pad_id=pads) == expected
    # In a padded tensor a reference that is all padding is missing; where all are, one is left, which is empty.
    kept = numbered_segments([(row, [one for one in several if one] or [[]]) for row, several in segments])
    for make in (torch.tensor, np.array):
        for padded in ((make(preds), make(target)), tuple(map(make, ends))):
            assert encoded(*padded, pad_id=pads) == kept
            with crossings():  # torch counts while something records its operations
                assert encoded(*padded, pad_id=pads) == kept


NEGATIVE = (
    ([[1], [2, -100]], [[1], [2]], "segment 1 has the id -100"),
    ([[1], [2]], [[[1]], [[2], [-1, 5, -2]]], "reference 1 of segment 1 has the id -1"),
)


@pytest.mark.parametrize(("preds", "target", "words"), NEGATIVE)
@pytest.mark.parametrize("form", [list, tuple, torch.tensor, np.array])
@pytest.mark.parametrize("pad_id", [None, 5, (5, -2)])
def test_a_negative_id_in_a_sequence_that_pad_id_does_not_name_is_an_error(preds, target, words, form, pad_id):
    several = target if words.startswith("segment") else [[form(row) for row in rows] for rows in target]
    for hypotheses in (list(map(form, preds)), preds):
        with pytest.raises(ValueError, match=f"{words}: expected indices of a vocabulary, .* or this id in pad_id"):
            read_batch(WordReader(pad_id=pad_id), hypotheses, several)
    assert encoded(preds, target, pad_id=(-100, -1, -2))


def test_a_negative_id_beside_padded_hypotheses_is_an_error():
    preds = torch.tensor([[1, -100], [2, 0]])
    for target in ([[1], [2, -100]], [torch.tensor([1]), torch.tensor([2, -100])]):
        with pytest.raises(ValueError, match="reference 0 of segment 1 has the id -100"):
            read_batch(WordReader(pad_id=0), preds, target)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_every_integer_dtype_is_encoded_alike(dtype):
    preds, target = [[5, 0, 7, 0]], [[7, 5, 0, 0]]
    expected = [[[0, 1], [[1, 0]]]]
    arrays = np.array(preds, dtype=dtype), np.array(target, dtype=dtype)
    tensors = [torch.tensor(side).to(getattr(torch, dtype)) for side in (preds, target)]
    for one, other in (arrays, tensors, (arrays[0], tensors[1])):
        assert encoded(one, other, pad_id=0) == expected
        assert encoded(list(one), list(other), pad_id=0) == expected
        assert encoded(list(one), target, pad_id=0) == expected
    assert encoded(arrays[0].astype("int16"), tensors[1], pad_id=[-100, 0]) == expected


def test_tensors_of_different_dtypes_stand_side_by_side():
    preds = [torch.tensor([1, 2], dtype=torch.uint8), torch.tensor([3], dtype=torch.int64)]
    assert encoded(preds, [np.array([1, 2], dtype=np.int32), [3]]) == [[[0, 1], [[0, 1]]], [[0], [[0]]]]


def test_padded_ids_of_no_width_and_of_no_sentence():
    assert encoded(torch.zeros(2, 0).long(), torch.zeros(2, 3).long(), pad_id=0) == [[[], [[]]]] * 2
    for references in (2, 0):
        assert encoded(torch.zeros(0, 3).long(), torch.zeros(0, references, 3).long(), pad_id=0) == []
    assert encoded([], []) == []


def test_text_is_lowercased_before_it_is_tokenized():
    """The capital I with a dot becomes two code points, so a tokenizer of characters must see what is left."""
    assert encoded(["İ I"], ["i̇ i"], lowercase=True, tokenizer=list) == [[[0, 1, 2, 0], [[0, 1, 2, 0]]]]
    assert encoded(["The CAT"], ["the cat"], lowercase=True) == [[[0, 1], [[0, 1]]]]
    assert encoded(["The CAT"], ["the cat"]) == [[[0, 1], [[2, 3]]]]
    assert encoded(["STRASSE"], ["straße"], lowercase=True) == [[[0], [[1]]]]


class Unhashable:
    __hash__ = None

    def __repr__(self):
        return "<odd>"


@pytest.mark.parametrize(
    ("preds", "target", "words"),
    [
        ([["a"], ["b", Unhashable()]], [["a"], ["b"]], r"segment 1 has the token <odd>, a Unhashable: expected a hash"),
        ([["a"], ["b"]], [["a"], [["b"], [Unhashable()]]], r"reference 1 of segment 1 has the token <odd>"),
        ([[("a", [])]], [[("a", 1)]], r"segment 0 has the token \('a', \[\]\), a tuple: expected a hashable"),
    ],
)
def test_a_token_that_is_not_hashable_is_named_with_its_sentence(preds, target, words):
    with pytest.raises(TypeError, match=words):
        read_batch(WordReader(), preds, target)


def test_a_list_of_pad_ids_is_copied():
    pads = [0]
    reader = WordReader(pad_id=pads)
    pads.append(1)
    assert reader == WordReader(pad_id=(0,))
