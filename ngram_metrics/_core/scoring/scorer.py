"""A metric without state: how text is read, what is counted, the formula, and the names of its values.

The file of each metric makes a ``Scorer``, and everything that a user calls has one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, get_args

import numpy as np

from ngram_metrics._core.basics.arrays import Array, at_least, namespace
from ngram_metrics._core.basics.option_checks import Average, check_choice
from ngram_metrics._core.scoring.counts import Counts, no_counts
from ngram_metrics._core.scoring.measure import AnyMeasure
from ngram_metrics._core.scoring.settings import format_signature
from ngram_metrics._core.text.input_types import Hypotheses, References
from ngram_metrics._core.text.messages import type_name
from ngram_metrics._core.text.reader import Reader
from ngram_metrics._core.text.segments import Kind, PaddedSegments, Segments

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from ngram_metrics._core.text.reader import Batches

#: What ``compute`` returns: a score, or values by name.
Value: TypeAlias = "Tensor | dict[str, Tensor]"


class CountedBatch(NamedTuple):
    """A batch as counts, with a row for each segment.

    Attributes:
        rows: the packed statistics, ``(segments, width)``, in NumPy, or a tensor where torch counts.
        kind: the kind of input; None for a batch without segments.
        reference_range: the fewest references of a segment, negated, and the most, int64 ``(2,)``.
        leading_shape: ``(segments, samples)`` if segments have several hypotheses. Each hypothesis is then a row.
        device: the device of padded ids; None for other input.
    """

    rows: Array
    kind: Kind | None
    reference_range: Array
    leading_shape: tuple[int, ...] | None = None
    device: torch.device | None = None

    @property
    def segments(self) -> int:
        """The number of segments."""
        return len(self.rows) if self.leading_shape is None else self.leading_shape[0]


@dataclass(frozen=True)
class Scorer:
    """A metric without state.

    Attributes:
        reader: how ``preds`` and ``target`` are read.
        measure: what is counted, and the score.
        average: ``"micro"``, ``"macro"`` or ``"none"``.
        values: the name of each value, and its index in a score ``(..., *score_shape)``.
        titles: the values that tables show, by their titles. ROUGE shows only F, under the name of its key. By default
            the title of a value is its name.
        empty_score: the score of a corpus without segments.
        segment_measure: the measure of a single segment; None if it is ``measure``.

    Raises:
        ValueError: an unknown average.
    """

    reader: Reader
    measure: AnyMeasure
    average: Average
    values: Mapping[str, tuple[int, ...]]
    titles: Mapping[str, str] = field(default_factory=dict)
    # Not compared, because ROUGE's is NaN. It follows from the measure.
    empty_score: float = field(default=0.0, compare=False)
    segment_measure: AnyMeasure | None = None
    #: The position of each value in a score whose dimensions are flattened to one.
    _positions: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the average. The reader and the measure have checked their own settings."""
        check_choice("average", self.average, get_args(Average))
        if not self.titles:
            object.__setattr__(self, "titles", {name: name for name in self.values})
        shape = self.measure.score_shape
        object.__setattr__(
            self, "_positions", {name: _flatten_index(index, shape) for name, index in self.values.items()}
        )

    def count_batch(self, preds: Hypotheses, target: References, is_first: bool = True) -> CountedBatch:
        """Read and count a batch, or raise the errors of ``Reader.read``.

        ``is_first`` says whether it is the first batch: some warnings look only at its texts.
        """
        segments, batches = self.reader.read(preds, target, is_first)
        return self._count(segments, batches)

    def count_segments(self, segments: Segments | PaddedSegments, is_first: bool) -> CountedBatch:
        """Count checked segments, or raise the errors of ``Reader.encode``."""
        return self._count(segments, self.reader.encode(segments, is_first))

    def _count(self, segments: Segments | PaddedSegments, batches: Batches) -> CountedBatch:
        rows = self.measure.layout.pack(self.measure.statistics(batches))
        reference_range = batches[0].reference_range()
        return CountedBatch(rows, segments.known_kind, reference_range, segments.leading_shape, segments.device)

    def no_counts(self, groups: int | None = None, keeps_rows: bool = False) -> Counts:
        """Return the counts of no segment. For average none and with ``keeps_rows`` the rows are kept."""
        return no_counts(
            self.measure.layout.row_width,
            np.int64 if self.measure.has_counts else np.float64,
            self.measure.score_shape if self.average == "macro" else None,
            groups,
            keeps_rows or self.average == "none",
        )

    def add_up(self, batch: CountedBatch, keeps_rows: bool = False) -> Counts:
        """Return the sums of a batch. For average none and with ``keeps_rows`` the rows are kept."""
        rows = batch.rows
        if isinstance(rows, np.ndarray):
            segments = np.array(len(rows), np.int64)
        else:
            segments = rows.new_full((), len(rows), dtype=namespace(rows).int64)  # rows may hold floats
        samples = None
        if self.average == "none":
            if batch.leading_shape is not None:
                samples = batch.leading_shape[1:]
            elif len(rows):
                samples = ()
        return Counts(
            kind=batch.kind,
            samples=samples,
            segments=segments,
            reference_range=batch.reference_range,
            row=rows.sum(0),
            score_sum=self.measure.score_rows(rows).sum(0) if self.average == "macro" else None,
            rows=(rows,) if keeps_rows or self.average == "none" else None,
        )

    def score(self, counts: Counts) -> Array:
        """Score counts.

        Returns:
            Scores from 0 to 1, ``(*groups, *score_shape)``, and for average none ``(segments, *samples,
            *score_shape)``. They are a tensor where torch counts, else an array.
        """
        if self.average == "none":
            return self._score_segments(counts)
        segments = counts.segments
        if self.average == "micro":
            scores = self.measure.score_rows(counts.row)
        else:
            segments = _send_to_place_of(segments, counts.score_sum)
            scores = counts.score_sum / at_least(self._align(segments), 1)
        has_groups = segments.ndim > 0
        if counts.kind is not None and not has_groups:  # there are segments, so a device need not be asked
            return scores
        empty_score = math.nan if has_groups else self.empty_score
        return namespace(scores).where(self._align(segments) > 0, scores, empty_score)

    def _score_segments(self, counts: Counts) -> Array:
        """Return the score of each segment, for average none."""
        scores = self.measure.score_rows(counts.all_rows())
        if not counts.samples:
            return scores
        (samples,) = counts.samples
        segments = len(scores) // max(1, samples)
        return scores.reshape(segments, samples, *scores.shape[1:])

    def _align(self, segments: Array) -> Array:
        """Return the numbers of segments ``(*groups,)`` with the dimensions of scores ``(*groups, *score_shape)``."""
        return segments.reshape(segments.shape + (1,) * len(self.measure.score_shape))

    def warn_of_score(self, counts: Counts) -> None:
        """Warn if the score of a corpus says little.

        Ids on a device are not looked at: to read their counts would wait for it.
        """
        row = counts.row
        if self.average == "none":
            return
        if namespace(row) is not np:
            if counts.kind != "text" or row.is_cpu or row.is_meta:  # a tensor on the CPU is part of a graph
                return
            row = row.cpu().numpy()
        self.measure.warn_of_score(row.reshape(-1, row.shape[-1]).sum(0), self.average)

    def score_batch(self, preds: Hypotheses, target: References, is_first: bool = True) -> Array:
        """Count and score a batch, see ``score``."""
        return self.score(self.add_up(self.count_batch(preds, target, is_first)))

    def parts(self, row: Array) -> dict[str, Array]:
        """Return the parts of the score of a row by name, see ``Measure.parts``."""
        return self.measure.parts(self.measure.layout.unpack(row))

    def name_values(self, scores: Array) -> dict[str, Array]:
        """Return the values of scores ``(..., *score_shape)`` by name, each ``(...)``."""
        # One view of each column: an index for each value would take torch several times as long.
        shape = self.measure.score_shape
        flat = scores.reshape(*scores.shape[: scores.ndim - len(shape)], math.prod(shape))  # (..., columns)
        columns = list(namespace(scores).moveaxis(flat, -1, 0))
        return {name: columns[position] for name, position in self._positions.items()}

    @property
    def pair_index(self) -> tuple[int, ...]:
        """The index of the value that scores pairs. For ROUGE it is F."""
        return self.values[next(iter(self.titles.values()))]

    def rename(self, name: str) -> Scorer:
        """Return the same metric with another name for its single value. A metric of several values does not change."""
        if len(self.values) > 1:
            return self
        (column,) = self.values.values()
        return replace(self, values={name: column}, titles={})

    def item(self, value: str) -> Scorer:
        """Return the metric of one of several values, which counts nothing else."""
        key, column = self.values[value]
        return replace(self, measure=self.measure.select_key(key), values={value: (0, column)}, titles={})

    def item_rows(self, value: str, rows: Array) -> Array:
        """Return the rows of the metric of one value, from the rows of this metric."""
        key, _ = self.values[value]
        statistics = (field[..., key : key + 1] for field in self.measure.layout.unpack(rows))
        return self.item(value).measure.layout.pack(tuple(statistics))

    def segment_scorer(self) -> Scorer:
        """Return the metric that scores each segment of a corpus, from the same counts."""
        return replace(self, measure=self.segment_measure or self.measure, average="none")

    def settings(self) -> dict[str, object]:
        """Return the options that affect the score, by name, see ``_core.scoring.settings``."""
        return {"average": self.average, **self.reader.settings(), **self.measure.settings()}

    def signature(self, references: str, kind: str, draws: Mapping[str, str]) -> str:
        """Return everything that affects the score, as ``format_signature`` writes it."""
        return format_signature(self.settings(), kind, references, draws)


