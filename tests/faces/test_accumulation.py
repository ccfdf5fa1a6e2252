"""What every metric does between construction and reset: update, compute, forward, merge."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torchmetrics
from faces.cases import (
    CASES,
    Case,
    assert_same,
    assert_same_states,
    each_case,
    each_metric,
    each_metric_with_details,
    scores_of,
    states_of,
)
from torchmetrics.aggregation import SumMetric
from torchmetrics.utilities.exceptions import TorchMetricsUserError

from ngram_metrics.torchmetrics import joining


@each_case
def test_the_sample_sentences_all_score_differently(case: Case):
    """Else a test on their order would hold nothing."""
    scores = torch.stack(scores_of(case.value("none")), 1)
    assert len(scores.unique(dim=0)) == len(case.whole[0])


@each_metric
def test_batches_count_as_one_batch(case: Case, average: str):
    assert_same(case.filled(average).compute(), case.value(average))


@each_metric
def test_scores_are_float64_in_0_to_1(case: Case, average: str):
    for scores in scores_of(case.filled(average).compute()):
        assert scores.dtype == torch.float64
        assert ((scores > 0) & (scores <= 1)).all()
        assert scores.shape == ((len(case.whole[0]),) if average == "none" else ())


@each_case
def test_none_is_a_score_per_sentence_in_the_order_of_updates(case: Case):
    of_batches = [scores_of(case.value("none", [batch])) for batch in case.batches]
    expected = [torch.cat([one.reshape(-1) for one in scores]) for scores in zip(*of_batches, strict=True)]
    assert_same(scores_of(case.filled("none").compute()), expected)


@each_case
def test_none_of_one_sentence_is_still_a_vector(case: Case):
    """torchmetrics squeezes what holds one number."""
    metric = case.make("none")
    for scores in scores_of(metric(*case.batches[1])) + scores_of(metric.compute()):
        assert scores.shape == (1,)


@each_case
def test_macro_is_the_mean_of_the_sentences(case: Case):
    means = [scores.mean() for scores in scores_of(case.value("none"))]
    assert_same(scores_of(case.filled("macro").compute()), means)


@each_metric
def test_update_takes_its_arguments_by_name(case: Case, average: str):
    metric = case.make(average)
    for preds, target in case.batches:
        metric.update(target=target, preds=preds)
    assert_same(metric.compute(), case.value(average))
    assert list(inspect.signature(metric.update).parameters) == ["preds", "target"]


@each_metric
def test_compute_twice(case: Case, average: str):
    metric = case.filled(average)
    states = states_of(metric)
    assert_same(metric.compute(), metric.compute())
    assert_same_states(metric, states)


@each_metric
def test_compute_twice_without_the_cache(case: Case, average: str):
    metric = case.filled(average, compute_with_cache=False)
    assert_same(metric.compute(), metric.compute())


@each_metric
def test_compute_between_updates_is_not_stale(case: Case, average: str):
    metric = case.make(average)
    for seen, batch in enumerate(case.batches):
        metric.update(*batch)
        assert_same(metric.compute(), case.value(average, case.batches[: seen + 1]))


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
    nothing = tuple(part[:0] for part in case.batches[0])
    for change in ({}, *case.others):
        metric = case.filled(average, [nothing], **change)
        assert metric.update_called
        shape = (0,) if average == "none" else ()
        for scores in scores_of(metric.compute()):
            assert_same(scores, torch.full(shape, case.before_data, dtype=torch.float64))
        metric.update(*case.whole)
        metric.update(*nothing)
        assert_same(metric.compute(), case.value(average, **change))


@each_metric
def test_reset(case: Case, average: str):
    metric = case.make(average)
    fresh = states_of(metric)
    for batch in case.batches:
        metric.update(*batch)
    value = metric.compute()
    before = [scores.clone() for scores in scores_of(value)]
    metric.reset()
    assert_same_states(metric, fresh)
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
        patch.setattr(type(case.make("macro").measure), "statistics", stop)
        with pytest.raises(KeyboardInterrupt):
            call(*case.batches[1])


failures = pytest.mark.parametrize("failing", [_refused, _interrupted])


@failures
@each_metric
def test_an_error_in_update_leaves_everything_as_it_was(
    case: Case, average: str, failing: Callable[..., None], monkeypatch: pytest.MonkeyPatch
):
    metric = case.filled(average)
    states, count, value = states_of(metric), metric.update_count, metric.compute()
    failing(case, metric.update, monkeypatch)
    assert_same_states(metric, states)
    assert metric.update_count == count
    assert metric._computed is value
    metric.update(*case.batches[0])
    assert_same(metric.compute(), case.value(average, [*case.batches, case.batches[0]]))


@pytest.mark.parametrize("call", ["update", "forward"])
@each_case
def test_an_error_in_the_score_leaves_everything_as_it_was(case: Case, call: str, monkeypatch: pytest.MonkeyPatch):
    metric = case.filled("macro")
    states, count = states_of(metric), metric.update_count

    def fail(*args: Any) -> None:
        raise ArithmeticError

    with monkeypatch.context() as patch:
        patch.setattr(type(metric.measure), "score", fail)
        with pytest.raises(ArithmeticError):
            getattr(metric, call)(*case.batches[0])
    assert_same_states(metric, states)
    assert metric.update_count == count


@each_metric
def test_an_error_in_the_first_update_is_no_update(case: Case, average: str):
    metric = case.make(average)
    with pytest.raises(ValueError, match="expected"):
        metric.update(*case.refused)
    assert not metric.update_called


@pytest.mark.parametrize("options", [{}, {"dist_sync_on_step": True}, {"compute_on_cpu": True}], ids=str)
@each_metric
def test_forward_gives_the_batch_and_accumulates(case: Case, average: str, options: dict[str, bool]):
    metric = case.make(average, **options)
    for seen, batch in enumerate(case.batches, 1):
        assert_same(metric(*batch), case.value(average, [batch]))
        assert metric.update_count == seen
    assert_same(metric.compute(), case.value(average))


@each_metric
def test_forward_and_update_mix(case: Case, average: str):
    metric = case.filled(average, case.batches[:1])
    metric(*case.batches[1])
    metric.update(*case.batches[2])
    assert_same(metric.compute(), case.value(average))


def _switches(metric: torchmetrics.Metric) -> dict[str, Any]:
    """What torchmetrics' forward changes for a while, and the update count."""
    names = ("compute_on_cpu", "_to_sync", "_should_unsync", "_enable_grad", "_is_synced", "_update_count")
    return {name: getattr(metric, name) for name in names}


