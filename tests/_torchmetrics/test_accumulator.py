"""What every metric does between construction and reset: update, compute, forward, sync."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torchmetrics
from metrics.cases import (
    Case,
    assert_same,
    assert_same_states,
    each_kind_of_state,
    each_metric,
    each_metric_with_details,
    scores_of,
    states_of,
)
from torchmetrics.utilities.exceptions import TorchMetricsUserError


def _two_ranks_of_the_same(state: torch.Tensor, group: Any = None) -> list[torch.Tensor]:
    return [state, state]


#: Makes a metric one of two ranks, which both hold the same.
TWO_RANKS: dict[str, Any] = {"dist_sync_fn": _two_ranks_of_the_same, "distributed_available_fn": lambda: True}


def _sync(metric: torchmetrics.Metric) -> None:
    metric.sync(dist_sync_fn=_two_ranks_of_the_same, distributed_available=lambda: True)


def _out_of_memory(*_: Any, **__: Any) -> None:
    raise MemoryError


@each_metric
def test_update_takes_its_arguments_by_name(case: Case, average: str):
    metric, forward = case.make(average), case.make(average)
    preds, target = case.whole
    metric.update(target=target, preds=preds)
    assert_same(forward(target=target, preds=preds), case.value(average))
    assert_same(metric.compute(), case.value(average))
    assert list(inspect.signature(metric.update).parameters) == ["preds", "target"]


@pytest.mark.parametrize("options", [{}, {"compute_with_cache": False}], ids=str)
@each_metric
def test_compute_is_never_stale_and_changes_nothing(case: Case, average: str, options: dict[str, Any]):
    metric = case.make(average, **options)
    for seen, batch in enumerate(case.batches):
        metric.update(*batch)
        states = states_of(metric)
        for _ in range(2):
            assert_same(metric.compute(), case.value(average, case.batches[: seen + 1]))
            assert (metric._computed is None) == (not metric.compute_with_cache)
        assert_same_states(metric, states)


@each_metric
def test_a_value_that_is_changed_in_place_changes_no_other_value(case: Case, average: str):
    metric = case.make(average)
    of_batch = metric(*case.whole)
    for value in (of_batch, metric.compute(), metric.compute()):
        for scores in scores_of(value):
            scores.mul_(100)
        if isinstance(value, dict):
            value.clear()
    assert_same(metric.compute(), case.value(average))
    assert_same(metric._forward_cache, case.value(average))  # what Lightning logs


@each_metric
def test_compute_before_data_warns(case: Case, average: str):
    metric = case.make(average)
    with pytest.warns(UserWarning, match="was called before the ``update`` method"):
        value = metric.compute()
    shape = (0,) if average == "none" else ()
    for scores in scores_of(value):
        assert_same(scores, torch.full(shape, case.before_data, dtype=torch.float64))


@each_metric
def test_a_batch_without_sentences_counts_nothing(case: Case, average: str):
    for change in ({}, *case.others):
        metric = case.filled(average, [case.nothing], **change)
        assert metric.update_called
        with pytest.warns(UserWarning, match="^no segment was counted: the value says nothing") as warned:
            nothing = metric.compute()
        assert [warning.filename for warning in warned] == [__file__]
        for scores in scores_of(nothing):
            assert_same(scores, torch.full(case.shape(average, 0), case.before_data, dtype=torch.float64))
        metric.update(*case.whole)
        metric.update(*case.nothing)
        assert_same(metric.compute(), case.value(average, **change))
        metric.reset()
        metric.update(*case.nothing)
        with pytest.warns(UserWarning, match="^no segment was counted"):
            metric.compute()


def _attributes(metric: torchmetrics.Metric) -> dict[str, Any]:
    """The attributes without tensors and callables, which a copy has of its own, and the places of its states."""
    simple = {name: value for name, value in vars(metric).items() if value is None or type(value) in (bool, int)}
    return {**simple, **{name: id(state) == id(metric._defaults[name]) for name, state in metric.metric_state.items()}}


@pytest.mark.parametrize("synced", [False, True])
@each_metric
def test_reset(case: Case, average: str, synced: bool):
    metric, fresh = case.filled(average), states_of(case.make(average))
    value = metric.compute()
    before = [scores.clone() for scores in scores_of(value)]
    if synced:
        _sync(metric)
    twin = metric.clone()
    metric.reset()
    if isinstance(twin.metric_state.get("rows"), torch.Tensor):
        twin.rows = []  # torchmetrics' own reset cannot empty a state that a sync has joined
    torchmetrics.Metric.reset(twin)
    assert_same_states(metric, fresh)
    assert _attributes(metric) == _attributes(twin)
    assert metric.update_count == 0
    assert_same(scores_of(value), before)
    metric.update(*case.batches[1])
    assert_same(metric.compute(), case.value(average, case.batches[1:2]))


def _refused(case: Case, call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="expected"):
        call(*case.refused)


def _interrupted(case: Case, call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*args: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(type(case.make("macro").scorer.measure), "statistics", stop)
        with pytest.raises(KeyboardInterrupt):
            call(*case.batches[1])


def _without_a_score(case: Case, call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """An update scores for the macro average alone, ``forward`` always."""
    metric = case.make("macro")
    with monkeypatch.context() as patch:
        patch.setattr(type(metric.scorer.measure), "score", _out_of_memory)
        with pytest.raises(MemoryError):
            call(*case.batches[0])


#: Each takes another way through torchmetrics' forward.
STEPS: tuple[dict[str, bool], ...] = ({}, {"dist_sync_on_step": True}, {"compute_on_cpu": True})
#: What torchmetrics' forward changes for a while, and the update count.
SWITCHES = ("compute_on_cpu", "_to_sync", "_should_unsync", "_enable_grad", "_is_synced", "_update_count")


@pytest.mark.parametrize(
    ("call", "options", "failing"),
    [
        *(("update", {}, failing) for failing in (_refused, _interrupted)),
        *(("forward", options, failing) for options in STEPS for failing in (_refused, _interrupted)),
        ("forward", {}, _without_a_score),
    ],
)
@each_kind_of_state
def test_an_error_leaves_everything_as_it_was(
    case: Case,
    average: str,
    call: str,
    options: dict[str, bool],
    failing: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
):
    metric = case.make(average, **options)
    counting = metric.update if call == "update" else metric
    for batch in case.batches:
        counting(*batch)
    metric.compute()
    states, value, of_batch = states_of(metric), metric._computed, metric._forward_cache
    switches = {name: getattr(metric, name) for name in SWITCHES}
    failing(case, counting, monkeypatch)
    assert_same_states(metric, states)
    assert metric._computed is value
    assert metric._forward_cache is of_batch
    assert {name: getattr(metric, name) for name in SWITCHES} == switches
    counting(*case.batches[0])
    assert_same(metric.compute(), case.value(average, [*case.batches, case.batches[0]]))
    first = case.make(average, **options)
    states = states_of(first)
    failing(case, getattr(first, call), monkeypatch)
    assert_same_states(first, states)
    assert not first.update_called
    assert first._codes == tuple(first.counted.tolist())  # else another kind of input would be refused


@pytest.mark.parametrize("options", STEPS, ids=str)
@each_metric
def test_forward_gives_the_batch_and_accumulates(case: Case, average: str, options: dict[str, bool]):
    metric = case.make(average, **options)
    for seen, batch in enumerate(case.batches, 1):
        assert_same(metric(*batch), case.value(average, [batch]))
        assert metric.update_count == seen
    metric.update(*case.batches[0])
    assert_same(metric.compute(), case.value(average, [*case.batches, case.batches[0]]))


@each_metric
def test_synced_states_are_refused_and_can_be_unsynced(case: Case, average: str):
    metric = case.filled(average)
    states = states_of(metric)
    _sync(metric)
    with pytest.raises(TorchMetricsUserError, match="shouldn't be synced"):
        metric(*case.batches[0])
    with pytest.raises(TorchMetricsUserError, match="already been synced"):
        metric.compute()
    assert metric._is_synced
    metric.unsync()
    assert_same(metric.compute(), case.value(average))
    for name, state in states_of(metric).items():
        as_one = torch.cat if isinstance(state, list) else torch.as_tensor
        assert_same(as_one(state), as_one(states[name]))


@each_metric
def test_an_error_while_a_step_is_gathered_leaves_everything_as_it_was(case: Case, average: str):
    metric = case.filled(average, **{**TWO_RANKS, "dist_sync_fn": _out_of_memory}, dist_sync_on_step=True)
    states = states_of(metric)
    with pytest.raises(MemoryError):
        metric(*case.batches[0])
    assert_same_states(metric, states)
    assert (metric._cache, metric._is_synced, metric.update_count) == (None, False, len(case.batches))


@each_metric
def test_an_error_in_compute_gives_the_states_of_this_rank_back(
    case: Case, average: str, monkeypatch: pytest.MonkeyPatch
):
    metric = case.filled(average, **TWO_RANKS)
    with monkeypatch.context() as patch:
        patch.setattr(metric, "_score", _out_of_memory)
        with pytest.raises(MemoryError):
            metric.compute()
    assert not metric._is_synced
    metric.update(*case.batches[0])
    batches = [*case.batches, case.batches[0]]
    assert_same(metric.compute(), case.value(average, [*batches, *batches]))


@each_metric_with_details
def test_details_are_of_all_sentences_whatever_the_average(case: Case, average: str):
    metric = case.filled(average)
    states, details = states_of(metric), metric.details()
    assert details
    assert_same(details, case.filled("macro", [case.whole]).details())
    for part in details.values():
        part.zero_()
    assert_same_states(metric, states)
    assert_same(metric.compute(), case.value(average))
    for part in case.make(average).details().values():
        assert not part.isnan().any()
