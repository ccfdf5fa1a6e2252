"""A metric without state: how text is read, what is counted, the formula, and the names of its values.

Everything that a user calls holds a ``Scorer``, which the file of each metric makes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, get_args

from ngram_metrics._core.basics.lazy import torch
from ngram_metrics._core.basics.option_checks import RESAMPLES, Average, check_choice
from ngram_metrics._core.counting.documents import DocumentGroups, PaddedReferences, host_counts, move_result
from ngram_metrics._core.counting.numpy_matches import must_use_torch
from ngram_metrics._core.scoring.measure import TOKEN_LIMIT, AnyMeasure
from ngram_metrics._core.scoring.paired import pair_rows, resample_scores
from ngram_metrics._core.scoring.resampling import ENDS, SEED, interval
from ngram_metrics._core.scoring.rows import pack, score_corpora, score_rows, unpack
from ngram_metrics._core.scoring.signature import format_signature
from ngram_metrics._core.text.input_forms import Kind, PaddedSegments, Segments, read
from ngram_metrics._core.text.input_types import Hypotheses, References
from ngram_metrics._core.text.messages import type_name, warn_of_no_segment
from ngram_metrics._core.text.reader import Reader

if TYPE_CHECKING:
    from torch import Tensor

#: What ``compute`` returns: a score, or values by name.
Value: TypeAlias = "Tensor | dict[str, Tensor]"


class Counted(NamedTuple):
    """A batch as counts.

    Attributes:
        rows: the packed statistics, ``(segments, fields)``, of a small batch as lists.
        kind: the kind of input; None for a batch without segments.
        references: the references, or how many each segment has.
        leading_shape: ``(segments, samples)`` if there are several hypotheses for each segment, which are one row each.
    """

    rows: Tensor | list[list[int]]
    kind: Kind | None
    references: DocumentGroups | PaddedReferences | list[int]
    leading_shape: tuple[int, ...] | None

    def sum_rows(self) -> Tensor | list[int]:
        """Return the sum of the rows, ``(fields,)``, of a small batch as a list."""
        if isinstance(self.rows, list):
            return [*map(sum, zip(*self.rows, strict=True))]
        return self.rows.sum(0)

    def stack_rows(self) -> Tensor:
        """Return the rows as a tensor, which can be added, gathered and stored."""
        return host_counts(self.rows) if isinstance(self.rows, list) else self.rows


@dataclass(frozen=True)
class Scorer:
    """A metric without state.

    Attributes:
        reader: how ``preds`` and ``target`` are read.
        measure: what is counted, and the score.
        average: ``"micro"``, ``"macro"`` or ``"none"``.
        values: the name of each value, and its index in a score ``(..., *score_shape)``.
        titles: the values that tables show, by their titles: of ROUGE only F, under the name of its key. By default a
            value has its name as title.
        empty_score: the score of a corpus without segments.
        segment_measure: the measure of a segment by itself; None if it is ``measure``.

    Raises:
        ValueError: an unknown average.
    """

    reader: Reader
    measure: AnyMeasure
    average: Average
    values: Mapping[str, tuple[int, ...]]
    titles: Mapping[str, str] = field(default_factory=dict)
    # Not compared, because ROUGE's is NaN. It follows from the measure, which is compared.
    empty_score: float = field(default=0.0, compare=False)
    segment_measure: AnyMeasure | None = None
    _text_limit: int = field(init=False, compare=False, repr=False)
    _token_limit: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Check the average, after the reader and the measure have checked their settings."""
        check_choice("average", self.average, get_args(Average))
        object.__setattr__(self, "_text_limit", self.measure.python_limit(self.reader.tokenizer))
        object.__setattr__(self, "_token_limit", min(self.measure.python_limit(None), TOKEN_LIMIT))
        if not self.titles:
            object.__setattr__(self, "titles", {name: name for name in self.values})

    def __call__(self, preds: Hypotheses, target: References, device: torch.device | str | None = None) -> Tensor:
        """Read, count and score a batch, and warn if it has no segments.

        The result is on ``device``; None for the device of padded ids, else the CPU. The errors are those of
        ``input_forms.read`` and of ``Reader.encode``.

        Returns:
            Scores from 0 to 1, float64 (float32 if the device has no float64): ``score_shape``; for average none
            ``(segments, *score_shape)``, for samples ``(segments, samples)``.
        """
        segments = self._read(preds, target)
        return move_result(self._score(self._count(segments)), device, segments.hypotheses)

    def _score(self, counted: Counted) -> Tensor:
        rows, shape = counted.rows, counted.leading_shape
        if not len(rows):
            warn_of_no_segment()
        if self.average == "micro":
            sums = counted.sum_rows()
            if isinstance(sums, list):
                return score_rows(self.measure, [sums])[0]
        else:
            scores = score_rows(self.measure, rows)
            if self.average == "none":
                return scores if shape is None else scores.reshape(*shape, *scores.shape[1:])
            if len(rows) == 1:
                return scores[0]
            sums = scores.sum(0)
        scores = score_corpora(self.measure, sums, max(1, len(rows)), self.average)
        return scores if len(rows) else torch.full_like(scores, self.empty_score)

    def count(self, preds: Hypotheses, target: References) -> Counted:
        """Read and count a batch, or raise the errors of ``input_forms.read`` and of ``Reader.encode``."""
        return self._count(self._read(preds, target))

    def _count(self, segments: Segments | PaddedSegments) -> Counted:
        if self.is_counted_in_python(segments):
            return self._count_in_python(segments)
        batch = self.reader.encode(segments)
        rows = pack(self.measure.statistics(batch), self.measure.layout)
        return Counted(rows, segments.known_kind, batch.sides.references, batch.leading_shape)

    def _read(self, preds: Hypotheses, target: References) -> Segments | PaddedSegments:
        return read(preds, target, self.reader.sample_padding)

    def is_counted_in_python(self, segments: Segments | PaddedSegments) -> bool:
        """Return whether a batch is counted in plain Python: a small one on a CPU that the reader reads in Python."""
        if not len(segments.hypotheses):
            return False
        limit = self.python_limit(segments.kind)
        if isinstance(segments, PaddedSegments):
            slots = segments.hypotheses.numel() + segments.references.numel()
            is_small = slots < limit and not must_use_torch()
        else:
            # The number of documents comes first, so that a large batch costs nothing here.
            sides = segments.hypotheses, segments.references
            is_small = sum(map(len, sides)) <= limit and sum(map(len, chain(*sides))) < limit
            if is_small and segments.kind == "text" and self.reader.tokenizer == "zh":
                is_small = len("".join(segments.documents).encode("utf-8", "surrogatepass")) < limit
        return is_small and self.reader.reads_in_python(segments)

    def python_limit(self, kind: str) -> int:
        """Return the size of a batch for which plain Python takes as long as arrays; 0 if only arrays count."""
        return self._text_limit if kind == "text" else self._token_limit

    def _count_in_python(self, segments: Segments | PaddedSegments) -> Counted:
        hypotheses, references, counts = self.reader.read_in_python(segments)
        widths = self.measure.layout.widths
        others = iter(references)
        rows: list[list[int]] = []
        for hypothesis, count in zip(hypotheses, counts, strict=True):
            row: list[int] = []
            fields = self.measure.count_in_python(hypothesis, [*islice(others, count)])
            for values, width in zip(fields, widths, strict=True):
                row += (values,) if width is None else values
            rows.append(row)
        return Counted(rows, segments.known_kind, counts, None)

    def scores(self, rows: Tensor) -> Tensor:
        """Return the scores ``(..., *score_shape)`` of rows of segments or of sums, equal for equal rows."""
        return self.measure.score(unpack(rows, self.measure.layout))

    def parts(self, row: Tensor) -> dict[str, Tensor]:
        """Return the parts of the score of a row by name, see ``Measure.parts``."""
        return self.measure.parts(unpack(row, self.measure.layout))

    def name_values(self, scores: Tensor) -> dict[str, Tensor]:
        """Return the values of scores ``(..., *score_shape)`` by name, each ``(...)``."""
        if not self.measure.score_shape:
            return dict.fromkeys(self.values, scores)
        # An index for each value takes five times as long.
        columns = scores.flatten(-2).unbind(-1)
        width = self.measure.score_shape[-1]
        return {name: columns[key * width + column] for name, (key, column) in self.values.items()}

    @property
    def pair_index(self) -> tuple[int, ...]:
        """The index of the value by which pairs are scored: of ROUGE, F."""
        return self.values[next(iter(self.titles.values()))]

    def rename(self, name: str) -> Scorer:
        """Return the same metric with another name for its single value, or itself if it has several."""
        if len(self.values) > 1:
            return self
        (column,) = self.values.values()
        return replace(self, values={name: column}, titles={})

    def item(self, value: str) -> Scorer:
        """Return the metric of one of several values, which counts nothing else."""
        key, column = self.values[value]
        return replace(self, measure=self.measure.select_key(key), values={value: (0, column)}, titles={})

    def item_rows(self, value: str, rows: Tensor) -> Tensor:
        """Return the rows of the metric of one value, from the rows of this metric."""
        statistics = unpack(rows, self.measure.layout)
        key, _ = self.values[value]
        return pack(tuple(field[..., key : key + 1] for field in statistics), self.item(value).measure.layout)

    def segment_scorer(self) -> Scorer:
        """Return the metric that scores each segment of a corpus, from the same counts."""
        return replace(self, measure=self.segment_measure or self.measure, average="none")

    def compute_interval(self, score: Tensor, rows: Tensor, confidence: float) -> dict[str, Tensor]:
        """Return the values of a corpus by name, with the ends of their intervals, ``<name>_low`` and ``<name>_high``.

        ``score`` is the score of ``rows``, ``(segments, fields)``; without segments, both ends are the score.
        """
        low = high = score
        if len(rows):
            (scores,) = resample_scores([pair_rows(self.measure, self.average, rows.unsqueeze(1))], RESAMPLES, SEED)
            low, high = (end[0].to(score) for end in interval(scores, confidence))
        by_suffix = dict(zip(("", *ENDS), map(self.name_values, (score, low, high)), strict=True))
        return {name + suffix: values[name] for name in self.values for suffix, values in by_suffix.items()}

    def signature(self, references: str, kind: str, draws: Mapping[str, str]) -> str:
        """Return everything that affects the score, in sacrebleu's format.

        ``references``, per segment, is such as ``1`` or ``1-4``; ``?`` stands for it and for ``kind`` before any data.
        ``draws`` has the fields of resampling and of a test: numbers of draws, the seed, and so on.
        """
        settings = {"unit": kind, "avg": self.average}
        settings |= {**self.reader.signature(kind), **self.measure.signature(), **draws}
        return format_signature(settings, references)


