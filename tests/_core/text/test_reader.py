"""From segments to token batches: words, characters and ids of every size, dtype and mask; padding goes."""

import re
import sys
import time

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from layouts import apart, encoded, numbered_segments, read_batch, segments_of
from sacrebleu.metrics import CHRF
from sacrebleu.metrics.helpers import extract_all_char_ngrams

from ngram_metrics import Bleu, ROUGEScore, mbr
from ngram_metrics._core.basics.option_checks import pad_ids
from ngram_metrics._core.text.input_forms import read
from ngram_metrics._core.text.reader import CharacterReader, WordReader
from ngram_metrics._core.text.rouge_reader import RougeReader
from ngram_metrics.functional import bleu_score, ngram_overlap


def encoded_words(preds, target, **options):
    return encoded(WordReader(**options), preds, target)


tokens = st.sampled_from(["a", "b", ("a",), True, None, "\ud800", "\x00"])
segments = st.lists(tokens, max_size=6)


@given(st.lists(st.tuples(segments, st.lists(segments, min_size=1, max_size=3)), max_size=5))
def test_equal_tokens_have_equal_ids(batch):
    batch = [(["a"], [["a"]]), *batch]
    assert encoded_words(*apart(batch)) == numbered_segments(batch)


@given(st.lists(st.lists(tokens | st.sampled_from([1, 1.5, -1, 0]), max_size=6), min_size=2, max_size=5))
def test_a_tokenizer_may_return_any_hashable(documents):
    texts = list(map(str, range(len(documents))))
    returned = encoded_words(texts[1:], texts[:1] * (len(texts) - 1), tokenizer=lambda text: documents[int(text)])
    # 1 and True are one token, as they are one key of a dict.
    assert returned == numbered_segments([(one, documents[:1]) for one in documents[1:]])


@given(st.data())
def test_padded_and_ragged_ids_are_one_batch(data):
    """Rows of one width, padding anywhere in them: as a tensor, an array, 1-D tensors and lists."""
    pads = data.draw(st.sampled_from([-100, (0,), [0, 2, -100], np.int64(0)]))
    dropped = pad_ids(pads)
    width, count, rows = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 3), st.integers(1, 4)))
    ids = st.sampled_from([0, 1, 2, 3, 2**63 - 1] + [-100] * (-100 in dropped))
    preds = data.draw(st.lists(st.lists(ids, min_size=width, max_size=width), min_size=rows, max_size=rows))
    target = [data.draw(st.lists(st.lists(ids, min_size=4, max_size=4), min_size=count, max_size=count)) for _ in preds]
    # In padded rows a negative id is no token, whether padding names it or not.
    ends = [[*row, -1, -100, -(2**63)] for row in preds], [[[-7, *row] for row in several] for several in target]

    def tokens_of(row):
        return [token for token in row if token not in dropped]

    segments = [(tokens_of(row), list(map(tokens_of, several))) for row, several in zip(preds, target, strict=True)]
    tensors = list(map(torch.tensor, preds)), [list(map(torch.tensor, several)) for several in target]
    for one, other in (
        *((preds, target), tensors, (torch.tensor(preds), target), (np.array(preds), tensors[1])),
        *((torch.tensor(ends[0]), target), (np.array(ends[0]), tensors[1])),
    ):
        assert encoded_words(one, other, pad_id=pads) == numbered_segments(segments)
    # In a padded tensor a reference that is all padding is missing; where all are, one is left, which is empty.
    kept = numbered_segments([(row, [one for one in several if one] or [[]]) for row, several in segments])
    for make in (torch.tensor, np.array):
        for padded in ((make(preds), make(target)), tuple(map(make, ends))):
            assert encoded_words(*padded, pad_id=pads) == kept


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
        with pytest.raises(
            ValueError,
            match=f"{words}, which is negative: expected ids from 0 on; .* add it to pad_id",
        ):
            read_batch(WordReader(pad_id=pad_id), hypotheses, several)
    assert encoded_words(preds, target, pad_id=(-100, -1, -2))


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
        assert encoded_words(one, other, pad_id=0) == expected
        assert encoded_words(list(one), list(other), pad_id=0) == expected
        assert encoded_words(list(one), target, pad_id=0) == expected
    assert encoded_words(arrays[0].astype("int16"), tensors[1], pad_id=[-100, 0]) == expected


def test_padded_ids_of_no_width_and_of_no_segment():
    assert encoded_words(torch.zeros(2, 0).long(), torch.zeros(2, 3).long(), pad_id=0) == [[[], [[]]]] * 2
    for references in (2, 0):
        assert encoded_words(torch.zeros(0, 3).long(), torch.zeros(0, references, 3).long(), pad_id=0) == []
    assert encoded_words([], []) == []


def test_text_is_lowercased_before_it_is_tokenized():
    """The capital I with a dot becomes two code points, so a tokenizer of characters must see what is left."""
    assert encoded_words(["İ I"], ["i̇ i"], lowercase=True, tokenizer=list) == [[[0, 1, 2, 0], [[0, 1, 2, 0]]]]
    assert encoded_words(["The CAT"], ["the cat"], lowercase=True) == [[[0, 1], [[0, 1]]]]
    assert encoded_words(["The CAT"], ["the cat"]) == [[[0, 1], [[2, 3]]]]
    assert encoded_words(["STRASSE"], ["straße"], lowercase=True) == [[[0], [[1]]]]


