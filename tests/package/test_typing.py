"""What an editor knows of the public interface: the choices of an option, and what a call returns."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

CALLS = Path(__file__).with_name("typed_calls.py")


@pytest.mark.slow
def test_right_calls_pass_and_wrong_ones_are_refused():
    """Read by mypy as the package is, so that what it has read of torch is used again."""
    pytest.importorskip("mypy", reason="mypy comes with the group `dev`")
    command = [sys.executable, "-m", "mypy", "--no-error-summary", str(CALLS)]
    printed = subprocess.run(command, cwd=CALLS.parents[2], capture_output=True, text=True, check=False)
    assert printed.stderr == ""
    refused = {int(line) for line in re.findall(r"typed_calls\.py:(\d+): error", printed.stdout)}
    wrong = {number for number, line in enumerate(CALLS.read_text().splitlines(), 1) if line.endswith("# wrong")}
    assert refused == wrong, printed.stdout
