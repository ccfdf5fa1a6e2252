"""Plots that torchmetrics has not: values with their intervals, and how the scores of sentences are distributed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

#: Bars of a histogram over 0..1.
BINS = 20
_ENDS = ("_low", "_high")


def plot_intervals(values: Mapping[str, Any] | Sequence[Mapping[str, Any]], title: str, ax: Any = None) -> Any:
    """Plot values with their intervals: as bars, or as lines in bands over the steps.

    Args:
        values: what ``compute`` returned with ``confidence``, or a list of such, one a step.
        title: of the plot.
        ax: the matplotlib axis to draw on; None for a new figure.

    Returns:
        The figure and the axis.

    Raises:
        ModuleNotFoundError: matplotlib is not installed (extra ``plot``).
    """
    figure, ax = _figure(ax)
    if isinstance(values, Mapping):
        names = _names(values)
        heights, low, high = ([float(values[name + end]) for name in names] for end in ("", *_ENDS))
        below = [height - end for height, end in zip(heights, low, strict=True)]
        above = [end - height for height, end in zip(heights, high, strict=True)]
        # A bootstrap interval of a skewed score need not hold the score itself.
        ends = [[max(0.0, one) for one in side] for side in (below, above)]
        ax.bar(range(len(names)), heights, width=0.6, yerr=ends, capsize=6, color="tab:blue", alpha=0.7)
        ax.set_xlim(-1, len(names))
        ax.set_xticks(range(len(names)), names, rotation=0 if len(names) < 4 else 60, ha="center")
        ax.set_ylabel("score")
    else:
        steps = list(range(len(values)))
        for name in _names(values[0]):
            middle, low, high = ([float(step[name + end]) for step in values] for end in ("", *_ENDS))
            (line,) = ax.plot(steps, middle, marker="o", label=name)
            ax.fill_between(steps, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
        ax.set_xticks(steps[:: 1 + len(steps) // 10])
        ax.set_xlabel("Step")
        ax.set_ylabel("score")
        ax.legend()
    ax.set_ylim(bottom=0)
    ax.set_title(title)
    return figure, ax


def plot_histogram(scores: Any, title: str, ax: Any = None) -> Any:
    """Plot how many sentences score how much, and their mean.

    Args:
        scores: what ``compute`` returned for average none: scores ``(sentences, ...)`` in 0..1, or a dict of such by
            name; or a list of these, whose sentences are put together.
        title: of the plot.
        ax: the matplotlib axis to draw on; None for a new figure.

    Returns:
        The figure and the axis.

    Raises:
        ModuleNotFoundError: matplotlib is not installed (extra ``plot``).
    """
    figure, ax = _figure(ax)
    steps = [scores] if isinstance(scores, (Tensor, Mapping)) else list(scores)
    by_name = [step if isinstance(step, Mapping) else {"": step} for step in steps]
    for name in by_name[0]:
        numbers = [number for step in by_name for number in step[name].reshape(-1).tolist()]
        mean = sum(numbers) / max(1, len(numbers))
        shape = {"alpha": 0.7} if len(by_name[0]) == 1 else {"histtype": "step"}
        label = f"{name}, mean {mean:.3f}" if name else f"mean {mean:.3f}"
        _, _, drawn = ax.hist(numbers, bins=BINS, range=(0, 1), label=label, **shape)
        ax.axvline(mean, color=drawn[0].get_facecolor() if len(by_name[0]) == 1 else drawn[0].get_edgecolor(), ls="--")
    ax.set_xlabel("score of a sentence")
    ax.set_ylabel("sentences")
    ax.set_title(title)
    ax.margins(y=0.2)  # room for the legend
    ax.legend(loc="upper left", fontsize="small")
    return figure, ax


def _figure(ax: Any) -> tuple[Any, Any]:
    if ax is not None:
        return ax.get_figure(), ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ModuleNotFoundError("plots need matplotlib: pip install 'ngram-metrics[plot]'") from error
    return pyplot.subplots(layout="constrained")  # else names that are turned stand out of the figure


def _names(values: Mapping[str, Any]) -> list[str]:
    return [name for name in values if all(name + end in values for end in _ENDS)]
