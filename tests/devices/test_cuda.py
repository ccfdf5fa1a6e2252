"""What only CUDA has: graphs that are captured, and a mode in which waiting for the device is an error.

`pytest -m cuda` needs a CUDA device, torch for it, torchmetrics, rapidfuzz, pytest and hypothesis. It also runs what
holds on every device, of `test_real_devices.py` and `test_no_synchronisation.py`. What needs pytorch-ignite is skipped
where that is missing. `gpu_run.sh` runs it together with all that is measured on a GPU.
"""

import pytest
import torch
from real_devices import assert_near, capture, cuda, fixture_of, move, no_waiting
from rewards import REWARDS, batch_of

on_cuda = fixture_of(cuda)


def test_reading_a_value_is_refused(on_cuda: torch.device):
    total = torch.ones(3, device=on_cuda).sum()
    with no_waiting(on_cuda), pytest.raises((AssertionError, RuntimeError), match=r"know a value|synchroniz"):
        total.item()
    assert total.item() == 3


@pytest.mark.parametrize("reward", REWARDS)
def test_a_graph_scores_fresh_inputs_as_the_plain_call(on_cuda: torch.device, reward: str):
    call, shapes = REWARDS[reward]
    shapes = {**shapes, "width": 70}  # two words of the table of subsequences
    replay = capture(call, move(on_cuda, batch_of(0, **shapes)))
    for seed in (1, 2):
        batch = batch_of(seed, **shapes)
        assert_near(replay(*move(on_cuda, batch)), call(*batch), on_cuda, 1e-12)
