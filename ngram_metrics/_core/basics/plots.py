"""Plots of scores and their intervals: curves over steps, and a row for each name. They need matplotlib."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colors of Okabe and Ito (https://jfly.uni-koeln.de/color), which people of every color vision tell apart.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
#: The styles of the first curves, one for each color, and of those after them; and the same for points.
_LINE_STYLES = ("-", "--", ":")
_MARKERS = ("o", "^", "x")
#: The size of a new figure of curves, in inches.
_CURVES_SIZE = (6.4, 4.0)
#: A new figure of rows has this height, and more for each row, in inches.
_FRAME_HEIGHT, _ROW_HEIGHT = 0.9, 0.38
#: Marks the texts of an axis that name curves.
_NAME_OF_CURVE = "name of a curve"
#: The space on each side of the names of curves, in points.
_GAP = 12


class Curve(NamedTuple):
    """Scores in order. ``lows`` and ``highs`` are the ends of their intervals, or None."""

    name: str
    scores: Sequence[float]
    lows: Sequence[float] | None = None
    highs: Sequence[float] | None = None


class Row(NamedTuple):
    """A score. ``low`` and ``high`` are the ends of its interval, or None."""

    name: str
    score: float
    low: float | None = None
    high: float | None = None


def draw_curves(
    curves: Sequence[Curve], positions: Sequence[float], unit: str, ax: Axes | None = None
) -> tuple[Figure, Axes]:
    """Draw a line for each curve, the band of its interval, and its name behind its end.

    Several calls can draw on one axis: each takes the next colors.

    Args:
        curves: the curves. Scores of NaN are left out.
        positions: where the scores are on the horizontal axis, in ascending order.
        unit: what the positions count.
        ax: the axis to draw on; None for a new figure.

    Returns:
        The figure and the axis.

    Raises:
        ModuleNotFoundError: matplotlib is not installed.
    """
    ax = _prepare_axis(ax, _CURVES_SIZE)
    for index, curve in enumerate(curves, len(ax.get_lines())):
        color = COLORS[index % len(COLORS)]
        style = _LINE_STYLES[index // len(COLORS) % len(_LINE_STYLES)]
        ax.plot(positions, curve.scores, color=color, linestyle=style, marker="o", markersize=4, label=curve.name)
        if curve.lows is not None and curve.highs is not None:
            ax.fill_between(positions, curve.lows, curve.highs, color=color, alpha=0.2, linewidth=0)
        points = [point for point in zip(positions, curve.scores, strict=True) if not math.isnan(point[1])]
        if points:
            _add_name(ax, curve.name, points[-1], color)
    ax.set_xlabel(unit)
    ax.grid(axis="y", alpha=0.3)
    _place_names(ax, positions)
    return ax.figure.figure, ax


def _add_name(ax: Axes, name: str, end: tuple[float, float], color: str) -> None:
    """Add the name of a curve with a line from its end. ``_place_names`` gives it its place."""
    leader = {"arrowstyle": "-", "color": color, "relpos": (0, 0.5), "shrinkA": 2, "shrinkB": 3}
    ax.annotate(name, end, xytext=end, arrowprops=leader, verticalalignment="center", gid=_NAME_OF_CURVE)


def _place_names(ax: Axes, positions: Sequence[float]) -> None:
    """Make room right of the curves for their names, and place each name near the end of its curve."""
    from matplotlib.text import Text

    names: list[Any] = [text for text in ax.texts if text.get_gid() == _NAME_OF_CURVE]
    names.sort(key=lambda name: name.xy[1])
    bottom, top = ax.get_ylim()
    area = ax.get_window_extent()
    pixels_of_point = ax.figure.dpi / 72
    # A text is a little higher than its font size, and there is some space between two texts.
    most = area.height / pixels_of_point / 1.6 / max(len(names), 1)
    for name in names:
        name.set_fontsize(min(name.get_fontsize(), most))
    # The extent of the text alone, because that of an annotation includes its line.
    extents = [Text.get_window_extent(name) for name in names]
    width = max((extent.width for extent in extents), default=0)
    gap = _GAP * pixels_of_point
    left, end, right = _set_horizontal_limits(ax, positions, width + 2 * gap)
    start = end + gap * (right - left) / area.width
    height = max((extent.height for extent in extents), default=0)
    apart = 1.3 * height * (top - bottom) / area.height
    places = _spread([name.xy[1] for name in names], apart, bottom + apart / 2, top - apart / 2)
    for name, place in zip(names, places, strict=True):
        name.set_position((start, place))


def _set_horizontal_limits(ax: Axes, positions: Sequence[float], room: float) -> tuple[float, float, float]:
    """Leave this many pixels free to the right of all curves, and put ticks at whole positions of the curves.

    Returns:
        The left end of the axis, the right end of the curves, and the right end of the axis.
    """
    from matplotlib.ticker import MaxNLocator

    # The axis may have other curves. Without any score its limits are infinite.
    first = min(positions[0], ax.dataLim.x0)
    last = max(positions[-1], ax.dataLim.x1)
    margin = 0.04 * (last - first) or 0.5
    left = first - margin
    end = last + margin
    width = ax.get_window_extent().width
    # On a narrow axis, names reach beyond its end rather than leave nothing for the curves.
    right = left + (end - left) * width / max(width - room, 0.3 * width)
    ax.set_xlim(left, right)
    ticks = MaxNLocator("auto", integer=True).tick_values(first, last)
    ax.set_xticks([tick for tick in ticks if first <= tick <= last])
    return left, end, right


def _spread(heights: Sequence[float], apart: float, bottom: float, top: float) -> list[float]:
    """Move ascending heights so that neighbours are ``apart``, between ``bottom`` and ``top``.

    Heights that would be too close become a block around their mean, which may push the block below it further down.

    >>> _spread([1.0, 1.5, 4.0], 1.0, 0.0, 5.0)
    [0.75, 1.75, 4.0]
    >>> _spread([4.0, 5.0], 1.0, 0.0, 5.0)
    [4.0, 5.0]
    >>> _spread([0.0, 0.2, 1.4], 1.0, 0.0, 5.0)
    [0.0, 1.0, 2.0]
    """

    def place(block: Sequence[float]) -> list[float]:
        size = apart * (len(block) - 1)
        lowest = max(min(sum(block) / len(block) - size / 2, top - size), bottom)
        return [lowest + apart * index for index in range(len(block))]

    blocks: list[list[float]] = []
    for height in heights:
        blocks.append([height])
        while len(blocks) > 1 and place(blocks[-2])[-1] + apart > place(blocks[-1])[0]:
            upper = blocks.pop()
            blocks[-1] += upper
    return [place_of_one for block in blocks for place_of_one in place(block)]


def draw_points(curves: Sequence[Curve], unit: str, ax: Axes | None = None) -> tuple[Figure, Axes]:
    """Draw the scores of each curve as points at 0, 1 and so on, without lines between them.

    Several curves have a legend beside the axis, since the last point says nothing about the others.
    """
    ax = _prepare_axis(ax, _CURVES_SIZE)
    for index, curve in enumerate(curves):
        marker = _MARKERS[index // len(COLORS) % len(_MARKERS)]
        color = COLORS[index % len(COLORS)]
        ax.plot(curve.scores, color=color, linestyle="none", marker=marker, markersize=4, label=curve.name)
    if len(curves) == 1:
        ax.set_ylabel(curves[0].name)
    else:
        ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    ax.set_xlabel(unit)
    ax.grid(axis="y", alpha=0.3)
    return ax.figure.figure, ax


def draw_rows(
    rows: Sequence[Row], unit: str, ax: Axes | None = None, best: int | None = None, digits: int = 3
) -> tuple[Figure, Axes]:
    """Draw a row for each score: its name, its interval as a whisker, and the score above its point.

    Args:
        rows: the rows, from the top.
        unit: what the horizontal axis shows.
        ax: the axis to draw on; None for a new figure.
        best: the index of the row that is marked as the best.
        digits: the digits of the written scores after the decimal point.

    Returns:
        The figure and the axis.

    Raises:
        ModuleNotFoundError: matplotlib is not installed.
    """
    ax = _prepare_axis(ax, (6.4, _FRAME_HEIGHT + _ROW_HEIGHT * len(rows)))
    for index, row in enumerate(rows):
        if row.low is not None and row.high is not None:
            ax.hlines(index, row.low, row.high, color=COLORS[0], linewidth=2)
        ax.plot([row.score], [index], color=COLORS[0], marker="o", markersize=6, linestyle="none", label=row.name)
        if index == best:
            mark_best(ax, row.score, index, row.score, digits)
        else:
            _write_score(ax, row.score, index, f"{row.score:.{digits}f}")
    ax.set_yticks(range(len(rows)), [row.name for row in rows])
    ax.set_ylim(len(rows) - 0.5, -0.7)  # from the top, with room for the first score
    ax.set_xlabel(unit)
    ax.grid(axis="x", alpha=0.3)
    return ax.figure.figure, ax


def mark_best(ax: Axes, x: float, y: float, score: float, digits: int) -> None:
    """Mark the point of the best score in another color and shape, and write the score above it."""
    ax.plot([x], [y], color=COLORS[1], marker="D", markersize=8, linestyle="none", label="best")
    _write_score(ax, x, y, f"best: {score:.{digits}f}", fontweight="bold")


def _write_score(ax: Axes, x: float, y: float, text: str, **options: Any) -> None:
    ax.annotate(
        text,
        (x, y),
        xytext=(0, 5),
        textcoords="offset points",
        horizontalalignment="center",
        verticalalignment="bottom",
        fontsize="small",
        **options,
    )


def _prepare_axis(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the axis, or that of a new figure of this size in inches, without its upper and right lines."""
    try:
        from matplotlib import pyplot
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("plot needs matplotlib: pip install matplotlib") from error
    if ax is None:
        _, ax = pyplot.subplots(figsize=size, layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax
