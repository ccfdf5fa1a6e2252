"""What a caller may give as preds and target, told apart by one rule, and the words of every refusal."""

import math
from collections import UserList, deque

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from layouts import by_count

from ngram_metrics import functional
from ngram_metrics._core.text.input_forms import read
from ngram_metrics._core.text.segments import Segments
from ngram_metrics.counting import clipped_matches


def seen(preds, target):
    """What the reader made of sequences: the kind, the hypotheses, and the references of each of them."""
    got = read(preds, target)
    assert isinstance(got, Segments)
    hypotheses, references = got.hypotheses, got.references
    if got.kind != "text":
        hypotheses = [list(hypothesis) for hypothesis in hypotheses]
        references = [list(reference) for reference in references]
    return got.kind, hypotheses, by_count(references, got.reference_counts)


def object_array(*items):
    """A 1-D array of what numpy would else make a matrix of."""
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


TEXT = ("text", ["a b"], [["a c"]])
TOKENS = ("tokens", [["a", "b"]], [[["a", "c"]]])
IDS = ("ids", [[1, 2]], [[[1, 3]]])


@pytest.mark.parametrize(
    ("preds", "target", "expected"),
    [
        # One reference, alone or in a list; a lone text; several references.
        (["a b"], ["a c"], TEXT),
        (["a b"], [["a c"]], TEXT),
        ("a b", "a c", TEXT),
        ("a b", [["a c"]], TEXT),
        (["a b"], "a c", TEXT),
        ("a b", ["c", "d e"], ("text", ["a b"], [["c", "d e"]])),
        (["a", "b"], ["c", ["d", "e"]], ("text", ["a", "b"], [["c"], ["d", "e"]])),
        ([["a", "b"]], [["a", "c"]], TOKENS),
        ([["a", "b"]], [[["a", "c"]]], TOKENS),
        ([("a", "b")], [[("a", "c")]], TOKENS),
        ([["a"]], [[["a"], [], ["b", "c"]]], ("tokens", [["a"]], [[["a"], [], ["b", "c"]]])),
        ([[1, 2]], [[1, 3]], IDS),
        ([[1, 2]], [[[1, 3]]], IDS),
        ([torch.tensor([1, 2])], [torch.tensor([1, 3])], IDS),
        ([torch.tensor([1, 2])], [[torch.tensor([1, 3])]], IDS),
        ([[1, 2]], [[torch.tensor([1, 3])]], IDS),
        ([range(1, 3)], [[range(1, 4, 2)]], IDS),
        ([[1], [2]], [[1], [[1], [2, 3]]], ("ids", [[1], [2]], [[[1]], [[1], [2, 3]]])),
        # Any sequences, also such as have no slices.
        *((make(["a b"]), make([make(["a c"])]), TEXT) for make in (deque, UserList)),
        *((make([make("ab")]), make([make([make("ac")])]), TOKENS) for make in (deque, UserList)),
        *((make([make([1, 2])]), make([make([make([1, 3])])]), IDS) for make in (deque, UserList)),
        # Arrays.
        (np.array(["a b"]), np.array(["a c"]), TEXT),
        (np.array(["a b"], dtype=object), [["a c"]], TEXT),
        (["a b"], np.array([["a c"]]), TEXT),
        (["a b"], [np.array(["a c"])], TEXT),
        (np.str_("a b"), np.str_("a c"), TEXT),
        (np.array([["a", "b"]]), [["a", "c"]], TOKENS),
        ([np.array([1, 2])], [np.array([1, 3])], IDS),
        ([[np.int32(1), np.uint8(2)]], [[1, 3]], IDS),
        (object_array([1, 2], [3]), object_array([1], [2]), ("ids", [[1, 2], [3]], [[[1]], [[2]]])),
        (object_array(np.array([1]), np.array([2, 3])), [[1], [2]], ("ids", [[1], [2, 3]], [[[1]], [[2]]])),
        # A padded batch of one side beside sequences on the other.
        (torch.tensor([[1, 2]]), [[1, 3]], IDS),
        (torch.tensor([[1, 2]]), [[[1, 3]]], IDS),
        ([[1, 2]], torch.tensor([[1, 3]]), IDS),
        # Tuples as tokens: beside segments of tuples, a tuple is a token.
        ([[("a", 1)]], [[("a", 2)]], ("tokens", [[("a", 1)]], [[[("a", 2)]]])),
        ([[("a", 1)]], [[[("a", 2)], [("b", 1)]]], ("tokens", [[("a", 1)]], [[[("a", 2)], [("b", 1)]]])),
        # Where no hypothesis has a token, a tuple is a reference.
        ([()], [[(5, 6)]], ("ids", [[]], [[[5, 6]]])),
        ([[]], [[("a", "b"), ("c",)]], ("tokens", [[]], [[["a", "b"], ["c"]]])),
        ([[], []], [(("a", "b"),), [["c"]]], ("tokens", [[], []], [[["a", "b"]], [["c"]]])),
        ([[]], [[(("a", 1),)]], ("tokens", [[]], [[[("a", 1)]]])),
        # Hashables of several types are tokens, a bool as well.
        ([["a", None, b"a"]], [["a", 1j]], ("tokens", [["a", None, b"a"]], [[["a", 1j]]])),
        ([[True]], [[False]], ("tokens", [[True]], [[[False]]])),
        # Empty segments, and no segment at all.
        ([""], [""], ("text", [""], [[""]])),
        ("", "", ("text", [""], [[""]])),
        ([[]], [[[]]], ("tokens", [[]], [[[]]])),
        ([[1]], [[[]]], ("ids", [[1]], [[[]]])),
        ([[]], [[[], [1]]], ("ids", [[]], [[[], [1]]])),
        ([], [], ("text", [], [])),
    ],
    ids=repr,
)
def test_what_was_given_is_read_by_one_rule(preds, target, expected):
    assert seen(preds, target) == expected


