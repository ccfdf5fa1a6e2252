"""What the metrics change in ``torchmetrics.Metric``. Each override says what torchmetrics does instead.

States are checked before anything changes, so that an error leaves them unchanged.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import torch
import torchmetrics
from torch import Tensor, distributed
from torchmetrics.utilities import rank_zero_warn
from torchmetrics.utilities.distributed import gather_all_tensors

from ngram_metrics._core.basics.keywords import named_arguments
from ngram_metrics._core.basics.tensors import float_dtype, host_counts
from ngram_metrics._core.scoring.scorer import Scorer, Value
from ngram_metrics._core.scoring.settings_digest import describe, name_differences
from ngram_metrics._core.text.input_types import Hypotheses, References
from ngram_metrics._core.text.messages import warn_of_no_segment, warn_user
from ngram_metrics._torchmetrics.states import (
    State,
    all_equal,
    callables_number,
    check_states,
    gather_buffers,
    gather_packed,
    join_states,
    list_rows,
    move_state,
    pack_states,
    settings_digest,
    unpack_states,
)

#: Gathers the bytes of all ranks in a ``group``.
Gather: TypeAlias = Callable[..., list[Tensor]]
Returned = TypeVar("Returned")
#: Attributes that torchmetrics' ``Metric._forward_reduce_state_update`` changes, and restores only if nothing raises.
_FORWARD_ATTRIBUTES = (
    *("_update_count", "_computed", "_forward_cache", "_to_sync", "_should_unsync", "_enable_grad", "_is_synced"),
    *("_cache", "compute_on_cpu"),
)
#: The entry of a ``state_dict`` that says which rank counted.
SAVED_ON = "saved_on"
_SETTING_STATES = ("settings", "callables")  # states that describe the metric and not the data


def copy_value(value: Value) -> Value:
    """Return a copy of a computed value, or of several by name."""
    if isinstance(value, dict):
        return {name: part.clone() for name, part in value.items()}
    return value.clone() if isinstance(value, Tensor) else value


class Adaptor(torchmetrics.Metric):
    """A torchmetrics module with the states that ``Accumulator`` lists."""

    scorer: Scorer
    confidence: float | None
    _keeps_rows: bool

    if TYPE_CHECKING:  # torch.jit.script cannot read these
        settings: Tensor
        callables: Tensor
        kind_codes: Tensor
        segments: Tensor
        reference_range: Tensor
        row: Tensor
        score_sum: Tensor
        rows: State
        #: The values of ``kind_codes``, which a compiled update must not read from a tensor.
        _codes: tuple[int, ...]

    def __setattr__(self, name: str, value: object) -> None:
        """Keep the values of ``kind_codes`` with the state."""
        super().__setattr__(name, value)
        if name == "kind_codes":
            self._codes = tuple(cast(Tensor, value).tolist())

    def __getattr__(self, name: str) -> Tensor | torch.nn.Module:  # noqa: TID251
        """Point users of ignite's methods to ``ngram_metrics.ignite``."""
        if name == "attach":
            kind = type(self).__name__
            raise AttributeError(f"{kind} is for torchmetrics: for ignite, import {kind} from ngram_metrics.ignite")
        return super().__getattr__(name)

    def persistent(self, mode: bool = False) -> None:
        """Choose whether states go into ``state_dict``. ``callables`` never does: it is valid in this process only."""
        super().persistent(mode)
        self._persistent["callables"] = False  # Metric.persistent sets the same mode for all states.

    def reset(self) -> None:
        """Forget all batches."""
        # Metric.reset empties the list of rows in place, although a Running wrapper still uses it, and fails after a
        # sync has joined the rows.
        for name, default in self._defaults.items():
            if name not in _SETTING_STATES:
                self.__dict__[name] = default.clone() if isinstance(default, Tensor) else []
        unset = dict.fromkeys(("_computed", "_forward_cache", "_cache"))
        for attribute, value in {**unset, "_update_count": 0, "_is_synced": False, "_codes": (0, 0)}.items():
            self.__dict__[attribute] = value

    @torch.jit.unused
    @named_arguments
    def forward(self, preds: Hypotheses, target: References) -> Value:
        """Count a batch and return the score of this batch: the mean over batches is not the score of all segments.

        Log the metric itself, or what ``compute`` returns. If a call raises, the states do not change.
        """
        # Metric.forward resets the states before it counts, so an error would lose all earlier batches.
        return self._call_or_undo(lambda: copy_value(super(Adaptor, self).forward(preds, target)))

    def _wrap_update(self, update: Callable[..., None]) -> Callable[..., None]:
        """Count updates, and undo what a failed one has set in the states and in torchmetrics' attributes."""
        # Metric._wrap_update counts an update and drops the computed value even if the update then fails.

        def count_update(*args: object, **kwargs: object) -> None:
            self.__dict__.update(_computed=None, _update_count=self._update_count + 1)
            with torch.set_grad_enabled(self._enable_grad):
                update(*args, **kwargs)
            if self.compute_on_cpu:
                self._move_list_states_to_cpu()

        @functools.wraps(update)
        def update_or_undo(*args: object, **kwargs: object) -> None:
            if torch.compiler.is_compiling():
                # A graph is valid for one value of an attribute: counting updates would recompile every step.
                self._update_count = max(1, self._update_count)
                self._computed = None
                update(*args, **kwargs)
                return
            self._call_or_undo(count_update, *args, **kwargs)

        return update_or_undo

    def _wrap_compute(self, compute: Callable[..., Value]) -> Callable[..., Value]:
        """Warn of missing data, synchronize, and restore the states after an error."""
        # Metric._wrap_compute squeezes the score of a single segment, (1,), to a number. It also returns the cached
        # value without a copy, so changing it in place would change the next result.

        def compute_or_warn(*args: object, **kwargs: object) -> Value:
            if self.update_called and not self.kind_codes.tolist()[0]:
                warn_of_no_segment()
            return compute(*args, **kwargs)

        @functools.wraps(compute)
        def compute_or_reuse(*args: object, **kwargs: object) -> Value:
            if not self.update_called:
                rank_zero_warn(
                    f"The ``compute`` method of metric {type(self).__name__} was called before the ``update`` method "
                    "which may lead to errors, as metric states have not yet been updated."
                )
            if self._computed is not None:
                return copy_value(cast(Value, self._computed))
            value = self.call_synced(lambda: compute_or_warn(*args, **kwargs), self._to_sync)
            if self.compute_with_cache:
                self.__dict__["_computed"] = value  # Module.__setattr__ would look for a module or a parameter
            return copy_value(value)

        return compute_or_reuse

    def saved_states(self) -> dict[str, Tensor]:
        """Return the states for ``load_states``, with the rows as one tensor."""
        return {name: self._all_rows() if name == "rows" else getattr(self, name) for name in self.saved_defaults()}

    def saved_defaults(self) -> dict[str, Tensor]:
        """Return what ``saved_states`` returns after a reset, for names, dtypes and shapes."""
        defaults: dict[str, Any] = {name: state for name, state in self._defaults.items() if name != "callables"}
        if self._keeps_rows:
            defaults["rows"] = self.row.new_empty(0, len(self.row))
        return defaults

    def describe_settings(self) -> dict[str, str]:
        """Return everything that the digest of settings covers, as text."""
        settings = {"class": repr(type(self).__name__), "average": repr(self.scorer.average)}
        settings["kept counts"] = "of each segment" if self._keeps_rows else "sums"
        return {**settings, **describe(self.scorer.reader), **describe(self.scorer.measure)}

    def state_dict(  # type: ignore[override]  # the signature of torchmetrics.Metric
        self, destination: dict[str, Any] | None = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """Return the persistent states, as torchmetrics does, and ``saved_on``."""
        saved = super().state_dict(destination, prefix, keep_vars)
        if self._persistent["settings"]:
            saved[prefix + SAVED_ON] = self.saved_on
        return saved

    @property
    def saved_on(self) -> Tensor:
        """The rank that counted and the number of ranks, int64. ``(0, 1)`` means all ranks together."""
        # A property, because torch.distributed.checkpoint reads each key of a ``state_dict`` as an attribute.
        rank, ranks = 0, 1
        has_group = distributed.is_available() and distributed.is_initialized() and self.distributed_available_fn()
        if has_group and self.sync_on_compute and not self._is_synced:
            # Not the rank in the metric's own group: each group has a rank 0.
            rank, ranks = distributed.get_rank(), distributed.get_world_size()
        return host_counts((rank, ranks))

    def load_states(self, saved: Mapping[str, State]) -> None:
        """Set all states. Raise ValueError before any is set if settings, names, dtypes or shapes differ."""
        self._check_settings(saved.get("settings", self.settings))
        check_states(saved, self.saved_defaults())
        for name, value in saved.items():
            # A sync joins the rows into one tensor. Make them a list again, which updates can append to.
            setattr(self, name, move_state(list_rows(value) if name == "rows" else value, self._device_of(name)))
        # As Metric._wrap_update does. Otherwise compute would warn of missing data, or return its cached value.
        self._update_count = max(1, self._update_count)
        self._computed = None
        # As Metric.reset does. Otherwise unsync would restore the earlier counts.
        self._is_synced, self._cache = False, None

    def _all_rows(self) -> Tensor:
        """Return all rows as one tensor ``(segments, fields)``, whether or not a sync has joined them."""
        if isinstance(self.rows, Tensor):
            return self.rows
        return torch.cat(self.rows) if self.rows else self.row.new_zeros(0, len(self.row))

    def _device_of(self, name: str) -> torch.device:
        if name != "rows":
            return cast(torch.device, getattr(self, name).device)
        return torch.device("cpu") if self.compute_on_cpu else self.row.device

    def _check_settings(self, settings: object, described: Mapping[str, str] | None = None) -> None:
        if not isinstance(settings, Tensor) or not torch.equal(settings.to(self.settings.device), self.settings):
            advice = name_differences(described, self.describe_settings()) if described is not None else ""
            raise ValueError(
                f"these states were counted by a metric with other settings than this {type(self).__name__}: "
                f"expected the same class, options and average{advice}"
            )

    def _load_from_state_dict(
        self,
        state_dict: dict[str, State],
        prefix: str,
        local_metadata: dict[str, object],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load states that were saved after ``persistent(True)``."""
        # Metric._load_from_state_dict sets whatever states it finds, of any shape and with any settings.
        names = [name for name in (*self._defaults, SAVED_ON) if prefix + name in state_dict]
        saved = {name: state_dict.pop(prefix + name) for name in names}
        if saved:
            try:
                self._check_settings(saved.get("settings", self.settings))
                check_states(saved, {**self.saved_defaults(), SAVED_ON: self.saved_on})
            except ValueError as error:
                error_msgs.append(str(error))
                return
            saved_on = cast(Tensor, saved.pop(SAVED_ON)).tolist()
            if int(cast(Tensor, saved["segments"]).sum()) and saved_on != self.saved_on.tolist():
                self._begin_empty(saved_on)
            else:
                self.load_states(saved)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )

    def _begin_empty(self, saved_on: Sequence[int]) -> None:
        """Reset and warn instead of loading the counts of another rank."""
        self.reset()
        names = [f"rank {rank} of {ranks}" for rank, ranks in (saved_on, self.saved_on.tolist())]
        warn_user(
            f"this {type(self).__name__} begins empty: its saved states hold the counts of {names[0]}, and this is "
            f"{names[1]}. Run the validation again from its start"
        )

    def _apply(self, fn: Callable[[Tensor], Tensor], exclude_state: Sequence[str] = "") -> torch.nn.Module:  # noqa: TID251
        """Move to another device, and ignore casts to another dtype."""
        # Metric._apply would let .to(torch.bfloat16) round float sums. Lightning's precision="bf16-true" calls that.

        def move(tensor: Tensor) -> Tensor:
            device = fn(torch.empty(0, device=tensor.device)).device
            if tensor.dtype == torch.float64 and float_dtype(device) != torch.float64:
                return tensor.to("cpu")
            return tensor.to(device)

        self._computed = None  # Metric._apply would move it with the old device's precision
        # Each update reads ``kind_codes``; on an accelerator each read would wait for the device.
        stays = ("kind_codes", "rows") if self.compute_on_cpu else ("kind_codes",)
        return super()._apply(move, (*exclude_state, *stays))

    def __setstate__(self, state: dict[str, object]) -> None:
        """Restore a copied or pickled metric."""
        # Metric.__setstate__ keeps the saved number, which may stand for other callables in this process.
        super().__setstate__(state)
        callables = callables_number(self.scorer.reader, self.scorer.measure).to(self.callables.device)
        self._defaults["callables"] = callables
        self.callables = callables.clone()

    def call_synced(self, function: Callable[[], Returned], should_sync: bool | None = None) -> Returned:
        """Call a function while the states are those of all processes, by default if ``compute`` would join them."""
        was_synced = self._is_synced
        joins = self.sync_on_compute and not was_synced if should_sync is None else should_sync
        unsyncs = self._should_unsync and not was_synced
        try:
            # Through sync_context, because a subclass may override it.
            with self.sync_context(dist_sync_fn=self.dist_sync_fn, should_sync=joins, should_unsync=unsyncs):
                return function()
        finally:
            # After an error Metric.sync_context never unsyncs: this process would keep the states of all.
            if self._is_synced and unsyncs:
                self.unsync()

    def merge_state(self, incoming_state: dict[str, State] | torchmetrics.Metric) -> None:
        """Add another metric's states to this metric's. Its segments come after this metric's.

        Args:
            incoming_state: a metric of the same class with the same settings, or its ``metric_state``, on any device.

        Raises:
            ValueError: another class, other settings, another kind of input, or missing states. This metric does not
                change.
        """
        rows = list_rows(self.rows) if self._keeps_rows else []
        incoming = incoming_state.metric_state if isinstance(incoming_state, torchmetrics.Metric) else incoming_state
        if isinstance(incoming, dict) and "settings" in incoming:
            described = incoming_state.describe_settings() if isinstance(incoming_state, Adaptor) else None
            self._check_settings(incoming["settings"], described)
            if set(self._defaults) <= set(incoming):  # otherwise _reduce_states names the missing states
                check_states({name: incoming[name] for name in self.saved_defaults()}, self.saved_defaults())

        def merge() -> None:
            super(Adaptor, self).merge_state(incoming_state)
            if self._keeps_rows:
                self.rows = rows + move_state(list_rows(incoming["rows"]), self._device_of("rows"))

        self._call_or_undo(merge)
        # Metric.merge_state counts no update, so compute would warn. It also keeps the cached value.
        self._update_count += incoming_state.update_count if isinstance(incoming_state, torchmetrics.Metric) else 1
        self._computed = None

    def _reduce_states(self, incoming_state: dict[str, State]) -> None:
        """Add another metric's states before this metric's."""
        # Metric._reduce_states raises for tensors on two devices, and if only one side has joined its rows in a sync.
        missing = [name for name in self._defaults if name not in incoming_state]
        if missing:
            raise ValueError(f"the incoming state lacks {missing}: expected the states {list(self._defaults)}")
        for name in self._defaults:
            if name not in _SETTING_STATES:
                incoming = move_state(incoming_state[name], self._device_of(name))
                both = [*list_rows(incoming), *list_rows(getattr(self, name))]
                setattr(self, name, both if name == "rows" else join_states(name, both))

    def _sync_dist(self, dist_sync_fn: Gather = gather_all_tensors, process_group: object = None) -> None:
        """Gather the states of all ranks as one tensor of bytes, and join them.

        After gathering, all ranks raise ValueError if settings differ. They raise RuntimeError if another rank could
        not read its states.
        """
        # Metric._sync_dist gathers state by state, with barriers between. Ranks with different averages have different
        # states, and would wait for each other.
        gather: Gather = gather_buffers if dist_sync_fn is gather_all_tensors else dist_sync_fn
        # The confidence level is not a setting of the states, so that metrics that differ only in it share counts in a
        # collection. But ranks must agree on it.
        level = settings_digest(self.confidence).to(self.row.device)
        compared = len(level) + len(self.settings)
        buffers = gather_packed(
            lambda: torch.cat((level, pack_states(self.saved_states(), self.row.device))),
            functools.partial(gather, group=process_group or self.process_group),
            self.row.device,
        )
        all_equal(torch.stack([buffer[:compared] for buffer in buffers]))
        shares = [unpack_states(buffer[len(level) :], self.saved_defaults()) for buffer in buffers]
        names = [name for name in shares[0] if name != "settings"]
        joined = {name: join_states(name, [share[name] for share in shares]) for name in names}
        for name, state in joined.items():
            setattr(self, name, state.to(self._device_of(name)))

    def _call_or_undo(self, function: Callable[..., Returned], *args: object, **kwargs: object) -> Returned:
        """Call a function. If it raises, restore the states and the attributes that torchmetrics changes with them."""
        before = {**self.__dict__}
        # Lists grow in place, so they are cut back. Copying them would take longer with every batch.
        lengths = {name: len(before[name]) for name in self._defaults if type(before[name]) is list}
        try:
            return function(*args, **kwargs)
        except BaseException:
            self.__dict__.update({name: before[name] for name in (*self._defaults, *_FORWARD_ATTRIBUTES, "_codes")})
            for name, length in lengths.items():
                del before[name][length:]
            raise
