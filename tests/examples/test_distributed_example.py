"""The examples for several processes run as their first lines say, and count as one process does."""

import re

import pytest
from programs import EXAMPLES, TORCHRUN, start

#: The metrics of torchmetrics, then those of ignite.
NAMES = {
    *("bleu", "rougeL_fmeasure", "rougeL_precision", "rougeL_recall", "chrf", "overlap"),
    *("ignite bleu", "ignite rouge", "ignite chrf", "ignite overlap"),
}


@pytest.mark.programs
def test_two_processes_report_what_one_does():
    printed = start(EXAMPLES / "distributed.py", launch=TORCHRUN)
    # Two processes write: where output is not buffered, the end of one's line may come after the other's line.
    assert "rank 0 scores 4 of 7 segments" in printed
    assert "rank 1 scores 3 of 7 segments" in printed
    values = dict(re.findall(r"^(\S.*\S) +(0\.\d{6}) +in one process \2$", printed, re.MULTILINE))
    assert set(values) == NAMES
    assert all(0 < float(value) < 1 for value in values.values())
    # What both frameworks report is the same.
    assert values["chrf"] == values["ignite chrf"]
    assert values["rougeL_fmeasure"] == values["ignite rouge"]
    assert printed.splitlines()[-1] == "equal"
