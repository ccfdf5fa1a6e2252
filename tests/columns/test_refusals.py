"""Wrong input: an error that says what was given and what is expected, in a sentence."""

import re
import sys
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas
import polars
import pyarrow
import pytest

from ngram_metrics import Bleu, ChrF, ROUGEScore, Ter
from ngram_metrics.columns import StatisticsColumns

MACRO = StatisticsColumns({"bleu": Bleu(average="macro"), "chrf": ChrF()}, "mt", "ref")
COLUMNS = StatisticsColumns({"bleu": Bleu()}, "mt", "ref")
ROWS = {"domain": ["x", "y"], "mt": ["a b", "c"], "ref": ["a", "c"]}
SUMS = COLUMNS.sums(ROWS, by="domain")


def check_refusal(call: Callable[[], object], message: str) -> None:
    """Compare the class of an error and its words, as Python prints them."""
    with pytest.raises((TypeError, ValueError), match=r"expected|would replace") as raised:
        call()
    assert re.search(f"^{message}", f"{raised.typename}: {raised.value}")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([ChrF()], "mt", "ref"), "TypeError: metrics is a list: expected a mapping of names to metrics"),
        (({}, "mt", "ref"), "ValueError: metrics is empty: expected at least one metric"),
        (({"a": ChrF}, "mt", "ref"), "TypeError: the metric 'a' is the class ChrF: expected a metric object"),
        (({"a": 3}, "mt", "ref"), "TypeError: the metric 'a' is an int: expected a metric object"),
        (({1: ChrF()}, "mt", "ref"), "TypeError: a metric is named by 1: expected a str"),
        (({"a": ChrF(average="none")}, "mt", "ref"), "ValueError: the metric a has average='none': expected one that"),
        (({"a": ChrF()}, 0, "ref"), "TypeError: a column is named by 0: expected a str"),
        (({"a": ChrF()}, "mt", ["ref", None]), "TypeError: a column is named by None: expected a str"),
        (({"a": ChrF()}, "mt", 3), "TypeError: target is an int: expected the name of a column, or several"),
        (({"a": ChrF()}, "mt", []), "ValueError: target names no column: expected at least one"),
        (({"segments": ChrF()}, "mt", "ref"), "ValueError: .*both write 'segments': expected other names"),
        (
            ({"a": ROUGEScore(rouge_keys="rouge1"), "a_rouge1_recall": ChrF()}, "mt", "ref"),
            "ValueError: the metrics 'a' and 'a_rouge1_recall' both write 'a_rouge1_recall': expected other names",
        ),
        (({"a": ChrF(), "a_low": ChrF()}, "mt", "ref"), "ValueError: the metrics 'a' and 'a_low' both write 'a_low'"),
    ],
)
def test_arguments(arguments: tuple, message: str):
    check_refusal(lambda: StatisticsColumns(*arguments), message)


def test_a_keyword_that_is_none_names_the_one_that_was_meant():
    with pytest.raises(TypeError, match=r"StatisticsColumns.* references.*target"):
        StatisticsColumns({"a": ChrF()}, "mt", references="ref")  # type: ignore[call-arg]


