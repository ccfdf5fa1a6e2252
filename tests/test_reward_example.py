"""The example of a reward: run as the documentation says, with few steps, and its error."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parent.parent / "examples" / "reward.py"


def test_both_rewards_rise():
    command = [sys.executable, str(EXAMPLE), "--device", "cpu", "--steps", "40", "--every", "20"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    lines = re.findall(r"step +(\d+)   chrF ([\d.]+)   BLEU ([\d.]+)", done.stdout)
    assert [int(step) for step, *_ in lines] == [0, 20, 40]
    for first, last in zip(lines[0][1:], lines[-1][1:], strict=True):
        assert float(last) > float(first) + 0.3


def test_a_policy_that_has_not_learned_is_an_error(monkeypatch):
    specification = importlib.util.spec_from_file_location("reward_example", EXAMPLE)
    example = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(example)
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE)])
    monkeypatch.setattr(example.torch, "set_num_threads", lambda threads: None)
    monkeypatch.setattr(example, "train", lambda arguments: [0.5, 0.9, 0.55])
    with pytest.raises(SystemExit, match=r"went from 0\.500 to 0\.550: expected at least 0\.1 more"):
        example.main()


@pytest.mark.parametrize(("option", "least"), [("steps", 1), ("every", 1), ("sources", 1), ("samples", 2)])
def test_a_number_that_is_too_small_is_refused_before_training(option, least):
    command = [sys.executable, str(EXAMPLE), "--device", "cpu", "--steps", "1", f"--{option}", str(least - 1)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert done.stderr.endswith(f"error: --{option} is {least - 1}: expected at least {least}\n")
