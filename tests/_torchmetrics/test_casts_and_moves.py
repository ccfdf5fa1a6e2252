"""States keep their dtype whatever is cast around them, and go where the metric goes."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torchmetrics
from metrics.cases import (
    Case,
    assert_same,
    assert_same_states,
    each_kind_of_state,
    each_metric,
    named_cases,
    scores_of,
    states_of,
)
from torch import Tensor

from ngram_metrics import Bleu, ChrF, ROUGEScore
from ngram_metrics._core.basics import tensors
from ngram_metrics._core.scoring import measure


def _tensors(state: Any) -> list[Tensor]:
    return state if isinstance(state, list) else [state]


def _dtypes(metric: torchmetrics.Metric) -> dict[str, set[torch.dtype]]:
    return {name: {part.dtype for part in _tensors(state)} for name, state in metric.metric_state.items()}


def _float64_states(metric: torchmetrics.Metric) -> set[str]:
    return {name for name, dtypes in _dtypes(metric).items() if torch.float64 in dtypes}


def _assert_on(metric: torchmetrics.Metric, device: str, on_the_cpu: set[str] = frozenset()) -> None:
    """What was counted is asked for at every update, and stays where that does not wait."""
    for name, state in metric.metric_state.items():
        expected = "cpu" if name in ("settings", "kind") or name in on_the_cpu else device
        assert {part.device.type for part in _tensors(state)} <= {expected}, name


def _inside_a_module(metric: torchmetrics.Metric) -> None:
    torch.nn.Sequential(torch.nn.Linear(1, 1), metric).to(torch.bfloat16)


Cast = Callable[[torchmetrics.Metric], Any]
CASTS: dict[str, Cast] = {
    "half": lambda metric: metric.half(),
    "bfloat16": lambda metric: metric.bfloat16(),
    "double": lambda metric: metric.double(),
    "to-bfloat16": lambda metric: metric.to(torch.bfloat16),
    "set_dtype": lambda metric: metric.set_dtype(torch.bfloat16),
    "set_dtype-str": lambda metric: metric.set_dtype("torch.HalfTensor"),
    "inside-a-module": _inside_a_module,
}
each_cast = pytest.mark.parametrize("cast", CASTS.values(), ids=CASTS)


@each_kind_of_state
@each_cast
def test_casts_change_nothing(case: Case, average: str, cast: Cast):
    metric = case.filled(average, case.batches[:2])
    states = states_of(metric)
    value = metric.compute()
    returned = cast(metric)
    assert returned is None or returned is metric
    assert_same_states(metric, states)
    assert_same(metric.compute(), value)


@each_kind_of_state
@each_cast
def test_after_a_cast_a_metric_goes_on(case: Case, average: str, cast: Cast):
    metric = case.filled(average, case.batches[:2])
    cast(metric)
    metric.update(*case.batches[2])
    assert_same(metric.compute(), case.value(average))


@each_kind_of_state
@each_cast
def test_after_a_cast_and_a_reset_the_states_have_their_dtypes(case: Case, average: str, cast: Cast):
    metric = case.filled(average)
    dtypes = _dtypes(metric)
    cast(metric)
    metric.reset()
    metric.update(*case.whole)
    assert _dtypes(metric) == dtypes


@each_metric
def test_states_are_integers_or_float64(case: Case, average: str):
    metric = case.make(average)
    for dtypes in (_dtypes(metric), _dtypes(case.filled(average))):
        assert set().union(*dtypes.values()) <= {torch.uint8, torch.int64, torch.float64}
    assert ("score_sum" in _float64_states(metric)) == (average == "macro")


@each_metric
def test_a_metric_counts_in_and_out_of_inference_mode_by_turns(case: Case, average: str):
    with torch.inference_mode():
        metric = case.filled(average, case.batches[:1])
    metric.update(*case.batches[1])
    with torch.inference_mode():
        metric.update(*case.batches[2])
    value = metric.compute()
    assert_same(value, case.value(average))
    assert not any(scores.requires_grad for scores in scores_of(value))


@each_metric
def test_a_metric_that_counted_in_inference_mode_can_be_reset_and_cloned(case: Case, average: str):
    with torch.inference_mode():
        metric = case.filled(average)
    twin = metric.clone()
    metric.reset()
    metric.update(*case.whole)
    assert_same(metric.compute(), case.value(average))
    assert_same(twin.compute(), case.value(average))


def _float64_only_on_the_cpu(device: torch.device) -> torch.dtype:
    return torch.float64 if device.type == "cpu" else torch.float32


@pytest.mark.parametrize("case", named_cases())
def test_without_float64_on_the_device_the_sum_stays_on_the_cpu(case: Case, monkeypatch: pytest.MonkeyPatch):
    metric = case.filled("macro", confidence=None)
    states = states_of(metric)
    monkeypatch.setattr(tensors, "float_dtype", _float64_only_on_the_cpu)
    metric.to("meta")
    sums = _float64_states(metric)
    dtypes = _dtypes(metric)
    assert "score_sum" in sums
    for name in sums:
        assert_same(getattr(metric, name), states[name])
    _assert_on(metric, "meta", sums)
    metric.reset()
    _assert_on(metric, "meta", sums)
    assert _dtypes(metric) == dtypes


def _copy_off_meta(tensor: Tensor) -> Tensor:
    """Zeros, because tensors on ``meta`` have no data."""
    return torch.zeros(tensor.shape, dtype=tensor.dtype) if tensor.is_meta else tensor


@pytest.fixture
def _meta_without_float64(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if ``meta`` had data, and no float64."""

    def copy_to(device: torch.device, *sent: Tensor) -> list[Tensor]:
        return [tensor.to(device) if device.type == "meta" else _copy_off_meta(tensor) for tensor in sent]

    def to_float(counts: Any) -> Any:
        if isinstance(counts, np.ndarray):
            return counts.astype(np.float64)
        return counts.to(_float64_only_on_the_cpu(counts.device))

    monkeypatch.setattr(tensors, "float_dtype", _float64_only_on_the_cpu)
    monkeypatch.setattr(tensors, "copy_to", copy_to)
    monkeypatch.setattr(measure, "to_float", to_float)
    monkeypatch.setattr(Tensor, "cpu", _copy_off_meta)


