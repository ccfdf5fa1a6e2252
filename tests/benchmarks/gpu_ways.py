"""How `gpu.py` calls what it measures: eager, compiled, in a CUDA graph and both; checked, warmed up and timed.

Whatever goes wrong with one call is written in its cell of the table, so that a first run on a machine that is lent for
minutes brings the other cells home.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence

import torch
from harness import CLOCKS
from torch import Tensor

#: Seconds of calls before a measurement: an idle GPU runs at a fifth of its clock.
WARM_UP = 0.3

Inputs = tuple[Tensor, ...]
Call = Callable[..., Tensor]


def as_graph(call: Call, inputs: Inputs) -> Call:
    """Capture a call on inputs of this shape; the returned one copies its inputs in and replays."""
    static = [side.clone() for side in inputs]
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

    def replay(*fresh: Tensor) -> Tensor:
        for room, side in zip(static, fresh, strict=True):
            room.copy_(side)
        graph.replay()
        return result

    return replay


def ways(call: Call, inputs: Inputs, device: torch.device, compiles: bool = True) -> dict[str, Callable[[], Call]]:
    """Return what makes a call in each of the ways it is run on this device, eager first.

    They are made one by one, each when it is measured: what one of them cannot do is no loss of the others.
    """
    makers: dict[str, Callable[[], Call]] = {"eager": lambda: call}
    if device.type == "cpu":
        return makers

    def compiled() -> Call:
        torch._dynamo.reset()
        return torch.compile(call, fullgraph=True, dynamic=False)

    makers["graph"] = lambda: as_graph(call, inputs)
    if compiles:
        makers["compiled"] = compiled
        makers["compiled in a graph"] = lambda: as_graph(compiled(), inputs)
    return makers


def measured(
    make: Callable[[], Call],
    inputs: Sequence[Inputs],
    expected: Sequence[Tensor] | None,
    tolerance: float,
    options: argparse.Namespace,
) -> float | str:
    """Return the milliseconds of a call, or what is wrong with it.

    Args:
        make: makes the call.
        inputs: batches that take turns.
        expected: what it has to return of each; None where nothing is compared.
        tolerance: how far it may lie from that.
        options: with ``device``, ``repeats`` and ``clock``.
    """
    try:
        call = make()
        if expected is not None:
            worst = max(
                float((call(*batch).double() - scores.double()).abs().max())
                for batch, scores in zip(inputs, expected, strict=True)
            )
            if not worst <= tolerance:  # written so that nan is a mismatch too
                return f"differs by {worst:.1e}"
        return milliseconds(call, inputs, options)
    except Exception as error:
        return failure(error)


def failure(error: Exception) -> str:
    """Return what a cell says of a call that failed; the rest of it goes to standard error."""
    if isinstance(error, torch.OutOfMemoryError):
        torch.cuda.empty_cache()
        return "out of memory"
    traceback.print_exception(error, file=sys.stderr)
    return type(error).__name__


def milliseconds(call: Call, inputs: Sequence[Inputs], options: argparse.Namespace) -> float:
    """Return the median time of a call, its inputs taking turns."""
    times = []
    warm_at = time.perf_counter() + WARM_UP
    for batch in inputs[:2]:
        call(*batch)
    on_host = options.device.type == "cpu"
    while time.perf_counter() < warm_at:
        call(*inputs[0])
        if not on_host:
            torch.cuda.synchronize()
    for repeat in range(options.repeats):
        batch = inputs[repeat % len(inputs)]
        if on_host:
            clock = CLOCKS[options.clock]
            begin = clock()
            call(*batch)
            times.append((clock() - begin) * 1e3)
        else:
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda.synchronize()
            start.record()
            call(*batch)
            end.record()
            torch.cuda.synchronize()
            times.append(start.elapsed_time(end))
    return statistics.median(times)


def cell(took: float | str) -> str:
    """Write milliseconds, or what was wrong."""
    return took if isinstance(took, str) else f"{took:.3f}"


def ratio(slower: float | str, faster: float | str) -> str:
    """Write how many times as long one took; nothing where one of them was not timed."""
    return "" if isinstance(slower, str) or isinstance(faster, str) else f"{slower / faster:.1f}"


class Table:
    """A Markdown table that prints each row as soon as it is known."""

    def __init__(self, title: str) -> None:
        print(f"\n### {title}\n", flush=True)
        self._widths: list[int] = []

    def row(self, name: str, cells: Mapping[str, str]) -> None:
        """Print a row, before the first one the heading: the keys of its cells."""
        if not self._widths:
            heading = ["B x L", *cells]
            self._widths = [max(10, len(title)) for title in heading]
            rule = ["-" * self._widths[0], *("-" * (width - 1) + ":" for width in self._widths[1:])]
            self._print(heading)
            self._print(rule)
        self._print([name, *cells.values()])

    def _print(self, cells: Sequence[str]) -> None:
        first, *others = zip(cells, self._widths, strict=True)
        aligned = [first[0].ljust(first[1]), *(text.rjust(width) for text, width in others)]
        print(f"| {' | '.join(aligned)} |", flush=True)
