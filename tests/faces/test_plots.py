"""plot(): one value, values over the steps, intervals as bars and as bands, a histogram of sentences."""

import sys
from typing import Any

import matplotlib.pyplot as plt
import pytest
import torch
from faces.cases import CASES, TEXT, Case, each_case, each_metric_of_one_value, scores_of

from ngram_metrics import Bleu, ChrF, ROUGEScore

pytestmark = pytest.mark.usefixtures("figures")


def _lines(ax: Any) -> dict[str, list[float]]:
    return {line.get_label(): [float(y) for y in line.get_ydata()] for line in ax.get_lines()}


def _bars(ax: Any) -> list[float]:
    return [bar.get_height() for bar in ax.containers[-1].patches]


def _error_bars(ax: Any) -> list[tuple[float, float]]:
    (bars,) = ax.containers[-1].errorbar.lines[2]
    return [(low, high) for (_, low), (_, high) in bars.get_segments()]


def test_each_key_of_a_dict_is_a_line_over_the_steps():
    metric = ROUGEScore(rouge_keys="rouge1")
    values = [metric(*batch) for batch in TEXT]
    _, ax = metric.plot(values)
    drawn = _lines(ax)
    for name in ("rouge1_fmeasure", "rouge1_precision", "rouge1_recall"):
        assert drawn[name] == pytest.approx([value[name].item() for value in values])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(values[0])


@each_metric_of_one_value
def test_values_with_intervals_are_bars(case: Case, average: str):
    metric = case.filled(average, confidence=0.95)
    value = metric.compute()
    figure, ax = metric.plot()
    assert isinstance(figure, plt.Figure)
    names = [name for name in value if not name.endswith(("_low", "_high"))]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == names
    assert _bars(ax) == pytest.approx([value[name].item() for name in names])
    for name, (low, high) in zip(names, _error_bars(ax), strict=True):
        # The bar ends at the value where its interval does not hold it.
        assert low == pytest.approx(min(value[name], value[f"{name}_low"]).item())
        assert high == pytest.approx(max(value[name], value[f"{name}_high"]).item())
    assert ax.get_title() == case.metric.__name__
    assert ax.get_ylim()[0] == 0


def test_the_names_of_many_values_stay_in_the_figure():
    metric = ROUGEScore(confidence=0.95)
    metric.update(*TEXT[0])
    figure, ax = metric.plot()
    figure.canvas.draw()
    assert all(tick.get_window_extent().y0 >= 0 for tick in ax.get_xticklabels())


def test_values_with_intervals_over_the_steps_are_bands():
    metric = ChrF(confidence=0.95)
    values = [metric(*batch) for batch in TEXT]
    _, given = plt.subplots()
    _, ax = metric.plot(values, given)
    assert ax is given
    assert _lines(ax)["chrf"] == pytest.approx([value["chrf"].item() for value in values])
    (band,) = ax.collections
    corners = band.get_paths()[0].vertices
    for step, value in enumerate(values):
        heights = [y for x, y in corners if x == step]
        assert min(heights) == pytest.approx(value["chrf_low"].item())
        assert max(heights) == pytest.approx(value["chrf_high"].item())
    assert ax.get_xlabel() == "Step"


def test_many_steps_do_not_crowd_the_axis():
    value = ChrF(confidence=0.95)(*TEXT[0])
    _, ax = ChrF(confidence=0.95).plot([value] * 500)
    assert len(ax.get_xticks()) <= 11


def _counts(scores: list[float]) -> list[int]:
    """How many lie in each twentieth of 0..1; 1 in the last one."""
    counts = [0] * 20
    for score in scores:
        counts[min(int(score * 20), 19)] += 1
    return counts


@pytest.mark.parametrize("case", [case for case in CASES if case.metric is not ROUGEScore], ids=lambda case: case.name)
def test_scores_of_sentences_are_a_histogram(case: Case):
    metric = case.filled("none")
    scores = metric.compute().tolist()
    figure, ax = metric.plot()
    assert isinstance(figure, plt.Figure)
    assert _bars(ax) == _counts(scores)
    mean = sum(scores) / len(scores)
    assert [line.get_xdata()[0] for line in ax.get_lines()] == pytest.approx([mean])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [f"mean {mean:.3f}"]
    assert ax.get_title() == case.metric.__name__


def test_each_key_has_a_histogram_of_its_own():
    metric = ROUGEScore(rouge_keys="rouge1", average="none")
    for batch in TEXT:
        metric.update(*batch)
    _, ax = metric.plot()
    means = {name: scores.mean().item() for name, scores in metric.compute().items()}
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        f"{name}, mean {mean:.3f}" for name, mean in means.items()
    ]
    assert [line.get_xdata()[0] for line in ax.get_lines()] == pytest.approx(list(means.values()))


def test_a_list_of_steps_is_one_histogram_of_all_their_sentences():
    metric = Bleu(average="none", ngram=2)
    values = [metric(*batch) for batch in TEXT]
    _, given = plt.subplots()
    _, ax = metric.plot(values, given)
    assert ax is given
    assert _bars(ax) == _counts(torch.cat(values).tolist())


@each_case
def test_a_histogram_of_no_sentence_is_empty(case: Case):
    nothing = case.filled("none", [tuple(part[:0] for part in case.batches[0])])
    _, ax = nothing.plot()
    assert all(len(scores) == 0 for scores in scores_of(nothing.compute()))
    assert ax.get_title() == case.metric.__name__


def test_the_extremes_are_drawn():
    metric = Bleu(average="none")
    metric.update(["a b c d e", "x"], ["a b c d e", "y"])
    _, ax = metric.plot()
    assert _bars(ax) == [1, *[0] * 18, 1]


@pytest.mark.parametrize("options", [{"average": "none"}, {"confidence": 0.95}], ids=str)
def test_without_matplotlib_the_extra_is_named(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch):
    metric = Bleu(**options)
    metric.update(*TEXT[0])
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot")
    with pytest.raises(ModuleNotFoundError, match=r"plots need matplotlib: pip install 'ngram-metrics\[plot\]'"):
        metric.plot()
