"""Names and texts are no markup, no command and no control of the writing direction, without a browser too."""

import base64
import hashlib
import html
import json
import re
from collections import Counter
from html.parser import HTMLParser

from report_pages import HOSTILE, NAME, data_of, write_report

from ngram_metrics import Bleu, ROUGEScore
from ngram_metrics._evaluation.page import script_json

ONE = {"a": ["x y"]}


class _Tags(HTMLParser):
    """The elements of a page, and its texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags, self.texts = Counter(), []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.tags[tag] += 1
        self.tags.update(name for name, _ in attrs if name.startswith("on"))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_name_is_no_markup_and_hides_nothing(tmp_path):
    pages = []
    for name in ("plain", NAME):
        metrics = {name: Bleu(), "x": ROUGEScore(rouge_keys="rouge1")}
        systems, references = {name: ["a b"], f"{name}2": ["a c"]}, {name: ["a b"]}
        write_report(tmp_path / "page.html", systems, references, metrics, title=name)
        pages.append(_Tags((tmp_path / "page.html").read_text("utf-8")))
    assert pages[0].tags == pages[1].tags
    shown = NAME.replace("\u202e", "[U+202E]")
    # The title, its heading, the rows, the heading of the value, and the note on the baseline.
    assert {text: pages[1].texts.count(text) for text in (shown, f"{shown}2")} == {shown: 4, f"{shown}2": 1}
    assert f"+ better, - worse than {shown}: " in "".join(pages[1].texts)
    data = data_of(tmp_path / "page.html")
    assert (data["systems"], data["values"]) == ([shown, f"{shown}2"], [shown, "rouge1"])
    assert data["references"] == [shown]
    assert "\u202e" not in json.dumps(data, ensure_ascii=False)


def test_json_holds_nothing_that_ends_a_script():
    for text in HOSTILE:
        written = script_json({text: [text]})
        assert not re.search("[<>&\u2028\u2029]", written)
        written.encode()
        assert json.loads(written) == {text: [text]}


def test_the_policy_allows_the_one_script_and_the_one_style_and_no_request(tmp_path):
    write_report(tmp_path / "page.html", ONE, ["x"])
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    rules = dict(rule.split(" ", 1) for rule in html.unescape(policy).split("; "))
    (script,), (style,) = (re.findall(f"<{name}>(.*?)</{name}>", page, re.S) for name in ("script", "style"))
    digests = [base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in (script, style)]
    assert rules == {
        "default-src": "'none'",
        "script-src": f"'sha256-{digests[0]}'",
        "style-src": f"'sha256-{digests[1]}'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert not re.search(r'(src|href)="?(https?:)?//', page)
