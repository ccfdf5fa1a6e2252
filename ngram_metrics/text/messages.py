"""How error messages show a value. Imports nothing, so the command line can use it without torch."""

from __future__ import annotations


def shortened(value: object, width: int = 60) -> str:
    """Return the ``repr`` of a value, shortened to ``width`` characters for an error message."""
    shown = repr(value)
    return shown if len(shown) <= width else shown[: width - 3] + "..."
