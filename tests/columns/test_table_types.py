"""Tables of every library: the type that is given is returned, with the same counts and scores."""

import math
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas
import polars
import pyarrow
import pytest
from column_tables import records
from systems import output, references

from ngram_metrics import Bleu, ChrF, ROUGEScore, functional
from ngram_metrics.columns import StatisticsColumns

ROWS = {
    "domain": ["news", "talks", "news", "talks"],
    "mt": ["the cat sat on a mat", "", "a dog ran home", "we saw them there"],
    "ref": ["the cat sat on the mat", "it is", "the dog ran home", "we saw them"],
    "second": ["a cat sat on the mat", "", "a dog ran off", "we have seen them there"],
}
KINDS: dict[str, Callable[[dict[str, list[str]]], Any]] = {
    "pyarrow.Table": pyarrow.table,
    "pyarrow.RecordBatch": lambda rows: pyarrow.RecordBatch.from_pydict(dict(rows)),
    "in chunks": lambda rows: pyarrow.concat_tables([pyarrow.table(rows).slice(n, 2) for n in (0, 2)]),
    "views of strings": lambda rows: pyarrow.table(rows).cast(
        pyarrow.schema([(name, pyarrow.string_view()) for name in rows])
    ),
    "dictionaries": lambda rows: pyarrow.table({n: pyarrow.array(c).dictionary_encode() for n, c in rows.items()}),
    "pandas": pandas.DataFrame,
    "pandas of objects": lambda rows: pandas.DataFrame(rows, index=[7, 7, 1, 0][: len(rows["mt"])], dtype=object),
    "pandas of arrow": lambda rows: pyarrow.table(rows).to_pandas(types_mapper=pandas.ArrowDtype),
    "polars": polars.DataFrame,
    "lists": dict,
    "numpy": lambda rows: {name: np.array(column, object) for name, column in rows.items()},
    "numpy of str": lambda rows: {name: np.array(column, str) for name, column in rows.items()},
}
ROUGE_1 = {average: ROUGEScore(rouge_keys="rouge1", average=average) for average in ("macro", "micro")}
COLUMNS = StatisticsColumns({"bleu": Bleu(), **ROUGE_1}, "mt", "ref")
each_kind = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)


@each_kind
def test_the_type_that_is_given_is_returned_with_columns_added(make: Callable[[Any], Any]):
    given = make(ROWS)
    counted = COLUMNS(given)
    assert type(counted) is type(given)
    plain = COLUMNS(pyarrow.table(ROWS))
    assert records(counted) == records(plain)
    scores = COLUMNS.scores(counted)
    assert type(scores) is type(given)
    assert records(scores) == records(COLUMNS.scores(plain))
    if isinstance(given, pandas.DataFrame):
        assert scores.index.equals(counted.index)
        assert counted.index.equals(given.index)


@each_kind
@pytest.mark.parametrize("by", ["domain", ["domain", "second"], ()], ids=str)
def test_sums_by_group_are_those_of_the_rows(make: Callable[[Any], Any], by: Any):
    names = [by] if isinstance(by, str) else list(by)
    given = make(ROWS)
    sums = COLUMNS.sums(given, by=by)
    assert type(sums) is type(given)
    expected: dict[tuple, dict] = {}
    for row in records(COLUMNS(pyarrow.table(ROWS))):
        key = tuple(row[name] for name in names)
        total = expected.setdefault(key, dict(zip(names, key, strict=True)) | dict.fromkeys(COLUMNS.names, 0))
        for name in COLUMNS.names:
            total[name] += row[name]
    assert records(sums) == list(expected.values())
    assert records(COLUMNS.scores(COLUMNS(given), by=by)) == records(COLUMNS.scores(sums))


