"""The recipe of error rates edits as a table of all prefixes does, on two processes and across a restart."""

import runpy

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from programs import EXAMPLES, TORCHRUN, start

EXAMPLE = EXAMPLES / "error_rates.py"
TEXTS = st.lists(st.sampled_from(["a", "b", "cc"]), min_size=1, max_size=6).map(" ".join)


def edit_distance(hypothesis, reference) -> int:
    """The edits by Wagner and Fischer's table."""
    row = list(range(len(reference) + 1))
    for index, token in enumerate(hypothesis, 1):
        above, row = row, [index]
        for column, other in enumerate(reference):
            row.append(min(above[column] + (token != other), above[column + 1] + 1, row[column] + 1))
    return row[-1]


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4))
def test_the_rates_are_those_of_the_table(pairs):
    error_rate = runpy.run_path(str(EXAMPLE))["ErrorRate"]
    for characters, split in ((False, str.split), (True, list)):
        metric = error_rate(characters)
        for hypothesis, reference in pairs:
            metric.update([hypothesis], [reference])
        edits = sum(edit_distance(*map(split, pair)) for pair in pairs)
        assert metric.compute().item() == edits / sum(len(split(reference)) for _, reference in pairs)


@pytest.mark.programs
def test_two_processes_count_on_after_a_restart(tmp_path):
    """Each of two runs counts a segment on each rank: 2 edits in 4 words, which the second adds to the first."""
    for runs in (1, 2):
        printed = start(EXAMPLE, tmp_path, launch=TORCHRUN)
        edits = sum(edit_distance(f"the cat {rank} sat", "the cat sat down") for rank in range(2))
        expected = {"cer": round(edits / (2 * len("the cat sat down")), 4), "wer": 0.5}
        assert printed.replace("\n", "") == str(expected) * 2
        assert [int(torch.load(tmp_path / f"rank{rank}.pt")["wer.length"]) for rank in range(2)] == [4 * runs] * 2
