"""The states of metrics as plain tensors: what must agree, and how they are joined, packed, checked and gathered.

``torchmetrics.MetricCollection`` merges two metrics into one compute group if all their states are equal after the
first batch. From then on both report the same counts. So the settings are states too. One is a digest, the same in all
processes. The other is a number of this process that tells apart callables with the same name, such as two lambdas.
Both are uint8, because torchmetrics compares by ``allclose``, whose tolerance grows with the value.

The kind of input and, for average none, the number of samples are a state as well. The summed counts of text and of ids
would be the score of neither, and rows can only be joined if all segments have the same number of samples. In this
state 0 means 'nothing yet' and agrees with everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from numbers import Number
from types import MethodType
from typing import TypeAlias, TypeVar, get_args

import numpy as np
import torch
from torch import Tensor, distributed

from ngram_metrics._core.basics.tensors import host_counts
from ngram_metrics._core.scoring.settings_digest import digest
from ngram_metrics._core.text.messages import type_name
from ngram_metrics._core.text.segments import Kind

#: A state. The rows are a list, or one tensor after a sync has joined them.
State: TypeAlias = Tensor | list[Tensor]
AnyState = TypeVar("AnyState", Tensor, list[Tensor], State)
#: A process group; None for the default one.
Group: TypeAlias = "distributed.ProcessGroup | None"
#: The addresses of callables seen in this process, numbered. A new object may reuse the address of a deleted one. That
#: is harmless: only existing metrics are compared, and these keep their callables alive.
_numbers: dict[tuple[int, ...], int] = {}
#: The code of a kind is its index here plus 1.
KINDS: tuple[Kind, ...] = get_args(Kind)
#: The code of one hypothesis per segment. The code of n samples per segment is n + 1 plus this one.
_NO_SAMPLES = 1


def settings_digest(*settings: object) -> Tensor:
    """Return the digest of settings, ``(32,)`` uint8."""
    return byte_tensor(digest(*settings))


def callables_number(*settings: object) -> Tensor:
    """Return a number of this process for the callables among settings, ``(8,)`` uint8."""
    addresses = tuple(address for setting in settings for address in _addresses(setting))
    return byte_tensor(_numbers.setdefault(addresses, len(_numbers)).to_bytes(8, "little"))


def byte_tensor(values: bytes) -> Tensor:
    """Return bytes as uint8 on the CPU."""
    return torch.from_numpy(np.frombuffer(values, np.uint8).copy())  # a copy, because the buffer is read-only


def all_equal(gathered: Tensor) -> Tensor:
    """Return the common digest ``(bytes,)`` of all ranks ``(ranks, bytes)``, or raise ValueError if they differ."""
    if not bool((gathered == gathered[0]).all()):
        raise ValueError(
            "the ranks have metrics with different settings: expected the same class, options, average and confidence"
        )
    return gathered[0]


def _addresses(value: object) -> Iterator[int]:
    if value is None or isinstance(value, (str, Number)):
        return
    if is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _addresses(getattr(value, field.name))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _addresses(item)
    elif isinstance(value, MethodType):  # each access to a method creates another object
        yield from (id(value.__self__), id(value.__func__))
    else:
        yield id(value)


def batch_codes(kind: Kind | None, samples: int | None) -> tuple[int, int]:
    """Return the codes of a batch. The kind is None without segments, and ``samples`` without that dimension."""
    kind_code = 0 if kind is None else KINDS.index(kind) + 1
    if samples is None:
        return kind_code, 0 if kind is None else _NO_SAMPLES
    return kind_code, samples + _NO_SAMPLES + 1


def join_batch_codes(before: tuple[int, ...], codes: tuple[int, ...]) -> tuple[int, ...]:
    """Join the codes of a batch to the codes of earlier batches, or raise ValueError as ``join_codes`` does."""
    # Equal codes and the first batch, the usual cases, need no tensor operation.
    if codes == before or not any(before):
        return codes
    if not any(codes):
        return before
    return tuple(join_codes(host_counts([before, codes])).tolist())


def join_codes(gathered: Tensor) -> Tensor:
    """Join the codes ``(codes, 2)`` int64 of batches, metrics or ranks to ``(2,)``, or raise ValueError."""
    kinds, samples = (sorted(set(codes) - {0}) for codes in gathered.T.tolist())
    if len(kinds) > 1:
        raise ValueError(
            f"one metric was given {' and '.join(KINDS[code - 1] for code in kinds)}: expected one of them from reset "
            "to compute, on all processes"
        )
    if len(samples) > 1:
        raise ValueError(
            f"batches of {' and of '.join(map(_name_samples, samples))} hypotheses per segment: average 'none' expects "
            "the same number in all batches"
        )
    return gathered.amax(0)


def kind_name(counts: Tensor) -> str:
    """Return the kind for a signature, ``?`` before any data."""
    code = counts.tolist()[0]
    return KINDS[code - 1] if code else "?"


def sample_number(counts: Tensor) -> int | None:
    """Return how many samples a segment has, or None for one hypothesis without a dimension of samples."""
    code = counts.tolist()[1]
    return code - _NO_SAMPLES - 1 if code > _NO_SAMPLES else None


def _name_samples(code: int) -> str:
    samples = code - _NO_SAMPLES - 1
    if samples == 1:
        return "1 (in three dimensions)"
    return "1" if samples < 0 else str(samples)


def join_states(name: str, states: Sequence[Tensor]) -> Tensor:
    """Return the state for several metrics or ranks together, or raise ValueError for different kinds of input."""
    if name == "rows":
        return torch.cat([*states])
    stacked = torch.stack([*states])
    if name == "kind_codes":
        return join_codes(stacked)
    return stacked.amax(0) if name == "reference_range" else stacked.sum(0)


def pack_states(states: Mapping[str, Tensor], device: torch.device) -> Tensor:
    """Return states as bytes, ``(bytes,)`` uint8 on a device, in their order: settings first, rows last."""
    return torch.cat([state.to(device).reshape(-1).view(torch.uint8) for state in states.values()])


def unpack_states(packed: Tensor, defaults: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Unpack states by the names, dtypes and shapes of their defaults. The rows are all remaining bytes."""
    states = {}
    start = 0
    for name, default in defaults.items():
        stop = start + default.nbytes if name != "rows" else len(packed)
        # A copy, because a view of a wider dtype must begin at a multiple of its width.
        values = packed[start:stop].clone().view(default.dtype)
        states[name] = values.reshape(-1, *default.shape[1:]) if default.dim() else values[0]
        start = stop
    return states