@each_kind
def test_no_row_is_a_table_like_any_other(make: Callable[[Any], Any]):
    given = make({name: column[:0] for name, column in ROWS.items()})
    if isinstance(given, pyarrow.Table):  # lists without an item have no type
        given = given.cast(pyarrow.schema([(name, pyarrow.string()) for name in ROWS]))
    counted = COLUMNS(given)
    assert type(counted) is type(given)
    assert records(counted) == records(COLUMNS.scores(counted)) == records(COLUMNS.sums(given, by="domain")) == []
    assert records(COLUMNS.sums(given)) == [dict.fromkeys(COLUMNS.names, 0)]
    with pytest.warns(UserWarning, match="no segment was counted"):
        (row,) = records(COLUMNS.scores(COLUMNS.sums(given)))
    assert (row["segments"], row["bleu"]) == (0, 0)
    assert np.isnan([row[f"{average}_rouge1_fmeasure"] for average in ROUGE_1]).all()


@each_kind
def test_several_columns_are_several_references(make: Callable[[Any], Any]):
    pairs = list(map(list, zip(ROWS["ref"], ROWS["second"], strict=True)))
    columns = StatisticsColumns({"bleu": Bleu(), "chrf": ChrF()}, preds="mt", target=["ref", "second"])
    bleu = functional.bleu_score(ROWS["mt"], pairs, average="micro", smooth="exp", tokenizer="13a")
    expected = {"segments": 4, "bleu": bleu, "chrf": functional.chrf_score(ROWS["mt"], pairs)}
    assert records(columns.scores(columns.sums(make(ROWS)))) == [expected]
    assert columns.signatures["bleu"].startswith("nrefs:2|avg:micro|unit:text")
    assert COLUMNS.signatures["bleu"].startswith("nrefs:?|")
    assert StatisticsColumns({"chrf": ChrF()}, "mt", ("ref",)).signatures["chrf"].startswith("nrefs:1|")


def test_lists_of_references_may_differ_in_length_and_be_arrays():
    rows = {"mt": ["a b", "b c", "c"], "ref": [["a b", "a"], ["b"], ["c", "d", "c c"]]}
    columns = StatisticsColumns({"chrf": ChrF()}, "mt", "ref")
    chrf = functional.chrf_score(rows["mt"], rows["ref"]).item()
    arrays = pandas.DataFrame({**rows, "ref": [np.array(references, object) for references in rows["ref"]]})
    mixed = {**rows, "ref": [rows["ref"][0], "b", tuple(rows["ref"][2])]}
    for table in (rows, arrays, mixed, pyarrow.table(rows), polars.DataFrame(rows)):
        assert records(columns.scores(columns.sums(table)))[0]["chrf"] == chrf
    square = {"mt": np.array(["a b", "c"]), "ref": np.array([["a", "b b"], ["c", "d d"]])}
    expected = functional.chrf_score(["a b", "c"], square["ref"].tolist()).item()
    assert records(columns.scores(columns.sums(square)))[0]["chrf"] == expected


def test_a_pickled_copy_counts_and_scores_alike():
    copy = pickle.loads(pickle.dumps(COLUMNS))
    assert copy(pyarrow.table(ROWS)).equals(COLUMNS(pyarrow.table(ROWS)), check_metadata=True)
    assert (copy.names, copy.signatures) == (COLUMNS.names, COLUMNS.signatures)


@each_kind
def test_nan_is_one_group_and_a_missing_value_another(make: Callable[[Any], Any]):
    rows = {"mt": ["a", "b", "c", "d"], "ref": ["a", "b", "c", "d"]}
    given = make(rows)
    numbers = [math.nan, 1.0, math.nan, 1.0]
    if isinstance(given, pyarrow.Table | pyarrow.RecordBatch):
        given = given.append_column("number", pyarrow.array(numbers))
    elif isinstance(given, polars.DataFrame):
        given = given.with_columns(number=polars.Series(numbers))
    else:
        given["number"] = np.array(numbers, object if isinstance(given, pandas.DataFrame) else float)
    sums = COLUMNS.sums(given, by="number")
    assert [row["segments"] for row in records(sums)] == [2, 2]
    scores = COLUMNS.scores(COLUMNS(given), by="number")
    assert [row["segments"] for row in records(scores)] == [2, 2]