IDS = torch.tensor([[1, 2, 3, 4]])


@pytest.mark.usefixtures("_meta_without_float64")
@pytest.mark.parametrize("preds", [["a b c d"], IDS, IDS.to("meta")], ids=["text", "ids on the host", "ids"])
@pytest.mark.parametrize(
    ("make", "floats"),
    [
        (functools.partial(Bleu, average="macro"), {"score_sum"}),
        (ROUGEScore, {"score_sum"}),
        (functools.partial(ROUGEScore, accumulate="avg"), {"score_sum", "row"}),
        (functools.partial(ROUGEScore, accumulate="avg", average="none"), {"row", "rows"}),
        (functools.partial(ROUGEScore, accumulate="avg", confidence=0.9), {"score_sum", "row", "rows"}),
    ],
)
def test_without_float64_on_the_device_floats_are_summed_in_float64_on_the_cpu(
    make: Callable[..., Any], floats: set[str], preds: Any
):
    metric = make(device="meta", pad_id=0)
    for _ in range(3):
        metric.update(preds, preds)
    assert _float64_states(metric) == floats
    _assert_on(metric, "meta", floats)
    for value in scores_of(metric.compute()):
        assert value.device.type == "meta"
        assert value.dtype == torch.float32


def test_a_value_from_before_a_move_is_computed_again(monkeypatch: pytest.MonkeyPatch):
    """It would be one in float64 on the CPU, where the device has no float64."""
    metric = ChrF()
    metric.update("a b", "a c")
    metric.compute()
    monkeypatch.setattr(tensors, "float_dtype", _float64_only_on_the_cpu)
    assert metric.to("meta").compute().device.type == "meta"