def kind_of(preds, target):
    """The kind of a batch, None where nothing tells it, or an error's type."""
    try:
        return read(preds, target).known_kind
    except TypeError as error:
        return type(error)


#: Tokens of many types, but for tuples, which may be segments as well.
TOKENS_OF_MANY_TYPES = st.one_of(
    st.sampled_from([True, np.bool_(True), None, 1j, b"a", np.int8(1), np.float32(1), np.str_("a"), frozenset()]),
    st.integers(0, 2),
    st.floats(0, 2),
    st.text("a1", max_size=1),
)
few_tokens = st.lists(TOKENS_OF_MANY_TYPES, max_size=2)


@given(st.lists(few_tokens | st.lists(st.integers(0, 2), max_size=3).map(lambda ids: torch.tensor(ids).long())))
def test_a_batch_is_accepted_where_each_segment_is_and_all_are_of_one_kind(segments):
    alone = {kind_of([segment], [[segment]]) for segment in segments} - {None}
    expected = TypeError if len(alone) > 1 else next(iter(alone), None)
    assert kind_of(segments, [[segment] for segment in segments]) == expected
    assert kind_of([[]] * len(segments), [[segment] for segment in segments]) == expected


@given(TOKENS_OF_MANY_TYPES, few_tokens)
def test_what_a_token_is_hangs_on_no_other_token(token, others):
    together = kind_of([[token, *others]], [[[]]])
    kinds = {kind_of([[one]], [[[]]]) for one in [token, *others]}
    assert together == (TypeError if len(kinds) > 1 else next(iter(kinds)))


@pytest.mark.parametrize(
    ("preds", "target", "kind"),
    [
        ([], [], None),
        ([""], [""], "text"),
        ([[]], [[[]]], None),
        ([torch.zeros(0).long()], [[[]]], None),
        ([[]], [["a"]], "tokens"),
        ([[1]], [[[]]], "ids"),
        (torch.zeros(2, 3).long(), torch.zeros(2, 3).long(), "ids"),
        (torch.zeros(0, 3).long(), torch.zeros(0, 3).long(), None),
    ],
)
def test_a_batch_knows_its_kind_where_a_segment_tells_it(preds, target, kind):
    assert read(preds, target).known_kind == kind


@pytest.mark.parametrize(
    "change",
    [
        lambda a: np.frombuffer(a.tobytes(), a.dtype).reshape(a.shape),
        lambda a: a[:, ::-1].copy()[:, ::-1],
        lambda a: a.T.copy().T,
        lambda a: a.astype(">i4"),
    ],
    ids=["read only", "negative strides", "transposed", "other byte order"],
)
def test_arrays_are_read_however_they_lie_in_memory(change):
    array = np.array([[3, 2, 1], [6, 5, 4]], dtype=np.int32)
    given = change(array)
    assert read(given, given).hypotheses.tolist() == array.tolist()
    assert seen(list(given), list(given)) == ("ids", array.tolist(), [[row] for row in array.tolist()])


