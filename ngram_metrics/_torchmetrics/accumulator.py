"""The base class of all torchmetrics metrics of this package: a ``CountingMetric`` as a torchmetrics module.

All counts are in ``_counts``, a ``Counts``. The states that torchmetrics knows are the settings, as bytes, and
properties over the fields of the ``Counts``. ``MetricCollection`` puts two metrics into one compute group if all their
states are equal after the first batch, and from then on both report the same counts: so the settings are a state too.

A method of torchmetrics is overridden only where it is wrong for this package. A comment says how.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Generic, overload

import numpy as np
import torch
import torchmetrics
from numpy.typing import NDArray
from torch import Tensor
from torchmetrics.metric import CompositionalMetric
from torchmetrics.utilities import rank_zero_warn
from torchmetrics.utilities.distributed import gather_all_tensors
from typing_extensions import Self, TypedDict, TypeVar, Unpack

from ngram_metrics._core.basics.keywords import named_arguments, options_of, unknown_keyword
from ngram_metrics._core.basics.tensors import call_outside_graphs, host_counts
from ngram_metrics._core.scoring.counting_metric import CountingMetric
from ngram_metrics._core.scoring.counts import Counts
from ngram_metrics._core.scoring.exchange import (
    Saved,
    current_rank,
    gather_counts,
    gather_vectors,
    number_digest,
    pack,
    unpack,
)
from ngram_metrics._core.scoring.groups import Grouping
from ngram_metrics._core.scoring.items import is_scored_value
from ngram_metrics._core.scoring.scorer import Scorer, Value
from ngram_metrics._core.scoring.settings import number_callables
from ngram_metrics._core.text.input_types import Hypotheses, References
from ngram_metrics._core.text.messages import warn_of_no_segment
from ngram_metrics._torchmetrics.plots import plot_metric
from ngram_metrics._torchmetrics.states import (
    REDUCTIONS,
    SETTINGS,
    STATES,
    State,
    check_form,
    read_states,
    refuse_missing,
    state_property,
)
from ngram_metrics._torchmetrics.values import NamedValue, ScoredValue

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The entry of a ``state_dict`` that says which rank counted.
SAVED_ON = "saved_on"
#: The bytes of the digest in the state ``settings``. After them comes the number of callables.
_DIGEST = 32
_CPU = torch.device("cpu")
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


class Accumulator(CountingMetric, torchmetrics.Metric, Generic[Level]):
    """Counts batches and scores their sum, their mean, or each segment.

    Its states are ``settings``, uint8, and the fields of ``Counts``: ``kind``, ``segments``, ``reference_range`` and
    ``row``, int64; for average macro ``score_sum``, float64; for average none and with ``confidence`` ``rows``, a list
    of int64. With ``accumulate="avg"`` of ROUGE ``row`` and ``rows`` are float64. A cast never changes a dtype. On a
    device without float64 ``score_sum`` stays on the CPU.

    Args:
        scorer: the metric without counts.
        confidence: the level of a bootstrap interval that ``compute`` returns with each value; None for no interval.
        device: where the states are; None for torch's default device. Text and lists are counted on the CPU, padded
            ids on their own device.
        grouping: groups that are counted separately, and how each is read; None for no groups.
        kwargs: keyword arguments of ``torchmetrics.Metric``.

    Raises:
        TypeError: an unknown keyword, for which the message suggests an option; a ``confidence`` that is not a number.
        ValueError: a ``confidence`` that is not between 0 and 1 or is above 0.998, or any ``confidence`` with average
            none.
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
        *REDUCTIONS,
    ]

    if TYPE_CHECKING:  # torch.jit.script cannot read these
        #: The counts of no batch where the counts are, so that a reset copies nothing from the host.
        _empty_here: Counts
        #: The digest of the settings, and the number of the callables among them, which is valid in one process.
        settings: Tensor
    kind = state_property("kind")
    segments = state_property("segments")
    reference_range = state_property("reference_range")
    row = state_property("row")
    score_sum = state_property("score_sum")
    rows = state_property("rows")

    def __init__(
        self,
        scorer: Scorer,
        confidence: Level = None,  # type: ignore[assignment]
        device: torch.device | str | None = None,
        grouping: Grouping | None = None,
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
        self._begin(scorer, confidence, grouping)
        self._empty_here = self._empty
        self._counts = self._empty.copy()
        self.add_state(SETTINGS, self._pack_settings(), "max")  # first, so that it is compared first
        for name, reduction in REDUCTIONS.items():
            if (state := getattr(self, name)) is not None:
                self.add_state(name, state, reduction)
        # Create the states on the CPU and then move them: tensors of some default devices, such as "meta", cannot be
        # moved. Metric.__init__ has set _device to the default device.
        self._device = _CPU
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

    @named_arguments
    def update(self, preds: Hypotheses, target: References) -> None:
        """Count a batch.

        Args:
            preds: hypotheses, one per segment: texts, sequences of tokens or ids, or a padded id tensor.
            target: for each segment its reference or a list of references. See the page "Input formats".

        Raises:
            TypeError, ValueError: segments that cannot be read. The counts do not change.
        """
        self._count(preds, target)

    def _end_update(self, counts: Counts) -> None:
        self._set_counts(counts, self._update_count + 1)

    def _set_counts(self, counts: Counts, updates: int) -> None:
        """Replace the counts and the number of updates from which they come."""
        if torch.compiler.is_compiling():
            updates = 1  # a graph is valid for one value of an attribute: counting updates would record one for each
        for name, value in (("_computed", None), ("_update_count", updates), ("_counts", counts)):
            self.__dict__[name] = value  # torch.compile of 2.11 cannot trace ``__dict__.update``

    def _send(self, counts: Counts) -> Counts:
        return counts.to(self.device, _CPU if self.compute_on_cpu else None)

    def _wrap_update(self, update: Callable[..., None]) -> Callable[..., None]:
        # Metric._wrap_update counts an update that fails, too, and makes torch.compile record a graph for each update.
        module = type(self).update.__module__ or ""
        if module.partition(".")[0] == "ngram_metrics":
            return update

        @functools.wraps(update)
        def update_of_subclass(*args: object, **kwargs: object) -> None:
            counts, updates = self._counts, self._update_count
            try:
                with torch.set_grad_enabled(self._enable_grad):  # for the states that the subclass has added
                    update(*args, **kwargs)
            except BaseException:
                self._set_counts(counts, updates)  # the subclass may have failed after this class had counted
                raise
            self._set_counts(self._counts, updates + 1)  # the subclass may count in states of its own alone

        return update_of_subclass

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
        return self._value(self._send(self._counts))

    def _wrap_compute(self, compute: Callable[..., Value]) -> Callable[..., Value]:
        # Metric._wrap_compute squeezes the score of a single segment, (1,), to a number. It also returns the cached
        # value itself, so changing it in place would change the next result.

        @functools.wraps(compute)
        def compute_once(*args: object, **kwargs: object) -> Value:
            if not self.update_called:
                rank_zero_warn(
                    f"The ``compute`` method of metric {type(self).__name__} was called before the ``update`` method "
                    "which may lead to errors, as metric states have not yet been updated."
                )
            if self._computed is not None:
                return copy_value(self._computed)
            with self.sync_context(
                dist_sync_fn=self.dist_sync_fn, should_sync=self._to_sync, should_unsync=self._should_unsync
            ):
                if self.update_called and self._counts.is_empty:
                    warn_of_no_segment()
                value = compute(*args, **kwargs)
            if not self.compute_with_cache:
                return value
            self.__dict__["_computed"] = value  # Module.__setattr__ would look for a module or a parameter
            return copy_value(value)

        return compute_once

    @torch.jit.unused
    def forward(self, *args: Any, **kwargs: Any) -> Value:
        """Count a batch and return its score. The mean of these over batches is not the score of all segments.

        Log the metric itself, or what ``compute`` returns. If a call raises, the counts do not change.
        """
        parts = (*args, *kwargs.values())
        if len(parts) in (2, 3) and self._can_be_recorded(*parts):
            return self._forward_here(*args, **kwargs)
        return call_outside_graphs(self._forward_here, *args, **kwargs)

    @torch.jit.unused
    def _forward_here(self, *args: Any, **kwargs: Any) -> Value:
        """Count a batch and return its score, in this graph if there is one."""
        # Metric.forward resets before it counts, so an error would lose all earlier batches.
        before = {**self.__dict__}
        try:
            return copy_value(super().forward(*args, **kwargs))
        except BaseException:
            self.__dict__.update(before)
            raise

    def reset(self) -> None:
        """Forget all batches."""
        # Metric.reset empties lists in place, although a Running wrapper, or ``forward`` after an error, still uses
        # them.
        # A copy, because a caller may write into a state.
        empty: dict[str, Any] = {"_counts": self._empty_here.copy()}
        for name, state in self._added_states().items():
            default = self._defaults[name]
            empty[name] = default.clone().to(state.device) if isinstance(default, Tensor) else []
        for name in ("_computed", "_forward_cache", "_cache"):
            self.__dict__[name] = None
        self.__dict__["_is_synced"] = False
        self.__dict__["_update_count"] = 0
        for name, state in empty.items():
            self.__dict__[name] = state

    def _apply(self, fn: Callable[[Tensor], Tensor], exclude_state: Sequence[str] = "") -> torch.nn.Module:  # noqa: TID251
        # Metric._apply would let .to(torch.bfloat16) round float sums. Lightning's precision="bf16-true" calls that.
        self._computed = None  # Metric._apply would move it with the precision of the old device
        moved = super()._apply(fn, (*exclude_state, *STATES))
        self.__dict__["_counts"] = self._send(self._counts)
        self.__dict__["_empty_here"] = self._send(self._empty)
        return moved

    def __hash__(self) -> int:
        # Metric.__hash__ hashes the states, which are another tensor at each access.
        return id(self)

    def __getattr__(self, name: str) -> Any:
        """Point users of ignite's methods to ``ngram_metrics.ignite``."""
        if name == "attach":
            kind = type(self).__name__
            raise AttributeError(
                f"this {kind} is a torchmetrics metric: for ignite, import {kind} from ngram_metrics.ignite"
            )
        return super().__getattr__(name)

    # The settings.

    def _pack_settings(self) -> Tensor:
        """Return the state ``settings``."""
        settings = self.describe_settings()
        return torch.from_numpy(np.append(number_digest(settings), number_callables(settings)).view(np.uint8))

    def _digest(self) -> NDArray[np.int64]:
        """Return the digest of the settings, ``(4,)``."""
        return self.settings[:_DIGEST].numpy().view(np.int64)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Metric.__setstate__ keeps the number of the callables, which means other callables in another process.
        super().__setstate__(state)
        self.settings = self._pack_settings()
        self._defaults[SETTINGS] = self.settings.clone()

    # Other metrics and saved states.

    def merge_state(self, incoming_state: dict[str, State] | torchmetrics.Metric) -> None:
        """Add another metric's counts to this metric's. Its segments come after this metric's.

        Args:
            incoming_state: a metric of the same class with the same settings, or its ``metric_state``, on any device.

        Raises:
            ValueError: another class, other settings, another kind of input, or missing states. This metric does not
                change.
        """
        # Metric.merge_state puts the other's segments first, counts no update, and keeps the computed value.
        if isinstance(incoming_state, torchmetrics.Metric):
            if not isinstance(incoming_state, type(self)):
                raise ValueError(
                    f"Expected incoming state to be an instance of {type(self).__name__} but got "
                    f"{type(incoming_state).__name__}"
                )
            self._refuse_unequal(incoming_state.describe_settings())
            counts = incoming_state._counts
            states = incoming_state.metric_state
            updates = incoming_state._update_count
        else:
            if not isinstance(incoming_state, dict):
                raise ValueError(
                    f"Expected incoming state to be a dict or an instance of Metric but got {type(incoming_state)}"
                )
            counts = self._read_states(incoming_state)
            states = incoming_state
            updates = 1
        merged = self._send(self._counts).merge(self._send(counts))
        self._merge_added_states(self._added_states(), states)
        self._set_counts(merged, self._update_count + updates)

    def _reduce_states(self, incoming_state: dict[str, Any]) -> None:
        # Metric._reduce_states sets state by state, and raises for tensors on two devices. The incoming come first.
        counts = incoming_state.get("_counts")
        if counts is None:
            counts = self._read_states(incoming_state)
        merged = self._send(counts).merge(self._send(self._counts))
        self._merge_added_states(incoming_state, self._added_states())
        self._set_counts(merged, max(1, self._update_count))

    def _read_states(self, states: Mapping[str, Any], *more: str) -> Counts:
        """Return states as counts, or raise ValueError for other settings, and for missing or malformed states.

        ``more`` are the names of entries that must be there too.
        """
        if SETTINGS in states:
            check_form(SETTINGS, states[SETTINGS], self.settings)
            if not torch.equal(states[SETTINGS][:_DIGEST].cpu(), self.settings[:_DIGEST]):
                self._refuse_other_settings()
        refuse_missing(states, (*self._defaults, *more))
        return read_states(states, self._empty)

    def state_dict(  # type: ignore[override]  # the signature of torchmetrics.Metric
        self, destination: dict[str, Any] | None = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """Return the persistent states, as torchmetrics does, and ``saved_on``."""
        # Metric.state_dict does not say which rank counted.
        saved = super().state_dict(destination, prefix, keep_vars)
        if self._persistent[SETTINGS]:
            saved[prefix + SAVED_ON] = self.saved_on
        return saved

    @property
    def saved_on(self) -> Tensor:
        """The rank that counted and the number of ranks, int64. ``(0, 1)`` means all ranks together."""
        # A property, because torch.distributed.checkpoint reads each key of a ``state_dict`` as an attribute.
        return host_counts(self._own_rank())

    def _own_rank(self) -> tuple[int, int]:
        # Not the rank in the metric's own group: each group has a rank 0.
        joins = self.sync_on_compute and not self._is_synced and self.distributed_available_fn is not None
        return current_rank() if joins and self.distributed_available_fn() else (0, 1)

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, object],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load states that were saved after ``persistent(True)``."""
        # Metric._load_from_state_dict sets whatever states it finds, of any shape and with any settings.
        own_names = [name for name in self._defaults if name in STATES] + [SAVED_ON]
        saved = {name: state_dict.pop(prefix + name) for name in own_names if prefix + name in state_dict}
        if saved:
            try:
                counts = self._read_states({**saved, **self._added_states()}, SAVED_ON)
                check_form(SAVED_ON, saved[SAVED_ON], self.saved_on)
                counts.check_rows()
            except ValueError as error:
                error_msgs.append(str(error))
                return
            if self._begins_empty(counts, tuple(saved[SAVED_ON].tolist()), self._own_rank()):
                self.reset()
            else:
                self._is_synced = False
                self._cache = None  # otherwise unsync would restore the earlier counts
                self._set_counts(self._send(counts.copy()), max(1, self._update_count))
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )

    # Other processes.

    def _sync_dist(self, dist_sync_fn: Callable[..., Any] = gather_all_tensors, process_group: object = None) -> None:
        # Metric._sync_dist gathers state by state, with barriers between. Ranks with different averages have different
        # states, and would wait for each other.
        gather = gather_vectors if dist_sync_fn is gather_all_tensors else dist_sync_fn
        joined = gather_counts(
            lambda: pack(self._digest(), Saved(self._counts, self._own_rank())),
            lambda packed: unpack(packed, self._digest(), self._empty).counts,
            self.confidence,
            functools.partial(gather, group=process_group or self.process_group),
            self.device,
        )
        if self._has_added_states():
            with self._added_states_only():
                super()._sync_dist(dist_sync_fn, process_group)
        self.__dict__["_counts"] = self._send(joined)

    def _copy_state_dict(self) -> dict[str, Any]:
        # Metric._copy_state_dict copies each state. Counts are a value: nothing is copied, and ``unsync`` sets it back.
        if not self._has_added_states():
            return {"_counts": self._counts}
        with self._added_states_only():
            return {**super()._copy_state_dict(), "_counts": self._counts}

    @contextmanager
    def sync_context(self, *args: Any, **kwargs: Any) -> Iterator[None]:
        # After an error Metric.sync_context never unsyncs: this process would keep the counts of all.
        was_synced = self._is_synced
        try:
            with super().sync_context(*args, **kwargs):
                yield
        except BaseException:
            if self._is_synced and not was_synced:
                self.unsync()
            raise

    def _joined(self) -> Counts:
        joins = self.sync_on_compute and not self._is_synced
        with self.sync_context(dist_sync_fn=self.dist_sync_fn, should_sync=joins, should_unsync=joins):
            return self._counts

    # The states that a user's subclass has added, which torchmetrics treats as it does all states.

    def _has_added_states(self) -> bool:
        return not self._defaults.keys() <= STATES

    def _added_states(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._defaults if name not in STATES}

    @contextmanager
    def _added_states_only(self) -> Iterator[None]:
        """Hide the states of this package from torchmetrics."""
        hidden = ("_defaults", "_reductions")
        before = {name: self.__dict__[name] for name in hidden}
        for name in hidden:
            self.__dict__[name] = {state: part for state, part in before[name].items() if state not in STATES}
        try:
            yield
        finally:
            self.__dict__.update(before)

    def _merge_added_states(self, first: dict[str, Any], second: dict[str, Any]) -> None:
        """Reduce the added states of both metrics to one. If that fails, the states do not change."""
        before = self._added_states()
        if not before:
            return
        try:
            with self._added_states_only():
                for name in before:
                    setattr(self, name, second[name])
                super()._reduce_states(first)  # torchmetrics puts these before the current states
        except BaseException:
            self.__dict__.update(before)
            raise

    # What is shown.

    def plot(self, val: Value | Sequence[Value] | None = None, ax: Axes | None = None) -> tuple[Figure, Axes]:
        """Plot one result as a row for each value, or a list of results as a curve over steps.

        Intervals are whiskers and bands, and each curve has its name at its end. With average none, the scores are
        points over segments.

        Args:
            val: a result of ``compute`` or ``forward``, or a list of them. None for what ``compute`` returns; ROUGE
                then shows only F of each key.
            ax: the matplotlib axis to draw on; None for a new figure.

        Returns:
            The figure and the axis.

        Raises:
            TypeError: ``val`` is not a result.
            ValueError: ``val`` is an empty list, or has results of different values.
            ModuleNotFoundError: matplotlib is not installed (extra ``plot``).
        """
        return plot_metric(self, val, ax)

    def __getitem__(self, idx: Any) -> CompositionalMetric:
        """Return a metric of one value, ``metric["bleu_low"]``, or of one segment for average none, ``metric[0]``.

        Raises:
            KeyError: ``compute`` returns no value with this name.
        """
        if is_scored_value(self, idx):
            return ScoredValue(self, idx)
        return NamedValue(self, idx) if isinstance(idx, str) else super().__getitem__(idx)

    def extra_repr(self) -> str:
        """Return the settings that differ from the defaults."""
        return self._changed_settings()


def copy_value(value: Value) -> Value:
    """Return a copy of a computed value, or of several by name."""
    if isinstance(value, dict):
        return {name: part.clone() for name, part in value.items()}
    return value.clone() if isinstance(value, Tensor) else value
