"""What a plot shows, read from its axis."""

from typing import Any

import pytest

pytest.importorskip("matplotlib", reason="the plots are drawn")

from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.text import Text


def names_of_curves(ax: Any) -> list[Any]:
    """The texts that name curves at their ends: annotations with a line."""
    return [text for text in ax.texts if getattr(text, "arrow_patch", None) is not None]


def widths_and_heights(name: Any) -> Any:
    """The box of a text in pixels, without the line of an annotation."""
    name.figure.draw_without_rendering()
    return Text.get_window_extent(name)


def heights(ax: Any) -> list[float]:
    """All scores that are points of lines."""
    return [float(y) for line in ax.get_lines() for y in line.get_ydata()]


def whiskers(ax: Any) -> list[tuple[float, float, float]]:
    """The height of each horizontal whisker, and its ends."""
    segments = [
        segment for part in ax.collections if isinstance(part, LineCollection) for segment in part.get_segments()
    ]
    return [(float(y), float(low), float(high)) for (low, y), (high, _) in segments]


def bands(ax: Any) -> list[tuple[tuple[float, float, float], list[tuple[float, float]]]]:
    """The color of each band, and its ends at its steps."""
    shown = []
    for part in ax.collections:
        if isinstance(part, PolyCollection):
            corners = part.get_paths()[0].vertices
            of_steps = [[y for x, y in corners if x == step] for step in sorted({x for x, _ in corners})]
            color = tuple(part.get_facecolor()[0][:3])
            shown.append((color, [(min(of_step), max(of_step)) for of_step in of_steps]))
    return shown


def rows(ax: Any) -> dict[str, float]:
    """The score of each row by its name, from the top."""
    points = {int(line.get_ydata()[0]): float(line.get_xdata()[0]) for line in ax.get_lines()}
    return {
        label.get_text(): points[int(place)] for label, place in zip(ax.get_yticklabels(), ax.get_yticks(), strict=True)
    }
