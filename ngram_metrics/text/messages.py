"""How values and texts are shown. Imports no torch, so the command line can use it before torch is there."""

from __future__ import annotations

import re

#: What has no sign of its own, or changes how others are shown: controls, of the direction too, and half surrogates.
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def shortened(value: object, width: int = 60) -> str:
    """Return a representation that fits an error message."""
    shown = repr(value)
    return shown if len(shown) <= width else shown[: width - 3] + "..."


def visible(text: str) -> str:
    """Return text in which characters that cannot be seen are written as their code points."""
    return _HIDDEN.sub(lambda found: f"[U+{ord(found[0]):04X}]", text)
