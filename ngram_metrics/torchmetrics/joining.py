"""How the states of ranks and of metrics are joined. They are checked first, so that an error changes no state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

import torch
import torchmetrics
from torch import Tensor
from torchmetrics.utilities.distributed import gather_all_tensors

from ngram_metrics.torchmetrics.counted import agreed
from ngram_metrics.torchmetrics.saving import Saving, State, as_list, moved
from ngram_metrics.torchmetrics.settings import settings_digest


class Joining(Saving):
    """Gathers the states of all ranks, and merges metrics."""

    @contextmanager
    def synced(self) -> Iterator[None]:
        """Join the states of all processes for a ``with`` block, if ``compute`` would, and restore them after it."""
        should_sync = self.sync_on_compute and not self._is_synced
        self.sync(dist_sync_fn=self.dist_sync_fn, should_sync=should_sync)
        try:
            yield
        finally:
            if should_sync and self._is_synced:
                self.unsync()

    def merge_state(self, incoming_state: dict[str, State] | torchmetrics.Metric) -> None:
        """Add another metric's states to this metric's; its sentences follow this metric's.

        Args:
            incoming_state: a metric of the same class with the same settings, or its ``metric_state``, on any device.

        Raises:
            ValueError: another class, other settings, another kind of input, or missing states; this metric does not
                change.
        """
        rows = as_list(self.rows) if self._keeps_rows else []
        incoming = incoming_state.metric_state if isinstance(incoming_state, torchmetrics.Metric) else incoming_state
        if isinstance(incoming, dict) and "settings" in incoming:
            self._check_settings(incoming["settings"])
            if set(self._defaults) <= set(incoming):  # else _reduce_states names the missing states
                problem = self._why_not_loadable(
                    {name: incoming[name] for name in self._defaults if name != "callables"}
                )
                if problem is not None:
                    raise ValueError(problem)
        with self._undone_on_error():
            super().merge_state(incoming_state)
            if self._keeps_rows:
                self.rows = rows + moved(as_list(incoming["rows"]), self._place("rows"))
        merged = incoming_state.update_count if isinstance(incoming_state, torchmetrics.Metric) else 1
        # Metric.merge_state counts no update, so compute would warn, and it keeps the value computed before.
        self._update_count += merged
        self._computed = None

    def _reduce_states(self, incoming_state: dict[str, State]) -> None:
        """Add another metric's states in front of this metric's."""
        # Metric._reduce_states raises for tensors on two devices, and for a list of rows with synced (joined) rows.
        missing = [name for name in self._defaults if name not in incoming_state]
        if missing:
            raise ValueError(f"the incoming state lacks {missing}: expected the states {list(self._defaults)}")
        for name in self._defaults:
            if name not in self._DESCRIPTIVE:
                state, incoming = getattr(self, name), moved(incoming_state[name], self._place(name))
                setattr(self, name, _joined(name, incoming, state))

    def _sync_dist(
        self, dist_sync_fn: Callable[..., list[Tensor]] = gather_all_tensors, process_group: object = None
    ) -> None:
        """Gather, with one tensor of rows from every rank."""
        # For a rank without rows Metric._sync_dist sends a one-dimensional float32 tensor, and gloo aborts the process.
        # The settings are gathered first, alone: ranks with different averages have different states, and would wait
        # for each other while they gather them.
        group = process_group or self.process_group
        # The confidence level does not affect the counts: metrics that differ only in it share counts in a collection.
        level = settings_digest(self.confidence).to(self.settings.device)
        all_equal(torch.stack(dist_sync_fn(torch.cat((self.settings, level)), group=group)))
        if self._keeps_rows:
            self.rows = [self._all_rows()]
        here = self.counted
        self.counted = here.to(self.row.device)  # where the other states are gathered
        try:
            super()._sync_dist(dist_sync_fn, process_group)
        except BaseException:
            self.counted = here
            raise
        self.counted = self.counted.cpu()


def all_equal(gathered: Tensor) -> Tensor:
    """Reduce the digests of all ranks ``(ranks, bytes)``, which must be the same."""
    if not bool((gathered == gathered[0]).all()):
        raise ValueError(
            "the ranks have metrics with different settings: expected the same class, options, average and confidence"
        )
    return gathered[0]


def _joined(name: str, incoming: State, state: State) -> State:
    if name == "rows":
        return as_list(incoming) + as_list(state)
    tensors = cast(Tensor, incoming), cast(Tensor, state)
    if name == "counted":
        return agreed(torch.stack(tensors))
    return torch.maximum(*tensors) if name == "reference_range" else torch.add(*tensors)
