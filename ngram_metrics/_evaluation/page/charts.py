"""The charts of the page: where scores, intervals and ticks are, in percent of the chart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ngram_metrics._evaluation.result_tables import PLAIN, format_score
from ngram_metrics._evaluation.results import Outcome, Result
from ngram_metrics._evaluation.steps import Steps

#: An axis of scores has at most this many ticks.
_SCORE_TICKS = 6
#: The ticks of steps have together at most this many digits, so that they fit a phone.
_STEP_DIGITS = 24
#: The shortest axis of scores, in points.
_SHORTEST = 1.0


class Tick(NamedTuple):
    """A number on an axis, and its place."""

    place: float
    text: str


class Point(NamedTuple):
    """A system, the places of its score and of the ends of its interval, and their text.

    ``step`` is the place of the system on the axis of steps; 0 without steps.
    """

    name: str
    score: float
    low: float
    high: float
    text: str
    step: float


class Chart(NamedTuple):
    """One value of all systems. Without steps of a training, ``step_ticks`` is empty."""

    points: list[Point]
    score_ticks: list[Tick]
    step_ticks: list[Tick]


class _Axis:
    """An axis between two numbers, with some space beyond both."""

    def __init__(self, low: float, high: float, shortest: float) -> None:
        missing = max(shortest - (high - low), 0)
        space = 0.04 * (high - low + missing)
        self._low = low - missing / 2 - space
        self._width = high - low + missing + 2 * space

    def place(self, number: float) -> float:
        """Return the place of a number, in percent of the axis."""
        return round(100 * (number - self._low) / self._width, 2)

    def ticks(self, most: int, smallest: float = 0) -> list[Tick]:
        """Return up to ``most`` ticks at multiples of a round number, at least ``smallest``."""
        power = 10.0 ** math.floor(math.log10(self._width / most))
        step = next(factor * power for factor in (1, 2, 5, 10) if self._width <= most * factor * power)
        step = max(step, smallest)
        first = math.ceil(self._low / step)
        last = math.floor((self._low + self._width) / step)
        numbers = [index * step for index in range(first, last + 1)]
        return [Tick(self.place(number), f"{number:.10g}") for number in numbers]


def make_charts(outcome: Outcome, systems: Sequence[str], steps: Steps | None) -> dict[str, Chart]:
    """Return the chart of each value, with the systems in this order. The results have intervals."""
    if steps is None:
        step_places = [0.0] * len(systems)
        step_ticks = []
    else:
        step_axis = _Axis(steps.numbers[0], steps.numbers[-1], shortest=0)
        step_places = [step_axis.place(number) for number in steps.numbers]
        most = max(_STEP_DIGITS // len(str(steps.numbers[-1])), 2)
        step_ticks = step_axis.ticks(most, smallest=1)
    charts = {}
    for value in outcome.values:
        results = [outcome.results[system][value] for system in systems]
        numbers = [
            100 * part for result in results for part in (result.score, result.low, result.high) if part is not None
        ]
        axis = _Axis(min(numbers), max(numbers), _SHORTEST)
        points = [
            _make_point(system, result, axis, step)
            for system, result, step in zip(systems, results, step_places, strict=True)
        ]
        charts[value] = Chart(points, axis.ticks(_SCORE_TICKS), step_ticks)
    return charts


def _make_point(system: str, result: Result, axis: _Axis, step: float) -> Point:
    score = axis.place(100 * result.score)
    low = score if result.low is None else axis.place(100 * result.low)
    high = score if result.high is None else axis.place(100 * result.high)
    return Point(system, score, low, high, format_score(result, PLAIN), step)


def describe_chart(value: str, steps: Steps | None) -> str:
    """Return the title of a chart."""
    if steps is None:
        return f"{value} of each system with its interval, in the order given"
    return f"{value} over the {steps.unit}s with its interval"
