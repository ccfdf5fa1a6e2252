"""Copies, pickles and checkpoints of every metric."""

import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
import torchmetrics
from faces.cases import Case, assert_same, assert_same_states, each_metric, states_of


def _pickled(metric: torchmetrics.Metric) -> torchmetrics.Metric:
    return pickle.loads(pickle.dumps(metric))


def _cloned(metric: torchmetrics.Metric) -> torchmetrics.Metric:
    """A deep copy."""
    return metric.clone()


copies = pytest.mark.parametrize("copied", [_cloned, _pickled])


@copies
@each_metric
def test_a_copy_holds_the_same_and_is_independent(
    case: Case, average: str, copied: Callable[[torchmetrics.Metric], torchmetrics.Metric]
):
    metric = case.filled(average, case.batches[:2])
    value, states = metric.compute(), states_of(metric)
    twin = copied(metric)
    assert type(twin) is type(metric)
    assert_same_states(twin, states)
    assert twin.update_count == 2
    assert_same(twin.compute(), value)

    twin.update(*case.batches[2])
    assert_same(twin.compute(), case.value(average))
    assert_same_states(metric, states)
    assert_same(metric.compute(), value)

    twin.reset()
    metric.update(*case.batches[2])
    assert_same(metric.compute(), case.value(average))
    twin.update(*case.batches[1])
    assert_same(twin.compute(), case.value(average, case.batches[1:2]))


@copies
@each_metric
def test_a_copy_merges_with_the_original(
    case: Case, average: str, copied: Callable[[torchmetrics.Metric], torchmetrics.Metric]
):
    metric = case.filled(average)
    metric.merge_state(copied(metric))
    assert_same(metric.compute(), case.value(average, [*case.batches, *case.batches]))


def _saved(metric: torchmetrics.Metric) -> dict[str, Any]:
    metric.persistent(True)
    return metric.state_dict()


@each_metric
def test_states_are_saved_only_when_asked_for(case: Case, average: str):
    metric = case.filled(average)
    assert metric.state_dict() == {}
    assert set(_saved(metric)) == set(metric.metric_state) - {"callables"}
    metric.persistent(False)
    assert metric.state_dict() == {}


@each_metric
def test_a_state_dict_is_a_snapshot(case: Case, average: str):
    metric = case.filled(average, case.batches[:2])
    saved = _saved(metric)
    metric.update(*case.batches[2])
    metric.reset()
    loaded = case.make(average)
    loaded.load_state_dict(saved)
    loaded.update(*case.batches[2])
    loaded.reset()
    again = case.make(average)
    again.load_state_dict(saved)
    assert_same(again.compute(), case.value(average, case.batches[:2]))


@each_metric
def test_a_loaded_metric_goes_on_and_does_not_warn(case: Case, average: str, tmp_path: Path):
    torch.save(_saved(case.filled(average, case.batches[:2])), tmp_path / "metric.pt")
    metric = case.make(average)
    metric.load_state_dict(torch.load(tmp_path / "metric.pt", weights_only=True))
    assert metric.update_called
    assert_same(metric.compute(), case.value(average, case.batches[:2]))
    metric.update(*case.batches[2])
    assert_same(metric.compute(), case.value(average))


@each_metric
def test_states_saved_while_they_are_synced_are_gone_on_from(case: Case, average: str):
    metric = case.filled(average, case.batches[:2])
    metric.persistent(True)
    with metric.sync_context(dist_sync_fn=lambda state, group=None: [state, state], distributed_available=lambda: True):
        saved = metric.state_dict()
    resumed = case.make(average)
    resumed.persistent(True)
    resumed.load_state_dict(saved)
    resumed.update(*case.batches[2])
    assert_same(resumed.compute(), case.value(average, [*case.batches[:2], *case.batches]))