@each_metric
def test_states_lie_on_the_device_asked_for(case: Case, average: str):
    for metric in (
        case.make(average, device="meta"),
        case.make(average, device=torch.device("meta")),
        case.make(average).to("meta"),
    ):
        assert metric.device == torch.device("meta")
        _assert_on(metric, "meta")


@each_metric
def test_states_lie_on_the_default_device(case: Case, average: str):
    with torch.device("meta"):
        metric = case.make(average)
    assert metric.device == torch.device("meta")
    _assert_on(metric, "meta")


@each_metric
def test_states_that_were_asked_for_on_the_cpu_do_not_follow_the_default_device(case: Case, average: str):
    with torch.device("meta"):
        metric = case.make(average, device="cpu")
    assert metric.device == torch.device("cpu")
    metric.update(*case.whole)
    assert_same(metric.compute(), case.value(average))


@pytest.mark.parametrize("backend", ["nccl", "gloo"])
@each_kind_of_state
def test_states_on_the_cpu_are_gathered_from_the_device_if_the_backend_needs_it(
    case: Case, average: str, backend: str, monkeypatch: pytest.MonkeyPatch
):
    """Two ranks with the same states; what was copied to the device is known by its identity."""
    on_device: list[Tensor] = []

    def cuda(tensor: Tensor) -> Tensor:
        on_device.append(tensor.clone())
        return on_device[-1]

    def all_gather(gathered: list[Tensor], tensor: Tensor, group: Any = None) -> None:
        assert any(tensor is one for one in on_device) == (backend == "nccl")
        for rank in gathered:
            rank.copy_(tensor)

    metric = case.filled(average)
    whole = case.filled(average)
    whole.merge_state(case.filled(average))
    group = {"is_initialized": True, "get_backend": backend, "get_world_size": 2, "get_rank": 1}
    for name, value in group.items():
        monkeypatch.setattr(torch.distributed, name, lambda *_, value=value, **__: value)
    monkeypatch.setattr(torch.distributed, "all_gather", all_gather)
    monkeypatch.setattr(Tensor, "cuda", cuda)
    value = metric.compute()
    monkeypatch.undo()
    assert bool(on_device) == (backend == "nccl")
    assert_same(value, whole.compute())


@pytest.mark.parametrize(
    "options", [{"average": "none"}, {"confidence": 0.9}, {"average": "none", "compute_on_cpu": True}]
)
def test_rows_of_another_device_go_to_where_the_own_ones_are(options):
    """The meta device stands for another one."""
    ids = torch.tensor([[1, 2, 3]])
    metric, other = (ChrF(device=device, pad_id=0, **options) for device in ("meta", "cpu"))
    other.update(ids, ids)
    metric.merge_state(other)
    assert [rows.device.type for rows in metric.rows] == ["cpu" if "compute_on_cpu" in options else "meta"]
    assert metric.row.device.type == "meta"


def _synced_by(gather: Callable[..., list[Tensor]], **options: Any) -> ChrF:
    return ChrF(dist_sync_fn=gather, distributed_available_fn=lambda: True, **options)


def test_without_sync_nothing_is_gathered():
    def fail(*_: object, **__: object) -> list[Tensor]:
        raise AssertionError("gathered")

    metric = _synced_by(fail, sync_on_compute=False)
    metric.update("a b", "a c")
    assert metric.details()
    assert metric.signature.startswith("nrefs:1")
    assert metric.compute() > 0


def test_states_loaded_while_the_states_are_those_of_all_processes_stay():
    saved = ChrF()
    metric = _synced_by(lambda state, group: [state, state])
    saved.persistent(True)
    saved.update("a b", "a c")
    metric.update("x y", "z")
    metric.sync(metric.dist_sync_fn)
    metric.load_state_dict(saved.state_dict())
    assert torch.equal(metric.row, saved.row)
    metric.update("a b", "a c")
    metric.compute()
    assert torch.equal(metric.row, 2 * saved.row)