_BATCHES: dict[str, tuple[Any, str]] = {
    "no table": ([1], "TypeError: the batch is a list: expected a pyarrow Table or RecordBatch, a pandas or polars"),
    "a lazy frame": (polars.LazyFrame(ROWS), "TypeError: the batch is a LazyFrame: expected a pyarrow Table"),
    "no column": (
        {"src": ["a"], "MT": ["a"], "ref": ["a"]},
        r"ValueError: the batch has no column 'mt': expected it among \['src', 'MT', 'ref'\]; did you mean 'MT'\?",
    ),
    "a column twice": (
        pyarrow.Table.from_arrays([pyarrow.array(["a"])] * 3, ["mt", "mt", "ref"]),
        "ValueError: the batch has 2 columns 'mt': expected one",
    ),
    "columns of different lengths": (
        {"mt": ["a", "b"], "ref": ["a"]},
        "ValueError: column 'mt' of the batch has 2 rows and column 'ref' has 1: expected the same number",
    ),
    "a text for a column": (
        {"mt": "ab", "ref": "ab"},
        "TypeError: column 'mt' of the batch is a str: expected an array or",
    ),
    "a dict": ({"mt": ["a"], "ref": {0: "a"}}, "TypeError: column 'ref' of the batch is a dict: expected an array"),
    "an iterator": (
        {"mt": iter(["a"]), "ref": ["a"]},
        "TypeError: .*'mt' of the batch is a list_iterator: expected an",
    ),
    "an array of no dimension": (
        {"mt": np.array("a"), "ref": np.array("a")},
        "TypeError: .* batch is an ndarray: expected",
    ),
    "a float column": ({"mt": [0.5], "ref": ["a"]}, "TypeError: row 0 of 'mt' is a float, 0.5: expected text"),
    "null": (pyarrow.table({"mt": ["a", None], "ref": ["a", "b"]}), "TypeError: row 1 of 'mt' is null: expected text"),
    "null of polars": (polars.DataFrame({"mt": ["a"], "ref": [None]}), "TypeError: row 0 of 'ref' is null"),
    "nan of pandas": (
        pandas.DataFrame({"mt": ["a", np.nan], "ref": "a"}, dtype=object),
        "TypeError: row 1 of 'mt' is null",
    ),
    "nan of numpy": ({"mt": np.array(["a", np.nan], object), "ref": ["a", "a"]}, "TypeError: row 1 of 'mt' is null"),
    "masked": (
        {"mt": np.ma.array(["a", "b"], mask=[False, True]), "ref": ["a", "b"]},
        "TypeError: row 1 of 'mt' is null: expected text",
    ),
    "masked among references": (
        {"mt": ["a"], "ref": [np.ma.array(["a", "b"], object, mask=[False, True])]},
        "TypeError: reference 1 of row 0 of 'ref' is null: expected text",
    ),
    "a list of tokens": ({"mt": [["a"]], "ref": ["a"]}, r"TypeError: row 0 of 'mt' is a list, \['a'\]: expected text"),
    "no reference": (
        pyarrow.table({"mt": ["a", "b"], "ref": [["a"], []]}),
        "ValueError: row 1 of 'ref' is an empty list: expected at least one reference",
    ),
    "null among references": (
        pyarrow.table({"mt": ["a", "b"], "ref": [["a"], ["a", None]]}),
        "TypeError: reference 1 of row 1 of 'ref' is null: expected text",
    ),
    "null for references": (
        pyarrow.table({"mt": ["a", "b"], "ref": [["a"], None]}),
        "TypeError: row 1 of 'ref' is null: expected text",
    ),
    "counted before": (COLUMNS(ROWS), "ValueError: the batch has a column 'segments', which the counts would replace"),
}


@pytest.mark.parametrize(("batch", "message"), _BATCHES.values(), ids=_BATCHES)
def test_batches(batch: Any, message: str):
    for count in (COLUMNS, COLUMNS.sums):
        if count is COLUMNS or "would replace" not in message:
            check_refusal(lambda count=count: count(batch), message)


def test_a_sequence_of_columns_holds_no_lists():
    columns = StatisticsColumns({"chrf": ChrF()}, "mt", ["ref"])
    with pytest.raises(TypeError, match=r"row 0 of 'ref' is a list, \['a'\]: expected text"):
        columns({"mt": ["a"], "ref": [["a"]]})


def test_a_row_behind_the_first_thousands_is_named():
    hypotheses = ["a"] * 9000
    hypotheses[8500] = None  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="row 8500 of 'mt' is null: expected text"):
        COLUMNS({"mt": hypotheses, "ref": ["a"] * 9000})
    odd = StatisticsColumns({"bleu": Bleu(tokenizer=lambda text: None if text == "b" else [text])}, "mt", "ref")
    hypotheses[8500] = "b"
    with pytest.raises(TypeError, match=r"for segment 308, 'b'.*\(segment 0 is row 8192 of the batch\)"):
        odd({"mt": hypotheses, "ref": ["a"] * 9000})
    macro = StatisticsColumns({"ter": Ter(average="macro")}, "mt", "ref")
    hypotheses[8500] = "b " * 4096
    with pytest.raises(ValueError, match=r"^row 8500 has the ter 4096\.0: expected a score from 0 to below 4096$"):
        macro({"mt": hypotheses, "ref": ["a"] * 9000})


def test_columns_that_are_named_twice_or_are_those_of_counts():
    for make in (dict, pyarrow.table, pandas.DataFrame, polars.DataFrame):
        rows = make({**ROWS, "segments": [1, 2]})
        with pytest.raises(ValueError, match=r"^by has 'domain' twice: expected each column once$"):
            COLUMNS.sums(rows, by=["domain", "mt", "domain"])
        with pytest.raises(ValueError, match=r"^by has 'segments', which is the name of a column of counts: expected"):
            COLUMNS.sums(rows, by=["domain", "segments"])
        with pytest.raises(ValueError, match=r"^by has 'bleu_matches_1', which is the name of a column of counts: "):
            COLUMNS.sums(make({**ROWS, "bleu_matches_1": [1, 2]}), by="bleu_matches_1")
    with pytest.raises(ValueError, match=r"^target has 'ref' twice: expected each column once$"):
        StatisticsColumns({"a": ChrF()}, "mt", ["ref", "ref"])


