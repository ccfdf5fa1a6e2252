"""The accumulator: the base class of all torchmetrics metrics of this package. The metrics for ignite wrap one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, overload

import torch
import torchmetrics
from torch import Tensor
from torchmetrics.metric import CompositionalMetric
from typing_extensions import Self, TypedDict, TypeVar, Unpack

from ngram_metrics._core.basics.arrays import counts_in_torch
from ngram_metrics._core.basics.keywords import named_arguments, options_of, unknown_keyword
from ngram_metrics._core.basics.option_checks import RESAMPLES, Average, check_confidence
from ngram_metrics._core.basics.tensors import copy_to, float_dtype, host_counts, to_array, to_tensor
from ngram_metrics._core.counting.batch import NO_REFERENCES
from ngram_metrics._core.scoring.paired import interval_ends
from ngram_metrics._core.scoring.resampling import ENDS, SEED
from ngram_metrics._core.scoring.scorer import Counted, Scorer, Value
from ngram_metrics._core.scoring.signature import format_references
from ngram_metrics._core.text.input_types import Hypotheses, References
from ngram_metrics._core.text.tokenizer_option import callable_name
from ngram_metrics._torchmetrics.adaptor import Adaptor
from ngram_metrics._torchmetrics.compositions import Composable
from ngram_metrics._torchmetrics.plots import plot_metric
from ngram_metrics._torchmetrics.states import (
    all_equal,
    batch_codes,
    callables_number,
    join_batch_codes,
    join_codes,
    kind_name,
    sample_number,
    settings_digest,
)
from ngram_metrics._torchmetrics.values import NamedValue, ScoredValue, is_scored_value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The type of ``confidence``, which decides what ``compute`` returns.
Level = TypeVar("Level", bound="float | None", default=None)


class MetricKeywords(TypedDict, total=False):
    """The keyword arguments of ``torchmetrics.Metric``."""

    compute_on_cpu: bool
    dist_sync_on_step: bool
    process_group: object
    dist_sync_fn: Callable[..., list[Tensor]] | None
    distributed_available_fn: Callable[[], bool] | None
    sync_on_compute: bool
    compute_with_cache: bool


class Accumulator(Composable, Adaptor, Generic[Level]):
    """Counts batches and scores their sum, their mean, or each segment.

    Every metric has these states: ``settings`` and ``callables``, uint8, which tell apart metrics with other options;
    ``kind_codes``, the kind of input, int64, always on the CPU; ``segments``, their number, int64;
    ``reference_range``, the fewest and most references of a segment, int64; ``row``, the summed counts, int64. Average
    macro adds ``score_sum``, float64. Average none and ``confidence`` add ``rows``, a list of ``(segments, fields)``
    int64. A move to a device never changes a dtype: if the device has no float64, float64 states stay on the CPU.
    ``merge_state`` waits for the device, because it compares the settings. With ``groups``, the states ``segments``,
    ``row`` and ``score_sum`` have one row for each group, and a last one for segments whose index is out of range.

    Args:
        scorer: the metric without states.
        confidence: the level of a bootstrap interval that ``compute`` returns with each value; None for no interval.
        device: where the states are; None for torch's default device. Text and lists are counted on the CPU, padded
            ids on their own device.
        groups: the labels of groups that are counted separately.
        kwargs: keyword arguments of ``torchmetrics.Metric``.

    Raises:
        TypeError: an unknown keyword; the message suggests the option that was meant.
        ValueError: a ``confidence`` that is not a level up to 0.998, or any with average none.
    """

    is_differentiable = False
    higher_is_better = True
    full_state_update = False
    plot_lower_bound = 0.0
    plot_upper_bound = 1.0

    #: Properties that torch.jit.script must not compile.
    __jit_unused_properties__: ClassVar[list[str]] = [
        *torchmetrics.Metric.__jit_unused_properties__,
        *("average", "saved_on", "signature"),
    ]

    def __init__(
        self,
        scorer: Scorer,
        confidence: Level = None,  # type: ignore[assignment]
        device: torch.device | str | None = None,
        groups: Sequence[str] = (),
        **kwargs: Unpack[MetricKeywords],
    ) -> None:
        try:
            super().__init__(**kwargs)
        except ValueError as error:
            if unknown := [keyword for keyword in kwargs if f"`{keyword}`" in str(error).partition("Unexpected")[2]]:
                # A user's subclass of one of our metrics has the options of both.
                classes = [base for base in type(self).__mro__ if issubclass(base, Accumulator)][:-1]
                raise unknown_keyword(type(self).__name__, unknown[0], options_of(*classes)) from None
            raise
        check_confidence(confidence, scorer.average)
        self.scorer, self.confidence = scorer, confidence
        #: What follows the name of each value in the dict that ``compute`` returns.
        self.suffixes: tuple[str, ...] = ("",) if confidence is None else ("", *ENDS)
        reader, measure, average = scorer.reader, scorer.measure, scorer.average
        self._keeps_rows = average == "none" or confidence is not None
        shape = (len(groups) + 1,) if groups else ()
        # First, so that ranks compare the settings before any other state.
        settings = type(self).__name__, reader, measure, average, self._keeps_rows, *groups
        self.add_state("settings", settings_digest(*settings), all_equal)
        self.add_state("kind_codes", _zeros((2,), torch.int64), join_codes)
        self.add_state("callables", callables_number(reader, measure), "max")
        self.add_state("segments", _zeros(shape, torch.int64), "sum")
        self.add_state("reference_range", torch.tensor(NO_REFERENCES, dtype=torch.int64, device="cpu"), "max")
        row_dtype = torch.int64 if measure.has_counts else torch.float64
        self.add_state("row", _zeros((*shape, measure.layout.row_width), row_dtype), "sum")
        if average == "macro":
            self.add_state("score_sum", _zeros((*shape, *measure.score_shape), torch.float64), "sum")
        if self._keeps_rows:
            self.add_state("rows", [], "cat")
        # Create the states on the CPU and then move them: tensors of some default devices, such as "meta", cannot be
        # moved. Metric.__init__ has set _device to the default device.
        self._device = torch.device("cpu")
        # In torch 2.4, torch.get_default_device() ignores `with torch.device(...)`.
        target_device = torch.device(device) if device is not None else torch.empty(0).device
        if target_device.type != "cpu":
            self.to(target_device)

    if TYPE_CHECKING:  # torch and torchmetrics declare more general types

        @overload
        def __call__(self: Accumulator[None], preds: Hypotheses, target: References) -> Tensor: ...
        @overload
        def __call__(self: Accumulator[float], preds: Hypotheses, target: References) -> dict[str, Tensor]: ...
        @overload
        def __call__(self: Accumulator[Any], preds: Hypotheses, target: References) -> Value: ...
        def __call__(self, preds: Hypotheses, target: References) -> Value: ...

        def clone(self) -> Self: ...

    @property
    def average(self) -> Average:
        """How segments become one score: ``"micro"``, ``"macro"`` or ``"none"``."""
        return self.scorer.average

    @named_arguments
    def update(self, preds: Hypotheses, target: References) -> None:
        """Count a batch.

        Args:
            preds: hypotheses, one per segment: texts, sequences of tokens or ids, or a padded id tensor.
            target: for each segment its reference or a list of references. See the page "Input formats".

        Raises:
            TypeError, ValueError: segments that cannot be read. The states do not change.
        """
        counted = self.scorer.count(preds, target, is_first=not any(self._codes))
        sums = {"row": to_tensor(counted.rows.sum(0))}
        if self.scorer.average == "macro":
            sums["score_sum"] = to_tensor(self.scorer.measure.score_rows(counted.rows).sum(0))
        self._add(counted, sums)

    def _add(self, counted: Counted, sums: Mapping[str, Tensor]) -> None:
        """Add a batch and its sums to the states, or raise ValueError for another kind of input than before."""
        shape = counted.leading_shape
        samples = shape[1] if shape and self.scorer.average == "none" else None
        codes = join_batch_codes(self._codes, batch_codes(counted.kind, samples))
        added = {**sums, "reference_range": to_tensor(counted.reference_range)}
        if self._keeps_rows:
            added["rows"] = to_tensor(counted.rows)
        if not (added["row"].is_cpu and self.row.is_cpu):
            added = self._send(added)
        states = {
            "segments": self.segments + added.get("segments", len(counted.rows)),
            "reference_range": torch.maximum(self.reference_range, added["reference_range"]),
            "row": self.row + added["row"],
        }
        if self.scorer.average == "macro":
            states["score_sum"] = self.score_sum + added["score_sum"]
        if codes != self._codes:
            states["kind_codes"] = host_counts(codes)
        # Set the states only after everything is computed: even if memory runs out, they then hold whole batches.
        if self._keeps_rows:
            # Read through ``__dict__``: in a compiled graph ``typing.cast(list, self.rows)`` gives an empty copy.
            self.__dict__["rows"].append(added["rows"])
        for name, state in {**states, "_codes": codes}.items():
            self.__dict__[name] = state  # torch.compile of 2.11 cannot trace ``__dict__.update``

    def _send(self, added: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Move what a batch adds to the devices of the states, in one copy for each pair of devices."""
        names_by_route: dict[tuple[torch.device, torch.device, int], list[str]] = {}
        for name, tensor in added.items():
            route = tensor.device, self._device_of(name), tensor.element_size()
            names_by_route.setdefault(route, []).append(name)
        sent: dict[str, Tensor] = {}
        for (source, device, _), names in names_by_route.items():
            sent.update(zip(names, copy_to(device, *(added[name] for name in names)), strict=True))
            if "rows" in names and source != device:
                sent["rows"] = sent["rows"].clone()  # saving a view would save everything that was sent
        return sent

    @overload
    def compute(self: Accumulator[None]) -> Tensor: ...
    @overload
    def compute(self: Accumulator[float]) -> dict[str, Tensor]: ...
    @overload
    def compute(self: Accumulator[Any]) -> Value: ...
    def compute(self) -> Value:
        """Return the score of all batches since the last reset: float64, or float32 if the device has no float64.

        Returns:
            ``()``; for average none ``(segments,)`` in the order of updates, rank by rank. With ``confidence`` a dict
            with each value by its name and the ends of its interval: ``bleu``, ``bleu_low`` and ``bleu_high``.

        Raises:
            ValueError: the ranks counted different kinds of input, or their metrics have different settings.
        """
        score = self._score_states()
        self._warn_of_score()
        if self.confidence is None:
            return self.scorer.name_values(score) if len(self.scorer.values) > 1 else score
        return self._add_ends(score, self.confidence)

    def _warn_of_score(self) -> None:
        """Warn of the score of all segments, but not if to read the counts of ids would wait for their device."""
        if not counts_in_torch(self.row) or (kind_name(self.kind_codes) == "text" and not self.row.is_meta):
            self.scorer.measure.warn_of_score(self.row.cpu().numpy().reshape(-1, self.row.shape[-1]).sum(0))

    def _add_ends(self, score: Tensor, confidence: float) -> dict[str, Tensor]:
        """Return the values by name, with the ends of their intervals. Without segments both ends are the score."""
        low = high = score
        rows = self._all_rows()
        if len(rows):
            ends = interval_ends(self.scorer.measure, self.average, rows.cpu().numpy(), confidence)
            low, high = (to_tensor(end).to(score) for end in ends)
        by_suffix = dict(zip(("", *ENDS), map(self.scorer.name_values, (score, low, high)), strict=True))
        return {name + suffix: values[name] for name in self.scorer.values for suffix, values in by_suffix.items()}

    def _score_counts(self, rows: Tensor) -> Tensor:
        """Return the scores of rows of counts."""
        return to_tensor(self.scorer.measure.score_rows(to_array(rows)))

    def _score_states(self) -> Tensor:
        if self.average == "none":
            scores = self._score_counts(self._all_rows())
            samples = sample_number(self.kind_codes)
            if samples is None:
                return scores
            return scores.reshape(len(scores) // max(1, samples), samples, *scores.shape[1:])
        return self._score_sums(lambda state: state, self.scorer.empty_score)

    def _score_sums(self, select: Callable[[Tensor], Tensor], empty_score: float) -> Tensor:
        """Return the scores of the sums that ``select`` takes from the states, or ``empty_score`` without segments."""
        segments = select(self.segments)
        segments = segments.reshape(segments.shape + (1,) * len(self.scorer.measure.score_shape))
        if self.average == "micro":
            score = self._score_counts(select(self.row))
        else:
            mean = select(self.score_sum) / segments.to(self.score_sum.device)
            score = mean.to(float_dtype(self.device)).to(self.device)
        # Reading ``segments`` from an accelerator would wait for it.
        if segments.is_cpu and segments.all():
            return score
        return torch.where(segments > 0, score, empty_score)

    def details(self) -> dict[str, Tensor]:
        """Return the parts of the corpus score by name, from the sums over all segments, for any ``average``."""
        width = self.row.shape[-1]
        parts = self.call_synced(lambda: self.scorer.parts(to_array(self.row.reshape(-1, width).sum(0))))
        return {name: to_tensor(part) for name, part in parts.items()}

    @property
    def signature(self) -> str:
        """All settings and versions that affect the score, in sacrebleu's format. Callables appear by name.

        ``nrefs`` is the number of references per segment so far, such as 1 or 1-4. It covers all processes: in a
        distributed run, read the signature on every process.
        """
        return self.call_synced(self.local_signature)

    def local_signature(self) -> str:
        """Return the signature for the segments of this process, without waiting for the others."""
        negative, most = self.reference_range.tolist()
        draws = {} if self.confidence is None else {"bs": str(RESAMPLES), "seed": str(SEED)}
        return self.scorer.signature(format_references(-negative, most), kind_name(self.kind_codes), draws)

    def has_one_reference(self) -> bool:
        """Return whether each segment of all processes has exactly one reference."""
        reference_range = self.call_synced(lambda: self.reference_range.abs().tolist())
        return bool(reference_range == [1, 1])

    def segment_rows(self) -> Tensor:
        """Return the counts of each segment, ``(segments, fields)`` int64, of all processes, rank by rank.

        Raises:
            ValueError: the metric has neither ``confidence`` nor average none, so it keeps sums only.
        """
        if not self._keeps_rows:
            raise ValueError(f"this {type(self).__name__} keeps sums only: construct it with confidence=0.95")
        return self.call_synced(self._all_rows)

    def plot(self, val: Value | Sequence[Value] | None = None, ax: Axes | None = None) -> tuple[Figure, Axes]:
        """Plot one result as a row for each value, or a list of results as a curve over steps.

        Intervals are whiskers and bands, and each curve has its name at its end. With average none, the scores are
        points over segments.

        Args:
            val: a result of ``compute`` or ``forward``, or a list of them. None to call ``compute``, of whose values
                ROUGE then shows F of each key.
            ax: the matplotlib axis to draw on; None for a new figure.

        Returns:
            The figure and the axis.

        Raises:
            TypeError: ``val`` is no result.
            ValueError: ``val`` is an empty list, or has results of different values.
            ModuleNotFoundError: matplotlib is not installed (extra ``plot``).
        """
        return plot_metric(self, val, ax)

    def __getitem__(self, idx: Any) -> CompositionalMetric:
        """Return a metric of one value, ``metric["bleu_low"]``, or for average none of a segment, ``metric[0]``.

        Raises:
            KeyError: ``compute`` returns no value with this name.
        """
        if is_scored_value(self, idx):
            return ScoredValue(self, idx)
        return NamedValue(self, idx) if isinstance(idx, str) else super().__getitem__(idx)

    def extra_repr(self) -> str:
        """Return the settings that differ from the defaults."""
        return changed_settings(self, type(self))


def changed_settings(accumulator: Accumulator[Any], cls: type) -> str:
    """Return the settings that differ from the defaults of a class."""
    settings = []
    keepers = (accumulator, accumulator.scorer.measure, accumulator.scorer.reader)
    for name, parameter in inspect.signature(cls).parameters.items():
        value = next((getattr(part, name) for part in keepers if hasattr(part, name)), parameter.default)
        if value != parameter.default and name != "device":
            settings.append(f"{name}={callable_name(value) if callable(value) else repr(value)}")
    return ", ".join(settings)


def _zeros(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    return torch.zeros(shape, dtype=dtype, device="cpu")
