"""Escapes: text in the page is never markup, a command or a control of the writing direction."""

from __future__ import annotations

import json
import re
from typing import Any

#: Characters without a visible form, or that change how others are shown: controls, also of direction, and surrogates.
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
#: Characters that end a script or a line of it, and those that UTF-8 cannot encode.
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def visible(text: str) -> str:
    """Return text in which invisible characters are written as their code points."""
    return _HIDDEN.sub(lambda found: f"[U+{ord(found[0]):04X}]", text)


def script_json(value: Any) -> str:
    """Return JSON that is safe inside a ``script`` element of HTML, whatever texts it contains."""
    written = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", written)