def test_rows_of_a_group_whose_sum_is_too_large():
    sums = {name: np.array([2**62, 1, 2**62]) for name in COLUMNS.names}
    assert COLUMNS.scores(sums)["bleu"].tolist() == [1, 1, 1]
    for keywords in ({"by": ()}, {"confidence": 0.9}):
        with pytest.raises(ValueError, match=r"^the rows of a group add up to 2\^63 or more: expected a sum below 2"):
            COLUMNS.scores(sums, **keywords)
    largest = {name: np.array([2**62, 2**62 - 1]) for name in COLUMNS.names}
    assert COLUMNS.scores(largest, by=())["segments"].tolist() == [2**63 - 1]


def test_sums_that_no_text_has_may_score_infinity():
    columns = StatisticsColumns({"bleu": Bleu(ngram=1, weights=[1e4])}, "mt", "ref")
    sums = {**columns.sums({"mt": ["a"], "ref": ["a"]}), "bleu_matches_1": [2]}
    assert columns.scores(sums)["bleu"].tolist() == [np.inf]


def test_groups_that_cannot_be_compared_or_are_not_there():
    with pytest.raises(TypeError, match="by is an int: expected the name of a column, or several names"):
        COLUMNS.sums(ROWS, by=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"rows cannot be grouped by \['refs'\]: unhashable type: 'list'"):
        COLUMNS.sums({**ROWS, "refs": [["a"], ["b"]]}, by="refs")
    with pytest.raises(ValueError, match=r"the batch has no column 'domains'.*did you mean 'domain'\?"):
        COLUMNS.sums(ROWS, by="domains")
    with pytest.raises(ValueError, match="the table of sums has no column 'domains'"):
        COLUMNS.scores(SUMS, by=["domains"])


def _with(name: str, *values: Any) -> Mapping[str, Any]:
    return {**SUMS, name: list(values)}


_HUGE = np.array([1, 2**63], np.uint64)
_SUMS: dict[str, tuple[Any, str]] = {
    "no table": (None, "TypeError: the table of sums is a NoneType: expected a pyarrow Table"),
    "a missing sum": (
        {name: column for name, column in SUMS.items() if name != "bleu_totals_2"},
        r"ValueError: .*has no sum of 'bleu_totals_2': expected a column 'bleu_totals_2', 'bleu_totals_2_sum' or 'sum",
    ),
    "a sum twice": (_with("segments_sum", 1, 1), "ValueError: .* columns 'segments' and 'segments_sum': expected"),
    "floats": (
        _with("segments", 1.0, 2.0),
        r"TypeError: row 0 of 'segments' is a floating-point number, 1.0, .* in SQL CAST\(sum\(\.\.\.\) AS BIG",
    ),
    **{
        f"null of {make.__module__}": (
            make(dict(_with("segments", 1, None))),
            "TypeError: row 1 of 'segments' is null: expected an",
        )
        for make in (dict, pyarrow.table, polars.DataFrame)
    },
    **{
        f"2^63 of {name}": (sums, f"ValueError: row 1 of 'segments' is {2**63}: expected a sum below")
        for name, sums in {
            "int": _with("segments", 1, 2**63),
            "pyarrow": pyarrow.table({**SUMS, "segments": pyarrow.array(_HUGE)}),
            "polars": polars.DataFrame({**SUMS, "segments": polars.Series(_HUGE)}),
            "pandas": pandas.DataFrame({**SUMS, "segments": _HUGE}),
            "numpy": {**SUMS, "segments": _HUGE},
        }.items()
    },
    "truth": (_with("segments", True, False), "TypeError: row 0 of 'segments' is a bool, True: expected an integer"),
    "text": (_with("segments", "1", "2"), "TypeError: row 0 of 'segments' is a str, '1': expected an integer"),
    **{
        f"Decimal {number}": (
            _with("segments", 1, Decimal(number)),
            rf"TypeError: row 1 of 'segments' is a Decimal, Decimal\('{number}'\): expected an integer, the sum of a",
        )
        for number in ("1.5", "Infinity", "NaN", "sNaN")
    },
    "an array of two dimensions": (
        {**SUMS, "segments": np.ones((2, 2), int)},
        r"TypeError: row 0 of 'segments' is a list, \[1, 1\]: expected an in",
    ),
    "10^99": (_with("bleu_totals_1", 1, 10**99), r"ValueError: .*is 10{56}\.\.\.: expected a sum below 2\^63$"),
    "masked": (
        {**SUMS, "segments": np.ma.array([1, 1], mask=[False, True])},
        "TypeError: row 1 of 'segments' is null: expected an integer",
    ),
    "-10^30": (_with("segments", 1, -(10**30)), r"ValueError: row 1 of 'segments' is -10{30}: expected a sum below 2"),
    "Decimal 10^(10^9)": (
        _with("segments", 1, Decimal("1e1000000000")),
        r"ValueError: row 1 of 'segments' is Decimal\('1E\+1000000000'\): expected a sum below 2\^63$",
    ),
    "below 0": (_with("bleu_totals_1", 1, -1), "ValueError: row 1 of 'bleu_totals_1' is -1: expected a sum of counts"),
    "a score's name": (_with("bleu", "x", "y"), "ValueError: .*has a column 'bleu', which the scores would replace"),
}


