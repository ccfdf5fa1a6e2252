"""plot(): the plots of torchmetrics, with intervals as whiskers and as bands."""

from collections.abc import Iterator
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import pytest
from metrics.cases import TEXT
from torchmetrics import MetricCollection

from ngram_metrics import ChrF, ROUGEScore


@pytest.fixture(autouse=True)
def figures() -> Iterator[None]:
    """Figures are drawn without a window, and closed."""
    backend = matplotlib.get_backend()
    matplotlib.use("Agg")
    yield
    plt.close("all")
    matplotlib.use(backend)


def _heights(ax: Any) -> list[float]:
    return [float(y) for line in ax.get_lines() for y in line.get_ydata()]


def _whiskers(ax: Any) -> list[tuple[float, float, float]]:
    """Where each stands, and its ends; torchmetrics draws the bounds of the score as horizontal lines."""
    segments = [segment for drawn in ax.collections for segment in getattr(drawn, "get_segments", list)()]
    return [(left, low, high) for (left, low), (right, high) in segments if left == right]


def _bands(ax: Any) -> list[list[tuple[float, float]]]:
    """The ends of each band at its steps."""
    bands = []
    for drawn in ax.collections:
        if isinstance(drawn, plt.matplotlib.collections.PolyCollection):
            corners = drawn.get_paths()[0].vertices
            heights = [[y for x, y in corners if x == step] for step in sorted({x for x, _ in corners})]
            bands.append([(min(of_step), max(of_step)) for of_step in heights])
    return bands


def _ends(value: dict[str, Any], name: str) -> tuple[float, float]:
    return float(value[f"{name}_low"]), float(value[f"{name}_high"])


def test_an_interval_is_a_whisker_at_its_value():
    metric = ROUGEScore(rouge_keys=("rouge1", "rougeL"), confidence=0.95)
    metric.update(*TEXT[0])
    value = metric.compute()
    names = [name for name in value if not name.endswith(("_low", "_high"))]
    _, ax = metric.plot()
    assert [line.get_label() for line in ax.get_lines()] == names
    assert _heights(ax) == pytest.approx([float(value[name]) for name in names])
    expected = [(float(place), *_ends(value, name)) for place, name in enumerate(names)]
    assert _whiskers(ax) == [pytest.approx(whisker) for whisker in expected]
    assert not _bands(ax)


def test_intervals_over_the_steps_are_bands_in_the_colour_of_their_line():
    metric = ChrF(confidence=0.95)
    values = [metric(*batch) for batch in TEXT]
    _, given = plt.subplots()
    given.plot([0, 1], [0, 1], label="what was there")
    _, ax = metric.plot(values, given)
    *_, line = ax.get_lines()
    assert [float(y) for y in line.get_ydata()] == pytest.approx([float(value["chrf"]) for value in values])
    (band,) = _bands(ax)
    assert band == [pytest.approx(_ends(value, "chrf")) for value in values]
    assert not _whiskers(ax)
    (drawn,) = [part for part in ax.collections if isinstance(part, plt.matplotlib.collections.PolyCollection)]
    assert plt.matplotlib.colors.same_color(drawn.get_facecolor()[0][:3], line.get_color())


def test_only_the_values_whose_interval_is_passed_have_one():
    value = ROUGEScore(rouge_keys="rouge1", confidence=0.95)(*TEXT[0])
    kept = {name: value[name] for name in ("rouge1_recall", "rouge1_fmeasure", "rouge1_fmeasure_low")}
    kept["rouge1_fmeasure_high"] = value["rouge1_fmeasure_high"]
    _, ax = ROUGEScore(confidence=0.95).plot(kept)
    assert [line.get_label() for line in ax.get_lines()] == ["rouge1_recall", "rouge1_fmeasure"]
    assert _whiskers(ax) == [pytest.approx((1.0, *_ends(value, "rouge1_fmeasure")))]


def test_a_collection_plots_what_its_metrics_computed():
    collection = MetricCollection({"quality": ChrF(confidence=0.95), "rouge": ROUGEScore(rouge_keys="rougeL")})
    collection.update(*TEXT[0])
    computed = {name: metric.compute() for name, metric in collection.items()}
    (_, chrf), (_, rouge) = collection.plot(computed)
    assert _whiskers(chrf) == [pytest.approx((0.0, *_ends(computed["quality"], "chrf")))]
    assert not _whiskers(rouge)
    (_, chrf), (_, rouge) = collection.plot([computed, computed])
    assert (len(_bands(chrf)), len(_bands(rouge))) == (1, 0)
