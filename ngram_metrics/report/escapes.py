"""Text is data: nothing in it is ever markup, a command or an instruction about the direction of writing."""

from __future__ import annotations

import json
import re
from typing import Any

#: What has no sign of its own, or changes how others are shown: controls, of the direction too, and half surrogates.
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
#: What ends a script or a line of it, and what UTF-8 cannot write.
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def visible(text: str) -> str:
    """Return text in which characters that cannot be seen are written as their code points."""
    return _HIDDEN.sub(lambda found: f"[U+{ord(found[0]):04X}]", text)


def script_json(value: Any) -> str:
    """Return JSON that may stand inside a ``script`` element of HTML, whatever the texts in it."""
    written = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", written)
