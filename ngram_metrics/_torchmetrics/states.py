"""The states of torchmetrics: each is a property over one field of ``Counts``.

Reading a state shares the memory of the field: ``torch.from_numpy`` of an array, or the tensor itself. So an
``all_reduce`` into ``metric.row`` changes the counts. Setting a state replaces the field. The state ``kind`` holds the
kind and the samples as integers; it is made on reading, so writing into it changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from torch import Tensor

from ngram_metrics._core.basics.tensors import call_outside_graphs, host_counts, must_leave_graph, to_array, to_tensor
from ngram_metrics._core.scoring.counts import Counts, decode
from ngram_metrics._core.text.messages import type_name

#: A state. The rows are a list, or one tensor after a sync of torchmetrics.
State: TypeAlias = Tensor | list[Tensor]
#: The states that are fields of ``Counts``, with what torchmetrics calls their reduction.
REDUCTIONS = {
    "kind": "max",
    "segments": "sum",
    "reference_range": "max",
    "row": "sum",
    "score_sum": "sum",
    "rows": "cat",
}
#: The state that tells apart metrics with other settings.
SETTINGS = "settings"
#: All states of this package. A user's subclass may add others.
STATES = frozenset((SETTINGS, *REDUCTIONS))


def to_state(name: str, counts: Counts) -> State | None:
    """Return a field of counts as a state; None for a field that is not used."""
    if name == "kind":
        return host_counts(counts.codes)
    field = getattr(counts, name)
    if field is None:
        return None
    return [to_tensor(part) for part in field] if name == "rows" else to_tensor(field)


def replace_field(counts: Counts, name: str, state: Any) -> Counts:
    """Return counts in which the field of a state is replaced by its value."""
    if name == "kind":
        kind, samples = decode(state)
        return counts._replace(kind=kind, samples=samples)
    if name == "rows":
        parts = [state] if isinstance(state, Tensor) else state
        return counts._replace(rows=tuple(to_array(part) for part in parts))
    return counts._replace(**{name: to_array(state)})


def state_property(name: str) -> Any:
    """Return the property of a state. A compiled ``MetricCollection`` reads and replaces states too."""

    def read_here(self: Any) -> State | None:
        return to_state(name, self._counts)

    def replace_here(self: Any, state: State) -> None:
        self.__dict__["_counts"] = replace_field(self._counts, name, state)

    def read(self: Any) -> State | None:
        return call_outside_graphs(read_here, self) if must_leave_graph(self.device) else read_here(self)

    def replace(self: Any, state: State) -> None:
        if must_leave_graph(self.device):
            call_outside_graphs(replace_here, self, state)
        else:
            replace_here(self, state)

    return property(read, replace)


def read_states(states: Mapping[str, Any], empty: Counts) -> Counts:
    """Return states as counts of the same form as ``empty``, which share their memory.

    Raises:
        ValueError: a state is missing, is not a tensor, or has another dtype or shape. Any number of rows is valid.
    """
    names = [name for name in REDUCTIONS if to_state(name, empty) is not None]
    refuse_missing(states, names)
    counts = empty
    for name in names:
        if name == "rows":
            parts = states[name] if isinstance(states[name], list) else [states[name]]
            for part in parts:
                check_form(name, part, to_tensor(empty.row)[None], free_dimensions=1)
        else:
            check_form(name, states[name], to_state(name, empty))
        counts = replace_field(counts, name, states[name])
    return counts


def refuse_missing(states: Mapping[str, Any], names: Iterable[str]) -> None:
    """Raise ValueError if states lack some of the names."""
    if missing := [name for name in names if name not in states]:
        raise ValueError(f"the states lack {missing}: expected the states {[*names]}")


def check_form(name: str, state: Any, expected: Any, free_dimensions: int = 0) -> None:
    """Raise ValueError unless a state is a tensor with the dtype and, after the free dimensions, the expected shape."""
    if not isinstance(state, Tensor):
        raise ValueError(f"the saved state {name} is {type_name(state)}: expected a tensor")
    if state.dtype != expected.dtype or state.shape[free_dimensions:] != expected.shape[free_dimensions:]:
        raise ValueError(
            f"the saved state {name} is {state.dtype} of shape {tuple(state.shape)}: "
            f"expected {expected.dtype} of shape {tuple(expected.shape)}"
        )