@pytest.mark.parametrize(
    ("preds", "target", "name"),
    [
        ([["a"], ["b", ("a", [])]], [["a"], ["b"]], "segment 1"),
        ([["a"], ["b"]], [["a"], [["b"], [("a", [])]]], "reference 1 of segment 1"),
    ],
)
def test_a_token_that_is_not_hashable_is_named_with_its_segment(preds, target, name):
    with pytest.raises(TypeError, match=rf"^{name} has the token \('a', \[\]\), a tuple: expected a hashable"):
        read_batch(WordReader(), preds, target)


BIG = torch.tensor([[5, 6], [2**63 + 5, 6]], dtype=torch.uint64)


@pytest.mark.parametrize("form", [torch.Tensor.clone, torch.Tensor.numpy])
def test_unsigned_ids_that_int64_does_not_hold_are_refused(form):
    ids = form(BIG)
    small = torch.tensor([[5, 6], [5, 6]])
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
    with pytest.raises(
        TypeError, match=r"^preds is a tensor of torch\.uint64 on meta: expected int64, because looking "
    ):
        read(ids, ids)
    assert read(ids.to(torch.uint32), ids.to(torch.uint16)).hypotheses.dtype == torch.int64


@pytest.mark.parametrize("dtype", ["float128", "datetime64[s]", "timedelta64[s]", "V8"])
def test_arrays_of_other_dtypes_are_refused_by_name(dtype):
    array = np.zeros((1, 2), dtype)
    for given_array in (array, np.ma.array(array, mask=[[True, False]])):
        with pytest.raises(
            TypeError, match=r"^preds is an array of .*: expected token ids of an integer dtype, such as int64$"
        ):
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


def test_an_id_that_is_masked_may_have_any_value():
    ids = np.ma.array(np.array([[2**63 + 5, 6]], np.uint64), mask=[[1, 0]])
    assert encoded(WordReader(pad_id=0), ids, ids) == [[[0], [[0]]]]
    assert bleu_score([ids[0]], [[6]], ngram=1) == 1
    assert bleu_score([np.ma.array([5, -100], mask=[0, 1])], [[5]], ngram=1) == 1


@pytest.mark.parametrize("dtype", ["U2", "S2", object])
def test_masks_of_no_ids_are_refused(dtype):
    tokens = np.ma.array(MASKED.filled(0).astype(dtype), mask=MASKED.mask)
    for preds, target, name in ((tokens, UNMASKED, "preds"), ([tokens[0]], [UNMASKED[0]], "segment 0")):
        with pytest.raises(TypeError, match=f"^{name} is a masked array of .*: expected a masked array of ids$"):
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


many_integers = st.lists(integers | integers.map(np.uint64))


@given(st.lists(st.tuples(many_integers, many_integers)))
def test_integers_of_any_size_are_numbered_exactly(batch):
    preds, target = [first for first, _ in batch], [[second] for _, second in batch]
    exact = [([*map(int, first)], [[*map(int, second)]]) for first, second in batch]
    assert encoded(WordReader(), preds, target) == numbered_segments(exact)


SAMPLED = [[[5, 6, 7], [5, 0, 6]], [[8, 0, 0], [0, 0, 0]], [[5, 5, 5], [1, 2, 3]]]
OF_SAMPLES = [[5, 6, 7, 0], [8, 9, 0, 0], [0, 0, 0, 0]]
READER = WordReader(pad_id=0, samples=True)


@pytest.mark.parametrize("of_preds", [torch.tensor, np.array])
@pytest.mark.parametrize("of_target", [torch.tensor, np.array, list])
def test_each_sample_is_a_segment_beside_the_reference(of_preds, of_target):
    def tokens_of(row):
        return [token for token in row if token]

    rows = zip(SAMPLED, OF_SAMPLES, strict=True)
    expected = numbered_segments([(tokens_of(one), [tokens_of(row)]) for samples, row in rows for one in samples])
    assert encoded(READER, of_preds(SAMPLED), of_target(OF_SAMPLES)) == expected
    if of_target is not list:  # in a list a negative id is an error
        negative = (
            of_preds([[[*row, -100] for row in rows] for rows in SAMPLED]),
            of_target([[-1, *row] for row in OF_SAMPLES]),
        )
        assert encoded(READER, *negative) == expected


IDS = torch.tensor(SAMPLED)
BESIDE = torch.tensor(OF_SAMPLES)


