"""Devices with kernels, memory and a compiler of their own: XLA and Vulkan, which need no hardware, and CUDA.

torch_xla runs XLA on the CPU. torchvulkan runs Vulkan on Mesa's lavapipe, and in its strict mode an operation that it
would leave to the CPU is an error.
"""

import functools
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from crossings import no_crossings
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map_only

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


def cuda() -> torch.device:
    return torch.device("cuda", 0)


def cpu() -> torch.device:
    return torch.device("cpu")


def meta() -> torch.device:
    return torch.device("meta")


def fixture_of(*devices: Callable[[], torch.device]) -> Any:
    """A fixture that is each of these devices; one that not every machine has gives its mark to the test."""
    named = {device.__name__: device for device in devices}
    marked = [
        pytest.param(name, marks=() if device in (cpu, meta) else getattr(pytest.mark, name))
        for name, device in named.items()
    ]
    return pytest.fixture(params=marked)(lambda request: named[request.param]())


@contextmanager
def no_waiting(device: torch.device) -> Iterator[None]:
    """Refuse what copies between the host and the device; on CUDA also what waits for it."""
    if device.type != "cuda":
        with no_crossings():
            yield
        return
    mode = torch.cuda.get_sync_debug_mode()
    try:
        with warnings.catch_warnings():
            # torch warns once that the mode is a prototype.
            warnings.simplefilter("ignore", UserWarning)
            torch.cuda.set_sync_debug_mode("error")
        with no_crossings():
            yield
    finally:
        torch.cuda.set_sync_debug_mode(mode)


def capture(call: Callable[..., Any], batch: tuple[Tensor, ...]) -> Callable[..., Any]:
    """A call that copies its batch into a captured CUDA graph and replays it."""
    static = [side.clone() for side in batch]
    # Warmed up on a stream of its own, as torch asks before a capture.
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            call(*static)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = call(*static)

    def replay(*fresh: Tensor) -> Any:
        for room, side in zip(static, fresh, strict=True):
            room.copy_(side)
        graph.replay()
        return result

    return replay


def move(device: torch.device | str, values: Any) -> Any:
    """The tensors of a batch on a device; all else as it is."""
    return tree_map_only(Tensor, lambda tensor: tensor.to(device), values)


def assert_near(actual: Any, expected: Any, device: torch.device, apart: float = 0) -> None:
    """Equal to this distance, of numbers above 1 relatively, the actual ones on the device."""
    for one, other in zip(tree_leaves(actual), tree_leaves(expected), strict=True):
        assert one.device == device
        torch.testing.assert_close(one.cpu(), other, rtol=apart, atol=apart, equal_nan=True)


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


def of_two_ranks() -> dict[str, Any]:
    """What a process computes of all shares, on the CPU."""
    metrics = {name: metric(device=vulkan()) for name, metric in COUNTED.items()}
    for metric in metrics.values():
        metric.update(*SHARES[torch.distributed.get_rank()])
    found = {name: metric.compute() for name, metric in metrics.items()}
    assert {metric.row.device for metric in metrics.values()} == {vulkan()}
    return move("cpu", found)
