"""What the tests of columns share: every metric at once, and engines that add its columns by group."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import duckdb
import pandas
import polars
import pyarrow
from metrics.cases import CASES, Case

from ngram_metrics.columns import StatisticsColumns

#: Every metric of text, with both averages, by a name that SQL has to quote.
METRICS: dict[str, tuple[Case, str]] = {
    f"{case.name} {average}": (case, average)
    for case in CASES
    if not case.on_ids
    for average in case.averages
    if average != "none"
}
COLUMNS = StatisticsColumns({name: case.make(average) for name, (case, average) in METRICS.items()}, "mt", "refs")


def arrow(groups: Sequence[Any], hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> pyarrow.Table:
    """A table of segments; two columns name their group."""
    several = pyarrow.array(references, pyarrow.list_(pyarrow.string()))
    labels = pyarrow.array(groups, pyarrow.int64())
    return pyarrow.table(
        {"mt": pyarrow.array(hypotheses, pyarrow.string()), "refs": several, "group": labels, "same": labels}
    )


def _with_pyarrow(parts: list[pyarrow.Table], names: Sequence[str]) -> Any:
    return pyarrow.concat_tables(parts).group_by(["same", "group"]).aggregate([(name, "sum") for name in names])


def _with_pandas(parts: list[pyarrow.Table], names: Sequence[str]) -> Any:
    return (
        pandas.concat([part.to_pandas() for part in parts]).groupby(["same", "group"])[list(names)].sum().reset_index()
    )


def _with_polars(parts: list[pyarrow.Table], names: Sequence[str]) -> Any:
    frame = polars.concat([polars.from_arrow(part) for part in parts])
    return frame.group_by("same", "group").agg(polars.col(names).sum())


def _with_duckdb(parts: list[pyarrow.Table], names: Sequence[str]) -> Any:
    counted = pyarrow.concat_tables(parts)
    sums = ", ".join(f'sum("{name}")' for name in names)
    with duckdb.connect() as database:
        found = database.from_arrow(counted).query("counted", f'SELECT same, "group", {sums} FROM counted GROUP BY ALL')
        return found.to_arrow_table()


def _with_columns(parts: list[pyarrow.Table], names: Sequence[str]) -> Any:
    """No engine: the class itself adds rows that are sums or counts already."""
    frame = pyarrow.concat_tables(parts).select(["same", "group", *names])
    return {name: frame.column(name).to_numpy() for name in frame.column_names}


#: From parts of a table with columns of counts to a table of sums; the last leaves it to ``scores``.
ENGINES: Mapping[str, Callable[[list[pyarrow.Table], Sequence[str]], Any]] = {
    "pyarrow": _with_pyarrow,
    "pandas": _with_pandas,
    "polars": _with_polars,
    "duckdb": _with_duckdb,
    "columns": _with_columns,
}


def records(table: Any) -> list[dict[str, Any]]:
    """The rows of any table, as plain values."""
    if isinstance(table, pyarrow.Table | pyarrow.RecordBatch):
        return table.to_pylist()
    if isinstance(table, pandas.DataFrame):
        return table.to_dict("records")
    if isinstance(table, polars.DataFrame):
        return table.to_dicts()
    lists = {name: getattr(column, "tolist", lambda column=column: list(column))() for name, column in table.items()}
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def by_group(table: Any) -> dict[Any, dict[str, Any]]:
    """The values of each group; NaN is equal to no other, so it is None."""
    return {
        row.pop("group"): {name: None if value != value else value for name, value in row.items() if name != "same"}
        for row in records(table)
    }
