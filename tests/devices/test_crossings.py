"""The modes that watch what crosses between the host and a device see each way across, made here on purpose."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from crossings import no_crossings
from real_devices import fixture_of, no_waiting
from torch import Tensor

on_cuda = fixture_of("cuda")


def host() -> Tensor:
    return torch.tensor([3, 1, 2, 1])


CROSSINGS: dict[str, Callable[[Tensor], Any]] = {
    "to": lambda ids: host().to(ids.device),
    "type_as": lambda ids: host().type_as(ids),
    "copy_": lambda ids: ids.copy_(host()),
    "from_numpy": lambda ids: torch.from_numpy(host().numpy()).to("meta"),
    "index": lambda ids: ids[host()],
    "index_put": lambda ids: ids.__setitem__(host(), 1),
    "index_select": lambda ids: ids.index_select(0, host()),
    "gather": lambda ids: ids.gather(0, host()),
    "stack": lambda ids: torch.stack((ids[0], torch.tensor(1))),
    "tensor": lambda ids: torch.tensor(1, device="meta"),
    "as_tensor": lambda ids: torch.as_tensor([1, 2], device=ids.device),
    "asarray": lambda ids: torch.asarray([1, 2], device=ids.device),
    "new_tensor": lambda ids: ids.new_tensor([1, 2]),
    "new": lambda ids: ids.new([1, 2]),
    "item": lambda ids: ids[0].item(),
    "bool": lambda ids: bool((ids > 5).any()),
    "nonzero": lambda ids: ids.nonzero(),
    "unique": lambda ids: torch.unique(ids),
    "equal": lambda ids: torch.equal(ids, ids),
    # What meta itself refuses.
    "mask": lambda ids: ids[ids > 1],
    "repeat": lambda ids: ids.repeat_interleave(ids),
}


@pytest.mark.parametrize("way", CROSSINGS)
def test_each_way_across_is_refused(way: str):
    error = RuntimeError if way in ("mask", "repeat") else AssertionError
    with no_crossings(), pytest.raises(error, match=r"copies|on the host|know a value|meta"):
        CROSSINGS[way](torch.zeros(4, dtype=torch.int64, device="meta"))


def test_what_stays_on_a_device_is_not_refused():
    with no_crossings():
        ids = torch.zeros(4, dtype=torch.int64, device="meta")
        ids[torch.arange(2, device="meta")] += ids.new_full((2,), 5)
        torch.where(ids > 1, ids, torch.tensor(0)) * torch.scalar_tensor(2, device="meta")
        ids[1:].repeat_interleave(ids[1:], output_size=7).cumsum(0).to(torch.float32).masked_fill_(ids[0] == 0, 3)
        torch.as_tensor(ids).new_zeros(2)
        ids[0] = 5
        # Nor what stays on the host.
        host().to(torch.int32)[host().nonzero()].tolist()


def test_reading_a_value_of_cuda_is_refused(on_cuda: torch.device):
    total = torch.ones(3, device=on_cuda).sum()
    with no_waiting(on_cuda), pytest.raises((AssertionError, RuntimeError), match=r"know a value|synchroniz"):
        total.item()
    assert total.item() == 3
