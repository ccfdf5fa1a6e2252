"""Which cases of a grid run by default: so few that every word of their ids occurs in one."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from zlib import crc32

import pytest


def grid(*arguments: Any, **options: Any) -> Callable[[Any], Any]:
    """`parametrize`, for a test that runs only a covering choice of its cases by default."""
    parametrized = pytest.mark.parametrize(*arguments, **options)
    return lambda test: pytest.mark.covering(parametrized(test))


def covering(ids: Sequence[str], most: int | None = None) -> set[str]:
    """Ids that together have every word of all of them, or the first `most` of these.

    Each is the one with the most words that are missing, of those the one whose words were chosen least often, so that
    two axes are gone through side by side.
    """
    words = {one: set(re.split(r"[\s-]+", one)) for one in ids}
    missing, often, chosen = set().union(*words.values()), Counter[str](), set[str]()
    while missing and len(chosen) != most:
        best = max(ids, key=lambda one: (len(words[one] & missing), -sum(often[word] for word in words[one])))
        chosen.add(best)
        missing -= words[best]
        often.update(words[best])
    return chosen


def mark_the_rest_of_grids(items: Iterable[pytest.Item]) -> None:
    """Mark with `grid` what a test that is marked with `covering` does not run by default.

    Each test begins at another of its cases: tests over the same cases do not all choose the same.
    """
    grids: dict[str, dict[str, pytest.Item]] = defaultdict(dict)
    others = "slow", "cuda", "vulkan", "xla"
    for item in items:
        if item.get_closest_marker("covering") and not any(map(item.get_closest_marker, others)):
            test, _, case = item.nodeid.partition("[")
            grids[test][case.rstrip("]")] = item
    for test, cases in grids.items():
        start, most = crc32(test.encode()) % len(cases), next(iter(cases.values())).get_closest_marker("covering").args
        chosen = covering([*list(cases)[start:], *list(cases)[:start]], *most)
        for case, item in cases.items():
            if case not in chosen:
                item.add_marker(pytest.mark.grid)
