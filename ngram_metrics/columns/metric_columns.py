"""The columns of metrics: what is counted for a segment, and the scores of sums, by row or by group of rows.

A micro average is the score of summed counts, so its columns are the counts. A macro average is a sum of scores, and
only sums of integers do not depend on their order. A score s is the integer round(s * 2^62), whose low 31 bits are one
column and whose other bits are another. Sums of 2^31 of either stay below 2^63 as long as every score is below 2.
Scores of 0 and from 2^-10 are exact, others differ by at most 2^-63. If the scores of a metric have a higher bound,
fewer bits are behind the point: a TER, below 4096, differs by at most 2^-52.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import torch
from torch import Tensor

from ngram_metrics._core.basics.option_checks import RESAMPLES
from ngram_metrics._core.scoring.resampling import ENDS, SEED, bootstrap_weights, interval, row_order, weighted_sums
from ngram_metrics._core.scoring.rows import score_corpora
from ngram_metrics._core.scoring.scorer import Scorer, rename_values
from ngram_metrics._core.scoring.settings_digest import digest
from ngram_metrics._core.text.messages import warn_of_no_segment
from ngram_metrics.columns.cells import RowGroups, add_to_groups, read_integers
from ngram_metrics.columns.table_types import Columns, Frame, Integers, Table

#: The column that every table has: 1 for a row, and the number of rows in a sum.
SEGMENTS = "segments"
#: The names that engines give a sum: pandas and polars; pyarrow; Spark, Ray and DuckDB; DuckDB for quoted names.
_FORMS = ("{}", "{}_sum", "sum({})", 'sum("{}")')
#: The ends of the names of the two columns of a value.
SCORE_PARTS = ("_high_bits", "_low_bits")
#: More scores than these may not fit a sum.
MOST_SCORES = 1 << 31
_LOW_BITS = 31


@dataclass(frozen=True)
class MetricColumns:
    """The columns of one metric of average micro or macro, with its name."""

    metric: str
    scorer: Scorer

    @property
    def is_macro(self) -> bool:
        """Whether the columns are parts of scores, and not counts."""
        return self.scorer.average == "macro"

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        if self.is_macro:
            return [value + part for value, part in product(self.values, SCORE_PARTS)]
        widths = self.scorer.measure.layout.widths
        return [
            name
            for field, width in zip(self._fields, widths, strict=True)
            for name in ([field] if width is None else [f"{field}_{order}" for order in range(1, width + 1)])
        ]

    @property
    def values(self) -> list[str]:
        """The names of the values."""
        return list(rename_values(self.metric, dict.fromkeys(self.scorer.values), self.scorer))

    @property
    def digest(self) -> str:
        """The settings: only columns of the same settings can be added."""
        scorer = self.scorer
        return digest(scorer.reader, scorer.measure, scorer.average, list(scorer.values)).hex()

    def counts_like(self, name: str) -> bool:
        """Return whether a column has the name of a count of this metric, or of its sum, under any settings."""
        count = rf"({'|'.join(map(re.escape, self._fields))})_\d+"
        forms = "|".join(map(re.escape, _FORMS)).replace(re.escape("{}"), count)
        return not self.is_macro and re.fullmatch(forms, name) is not None

    def columns(self, rows: Tensor, first: int) -> Tensor:
        """Return the columns ``(segments, columns)`` int64 of counts ``(segments, fields)``.

        Raises ValueError, with the number of the row from ``first`` on, for a score that two columns do not hold.
        """
        if not self.is_macro:
            return rows
        scores = self._values(self.scorer.scores(rows))  # (segments, values)
        if not (fits := (scores >= 0) & (scores < self._bound)).all():
            row, value = (~fits).nonzero()[0].tolist()
            raise ValueError(
                f"row {first + row} has the {self.values[value]} {scores[row, value].item()}: "
                f"expected a score from 0 to below {self._bound}"
            )
        return split_scores(scores, self._bound).flatten(1)

    def scores(self, sums: Tensor, segments: Tensor) -> dict[str, Tensor]:
        """Return the values ``(...)`` by name of sums of columns ``(..., columns)`` over ``segments`` ``(...)``."""
        scores = self._scores(self._summands(sums), segments)
        return dict(zip(self.values, scores.unbind(-1), strict=True))

    def intervals(self, sums: Tensor, segments: Tensor, confidence: float) -> dict[str, float]:
        """Return the ends of the interval of each value by name, from clusters that are drawn with replacement.

        ``sums`` are ``(clusters, columns)``, at least one row, and ``segments`` ``(clusters,)``.
        """
        # If each cluster is a segment, micro averages have the interval of the metric itself, to the last bit.
        order = row_order(torch.cat((sums, segments.unsqueeze(-1)), -1) if self.is_macro else sums)
        summands = self._summands(sums[order]).to(torch.float64)
        sizes = segments[order].to(torch.float64)
        resampled = self._scores(*weighted_sums(bootstrap_weights(len(order), RESAMPLES, SEED), summands, sizes))
        return {
            name + suffix: score
            for suffix, scores in zip(ENDS, interval(resampled, confidence), strict=True)
            for name, score in zip(self.values, scores.tolist(), strict=True)
        }

    @property
    def _bound(self) -> int:
        return self.scorer.measure.score_bound

    @property
    def _fields(self) -> list[str]:
        return [f"{self.metric}_{field}" for field in self.scorer.measure.layout.make.__annotations__]

    def _values(self, scores: Tensor) -> Tensor:
        """Return scores ``(..., *score_shape)`` as ``(..., values)``."""
        return torch.stack([*self.scorer.name_values(scores).values()], -1)

    def _summands(self, sums: Tensor) -> Tensor:
        """Return sums of columns as sums of counts ``(..., fields)``, or of scores ``(..., values)``."""
        return join_scores(sums.unflatten(-1, (-1, len(SCORE_PARTS))), self._bound) if self.is_macro else sums

    def _scores(self, summed: Tensor, segments: Tensor) -> Tensor:
        """Return the values ``(..., values)`` of sums of ``_summands`` over ``segments`` ``(...)``."""
        sizes = segments.unsqueeze(-1)
        scores = score_corpora(self.scorer.measure, summed, sizes, self.scorer.average)
        values = scores if self.is_macro else self._values(scores)
        return values.masked_fill(sizes == 0, self.scorer.empty_score)


def split_scores(scores: Tensor, bound: int) -> Tensor:
    """Return the two parts ``(..., 2)`` int64 of scores ``(...)`` float64, at least 0 and below a power of two."""
    scaled = (scores * 2.0 ** _bits(bound)).round().to(torch.int64)
    return torch.stack((scaled >> _LOW_BITS, scaled & ((1 << _LOW_BITS) - 1)), -1)


def join_scores(parts: Tensor, bound: int) -> Tensor:
    """Return sums of scores ``(...)`` float64 from sums of their parts ``(..., 2)`` int64."""
    high, low = parts.to(torch.float64).unbind(-1)
    return (high * 2.0**_LOW_BITS + low) * 2.0 ** -_bits(bound)


def _bits(bound: int) -> int:
    """Return how many bits are behind the point, so that the integer of a score is below 2^63."""
    return 64 - bound.bit_length()


def read_sums(metrics: Sequence[MetricColumns], table: Table[Frame]) -> tuple[Integers, list[int]]:
    """Return the sums of a table, ``(rows, 1 + columns)`` with the segments first, and the indices of other columns.

    Raises TypeError for floating-point sums, and ValueError for a missing column, or for sums of other settings.
    """
    for metric in metrics:
        if table.digests.get(metric.metric, metric.digest) != metric.digest:
            raise ValueError(
                f"the sums of {metric.metric!r} were counted with other settings: expected those of "
                f"{metric.scorer.signature('?', 'text', {})}"
            )
    names = [_find_sum(name, table) for name in (SEGMENTS, *(name for metric in metrics for name in metric.names))]
    others = [index for index, name in enumerate(table.names) if name not in names]
    for name in (table.names[index] for index in others):
        if any(metric.counts_like(str(name)) for metric in metrics):  # such as of a longer order
            raise ValueError(
                f"{table.label} has the column {name!r}, which is of other settings: expected no such column"
            )
    return read_integers(table, names), others


def score_sums(metrics: Sequence[MetricColumns], sums: Integers) -> Columns:
    """Return the number of segments and the values of each row of sums, by name, and warn of a row without segments.

    Raises ValueError for a sum of a macro average over more than 2^31 segments.
    """
    segments = np.ascontiguousarray(sums[:, 0])
    if any(metric.is_macro for metric in metrics) and (segments > MOST_SCORES).any():
        row = int(segments.argmax())
        raise ValueError(
            f"row {row} is a sum over {segments[row]} segments: expected at most {MOST_SCORES} for a macro average"
        )
    if not segments.all():
        warn_of_no_segment()
    sizes = torch.from_numpy(segments)
    columns: Columns = {SEGMENTS: segments}
    for metric, metric_sums in _split_by_metric(metrics, sums):
        for name, scores in metric.scores(metric_sums, sizes).items():
            columns[name] = scores.numpy()
    return columns


def score_groups(
    metrics: Sequence[MetricColumns], sums: Integers, groups: RowGroups, confidence: float | None
) -> Columns:
    """Return what ``score_sums`` does for groups of rows, with the ends of intervals from rows as clusters.

    Raises ValueError also for a sum of a group of 2^63 or more.
    """
    totals = np.zeros((groups.size, sums.shape[1]), np.int64)
    try:
        add_to_groups(totals, groups.indices, sums)
    except OverflowError:
        raise ValueError("the rows of a group add up to 2^63 or more: expected a sum below 2^63") from None
    scores = score_sums(metrics, totals)
    if confidence is None:
        return scores
    segments = scores.pop(SEGMENTS)
    # Without segments, both ends are the score.
    values = {name + end: column.copy() for name, column in scores.items() for end in ("", *ENDS)}
    by_group = np.argsort(groups.indices, kind="stable")
    ends_of_groups = np.bincount(groups.indices, minlength=groups.size).cumsum()
    for group, rows in enumerate(np.split(by_group, ends_of_groups[:-1])):
        clusters = sums[rows[sums[rows, 0] > 0]]
        if len(clusters):
            sizes = torch.from_numpy(np.ascontiguousarray(clusters[:, 0]))
            for metric, cluster_sums in _split_by_metric(metrics, clusters):
                for name, end in metric.intervals(cluster_sums, sizes, confidence).items():
                    values[name][group] = end
    return {SEGMENTS: segments, **values}


def _split_by_metric(metrics: Sequence[MetricColumns], sums: Integers) -> Iterator[tuple[MetricColumns, Tensor]]:
    """Yield each metric with its columns ``(rows, columns)`` of all sums."""
    start = 1  # after the number of segments
    for metric in metrics:
        end = start + len(metric.names)
        yield metric, torch.from_numpy(np.ascontiguousarray(sums[:, start:end]))
        start = end


def _find_sum(name: str, table: Table[Frame]) -> str:
    """Return the name that the sum of a column has in a table."""
    forms = [form.format(name) for form in _FORMS]
    present = [form for form in forms if form in table.names]
    if not present:
        raise ValueError(
            f"{table.label} has no sum of {name!r}: expected a column {forms[0]!r}, {forms[1]!r} or {forms[2]!r}"
        )
    if len(present) > 1:
        raise ValueError(f"{table.label} has the columns {present[0]!r} and {present[1]!r}: expected one of them")
    table.check(present[0])
    return present[0]
