"""Large batches fit the bound of memory that stands in docs/guides/counting.md."""

import functools
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

PROBE = Path(__file__).parents[1] / "support" / "memory_probe.py"

#: The documented bound of the peak above the input, on a CPU: so many bytes, and for each token slot so many more.
FIXED_BYTES = 48 << 20
BYTES_A_SLOT = 320
#: Instead of the fixed bytes for longest common subsequences, whose table is as wide as the documents are long.
SUBSEQUENCE_BYTES = 128 << 20

COUNTED = ("bleu", "rouge", "chrf", "overlap")
LAYOUTS = ("padded", "ragged")


def probes(shapes: Sequence[str], metrics: Sequence[str], layouts: Sequence[str] = LAYOUTS) -> list[str]:
    return [f"{shape}:{metric}:{layout}" for shape in shapes for metric in metrics for layout in layouts]


LIGHT = (
    *probes(SHAPES := ["document:50000", "empty:20000", "one-token:20000", "references:1000"], COUNTED, ["padded"]),
    *probes(SHAPES, ["bleu"], ["ragged"]),
    *probes(["references:1000", "document:4000"], ["rougeL"]),
    *probes(["references:1000", "document:1000"], ["rougeLsum"], ["padded"]),
)
HEAVY = (
    *probes(["document:1000000", "empty:100000", "one-token:1000000"], COUNTED),
    *probes(["one-token:10000000"], COUNTED, ["padded"]),
    *probes(["references:1000"], [*COUNTED, "rougeL", "rougeLsum"]),
    *probes(["document:20000"], ["rougeL", "rougeLsum"]),
)


def token_slots(shape: str, size: int) -> int:
    """Tokens of both sides with their padding."""
    return {"document": size + size // 2, "empty": 8 * size, "one-token": 2 * size, "references": 50 + 50 * size}[shape]


@functools.cache
def run(asked: tuple[str, ...]) -> dict[str, int]:
    """Run the probe, on one thread, and return the bytes that it found by what was asked."""
    command = [sys.executable, "-W", "ignore", str(PROBE), *asked]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return dict(zip(asked, map(int, done.stdout.splitlines()), strict=True))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the probe forks")
@pytest.mark.parametrize(
    ("asked", "together"),
    [
        *(pytest.param(one, LIGHT, marks=pytest.mark.programs, id=one) for one in LIGHT),
        *(pytest.param(one, HEAVY, marks=pytest.mark.slow, id=one) for one in HEAVY),
    ],
)
def test_a_large_batch_is_counted_within_the_documented_bound(asked: str, together: tuple[str, ...]):
    shape, size, metric, _ = asked.split(":")
    fixed = SUBSEQUENCE_BYTES if metric in ("rougeL", "rougeLsum") else FIXED_BYTES
    assert run(together)[asked] <= fixed + BYTES_A_SLOT * token_slots(shape, int(size))


def test_the_documented_bound_is_the_tested_one():
    text = (PROBE.parents[2] / "docs" / "guides" / "counting.md").read_text("utf-8")
    assert f"{FIXED_BYTES >> 20} MiB plus {BYTES_A_SLOT} bytes for each token slot" in text
    assert f"{SUBSEQUENCE_BYTES >> 20} MiB" in text
