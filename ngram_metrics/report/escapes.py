"""Text is data: nothing in it is ever markup, a command or an instruction about the direction of writing."""

from __future__ import annotations

import json
import re
from typing import Any

#: What ends a script or a line of it, and what UTF-8 cannot write.
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def script_json(value: Any) -> str:
    """Return JSON that may stand inside a ``script`` element of HTML, whatever the texts in it."""
    written = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", written)
