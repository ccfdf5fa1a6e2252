"""Columns are the lists of their values, and tables are refused: those of pandas, polars and pyarrow."""

import numpy as np
import pytest
import torch

pd = pytest.importorskip("pandas", reason="its columns and tables are passed")
pl = pytest.importorskip("polars", reason="its columns and tables are passed")
pa = pytest.importorskip("pyarrow", reason="its columns and tables are passed")

from ngram_metrics import ChrF, NgramOverlap, functional, mbr
from ngram_metrics._core.text.foreign_values import list_values
from ngram_metrics._core.text.input_forms import read


def seen(preds, target):
    """What the reader made of sequences: the kind, the hypotheses, and all references with their counts.

    `test_input_forms.py` says what that is for lists.
    """
    segments = read(preds, target)
    hypotheses, references = segments.hypotheses, segments.references
    if segments.kind != "text":
        hypotheses = [list(hypothesis) for hypothesis in hypotheses]
        references = [list(reference) for reference in references]
    return segments.kind, list(hypotheses), list(references), list(segments.reference_counts)


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
    assert seen(column(texts), column(references)) == seen(texts, references)
    assert seen(texts, [column(references), references]) == seen(texts, [references, references])
    assert seen([column(["a", "b"])], [column(["a", "c"])]) == seen([["a", "b"]], [["a", "c"]])
    assert seen([column([1, 2])], [column([1, 3])]) == seen([[1, 2]], [[1, 3]])
    assert mbr.decode(NgramOverlap(), [column(["x", "a b", "a"])]).hypotheses == ["a b"]
    assert functional.chrf_score("a b", column(references)) == functional.chrf_score("a b", references)
    assert list_values(column(texts), "labels") == texts
    assert set(map(type, list_values(column([1, 2]), "labels"))) == {int}


@pytest.mark.parametrize("column", [pa.array, lambda values: pa.chunked_array([values]), pl.Series])
def test_a_column_of_lists_is_a_list_of_lists(column):
    assert seen(["a b", "c"], column([["a", "b"], ["c"]])) == seen(["a b", "c"], [["a", "b"], ["c"]])
    assert seen(column([["a", "b"]]), column([[["a", "c"]]])) == seen([["a", "b"]], [[["a", "c"]]])
    assert seen(column([[1, 2]]), column([[1, 3]])) == seen([[1, 2]], [[1, 3]])


@each_column
def test_a_missing_text_of_a_column_is_refused_by_its_place(column):
    with pytest.raises(TypeError, match=r"^segment 1 is a missing value, .*: pass ''"):
        read(column(["a", None]), ["a", "b"])
    with pytest.raises(TypeError, match=r"^reference 0 of segment 1 is a missing value, .*: pass ''"):
        read(["a", "b"], column(["a", None]))


def test_a_missing_text_beside_a_text_is_refused_by_its_place():
    with pytest.raises(TypeError, match=r"^reference 1 of segment 1 is a missing value, <NA>: pass ''"):
        read(["a", "b"], [("a", "c"), ("b", pd.NA)])


def test_values_of_labels_are_hashable_and_readable():
    """Also what numpy and pandas write in their own ways; tests/_evaluation/test_evaluate_arguments.py has more."""
    days = np.array(["2024-01-01", "2024-01-02"], "datetime64[ns]")
    assert list(map(str, list_values(days.astype("datetime64[D]"), "labels"))) == ["2024-01-01", "2024-01-02"]
    first_is_missing = np.array(["NaT", "2024-01-01"], "datetime64[ns]")
    assert list_values(first_is_missing, "labels") == [None, first_is_missing[1]]
    assert list_values(np.ma.masked_array(days, [False, True]), "labels") == [days[0], None]
    for missing in (pd.Series([1, pd.NA], dtype="Int64"), pd.Index([1, None], object), pa.array([1, None])):
        assert list_values(missing, "labels") == [1, None]
    assert list_values(pd.array(["a", pd.NA]), "labels") == ["a", None]
    assert list_values(torch.tensor([1, 2]), "labels") == list_values((1, 2), "labels") == [1, 2]
    assert list_values(pd.Series(["a", "b"], dtype="category"), "labels") == ["a", "b"]


FRAMES = {
    "pandas": pd.DataFrame({"mt": ["a b", "c"]}),
    "polars": pl.DataFrame({"mt": ["a b", "c"]}),
    "pyarrow": pa.table({"mt": ["a b", "c"]}),
    "a pyarrow batch": pa.RecordBatch.from_pydict({"mt": ["a b", "c"]}),
    "a subclass": type("GeoDataFrame", (pd.DataFrame,), {})({"mt": ["a b", "c"]}),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize(
    "call",
    [
        lambda frame: functional.chrf_score(frame, ["a", "b"]),
        lambda frame: functional.chrf_score(["a", "b"], frame),
        lambda frame: functional.chrf_score(["a"], [frame]),
        lambda frame: functional.bleu_score([frame], [["a"]]),
        lambda frame: functional.pairwise_chrf([["a"]], [frame]),
        lambda frame: mbr.decode(ChrF(), frame),
        lambda frame: list_values(frame, "labels"),
    ],
)
def test_a_table_of_several_columns_is_refused_and_a_column_is_asked_for(call, frame):
    with pytest.raises(TypeError, match=r"is a \w+ of (pandas|polars|pyarrow): expected one of its columns, such as "):
        call(frame)
