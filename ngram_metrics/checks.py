"""A check that the settings of readers and of measures share."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np


def checked_bool(value: object, name: str) -> bool:
    """Return True, False, ``numpy.True_`` or ``numpy.False_`` as a ``bool``.

    Raises:
        TypeError: any other object; a str such as "no" would be true.
    """
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False (got: {value!r})")
    return bool(value)


def check_booleans(settings: Any) -> None:
    """Check every field of a frozen dataclass that is a bool, as ``checked_bool`` does."""
    for field in fields(settings):
        if field.type == "bool":
            object.__setattr__(settings, field.name, checked_bool(getattr(settings, field.name), field.name))
