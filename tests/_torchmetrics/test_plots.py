"""plot(): one result is a row for each value, several are curves, each with its interval."""

import sys
from typing import Any

import pytest
import torch
from drawn import bands, heights, names_of_curves, rows, whiskers
from metrics.cases import TEXT
from torchmetrics import MetricCollection

from ngram_metrics import Bleu, ChrF, GroupedMetric, ROUGEScore

pytest.importorskip("matplotlib", reason="the plots are drawn")

import matplotlib.pyplot as plt

pytestmark = pytest.mark.usefixtures("figures")


def _ends(value: dict[str, Any], name: str) -> tuple[float, float]:
    return float(value[f"{name}_low"]), float(value[f"{name}_high"])


def test_a_result_is_a_row_for_each_value_with_its_interval_as_a_whisker():
    metric = ChrF(confidence=0.95)
    metric.update(*TEXT[0])
    value = metric.compute()
    figure, ax = metric.plot()
    assert figure is ax.figure
    assert rows(ax) == {"chrf": pytest.approx(float(value["chrf"]))}
    assert whiskers(ax) == [pytest.approx((0, *_ends(value, "chrf")))]


def test_without_a_value_rouge_draws_f_of_each_key():
    metric = ROUGEScore(confidence=0.95)
    metric.update(*TEXT[0])
    value = metric.compute()
    _, ax = metric.plot()
    expected = [f"{key}_fmeasure" for key in ("rouge1", "rouge2", "rougeL", "rougeLsum")]
    assert rows(ax) == {name: pytest.approx(float(value[name])) for name in expected}
    assert whiskers(ax) == [pytest.approx((place, *_ends(value, name))) for place, name in enumerate(expected)]


def test_with_values_exactly_these_are_drawn():
    value = ROUGEScore(rouge_keys="rouge1", confidence=0.95)(*TEXT[0])
    kept = {name: value[name] for name in ("rouge1_recall", "rouge1_fmeasure", "rouge1_fmeasure_low")}
    kept["rouge1_fmeasure_high"] = value["rouge1_fmeasure_high"]
    _, ax = ROUGEScore(confidence=0.95).plot(kept)
    assert list(rows(ax)) == ["rouge1_recall", "rouge1_fmeasure"]
    assert whiskers(ax) == [pytest.approx((1, *_ends(value, "rouge1_fmeasure")))]
    _, ax = ROUGEScore().plot(value)
    assert list(rows(ax)) == ["rouge1_fmeasure", "rouge1_precision", "rouge1_recall"]


def test_results_of_several_steps_are_a_curve_in_a_band_on_the_axis_given():
    metric = ChrF(confidence=0.95)
    values = [metric(*batch) for batch in TEXT]
    _, given = plt.subplots()
    figure, ax = metric.plot(values, given)
    assert (figure, ax) == (given.figure, given)
    assert heights(ax) == pytest.approx([float(value["chrf"]) for value in values])
    ((_, ends),) = bands(ax)
    assert ends == [pytest.approx(_ends(value, "chrf")) for value in values]
    assert [name.get_text() for name in names_of_curves(ax)] == ["chrf"]
    assert (ax.get_xlabel(), ax.get_legend()) == ("step", None)


def test_each_curve_has_its_name_at_its_end():
    metric = ROUGEScore(rouge_keys=("rouge1", "rougeL"))
    values = [metric(*batch) for batch in TEXT]
    _, ax = metric.plot(values)
    assert {name.get_text(): name.xy for name in names_of_curves(ax)} == {
        name: (len(values) - 1, pytest.approx(float(values[-1][name]))) for name in values[-1]
    }


def test_average_none_draws_the_segments_as_points():
    metric = ChrF(average="none")
    scores = metric(*TEXT[0])
    _, ax = metric.plot()
    assert heights(ax) == pytest.approx(scores.tolist())
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("segment", "chrf")
    metric.reset()
    _, ax = metric.plot([scores, scores / 2])
    assert heights(ax) == pytest.approx([part for score in scores.tolist() for part in (score, score / 2)])


def test_groups_are_drawn_by_their_names():
    metric = GroupedMetric(ROUGEScore(rouge_keys="rougeL"), ["de", "fr"])
    preds, target = TEXT[0]
    metric.update(preds, target, ["de"] * len(preds))
    _, ax = metric.plot()
    names = [f"rougeL_fmeasure_{group}" for group in ("de", "fr", "mean", "all")]
    assert list(rows(ax)) == names
    value = metric.compute()
    _, ax = metric.plot([value, value])
    # Without segments the group "fr" has no score.
    drawn = {name.get_text() for name in names_of_curves(ax)}
    assert drawn == {name for name in value if not name.endswith("_fr")}


def test_values_of_another_scale_are_drawn():
    """Arithmetic such as ``100 * Bleu()`` is torchmetrics' own, which draws nothing."""
    _, ax = Bleu().plot([torch.tensor(20.0), torch.tensor(30.0)])
    assert heights(ax) == [20, 30]
    low, high = ax.get_ylim()
    assert (low, high) == (pytest.approx(19.5), pytest.approx(30.5))


def test_a_single_value_is_drawn():
    item = ROUGEScore(rouge_keys="rougeL")["rougeL_fmeasure"]
    item.update(*TEXT[0])
    figure, ax = item.plot()
    assert figure is ax.figure
    assert rows(ax) == {"rougeL_fmeasure": pytest.approx(float(item.compute()))}


def test_a_collection_plots_what_its_metrics_computed():
    collection = MetricCollection({"quality": ChrF(confidence=0.95), "rouge": ROUGEScore(rouge_keys="rougeL")})
    collection.update(*TEXT[0])
    computed = {name: metric.compute() for name, metric in collection.items()}
    (_, chrf), (_, rouge) = collection.plot(computed)
    assert whiskers(chrf) == [pytest.approx((0, *_ends(computed["quality"], "chrf")))]
    assert not whiskers(rouge)
    (_, chrf), (_, rouge) = collection.plot([computed, computed])
    assert (len(bands(chrf)), len(bands(rouge))) == (1, 0)


@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [
        ("chrf", TypeError, "^val has a str: expected a result of compute or forward, or a list of them$"),
        ({"chrf": None}, TypeError, "^val has a NoneType: expected"),
        ([], ValueError, "^val is empty: expected at least one result$"),
        (
            [{"a": 1.0}, {"b": 1.0}],
            ValueError,
            r"^result 1 of val has the values b and result 0 has a: expected",
        ),
        (
            [torch.ones(2), torch.ones(3)],
            ValueError,
            "^result 1 of val has 3 scores of chrf and result 0 has 2: expected",
        ),
    ],
)
def test_what_is_no_result_is_named(value: Any, kind: type[Exception], words: str):
    with pytest.raises(kind, match=words):
        ChrF().plot(value)
    assert plt.get_fignums() == []


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r"^plot needs matplotlib: pip install matplotlib$"):
        ChrF().plot(torch.tensor(0.5))
