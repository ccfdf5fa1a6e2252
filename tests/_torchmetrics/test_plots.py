"""plot(): one value, values over the steps, intervals as bars and as bands, a histogram of sentences."""

import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import pytest
import torch
from metrics.cases import TEXT, Case, each_case_with_none, each_metric, each_metric_of_one_value, scores_of
from torchmetrics import MetricCollection

from ngram_metrics import Bleu, ChrF, ROUGEScore


@pytest.fixture(autouse=True)
def figures() -> Iterator[None]:
    """Figures are drawn without a window, and closed."""
    backend = matplotlib.get_backend()
    matplotlib.use("Agg")
    yield
    plt.close("all")
    matplotlib.use(backend)


def _lines(ax: Any) -> dict[str, list[float]]:
    return {line.get_label(): [float(y) for y in line.get_ydata()] for line in ax.get_lines()}


def _bars(ax: Any) -> list[float]:
    return [bar.get_height() for bar in ax.patches]


def _ends(whiskers: Any) -> list[tuple[float, float]]:
    (bars,) = whiskers.lines[2]
    return [(low, high) for (_, low), (_, high) in bars.get_segments()]


def _labels(texts: Any) -> list[str]:
    return [text.get_text() for text in texts]


def _assert_in_figure(figure: Any, drawn: Any) -> None:
    figure.canvas.draw()
    for box in [part.get_window_extent() for part in drawn]:
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1


def _drawn(ax: Any) -> list[float]:
    """The heights of lines, and of bars."""
    return [float(y) for line in ax.get_lines() for y in line.get_ydata()] + _bars(ax)


def _numbers(*values: Any) -> list[float]:
    return [float(scores) for value in values for scores in scores_of(value)]


@each_metric_of_one_value
def test_a_value_and_values_over_the_steps(case: Case, average: str):
    """What compute gives, what is given on an axis, and a list of them."""
    metric = case.filled(average)
    value, other = metric.compute(), case.value(average, case.batches[:1])
    figure, ax = metric.plot()
    assert isinstance(figure, plt.Figure)
    assert _drawn(ax) == pytest.approx(_numbers(value))
    low, high = ax.get_ylim()
    if isinstance(value, dict):
        assert ax.get_title() == case.metric.__name__
        assert low == 0 < max(_drawn(ax)) < high
    else:
        assert ax.get_ylabel() == case.metric.__name__
        assert low < 0 < metric.plot_upper_bound < high
    _, asked = plt.subplots()
    _, ax = case.make(average).plot(other, ax=asked)
    assert ax is asked
    assert _drawn(ax) == pytest.approx(_numbers(other))
    _, ax = metric.plot([other, value])
    assert ax.get_xlabel() == "Step"
    assert sorted(_drawn(ax)) == pytest.approx(sorted(_numbers(other, value)))
    if isinstance(value, dict):
        assert _lines(ax) == {name: pytest.approx(_numbers(other[name], value[name])) for name in value}
        assert _labels(ax.get_legend().get_texts()) == list(value)


def _grouped(value: dict[str, Any]) -> dict[str, list[str]]:
    """The names of the values by key, without the ends of intervals: F, precision and recall of ROUGE."""
    names = [name for name in value if not name.endswith(("_low", "_high"))]
    keys = dict.fromkeys(re.sub("_(fmeasure|precision|recall)$", "", name) for name in names)
    return {key: [name for name in names if name == key or name.startswith(f"{key}_")] for key in keys}


@each_metric_of_one_value
def test_values_with_intervals_are_bars(case: Case, average: str):
    metric = case.filled(average, confidence=0.95)
    value = metric.compute()
    figure, ax = metric.plot()
    assert isinstance(figure, plt.Figure)
    keys = _grouped(value)
    assert _labels(ax.get_xticklabels()) == list(keys)
    assert _bars(ax) == pytest.approx([value[name].item() for names in keys.values() for name in names])
    whiskers = [container for container in ax.containers if hasattr(container, "lines")]
    for (name, *_), container in zip(keys.values(), whiskers, strict=True):
        ((low, high),) = _ends(container)
        # The bar ends at the value where its interval does not hold it.
        assert low == pytest.approx(min(value[name], value[f"{name}_low"]).item())
        assert high == pytest.approx(max(value[name], value[f"{name}_high"]).item())
    assert ax.get_title() == case.metric.__name__
    assert ax.get_ylim()[0] == 0


