"""The places of scores and ticks on the charts of the page."""

import pytest
from systems import output, references

from ngram_metrics import evaluate
from ngram_metrics._evaluation.page.charts import make_charts
from ngram_metrics._evaluation.steps import Steps, find_steps

LINES = references(20)


def charts_of(names: list[str], **options):
    systems = {name: output(LINES, 0.5 - 0.1 * index, seed=1) for index, name in enumerate(names)}
    outcome = evaluate(systems, LINES, "chrf,bleu", **options)._outcome
    return outcome.results, make_charts(outcome, names, find_steps(names))


@pytest.mark.parametrize("value", ["chrf", "bleu"])
def test_scores_and_intervals_are_on_one_scale_with_the_ticks(value: str):
    results, charts = charts_of(["a", "b", "c"])
    points, ticks, steps = charts[value]
    assert [point.name for point in points] == ["a", "b", "c"]
    assert steps == []
    assert 3 <= len(ticks) <= 6
    first = ticks[0]
    last = ticks[-1]
    scale = (last.place - first.place) / (float(last.text) - float(first.text))
    for point in points:
        result = results[point.name][value]
        places = [
            first.place + scale * (100 * part - float(first.text)) for part in (result.score, result.low, result.high)
        ]
        assert [point.score, point.low, point.high] == pytest.approx(places, abs=0.02)
        assert point.text.startswith(f"{100 * result.score:.2f} [")
    places = [place for point in points for place in point[1:4]]
    assert (min(places), max(places)) == (
        pytest.approx(100 * 0.04 / 1.08, abs=0.01),
        pytest.approx(100 * 1.04 / 1.08, abs=0.01),
    )


def test_steps_are_where_their_numbers_are():
    _, charts = charts_of(["step-500", "step-1000", "step-2000"])
    points, _, ticks = charts["chrf"]
    first, second, third = (point.step for point in points)
    assert second - first == pytest.approx((third - first) / 3, abs=0.02)
    places = {tick.text: tick.place for tick in ticks}
    assert (places["500"], places["1000"], places["2000"]) == (first, second, third)


def test_without_confidence_a_score_is_a_point():
    _, charts = charts_of(["a", "b"], confidence=None)
    assert all(point.low == point.score == point.high for point in charts["bleu"].points)


@pytest.mark.parametrize(("last", "most"), [(12, 12), (300, 8), (100_000, 4), (10**30, 2)])
def test_the_ticks_of_steps_fit_a_phone(last: int, most: int):
    outcome = evaluate({"a": ["x y"], "b": ["x y"]}, ["x y"], "chrf", confidence=None)._outcome
    (chart,) = make_charts(outcome, ["a", "b"], Steps("step", [1, last])).values()
    assert 1 <= len(chart.step_ticks) <= most
    assert all(float(tick.text) == int(float(tick.text)) for tick in chart.step_ticks)
