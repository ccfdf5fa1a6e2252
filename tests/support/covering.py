"""Which cases of a grid run by default: so few that every word of their ids occurs in one."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest


def grid(*arguments: Any, **options: Any) -> Callable[[Any], Any]:
    """`parametrize`, for a test that runs only a covering choice of its cases by default."""
    parametrized = pytest.mark.parametrize(*arguments, **options)
    return lambda test: pytest.mark.covering(parametrized(test))


def covering(ids: Sequence[str]) -> set[str]:
    """Ids that together have every word of all of them.

    Each is the one with the most words that are missing, of those the one whose words were chosen least often, so that
    two axes are gone through side by side.
    """
    words = {one: set(re.split(r"[\s-]+", one)) for one in ids}
    missing, often, chosen = set().union(*words.values()), Counter[str](), set[str]()
    while missing:
        best = max(ids, key=lambda one: (len(words[one] & missing), -sum(often[word] for word in words[one])))
        chosen.add(best)
        missing -= words[best]
        often.update(words[best])
    return chosen