@pytest.mark.parametrize(
    "column",
    [
        lambda values: pandas.Series(values, index=[3, 2, 1, 0]),
        polars.Series,
        pyarrow.array,
        lambda values: pyarrow.chunked_array([values[:3], values[3:]]),
        tuple,
    ],
    ids=["pandas", "polars", "pyarrow", "chunks of pyarrow", "tuple"],
)
def test_the_columns_of_a_mapping_may_be_those_of_any_library(column: Callable[[list[str]], Any]):
    rows = {name: column(values) for name, values in ROWS.items()}
    plain = COLUMNS.sums(ROWS, by="domain")
    sums = COLUMNS.sums(rows, by="domain")
    assert records(sums) == records(plain)
    typed = {name: column(list(values)) if name == "domain" else values for name, values in COLUMNS(ROWS).items()}
    assert records(COLUMNS.scores(typed, by="domain")) == records(COLUMNS.scores(plain))


def test_other_columns_of_one_name_stay_as_they_are():
    names, columns = ["mt", "x", "ref", "x"], [ROWS["mt"], [1, 2, 3, 4], ROWS["ref"], [5, 6, 7, 8]]
    arrow = pyarrow.Table.from_arrays([pyarrow.array(column) for column in columns], names)
    frame = pandas.concat(
        [pandas.Series(column, name=name) for name, column in zip(names, columns, strict=True)], axis=1
    )
    arrow_counted, frame_counted = COLUMNS(arrow), COLUMNS(frame)
    for found in (arrow_counted, COLUMNS.scores(arrow_counted)):
        assert found.column_names[:5] == [*names, "segments"]
        assert [found.column(place).to_pylist() for place in range(4)] == columns
    for found in (frame_counted, COLUMNS.scores(frame_counted)):
        assert list(found.columns)[:5] == [*names, "segments"]
        assert [found.iloc[:, place].tolist() for place in range(4)] == columns


def test_metadata_that_is_no_text_is_no_digest():
    table = COLUMNS(pyarrow.table(ROWS))
    odd = table.replace_schema_metadata({**table.schema.metadata, b"ngram_metrics.\xff": b"\xff"})
    assert records(COLUMNS.scores(odd)) == records(COLUMNS.scores(table))


def test_batches_of_arrow_have_the_columns_of_the_schema():
    table = pyarrow.table(ROWS).replace_schema_metadata({"kept": "yes"})
    batches = [*COLUMNS.arrow_batches(iter(table.to_batches(max_chunksize=3)))]
    assert [batch.num_rows for batch in batches] == [3, 1]
    expected = pyarrow.schema([*table.schema, *COLUMNS.schema], {**COLUMNS.schema.metadata, "kept": "yes"})
    assert all(batch.schema.equals(expected, check_metadata=True) for batch in batches)
    assert COLUMNS.schema.names == COLUMNS.names
    assert set(COLUMNS.schema.types) == {pyarrow.int64()}
    # The scores are no counts, and keep only what is not of them.
    assert COLUMNS.scores(pyarrow.Table.from_batches(batches)).schema.metadata == {b"kept": b"yes"}


def test_many_rows_are_read_in_parts():
    sources = references(6000)
    table = pyarrow.table({"mt": output(sources, 0.2, seed=2), "ref": sources, "n": [n % 3 for n in range(6000)]})
    columns = StatisticsColumns({"bleu": Bleu()}, "mt", "ref")
    counted = columns(table)
    assert counted.slice(5990).equals(columns(table.slice(5990)))
    sums = counted.group_by("n").aggregate([(name, "sum") for name in columns.names])
    assert records(columns.scores(sums)) == records(columns.scores(columns.sums(table, by="n")))


@pytest.mark.parametrize("name", ["{}_sum", "sum({})", 'sum("{}")'])
def test_sums_are_known_by_the_names_that_engines_give_them(name: str):
    sums = COLUMNS.sums(ROWS, by="domain")
    renamed = {name.format(one) if one in COLUMNS.names else one: column for one, column in sums.items()}
    assert records(COLUMNS.scores(renamed)) == records(COLUMNS.scores(sums))


