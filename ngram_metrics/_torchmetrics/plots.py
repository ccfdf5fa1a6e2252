"""Intervals on torchmetrics' plots: whiskers for one step, bands for several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ngram_metrics._core.scoring.resampling import ENDS
from ngram_metrics._core.scoring.scorer import Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_with_intervals(plot: Callable[..., Any], value: Value | Sequence[Value], ax: Axes | None) -> Any:
    """Plot one or several results of ``compute`` with ``Metric._plot``, and add their intervals."""
    steps = value if isinstance(value, Sequence) else [value]
    scores = [_drop_ends(step) for step in steps]
    figure, ax = plot(scores if isinstance(value, Sequence) else scores[0], ax)
    if isinstance(steps[0], dict):
        drawn = ax.get_lines()[-len(scores[0]) :]
        for position, (name, line) in enumerate(zip(scores[0], drawn, strict=True)):
            if all(name + end in steps[0] for end in ENDS):
                low, high = ([float(step[name + end]) for step in steps] for end in ENDS)
                if isinstance(value, Sequence):
                    ax.fill_between(range(len(steps)), low, high, color=line.get_color(), alpha=0.2, linewidth=0)
                else:
                    ax.vlines(position, low, high, color=line.get_color())
    return figure, ax


def _drop_ends(value: Value) -> Value:
    """Drop the ends of intervals from a result of ``compute``: torchmetrics would draw them as values."""
    if not isinstance(value, dict):
        return value
    ends = {name + end for name in value for end in ENDS}
    return {name: score for name, score in value.items() if name not in ends}
