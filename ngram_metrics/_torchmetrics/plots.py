"""The plots of metrics: what ``compute`` and ``forward`` return, as curves over steps or as a row for each value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from ngram_metrics._core.basics.plots import Curve, Row, draw_curves, draw_points, draw_rows
from ngram_metrics._core.scoring.resampling import ENDS
from ngram_metrics._core.text.messages import type_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_metric(metric: Any, value: Any, ax: Axes | None) -> tuple[Figure, Axes]:
    """Plot results of a metric. None plots what ``compute`` returns; for ROUGE that is F of each key."""
    if value is None:
        value = metric.compute()
        if isinstance(value, Mapping):
            headlines = {title + suffix for title in metric.scorer.titles.values() for suffix in metric.suffixes}
            value = {name: score for name, score in value.items() if name in headlines}
    return plot_values(value, next(iter(metric.scorer.values)), ax)


def plot_values(value: Any, name: str, ax: Axes | None) -> tuple[Figure, Axes]:
    """Plot one result, or a list of results as steps. A result without names is called ``name``.

    Raises:
        TypeError: an object that is not a result.
        ValueError: no result, or results of different values.
        ModuleNotFoundError: matplotlib is not installed (extra ``plot``).
    """
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    steps = [_list_scores(step, name) for step in value] if is_list else [_list_scores(value, name)]
    if not steps or not steps[0]:
        raise ValueError("val is empty: expected at least one result")
    for index, step in enumerate(steps):
        _check_same_values(index, step, steps[0])
    if len(steps) > 1:
        return draw_curves(_join_ends(_columns_over_steps(steps)), range(len(steps)), "step", ax)
    curves = _join_ends(steps[0])
    if any(len(curve.scores) > 1 for curve in curves):
        return draw_points(curves, "segment", ax)
    return draw_rows([_to_row(curve) for curve in curves], "score", ax)


def _check_same_values(index: int, step: Mapping[str, Sequence[float]], first: Mapping[str, Sequence[float]]) -> None:
    """Raise ValueError unless the result ``index`` has the names of the first one, and as many scores of each."""
    if step.keys() != first.keys():
        raise ValueError(
            f"result {index} of val has the values {', '.join(step)} and result 0 has {', '.join(first)}: "
            "expected the same values in each"
        )
    for name, scores in step.items():
        if len(scores) != len(first[name]):
            raise ValueError(
                f"result {index} of val has {len(scores)} scores of {name} and result 0 has {len(first[name])}: "
                "expected the same number in each"
            )


def _columns_over_steps(steps: Sequence[Mapping[str, Sequence[float]]]) -> dict[str, list[float]]:
    """Return the scores over the steps by name. With average none, the name of a score ends with its segment."""
    columns = {}
    for name, first in steps[0].items():
        for segment in range(len(first)):
            column = name if len(first) == 1 else f"{name} {segment}"
            columns[column] = [step[name][segment] for step in steps]
    return columns


def _join_ends(columns: Mapping[str, Sequence[float]]) -> list[Curve]:
    """Return a curve for each column, with its interval. Ends of intervals do not get curves of their own."""
    ends = {name + end for name in columns for end in ENDS}
    return [
        Curve(name, scores, *(columns.get(name + end) for end in ENDS))
        for name, scores in columns.items()
        if name not in ends
    ]


def _to_row(curve: Curve) -> Row:
    """Return a curve of one point as a row."""
    low = None if curve.lows is None else curve.lows[0]
    high = None if curve.highs is None else curve.highs[0]
    return Row(curve.name, curve.scores[0], low, high)


def _list_scores(value: Any, name: str) -> dict[str, list[float]]:
    """Return the scores of a result by name: one, or for average none one for each segment."""
    if isinstance(value, Mapping):
        return {str(key): _numbers(scores) for key, scores in value.items()}
    return {name: _numbers(value)}


def _numbers(scores: Any) -> list[float]:
    if not isinstance(scores, (Tensor, Real)):
        raise TypeError(f"val has {type_name(scores)}: expected a result of compute or forward, or a list of them")
    numbers: list[float] = torch.as_tensor(scores).detach().flatten().tolist()
    return numbers
