"""What a caller may give as `preds` and `target`, told apart by one rule."""

from collections import UserList, deque
from collections.abc import Sequence

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from layouts import by_count

from ngram_metrics import NgramOverlap, functional, mbr
from ngram_metrics._core.text.foreign_values import list_values
from ngram_metrics._core.text.input_forms import Segments, read


def lists(segments):
    return [segment.tolist() if isinstance(segment, torch.Tensor) else list(segment) for segment in segments]


def seen(preds, target):
    """What the reader made of sequences: the kind, the hypotheses, and the references of each of them."""
    got = read(preds, target)
    assert isinstance(got, Segments)
    hypotheses, references = got.hypotheses, got.references
    if got.kind != "text":
        hypotheses, references = lists(hypotheses), lists(references)
    return got.kind, hypotheses, by_count(references, got.counts)


def object_array(*items):
    """A 1-D array of what numpy would else make a matrix of."""
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


class OwnSequence(Sequence):
    """A sequence without slices and without any other method."""

    def __init__(self, *items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        if not isinstance(index, int):
            raise TypeError("expected an integer")
        return self.items[index]

    def __repr__(self):
        return f"OwnSequence{self.items}"


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
        # Any sequences.
        *((make(["a b"]), make([make(["a c"])]), TEXT) for make in (deque, UserList)),
        *((make([make("ab")]), make([make([make("ac")])]), TOKENS) for make in (deque, UserList)),
        (OwnSequence("a b"), OwnSequence(OwnSequence("a c")), TEXT),
        (OwnSequence(OwnSequence(1, 2)), OwnSequence(OwnSequence(OwnSequence(1, 3))), IDS),
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


@given(st.lists(st.tuples(st.text(), st.lists(st.text(), min_size=1, max_size=4)), min_size=1))
def test_any_text_is_read_as_it_stands(batch):
    preds, target = [hypothesis for hypothesis, _ in batch], [references for _, references in batch]
    assert seen(preds, target) == ("text", preds, target)


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


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "change",
    [read_only, lambda a: a[:, ::-1].copy()[:, ::-1], lambda a: a.T.copy().T, lambda a: a.astype(">i4")],
    ids=["read only", "negative strides", "transposed", "other byte order"],
)
def test_arrays_are_read_however_they_lie_in_memory(change):
    array = np.array([[3, 2, 1], [6, 5, 4]], dtype=np.int32)
    given = change(array)
    assert read(given, given).hypotheses.tolist() == array.tolist()
    assert seen(list(given), list(given)) == ("ids", array.tolist(), [[row] for row in array.tolist()])


#: What makes a column of a table from a list.
COLUMNS = {
    "pyarrow.Array": pa.array,
    "pyarrow.ChunkedArray": lambda values: pa.chunked_array([values[:1], values[1:]]),
    "polars.Series": pl.Series,
    "pandas.Series": pd.Series,
    "pandas.Index": pd.Index,
    "pandas of pyarrow": lambda values: pd.Series(values, dtype=pd.ArrowDtype(pa.array(values).type)),
}
each_column = pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)


@each_column
def test_a_column_is_the_list_of_its_values(column):
    texts, references = ["a b", "c d"], ["a c", "c d"]
    assert seen(column(texts), column(references)) == ("text", texts, [["a c"], ["c d"]])
    assert seen(texts, [column(references), references]) == ("text", texts, [references, references])
    assert seen([column(["a", "b"])], [column(["a", "c"])]) == TOKENS
    assert seen([column([1, 2])], [column([1, 3])]) == IDS
    assert mbr.decode(NgramOverlap(), [column(["x", "a b", "a"])]).hypotheses == ["a b"]
    assert functional.chrf_score("a b", column(references)) == functional.chrf_score("a b", references)
    assert list_values(column(texts), "labels") == texts
    assert set(map(type, list_values(column([1, 2]), "labels"))) == {int}


@pytest.mark.parametrize("column", [pa.array, lambda values: pa.chunked_array([values]), pl.Series])
def test_a_column_of_lists_is_a_list_of_lists(column):
    assert seen(["a b", "c"], column([["a", "b"], ["c"]])) == ("text", ["a b", "c"], [["a", "b"], ["c"]])
    assert seen(column([["a", "b"]]), column([[["a", "c"]]])) == TOKENS
    assert seen(column([[1, 2]]), column([[1, 3]])) == IDS


@each_column
def test_a_missing_text_of_a_column_is_refused_by_its_place(column):
    with pytest.raises(TypeError, match=r"^a missing value \(.*\) at segment 1: pass ''"):
        read(column(["a", None]), ["a", "b"])
    with pytest.raises(TypeError, match=r"^a missing value \(.*\) at reference 0 of segment 1: pass ''"):
        read(["a", "b"], column(["a", None]))


def test_values_of_labels_are_hashable_and_readable():
    """Also what numpy and pandas write in their own ways."""
    days = np.array(["2024-01-01", "2024-01-02"], "datetime64[ns]")
    assert list(map(str, list_values(days, "labels"))) == [f"2024-01-0{day}T00:00:00.000000000" for day in (1, 2)]
    assert list(map(str, list_values(days.astype("datetime64[D]"), "labels"))) == ["2024-01-01", "2024-01-02"]
    assert list_values(pd.Series(["a", pd.NA], dtype="string"), "labels") == ["a", None]
    first_is_missing = np.array(["NaT", "2024-01-01"], "datetime64[ns]")
    assert list_values(first_is_missing, "labels") == [None, first_is_missing[1]]
    assert list_values(np.ma.masked_array(days, [False, True]), "labels") == [days[0], None]
    assert list_values(pd.Series([1, pd.NA], dtype="Int64"), "labels") == [1, None]
    assert list_values(pd.Series(["a", None]), "labels") == list_values(pd.Index(["a", None]), "labels") == ["a", None]
    assert list_values([pd.NA, 1], "labels") == [None, 1]
    assert list_values(pd.array(["a", pd.NA]), "labels") == ["a", None]
    assert list_values(pa.array([1, None]), "labels") == [1, None]
    assert list_values(torch.tensor([1, 2]), "labels") == list_values((1, 2), "labels") == [1, 2]
    assert list_values(pd.Series(["a", "b"], dtype="category"), "labels") == ["a", "b"]