class MetricRow(NamedTuple):
    """What is known of a metric before it is made.

    Attributes:
        title: its name as papers write it; in lower case, the name by which it is known here.
        make: the function that makes it.
        text_options: the options for text that it takes, as the command names them, and their names in that function.
        options: the options by which it differs from other metrics that it makes.
    """

    title: str
    make: Callable[..., Scorer]
    text_options: Mapping[str, str] = MappingProxyType({})
    options: Mapping[str, Any] = MappingProxyType({})


def count_systems(
    scorers: Sequence[Scorer], systems: Sequence[Sequence[str]], references: Sequence[str] | Sequence[Sequence[str]]
) -> Iterator[tuple[int, Tensor]]:
    """Count texts of one system or several for several metrics, and read a text once for each way of reading.

    There is at least one segment, each with its reference or references.

    Yields:
        The index of each metric, and its rows ``(systems * segments, fields)``, one reader after another.
    """
    readers: list[Reader] = []
    for reader in (scorer.reader for scorer in scorers):
        if reader in readers:
            continue
        readers.append(reader)
        batch = reader.read_systems(systems, references)
        for index, scorer in enumerate(scorers):
            if scorer.reader == reader:
                yield index, pack(scorer.measure.statistics(batch), scorer.measure.layout)


class Metric(Protocol):
    """A metric of this package, for torchmetrics or ignite, or a value of one, such as ``rouge["rougeL_fmeasure"]``."""

    @property
    def scorer(self) -> Scorer:
        """The metric without its state."""


def rename_values(name: str, computed: Any, scorer: Scorer | None) -> dict[str, Any]:
    """Return what a metric computed, under names that begin with ``name`` and depend on no other metric.

    A single value and the ends of its interval are ``<name>``, ``<name>_low`` and ``<name>_high``; one of several
    values is ``<name>_<value>``. The scorer is None for a metric of another package.
    """
    if not isinstance(computed, dict):
        return {name: computed}
    only = next(iter(scorer.values)) if scorer is not None and len(scorer.values) == 1 else None
    return {name + (f"_{key}" if only is None else key.removeprefix(only)): part for key, part in computed.items()}


def scorer_of(metric: object, name: str) -> Scorer:
    """Return the scorer of a metric, or raise TypeError for a class or another object, which is called ``name``."""
    scorer = getattr(metric, "scorer", None)
    if not isinstance(scorer, Scorer):
        kind = f"the class {metric.__name__}" if isinstance(metric, type) else type_name(metric)
        raise TypeError(f"{name} is {kind}: expected a metric object of this package, such as ChrF()")
    return scorer
