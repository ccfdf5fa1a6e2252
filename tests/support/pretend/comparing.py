"""Values of an accelerator, the pretend one or another, beside the CPU's."""

import functools
from typing import Any

import torch
from pretend.device import DEVICE
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map_only


def move(device: torch.device | str, values: Any) -> Any:
    """The tensors of a batch on a device; all else as it is."""
    return tree_map_only(Tensor, lambda tensor: tensor.to(device), values)


there = functools.partial(move, DEVICE)


def assert_near(actual: Any, expected: Any, device: torch.device, apart: float = 0) -> None:
    """Equal to this distance, of numbers above 1 relatively, the actual ones on the device."""
    for one, other in zip(tree_leaves(actual), tree_leaves(expected), strict=True):
        assert one.device == device
        torch.testing.assert_close(one.cpu(), other, rtol=apart, atol=apart, equal_nan=True)


def assert_equal(actual: Any, expected: Any, apart: float = 0) -> None:
    """As ``assert_near``, the actual ones on the pretend accelerator."""
    assert_near(actual, expected, DEVICE, apart)