class MetricEntry(NamedTuple):
    """How to make a metric by its name.

    Attributes:
        title: its name as papers write it. In lower case it is the name of the metric here.
        make: the function that makes it.
        text_options: the options for text that it takes, by the names that the command has for them.
        options: the arguments that tell it apart from other metrics of the same function.
    """

    title: str
    make: Callable[..., Scorer]
    text_options: Mapping[str, str] = MappingProxyType({})
    options: Mapping[str, Any] = MappingProxyType({})


class Metric(Protocol):
    """A metric of this package, for torchmetrics or ignite, or a value of one, such as ``rouge["rougeL_fmeasure"]``."""

    @property
    def scorer(self) -> Scorer:
        """The metric without its state."""


def _flatten_index(index: Sequence[int], shape: Sequence[int]) -> int:
    """Return where an index of an array of this shape is after its dimensions are flattened to one."""
    position = 0
    for part, size in zip(index, shape, strict=True):
        position = position * size + part
    return position


def _send_to_place_of(array: Array, other: Array) -> Array:
    """Return an array where another one is. Sums of scores are on the CPU if the device has no float64."""
    if namespace(other) is np:
        return array if namespace(array) is np else array.cpu().numpy()
    return array.to(other.device)


def rename_values(name: str, computed: Any, scorer: Scorer | None) -> dict[str, Any]:
    """Return what a metric computed, under names that begin with ``name`` whatever the other metrics are.

    A single value and the ends of its interval are ``<name>``, ``<name>_low`` and ``<name>_high``. One of several
    values is ``<name>_<value>``. The scorer is None for a metric of another package.
    """
    if not isinstance(computed, dict):
        return {name: computed}
    only = next(iter(scorer.values)) if scorer is not None and len(scorer.values) == 1 else None
    return {name + (f"_{key}" if only is None else key.removeprefix(only)): part for key, part in computed.items()}


def scorer_of(metric: object, name: str) -> Scorer:
    """Return the scorer of the metric called ``name``, or raise TypeError for a class or another object."""
    scorer = getattr(metric, "scorer", None)
    if not isinstance(scorer, Scorer):
        kind = f"the class {metric.__name__}" if isinstance(metric, type) else type_name(metric)
        raise TypeError(f"{name} is {kind}: expected a metric object of this package, such as ChrF()")
    return scorer