_TYPES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "decimal128(38, 0)": lambda sums: pyarrow.table(
        {name: pyarrow.array(map(Decimal, column), pyarrow.decimal128(38, 0)) for name, column in sums.items()}
    ),
    "uint64": lambda sums: pyarrow.table({n: pyarrow.array(c, pyarrow.uint64()) for n, c in sums.items()}),
    "int32": lambda sums: pyarrow.table({n: pyarrow.array(c, pyarrow.int32()) for n, c in sums.items()}),
    "Decimal of polars": lambda sums: polars.DataFrame(sums, {name: polars.Decimal(38, 0) for name in sums}),
    "Int128 of polars": lambda sums: polars.DataFrame(sums, dict.fromkeys(sums, polars.Int128)),
    "Int64 of pandas": lambda sums: pandas.DataFrame(sums, dtype="Int64"),
    "objects of pandas": lambda sums: pandas.DataFrame(sums, dtype=object),
    "int": lambda sums: {name: list(map(int, column)) for name, column in sums.items()},
    "uint64 of numpy": lambda sums: {name: np.array(column, np.uint64) for name, column in sums.items()},
}


@pytest.mark.parametrize("typed", _TYPES.values(), ids=_TYPES)
def test_sums_of_any_type_of_integers_are_scored(typed: Callable[[dict[str, Any]], Any]):
    columns = StatisticsColumns({"chrf": ChrF()}, "mt", "ref")
    sums = columns.sums({name: ROWS[name] for name in ("mt", "ref")})
    plain = {name: column.tolist() for name, column in sums.items()}
    assert records(columns.scores(typed(plain))) == records(columns.scores(sums))


