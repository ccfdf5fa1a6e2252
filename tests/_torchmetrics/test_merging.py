"""What every metric does when another is merged into it, or cannot be."""

from typing import Any

import pytest
from metrics.cases import Case, assert_same, assert_same_states, each_metric, states_of
from torchmetrics.aggregation import SumMetric

from ngram_metrics._torchmetrics import adaptor


@pytest.mark.parametrize("by", ["metric", "states", "states of two ranks"])
@each_metric
def test_merge(case: Case, average: str, by: str):
    """The sentences of the other come after this one's, and it is not changed, then or later."""
    first, second = case.filled(average, case.batches[:2]), case.filled(average, case.batches[2:])
    first.compute()
    if by == "states of two ranks":
        second.sync(dist_sync_fn=lambda state, group=None: [state, state], distributed_available=lambda: True)
    incoming = states_of(second)
    first.merge_state(second if by == "metric" else second.metric_state)
    expected = [*case.batches, *case.batches[2 : (3 if by == "states of two ranks" else 2)]]
    assert_same(first.compute(), case.value(average, expected))
    assert first.update_count == 3
    assert_same_states(second, incoming)
    assert second.update_count == 1
    first.update(*case.batches[0])
    assert_same_states(second, incoming)
    second.reset()
    assert_same(first.compute(), case.value(average, [*expected, case.batches[0]]))


@each_metric
def test_merge_with_a_metric_that_was_never_updated(case: Case, average: str):
    metric, fresh = case.filled(average), case.make(average)
    metric.merge_state(fresh)
    fresh.merge_state(metric)
    for merged in (metric, fresh):
        assert merged.update_count == len(case.batches)
        assert_same(merged.compute(), case.value(average))
    metric.reset()
    assert_same(fresh.compute(), case.value(average))


@each_metric
def test_a_merge_that_fails_leaves_the_states_as_they_were(case: Case, average: str, monkeypatch: pytest.MonkeyPatch):
    metric, other = case.filled(average), case.filled(average)
    states, join = states_of(metric), adaptor.join_states

    def failing(name: str, states: Any) -> Any:
        if name == "row":  # the number of sentences is set
            raise MemoryError
        return join(name, states)

    with monkeypatch.context() as patch:
        patch.setattr(adaptor, "join_states", failing)
        with pytest.raises(MemoryError):
            metric.merge_state(other)
    assert_same_states(metric, states)


@each_metric
def test_merge_refuses_what_does_not_belong_to_it(case: Case, average: str):
    metric = case.filled(average)
    states, value = states_of(metric), metric.compute()
    averages = [name for name in case.averages if name != average]
    others = [case.make(average, **change) for change in case.others] + [case.make(name) for name in averages]
    assert len(others) > len(averages)
    for other in others:
        other.update(*case.batches[0])
        for incoming in (other, other.metric_state):
            with pytest.raises(ValueError, match=r"other settings than this .*: expected the same class, options and"):
                metric.merge_state(incoming)
    for name in states:
        with pytest.raises(ValueError, match=rf"lacks \['{name}'\]: expected the states"):
            metric.merge_state({key: state for key, state in states.items() if key != name})
    with pytest.raises(ValueError, match="instance of"):
        metric.merge_state(SumMetric())
    with pytest.raises(ValueError, match="dict or an instance of Metric"):
        metric.merge_state([1])
    assert_same_states(metric, states)
    assert metric.update_count == len(case.batches)
    assert_same(metric.compute(), value)
