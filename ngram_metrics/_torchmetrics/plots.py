"""Plots that torchmetrics lacks: many values, intervals, and how the scores of segments are distributed.

All functions draw on the given axis, or on a new figure, and return both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor

from ngram_metrics._core.basics.option_checks import ROUGE_VALUES
from ngram_metrics._core.scoring.resampling import ENDS
from ngram_metrics._core.scoring.scorer import Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Bars of a histogram.
BINS = 20
#: For the values of a key in turn: their lines, and how opaque their lines and bars are.
_DASHES = ("-", "--", ":")
_SHADES = (0.8, 0.4, 0.25)
#: The width of a key's first bar, and of the others.
_WIDE, _NARROW = 0.4, 0.15


def plot_values(
    values: dict[str, Tensor] | Sequence[dict[str, Tensor]], title: str, ax: Axes | None = None
) -> tuple[Figure, Axes]:
    """Plot what ``compute`` returned, with intervals, as bars, or such dicts of several steps as lines in bands."""
    is_new = ax is None
    figure, ax = _make_figure(ax)
    if isinstance(values, Mapping):
        _draw_bars(ax, values)
    else:
        _draw_lines(ax, values, is_new)
    ax.set_ylabel("score")
    ax.set_ylim(bottom=0)
    ax.set_title(title)
    return figure, ax


def _draw_bars(ax: Axes, values: Mapping[str, Tensor]) -> None:
    """Draw a bar above each key, with its interval, and narrow, light bars beside it for the key's other values."""
    keys = _keys(values)
    for position, (first, *others) in enumerate(keys.values()):
        ax.bar(position, float(values[first]), width=_WIDE, color="tab:blue", alpha=_SHADES[0], label=_kind(first))
        if _has_interval(values, first):
            _draw_interval(ax, position, values, first)
        for index, name in enumerate(others):
            side = position + _WIDE / 2 + _NARROW * (index + 0.5)
            shade = _SHADES[1 + index]
            ax.bar(side, float(values[name]), width=_NARROW, color="tab:blue", alpha=shade, label=_kind(name))
    ax.set_xlim(-1, len(keys))
    ax.set_xticks(range(len(keys)), keys)
    handles, labels = ax.get_legend_handles_labels()
    if len(by_label := dict(zip(labels, handles, strict=True))) > 1:  # else the ticks say it all
        ax.legend(by_label.values(), by_label.keys(), fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))


def _draw_interval(ax: Axes, position: float, values: Mapping[str, Tensor], name: str) -> None:
    score, low, high = (float(values[name + end]) for end in ("", *ENDS))
    # The bootstrap interval of a skewed score may not contain the score itself.
    reach = [[max(0.0, score - low)], [max(0.0, high - score)]]
    ax.errorbar([position], [score], yerr=reach, fmt="none", ecolor="black", capsize=6)