@pytest.mark.parametrize(
    ("preds", "target", "options", "words"),
    [
        (IDS, BESIDE[:2], {}, "preds has shape (3, 2, 3) and target has shape (2, 4): expected refe"),
        (IDS, BESIDE[0, :3], {}, "target has shape (3,): expected references (3, width) or (3, references, "),
        (IDS, BESIDE[:, None, None], {}, "target has shape (3, 1, 1, 4): expected references"),
        (IDS, torch.zeros(3, 0, 3).long(), {}, "expected at least one reference per segment"),
        (IDS.float(), BESIDE, {}, "preds is a tensor of torch.float32"),
        (IDS, BESIDE.float(), {}, "target is a tensor of torch.float32"),
        (IDS, BESIDE, {"pad_id": None}, "a padded tensor of ids was given without pad_id"),
        (IDS, BESIDE, {"tokenizer": list}, "tokenizer is an option for text"),
        (IDS, BESIDE.to("meta"), {}, "expected the same device"),
        # What is no padded tensor needs to become one; the words say so.
        (IDS, ["a", "b", "c"], {}, "expected references (3, width)"),
        (IDS, [[[5], [6, 7]], [[8]], [[5]]], {}, "expected references (3, width)"),
    ],
)
def test_what_cannot_be_read_beside_samples_is_refused(preds, target, options, words):
    settings = {"pad_id": 0, "samples": True, **options}
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        read_batch(WordReader(**settings), preds, target)


@pytest.mark.parametrize("nested", [False, True])
def test_a_negative_id_in_lists_beside_samples_is_an_error(nested):
    target = [[5, -7], [8, 9], [-100, 0]]
    several = [[row] for row in target] if nested else target
    with pytest.raises(ValueError, match="a reference of segment 2 has the id -100, which is negative: expected ids"):
        read_batch(WordReader(samples=True, pad_id=(0, -7)), IDS, several)
    assert read_batch(WordReader(samples=True, pad_id=(0, -7, -100)), IDS, several)


#: Every kind of whitespace that `str.split` knows, some marks that are none, and characters of one to four bytes.
BLANKS = "".join(filter(str.isspace, map(chr, range(sys.maxunicode + 1))))
NO_BLANKS = "\u200b\u200d\u2060\ufeff\u180e\u0301_"
texts = st.text(st.sampled_from("abA.(é😀\ud800\x00\U0010ffff" + BLANKS + NO_BLANKS), max_size=12)


@given(
    st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=3)), min_size=1, max_size=4),
    st.booleans(),
    st.sampled_from([1, 129]),
)
def test_a_text_is_read_as_code_points_and_words(batch, whitespace, repeats):
    """Also of more segments than are read at a time."""
    batch = batch * repeats
    characters, words = read_batch(CharacterReader(whitespace=whitespace, words=True), *apart(batch))

    def characters_of(text):
        return list(text if whitespace else "".join(text.split()))

    for kind, expected in ((characters, characters_of), (words, CHRF()._remove_punctuation)):
        as_expected = [(expected(first), list(map(expected, others))) for first, others in batch]
        assert numbered_segments(segments_of(kind)) == numbered_segments(as_expected)


def test_more_code_points_than_two_bytes_hold():
    every = "".join("".join(map(chr, range(15, 0x110000, 16))).split())
    assert len(every) > 1 << 16
    count = list(range(len(every)))
    assert encoded(CharacterReader(), [every], [[every, every[:7]]]) == [[count, [count, count[:7]]]]


def test_all_whitespace_of_python_is_left_out_and_nothing_else():
    # What sacrebleu drops is what `str.split` splits at.
    assert len(BLANKS) == 29
    assert {"\t", "\n", "\x1c", "\x85", "\u00a0", "\u2003", "\u2028", "\u202f", "\u3000"} < set(BLANKS)
    several = list(range(len(NO_BLANKS)))
    assert encoded(CharacterReader(), [BLANKS], [[f"a{BLANKS}b", "ba"]]) == [[[], [[0, 1], [1, 0]]]]
    assert encoded(CharacterReader(), [NO_BLANKS], [""]) == [[several, [[]]]]
    assert encoded(CharacterReader(whitespace=True), [BLANKS], [""]) == [[list(range(29)), [[]]]]
    assert sum(extract_all_char_ngrams(f"a{BLANKS}b", 1)[0].values()) == 2


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
            "segment 1 has the token 'cat', but this metric counts characters: expected text, such as ' '.join",
        ),
        ([["a"]], [[["a"], ["", "a"]]], "reference 1 of segment 0 has the token ''.*tokens of one char"),
    ],
)
def test_tokens_that_are_words_are_refused(preds, target, words):
    with pytest.raises(TypeError, match=words):
        read_batch(CharacterReader(), preds, target)


@pytest.mark.parametrize(
    ("reader", "document"),
    [
        pytest.param(WordReader(), torch.arange(6), id="1-D tensors"),
        pytest.param(
            RougeReader(use_stemmer=True, tokenizer=str.split),
            "the cats sat there",
            id="stems of a tokenizer's words",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_reading_takes_linear_time(reader, document):
    def cpu_time(segments):
        start = time.process_time()
        reader.read([document] * segments, [[document] * 2] * segments)
        return time.process_time() - start

    cpu_time(10)
    # Naming each document for an error that never comes once took the square of their number: 500 times as long.
    assert cpu_time(16_000) < 200 * min(cpu_time(500) for _ in range(5))
