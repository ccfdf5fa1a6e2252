"""How states are moved, copied, saved and loaded, and how they are restored after an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar, TypeAlias, TypeVar, cast

import torch
import torchmetrics
from torch import Tensor

from ngram_metrics.scores.measure import AnyMeasure, score_dtype
from ngram_metrics.scores.options import Average
from ngram_metrics.text.reader import Reader
from ngram_metrics.torchmetrics.settings import LAYOUT, callables_number

#: A state. The rows are a list, or one tensor after a sync has joined them.
State: TypeAlias = Tensor | list[Tensor]
AnyState = TypeVar("AnyState", Tensor, list[Tensor], State)


class Saving(torchmetrics.Metric):
    """The states of an :class:`~ngram_metrics.torchmetrics.accumulator.Accumulator`, whose docstring lists them."""

    #: States that describe the metric and not the data.
    _DESCRIPTIVE: ClassVar[tuple[str, ...]] = ("settings", "callables")

    reader: Reader
    measure: AnyMeasure
    average: Average
    confidence: float | None
    _keeps_rows: bool

    if TYPE_CHECKING:  # torch.jit.script cannot read these
        settings: Tensor
        callables: Tensor
        counted: Tensor
        sentences: Tensor
        reference_range: Tensor
        row: Tensor
        score_sum: Tensor
        rows: State

    def persistent(self, mode: bool = False) -> None:
        """Choose whether states go into ``state_dict``; ``callables``, valid in this process only, never does."""
        super().persistent(mode)
        # Metric.persistent sets the same mode for all states.
        self._persistent["callables"] = False

    def reset(self) -> None:
        """Forget all batches."""
        if self._keeps_rows:
            # A new list: torchmetrics would empty the old one, which a Running wrapper uses, or find a synced tensor.
            self.rows = []
        super().reset()

    def saved_states(self) -> dict[str, Tensor]:
        """Return the states that :meth:`load_states` takes, the rows as one tensor."""
        names = [name for name in self._defaults if name != "callables"]
        return {name: self._all_rows() if name == "rows" else getattr(self, name) for name in names}

    def load_states(self, saved: Mapping[str, State]) -> None:
        """Set all states.

        Raises:
            ValueError: other settings, dtypes or shapes, or missing states; no state is then set.
        """
        problem = self._why_not_loadable(saved)
        if problem is not None:
            raise ValueError(problem)
        for name, value in saved.items():
            # A sync joins the rows into one tensor; here they are a list again, which updates append to.
            setattr(self, name, moved(as_list(value) if name == "rows" else value, self._place(name)))
        # As Metric._wrap_update does: else compute would warn of missing data, or return its cached value.
        self._update_count = max(1, self._update_count)
        self._computed = None

    def _all_rows(self) -> Tensor:
        """Return all rows as one tensor ``(sentences, fields)``, even if there are none or a sync has joined them."""
        if isinstance(self.rows, Tensor):
            return self.rows
        return torch.cat(self.rows) if self.rows else self.row.new_zeros(0, len(self.row))

    def _place(self, name: str) -> torch.device:
        """Return the device of a state."""
        if name != "rows":
            return cast(torch.device, getattr(self, name).device)
        return torch.device("cpu") if self.compute_on_cpu else self.row.device

    def _check_settings(self, settings: object) -> None:
        if isinstance(settings, Tensor) and (settings.shape != self.settings.shape or settings[0].item() != LAYOUT):
            raise ValueError(
                "these states were saved by a version of ngram_metrics with another layout of states: load them with "
                "that version, or count again"
            )
        if not isinstance(settings, Tensor) or not torch.equal(settings.to(self.settings.device), self.settings):
            raise ValueError(
                f"these states were counted by a metric with other settings than this {type(self).__name__}: "
                "expected the same class, options and average"
            )

    def _why_not_loadable(self, saved: Mapping[str, State]) -> str | None:
        expected = [name for name in self._defaults if name != "callables"]
        try:
            self._check_settings(saved.get("settings", self.settings))
        except ValueError as error:
            return str(error)
        if set(saved) != set(expected):
            return f"the saved states are {sorted(saved)}: expected {sorted(expected)}"
        for name, value in saved.items():
            default = self.row.unsqueeze(0) if name == "rows" else cast(Tensor, self._defaults[name])
            for tensor in value if name == "rows" and isinstance(value, list) else [value]:
                if not isinstance(tensor, Tensor):
                    return f"the saved state {name} is a {type(tensor).__name__}: expected a tensor"
                free = 1 if name == "rows" else 0  # there may be any number of rows
                if tensor.dtype != default.dtype or tensor.shape[free:] != default.shape[free:]:
                    return (
                        f"the saved state {name} is {tensor.dtype} of shape {tuple(tensor.shape)}: "
                        f"expected {default.dtype} of shape {tuple(default.shape)}"
                    )
        return None

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
        if saved:
            try:
                self.load_states(saved)
            except ValueError as error:
                error_msgs.append(str(error))
                return
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
            if tensor.dtype == torch.float64 and score_dtype(device) != torch.float64:
                return tensor.to("cpu")
            return tensor.to(device)

        self._computed = None  # Metric._apply would move it with the old device's precision
        # Each update reads ``counted``; on an accelerator each read would wait for the device.
        return super()._apply(move, (*exclude_state, "counted"))

    def __setstate__(self, state: dict[str, object]) -> None:
        """Restore a copied or pickled metric; its callables may have another number in this process."""
        # Metric.__setstate__ keeps the saved number, which may belong to different callables in this process.
        super().__setstate__(state)
        number = callables_number(self.reader, self.measure)
        self._defaults["callables"] = number.to(self.callables.device)
        self.callables = number.to(self.callables.device)

    @contextmanager
    def _undone_on_error(self, *switches: str) -> Iterator[None]:
        """Restore all states and the named attributes if the body of the ``with`` statement raises."""
        before = {name: getattr(self, name) for name in (*self._defaults, *switches)}
        # Lists grow in place. They are cut back and not copied: a copy would take longer with every batch.
        lengths = {name: len(state) for name, state in before.items() if isinstance(state, list)}
        try:
            yield
        except BaseException:
            for name, value in before.items():
                setattr(self, name, value)
            for name, length in lengths.items():
                del before[name][length:]
            raise


def moved(state: AnyState, device: torch.device) -> AnyState:
    """Return a state, a tensor or a list of tensors, on a device."""
    return state.to(device) if isinstance(state, Tensor) else [rows.to(device) for rows in state]


def as_list(rows: State) -> list[Tensor]:
    """Return rows as a new list, also if a sync has joined them."""
    return [rows] if isinstance(rows, Tensor) else list(rows)