@each_metric
def test_load_replaces_what_was_counted_and_computed(case: Case, average: str):
    saved = _saved(case.filled(average))
    metric = case.filled(average, case.batches[1:2])
    metric.compute()
    metric.load_state_dict(saved)
    assert_same(metric.compute(), case.value(average))


@each_metric
def test_load_keeps_the_number_of_this_process(case: Case, average: str):
    """The callables of another process have no number here."""
    metric = case.make(average)
    number = metric.callables.clone()
    saved = _saved(case.filled(average))
    assert "callables" not in saved
    metric.load_state_dict(saved)
    assert torch.equal(metric.callables, number)


@each_metric
def test_a_metric_inside_a_module(case: Case, average: str):
    saving, loading = (
        torch.nn.ModuleDict({"model": torch.nn.Linear(2, 1), "metrics": torch.nn.ModuleList([metric])})
        for metric in (case.filled(average), case.make(average))
    )
    assert set(saving.state_dict()) == {"model.weight", "model.bias"}
    loading.load_state_dict(saving.state_dict())
    assert not loading["metrics"][0].update_called

    saving["metrics"][0].persistent(True)
    saved = saving.state_dict()
    assert "metrics.0.row" in saved
    loading.load_state_dict(saved)
    assert_same(loading["metrics"][0].compute(), case.value(average))
    assert torch.equal(loading["model"].weight, saving["model"].weight)


def _check_refused(metric: torchmetrics.Metric, saved: Mapping[str, Any], reason: str) -> None:
    """Refused with a reason, and nothing is set, also where missing keys are allowed."""
    states, count, computed = states_of(metric), metric.update_count, metric._computed
    for strict in (True, False):
        with pytest.raises(RuntimeError, match=reason):
            metric.load_state_dict(saved, strict=strict)
        assert_same_states(metric, states)
        assert metric.update_count == count
        assert metric._computed is computed


@each_metric
def test_load_refuses_other_settings(case: Case, average: str):
    metric = case.filled(average, case.batches[:1])
    metric.compute()
    for change in case.others:
        saved = _saved(case.filled(average, **change))
        _check_refused(metric, saved, "other settings than this .*: expected the same class, options and average")
    assert case.others


@each_metric
def test_load_refuses_another_average(case: Case, average: str):
    metric = case.filled(average, case.batches[:1])
    for other in case.averages:
        if other != average:
            _check_refused(metric, _saved(case.filled(other)), "saved states are|other settings")


@each_metric
def test_load_refuses_states_that_lack_some(case: Case, average: str):
    metric, saved = case.filled(average, case.batches[:1]), _saved(case.filled(average))
    for name in saved:
        rest = {key: state for key, state in saved.items() if key != name}
        _check_refused(metric, rest, r"the saved states are \[.*\]: expected \[.*\]")


@each_metric
def test_load_refuses_another_dtype(case: Case, average: str):
    metric, saved = case.filled(average, case.batches[:1]), _saved(case.filled(average))
    for name, state in saved.items():
        cast = [one.half() for one in state] if isinstance(state, list) else state.half()
        reason = f"the saved state {name} is torch.float16 of shape .*: expected torch|other settings"
        _check_refused(metric, {**saved, name: cast}, reason)


@each_metric
def test_load_refuses_another_shape(case: Case, average: str):
    metric, saved = case.filled(average, case.batches[:1]), _saved(case.filled(average))
    for name, state in saved.items():
        shaped = [one[:, :-1] for one in state] if isinstance(state, list) else torch.stack([state, state])
        reason = f"the saved state {name} is torch.* of shape .*: expected torch|other settings"
        _check_refused(metric, {**saved, name: shaped}, reason)


@each_metric
def test_load_refuses_what_is_no_state(case: Case, average: str):
    metric, saved = case.filled(average, case.batches[:1]), _saved(case.filled(average))
    for name in saved:
        for wrong in (5, [5], None):
            _check_refused(metric, {**saved, name: wrong}, name)