@pytest.mark.parametrize(("sums", "message"), _SUMS.values(), ids=_SUMS)
def test_sums(sums: Any, message: str):
    check_refusal(lambda: COLUMNS.scores(sums), message)


def test_floating_point_sums_of_duckdb_come_with_the_cast():
    counted = pyarrow.table(SUMS)
    names = ", ".join(f"sum({name})" for name in COLUMNS.names)
    with duckdb.connect() as database:
        summed = database.from_arrow(counted).query("counted", f"SELECT {names} FROM counted").df()
        with pytest.raises(TypeError, match=r"row 0 of 'sum\(segments\)' is a floating-point number"):
            COLUMNS.scores(summed)
        cast = ", ".join(f"CAST(sum({name}) AS BIGINT) AS {name}" for name in COLUMNS.names)
        found = COLUMNS.scores(database.from_arrow(counted).query("counted", f"SELECT {cast} FROM counted").df())
    assert found["segments"].tolist() == [2]


def test_more_segments_than_a_macro_average_holds():
    sums = {name: np.array([1, 2**31 + 1]) for name in MACRO.names}
    with pytest.raises(ValueError, match="row 1 is a sum over 2147483649 segments: expected at most 2147483648"):
        MACRO.scores(sums)
    assert MACRO.scores({**sums, "segments": np.array([1, 2**31])})["segments"].tolist() == [1, 2**31]


@pytest.mark.parametrize("options", [{"smooth": "floor"}, {"tokenizer": "intl"}, {"lowercase": True}], ids=str)
def test_sums_of_other_settings_where_the_schema_says_so(options: dict[str, Any]):
    columns = StatisticsColumns({"chrf": ChrF(), "bleu": Bleu(**options)}, "mt", "ref")
    assert columns.names == StatisticsColumns({"chrf": ChrF(), "bleu": Bleu()}, "mt", "ref").names
    for sums in (columns.sums(pyarrow.table(ROWS)), columns(pyarrow.table(ROWS)).to_batches()[0]):
        columns.scores(sums)
        with pytest.raises(ValueError, match=r"the sums of 'bleu' were counted with other settings: .*smooth:exp"):
            COLUMNS.scores(sums)


def test_sums_of_other_orders_are_known_by_their_names():
    short = StatisticsColumns({"bleu": Bleu(ngram=2)}, "mt", "ref")
    with pytest.raises(ValueError, match="has no sum of 'bleu_matches_3'"):
        COLUMNS.scores(short.sums(ROWS))
    for name in ("{}", "{}_sum", "sum({})"):
        longer = {name.format(column): values for column, values in COLUMNS.sums(ROWS).items()}
        with pytest.raises(ValueError, match=r"has the column '.*bleu_matches_3.*', which is of other settings"):
            short.scores(longer)
    with pytest.raises(ValueError, match="has no sum of 'bleu_high_bits'"):
        MACRO.scores(COLUMNS.sums(ROWS))


def test_another_level_of_confidence():
    with pytest.raises(ValueError, match=r"confidence must be between 0 and 1, such as 0.95 \(got: 95\)"):
        COLUMNS.scores(SUMS, confidence=95)


def test_a_schema_without_pyarrow_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ModuleNotFoundError, match=r"^a schema needs pyarrow: pip install 'ngram-metrics\[columns\]'$"):
        _ = COLUMNS.schema