SAMPLES = (
    r"if each segment has several samples, flatten them to \(segments \* samples, width\), and repeat its references$"
)
MISSING = r"pass '' for a missing prediction, .* for example with \[r for r in references if r is not None\]$"
MISSING_NAN = (
    r"pass '' for a missing prediction, .* for example with \[r for r in references if isinstance\(r, str\)\]$"
)


@pytest.mark.parametrize(
    ("preds", "target", "words"),
    [
        # Different numbers.
        (["a", "b"], ["a"], r"preds has 2 segments and target has 1 item"),
        (
            torch.zeros(2, 3).long(),
            torch.zeros(1, 3).long(),
            r"preds has 2 segments and target has 1: expected a row of",
        ),
        # Transposed, as for sacrebleu: a list for each stream of references.
        (["a b", "c"], [["a", "c d"]], r"target has 1 item: .*pass list\(zip\(\*target\)\)$"),
        (["a", "b"], [["c", "d"]] * 3, r"target has 3 items: .*; target looks like sacrebleu's format, in which"),
        ([["a"], ["b", "c"]], [[["a"], ["b"]]], r"target has 1 item: .*pass list\(zip"),
        (
            ["a", "b"],
            [["c", "d"], "d", ["e", "f"]],
            r"target has 3 items: expected one item of target for each segment; .* references$",
        ),
        (
            ["a", "b"],
            [["c", "d", "e"]],
            r"target has 1 item: expected one item of target for each segment; .* references$",
        ),
        (
            [["a"], ["b"]],
            [["a", "b"]],
            r"target has 1 item: expected one item of target for each segment; .* references$",
        ),
        (["a", "b"], [], r"target has 0 items: expected one item of target for each segment; .* references$"),
        (torch.zeros(2, 3).long(), [[1]], r"preds has 2 segments and target has 1 item"),
        # No reference.
        (["a", "b"], ["a", []], r"segment 1 has no reference, target\[1\] is \[\]: expected .* pass \[''\]$"),
        ("a", [], r"segment 0 has no reference.* pass \[''\]$"),
        ([["a"]], [[]], r"segment 0 has no reference.* pass \[\[\]\]$"),
        (torch.zeros(2, 3).long(), torch.zeros(2, 0, 3).long(), r"\(2, 0, 3\): expected at least one reference"),
        # Shapes.
        (torch.zeros(2, 2, 3).long(), torch.zeros(2, 3).long(), rf"preds has shape \(2, 2, 3\): .*{SAMPLES}"),
        (np.zeros((2, 2, 3), int), torch.zeros(2, 2, 3).long(), rf"preds has shape \(2, 2, 3\): .*{SAMPLES}"),
        (torch.zeros(2, 2, 3).long(), [[1, 2], [3]], rf"because the other side is a sequence; {SAMPLES}"),
        (
            torch.zeros(3).long(),
            torch.zeros(3).long(),
            r"preds has shape \(3,\).*pass a single segment of ids in a list",
        ),
        (torch.zeros(2, 3).long(), torch.zeros(2).long(), r"target has shape \(2,\): expected \(segments, width\) or"),
        (torch.zeros(2, 3).long(), torch.zeros(2, 1, 1, 3).long(), r"target has shape \(2, 1, 1, 3\)"),
        (torch.zeros(3).long(), [[1]], r"preds has shape \(3,\): expected \(segments, width\), because the other side"),
        ([[1], [2]], torch.zeros(2, 2, 3).long(), r"target has shape \(2, 2, 3\): expected \(segments, width\), bec"),
        ([torch.zeros(1, 3).long()], [[1]], r"segment 0 is a tensor of shape \(1, 3\): expected 1-D ids"),
        ([[1]], [[torch.zeros(1, 3).long()]], r"reference 0 of segment 0 is a tensor of shape \(1, 3\)"),
    ],
)
def test_numbers_and_shapes_that_do_not_fit_are_refused(preds, target, words):
    with pytest.raises(ValueError, match=words):
        read(preds, target)


