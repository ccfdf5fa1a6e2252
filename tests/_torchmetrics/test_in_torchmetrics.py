"""What torchmetrics builds on a metric: attributes, hashes, scripts, plots, arithmetic, wrappers."""

import pytest
import torch
from metrics.cases import (
    FUNCTIONS,
    Case,
    assert_same,
    each_case_with_none,
    each_metric,
    each_metric_of_one_number,
    each_metric_of_one_value,
    each_score_of_the_corpus,
    scores_of,
)
from torchmetrics import MetricTracker
from torchmetrics.wrappers import Running


@each_metric
def test_what_torchmetrics_asks_of_a_class(case: Case, average: str):
    for metric in (case.make(average), case.metric):
        assert metric.is_differentiable is False
        # One update per forward, and merge_state, Running and Lightning work.
        assert metric.full_state_update is False
        assert metric.plot_lower_bound == 0


@each_metric
def test_a_metric_is_its_own_key(case: Case, average: str):
    first, second = case.filled(average), case.filled(average)
    assert hash(first) != hash(second)
    assert hash(first) == hash(first)
    assert len({first: 1, second: 2}) == 2
    assert list(torch.nn.ModuleList([first, second]).children()) == [first, second]
    assert repr(first) == repr(second)


@pytest.mark.filterwarnings("ignore:This property will be removed in 2.0.0:DeprecationWarning")
@pytest.mark.covering
@pytest.mark.parametrize("average", ["macro", "none"])
@pytest.mark.parametrize("metric", FUNCTIONS)
def test_torch_jit_script_takes_a_metric(metric: type, average: str):
    """As torchmetrics' own tester asks of every metric: scripted as part of a model, update and compute left out."""
    torch.jit.script(metric(average=average))


@each_metric_of_one_number
def test_arithmetic_of_two_metrics(case: Case, average: str):
    change = case.others[0]
    difference = abs(case.make(average) - case.make(average, **change))
    for batch in (*case.batches, case.telling):
        difference.update(*batch)
    batches = [*case.batches, case.telling]
    expected = (case.value(average, batches) - case.value(average, batches, **change)).abs()
    assert expected.sum() > 0
    assert_same(difference.compute(), expected)


@each_metric_of_one_value
def test_tracker(case: Case, average: str):
    tracker = MetricTracker(case.make(average), maximize=case.metric.higher_is_better)
    for batch in case.batches:
        tracker.increment()
        tracker.update(*batch)
    values = [case.value(average, [batch]) for batch in case.batches]
    tracked = tracker.compute_all()
    if isinstance(tracked, dict):
        for name, steps in tracked.items():
            assert_same(steps, torch.stack([value[name] for value in values]))
        return
    assert_same(tracked, torch.stack(values))
    best, step = tracker.best_metric(return_step=True)
    assert best == pytest.approx(max(values).item(), abs=1e-12)
    assert values[step] == max(values)


@each_score_of_the_corpus
def test_running(case: Case, average: str):
    running = Running(case.make(average), window=2)
    for seen, batch in enumerate(case.batches, 1):
        assert_same(running(*batch), case.value(average, [batch]))
        assert_same(running.compute(), case.value(average, case.batches[max(0, seen - 2) : seen]))
    running.reset()
    running.update(*case.batches[0])
    assert_same(running.compute(), case.value(average, case.batches[:1]))


@each_case_with_none
def test_running_none_holds_the_sentences_of_the_window(case: Case):
    running = Running(case.make("none"), window=2)
    for batch in case.batches:
        running.update(*batch)
    expected = [scores.sort().values for scores in scores_of(case.value("none", case.batches[1:]))]
    assert_same([scores.sort().values for scores in scores_of(running.compute())], expected)
