"""Devices that are real and need no hardware, each with kernels, memory and a compiler of its own: XLA and Vulkan.

torch_xla runs XLA on the CPU. torchvulkan runs Vulkan on Mesa's lavapipe, and in its strict mode an operation that it
would leave to the CPU is an error. Neither is imported beside the pretend accelerator: torch has one type for backends
from outside.
"""

import functools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from pretend.comparing import move
from pretend.device import waits
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore


def xla() -> torch.device:
    os.environ.setdefault("PJRT_DEVICE", "CPU")
    pytest.importorskip("torch_xla", reason="torch_xla is not installed", exc_type=ImportError)
    return torch.device("xla", 0)


@functools.cache
def vulkan() -> torch.device:
    os.environ.setdefault("TORCHVULKAN_STRICT", "1")
    os.environ.setdefault("VK_LOADER_DRIVERS_SELECT", "*lvp*")
    torchvulkan = pytest.importorskip("torchvulkan", reason="torchvulkan is not installed", exc_type=ImportError)
    if not torchvulkan.is_available():
        pytest.skip("no Vulkan driver: apt-get install mesa-vulkan-drivers")
    return torch.device("vulkan", 0)


def fixture_of(*devices: Callable[[], torch.device]) -> Any:
    """A fixture that is each of these devices, with the device's mark."""
    named = {device.__name__: device for device in devices}
    marked = [pytest.param(name, marks=getattr(pytest.mark, name)) for name in named]
    return pytest.fixture(params=marked)(lambda request: named[request.param]())


class _Reads(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.operations: list[str] = []

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        results = function(*args, **kwargs)
        operands, found = ([one for one in tree_leaves(tree) if isinstance(one, Tensor)] for tree in (args, results))
        if any(one.device.type != "cpu" for one in operands) and (
            waits(function, function._schema.name.partition("::")[2], args, kwargs)
            or any(one.device.type == "cpu" for one in found)
        ):
            self.operations.append(str(function))
        return results


@contextmanager
def no_reads() -> Iterator[None]:
    """The host reads nothing of a device: no operation there waits for a value, or has its result on the CPU."""
    with _Reads() as reads:
        yield
    assert not reads.operations, reads.operations


def rounding(device: torch.device, name: str) -> float:
    """How far scores may be from the CPU's: torchvulkan 0.2.1 computes `exp`, of BLEU, in float32."""
    in_float32 = device.type == "vulkan" and "bleu" in name.lower()
    return 2 * torch.finfo(torch.float32).eps if in_float32 else 1e-12


#: What each of two processes counts, and with what.
SHARES = ((["the cat sat", "a b"], [["the cat sat down"], ["a", "b a"]]), (["the dog"], [["the dog ran", "a dog"]]))
COUNTED: dict[str, Callable[..., Any]] = {
    "bleu": functools.partial(Bleu, smooth="exp"),
    "chrf": ChrF,
    "mean chrf": functools.partial(ChrF, average="macro"),
    "overlap": functools.partial(NgramOverlap, ngram=2),
    "rouge": functools.partial(ROUGEScore, rouge_keys=("rouge1", "rougeL")),
}


def of_two_ranks(rank: int, size: int) -> dict[str, Any]:
    """What a process computes of all shares, on the CPU."""
    metrics = {name: metric(device=vulkan()) for name, metric in COUNTED.items()}
    for metric in metrics.values():
        metric.update(*SHARES[rank])
    found = {name: metric.compute() for name, metric in metrics.items()}
    assert {metric.row.device for metric in metrics.values()} == {vulkan()}
    return move("cpu", found)
