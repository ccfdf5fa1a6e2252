"""States keep their dtype whatever is cast around them, and go where the metric goes."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torchmetrics
from faces.cases import (
    Case,
    assert_same,
    assert_same_states,
    each_case,
    each_metric,
    each_metric_on_ids,
    each_metric_with_details,
    scores_of,
    states_of,
)
from torch import Tensor

from ngram_metrics.torchmetrics import accumulator, saving


def _tensors(state: Any) -> list[Tensor]:
    return state if isinstance(state, list) else [state]


def _dtypes(metric: torchmetrics.Metric) -> dict[str, set[torch.dtype]]:
    return {name: {one.dtype for one in _tensors(state)} for name, state in metric.metric_state.items()}


def _float64_states(metric: torchmetrics.Metric) -> set[str]:
    return {name for name, dtypes in _dtypes(metric).items() if torch.float64 in dtypes}


def _on_device(metric: torchmetrics.Metric) -> dict[str, set[str]]:
    return {name: {one.device.type for one in _tensors(state)} for name, state in metric.metric_state.items()}


def _expected_devices(metric: torchmetrics.Metric, device: str) -> dict[str, set[str]]:
    """What was counted is asked for at every update, and stays where that does not wait."""
    return {
        name: {"cpu" if name == "counted" else device for _ in _tensors(state)}
        for name, state in metric.metric_state.items()
    }


def _inside_a_module(metric: torchmetrics.Metric) -> None:
    torch.nn.Sequential(torch.nn.Linear(1, 1), metric).to(torch.bfloat16)


casts = pytest.mark.parametrize(
    "cast",
    [
        lambda metric: metric.half(),
        lambda metric: metric.bfloat16(),
        lambda metric: metric.double(),
        lambda metric: metric.to(torch.bfloat16),
        lambda metric: metric.set_dtype(torch.bfloat16),
        lambda metric: metric.set_dtype("torch.HalfTensor"),
        _inside_a_module,
    ],
    ids=["half", "bfloat16", "double", "to-bfloat16", "set_dtype", "set_dtype-str", "inside-a-module"],
)


@casts
@each_metric
def test_casts_change_nothing(case: Case, average: str, cast: Callable[[torchmetrics.Metric], Any]):
    metric = case.filled(average, case.batches[:2])
    states, value = states_of(metric), metric.compute()
    returned = cast(metric)
    assert returned is None or returned is metric
    assert_same_states(metric, states)
    assert_same(metric.compute(), value)

    metric.update(*case.batches[2])
    assert_same(metric.compute(), case.value(average))
    dtypes = _dtypes(metric)
    metric.reset()
    metric.update(*case.whole)
    assert _dtypes(metric) == dtypes
    assert_same(metric.compute(), case.value(average))


@each_metric
def test_states_are_integers_or_float64(case: Case, average: str):
    metric = case.make(average)
    for dtypes in (_dtypes(metric), _dtypes(case.filled(average))):
        assert set().union(*dtypes.values()) <= {torch.uint8, torch.int64, torch.float64}
    assert ("score_sum" in _float64_states(metric)) == (average == "macro")


@each_metric
def test_the_default_dtype_changes_nothing(case: Case, average: str, request: pytest.FixtureRequest):
    expected = case.value(average)
    request.getfixturevalue("bfloat16_by_default")
    metric = case.filled(average)
    assert_same(metric.compute(), expected)
    assert_same(metric(*case.whole), expected)
    metric.reset()
    assert_same(metric(*case.whole), expected)


@each_metric
def test_autocast_changes_nothing(case: Case, average: str):
    with torch.autocast("cpu", torch.bfloat16):
        metric = case.filled(average)
        value, batch_value = metric.compute(), metric(*case.batches[0])
    assert_same(value, case.value(average))
    assert_same(batch_value, case.value(average, case.batches[:1]))


@each_metric_with_details
def test_autocast_changes_no_details(case: Case, average: str):
    with torch.autocast("cpu", torch.bfloat16):
        details = case.filled(average).details()
    assert_same(details, case.filled(average).details())


@each_metric
def test_inference_mode(case: Case, average: str):
    with torch.inference_mode():
        metric = case.filled(average)
        value = metric.compute()
        metric.reset()
        batch_value = metric(*case.batches[0])
    metric.update(*case.batches[1])
    with torch.inference_mode():
        metric.update(*case.batches[2])
    assert_same(metric.compute(), value)
    assert_same(batch_value, case.value(average, case.batches[:1]))
    twin = metric.clone()
    metric.reset()
    for batch in case.batches:
        metric.update(*batch)
    assert_same(metric.compute(), value)
    assert_same(twin.compute(), value)


@each_metric
def test_where_gradients_are_on_a_score_has_none(case: Case, average: str):
    with torch.enable_grad():
        for scores in scores_of(case.filled(average).compute()) + scores_of(case.make(average)(*case.batches[0])):
            assert not scores.requires_grad


@each_metric_on_ids
def test_padded_ids_never_wait_for_the_device(case: Case, average: str):
    """On the meta device every step that would read a value raises."""
    metric = case.make(average).to("meta")
    for preds, target in case.batches:
        metric.update(preds.to("meta"), target.to("meta"))
    expected = scores_of(case.value(average))
    for scores, real in zip(scores_of(metric.compute()), expected, strict=True):
        assert (scores.device.type, scores.dtype, scores.shape) == ("meta", torch.float64, real.shape)
    for part in metric.details().values() if case.has_details else ():
        assert part.device.type == "meta"
    assert _on_device(metric) == _expected_devices(metric, "meta")
    assert _dtypes(metric) == _dtypes(case.filled(average))
    metric.reset()
    assert metric.row.device.type == "meta"


@each_metric_on_ids
def test_forward_never_waits_for_the_device(case: Case, average: str):
    metric = case.make(average).to("meta")
    batch = tuple(part.to("meta") for part in case.batches[0])
    metric(*batch)
    for scores in scores_of(metric(*batch)):
        assert scores.device.type == "meta"
    assert metric.update_count == 2


def _float64_only_on_the_cpu(device: torch.device) -> torch.dtype:
    return torch.float64 if device.type == "cpu" else torch.float32


@each_case
def test_without_float64_on_the_device_the_sum_stays_on_the_cpu(case: Case, monkeypatch: pytest.MonkeyPatch):
    metric = case.filled("macro")
    states = states_of(metric)
    monkeypatch.setattr(saving, "score_dtype", _float64_only_on_the_cpu)
    metric.to("meta")
    sums, dtypes = _float64_states(metric), _dtypes(metric)
    assert "score_sum" in sums
    for name in sums:
        assert_same(getattr(metric, name), states[name])
    expected = {**_expected_devices(metric, "meta"), **{name: {"cpu"} for name in sums}}
    assert _on_device(metric) == expected
    metric.reset()
    assert _on_device(metric) == expected
    assert _dtypes(metric) == dtypes


@each_case
def test_what_was_computed_before_a_move_is_not_given_out_after_it(case: Case, monkeypatch: pytest.MonkeyPatch):
    """Else its dtype would be one that the device may not have."""
    metric = case.filled("macro")
    value = metric.compute()
    for module in (accumulator, saving):
        monkeypatch.setattr(module, "score_dtype", lambda device: torch.float32)
    metric.to("cpu")
    for scores, exact in zip(scores_of(metric.compute()), scores_of(value), strict=True):
        assert_same(scores, exact.float())


@each_case
def test_without_float64_the_mean_is_rounded_once(case: Case, monkeypatch: pytest.MonkeyPatch):
    expected = case.value("macro")
    for module in (accumulator, saving):
        monkeypatch.setattr(module, "score_dtype", lambda device: torch.float32)
    metric = case.filled("macro")
    assert "score_sum" in _float64_states(metric)
    for scores, exact in zip(scores_of(metric.compute()), scores_of(expected), strict=True):
        assert_same(scores, exact.float())


@each_metric
def test_the_device_argument(case: Case, average: str):
    for device in ("meta", torch.device("meta")):
        metric = case.make(average, device=device)
        assert metric.device == torch.device("meta")
        assert metric.row.device.type == "meta"
    assert case.make(average).device == torch.device("cpu")
    assert case.make(average, device="cpu").to("meta").row.device.type == "meta"


@each_metric
def test_without_the_device_argument_the_default_device_holds(case: Case, average: str):
    with torch.device("meta"):
        metric = case.make(average)
    assert metric.device == torch.device("meta")
    assert _on_device(metric) == _expected_devices(metric, "meta")


@each_metric
def test_the_device_argument_goes_before_the_default_device(case: Case, average: str):
    with torch.device("meta"):
        metric = case.make(average, device="cpu")
    assert metric.device == torch.device("cpu")
    metric.update(*case.whole)
    assert_same(metric.compute(), case.value(average))


@pytest.mark.cuda
@pytest.mark.parametrize("options", [{}, {"compute_on_cpu": True}], ids=str)
@each_metric
def test_on_cuda_the_same_as_on_the_cpu(case: Case, average: str, options: dict[str, bool]):
    metric = case.make(average, device="cuda", **options)
    for preds, target in case.batches:
        on_device = isinstance(preds, Tensor)
        metric.update(*((preds.cuda(), target.cuda()) if on_device else (preds, target)))
    value = metric.compute()
    # compute_on_cpu moves states that are lists: the rows, of which average none computes its scores.
    place = "cpu" if options and average == "none" else "cuda"
    for scores, expected in zip(scores_of(value), scores_of(case.value(average)), strict=True):
        assert scores.device.type == place
        assert_same(scores.cpu(), expected)
    metric.to("cpu")
    metric.update(*case.batches[0])
    assert_same(metric.compute(), case.value(average, [*case.batches, case.batches[0]]))
