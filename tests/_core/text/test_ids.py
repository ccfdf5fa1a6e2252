"""Ids of every size and dtype, and ids that numpy masks."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from layouts import encoded, numbered_segments

from ngram_metrics import Bleu, ROUGEScore, mbr
from ngram_metrics._core.text import reader as reader_module
from ngram_metrics._core.text.input_forms import read
from ngram_metrics._core.text.reader import WordReader
from ngram_metrics.functional import bleu_score, ngram_overlap

BIG = torch.tensor([[5, 6], [2**63 + 5, 6]], dtype=torch.uint64)


@pytest.mark.parametrize("form", [torch.Tensor.clone, torch.Tensor.numpy])
def test_unsigned_ids_that_int64_does_not_hold_are_refused(form):
    ids, small = form(BIG), torch.tensor([[5, 6], [5, 6]])
    for preds, target, name in (
        (ids, small, "preds"),
        (small, ids, "target"),
        (small, ids[:, None], "target"),
        (list(ids), small, "segment 1"),
        (list(small), [[ids[0]], [ids[0], ids[1]]], "reference 1 of segment 1"),
    ):
        with pytest.raises(ValueError, match=f"^{name} has the id {2**63 + 5}: expected ids below "):
            read(preds, target)
    with pytest.raises(ValueError, match=f"^preds has the id {2**63 + 5}: expected ids below"):
        ngram_overlap(ids[:, None], small, pad_id=0)
    with pytest.raises(ValueError, match=f"^row 0 of hypotheses has the id {2**63 + 5}: expected ids below"):
        mbr.pairwise(Bleu(pad_id=0), [ids], [small])
    assert bleu_score(ids[:1], ids[:1], ngram=2, pad_id=0) == 1


def test_unsigned_ids_are_not_looked_at_on_a_device():
    ids = BIG.to("meta")
    with pytest.raises(TypeError, match=r"^preds is a tensor of torch\.uint64 on meta: expected int64, because to "):
        read(ids, ids)
    assert read(ids.to(torch.uint32), ids.to(torch.uint16)).hypotheses.dtype == torch.int64


@pytest.mark.parametrize("dtype", ["float128", "datetime64[s]", "timedelta64[s]", "V8"])
def test_arrays_of_other_dtypes_are_refused_by_name(dtype):
    array = np.zeros((1, 2), dtype)
    for given_array in (array, np.ma.array(array, mask=[[True, False]])):
        with pytest.raises(TypeError, match=r"^preds is an array of .*: expected token ids of an integer dtype$"):
            read(given_array, [[1]])


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="numpy 1 has no StringDType")
def test_arrays_of_all_kinds_of_str_are_text():
    texts = np.array(["the cat", "a dog"], np.dtypes.StringDType())
    assert read(texts, texts[:, None]).references == ["the cat", "a dog"]


MASKED = np.ma.array([[5, 6, 7], [8, 9, 5]], mask=[[0, 1, 0], [0, 0, 1]])
UNMASKED = [[5, 7], [8, 9]]


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "uint64", ">i4"])
def test_masked_ids_are_no_tokens(dtype):
    ids = MASKED.astype(dtype)
    reader = WordReader(pad_id=0)
    for preds, target in ((ids, ids), (ids[:, ::-1], ids), (ids, ids[:, None]), (ids, ids.T.copy().T)):
        step = 1 if preds is ids else -1
        assert encoded(reader, preds, target) == numbered_segments([(row[::step], [row]) for row in UNMASKED])
    for masked, plain in ((list(ids), UNMASKED), (UNMASKED, list(ids)), ([ids[0], [8, 9]], list(ids))):
        assert bleu_score(masked, plain, ngram=2) == 1
    scores = mbr.pairwise(Bleu(ngram=2, pad_id=0), [ids, list(ids)], [UNMASKED, UNMASKED])
    assert scores.tolist() == [torch.eye(2).tolist()] * 2


def test_masked_references_and_samples():
    references = np.ma.array([[[5, 7, 1], [5, 5, 5]], [[1, 8, 9], [8, 9, 9]]], mask=False)
    references.mask[0] = [[0, 0, 1], [1, 1, 1]]  # the second is missing
    references.mask[1] = [[1, 0, 0], [0, 0, 1]]
    metric = Bleu(ngram=2, pad_id=0)
    assert metric(MASKED, references) == 1
    assert "nrefs:2" in metric.signature or "nrefs:1-2" in metric.signature
    assert ngram_overlap(MASKED[:, None], MASKED, average="none", pad_id=0).tolist() == [[1], [1]]
    with pytest.raises(ValueError, match="a reference of segment 0 has the id -1"):
        ngram_overlap(MASKED.filled(0)[:, None], list(MASKED), pad_id=0)


def test_an_id_that_is_masked_may_have_any_value():
    ids = np.ma.array(np.array([[2**63 + 5, 6]], np.uint64), mask=[[1, 0]])
    assert encoded(WordReader(pad_id=0), ids, ids) == [[[0], [[0]]]]
    assert bleu_score([ids[0]], [[6]], ngram=1) == 1
    assert bleu_score([np.ma.array([5, -100], mask=[0, 1])], [[5]], ngram=1) == 1


@pytest.mark.parametrize("dtype", ["U2", "S2", object])
def test_masks_of_no_ids_are_refused(dtype):
    tokens = np.ma.array(MASKED.filled(0).astype(dtype), mask=MASKED.mask)
    for preds, target, name in ((tokens, UNMASKED, "preds"), ([tokens[0]], [UNMASKED[0]], "segment 0")):
        with pytest.raises(TypeError, match=f"^{name} is a masked array of .*: expected masks of ids only$"):
            read(preds, target)
    with pytest.raises(TypeError, match="item of target is a masked array of"):
        read([["a"]], [tokens[0]])


@pytest.mark.parametrize("pad_id", [2**70, [0, 2**63], -(2**63) - 1, np.uint64(2**63)])
def test_an_id_among_the_settings_fits_into_int64(pad_id):
    with pytest.raises(ValueError, match=r"^pad_id has the id -?\d+: expected ids from -2\^63 to 2\^63 - 1$"):
        Bleu(pad_id=pad_id)
    if isinstance(pad_id, int):
        with pytest.raises(ValueError, match=r"^sentence_separator_id has the id -?\d+: expected ids from"):
            ROUGEScore(sentence_separator_id=pad_id)


def test_the_largest_and_the_smallest_id_are_padding():
    ends = [-(2**63), 2**63 - 1]
    assert encoded(WordReader(pad_id=ends), torch.tensor([[ends[0], 5, ends[1]]]), [[5]]) == [[[0], [[0]]]]


#: Python's hash of an integer is its remainder by this number.
MODULUS = 2**61 - 1


integers = st.integers(0, 3) | st.integers(2**63 - 1, 2**63 + 1) | st.integers(0, 7).map(lambda n: n * MODULUS)


documents = st.lists(integers | integers.map(np.uint64))


@given(st.lists(st.tuples(documents, documents)))
def test_integers_of_any_size_are_numbered_exactly(batch):
    preds, target = [first for first, _ in batch], [[second] for _, second in batch]
    exact = [([*map(int, first)], [[*map(int, second)]]) for first, second in batch]
    assert encoded(WordReader(), preds, target) == numbered_segments(exact)


def test_integers_are_not_numbered_in_a_dict(monkeypatch):
    """In a dict these take quadratic time: all have the hash 0."""
    monkeypatch.setattr(reader_module, "number_tokens", None)
    ids = [number * MODULUS for number in range(20)]
    assert bleu_score([ids], [ids]) == bleu_score([[np.int8(0), *ids[1:]]], [ids]) == 1
    assert ROUGEScore(sentence_separator_id=0)([ids], [ids])["rougeLsum_fmeasure"] == 1