@pytest.mark.parametrize("confidence", [None, 0.95])
def test_the_values_of_a_key_of_rouge_are_side_by_side(confidence: float | None):
    metric = ROUGEScore(confidence=confidence)
    metric.update(*TEXT[0])
    keys = _grouped(metric.compute())
    figure, ax = metric.plot()
    assert _labels(ax.get_xticklabels()) == list(keys) == ["rouge1", "rouge2", "rougeL", "rougeLsum"]
    assert _labels(ax.get_legend().get_texts()) == ["fmeasure", "precision", "recall"]
    assert len(ax.containers) == 12 + (0 if confidence is None else 4)  # bars; whiskers of F alone
    _assert_in_figure(figure, [*ax.get_xticklabels(), ax.get_legend()])
    assert ax.get_legend().get_window_extent().x0 >= ax.get_window_extent().x1
    for place in range(4):
        f, *others = ax.patches[3 * place : 3 * place + 3]
        assert f.get_x() + f.get_width() / 2 == pytest.approx(place)  # above the name
        for left, right in pairwise((f, *others)):
            assert right.get_x() == pytest.approx(left.get_x() + left.get_width())
            assert right.get_alpha() < left.get_alpha()


@pytest.mark.parametrize("confidence", [None, 0.95])
def test_all_values_of_rouge_are_lines_that_can_be_told_apart(confidence: float | None):
    metric = ROUGEScore(confidence=confidence)
    figure, ax = metric.plot([metric(*batch) for batch in TEXT])
    lines = ax.get_lines()
    assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == len(lines) == 12
    assert len(ax.collections) == (0 if confidence is None else 4)  # bands of F alone
    assert {line.get_alpha() > 0.5 for line in lines if line.get_label().endswith("fmeasure")} == {True}
    assert {line.get_alpha() > 0.5 for line in lines if not line.get_label().endswith("fmeasure")} == {False}
    _assert_in_figure(figure, [ax.get_legend()])
    assert ax.get_legend().get_window_extent().x0 >= ax.get_window_extent().x1
    # Where two keys have the same values, the first is a ring around the second.
    sizes = [line.get_markersize() for line in lines if line.get_linestyle() == "-"]
    assert sizes == sorted(set(sizes), reverse=True)


def test_intervals_may_be_left_out():
    value = ROUGEScore(rouge_keys=("rouge1", "rouge2"), confidence=0.95)(*TEXT[0])
    # Recall stands before F here, and only recall of rouge2 is kept, with its interval.
    names = ("rouge1_recall", "rouge1_fmeasure", "rouge2_recall", "rouge2_recall_low", "rouge2_recall_high")
    kept = {name: value[name] for name in names}
    _, ax = ROUGEScore(confidence=0.95).plot(kept)
    assert _labels(ax.get_xticklabels()) == ["rouge1", "rouge2"]
    drawn = ["rouge1_fmeasure", "rouge1_recall", "rouge2_recall"]
    assert _bars(ax) == pytest.approx([value[name].item() for name in drawn])
    (whiskers,) = [container for container in ax.containers if hasattr(container, "lines")]
    assert _ends(whiskers) == [pytest.approx((value["rouge2_recall_low"].item(), value["rouge2_recall_high"].item()))]
    _, ax = ROUGEScore(confidence=0.95).plot([kept] * 2)
    assert list(_lines(ax)) == drawn
    assert len(ax.collections) == 1


@each_metric
def test_nothing_cannot_be_plotted(case: Case, average: str):
    for nothing in ([], (), {}, [{}]):
        words = re.escape(f"there is nothing to plot in {nothing}: expected what compute")
        with pytest.raises(ValueError, match=words):
            case.make(average).plot(nothing)
    assert plt.get_fignums() == []


@pytest.mark.parametrize("prefix", [None, "val_"])
def test_a_collection_plots_what_its_metrics_computed_whatever_their_names(prefix: str | None):
    metrics = {
        "quality": ChrF(confidence=0.95),
        "rouge": ROUGEScore(rouge_keys="rougeL"),
        "other": Bleu(confidence=0.9),
    }
    collection = MetricCollection(metrics, prefix=prefix)
    collection.update(["the cat sat", "a dog"], ["the cat sat on it", "a dog ran"])
    computed = {name: metric.compute() for name, metric in collection.items()}
    for over_steps in (lambda value: value, lambda value: [value, value]):
        figures = collection.plot(over_steps(computed))
        assert [axis.get_title() for _, axis in figures] == ["Bleu", "ChrF", "ROUGEScore"]
        for (name, metric), (_, axis) in zip(collection.items(), figures, strict=True):
            _, alone = metric.plot(over_steps(computed[name]))
            for parts in ("patches", "lines", "collections"):
                assert len(getattr(axis, parts)) == len(getattr(alone, parts))