@failures
@pytest.mark.parametrize("options", [{}, {"dist_sync_on_step": True}, {"compute_on_cpu": True}], ids=str)
@each_metric
def test_an_error_in_forward_leaves_everything_as_it_was(
    case: Case, average: str, options: dict[str, bool], failing: Callable[..., None], monkeypatch: pytest.MonkeyPatch
):
    metric = case.filled(average, **options)
    states, value = states_of(metric), metric.compute()
    switches = _switches(metric)
    failing(case, metric, monkeypatch)
    assert_same_states(metric, states)
    assert metric._computed is value
    assert _switches(metric) == switches
    metric(*case.batches[0])
    assert_same(metric.compute(), case.value(average, [*case.batches, case.batches[0]]))


def _two_ranks_of_the_same(state: torch.Tensor, group: Any = None) -> list[torch.Tensor]:
    return [state, state]


@each_metric
def test_forward_on_synced_states_is_refused_and_they_can_be_unsynced(case: Case, average: str):
    metric = case.filled(average)
    metric.sync(dist_sync_fn=_two_ranks_of_the_same, distributed_available=lambda: True)
    with pytest.raises(TorchMetricsUserError, match="shouldn't be synced"):
        metric(*case.batches[0])
    metric.unsync()
    assert_same(metric.compute(), case.value(average))


@each_metric
def test_sync_joins_the_ranks_and_unsync_takes_it_back(case: Case, average: str):
    metric = case.filled(average)
    states = states_of(metric)
    with metric.sync_context(dist_sync_fn=_two_ranks_of_the_same, distributed_available=lambda: True):
        synced = type(metric).compute(metric)
    assert_same(synced, case.value(average, [*case.batches, *case.batches]))
    value = metric.compute()
    assert_same(value, case.value(average))
    for name, state in states_of(metric).items():
        as_one = torch.cat if isinstance(state, list) else torch.as_tensor
        assert_same(as_one(state), as_one(states[name]))


@each_metric
def test_an_error_in_compute_gives_the_states_of_this_rank_back(
    case: Case, average: str, monkeypatch: pytest.MonkeyPatch
):
    metric = case.filled(average, dist_sync_fn=_two_ranks_of_the_same, distributed_available_fn=lambda: True)
    monkeypatch.setattr(metric, "_score", _out_of_memory)
    with pytest.raises(MemoryError):
        metric.compute()
    monkeypatch.undo()
    assert not metric._is_synced
    metric.update(*case.batches[0])
    batches = [*case.batches, case.batches[0]]
    assert_same(metric.compute(), case.value(average, [*batches, *batches]))


def _out_of_memory(*_: Any) -> None:
    raise MemoryError


@each_metric
def test_a_merge_that_fails_leaves_the_states_as_they_were(case: Case, average: str, monkeypatch: pytest.MonkeyPatch):
    metric, other = case.filled(average), case.filled(average)
    states, join, calls = states_of(metric), joining._joined, []

    def failing(name: str, first: Any, second: Any) -> Any:
        calls.append(name)
        if len(calls) == 2:
            raise MemoryError
        return join(name, first, second)

    monkeypatch.setattr(joining, "_joined", failing)
    with pytest.raises(MemoryError):
        metric.merge_state(other)
    monkeypatch.undo()
    assert_same_states(metric, states)


@each_metric
def test_reset_of_synced_states(case: Case, average: str):
    metric = case.filled(average)
    metric.sync(dist_sync_fn=_two_ranks_of_the_same, distributed_available=lambda: True)
    metric.reset()
    assert_same_states(metric, states_of(case.make(average)))
    metric.update(*case.batches[0])
    assert_same(metric.compute(), case.value(average, case.batches[:1]))


