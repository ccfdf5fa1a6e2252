"""The benchmark for a GPU runs from start to end, on the pretend accelerator."""

import importlib
import os
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from pretend.cuda import pretend_cuda
from pretend.device import DEVICE, accelerator


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The script, its sizes small, on the pretend accelerator; nothing is compiled."""
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "benchmarks")
    module, ways = importlib.import_module("gpu"), importlib.import_module("gpu_ways")
    monkeypatch.setattr(ways, "WARM_UP", 0.0)
    monkeypatch.setattr(module, "PAIRS", 5)
    monkeypatch.setattr(module, "TURNS", 2)
    monkeypatch.setattr(module, "tensorbleu", lambda: None)
    monkeypatch.setattr(torch, "compile", lambda call, **options: call)
    with accelerator() as log:
        pretend_cuda(monkeypatch, log)
        yield module


def tables(printed: str) -> dict[str, list[dict[str, str]]]:
    """The rows of each table by its title, the cells of a row by their headings."""
    found: dict[str, list[dict[str, str]]] = {}
    for part in printed.split("\n### ")[1:]:
        title, _, *lines = part.split("\n")
        cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
        found[title.split(",")[0]] = [dict(zip(cells[0], row, strict=True)) for row in cells[2:]]
    return found


WAYS = {f"ours, {way}" for way in ("eager", "graph", "compiled", "compiled in a graph")}


def test_every_task_prints_a_time_for_each_size_and_way(gpu: Any, capsys: pytest.CaptureFixture[str]):
    sizes = {"batches": [2], "lengths": [7], "references": [2], "pair_length": 6, "repeats": 1}
    gpu.main(Namespace(device=DEVICE, tasks=gpu.TASKS, clock="wall", **sizes))
    printed, complaints = capsys.readouterr()
    assert complaints == ""
    assert printed.count("TensorBLEU is not installed, and left out") == 1
    found = tables(printed)
    assert set(found) == {"BLEU", "chrF", "ROUGE-L", "chrF of all pairs"}
    for title in ("BLEU", "chrF", "ROUGE-L"):
        assert [row["B x L"] for row in found[title]] == ["2 x 7"]
    assert set(found["BLEU"][0]) > WAYS | {"sort, eager", "sort, graph", "ours / sort, graph"}
    assert set(found["chrF"][0]) > WAYS
    assert set(found["ROUGE-L"][0]) > WAYS - {"ours, compiled", "ours, compiled in a graph"}
    cells = [cell for rows in found.values() for row in rows for name, cell in row.items() if name != "B x L"]
    assert all(float(cell) > 0 for cell in cells)


# Where a GPU is lent, there may be nothing but torch, torchmetrics and pytest.

MISSING = ("ignite", "sacrebleu", "fastchrf", "rouge_score", "bleuscore", "nltk", "rxlm")
WITHOUT_PEERS = f"import sys, runpy; sys.modules.update(dict.fromkeys({MISSING})); sys.argv = sys.argv[1:]; "


def without_peers(run: str, *arguments: str) -> str:
    root = Path(__file__).parents[2]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_PEERS + run, *arguments],
        **{"cwd": root, "env": os.environ | threads, "capture_output": True, "text": True},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.programs
def test_it_runs_where_no_peer_is_installed():
    run = "sys.path.insert(0, 'tests/benchmarks'); runpy.run_path(sys.argv[0], run_name='__main__')"
    sizes = ["--batches", "2", "--lengths", "6", "--repeats", "1", "--tasks", "bleu", "rougeL"]
    printed = without_peers(run, "tests/benchmarks/gpu.py", "--device", "cpu", "--threads", "1", *sizes)
    assert "TensorBLEU is not installed" in printed
    assert [float(rows[0]["ours, eager"]) > 0 for rows in tables(printed).values()] == [True, True]


@pytest.mark.programs
def test_what_needs_a_gpu_is_collected_where_no_peer_is_installed():
    printed = without_peers(
        "runpy.run_module('pytest', run_name='__main__')", "pytest", *["-m", "cuda", "-n", "0", "--co", "-q"]
    )
    collected = [line for line in printed.split("\n") if "::" in line]
    assert len(collected) > 50
    assert all(line.startswith("tests/devices/test_cuda.py::") and "cuda" in line.split("[")[1] for line in collected)
