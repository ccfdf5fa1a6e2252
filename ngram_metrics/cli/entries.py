"""What a report holds, as JSON writes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict


class _Score(TypedDict):
    score: float


class Entry(_Score, total=False):
    """One value of a system: its score in 0..100, what that is made of, its interval, and the p-value of a test."""

    precision: float
    recall: float
    precisions: list[float]
    brevity_penalty: float
    ratio: float
    hypothesis_length: int
    reference_length: int
    low: float
    high: float
    p_value: float


class _Scores(TypedDict):
    sentences: int
    references: list[str]
    systems: dict[str, dict[str, Entry]]


class Report(_Scores, total=False):
    """All systems, each with its values by their names; the baseline, where there are several systems, is the first."""

    baseline: str
    test: str
    confidence: float
    signatures: dict[str, str]


def numbers(entry: Entry, names: Sequence[str]) -> dict[str, float]:
    """Return those of the named numbers that an entry has, in its order."""
    return {name: part for name, part in entry.items() if name in names and isinstance(part, (int, float))}
