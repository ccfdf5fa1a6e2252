"""What the metrics change in ``torchmetrics.Metric``: each override says what torchmetrics does instead.

States are checked before anything changes, so that an error leaves them as they were.
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
from ngram_metrics._core.counting.documents import float_dtype
from ngram_metrics._core.scoring.scorer import Scorer, Value
from ngram_metrics._core.scoring.settings_digest import VERSION, describe, name_differences
from ngram_metrics._core.text.input_types import Hypotheses, References
from ngram_metrics._core.text.messages import warn_of_no_segment, warn_user
from ngram_metrics._torchmetrics.states import (
    SAVED_BY,
    State,
    all_equal,
    callables_number,
    check_checksum,
    check_states,
    copy_state,
    gather_buffers,
    gather_packed,
    join_shares,
    join_states,
    list_rows,
    move_state,
    pack_states,
    read_entry,
    read_rows,
    settings_digest,
    unpack_states,
    write_entry,
    write_rows,
)

#: Gathers the bytes of all ranks in a group, which is a keyword.
Gather: TypeAlias = Callable[..., list[Tensor]]
Returned = TypeVar("Returned")
#: Attributes that torchmetrics' ``Metric._forward_reduce_state_update`` changes, and restores only if nothing raises.
_SWITCHES = (
    *("_update_count", "_computed", "_forward_cache", "_to_sync", "_should_unsync", "_enable_grad", "_is_synced"),
    *("_cache", "compute_on_cpu"),
)
_OF_SETTINGS = ("settings", "callables")  # states that describe the metric and not the data
#: The states, and the attributes that torchmetrics sets in the constructor and in each update, computation and reset.
_OFTEN_SET = {
    *("settings", "callables", "counted", "segments", "reference_range", "row", "score_sum", "rows", *_SWITCHES),
    *("_device", "update", "compute", "scorer", "confidence", "_keeps_rows", "dist_sync_on_step", "process_group"),
    *("dist_sync_fn", "distributed_available_fn", "sync_on_compute", "compute_with_cache"),
}


class Adaptor(torchmetrics.Metric):
    """A torchmetrics module with the states that ``_torchmetrics.accumulator.Accumulator`` lists."""

    scorer: Scorer
    confidence: float | None
    _keeps_rows: bool

    if TYPE_CHECKING:  # torch.jit.script cannot read these
        settings: Tensor
        callables: Tensor
        counted: Tensor
        segments: Tensor
        reference_range: Tensor
        row: Tensor
        score_sum: Tensor
        rows: State
        #: The values of ``counted``, which a compiled update must not read from a tensor.
        _codes: tuple[int, ...]

    def __setattr__(self, name: str, value: object) -> None:
        """Set what is set often directly: ``torch.nn.Module`` would first ask whether it is a parameter."""
        if name in _OFTEN_SET:
            self.__dict__[name] = value
            if name == "counted" and isinstance(value, Tensor):
                self.__dict__["_codes"] = tuple(value.tolist())
        else:
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Tensor | torch.nn.Module:
        """Point users of ignite's methods to ``ngram_metrics.ignite``."""
        if name == "attach":
            kind = type(self).__name__
            raise AttributeError(f"{kind} is for torchmetrics: for ignite, import {kind} from ngram_metrics.ignite")
        return super().__getattr__(name)

    def _add_tensor(self, name: str, default: Tensor, reduction: str | Callable[[Tensor], Tensor]) -> None:
        """Add a state. torchmetrics copies each default deeply, which for six takes a third of the constructor."""
        self.add_state(name, [], reduction)
        self._defaults[name] = default
        setattr(self, name, default.clone())

    def persistent(self, mode: bool = False) -> None:
        """Choose whether states go into ``state_dict``, except ``callables``, which are valid in this process only."""
        super().persistent(mode)
        # Metric.persistent sets the same mode for all states. ``state_dict`` adds the rows as bytes.
        self._persistent.update(callables=False, rows=False)

    def reset(self) -> None:
        """Forget all batches."""
        # Metric.reset empties the list of rows, which a Running wrapper still uses, and fails if a sync has joined it.
        attributes = self.__dict__
        copy = torch.clone if torch.compiler.is_compiling() else copy_state
        for name, default in self._defaults.items():
            if name not in _OF_SETTINGS:
                attributes[name] = copy(default) if isinstance(default, Tensor) else []
        unset = dict.fromkeys(("_computed", "_forward_cache", "_cache"))
        attributes.update(unset, _update_count=0, _is_synced=False, _codes=(0, 0))

    @torch.jit.unused
    @named_arguments
    def forward(self, preds: Hypotheses, target: References) -> Value:
        """Count a batch and return the score of this batch. If it raises, the states do not change."""
        # Metric.forward resets the states before it counts: an error would lose all batches before.
        return self._call_or_undo(super().forward, preds, target)

    def _wrap_update(self, update: Callable[..., None]) -> Callable[..., None]:
        """Undo what a failed update has set, in the states and in torchmetrics' attributes."""
        # Metric._wrap_update counts an update and drops the computed value before an error can occur.
        count_updates = super()._wrap_update(update)

        @functools.wraps(update)
        def update_or_undo(*args: object, **kwargs: object) -> None:
            if torch.compiler.is_compiling():
                # A graph holds for one number of updates: torchmetrics' count of them would compile each step anew.
                self._update_count = max(1, self._update_count)
                self._computed = None
                update(*args, **kwargs)
                return
            self._call_or_undo(count_updates, *args, **kwargs)

        return update_or_undo

    def _wrap_compute(self, compute: Callable[..., Value]) -> Callable[..., Value]:
        """Warn of missing data, synchronize, and restore the states after an error."""
        # Metric._wrap_compute turns the score of a single segment, (1,), into a number, and copies each value, which
        # takes as long as the score. Here no value is a state.

        def compute_or_warn(*args: object, **kwargs: object) -> Value:
            if self.update_called and not self.counted.tolist()[0]:
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
                return cast(Value, self._computed)
            value = self.call_synced(lambda: compute_or_warn(*args, **kwargs), self._to_sync)
            if self.compute_with_cache:
                self._computed = value  # type: ignore[assignment]  # torchmetrics declares None
            return value

        return compute_or_reuse

    def saved_states(self) -> dict[str, Tensor]:
        """Return the states that ``load_states`` takes, the rows as one tensor."""
        return {name: self._all_rows() if name == "rows" else getattr(self, name) for name in self.saved_defaults()}

    def saved_defaults(self) -> dict[str, Tensor]:
        """Return what ``saved_states`` returns after a reset: names, dtypes and shapes."""
        defaults: dict[str, Any] = {name: state for name, state in self._defaults.items() if name != "callables"}
        if self._keeps_rows:
            defaults["rows"] = self.row.new_empty(0, len(self.row))
        return defaults

    def own_share(self, shares: Sequence[Mapping[str, Tensor]]) -> Mapping[str, Tensor] | None:
        """Return what this rank takes of the ``saved_states`` of all ranks, or None if it begins empty.

        With as many processes as have saved, a rank takes its own share. Otherwise rank 0 takes the sum of all shares
        and the others begin empty; but if a metric that does not synchronize has counted the same on every rank, each
        rank takes that. Every rank raises ValueError for shares of different kinds of input, and if the metric's group
        is only a part of the ranks and the number of processes has changed, because the saved groups are not known.
        """
        rank, processes = world_rank()
        synchronizes = self.sync_on_compute and (processes == 1 or self._is_in_group())
        first, *others = shares
        if len(shares) == processes:
            share = shares[rank]
        elif synchronizes and processes > 1 and distributed.get_world_size(self.process_group) != processes:
            raise ValueError(
                f"these states of {type(self).__name__}, whose process_group has not all ranks, are those of "
                f"{len(shares)} processes, and here are {processes}: expected as many"
            )
        elif not synchronizes and all(torch.equal(other[name], first[name]) for other in others for name in first):
            share = first
        else:
            joined = join_shares(shares)
            share = joined if rank == 0 else {}
        return share if share and int(share["segments"]) else None

    def describe_settings(self) -> dict[str, str]:
        """Return everything that the digest of settings holds, in words."""
        settings = {"class": repr(type(self).__name__), "average": repr(self.scorer.average)}
        settings["kept counts"] = "of each segment" if self._keeps_rows else "sums"
        return {**settings, **describe(self.scorer.reader), **describe(self.scorer.measure)}

    def state_dict(  # type: ignore[override]  # the signature of torchmetrics.Metric
        self, destination: dict[str, Any] | None = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """Return the persistent states, as torchmetrics does, but rows as bytes, and ``saved_by``."""
        # Before torch.distributed.checkpoint loads, it asks for a tensor of the same shape and a list of the same
        # length, which a metric without data does not have.
        saved = super().state_dict(destination, prefix, keep_vars)
        if self._persistent["settings"]:
            if self._keeps_rows:
                saved[prefix + "rows"] = write_rows(self._all_rows())
            saved[prefix + SAVED_BY] = self.saved_by
        return saved

    @property
    def saved_by(self) -> Tensor:
        """The entry of ``state_dict`` that says whose states it holds, with their checksum, ``(bytes,)`` uint8."""
        # torch.distributed.checkpoint reads each key of a state dict as an attribute.
        rank, processes = (0, 1) if self._is_synced else self._rank_of_processes()
        return write_entry(rank, processes, self.describe_settings(), self.saved_states())

    def load_states(self, saved: Mapping[str, State]) -> None:
        """Set all states, or raise ValueError before any is set for other settings, names, dtypes or shapes."""
        self._check_settings(saved.get("settings", self.settings))
        check_states(saved, self.saved_defaults())
        for name, value in saved.items():
            # A sync joins the rows into one tensor; here they are a list again, which updates append to.
            setattr(self, name, move_state(list_rows(value) if name == "rows" else value, self._device_of(name)))
        # As Metric._wrap_update does: otherwise compute would warn of missing data, or return its cached value.
        self._update_count = max(1, self._update_count)
        self._computed = None
        # As Metric.reset does: otherwise unsync would bring back what was counted before.
        self._is_synced, self._cache = False, None

    def _all_rows(self) -> Tensor:
        """Return all rows as one tensor ``(segments, fields)``, even if there are none or a sync has joined them."""
        if isinstance(self.rows, Tensor):
            return self.rows
        return torch.cat(self.rows) if self.rows else self.row.new_zeros(0, len(self.row))

    def _device_of(self, name: str) -> torch.device:
        if name != "rows":
            return cast(torch.device, getattr(self, name).device)
        return torch.device("cpu") if self.compute_on_cpu else self.row.device

    def _is_in_group(self) -> bool:
        """Return whether the metric synchronizes in a process group that is running."""
        return distributed.is_available() and distributed.is_initialized() and bool(self.distributed_available_fn())

    def _rank_of_processes(self) -> tuple[int, int]:
        """Return what ``world_rank`` does, or ``(0, 1)`` for a metric that never synchronizes."""
        # Not the rank in the metric's own group: two groups have a rank 0 each, with other counts.
        return world_rank() if self._is_in_group() else (0, 1)

    def _takes(self, rank: int, processes: int) -> bool:
        """Return whether this process takes the states of a rank, and warn if those of other ranks are missing."""
        here = self._rank_of_processes()
        if not self.sync_on_compute or (rank, processes) == here:
            return True
        if processes == 1:  # or what a group has counted together
            return distributed.get_rank(self.process_group) == 0
        is_alone = not self._is_in_group()
        where = "this is a single process" if is_alone else f"this is rank {here[0]} of {here[1]}"
        done = "counts of the other ranks are missing" if is_alone else "the states are not taken, and it begins empty"
        warn_user(
            f"these states of {type(self).__name__} are the share of rank {rank} of {processes}, and {where}: {done}. "
            "Save and load ngram_metrics.distributed.AllRanks(metrics), which has the shares of all ranks"
        )
        return is_alone

    def _check_settings(self, settings: object, described: Mapping[str, str] | None = None) -> None:
        if isinstance(settings, Tensor) and (settings.shape != self.settings.shape or settings[0].item() != VERSION):
            raise ValueError(
                "these states were saved by a version of ngram_metrics with another layout of states: load them with "
                "that version, or count again"
            )
        if not isinstance(settings, Tensor) or not torch.equal(settings.to(self.settings.device), self.settings):
            advice = "; the states do not name theirs: give this metric the options of the one that counted them"
            if described is not None:
                advice = name_differences(described, self.describe_settings())
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
        # Metric._load_from_state_dict sets all states that it finds, of any shape and with any settings.
        saved = {name: state_dict[prefix + name] for name in self._defaults if prefix + name in state_dict}
        entry = state_dict.pop(prefix + SAVED_BY, None)
        if saved:
            try:
                saved_by = read_entry(entry)
                self._check_settings(saved.get("settings", self.settings), saved_by["settings"])
                if "rows" in saved:
                    saved["rows"] = read_rows(saved["rows"], self.row)
                check_states(saved, self.saved_defaults())
                check_checksum(saved, saved_by["checksum"])
            except ValueError as error:
                error_msgs.append(str(error))
                return
            has_share = cast(Tensor, saved["counted"]).tolist()[0]  # 0 before any segment
            if has_share and not self._takes(saved_by["rank"], saved_by["processes"]):
                self.reset()
            else:
                self.load_states(saved)
            for name in saved:
                state_dict[prefix + name] = getattr(self, name)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )

    def _apply(self, fn: Callable[[Tensor], Tensor], exclude_state: Sequence[str] = "") -> torch.nn.Module:
        """Apply moves to a device, and ignore casts to another dtype."""
        # Metric._apply lets .to(torch.bfloat16), which Lightning's precision="bf16-true" calls, round the float sums.

        def move(tensor: Tensor) -> Tensor:
            device = fn(torch.empty(0, device=tensor.device)).device
            if tensor.dtype == torch.float64 and float_dtype(device) != torch.float64:
                return tensor.to("cpu")
            return tensor.to(device)

        self._computed = None  # Metric._apply would move it with the old device's precision
        # Each update reads ``counted``; on an accelerator each read would wait for the device.
        stays = ("counted", "rows") if self.compute_on_cpu else ("counted",)
        return super()._apply(move, (*exclude_state, *stays))

    def __setstate__(self, state: dict[str, object]) -> None:
        """Restore a copied or pickled metric."""
        # Metric.__setstate__ keeps the saved number, which may belong to different callables in this process.
        super().__setstate__(state)
        callables = callables_number(self.scorer.reader, self.scorer.measure).to(self.callables.device)
        self._defaults["callables"] = callables
        self.callables = callables.clone()

    def call_synced(self, function: Callable[[], Returned], should_sync: bool | None = None) -> Returned:
        """Call a function while the states are those of all processes, by default where ``compute`` would join them."""
        # Metric.sync_context does not reach its unsync after an error: this process would keep the states of all.
        was_synced = self._is_synced
        joins = self.sync_on_compute and not was_synced if should_sync is None else should_sync
        self.sync(dist_sync_fn=self.dist_sync_fn, should_sync=joins)
        try:
            return function()
        finally:
            if self._is_synced and not was_synced and self._should_unsync:
                self.unsync()

    def merge_state(self, incoming_state: dict[str, State] | torchmetrics.Metric) -> None:
        """Add another metric's states to this metric's, with its segments after this metric's.

        Args:
            incoming_state: a metric of the same class with the same settings, or its ``metric_state``, on any device.

        Raises:
            ValueError: another class, other settings, another kind of input, or missing states; this metric does not
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
        # Metric.merge_state counts no update, so compute would warn, and it keeps the value computed before.
        self._update_count += incoming_state.update_count if isinstance(incoming_state, torchmetrics.Metric) else 1
        self._computed = None

    def _reduce_states(self, incoming_state: dict[str, State]) -> None:
        """Add another metric's states in front of this metric's."""
        # Metric._reduce_states raises for tensors on two devices, and for a list of rows with synced (joined) rows.
        missing = [name for name in self._defaults if name not in incoming_state]
        if missing:
            raise ValueError(f"the incoming state lacks {missing}: expected the states {list(self._defaults)}")
        for name in self._defaults:
            if name not in _OF_SETTINGS:
                incoming = move_state(incoming_state[name], self._device_of(name))
                both = [*list_rows(incoming), *list_rows(getattr(self, name))]
                setattr(self, name, both if name == "rows" else join_states(name, both))

    def _sync_dist(self, dist_sync_fn: Gather = gather_all_tensors, process_group: object = None) -> None:
        """Add up the states of all ranks: gather them as one tensor of bytes, and join them."""
        # Metric._sync_dist gathers state by state: 13 gathers and 7 barriers, and ranks with different averages, which
        # have different states, would wait for each other.
        gather = gather_buffers if dist_sync_fn is gather_all_tensors else dist_sync_fn
        for name, state in join_shares(self.gather_shares(gather, process_group or self.process_group)).items():
            setattr(self, name, state.to(self._device_of(name)))

    def gather_shares(self, gather: Gather, group: object = None) -> list[dict[str, Tensor]]:
        """Return the ``saved_states`` of every rank, when every rank has called this.

        All ranks raise ValueError for different settings, after the states were gathered, and RuntimeError if another
        rank could not read its states.
        """
        # The confidence level does not affect the counts: metrics that differ only in it share counts in a collection.
        level = settings_digest(self.confidence).to(self.row.device)
        compared = len(level) + len(self.settings)
        buffers = gather_packed(
            lambda: torch.cat((level, pack_states(self.saved_states(), self.row.device))),
            functools.partial(gather, group=group),
            self.row.device,
        )
        all_equal(torch.stack([buffer[:compared] for buffer in buffers]))
        return [unpack_states(buffer[len(level) :], self.saved_defaults()) for buffer in buffers]

    def _call_or_undo(self, function: Callable[..., Returned], *args: object, **kwargs: object) -> Returned:
        """Call a function, and restore the states and what torchmetrics changes with them if it raises."""
        before = {**self.__dict__}
        # Lists grow in place. They are cut back and not copied: a copy would take longer with every batch.
        lengths = {name: len(before[name]) for name in self._defaults if type(before[name]) is list}
        try:
            return function(*args, **kwargs)
        except BaseException:
            self.__dict__.update({name: before[name] for name in (*self._defaults, *_SWITCHES, "_codes")})
            for name, length in lengths.items():
                del before[name][length:]
            raise


def world_rank() -> tuple[int, int]:
    """Return the rank of this process in the default group and the number of processes, alone ``(0, 1)``."""
    if not distributed.is_available() or not distributed.is_initialized():
        return 0, 1
    return distributed.get_rank(), distributed.get_world_size()
