"""The example for several processes runs as its first lines say, and tells that it counts as one process does."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "distributed.py"
#: The metrics of torchmetrics, then those of ignite.
NAMES = {
    *("bleu", "rougeL_fmeasure", "rougeL_precision", "rougeL_recall", "chrf", "overlap"),
    *("ignite bleu", "ignite rouge", "ignite chrf", "ignite overlap"),
}


@pytest.mark.programs
def test_two_processes_report_what_one_does():
    # torchrun itself, with a port that is free.
    launch = [
        "torch.distributed.run",
        "--nproc-per-node",
        "2",
        "--rdzv-backend",
        "c10d",
        "--rdzv-endpoint",
        "localhost:0",
    ]
    run = subprocess.run([sys.executable, "-m", *launch, EXAMPLE], capture_output=True, text=True, timeout=300)
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
