"""The table of launches in the documentation is what the script counts that prints it."""

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "benchmarks")
    return importlib.import_module("launches")


def test_documented_launches_are_those_that_are_counted(launches: Any):
    text = (DOCS / "project/benchmarks.md").read_text()
    documented = {}
    for name, short, long in re.findall(r"^\| (.+) \| ([\d,]+), [\d,]+ \|(?: ([\d,]+), [\d,]+)? \|$", text, re.M):
        documented[name, 256] = int(short)
        if long:
            documented[name, 1024] = int(long.replace(",", ""))
    fewest, most = map(int, re.findall(r"texts takes one copy and (\d) to (\d) launches", text)[0])
    # They are as many for two rows as for 256.
    counted = {(task.name, task.length): launches.counts(task, 2).counts for task in launches.TASKS}
    assert {key: asked for key, asked in counted.items() if key[1]} == {
        key: (0, 0, 0, number) for key, number in documented.items()
    }
    assert {asked for key, asked in counted.items() if not key[1]} == {(1, 0, 0, number) for number in (fewest, most)}


@pytest.mark.parametrize("average", ["none", "macro", "micro"])
@pytest.mark.parametrize(("references", "budget"), [(1, 68), (4, 112)])
def test_chrf_stays_within_its_budget(launches: Any, average: str, references: int, budget: int):
    with launches.accelerator() as log:
        metric = launches.ChrF(pad_id=launches.gpu.PAD, average=average, device=launches.DEVICE)
        batch = launches.gpu.batch(0, 2, 256, references, launches.DEVICE)
        metric.update(*batch)  # what is loaded once is launched once
        log.clear()
        metric.update(*batch)
        metric.compute()
        assert log.counts[3] <= budget


def test_the_script_prints_all_pairs_too(launches: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(launches, "TASKS", launches.TASKS[:1])
    heading, bleu, pairs = launches.table(2, 3)
    assert len(heading) == len(bleu) == len(pairs)
    assert pairs[:2] == ["chrF of 3 x 3 pairs", "256 ids"]
    assert int(pairs[2]) > int(bleu[2]) > 0
