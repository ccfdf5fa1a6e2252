"""The pretend accelerator catches the mistakes it is there for: each is made on purpose."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from pretend.cuda import Graph, capture
from pretend.device import DEVICE, accelerator
from pretend.log import LAUNCH, TO_DEVICE, TO_HOST, WAIT
from torch import Tensor

from ngram_metrics._core.counting.pools import indices


def ids() -> Tensor:
    return torch.tensor([3, 1, 2, 1]).to(DEVICE)


def host() -> Tensor:
    return torch.tensor([3, 1, 2, 1])


@pytest.mark.parametrize(
    "mixed",
    [
        lambda: ids() + host(),
        lambda: torch.cat((ids(), host())),
        lambda: torch.where(ids() > 1, ids(), host()),
        lambda: ids().index_select(0, host()),
        lambda: ids().scatter_add_(0, host(), ids()),
        lambda: torch.searchsorted(ids(), host()),
        lambda: torch.bmm(torch.ones(1, 1, 1, device=DEVICE), torch.ones(1, 1, 1)),
        lambda: host()[ids()],
        lambda: torch.stack((ids()[0], torch.tensor(1))),
        lambda: ids() + torch.arange(4),
    ],
)
def test_operands_on_two_devices_are_refused(mixed: Callable[[], Any]):
    with accelerator(), pytest.raises(RuntimeError, match=r"same device|on the cpu"):
        mixed()


def test_numbers_on_the_host_are_operands_of_pointwise_operations():
    with accelerator() as log:
        inputs = ids()
        log.clear()
        results = [inputs + torch.tensor(1), torch.where(inputs > 1, inputs, torch.tensor(0)), inputs * 2]
        assert log.counts[:3] == (0, 0, 0)
        assert [result.tolist() for result in results] == [[4, 2, 3, 2], [3, 0, 2, 0], [6, 2, 4, 2]]


@pytest.mark.parametrize(
    ("step", "operation"),
    [
        (lambda x: (x > 1).cumsum(0), "cumsum"),
        (lambda x: x >> torch.full((1, 1), 40, device=DEVICE), "__rshift__"),
        (lambda x: torch.special.xlogy(0.5, x.double()), "xlogy"),
        (lambda x: torch.xlogy(0.5, x.double()), "xlogy"),
        (lambda x: x.double().nan_to_num(nan=0.0, neginf=-math.inf), "nan_to_num"),
        (lambda x: x.aminmax(), "aminmax"),
        (lambda x: x.double().exp2(), "exp2"),
        (lambda x: torch.add(x > 1, x, alpha=2), "add"),
        (lambda x: x.double().ge_(2), "ge_"),
    ],
)
def test_what_other_accelerators_lack_is_refused(step: Callable[[Tensor], Any], operation: str):
    with accelerator(), pytest.raises(NotImplementedError, match=f"{operation}.*: not every accelerator"):
        step(ids())


def test_what_stands_in_for_it_is_not_refused():
    with accelerator():
        inputs = ids()
        assert (inputs > 1).cumsum(0, dtype=torch.int64).tolist() == [1, 1, 2, 2]
        assert torch.bitwise_right_shift(inputs, torch.full((1,), 1, device=DEVICE)).tolist() == [1, 0, 1, 0]
        assert torch.xlogy(inputs > 1, inputs.double()).exp().round().tolist() == [3, 1, 2, 1]
        assert (inputs / 0).nan_to_num(posinf=0.0).tolist() == [0.0] * 4
        assert (2 * inputs + (inputs > 1).long() - inputs * (inputs > 1)).tolist() == [4, 2, 3, 2]


def test_numpy_sees_no_device_tensor():
    with accelerator(), pytest.raises(TypeError, match="can't convert"):
        ids().numpy()


def test_nothing_is_done_to_device_tensors_unseen():
    with accelerator():
        inputs = ids()
    with pytest.raises(RuntimeError, match="outside of"):
        inputs + 1


@pytest.mark.parametrize(
    ("step", "kind", "operation"),
    [
        (lambda x: x.max().item(), WAIT, "_local_scalar_dense"),
        (lambda x: int(x[0]), WAIT, "_local_scalar_dense"),
        (lambda x: bool((x > 5).any()), WAIT, "_local_scalar_dense"),
        (lambda x: x.nonzero(), WAIT, "nonzero"),
        (lambda x: x[x > 1], WAIT, "index"),
        (lambda x: x.masked_select(x > 1), WAIT, "masked_select"),
        (lambda x: x.__setitem__(x > 1, torch.tensor(5)), WAIT, "index_put_"),
        (lambda x: torch.unique(x), WAIT, "_unique2"),
        (lambda x: torch.unique_consecutive(x), WAIT, "unique_consecutive"),
        (lambda x: torch.bincount(x), WAIT, "bincount"),
        (lambda x: x.repeat_interleave(x), WAIT, "repeat_interleave"),
        (lambda x: torch.segment_reduce(x.double(), "sum", lengths=x[:2]), WAIT, "segment_reduce"),
        (lambda x: x[torch.tensor([0, 1])], TO_DEVICE, "index"),
        (lambda x: torch.tensor([1, 2], device=DEVICE), TO_DEVICE, "_to_copy"),
        (lambda x: x.new_tensor([1, 2]), TO_DEVICE, "_to_copy"),
        (lambda x: torch.as_tensor([1, 2], device=DEVICE), TO_DEVICE, "_to_copy"),
        (lambda x: x.copy_(torch.arange(4)), TO_DEVICE, "copy_"),
        (lambda x: x.cpu(), TO_HOST, "_to_copy"),
        (lambda x: x.tolist(), TO_HOST, "_to_copy"),
        (lambda x: torch.zeros(4, dtype=torch.int64).copy_(x), TO_HOST, "copy_"),
        (lambda x: x.cumsum(0), LAUNCH, "cumsum"),
    ],
)
def test_what_is_asked_for_is_logged_once(step: Callable[[Tensor], Any], kind: str, operation: str):
    with accelerator() as log:
        inputs = ids()
        log.clear()
        step(inputs)
        asked = [event.operation for event in log.events if event.kind == kind]
        assert asked == [operation]


def test_what_is_known_without_the_data_neither_waits_nor_copies():
    with accelerator() as log:
        inputs = ids()
        log.clear()
        inputs[torch.arange(2, device=DEVICE)]
        inputs.repeat_interleave(inputs, output_size=7)
        inputs.repeat_interleave(2)
        torch.segment_reduce(inputs.double(), "sum", lengths=inputs[:2], unsafe=True)
        inputs[1:] += 1
        assert log.counts[:3] == (0, 0, 0)


def test_views_empty_memory_and_tensors_without_elements_launch_nothing():
    with accelerator() as log:
        inputs = ids()
        log.clear()
        inputs.view(2, 2).T.unsqueeze(0)[..., 1:].expand(3, 2, 1)
        torch.empty_like(inputs)
        inputs[:0] + 1
        assert log.counts == (0, 0, 0, 0)


def test_bytes_are_those_read_and_written():
    with accelerator() as log:
        inputs = ids()
        log.clear()
        inputs + inputs.expand(5, 4)
        assert log.moved == 8 * (4 + 4 + 20)
        log.clear()
        inputs.index_select(0, torch.zeros(1, dtype=torch.int64, device=DEVICE))
        assert [event.moved for event in log.events if event.operation == "index_select"] == [8 * 3]


def test_each_event_has_the_line_of_the_package_that_asked():
    with accelerator() as log:
        inputs = ids() > 1
        log.clear()
        indices(inputs)
        ((line, operation),) = log.lines(WAIT)
        assert operation == "nonzero"
        source, number = line.split(":")
        assert source == "_core/counting/pools.py"
        assert int(number) > 100


def test_views_share_what_they_hold():
    with accelerator():
        inputs = ids()
        inputs.view(2, 2)[1] += 10
        torch.add(inputs[:2], 5, out=inputs[:2])
        assert inputs.tolist() == [8, 6, 12, 11]


def results(step: Callable[[], Tensor]) -> set[tuple[float, ...]]:
    return {tuple(step().flatten().tolist()) for _ in range(20)}


def test_sums_of_floats_hang_on_no_order():
    with accelerator():
        numbers = torch.tensor([1e16, 1.0, -1e16, 1.0], dtype=torch.float64).to(DEVICE)
        zeros = torch.zeros(4, dtype=torch.int64).to(DEVICE)
        room = torch.zeros(1, dtype=torch.float64).to(DEVICE)
        assert len(results(lambda: room.index_add(0, zeros, numbers))) > 1
        assert len(results(lambda: room.clone().index_add_(0, zeros, numbers))) > 1
        assert len(results(lambda: room.clone().scatter_add_(0, zeros, numbers))) > 1
        assert len(results(lambda: room.clone().index_put_((zeros,), numbers, accumulate=True))) > 1
        assert len(results(lambda: room.long().scatter_add_(0, zeros, ids()))) == 1


def test_of_several_values_for_one_place_any_may_stay():
    with accelerator():
        inputs, zeros = ids(), torch.zeros(4, dtype=torch.int64).to(DEVICE)
        assert results(lambda: inputs.new_zeros(1).scatter_(0, zeros, inputs)) == {(1,), (2,), (3,)}
        assert results(lambda: inputs.new_zeros(1).index_copy_(0, zeros, inputs)) == {(1,), (2,), (3,)}


def test_equal_values_are_sorted_in_any_order_unless_asked():
    with accelerator():
        rows = torch.tensor([[1, 0, 1, 0]]).to(DEVICE)
        assert len(results(lambda: torch.sort(rows).indices)) == 4
        assert len(results(lambda: torch.argsort(rows, descending=True))) == 4
        assert results(lambda: torch.sort(rows).values) == {(0, 0, 1, 1)}
        assert results(lambda: torch.sort(rows, stable=True).indices) == {(1, 3, 0, 2)}


def test_a_graph_does_on_replay_what_was_captured_with_what_its_inputs_then_hold():
    with accelerator() as log:
        inputs, graph = ids(), Graph()
        with capture(graph, log):
            room = inputs.clone().add_(1)
            result = (room.view(2, 2)[1] * 2).cumsum(0)
        assert result.tolist() == [6, 10]
        inputs.copy_(torch.tensor([0, 0, 5, 6]).to(DEVICE))
        graph.replay()
        assert result.tolist() == [12, 26]


@pytest.mark.parametrize(
    "step", [lambda x: x.sum().item(), lambda x: x[x > 1], lambda x: x + torch.arange(4).to(DEVICE), lambda x: x.cpu()]
)
def test_what_waits_or_copies_from_the_host_is_not_captured(step: Callable[[Tensor], Any]):
    with accelerator() as log:
        inputs = ids()
        with pytest.raises(RuntimeError, match="not permitted when stream is capturing"), capture(Graph(), log):
            step(inputs)
