"""Tensors and devices: the dtypes that a device has, and copies that wait as little as possible."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from ngram_metrics._core.basics.arrays import Array, counts_in_torch

Returned = TypeVar("Returned")


def float_dtype(device: torch.device) -> torch.dtype:
    """Return float64, or float32 if the device has no float64."""
    return torch.float32 if device.type == "mps" else torch.float64


def host_counts(counts: int | Sequence[int] | Sequence[Sequence[int]]) -> Tensor:
    """Return integers as an int64 tensor on the CPU, whatever the default device."""
    return torch.from_numpy(np.array(counts, np.int64))


def to_tensor(array: Array) -> Tensor:
    """Return an array as a tensor that shares its memory, or a tensor unchanged."""
    return array if isinstance(array, Tensor) else torch.from_numpy(np.asarray(array))


def to_array(tensor: Tensor) -> Array:
    """Return a tensor as an array that shares its memory, or unchanged where torch counts and scores."""
    return tensor if counts_in_torch(tensor) else tensor.numpy()


@torch.compiler.disable
def call_outside_graphs(function: Callable[..., Returned], *args: object, **kwargs: object) -> Returned:
    """Call a function that counts in NumPy, which ``torch.compile`` must not record."""
    return function(*args, **kwargs)


def must_leave_graph(device: torch.device) -> bool:
    """Return whether a graph that is being recorded cannot hold counts on a device.

    Counts on a CPU may be NumPy arrays. Under ``inference_mode``, Lightning's default for validation, a graph with an
    array raises an error: torch.compile records a tensor for it outside that mode, and looks for the same kind of
    tensor inside. While it records, only the gradients show whether this mode is on.
    """
    return torch.compiler.is_compiling() and device.type == "cpu" and not torch.is_grad_enabled()


def move_result(result: Tensor, device: torch.device | str | None) -> Tensor:
    """Return a result on a device, in float32 if the device has no float64. None leaves it where it is."""
    if device is None:
        return result
    where = torch.device(device)
    if result.is_floating_point():
        result = result.to(float_dtype(where))
    return copy_to(where, result)[0] if result.device.type == "cpu" else result.to(where)


def copy_to(device: torch.device, *tensors: Tensor) -> list[Tensor]:
    """Move tensors to another device in one copy. The CPU does not wait for a copy to CUDA.

    The tensors are on one device, and their dtypes have equal sizes.
    """
    source = tensors[0].device
    if source == device:
        return list(tensors)
    sizes = [tensor.numel() for tensor in tensors]
    dtype = tensors[0].dtype
    # Only a copy from pinned memory is asynchronous.
    pinned = source.type == "cpu" and device.type == "cuda"
    joined = torch.empty(sum(sizes), dtype=dtype, device=source, pin_memory=pinned)
    torch.cat([tensor.flatten().view(dtype) for tensor in tensors], out=joined)
    parts = joined.to(device, non_blocking=pinned).split(sizes)
    return [part.view(tensor.dtype).view(tensor.shape) for part, tensor in zip(parts, tensors, strict=True)]


def send_arrays(
    named: Mapping[str, Array], rows: Sequence[Array], device: torch.device, rows_device: torch.device
) -> tuple[dict[str, Array], list[Array]]:
    """Send arrays to a device, and rows to another one, in one copy for each pair of devices.

    What arrives on the CPU becomes a NumPy array, unless torch counts there. If the device has no float64, floats are
    kept on the CPU, in float64.
    """
    tensors = {name: to_tensor(array) for name, array in named.items()}
    tensors |= {f"rows {index}": to_tensor(part) for index, part in enumerate(rows)}
    routes: dict[tuple[torch.device, torch.device, int], list[str]] = {}
    for name, tensor in tensors.items():
        target = device if name in named else rows_device
        if tensor.is_floating_point() and float_dtype(target) != torch.float64:
            target = torch.device("cpu")
        if tensor.device != target:
            routes.setdefault((tensor.device, target, tensor.element_size()), []).append(name)
    for (_, target, _), names in routes.items():
        sent = copy_to(target, *(tensors[name] for name in names))
        tensors.update(zip(names, sent, strict=True))
        for name in names:
            if tensors[name].dtype == torch.float32:  # counted on a device without float64
                tensors[name] = tensors[name].double()
            if name not in named:
                tensors[name] = tensors[name].clone()  # saving a view would save everything that was sent
    arrays = {name: to_array(tensor) for name, tensor in tensors.items()}
    parts = [arrays.pop(f"rows {index}") for index in range(len(rows))]
    return arrays, parts


def count_device(device: torch.device | str | None) -> torch.device | None:
    """Return the device on which torch counts, or None for NumPy on the CPU."""
    where = torch.device("cpu" if device is None else device)
    return None if where.type == "cpu" else where