def check_states(saved: Mapping[str, State], defaults: Mapping[str, Tensor]) -> None:
    """Raise ValueError if states differ from the defaults in names, dtypes or shapes. The number of rows may differ."""
    if set(saved) != set(defaults):
        raise ValueError(f"the saved states are {sorted(saved)}: expected {sorted(defaults)}")
    for name, value in saved.items():
        default = defaults[name]
        for tensor in value if name == "rows" and isinstance(value, list) else [value]:
            if not isinstance(tensor, Tensor):
                raise ValueError(f"the saved state {name} is {type_name(tensor)}: expected a tensor")
            free = 1 if name == "rows" else 0
            if tensor.dtype != default.dtype or tensor.shape[free:] != default.shape[free:]:
                raise ValueError(
                    f"the saved state {name} is {tensor.dtype} of shape {tuple(tensor.shape)}: "
                    f"expected {default.dtype} of shape {tuple(default.shape)}"
                )


def move_state(state: AnyState, device: torch.device) -> AnyState:
    """Return a state, a tensor or a list of tensors, on a device."""
    return state.to(device) if isinstance(state, Tensor) else [rows.to(device) for rows in state]


def list_rows(rows: State) -> list[Tensor]:
    """Return rows as a new list, even if a sync has joined them."""
    return [rows] if isinstance(rows, Tensor) else list(rows)


def gather_ranks(tensor: Tensor, group: Group = None) -> Tensor:
    """Gather tensors of equal shapes from all ranks, and join them along the first dimension, in one collective."""
    backend = distributed.get_backend(group)
    sent = tensor
    if backend == "nccl" and not tensor.is_cuda:
        sent = tensor.cuda()
    elif backend in ("gloo", "mpi"):
        sent = tensor.cpu()
    gathered = [torch.empty_like(sent) for _ in range(distributed.get_world_size(group))]
    distributed.all_gather(gathered, sent, group)
    return torch.cat(gathered).to(tensor.device)


def gather_packed(
    pack: Callable[[], Tensor], gather: Callable[[Tensor], list[Tensor]], device: torch.device
) -> list[Tensor]:
    """Return the bytes that each rank packs, each ``(bytes,)`` uint8 on a device. Every rank must call this.

    If packing fails on a rank, that rank raises its error after all have gathered. The others raise RuntimeError.
    """
    failure = None
    try:
        packed = pack()
    except Exception as error:
        # This rank still takes part, or the others would wait for ever: it sends the message of its error.
        failure = error
        packed = byte_tensor(f"{type(error).__name__}: {error}".encode(errors="replace")).to(device)
    # The last byte says whether the bytes before it are an error message.
    buffers = gather(torch.cat((packed, packed.new_full((1,), failure is not None))))
    if failure:
        raise failure
    for rank, has_failed in enumerate(torch.stack([buffer[-1] for buffer in buffers]).tolist()):
        if has_failed:
            words = bytes(buffers[rank][:-1].tolist()).decode()
            raise RuntimeError(f"rank {rank} cannot read its states: {words}")
    return [buffer[:-1] for buffer in buffers]


def gather_buffers(
    buffer: Tensor, group: Group = None, gather: Callable[[Tensor, Group], Tensor] = gather_ranks
) -> list[Tensor]:
    """Gather one-dimensional tensors of any lengths from all ranks, in two collectives."""
    sizes: list[int] = gather(torch.tensor([len(buffer)], device=buffer.device), group).tolist()
    padded = torch.nn.functional.pad(buffer, (0, max(sizes) - len(buffer)))
    rows = gather(padded, group).reshape(len(sizes), -1)
    return [row[:size] for row, size in zip(rows, sizes, strict=True)]