@pytest.mark.parametrize("prefix", [None, "val_"])
def test_a_collection_draws_the_interval_of_the_value_that_has_its_metrics_name(prefix: str | None):
    collection = MetricCollection({"bleu": Bleu(average="micro"), "chrf": ChrF(confidence=0.95)}, prefix=prefix)
    collection.update(*TEXT[0])
    (_, bleu), (_, chrf) = collection.plot()
    assert len(bleu.get_lines()) == 1
    assert not bleu.patches
    value = ChrF(confidence=0.95)(*TEXT[0])
    assert _bars(chrf) == pytest.approx([value["chrf"].item()])
    assert _ends(chrf.containers[-1]) == [pytest.approx((value["chrf_low"].item(), value["chrf_high"].item()))]


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


@each_case_with_none
def test_scores_of_sentences_are_a_histogram(case: Case):
    if case.metric is ROUGEScore or case.shape("none")[1:]:
        return  # several histograms, below; scores that lie on the edge of a bar
    metric = case.filled("none")
    scores = [score for score in metric.compute().tolist() if score != 0.6]  # which a float puts on either side
    figure, ax = metric.plot(torch.tensor(scores))
    assert isinstance(figure, plt.Figure)
    assert _bars(ax) == _counts(scores)
    mean = sum(scores) / len(scores)
    assert [line.get_xdata()[0] for line in ax.get_lines()] == pytest.approx([mean])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [f"mean {mean:.3f}"]
    assert ax.get_title() == case.metric.__name__


def test_each_key_has_a_histogram_of_its_own():
    metric = ROUGEScore(average="none")
    for batch in TEXT:
        metric.update(*batch)
    figure, ax = metric.plot()
    value = metric.compute()
    assert _labels(ax.get_yticklabels()) == [f"{name}, mean {scores.mean():.3f}" for name, scores in value.items()]
    _assert_in_figure(figure, ax.get_yticklabels())
    boxes = [name.get_window_extent() for name in ax.get_yticklabels()]
    assert all(above.y0 > below.y1 for above, below in pairwise(boxes))
    assert [line.get_xdata()[0] for line in ax.get_lines()] == pytest.approx([s.mean().item() for s in value.values()])
    counts = [_counts(scores.tolist()) for scores in value.values()]
    highest = max(map(max, counts))
    assert ax.get_ylabel() == f"segments, up to {highest} in a bar"
    for line, (row, bars) in enumerate(zip(counts, ax.patches, strict=True)):
        heights, edges, base = bars.get_data()
        assert (base, list(edges)) == (-line, [edge / 20 for edge in range(21)])
        assert [(height - base) * highest / 0.9 for height in heights] == pytest.approx(row, abs=1e-9)


@each_case_with_none
def test_a_histogram_of_no_sentence_is_empty(case: Case):
    nothing = case.filled("none", [case.nothing])
    with pytest.warns(UserWarning, match="^no segment was counted"):
        _, ax = nothing.plot()
    assert all(len(scores) == 0 for scores in scores_of(nothing.compute()))
    assert ax.get_title() == case.metric.__name__


def test_a_list_of_steps_is_one_histogram_of_all_their_sentences_with_the_extremes():
    metric = Bleu(average="none")
    _, given = plt.subplots()
    _, ax = metric.plot([metric(["a b c d e"], ["a b c d e"]), metric(["x"], ["y"])], given)
    assert ax is given
    assert _bars(ax) == [1, *[0] * 18, 1]


def test_a_histogram_reaches_from_0_to_the_highest_score():
    scores = torch.tensor([0.5, 0.5, 4.0])
    _, ax = ChrF(average="none").plot(scores)
    assert sum(_bars(ax)) == 3
    assert ax.patches[-1].get_x() + ax.patches[-1].get_width() == pytest.approx(4)
    _, ax = ChrF(average="none").plot({"first": scores, "second": scores})
    for bars in ax.patches:
        assert bars.get_data().edges[-1] == 4
        assert sum(bars.get_data().values - bars.get_data().baseline) == pytest.approx(0.9 * 3 / 2)


@pytest.mark.parametrize("options", [{"average": "none"}, {"confidence": 0.95}], ids=str)
def test_without_matplotlib_the_extra_is_named(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch):
    metric = Bleu(**options)
    metric.update(*TEXT[0])
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot")
    with pytest.raises(ModuleNotFoundError, match=r"plots need matplotlib: pip install matplotlib"):
        metric.plot()
