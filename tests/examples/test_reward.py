"""The example of a reward: with few steps as the documentation says, and its errors."""

import re

import pytest
from programs import example, run


@pytest.fixture(scope="module")
def reward():
    return example("reward")


def test_both_rewards_rise(reward, capsys):
    run(reward, "--device", "cpu", "--steps", 40, "--every", 20)
    lines = re.findall(r"step +(\d+)   chrF ([\d.]+)   BLEU ([\d.]+)", capsys.readouterr().out)
    assert [int(step) for step, *_ in lines] == [0, 20, 40]
    for first, last in zip(lines[0][1:], lines[-1][1:], strict=True):
        assert float(last) > float(first) + 0.3


def test_a_policy_that_has_not_learned_is_an_error(reward, monkeypatch):
    monkeypatch.setattr(reward, "train", lambda arguments: [0.5, 0.9, 0.55])
    with pytest.raises(SystemExit, match=r"went from 0\.500 to 0\.550: expected at least 0\.1 more"):
        run(reward)


@pytest.mark.parametrize(("option", "least"), [("steps", 1), ("every", 1), ("sources", 1), ("samples", 2)])
def test_a_number_that_is_too_small_is_refused_before_training(reward, option, least, capsys):
    with pytest.raises(SystemExit) as stopped:
        run(reward, "--device", "cpu", "--steps", 1, f"--{option}", least - 1)
    assert stopped.value.code == 2
    assert capsys.readouterr().err.endswith(f"error: --{option} is {least - 1}: expected at least {least}\n")