@each_metric
def test_merge(case: Case, average: str):
    first, second = case.filled(average, case.batches[:2]), case.filled(average, case.batches[2:])
    first.compute()
    incoming = states_of(second)
    first.merge_state(second)
    assert_same(first.compute(), case.value(average))
    assert first.update_count == 3
    assert_same_states(second, incoming)
    assert second.update_count == 1
    first.update(*case.batches[0])
    assert_same_states(second, incoming)
    second.reset()
    assert_same(first.compute(), case.value(average, [*case.batches, case.batches[0]]))


@each_metric
def test_merge_with_a_metric_that_was_never_updated(case: Case, average: str):
    metric = case.filled(average)
    metric.merge_state(case.make(average))
    assert metric.update_count == len(case.batches)
    assert_same(metric.compute(), case.value(average))

    fresh = case.make(average)
    fresh.merge_state(metric)
    assert fresh.update_count == len(case.batches)
    assert_same(fresh.compute(), case.value(average))


@each_metric
def test_merge_with_states(case: Case, average: str):
    metric = case.filled(average, case.batches[:2])
    metric.merge_state(case.filled(average, case.batches[2:]).metric_state)
    assert_same(metric.compute(), case.value(average))


@each_metric
def test_merge_with_the_joined_states_of_several_ranks(case: Case, average: str):
    metric, synced = case.filled(average, case.batches[:1]), case.filled(average, case.batches[1:])
    synced.sync(dist_sync_fn=_two_ranks_of_the_same, distributed_available=lambda: True)
    metric.merge_state(synced.metric_state)
    assert_same(metric.compute(), case.value(average, [*case.batches, *case.batches[1:]]))


@each_metric
def test_merge_into_a_metric_without_data_copies(case: Case, average: str):
    source, fresh = case.filled(average), case.make(average)
    fresh.merge_state(source)
    source.reset()
    assert_same(fresh.compute(), case.value(average))


@each_metric
def test_merge_refuses_other_settings(case: Case, average: str):
    metric = case.filled(average)
    states, value = states_of(metric), metric.compute()
    averages = [one for one in case.averages if one != average]
    others = [case.make(average, **change) for change in case.others] + [case.make(one) for one in averages]
    assert len(others) > len(averages)
    for other in others:
        other.update(*case.batches[0])
        for incoming in (other, other.metric_state):
            with pytest.raises(ValueError, match=r"other settings than this .*: expected the same class, options and"):
                metric.merge_state(incoming)
    assert_same_states(metric, states)
    assert metric.update_count == len(case.batches)
    assert_same(metric.compute(), value)


@each_metric
def test_merge_refuses_states_that_lack_some(case: Case, average: str):
    metric = case.filled(average)
    states = states_of(metric)
    for name in states:
        with pytest.raises(ValueError, match=rf"lacks \['{name}'\]: expected the states"):
            metric.merge_state({key: state for key, state in states.items() if key != name})
    assert_same_states(metric, states)
    assert metric.update_count == len(case.batches)


@each_metric
def test_merge_refuses_what_is_no_such_metric(case: Case, average: str):
    metric = case.filled(average)
    states = states_of(metric)
    with pytest.raises(ValueError, match="instance of"):
        metric.merge_state(SumMetric())
    with pytest.raises(ValueError, match="dict or an instance of Metric"):
        metric.merge_state([1])
    assert_same_states(metric, states)


@each_metric_with_details
def test_details_are_of_all_sentences_whatever_the_average(case: Case, average: str):
    metric = case.filled(average)
    states = states_of(metric)
    details = metric.details()
    assert details
    assert_same(details, case.filled("macro", [case.whole]).details())
    for part in details.values():
        part.zero_()
    assert_same_states(metric, states)
    assert_same(metric.compute(), case.value(average))


@each_metric_with_details
def test_details_before_data(case: Case, average: str):
    for part in case.make(average).details().values():
        assert not part.isnan().any()


@each_metric_with_details
def test_details_of_several_ranks_are_summed(case: Case, average: str):
    metric = case.filled(average, dist_sync_fn=_two_ranks_of_the_same, distributed_available_fn=lambda: True)
    states = states_of(metric)
    assert_same(metric.details(), case.filled(average, [*case.batches, *case.batches]).details())
    metric.details()
    assert_same(metric.metric_state["row"], states["row"])


@each_case
def test_an_unknown_average_is_refused(case: Case):
    for average in ("weighted", "Macro", None):
        with pytest.raises(ValueError, match=r"average .*: expected one of \['micro', 'macro', 'none'\]"):
            case.make(average)


@each_case
def test_keywords_that_torchmetrics_does_not_know_are_refused(case: Case):
    with pytest.raises(ValueError, match="Unexpected keyword arguments: `averages`"):
        case.make("macro", averages="micro")


def test_every_public_metric_class_has_cases_on_text_and_ids():
    import ngram_metrics

    for name in ngram_metrics.__all__:
        of_class = [case for case in CASES if case.metric is getattr(ngram_metrics, name)]
        assert len({type(case.batches[0][0]) for case in of_class}) == 2, f"{name} needs an entry in CASES for each"
