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
    rows = re.findall(
        r"^\| (.+, L = [\d,]+) +\| +([\d,]+) \| +[\d,]+ \|$", (DOCS / "project/benchmarks.md").read_text(), re.M
    )
    documented = {name: int(number.replace(",", "")) for name, number in rows}
    # They are as many for two rows as for 256.
    counted = {task.name: launches.counts(task, 2).counts for task in launches.TASKS}
    assert {name: number for name, (*_, number) in counted.items()} == documented
    assert {asked[:3] for asked in counted.values()} == {(0, 0, 0)}


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
    assert pairs[0] == "chrF of 3 x 3 pairs, L = 256"
    assert int(pairs[1]) > int(bleu[1]) > 0
