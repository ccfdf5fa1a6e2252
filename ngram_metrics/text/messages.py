"""What error messages show of a value. Imports nothing, so the command line can use it before torch is there."""

from __future__ import annotations


def shortened(value: object, width: int = 60) -> str:
    """Return a representation that fits an error message."""
    shown = repr(value)
    return shown if len(shown) <= width else shown[: width - 3] + "..."
