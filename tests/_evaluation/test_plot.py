"""Evaluation.plot: the systems of one value on the scale of the tables, the best one marked."""

import pytest
from drawn import bands, heights, names_of_curves, rows, whiskers
from systems import output, references

from ngram_metrics import evaluate
from ngram_metrics._evaluation.steps import find_steps

pytest.importorskip("matplotlib", reason="the plots are drawn")

import matplotlib.pyplot as plt

pytestmark = pytest.mark.usefixtures("figures")

LINES = references(20)
TEXTS = [output(LINES, wrong, seed=1) for wrong in (0.4, 0.1, 0.2)]
NAMES = ("base", "tuned", "other")
STEPS = ("step-500", "step-1000", "step-2000")


def test_each_system_is_a_row_in_the_order_given_with_the_best_marked():
    found = evaluate(dict(zip(NAMES, TEXTS, strict=True)), LINES, "chrf,bleu", baseline="other")
    figure, ax = found.plot()
    assert figure is ax.figure
    assert rows(ax) == {name: pytest.approx(100 * found.results[name]["chrf"].score) for name in NAMES}
    ends = [(100 * result.low, 100 * result.high) for result in (found.results[name]["chrf"] for name in NAMES)]
    assert whiskers(ax) == [pytest.approx((place, *of_system)) for place, of_system in enumerate(ends)]
    (best,) = [line for line in ax.get_lines() if line.get_label() == "best"]
    assert best.get_xdata() == [pytest.approx(100 * found.results["tuned"]["chrf"].score)]
    assert [text.get_text() for text in ax.texts if "best" in text.get_text()] == [
        f"best: {100 * found.results['tuned']['chrf'].score:.2f}"
    ]
    assert ax.get_xlabel() == "chrf"


def test_the_steps_of_a_training_are_a_curve_over_their_numbers():
    found = evaluate(dict(zip(STEPS, TEXTS, strict=True)), LINES, "chrf,bleu")
    _, ax = found.plot("bleu")
    results = [found.results[name]["bleu"] for name in STEPS]
    curve, best = ax.get_lines()
    assert list(curve.get_xdata()) == [500, 1000, 2000]
    assert heights(ax)[:3] == pytest.approx([100 * result.score for result in results])
    assert (best.get_xdata(), best.get_ydata()) == ([1000], [pytest.approx(100 * results[1].score)])
    ((_, ends),) = bands(ax)
    assert ends == [pytest.approx((100 * result.low, 100 * result.high)) for result in results]
    assert ([name.get_text() for name in names_of_curves(ax)], ax.get_xlabel()) == (["bleu"], "step")


def test_without_confidence_there_are_no_intervals_and_one_system_is_not_the_best():
    found = evaluate(TEXTS[0], LINES, "chrf", confidence=None)
    _, given = plt.subplots()
    figure, ax = found.plot("chrf", given)
    assert (figure, ax) == (given.figure, given)
    assert list(rows(ax)) == ["system"]
    assert whiskers(ax) == []
    assert not any("best" in text.get_text() for text in ax.texts)
    found = evaluate(dict(zip(STEPS, TEXTS, strict=True)), LINES, "chrf", confidence=None)
    assert bands(found.plot()[1]) == []


def test_an_unknown_value_is_named():
    found = evaluate(TEXTS[0], LINES, "chrf,bleu", confidence=None)
    with pytest.raises(ValueError, match=r"^unknown value 'rouge': expected one of chrf, bleu$"):
        found.plot("rouge")
    assert plt.get_fignums() == []


@pytest.mark.parametrize(
    ("names", "unit", "numbers"),
    [
        (["epoch 1", "epoch 2", "epoch 10"], "epoch", [1, 2, 10]),
        (["outputs/step-500", "outputs/step-1000"], "step", [500, 1000]),
        (["epoch=0-step=500", "epoch=1-step=1000"], "step", [500, 1000]),
        (["Checkpoint_5.txt", "Checkpoint_10.txt"], "checkpoint", [5, 10]),
    ],
)
def test_names_that_differ_in_an_ascending_step_are_steps(names: list[str], unit: str, numbers: list[int]):
    steps = find_steps(names)
    assert steps is not None
    assert (steps.unit, steps.numbers) == (unit, numbers)


@pytest.mark.parametrize(
    "names",
    [
        ["epoch 1"],
        ["epoch 2", "epoch 1"],
        ["epoch 1", "step 2"],
        ["base/step-500", "tuned/step-900"],
        ["model-7b", "model-13b"],
        ["run-01", "run-02"],
        ["a", "b"],
    ],
)
def test_other_names_are_not_steps(names: list[str]):
    assert find_steps(names) is None
