"""Escapes: text in the page is never markup, a command or a control of the writing direction."""

from __future__ import annotations

import json
import re
from typing import Any

#: Characters that end a script or a line of it, and those that UTF-8 cannot encode.
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def script_json(value: Any) -> str:
    """Return JSON that is safe inside a ``script`` element of HTML, whatever texts it contains."""
    written = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", written)
