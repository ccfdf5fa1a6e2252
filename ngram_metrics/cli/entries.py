"""The contents of a report, as in JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict


class _Score(TypedDict):
    score: float


class Entry(_Score, total=False):
    """One value of a system: its score in 0..100, the parts of the score, its interval, and the p-value of a test."""

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
    """All systems with their values by name; with several systems the first one is the baseline."""

    baseline: str
    test: str
    correction: str
    confidence: float
    signatures: dict[str, str]


def numbers(entry: Entry, names: Sequence[str]) -> dict[str, float]:
    """Return the numbers of an entry with one of these names, in the order of the entry."""
    return {name: part for name, part in entry.items() if name in names and isinstance(part, (int, float))}
