"""Large batches fit the documented bound of memory.

The bound stands in docs/guides/counting.md. What is counted is known from how the batches are made, see
tests/support/memory_probe.py.
"""

import functools
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

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


def expected_row(shape: str, size: int, metric: str) -> list[int]:
    """The summed counts, from how the batch is made: n-grams that match, of the hypotheses, of the references."""
    lengths = {
        # tokens of the hypothesis, of the reference, and how many of these sentences there are
        "document": (size, size // 2, 1),
        "empty": (0, 0, size),
        "one-token": (1, 1, size),
        "references": (50, 50, 1),
    }
    hypothesis, reference, sentences = lengths[shape]

    def totals(length: int, orders: Sequence[int]) -> list[int]:
        return [sentences * max(0, length - order + 1) for order in orders]

    def matches(orders: Sequence[int]) -> list[int]:
        # The reference stands in the hypothesis whole; of one token each, it does so in every second sentence.
        return [count // 2 if shape == "one-token" else count for count in totals(reference, orders)]

    if metric == "bleu":
        orders = range(1, 5)
        return [*matches(orders), *totals(hypothesis, orders), sentences * hypothesis, sentences * reference]
    orders = {"rouge": (1, 2), "chrf": range(1, 7), "overlap": (2,), "rougeL": (1,), "rougeLsum": (1,)}[metric]
    return [*matches(orders), *totals(hypothesis, orders), *totals(reference, orders)]


@functools.cache
def run(asked: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Run the probe, on one thread, and return what it found by what was asked."""
    command = [sys.executable, "-W", "ignore", str(PROBE), *asked]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return dict(zip(asked, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the probe forks")
@pytest.mark.parametrize(
    ("asked", "together"),
    [
        *(pytest.param(one, LIGHT, marks=pytest.mark.programs, id=one) for one in LIGHT),
        *(pytest.param(one, HEAVY, marks=pytest.mark.slow, id=one) for one in HEAVY),
    ],
)
def test_a_large_batch_is_counted_right_within_the_documented_bound(asked: str, together: tuple[str, ...]):
    found = run(together)[asked]
    shape, size, metric, _ = asked.split(":")
    slots = token_slots(shape, int(size))
    assert found["row"] == expected_row(shape, int(size), metric)
    assert found["segments"] == (int(size) if shape in ("empty", "one-token") else 1)
    if shape == "references":
        scores = found["value"].values() if isinstance(found["value"], dict) else [found["value"]]
        assert list(scores) == [pytest.approx(1)] * len(scores)
    fixed = SUBSEQUENCE_BYTES if metric in ("rougeL", "rougeLsum") else FIXED_BYTES
    assert found["bytes"] <= fixed + BYTES_A_SLOT * slots


def test_the_documented_bound_is_the_tested_one():
    text = (PROBE.parents[2] / "docs" / "guides" / "counting.md").read_text("utf-8")
    assert f"{FIXED_BYTES >> 20} MiB plus {BYTES_A_SLOT} bytes for each token slot" in text
    assert f"{SUBSEQUENCE_BYTES >> 20} MiB" in text
