"""The drawing that metrics and evaluations share: what covers nothing, and what everybody tells apart."""

import itertools
import math

import numpy as np
import pytest
from drawn import bands, names_of_curves, widths_and_heights

from ngram_metrics._core.basics.plots import COLORS, Curve, Row, draw_curves, draw_points, draw_rows

pytest.importorskip("matplotlib", reason="the plots are drawn")

import matplotlib.pyplot as plt
from matplotlib.colors import to_rgb

pytestmark = pytest.mark.usefixtures("figures")

#: How people without one of the three cones see linear RGB: Machado, Oliveira and Fernandes (2009), severity 1.0.
COLOR_BLIND = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TO_XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
WHITE = (0.9505, 1.0, 1.089)


def lab(color: str, seen: list[list[float]]) -> np.ndarray:
    """CIE L*a*b* of a color as somebody sees it."""
    rgb = np.array(to_rgb(color))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = np.array(TO_XYZ) @ np.clip(np.array(seen) @ linear, 0, 1) / np.array(WHITE)
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("seen", [np.eye(3).tolist(), *COLOR_BLIND.values()], ids=["all cones", *COLOR_BLIND])
def test_any_two_colors_look_different_to_everybody(seen):
    """A distance of 10 in L*a*b* is seen at a glance; 2.3 is the smallest that is seen at all."""
    distances = [np.linalg.norm(lab(one, seen) - lab(other, seen)) for one, other in itertools.combinations(COLORS, 2)]
    assert min(distances) > 10


def test_curves_of_one_color_have_different_lines():
    _, ax = draw_curves([Curve(str(index), [0, index]) for index in range(12)], [0, 1], "step")
    looks = [(line.get_color(), line.get_linestyle()) for line in ax.get_lines()]
    assert len(set(looks)) == 12


def test_the_axis_is_as_narrow_as_the_scores_and_their_intervals():
    _, ax = draw_curves([Curve("a", [0.61, 0.62], [0.60, 0.61], [0.62, 0.64])], [0, 1], "step")
    low, high = ax.get_ylim()
    assert (low, high) == (pytest.approx(0.598), pytest.approx(0.642))
    _, ax = draw_rows([Row("a", 61, 60, 62), Row("b", 63)], "score")
    left, right = ax.get_xlim()
    assert (left, right) == (pytest.approx(59.85), pytest.approx(63.15))


@pytest.mark.parametrize(
    "count", [1, 4, pytest.param(12, marks=pytest.mark.slow), pytest.param(40, marks=pytest.mark.slow)]
)
def test_names_cover_neither_scores_nor_one_another(count: int):
    """Also where many curves end at one point."""
    curves = [Curve(f"rouge{index}_fmeasure", [0.5, 0.5 + 0.001 * (index % 3)]) for index in range(count)]
    _, ax = draw_curves(curves, [0, 10], "step")
    names = names_of_curves(ax)
    assert sorted(name.get_text() for name in names) == sorted(curve.name for curve in curves)
    extents = sorted((widths_and_heights(name) for name in names), key=lambda extent: extent.y0)
    end_of_data = ax.transData.transform((10, 0.5))[0]
    area = ax.get_window_extent()
    for extent in extents:
        assert end_of_data < extent.x0
        assert extent.x1 <= area.x1 + 1
        assert area.y0 - 1 <= extent.y0
        assert extent.y1 <= area.y1 + 1
    for lower, upper in itertools.pairwise(extents):
        assert lower.y1 <= upper.y0 + 0.01


def test_several_calls_share_an_axis_with_other_colors():
    _, ax = plt.subplots()
    draw_curves([Curve("a", [0.5, 0.6])], [0, 1], "step", ax)
    figure, same = draw_curves([Curve("b", [0.5, 0.6])], [0, 1], "step", ax)
    assert (figure, same) == (ax.figure, ax)
    assert len({line.get_color() for line in ax.get_lines()}) == 2
    lower, upper = sorted(map(widths_and_heights, names_of_curves(ax)), key=lambda extent: extent.y0)
    assert lower.y1 <= upper.y0


def test_missing_scores_are_left_out():
    """A group without segments has no score."""
    curves = [Curve("a", [math.nan, 0.5, math.nan]), Curve("never", [math.nan] * 3)]
    _, ax = draw_curves(curves, [0, 1, 2], "step")
    (name,) = names_of_curves(ax)
    assert (name.get_text(), name.xy) == ("a", (1, 0.5))
    _, ax = draw_curves([Curve("never", [math.nan] * 3)], [0, 1, 2], "step")
    assert names_of_curves(ax) == []


def test_ticks_are_at_whole_steps_that_were_drawn():
    _, ax = draw_curves([Curve("a", [0.5, 0.6, 0.7])], [500, 1000, 2000], "step")
    ticks = ax.get_xticks()
    assert len(ticks) >= 3
    assert all(500 <= tick <= 2000 and tick == int(tick) for tick in ticks)


def test_points_of_several_values_have_a_legend_beside_the_axis():
    _, ax = draw_points([Curve("a", [0.1, 0.2]), Curve("b", [0.3, 0.4])], "segment")
    ax.figure.draw_without_rendering()
    legend = ax.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b"]
    assert legend.get_window_extent().x0 >= ax.get_window_extent().x1
    assert {line.get_linestyle() for line in ax.get_lines()} == {"None"}
    _, ax = draw_points([Curve("a", [0.1, 0.2])], "segment")
    assert (ax.get_legend(), ax.get_ylabel()) == (None, "a")


def test_a_band_has_the_color_of_its_line():
    _, ax = draw_curves([Curve("a", [0.5, 0.6], [0.4, 0.5], [0.6, 0.7]), Curve("b", [0.1, 0.2])], [0, 1], "step")
    ((color, ends),) = bands(ax)
    assert color == to_rgb(ax.get_lines()[0].get_color())
    assert ends == [pytest.approx((0.4, 0.6)), pytest.approx((0.5, 0.7))]
