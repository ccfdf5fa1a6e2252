"""The examples for several processes run as their first lines say, and count as one process does."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "distributed.py"
#: The metrics of torchmetrics, then those of ignite.
NAMES = {
    *("bleu", "rougeL_fmeasure", "rougeL_precision", "rougeL_recall", "chrf", "overlap"),
    *("ignite bleu", "ignite rouge", "ignite chrf", "ignite overlap"),
}


def launched(program: Path, *options: str, processes: int = 2) -> subprocess.CompletedProcess[str]:
    """What a program prints under torchrun itself, with a port that is free."""
    launch = ["torch.distributed.run", "--nproc-per-node", str(processes)]
    launch += ["--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0"]
    command = [sys.executable, "-m", *launch, str(program), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.mark.programs
def test_two_processes_report_what_one_does():
    run = launched(EXAMPLE)
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    # Two processes write: where output is not buffered, the end of one's line may come after the other's line.
    assert "rank 0 scores 4 of 7 segments" in run.stdout
    assert "rank 1 scores 3 of 7 segments" in run.stdout
    values = dict(re.findall(r"^(\S.*\S) +(0\.\d{6}) +in one process \2$", run.stdout, re.MULTILINE))
    assert set(values) == NAMES
    assert all(0 < float(value) < 1 for value in values.values())
    # What both faces report is the same.
    assert values["chrf"] == values["ignite chrf"]
    assert values["rougeL_fmeasure"] == values["ignite rouge"]
    assert lines[-1] == "equal"


@pytest.mark.programs
@pytest.mark.parametrize("processes", [2, 1])
def test_a_loop_that_was_stopped_within_an_epoch_prints_what_the_page_shows(processes: int, tmp_path: Path):
    program, checkpoint = "torchrun_resume", tmp_path / "checkpoint.pt"
    stopped = launched(ROOT / "examples" / f"{program}.py", "--stop", "2", "--out", str(checkpoint))
    assert (stopped.returncode, stopped.stdout) == (0, ""), stopped.stderr
    assert checkpoint.exists()
    resumed = launched(ROOT / "examples" / f"{program}.py", "--out", str(checkpoint), processes=processes)
    assert resumed.returncode == 0, resumed.stderr
    assert resumed.stdout.startswith("{'bleu': ")
    assert resumed.stdout in (ROOT / "docs" / "guides" / "distributed.md").read_text(encoding="utf-8")
    assert not checkpoint.exists()
