"""The systems whose report the tests look at: made-up ones, and segments that try to be more than text."""

import json
import re
from pathlib import Path

from systems import output, references

SEGMENTS = 60
#: What a page has to show as it is, and never to run.
HOSTILE = [
    "<script>window.ran = 1</script> said the cat",
    "</script><script>window.ran = 2</script>",
    "<img src=x onerror='window.ran = 3'> & \"quotes\" 'too'",
    "a nul \x00 and a bell \x07",
    "left \u202eright to left\u202c again",
    "half \ud800 of a pair, and the other \udc00",
    "\u2028 and \u2029 end lines of JavaScript",
    "&amp; is an escape, &lt;b&gt; too, {{ 7 * 7 }} {% raw %}",
    "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd",
    "\U0001f600 \U0001f469\u200d\U0001f680 e\u0301 na\u00efve",
    "",
    "word " * 400,
]
NAME = "</script><b>'\"&\u202e{{x}}"
#: How a page shows the name.
SHOWN = NAME.replace("\u202e", "[U+202E]")

REFERENCES = references(SEGMENTS) + HOSTILE
SYSTEMS = {
    "base": output(REFERENCES[:SEGMENTS], 0.4, seed=1) + HOSTILE,
    "better": output(REFERENCES[:SEGMENTS], 0.1, seed=2) + HOSTILE,
    NAME: output(REFERENCES[:SEGMENTS], 0.3, seed=3) + HOSTILE[::-1],
}


def data_of(path: Path) -> dict:
    """What the page's script reads."""
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', path.read_text("utf-8"), re.S)
    assert not re.search("[<>&\u2028\u2029]", data), "nothing in it ends the script"
    return json.loads(data)