def _draw_lines(ax: Axes, values: Sequence[Mapping[str, Tensor]], is_new: bool) -> None:
    """Draw a line for each key, in a band for its interval, and thin, light lines for the key's other values."""
    steps = list(range(len(values)))
    keys = _keys(values[0])
    for index, names in enumerate(keys.values()):
        for name, dashes, shade in zip(names, _DASHES, _SHADES, strict=False):
            is_first = name == names[0]
            # Each key has smaller markers than the one before, so that equal lines, as of ROUGE-L and ROUGE-Lsum for
            # texts of one line, are both visible.
            ax.plot(
                steps,
                [float(step[name]) for step in values],
                color=f"C{index % 10}",
                ls=dashes,
                linewidth=1.5 if is_first else 1,
                marker="o" if is_first else None,
                markersize=4 + 1.2 * (len(keys) - index),
                alpha=shade,
                label=name,
            )
            if is_first and _has_interval(values[0], name):
                low, high = ([float(step[name + end]) for step in values] for end in ENDS)
                # Bands that overlap become darker.
                ax.fill_between(steps, low, high, color=f"C{index % 10}", alpha=0.2 / len(keys) ** 0.5, linewidth=0)
    ax.set_xticks(steps[:: 1 + len(steps) // 10])
    ax.set_xlabel("Step")
    drawn = sum(map(len, keys.values()))
    if drawn > 1:  # outside the axes: between the lines there is no room for many names
        columns = 1 + (drawn - 1) // 20  # 20 names are as high as a figure
        ax.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize="small", handlelength=3, ncols=columns)
        if is_new:
            figure = cast("Figure", ax.get_figure())
            figure.set_figwidth(figure.get_figwidth() + 2 * (columns - 1))
    else:
        ax.legend()


def plot_histogram(scores: Value | Sequence[Value], title: str, ax: Axes | None = None) -> tuple[Figure, Axes]:
    """Plot a histogram of the segments' scores, from 0 to 1 or to the largest score, and their mean.

    ``scores`` are what ``compute`` returned for average none, ``(segments, ...)``, or a dict of such scores, each drawn
    in a separate row; or a list of these, which are joined.
    """
    figure, ax = _make_figure(ax)
    by_name = [step if isinstance(step, Mapping) else {"": step} for step in steps_of(scores)]
    numbers = {name: [n for step in by_name for n in step[name].reshape(-1).tolist()] for name in by_name[0]}
    end = max([1.0, *chain.from_iterable(numbers.values())])
    if len(numbers) == 1:
        ((name, column),) = numbers.items()
        mean = _mean(column)
        ax.hist(column, bins=BINS, range=(0, end), label=_label_mean(name, mean), alpha=0.7)
        ax.axvline(mean, ls="--")
        ax.set_ylabel("segments")
        ax.margins(y=0.2)  # room for the legend
        ax.legend(loc="upper left", fontsize="small")
    else:
        _draw_rows(ax, numbers, end)
    ax.set_xlabel("score of a segment")
    ax.set_title(title)
    return figure, ax


def _draw_rows(ax: Axes, numbers: Mapping[str, list[float]], end: float) -> None:
    """Draw each histogram in a separate row, the first on top: in one row they would hide each other."""
    counts = [
        torch.histc(torch.tensor(column, dtype=torch.float64, device="cpu"), BINS, 0, end)
        for column in numbers.values()
    ]
    highest = max(1, *(int(row.max()) for row in counts))
    edges = [end * edge / BINS for edge in range(BINS + 1)]
    labels = []
    for line, (name, column, row) in enumerate(zip(numbers, numbers.values(), counts, strict=True)):
        mean = _mean(column)
        # 0.9 leaves a gap between the highest bar and the row above.
        bars = ax.stairs([0.9 * count / highest - line for count in row.tolist()], edges, baseline=-line, fill=True)
        bars.set(color=f"C{line % 10}", alpha=0.7)
        ax.plot([mean, mean], [-line, 0.9 - line], color="black", ls="--", linewidth=1)
        labels.append(_label_mean(name, mean))
    ax.set_yticks([0.4 - line for line in range(len(labels))], labels, fontsize="small")
    ax.tick_params(axis="y", length=0)
    ax.set_ylabel(f"segments, up to {highest} in a bar")


def steps_of(val: Value | Sequence[Value]) -> Sequence[Value]:
    """Return a list as it is, or a result of ``compute`` as a list, and raise ValueError if there is nothing in it."""
    steps = val if isinstance(val, Sequence) else [val]
    if not steps or any(isinstance(step, Mapping) and not step for step in steps):
        raise ValueError(f"there is nothing to plot in {val!r}: expected what compute returned, or a list of it")
    return steps


def add_ends(val: Value | Sequence[Value], computed: Value | None) -> Value | Sequence[Value]:
    """Return a value that ``compute`` has returned with the ends of its interval, and anything else as it is."""
    # MetricCollection.plot passes only the value that has the metric's name in the collection.
    if isinstance(computed, dict):
        for name, value in computed.items():
            if value is val:
                return {key: computed[key] for key in (name, *(name + end for end in ENDS)) if key in computed}
    return val


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / max(1, len(numbers))


def _label_mean(name: str, mean: float) -> str:
    return f"{name}, mean {mean:.3f}" if name else f"mean {mean:.3f}"


def _make_figure(ax: Axes | None) -> tuple[Figure, Axes]:
    if ax is not None:
        return cast("Figure", ax.get_figure()), ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ModuleNotFoundError("plots need matplotlib: pip install matplotlib") from error
    return pyplot.subplots(layout="constrained")  # else rotated names reach out of the figure


def _has_interval(values: Iterable[str], name: str) -> bool:
    return all(name + end in values for end in ENDS)


def _keys(values: Iterable[str]) -> dict[str, list[str]]:
    """Return names by key without the ends of intervals, F first: three for a key of ROUGE, one for other metrics."""
    keys: dict[str, list[str]] = {}
    ends = {name + end for name in values for end in ENDS}
    for name in (name for name in values if name not in ends):
        keys.setdefault(name.removesuffix(f"_{_kind(name)}"), []).append(name)
    kinds = [*ROUGE_VALUES, ""]
    return {key: sorted(names, key=lambda name: kinds.index(_kind(name))) for key, names in keys.items()}


def _kind(name: str) -> str:
    """Return ``fmeasure``, ``precision`` or ``recall`` for a value of ROUGE, and "" for any other value."""
    kind = name.rpartition("_")[2]
    return kind if kind in ROUGE_VALUES else ""
