"""Devices with kernels, memory and a compiler of their own: XLA and Vulkan, which need no hardware, and CUDA.

torch_xla runs XLA on the CPU. torchvulkan runs Vulkan on Mesa's lavapipe, and in its strict mode an operation that it
would leave to the CPU is an error. With them: what the tests on all of them count, and compare with the CPU.
"""

import functools
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

import pytest
import torch
from crossings import no_crossings
from metrics.apis import COMPLETE
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map_only

from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore

#: Each class with its defaults, and options that count or score padded ids in another way.
METRICS: dict[str, Any] = {
    **{api.metric.__name__: functools.partial(api.metric) for api in COMPLETE},
    "Bleu-floor": functools.partial(Bleu, smooth="floor", effective_order=True, weights=(0.4, 0.3, 0.2, 0.1)),
    "Bleu-add-k-9": functools.partial(Bleu, smooth="add-k", ngram=9),
    "Bleu-smooth1": functools.partial(Bleu, smooth="smooth1", ngram=2),
    "Bleu-smooth2": functools.partial(Bleu, smooth="smooth2"),
    "ROUGEScore-avg": functools.partial(ROUGEScore, rouge_keys=("rouge2", "rougeL"), accumulate="avg"),
    "ChrF-eps": functools.partial(ChrF, eps_smoothing=True, char_order=2),
    "ChrF-9": functools.partial(ChrF, char_order=9),
    "NgramOverlap-2": functools.partial(NgramOverlap, ngram=2),
}
CLASSES = [api.metric.__name__ for api in COMPLETE]
each_class = pytest.mark.parametrize("name", CLASSES)
#: What runs by default on a CPU; on another device, all do.
BY_DEFAULT = {
    ("Bleu", "micro"),
    ("ROUGEScore", "macro"),
    ("ChrF", "none"),
    ("NgramOverlap", "macro"),
}
each_metric_and_average = pytest.mark.parametrize(
    ("name", "average"),
    [
        pytest.param(*pair, marks=() if pair in BY_DEFAULT else pytest.mark.slow)
        for pair in product(METRICS, ("micro", "macro", "none"))
        if pair != ("ROUGEScore-avg", "micro")  # means over references have no micro average
    ],
)


def device(name: str) -> torch.device:
    """The device of this name, or skip the test where what runs it is not installed."""
    if name == "xla":
        os.environ.setdefault("PJRT_DEVICE", "CPU")
        pytest.importorskip("torch_xla", reason="torch_xla is not installed", exc_type=ImportError)
    elif name == "vulkan":
        os.environ.setdefault("TORCHVULKAN_STRICT", "1")
        os.environ.setdefault("VK_LOADER_DRIVERS_SELECT", "*lvp*")
        torchvulkan = pytest.importorskip("torchvulkan", reason="torchvulkan is not installed", exc_type=ImportError)
        if not torchvulkan.is_available():
            pytest.skip("no Vulkan driver: apt-get install mesa-vulkan-drivers")
    return torch.device(name) if name in ("cpu", "meta") else torch.device(name, 0)


def fixture_of(*names: str) -> Any:
    """A fixture that is each of these devices; one that not every machine has gives its mark to the test."""
    marks = {"cuda": pytest.mark.cuda, "vulkan": pytest.mark.device, "xla": pytest.mark.device}
    marked = [pytest.param(name, marks=marks.get(name, ())) for name in names]
    return pytest.fixture(params=marked)(lambda request: device(request.param))


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


def ragged_ids(seed: int, *shape: int, words: int = 40, shift: int = 0) -> Tensor:
    """Ids from 1 with 0 after them and -1 in between, which both are padding, and rows without any."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(1, words + 1, shape, generator=generator) + shift
    ids.masked_fill_(torch.rand(shape, generator=generator) < 0.03, -1)
    ends = torch.randint(0, shape[-1] + 1, (*shape[:-1], 1), generator=generator)
    return ids.masked_fill(torch.arange(shape[-1]) >= ends, 0)


def batch_of(
    seed: int,
    references: int | None = 2,
    samples: int | None = None,
    segments: int = 6,
    width: int = 12,
    wide: bool = False,
) -> tuple[Tensor, Tensor]:
    """Hypotheses and references, or None for one reference each, of ids to 5; of wide ones, near 2^62."""
    shape = (segments, width) if samples is None else (segments, samples, width)
    # Two less than the hypotheses' width: none of the two is taken for the other.
    other = (segments, width - 2) if references is None else (segments, references, width - 2)
    draw = functools.partial(ragged_ids, words=5, shift=wide * 2**62)
    return draw(seed, *shape), draw(seed + 9, *other)
