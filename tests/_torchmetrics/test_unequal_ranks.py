"""Ranks that call ``compute`` unequally often end with an error, the latest after the timeout of their group."""

import re
from pathlib import Path

import pytest
import torch.multiprocessing
import unequal_ranks
from unequal_ranks import SIZE, TIMEOUT, WAYS

NOTHING = "^$"
FAILED = "^TypeError: reference 0 of segment 0 is an int"
CLOSED = "^RuntimeError: .*Connection (closed|reset) by peer"
TIMED_OUT = f"^RuntimeError: .*Timed out waiting {1000 * TIMEOUT}ms"
WORDS = {
    "one never updates": (NOTHING, NOTHING, NOTHING),
    "one fails": (CLOSED, FAILED, CLOSED),
    "one fails and stays": (TIMED_OUT, FAILED, TIMED_OUT),
    "one computes twice": (NOTHING, NOTHING, CLOSED),
    "one computes twice, and the others stay": (NOTHING, NOTHING, TIMED_OUT),
}


@pytest.mark.programs
@pytest.mark.parametrize("way", WAYS)
def test_no_rank_waits_longer_than_the_timeout(way: str, tmp_path: Path):
    torch.multiprocessing.start_processes(unequal_ranks.run, (way, tmp_path), nprocs=SIZE, start_method="forkserver")
    errors = [(tmp_path / f"{rank}.txt").read_text() for rank in range(SIZE)]
    for error, words in zip(errors, WORDS[way], strict=True):
        assert re.search(words, error)
