"""Counts as columns of a table: corpus scores by group, on any engine that adds integers.

A score of a corpus is computed from sums over its segments, and is not a mean of scores of segments or groups. So the
counts of each segment become int64 columns. An engine adds them by any group, on one machine or many, and
``StatisticsColumns.scores`` turns the sums of all groups into scores. Integers add up to the same sums in every order,
so the scores of any engine and any partition are equal to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from ngram_metrics._core.basics.keywords import named_arguments
from ngram_metrics._core.basics.option_checks import check_confidence, refuse_average_none, refuse_equal_names
from ngram_metrics._core.scoring.resampling import ENDS
from ngram_metrics._core.scoring.scorer import Metric, Scorer, count_systems, scorer_of
from ngram_metrics._core.scoring.signature import format_references
from ngram_metrics._core.text.messages import numbered_from, shortened, type_name
from ngram_metrics.columns.cells import add_to_groups, group_rows, read_integers, read_references, read_texts
from ngram_metrics.columns.metric_columns import SEGMENTS, MetricColumns, read_sums, score_groups, score_sums
from ngram_metrics.columns.table_types import AnyTable, Columns, Integers, Table, open_stream, wrap_table

if TYPE_CHECKING:
    import pyarrow

__all__ = ["StatisticsColumns"]

#: Rows that are read at a time, which limits memory.
_ROWS = 1 << 12


class StatisticsColumns:
    """The counts of segments as columns of tables, and scores from their sums, on the page docs/guides/engines.md.

    A call adds the counts to a table: a ``Table`` or ``RecordBatch`` of pyarrow, a ``DataFrame`` of pandas or polars,
    or a mapping of names to arrays or lists. The result has the same type. Anything else with ``__arrow_c_stream__``,
    such as a relation of DuckDB or a ``RecordBatchReader``, is read batch by batch: a call returns a
    ``RecordBatchReader``, the other methods a ``Table``. The object has no state and can be pickled: make it once, and
    an engine sends it to its workers.

    The columns are ``names``, all int64: ``segments``, which is 1, and for each metric its counts, such as
    ``bleu_matches_1`` or ``bleu_reference_length``. A metric with ``average="macro"`` has sums of scores instead, each
    in two columns: ``<value>_high_bits`` and ``<value>_low_bits`` of round(score * 2^62), or 2^51 for TER. They
    add up exactly to sums over 2^31 rows.

    Args:
        metrics: metrics by name, such as ``{"bleu": Bleu(), "chrf": ChrF()}``; their counts do not change.
        preds: the column of hypotheses, which are texts.
        target: the column of references, texts or lists of texts; or a sequence of columns of texts, each a reference.

    Raises:
        TypeError: arguments of other types; an object that is not a metric of this package.
        ValueError: no metric, or no column of references; a metric with ``average="none"``; two metrics that would
            write one name.

    Example:
        >>> import pyarrow
        >>> from ngram_metrics import Bleu, ChrF
        >>> from ngram_metrics.columns import StatisticsColumns
        >>> table = pyarrow.table({
        ...     "domain": ["news", "news", "talks"],
        ...     "mt": ["The cat sat on the mat.", "A dog ran home.", "We saw them there."],
        ...     "ref": ["The cat sat on a mat.", "The dog ran home.", "We saw them there yesterday."],
        ... })
        >>> columns = StatisticsColumns({"bleu": Bleu(), "chrf": ChrF()}, preds="mt", target="ref")
        >>> counted = columns(table)
        >>> sums = counted.group_by("domain").aggregate([(name, "sum") for name in columns.names])
        >>> for row in columns.scores(sums).to_pylist():
        ...     print(row)
        {'domain': 'news', 'segments': 2, 'bleu': 0.56, 'chrf': 0.73}
        {'domain': 'talks', 'segments': 1, 'bleu': 0.58, 'chrf': 0.59}
    """

    @named_arguments
    def __init__(self, metrics: Mapping[str, Metric | Scorer], preds: str, target: str | Sequence[str]) -> None:
        if not isinstance(metrics, Mapping):
            raise TypeError(f"metrics is {type_name(metrics)}: expected a mapping of names to metrics")
        if not metrics:
            raise ValueError("metrics is empty: expected at least one metric")
        self._metrics = []
        for name, metric in metrics.items():
            _checked_name("metric", name)
            scorer = metric if isinstance(metric, Scorer) else scorer_of(metric, f"the metric {name!r}")
            refuse_average_none(name, scorer)
            self._metrics.append(MetricColumns(name, scorer))
        self._preds = _checked_name("column", preds)
        self._target = _checked_columns(target, "target")
        if not self._target:
            raise ValueError("target names no column: expected at least one")
        self._may_be_lists = isinstance(target, str)
        names = [(SEGMENTS, [SEGMENTS])]
        for metric_columns in self._metrics:
            values = [f"{value}{end}" for value in metric_columns.values for end in ("", *ENDS)]
            names.append((metric_columns.metric, [*metric_columns.names, *values]))
        refuse_equal_names(names)

    @property
    def names(self) -> list[str]:
        """The names of the columns that are added to a batch: ``segments``, then the columns of each metric."""
        return [SEGMENTS, *(name for metric in self._metrics for name in metric.names)]

    @property
    def signatures(self) -> dict[str, str]:
        """The signature of each metric, where ``?`` is the number of references of a column that may hold lists."""
        references = "?" if self._may_be_lists else format_references(len(self._target), len(self._target))
        return {metric.metric: metric.scorer.signature(references, "text", {}) for metric in self._metrics}

    @property
    def schema(self) -> pyarrow.Schema:
        """The columns that are added to a batch, as a pyarrow schema with a digest of the settings in its metadata.

        Raises:
            ModuleNotFoundError: pyarrow is not installed (extra ``columns``).
        """
        try:
            import pyarrow
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError("a schema needs pyarrow: pip install 'ngram-metrics[columns]'") from error
        nothing = dict.fromkeys([self._preds, *self._target], pyarrow.array([], pyarrow.string()))
        counted = self(pyarrow.table(nothing))
        return counted.select(self.names).schema

    def __call__(self, batch: AnyTable) -> AnyTable:
        """Return a batch with the columns of counts.

        Args:
            batch: a table with the columns of hypotheses and references.

        Raises:
            TypeError: a type that is not listed above; a cell that is not text, such as null, with its row.
            ValueError: a missing column; a column that has a name of ``names`` already; an empty list of references;
                for a macro average, a TER of 4096 or more.
        """
        stream = open_stream(batch)
        if stream is not None:  # a reader that counts a batch when it is read
            schema = self(stream.schema.empty_table()).schema
            return type(stream).from_batches(schema, self.arrow_batches(stream))
        table = wrap_table(batch, "the batch")
        if taken := [name for name in self.names if name in table.names]:
            raise ValueError(
                f"the batch has a column {taken[0]!r}, which the counts would replace: expected another name for it"
            )
        counts = np.empty((len(self.names), table.rows), np.int64)
        for rows, counted in self._count(table):
            counts[:, rows] = counted.T
        columns = dict(zip(self.names, counts, strict=True))
        return table.add_columns(range(len(table.names)), None, columns, self._digests)

    def sums(self, batch: AnyTable, by: str | Sequence[str] = ()) -> AnyTable:
        """Return the sums of a batch by group, so that a worker sends a row for each group and not for each segment.

        Args:
            batch: as for a call.
            by: the columns whose values make a group; without any, the batch is one group.

        Returns:
            A table with the columns ``by`` and ``names``, whose groups are in the order of their first rows. Sums of
            several batches are added like the columns of counts.

        Raises:
            TypeError, ValueError: the errors of a call; values of ``by`` that cannot be compared, such as lists.
        """
        names = _checked_columns(by, "by")
        if taken := [name for name in names if name in self.names]:
            raise ValueError(f"by has {taken[0]!r}, which is the name of a column of counts: expected another column")
        stream = open_stream(batch)
        if stream is None:
            table = wrap_table(batch, "the batch")
            return self._sum(table, names, self._count(table))
        import pyarrow

        # One batch is in memory at a time.
        parts = [self.sums(stream.schema.empty_table(), names)]
        parts += (pyarrow.Table.from_batches([self.sums(part, names)]) for part in stream)
        table = wrap_table(pyarrow.concat_tables(parts), "the sums of the batches")
        return self._sum(table, names, [(slice(None), read_integers(table, self.names))])

    def arrow_batches(self, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        """Yield each batch with the columns of counts, as Spark's ``mapInArrow`` asks, with the errors of a call."""
        for batch in batches:
            yield self(batch)

    @named_arguments
    def scores(
        self, sums: AnyTable, confidence: float | None = None, by: str | Sequence[str] | None = None
    ) -> AnyTable:
        """Return the scores of sums.

        A sum has the name of its column, or ``<name>_sum``, or ``sum(<name>)``: what pandas and polars, pyarrow, and
        Spark, Ray and DuckDB call it. It is of a type of integers, or of decimal numbers without a fraction.

        Args:
            sums: a table whose rows are sums over segments.
            confidence: the level of bootstrap intervals, at most 0.998. The rows are clusters then, such as
                documents, which are drawn with replacement (Miller 2024, arXiv 2411.00640); None for no intervals.
            by: the columns whose values make a group. Its rows are added, and it has one row of scores; ``()`` makes
                all rows one group. None scores each row, or with ``confidence`` all rows as one group.

        Returns:
            A table with the other columns, or with the columns ``by``; then ``segments`` and the values of each metric,
            float64 on the scale of the metric: a metric with one value has its name, others have
            ``<metric>_<value>``. With ``confidence``, each value is followed by ``<value>_low`` and ``<value>_high``.

        Raises:
            TypeError: floating-point sums, which may be rounded; a type that is not listed above.
            ValueError: a missing column; sums that were made with other settings, as far as this can be detected; a sum
                below 0 or of 2^63 or more; more than 2^31 segments in a sum of a macro average; a level out of its
                range.

        Warns:
            UserWarning: a row without segments, whose scores are 0, or NaN for ROUGE.
        """
        check_confidence(confidence, "micro")
        table = wrap_table(sums, "the table of sums")
        counts, others = read_sums(self._metrics, table)
        if by is None and confidence is None:
            return _add_scores(table, others, None, score_sums(self._metrics, counts))
        labels = _checked_columns(by or (), "by")
        groups = group_rows(table, labels)
        scores = score_groups(self._metrics, counts, groups, confidence)
        return _add_scores(table, table.indices(labels), groups.first_rows, scores)

    @property
    def _digests(self) -> dict[str, str]:
        return {metric.metric: metric.digest for metric in self._metrics}

    def _sum(self, table: Table[AnyTable], by: tuple[str, ...], counts: Iterable[tuple[slice, Integers]]) -> AnyTable:
        """Return the sums by group of blocks of counts ``(rows, names)``."""
        groups = group_rows(table, by)
        totals = np.zeros((groups.size, len(self.names)), np.int64)
        for rows, counted in counts:
            add_to_groups(totals, groups.indices[rows], counted)
        columns = dict(zip(self.names, totals.T.copy(), strict=True))
        return table.add_columns(table.indices(by), groups.first_rows, columns, self._digests)

    def _count(self, table: Table[AnyTable]) -> Iterator[tuple[slice, Integers]]:
        """Yield blocks of rows of a batch, and their columns ``(rows, names)``."""
        for name in (self._preds, *self._target):
            table.check(name)
        scorers = [metric.scorer for metric in self._metrics]
        for start in range(0, table.rows, _ROWS):
            rows = slice(start, min(start + _ROWS, table.rows))
            hypotheses = read_texts(table, self._preds, rows)
            references: list[str] | list[list[str]]
            if self._may_be_lists:
                references = read_references(table, self._target[0], rows)
            else:
                texts = [read_texts(table, name, rows) for name in self._target]
                references = list(map(list, zip(*texts, strict=True)))
            columns: list[Tensor] = [torch.ones((rows.stop - start, 1), dtype=torch.int64)] * (1 + len(scorers))
            with numbered_from(start, "row {} of the batch"):
                counted = list(count_systems(scorers, [hypotheses], references))
            for index, counts in counted:
                columns[1 + index] = self._metrics[index].columns(counts, start)
            yield rows, torch.cat(columns, 1).numpy()


def _add_scores(table: Table[AnyTable], columns: Sequence[int], rows: Integers | None, scores: Columns) -> AnyTable:
    """Return some columns and rows of a table of sums, followed by the scores."""
    if taken := scores.keys() & {table.names[index] for index in columns}:
        raise ValueError(
            f"{table.label} has a column {min(taken)!r}, which the scores would replace: expected another name for it"
        )
    return table.add_columns(columns, rows, scores, {})


def _checked_name(noun: str, name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"a {noun} is named by {shortened(name)}: expected a str")
    return name


def _checked_columns(names: object, argument: str) -> tuple[str, ...]:
    """Return the names of columns, one or several, that were passed for an argument."""
    if isinstance(names, str):
        return (names,)
    if not isinstance(names, Sequence):
        raise TypeError(f"{argument} is {type_name(names)}: expected the name of a column, or several names")
    checked = tuple(_checked_name("column", name) for name in names)
    if repeated := [name for index, name in enumerate(checked) if name in checked[:index]]:
        raise ValueError(f"{argument} has {repeated[0]!r} twice: expected each column once")
    return checked
