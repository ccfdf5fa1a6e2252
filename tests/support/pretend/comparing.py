"""Values of the pretend accelerator beside the CPU's."""

from collections.abc import Mapping
from typing import Any

import torch
from pretend.device import DEVICE
from torch import Tensor


def there(value: Any) -> Any:
    """The tensors of a batch on the device; all else as it is."""
    return value.to(DEVICE) if isinstance(value, Tensor) else value


def tensors_of(value: Any) -> list[Tensor]:
    """The tensors of a value, which is one, or a dict or a sequence of them."""
    if isinstance(value, Tensor):
        return [value]
    return [tensor for part in (value.values() if isinstance(value, Mapping) else value) for tensor in tensors_of(part)]


def assert_equal(actual: Any, expected: Any, apart: float = 0) -> None:
    """Equal to the last bit, or this far apart, the actual ones on the device."""
    for one, other in zip(tensors_of(actual), tensors_of(expected), strict=True):
        assert one.device == DEVICE
        assert one.dtype == other.dtype
        torch.testing.assert_close(one.cpu(), other, rtol=0, atol=apart, equal_nan=True)
