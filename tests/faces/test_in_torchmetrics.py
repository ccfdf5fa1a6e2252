"""What torchmetrics builds on a metric: attributes, hashes, scripts, plots, arithmetic, wrappers."""

from typing import Any

import matplotlib.pyplot as plt
import pytest
import torch
from faces.cases import (
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
from torchmetrics.wrappers import MinMaxMetric, Running


@each_metric
def test_what_torchmetrics_asks_of_a_class(case: Case, average: str):
    for metric in (case.make(average), case.metric):
        assert metric.is_differentiable is False
        assert metric.higher_is_better is True
        # One update per forward, and merge_state, Running and Lightning work.
        assert metric.full_state_update is False
        assert (metric.plot_lower_bound, metric.plot_upper_bound) == (0.0, 1.0)


@each_metric
def test_a_metric_is_its_own_key(case: Case, average: str):
    first, second = case.filled(average), case.filled(average)
    assert hash(first) != hash(second)
    assert hash(first) == hash(first)
    assert len({first: 1, second: 2}) == 2
    assert list(torch.nn.ModuleList([first, second]).children()) == [first, second]
    assert repr(first) == repr(second)


@pytest.mark.filterwarnings("ignore:This property will be removed in 2.0.0:DeprecationWarning")
@pytest.mark.parametrize("average", ["macro", "none"])
@pytest.mark.parametrize("metric", FUNCTIONS)
def test_torch_jit_script_takes_a_metric(metric: type, average: str):
    """As torchmetrics' own tester asks of every metric: scripted as part of a model, update and compute left out."""
    torch.jit.script(metric(average=average))


def _drawn(ax: Any) -> list[float]:
    """The heights of lines, and of bars."""
    return [float(y) for line in ax.get_lines() for y in line.get_ydata()] + [bar.get_height() for bar in ax.patches]


@pytest.mark.usefixtures("figures")
@each_metric_of_one_value
def test_plot_computes(case: Case, average: str):
    metric = case.filled(average)
    figure, ax = metric.plot()
    assert isinstance(figure, plt.Figure)
    assert _drawn(ax) == pytest.approx(torch.cat([s.reshape(-1) for s in scores_of(metric.compute())]).tolist())
    low, high = ax.get_ylim()
    if isinstance(metric.compute(), dict):
        assert ax.get_title() == case.metric.__name__
        assert low == 0 < max(_drawn(ax)) < high
    else:
        assert ax.get_ylabel() == case.metric.__name__
        assert low < 0 < 1 < high


@pytest.mark.usefixtures("figures")
@each_metric_of_one_value
def test_plot_of_a_value_on_a_given_axis(case: Case, average: str):
    metric = case.make(average)
    value = metric(*case.batches[0])
    _, given = plt.subplots()
    _, ax = metric.plot(value, ax=given)
    assert ax is given
    assert _drawn(ax) == pytest.approx(torch.cat([s.reshape(-1) for s in scores_of(value)]).tolist())


@pytest.mark.usefixtures("figures")
@each_metric_of_one_value
def test_plot_of_values_over_steps(case: Case, average: str):
    metric = case.make(average)
    values = [metric(*case.batches[0]), metric(*case.batches[0])]
    _, ax = metric.plot(values)
    assert ax.get_xlabel() == "Step"
    expected = [score for value in values for scores in scores_of(value) for score in scores.reshape(-1).tolist()]
    assert sorted(_drawn(ax)) == pytest.approx(sorted(expected))


@each_metric_of_one_number
def test_arithmetic(case: Case, average: str):
    metric = case.make(average)
    composed = 100 * metric + 1
    for batch in case.batches:
        composed.update(*batch)
    assert_same(composed.compute(), 100 * case.value(average) + 1)
    composed.reset()
    assert not metric.update_called
    composed.update(*case.batches[0])
    assert_same(composed.compute(), 100 * case.value(average, case.batches[:1]) + 1)


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
    tracker = MetricTracker(case.make(average))
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


@each_metric_of_one_number
def test_min_max(case: Case, average: str):
    if average == "none":
        return
    metric = MinMaxMetric(case.make(average))
    seen = []
    for batch in case.batches:
        metric.update(*batch)
        seen.append(metric.compute())
    values = [one["raw"] for one in seen]
    assert_same(values[-1], case.value(average))
    assert float(seen[-1]["max"]) == pytest.approx(float(max(values)))
    assert float(seen[-1]["min"]) == pytest.approx(float(min(values)))
