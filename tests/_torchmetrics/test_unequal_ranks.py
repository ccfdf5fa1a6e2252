"""Ranks that call ``compute`` unequally often end with an error, the latest after the timeout of their group."""

import re
from pathlib import Path

import pytest
import torch.multiprocessing
from unequal_ranks import TIMEOUT, run

NOTHING = "^$"
FAILED = "^TypeError: reference 0 of segment 0 is an int"
CLOSED = "^RuntimeError: .*Connection (closed|reset) by peer"
TIMED_OUT = f"^RuntimeError: .*Timed out waiting {1000 * TIMEOUT}ms"
ONCE, TWICE = "update compute", "update compute update compute"
#: The steps of three ranks, and their errors.
WAYS = {
    "one never updates": (("compute", ONCE, ONCE), (NOTHING, NOTHING, NOTHING)),
    "one fails": (("compute", "update fail", TWICE), (CLOSED, FAILED, CLOSED)),
    "one fails and stays": (("compute", "update fail stay", TWICE), (TIMED_OUT, FAILED, TIMED_OUT)),
    "one computes twice": (("compute", ONCE, TWICE), (NOTHING, NOTHING, CLOSED)),
    "the others stay": ((f"{ONCE} stay", f"{ONCE} stay", TWICE), (NOTHING, NOTHING, TIMED_OUT)),
}


@pytest.mark.programs
@pytest.mark.parametrize(("steps", "words"), WAYS.values(), ids=WAYS)
def test_no_rank_waits_longer_than_the_timeout(steps: tuple[str, ...], words: tuple[str, ...], tmp_path: Path):
    torch.multiprocessing.start_processes(run, (steps, tmp_path), nprocs=len(steps), start_method="forkserver")
    for rank, expected in enumerate(words):
        assert re.search(expected, (tmp_path / f"{rank}.txt").read_text())