@pytest.mark.parametrize(
    ("preds", "target", "words"),
    [
        # Kinds that differ, either way round.
        (["a b"], [[["a", "b"]]], r"reference 0 of segment 0 is a list, \['a', 'b'\], but"),
        (
            ["a b"],
            [[1, 2]],
            r"reference 0 of segment 0 is an int, 1, but the first segment is text: expected all text, or all tokens "
            r"or ids; 'the cat' is text, and \['the', 'cat'\] are tokens$",
        ),
        (["a b"], torch.tensor([[1]]), r"reference 0 of segment 0 is a Tensor.* but the first segment is text"),
        (["a b"], [torch.tensor([1])], r"reference 0 of segment 0 is a Tensor.* but the first segment is text"),
        ([["a", "b"]], ["a b"], r"reference 0 of segment 0 is a str, 'a b', but the first segment is tokens or ids"),
        ([["a"], ["b"]], [["a"], [["b"], "c"]], r"reference 1 of segment 1 is a str, 'c'"),
        ([["a", "b"]], torch.tensor([[1, 2]]), r"reference 0 of segment 0 contains ids, .* segment 0 contains tokens"),
        (
            [["a"]],
            [[1, 2]],
            r"reference 0 of segment 0 contains ids, such as 1, but segment 0 .*, such as 'a': expected ",
        ),
        ([[], [1], ["a"]], [[[]], [1], ["a"]], r"segment 2 contains tokens, such as 'a', but segment 1 contains ids"),
        (
            [["a"], ["b", 1]],
            [["a"], ["b"]],
            r"segment 1 contains ids, such as 1, but segment 0 contains tokens, such as 'a'",
        ),
        ([["a"]], [[["a"], ["b", np.int8(1)]]], r"reference 1 of segment 0 contains ids, such as .*1"),
        ([[1, 2]], [["1", "2"]], r"reference 0 of segment 0 contains tokens, such as '1', but segment 0 contains ids"),
        (
            torch.tensor([[1, 2]]),
            [["1", "2"]],
            r"reference 0 of segment 0 contains tokens, .* but segment 0 contains ids",
        ),
        ([["a"], "b"], [["a"], ["b"]], r"segment 1 is a str, 'b', but the first segment is tokens or ids"),
        # One string where segments are due.
        (["abc", "d"], "abc", r"target is a str: expected a sequence with one item for each segment"),
        ([["a"]], "abc", r"reference 0 of segment 0 is a str, 'abc', but the first segment is tokens or ids"),
        # Numbers that are no ids.
        (torch.zeros(1, 2), torch.zeros(1, 2), r"preds is a tensor of torch.float32: expected token ids of an integer"),
        (torch.zeros(1, 2).long(), torch.zeros(1, 2), r"target is a tensor of torch.float32"),
        (torch.zeros(1, 2).bool(), torch.zeros(1, 2).long(), r"preds is a tensor of torch.bool"),
        (torch.zeros(1, 2).cfloat(), torch.zeros(1, 2).long(), r"preds is a tensor of torch.complex64"),
        (np.zeros((1, 2)), np.zeros((1, 2)), r"preds is an array of float64"),
        ([torch.zeros(2)], [[1]], r"segment 0 is a tensor of torch.float32"),
        ([[1]], [[torch.zeros(2)]], r"reference 0 of segment 0 is a tensor of torch.float32"),
        ([[1.0, 2.0]], [[1, 2]], r"segment 0 contains 1.0, a float: expected token ids, which are integers, or tokens"),
        ([[1, 2]], [[1, 2.5]], r"reference 0 of segment 0 contains 2.5, a float"),
        ([[np.float32(1)]], [[1]], r"segment 0 contains .*1.0.*, a float32"),
        ([["a"], ["a", 2.5]], [["a"], ["a"]], r"segment 1 contains 2.5, a float"),
        # Tensors as tokens.
        ([[1]], [[torch.tensor(1)]], r"reference 0 of segment 0 contains a Tensor as a token"),
        (
            [torch.tensor([1]), [torch.tensor(2)]],
            [[1], [2]],
            r"segment 1 contains a Tensor as a token: expected hashable",
        ),
        (
            [["a"], torch.tensor([1])],
            [["a"], ["b"]],
            r"segment 1 contains ids, such as 1, but segment 0 contains tokens",
        ),
        ([["a"]], [[["a"], [["b"]]]], r"reference 1 of segment 0 contains a list as a token"),
        # What is no sequence, or not of segments.
        (
            b"a b",
            b"a b",
            r"preds is a bytes: expected a sequence with one item for each segment; decode it with .decode\(\)$",
        ),
        (
            [b"a b"],
            [b"a b"],
            r"segment 0 is a bytes, b'a b': expected a str, .* or 1-D ids; decode it with .decode\(\)$",
        ),
        ([["a"]], [b"a"], r"reference 0 of segment 0 is a bytes"),
        ({"a b": 1}, ["a b"], r"preds is a dict: expected a sequence .*; pass a list of its values$"),
        ((text for text in ["a b"]), ["a b"], r"preds is a generator: expected .*; convert it with list\(...\)$"),
        (["a b"], [(one for one in ["a b"])], r"reference 0 of segment 0 is a generator"),
        ([iter(["a"])], [["a"]], r"segment 0 is a list_iterator.*; convert it with list\(...\)$"),
        (["a"], None, r"target is a NoneType"),
        (["a", None], ["a", "b"], rf"^segment 1 is a missing value, None: {MISSING}"),
        ([None, "a"], ["a", "b"], rf"^segment 0 is a missing value, None: {MISSING}"),
        (["a"], [["b", None]], rf"^reference 1 of segment 0 is a missing value, None: {MISSING}"),
        (["a", "b"], ["a", math.nan], rf"^reference 0 of segment 1 is a missing value, nan: {MISSING_NAN}"),
        ([["a"], ["b"]], [["a"], [None, ["b"]]], rf"^reference 0 of segment 1 is a missing value, None: {MISSING}"),
        ([[1], None], [[1], [2]], rf"^segment 1 is a missing value, None: {MISSING}"),
        (5, 5, r"preds is an int: expected a sequence"),
        (
            [5],
            [5],
            r"segment 0 is an int, 5: expected a str, .* 1-D ids; pass a single segment of ids in a list, as in .ids.$",
        ),
        (
            [[5, 6]],
            [np.int64(5)],
            r"reference 0 of segment 0 is an int, .*; pass a single segment of ids in a list, as in .ids.$",
        ),
    ],
)
def test_what_is_no_segment_is_refused_by_name_and_place(preds, target, words):
    with pytest.raises(TypeError, match=words):
        read(preds, target)