@pytest.mark.programs
def test_a_worker_imports_neither_a_library_of_tables_nor_torchmetrics():
    """What was pickled are the settings of the metrics, and not their classes for torchmetrics."""
    code = (
        "import pickle, sys; columns = pickle.loads(sys.stdin.buffer.read());"
        "columns.scores(columns.sums({'mt': ['a'], 'ref': ['a']}));"
        "assert not {'pyarrow', 'pandas', 'polars', 'torchmetrics'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], input=pickle.dumps(COLUMNS), check=True)


#: One nanosecond apart: Python's types, which end at microseconds, would make both one.
_ARROW_TIMES = {unit: pyarrow.array([1, 2, 1, None], unit) for unit in ("time64[ns]", "timestamp[ns]", "duration[ns]")}
_TIMES: dict[str, Any] = {
    **_ARROW_TIMES,
    **{f"dictionary of {unit}": column.dictionary_encode() for unit, column in _ARROW_TIMES.items()},
    **{
        f"{unit} in runs": pyarrow.RunEndEncodedArray.from_arrays([1, 2, 3, 4], column)
        for unit, column in _ARROW_TIMES.items()
    },
    **{
        f"polars {kind}": polars.Series([1, 2, 1, None]).cast(kind)
        for kind in (polars.Datetime("ns"), polars.Datetime("ns", "UTC"), polars.Duration("ns"), polars.Time)
    },
    "pandas with arrow": pandas.Series(
        pandas.array(_ARROW_TIMES["time64[ns]"], pandas.ArrowDtype(pyarrow.time64("ns")))
    ),
    "pandas": pandas.Series(pandas.to_datetime([1, 2, 1, None])),
    "numpy": np.array([1, 2, 1, "NaT"], "datetime64[ns]"),
}


@pytest.mark.parametrize("times", _TIMES.values(), ids=_TIMES)
def test_times_a_nanosecond_apart_are_groups_of_their_own(times: Any):
    rows: dict[str, Any] = {**ROWS, "time": times}
    tables: list[Any] = [rows]
    if isinstance(times, pyarrow.Array):
        tables += [pyarrow.table(rows), pyarrow.RecordBatch.from_pydict(rows)]
    elif not isinstance(times, np.ndarray):
        tables.append(polars.DataFrame(rows) if isinstance(times, polars.Series) else pandas.DataFrame(rows))
    for table in tables:
        assert [row["segments"] for row in records(COLUMNS.sums(table, by="time"))] == [2, 1, 1]


@pytest.mark.parametrize(
    "labels",
    [
        pyarrow.RunEndEncodedArray.from_arrays([2, 4], ["x", "y"]),
        pyarrow.array([b"x", b"x", b"y", b"y"], pyarrow.binary_view()),
        pyarrow.array(["x", "x", "y", "y"], pyarrow.string_view()),
    ],
    ids=lambda labels: str(labels.type),
)
def test_types_of_which_pyarrow_takes_no_rows_keep_their_type(labels: pyarrow.Array):
    table = pyarrow.table({**ROWS, "label": labels})
    for given in (table, table.to_batches()[0], pyarrow.concat_tables([table.slice(0, 1), table.slice(1)])):
        for scored in (COLUMNS.scores(COLUMNS.sums(given, by="label")), COLUMNS.scores(COLUMNS(given), by="label")):
            assert type(scored) is type(given)
            assert scored.schema.field("label").type == labels.type
            assert scored.column("label").to_pylist() == [labels[0].as_py(), labels[2].as_py()]
            assert scored.column("segments").to_pylist() == [2, 2]
        assert COLUMNS.sums(given.slice(0, 0), by="label").num_rows == 0


def test_a_column_of_counts_of_another_table_is_left_as_it_is():
    macro = StatisticsColumns({"bleu": Bleu(average="macro")}, "mt", "ref")
    sums = {**macro.sums(ROWS), "bleu_matches_5": np.array([7])}
    scores = macro.scores(sums)
    assert list(scores) == ["bleu_matches_5", "segments", "bleu"]
    assert scores["bleu_matches_5"].tolist() == [7]


class _Stream:
    """What offers a stream of Arrow data, and nothing else."""

    def __init__(self, rows: dict[str, list[str]], batch: int = 3) -> None:
        self._table = pyarrow.table(rows)
        self._batch = batch

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        batches = self._table.to_batches(max_chunksize=self._batch)
        return pyarrow.RecordBatchReader.from_batches(self._table.schema, batches).__arrow_c_stream__(requested_schema)


_STREAMS: dict[str, Callable[[dict[str, list[str]]], Any]] = {
    "any": _Stream,
    "a reader": lambda rows: pyarrow.table(rows).to_reader(max_chunksize=3),
    "DuckDB": lambda rows: duckdb.from_arrow(pyarrow.table(rows)),
}


@pytest.mark.parametrize("stream", _STREAMS.values(), ids=_STREAMS)
def test_streams_are_read_batch_by_batch(stream: Callable[[dict[str, list[str]]], Any]):
    whole = pyarrow.table(ROWS)
    counted = COLUMNS(stream(ROWS))
    assert isinstance(counted, pyarrow.RecordBatchReader)
    assert counted.schema == COLUMNS(whole).schema
    assert counted.read_all().to_pylist() == records(COLUMNS(whole))
    for by in ("domain", (), ["domain", "second"]):
        sums = COLUMNS.sums(stream(ROWS), by=by)
        assert isinstance(sums, pyarrow.Table)
        assert sums.to_pylist() == records(COLUMNS.sums(whole, by=by))
        assert sums.schema.equals(COLUMNS.sums(whole, by=by).schema, check_metadata=True)
    expected = records(COLUMNS.scores(COLUMNS.sums(whole, by="domain")))
    assert COLUMNS.scores(COLUMNS.sums(stream(ROWS), by="domain")).to_pylist() == expected
    assert COLUMNS.scores(COLUMNS(stream(ROWS)), by="domain").to_pylist() == expected


def test_a_stream_without_rows_has_the_columns():
    nothing = pyarrow.table(ROWS).slice(0, 0)
    assert COLUMNS(nothing.to_reader()).read_all().schema == COLUMNS(nothing).schema
    assert COLUMNS.sums(nothing.to_reader()).to_pylist() == [dict.fromkeys(COLUMNS.names, 0)]


def test_a_stream_counts_when_it_is_read():
    """The rows of a batch are not asked for before it is its turn."""
    asked = []

    def batches() -> Iterator[pyarrow.RecordBatch]:
        for number in range(3):
            asked.append(number)
            yield pyarrow.RecordBatch.from_pydict(ROWS)

    reader = COLUMNS(pyarrow.RecordBatchReader.from_batches(pyarrow.table(ROWS).schema, batches()))
    assert asked == []
    reader.read_next_batch()
    assert asked == [0]
