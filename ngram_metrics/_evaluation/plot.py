"""The plot of an evaluation: one value of all systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ngram_metrics._core.basics.plots import Curve, Row, draw_curves, draw_rows, mark_best
from ngram_metrics._evaluation.result_tables import DIGITS
from ngram_metrics._evaluation.results import ResultsBySystem
from ngram_metrics._evaluation.steps import find_steps

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_systems(results: ResultsBySystem, systems: Sequence[str], value: str, ax: Axes | None) -> tuple[Figure, Axes]:
    """Draw a value of the systems in this order: a curve over the steps of a training, or a row for each system."""
    rows = []
    for system in systems:
        result = results[system][value]
        low = None if result.low is None else 100 * result.low
        high = None if result.high is None else 100 * result.high
        rows.append(Row(system, 100 * result.score, low, high))
    scores = [row.score for row in rows]
    best = scores.index(max(scores))
    steps = find_steps(systems)
    if steps is None:
        return draw_rows(rows, value, ax, best if len(rows) > 1 else None, DIGITS)
    lows = [row.low for row in rows if row.low is not None]
    highs = [row.high for row in rows if row.high is not None]
    curve = Curve(value, scores, lows or None, highs or None)
    figure, ax = draw_curves([curve], steps.numbers, steps.unit, ax)
    mark_best(ax, steps.numbers[best], scores[best], scores[best], DIGITS)
    return figure, ax
