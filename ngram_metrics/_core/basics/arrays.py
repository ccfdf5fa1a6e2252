"""Wrappers for what NumPy and torch name or do differently, so that each formula is written once for both.

Both have ``where``, ``log``, ``exp``, ``maximum``, ``cumprod`` and ``concatenate``; pass axes by position.
This module does not import torch: whoever has a tensor has imported it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

#: A NumPy array, or a tensor on any device.
Array: TypeAlias = Any
#: About the smallest normal number of float32.
_TINY = 1.2e-38


def namespace(array: Array) -> Any:
    """Return the module whose functions take an array: ``numpy`` or ``torch``."""
    return np if isinstance(array, (np.ndarray, np.generic)) else sys.modules["torch"]


def to_float(counts: Array) -> Array:
    """Return counts as float64, or as float32 if their device has no float64."""
    if namespace(counts) is np:
        return counts.astype(np.float64)
    return counts.float() if counts.device.type == "mps" else counts.double()


def at_least(array: Array, bound: float) -> Array:
    """Return the numbers, or the bound where they are lower."""
    return np.maximum(array, bound) if namespace(array) is np else array.clamp(min=bound)


def at_most(array: Array, bound: float) -> Array:
    """Return the numbers, or the bound where they are higher."""
    return np.minimum(array, bound) if namespace(array) is np else array.clamp(max=bound)


def divide(part: Array, whole: Array) -> Array:
    """Return quotients, where 0 / 0 is 0. ``whole`` must not be negative."""
    return part / at_least(whole, _TINY)


def stack(arrays: Sequence[Array]) -> Array:
    """Return arrays of one shape and dtype as one, along a new last dimension."""
    first = arrays[0]
    if namespace(first) is not np:
        return namespace(first).stack(arrays, -1)
    stacked = np.empty((*first.shape, len(arrays)), first.dtype)  # ``np.stack`` reshapes each array first
    for index, array in enumerate(arrays):
        stacked[..., index] = array
    return stacked


def sum_in_order(terms: Array) -> Array:
    """Sum ``(..., terms)`` to ``(...)``, one term after another.

    The order in which ``sum`` adds depends on the memory layout, so the last bit of a score would depend on how many
    scores are computed together.
    """
    if namespace(terms) is np:
        return reduce(np.add, terms.T).T
    return terms.cumsum(-1)[..., -1]


def count_ngrams(lengths: Array, orders: int) -> Array:
    """Return how many n-grams of each order documents of these lengths have: ``(...)`` to ``(..., orders)``, int64."""
    if namespace(lengths) is np:
        shorter = np.arange(orders)
    else:
        shorter = namespace(lengths).arange(orders, device=lengths.device)
    return at_least(lengths[..., None] - shorter, 0)


def counts_in_torch(*tensors: Tensor) -> bool:
    """Return whether torch counts these ids and scores these counts, and not NumPy.

    Torch does so on a device, and while it records operations, because NumPy's would be missing from a graph or trace.
    """
    torch = sys.modules["torch"]
    if torch.compiler.is_compiling() or torch.jit.is_tracing() or _is_in_dispatch_mode():
        return True
    return not all(map(_has_data, tensors))


def _is_in_dispatch_mode() -> bool:
    """Return whether a dispatch mode such as that of fake tensors records operations.

    torch has no public test. If a later torch drops this name, a mode no longer sees what is counted of real tensors.
    """
    module = sys.modules["torch"].utils._python_dispatch
    get_mode = getattr(module, "_get_current_dispatch_mode", None)
    return get_mode is not None and get_mode() is not None


def is_batched(tensor: Tensor) -> bool:
    """Return whether a tensor is one of ``torch.vmap``.

    torch has no public test. If a later torch drops this name, users see an error of torch instead of the caller's.
    """
    test = getattr(sys.modules["torch"]._C._functorch, "is_batchedtensor", None)
    return test is not None and test(tensor)


def _has_data(ids: Tensor) -> bool:
    """Return whether the data can be read on the CPU; under ``torch.vmap`` it cannot."""
    try:
        return ids.is_cpu and ids.data_ptr() is not None
    except RuntimeError:
        return False
