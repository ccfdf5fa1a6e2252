"""Copies, pickles and checkpoints of every metric."""

import copy
import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed.checkpoint as dcp
import torchmetrics
from metrics.cases import TEXT, Case, assert_same, assert_same_states, each_kind_of_state, each_metric, states_of
from torch.distributed.checkpoint.state_dict import get_model_state_dict, set_model_state_dict

from ngram_metrics import Bleu


def _saved(metric: torchmetrics.Metric) -> dict[str, Any]:
    metric.persistent(True)
    return metric.state_dict()


@pytest.mark.parametrize(
    "copied",
    [torchmetrics.Metric.clone, copy.deepcopy, lambda metric: pickle.loads(pickle.dumps(metric))],
    ids=["clone", "copy", "pickle"],
)
@each_kind_of_state
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
    metric.merge_state(twin)
    assert_same(metric.compute(), case.value(average, [*case.batches[:2], *case.batches]))

    metric.reset()
    twin.update(*case.batches[1])
    assert_same(twin.compute(), case.value(average, [*case.batches, case.batches[1]]))


@each_metric
def test_states_are_saved_only_when_asked_for_each_under_the_name_of_an_attribute(case: Case, average: str):
    metric = case.filled(average)
    assert metric.state_dict() == {}
    assert set(_saved(metric)) == set(metric.metric_state) - {"callables"} | {"saved_on"}
    metric.persistent(False)
    assert metric.state_dict() == {}
    for name, saved in _saved(metric).items():
        assert_same(saved, getattr(metric, name))


@pytest.mark.filterwarnings("ignore:torch.distributed is disabled, unavailable or uninitialized")
@pytest.mark.parametrize("average", ["micro", "macro"])
def test_a_checkpoint_of_torch_distributed_is_loaded_into_a_new_metric(average: str, tmp_path: Path):
    saving, loading = (
        torch.nn.ModuleDict({"model": torch.nn.Linear(2, 1), "metric": Bleu(average=average)}) for _ in range(2)
    )
    for module in (saving, loading):
        module["metric"].persistent(True)
    saving["metric"].update(*TEXT[0])
    dcp.save({"module": get_model_state_dict(saving)}, checkpoint_id=tmp_path)
    state = {"module": get_model_state_dict(loading)}
    dcp.load(state, checkpoint_id=tmp_path)
    set_model_state_dict(loading, state["module"])
    for module in (saving, loading):
        module["metric"].update(*TEXT[1])
    assert_same(loading["metric"].compute(), saving["metric"].compute())
    assert torch.equal(loading["model"].weight, saving["model"].weight)


@each_metric
def test_a_state_dict_is_a_snapshot(case: Case, average: str):
    metric = case.filled(average, case.batches[:2])
    saved = _saved(metric)
    metric.update(*case.batches[2])
    metric.reset()
    loaded, again = case.make(average), case.make(average)
    loaded.load_state_dict(saved)
    loaded.update(*case.batches[2])
    loaded.reset()
    again.load_state_dict(saved)
    assert_same(again.compute(), case.value(average, case.batches[:2]))


@each_metric
def test_a_loaded_metric_has_what_was_saved_alone_and_goes_on(case: Case, average: str, tmp_path: Path):
    """The callables of another process have no number here."""
    for batches in ((), case.batches[:2]):
        torch.save(_saved(case.filled(average, batches)), tmp_path / "metric.pt")
        used = case.filled(average, case.batches[1:2])
        used.compute()
        for metric in (case.make(average), used):
            number = metric.callables.clone()
            metric.load_state_dict(torch.load(tmp_path / "metric.pt", weights_only=True))
            assert metric.update_called
            assert torch.equal(metric.callables, number)
            if batches:
                assert_same(metric.compute(), case.value(average, batches))
            metric.update(*case.batches[2])
            assert_same(metric.compute(), case.value(average, [*batches, case.batches[2]]))


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
def test_load_refuses_other_settings_and_other_averages(case: Case, average: str):
    metric = case.filled(average, case.batches[:1])
    metric.compute()
    assert case.others
    for change in case.others:
        saved = _saved(case.filled(average, **change))
        _check_refused(metric, saved, "other settings than this .*: expected the same class, options and average")
    for other in case.averages:
        if other != average:
            _check_refused(metric, _saved(case.filled(other)), "saved states are|other settings")


@each_metric
def test_load_refuses_states_that_lack_some_or_are_others(case: Case, average: str):
    metric, saved = case.filled(average, case.batches[:1]), _saved(case.filled(average))
    for name, state in saved.items():
        rest = {key: state for key, state in saved.items() if key != name}
        _check_refused(metric, rest, r"the saved states are \[.*\]: expected")
        for wrong in (5, None):
            _check_refused(
                metric, {**saved, name: wrong}, rf"the saved state {name} is an? \w+: expected a tensor|other settings"
            )
        if name == "rows":
            _check_refused(metric, {**saved, name: [*state, 5]}, "the saved state rows is an int: expected a tensor")
            state = state[0]
        reason = f"the saved state {name} is torch.float16 of shape .*: expected torch|other settings"
        _check_refused(metric, {**saved, name: state.half()}, reason)
        reason = f"the saved state {name} is torch.* of shape .*: expected torch|other settings"
        _check_refused(metric, {**saved, name: torch.stack([state, state])}, reason)


def test_a_metric_without_a_test_of_processes_computes_its_own_score() -> None:
    """As in torchmetrics, where the attribute may be None after construction."""
    metric = Bleu(ngram=1)
    metric.update(["a b"], ["a b"])
    metric.distributed_available_fn = None
    assert metric.compute() == 1


def test_a_subclass_may_join_processes_in_its_own_way() -> None:
    joined = []

    class Joining(Bleu):
        def sync(self, *args: object, **kwargs: object) -> None:
            joined.append(kwargs)

    metric = Joining()
    metric.update(["a b"], ["a b"])
    metric.compute()
    assert len(joined) == 1


def test_states_that_are_written_in_place_are_what_was_counted() -> None:
    """As a caller's own ``all_reduce`` writes them, on a rank that has no data too."""
    counted, metric = Bleu(), Bleu()
    counted.update(["the cat sat on the mat"], ["the cat is on the mat"])
    for name in ("segments", "counted", "reference_range", "row"):
        getattr(metric, name).copy_(getattr(counted, name))
    with pytest.warns(UserWarning, match="before the ``update`` method"):
        assert metric.compute() == counted.compute()
    for each in (metric, counted):
        each.update(["a b c d e"], ["a b c d x"])
    assert metric.compute() == counted.compute()


def test_a_subclass_adds_its_own_states_as_to_any_metric_of_torchmetrics() -> None:
    class WithLoss(Bleu):
        def __init__(self) -> None:
            super().__init__(compute_on_cpu=True)
            self.add_state("loss", torch.zeros(()), "sum")
            self.add_state("labels", torch.zeros(0, 3, dtype=torch.int64), "cat")

        def update(self, preds: Any, target: Any, loss: torch.Tensor) -> None:  # type: ignore[override]
            super().update(preds, target)
            self.loss = self.loss + loss

    metric = WithLoss()
    metric.update(["a b"], ["a b"], torch.ones((), requires_grad=True))
    assert metric.loss == 1
    assert not metric.loss.requires_grad
    metric.reset()
    assert metric.loss == 0
    assert metric.labels.shape == (0, 3)
