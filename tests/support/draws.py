"""How many examples hypothesis draws where one takes long, and those that it runs whatever it draws."""

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

from hypothesis import example, settings


def fewer(times: int) -> settings:
    """So many times fewer than the profile says, at night as well."""
    return settings(max_examples=settings().max_examples // times)


def examples(*each: Mapping[str, Any]) -> Callable[[Any], Any]:
    """An ``@example`` for each mapping of arguments."""
    return lambda test: reduce(lambda decorated, arguments: example(**arguments)(decorated), each, test)