def test_a_segment_that_is_too_long_for_a_message_is_cut():
    with pytest.raises(TypeError) as error:
        read([["a"]], ["x" * 10_000])
    assert len(str(error.value)) < 300


@pytest.mark.parametrize(
    ("target", "preds"),
    [
        ("the cat", ["a cat", "the cat"]),
        (["the cat"], [["a cat", "the cat"]]),
        (["the cat", "a"], [["a cat"], ["a"]]),
        (["the cat"], [np.array(["a cat", "the cat"])]),
        ([["the", "cat"]], [[["a", "cat"], ["the", "cat"]]]),
        ([[1, 2]], [[[1], [2]]]),
        ([torch.tensor([1, 2])], [[torch.tensor([1])]]),
    ],
)
def test_references_as_preds_are_named(preds, target):
    read(target, preds)
    with pytest.raises((TypeError, ValueError), match=r"; preds and target look swapped$"):
        read(preds, target)


CYCLE: list = []
CYCLE.append(CYCLE)


@pytest.mark.parametrize(
    ("preds", "target"),
    [
        ([["the", "cat"]], ["the cat"]),
        ([["the", "cat"], "a b"], ["the cat", "a b"]),
        (["a"], {"a": 1}),
        (["a"], (text for text in ["a"])),
        ([[1, 2]], [1, 2]),
        ([], ["a"]),
        ([1, 5, 9], "a b"),
        (torch.tensor([1, 5, 9]), "a b"),
        ([[[1, 5, 9], [1, 5]]], [[1, 5, 9], [1, 5]]),
        ([["a b", "c d"]], ["a b", "c d"]),
        ([CYCLE], ["a b"]),
        (CYCLE, CYCLE),
        (torch.zeros(2, 3, 4, 5).long(), torch.zeros(2, 4).long()),
        (torch.zeros(2, 2, 3).long(), torch.zeros(2, 3).long()),
        (np.zeros((2, 2, 3), int), [[1, 2], [1, 3]]),
        (torch.zeros(3).long(), torch.zeros(3).long()),
    ],
    ids=range(16),
)
def test_other_mistakes_are_not_said_to_be_swapped(preds, target):
    with pytest.raises((TypeError, ValueError), match="expected") as error:
        read(preds, target)
    assert "swapped" not in str(error.value)


@pytest.mark.parametrize(
    "ids",
    [
        torch.nested.nested_tensor([torch.arange(2), torch.arange(1)], layout=torch.jagged),
        torch.arange(4).reshape(2, 2).to_sparse(),
    ],
    ids=["nested", "sparse"],
)
def test_a_tensor_that_is_not_dense_is_refused(ids: torch.Tensor):
    for count in (functional.bleu_score, clipped_matches):
        with pytest.raises(TypeError, match="preds is a nested, quantized or sparse tensor: expected a dense one"):
            count(ids, ids, pad_id=9)
