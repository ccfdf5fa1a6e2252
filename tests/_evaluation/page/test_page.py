"""The page of a report: its numbers are the command's, names and texts are no markup, labels stand beside the texts."""

import base64
import hashlib
import html
import json
import re
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from commands import BASE, FILES, OTHER, REFERENCES, failing, printed, report, write
from report_pages import HOSTILE, NAME, data_of, write_report
from report_pages import REFERENCES as HOSTILE_REFERENCES
from report_pages import SYSTEMS as HOSTILE_SYSTEMS
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

import ngram_metrics
from ngram_metrics import Bleu, ROUGEScore, evaluate
from ngram_metrics._core.text.word_rules import RULES
from ngram_metrics._evaluation.page import script_json
from ngram_metrics._evaluation.page.page_words import split_words

ONE = {"a": ["x y"]}


def cells_of(path: Path) -> list[list[str]]:
    """The cells of the table of systems, row by row."""
    body = re.search(r"<tbody>(.*?)</tbody>", path.read_text("utf-8"), re.S)[1]
    rows = re.findall(r"<tr>(.*?)</tr>", body, re.S)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S) for row in rows]
    return [[html.unescape(re.sub("<.*?>", "", cell)) for cell in row] for row in cells]


FILES_OF = ("base.txt", "other.txt", "-r", "ref.txt", "ref2.txt")


@pytest.mark.parametrize("options", [(), ("-c", "0.9", "-m", "bleu,chrf++,rouge,overlap", "--lowercase")], ids=str)
def test_the_numbers_are_those_of_the_command(folder, capsys, options):
    printed(capsys, *FILES_OF, *options, "--report", "page.html", "--segments", "lines.jsonl")
    level = options or ("-c",)
    expected = report(capsys, *FILES_OF, *level)
    rows = []
    for system, entries in expected["systems"].items():
        row = [system]
        for value, entry in entries.items():
            row += [f"{entry['score']:.2f}", f"[{entry['low']:.2f}, {entry['high']:.2f}]"]
            if "p_value" in entry:
                difference = entry["score"] - expected["systems"]["base.txt"][value]["score"]
                significant = entry["p_value"] < 0.05
                row.append(f"{difference:+.2f} [{entry['difference_low']:.2f}, {entry['difference_high']:.2f}]")
                row.append(f"{entry['p_value']:.4f}" + (" +" if difference > 0 else " -") * significant)
                row += [str(entry[count]) for count in ("wins", "ties", "losses")]
            else:
                row += ["baseline", *[""] * 4]
            row += [f"{entry[part]:.2f}" for part in ("precision", "recall") if part in entry]
            row += [f"{entry[part]:.3f}" for part in ("brevity_penalty", "ratio") if part in entry]
        rows.append(row)
    assert cells_of(folder / "page.html") == rows
    data = data_of(folder / "page.html")
    for line in map(json.loads, (folder / "lines.jsonl").read_text().splitlines()):
        system = data["systems"].index(line["system"])
        for value in data["values"]:
            assert data["scores"][value][system][line["line"] - 1] == round(line[value], 2)
    for signature in expected["signatures"].values():
        assert signature in html.unescape((folder / "page.html").read_text())


def test_metrics_that_split_at_whitespace_leave_the_words_of_the_page(folder, capsys):
    write(folder / "a.txt", ["the cat, here."])
    write(folder / "b.txt", ["the cat here"])

    def words_of(*options: str) -> list[object]:
        printed(capsys, "a.txt", "-r", "b.txt", *options, "--report", "page.html")
        data = data_of(folder / "page.html")
        return [data["of_systems"], data["of_references"]]

    words = words_of("-m", "bleu")
    for names in ("overlap", "overlap,bleu", "chrf"):
        assert words_of("-m", names) == words
    evaluate(["the cat, here."], ["the cat here"], "overlap").write_report("page.html")
    data = data_of(folder / "page.html")
    assert [data["of_systems"], data["of_references"]] == words
    assert words_of("-m", "overlap", "--tokenizer", "none") != words


def test_a_text_that_is_rewritten_before_it_is_split_is_shown_as_it_was(folder):
    """13a replaces escapes; blanks at the ends are no difference to see."""
    systems = {"a": ["x y", "b &amp; c", "d "], "b": ["&lt;x y", "b c", "d"]}
    write_report("page.html", systems, [["x y", "b & c", "d"], ["x &quot;y", " b c", "d"]])
    rewritten = data_of(folder / "page.html")["rewritten"]
    assert rewritten == {"s0:1": "b &amp; c", "s1:0": "&lt;x y", "r1:0": "x &quot;y"}


def test_words_orders_and_places_are_those_of_the_tokens(folder):
    write_report("page.html", HOSTILE_SYSTEMS, HOSTILE_REFERENCES)
    data = data_of(folder / "page.html")
    tokenize = Tokenizer13a()
    for number, texts in enumerate(HOSTILE_SYSTEMS.values()):
        for segment, (text, reference) in enumerate(zip(texts, HOSTILE_REFERENCES, strict=True)):
            hypothesis, other = (tokenize(side.rstrip()).split() for side in (text, reference))
            of_system = {name: parts[number][segment] for name, parts in data["of_systems"].items()}
            assert words_at(of_system["texts"], of_system["steps"]) == hypothesis
            orders = data["hypothesis_orders"][number][segment]
            assert len(orders) == len(hypothesis)
            assert "0" not in orders or hypothesis != other
            assert len(data["reference_orders"][number][0][segment]) == len(other)


def words_at(text: str, steps: list[int]) -> list[str]:
    """The words that the steps lead to, in units of UTF-16."""
    units = text.encode("utf-16-le", "surrogatepass")
    words, place = [], 0
    for gap, width in zip(steps[::2], steps[1::2], strict=True):
        begin = place + gap
        place = begin + width
        words.append(units[2 * begin : 2 * place].decode("utf-16-le", "surrogatepass"))
    return words


@pytest.mark.parametrize("tokenizer", RULES)
def test_steps_lead_to_the_words_of_each_rule(tokenizer):
    """Also where an earlier sign looks like the word, or is not of the word before."""
    texts = ["", " ", "a", "  a\U0001f600b   c ", "\U0001f600 \u3000\u3000x", "\uffff \uffffb c", *HOSTILE]
    texts += [
        "a\u0301 \u0301 \u0301a",
        "1,2 ,2 a_b b",
        "\u0e04\u0e33\u0e04\u0e33 \u4f60\u597d\u4f60",
        "x\ny &amp;amp; -y",
    ]
    words = split_words(tokenizer, texts)
    found = [words_at(*parts) for parts in zip(words.texts, words.steps, strict=True)]
    assert found == words.words == [RULES[tokenizer].words([text])[:-1] for text in texts]
    assert tokenizer is not None or found == list(map(str.split, texts))


def test_foreign_tokens_stand_apart_by_blanks():
    words = split_words(lambda text: [len(word) for word in text.split()], ["a \U0001f600 ccc", ""])
    assert words.texts == ["1 1 3", ""]
    assert words_at(words.texts[0], words.steps[0]) == ["1", "1", "3"]
    words = split_words(str.split, ["\U0001f600 b"])
    assert words_at(words.texts[0], words.steps[0]) == ["\U0001f600", "b"]


def test_an_id_is_shown_as_its_token():
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is optional, and not in every environment")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"cat": 0, "?": 1}, unk_token="?"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    words = split_words(tokenizer, ["cat dog", ""])
    assert words.words == [[0, 1], []]
    assert (words.texts, words.steps) == (["cat ?", ""], [[0, 3, 1, 1], []])


def test_a_file_that_cannot_be_written_is_told(tmp_path):
    with pytest.raises(OSError, match=r"^cannot write .*page\.html: No such file or directory$"):
        write_report(tmp_path / "missing" / "page.html", ONE, ["x"])
    with pytest.raises(OSError, match="Is a directory"):
        write_report(tmp_path, ONE, ["x"])


def test_a_missing_package_is_told_before_anything_is_read(folder, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ModuleNotFoundError, match=r"^a report needs Jinja2: pip install Jinja2$"):
        write_report("page.html", ONE, ["x"])
    assert failing(capsys, *FILES_OF, "--report", "page.html") == "a report needs Jinja2: pip install Jinja2"
    assert not Path("page.html").exists()


SYSTEMS = {"base": BASE, "other": OTHER, "third": FILES["ref2.txt"]}
SOURCES = [f"source {line}" for line in REFERENCES]
DOMAINS = [("news", "sport \u202e", 3)[number % 5 % 3] for number in range(len(REFERENCES))]
IDS = list(range(len(REFERENCES)))
PAIR = {"a": ["x", "y"]}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "page.html"
    write_report(path, SYSTEMS, REFERENCES, sources=SOURCES, groups={"domain": DOMAINS, "<id>": IDS})
    return data_of(path)


def test_columns_hold_the_label_of_each_segment(data):
    domain, number = data["columns"]
    assert [domain["labels"][label] for label in domain["of_segments"]] == [
        str(label).replace("\u202e", "[U+202E]") for label in DOMAINS
    ]
    assert (number["name"], number["labels"]) == ("<id>", list(map(str, IDS)))
    assert data["sources"] == SOURCES


@pytest.mark.parametrize(("labels", "scored"), [(50, True), (51, False)])
def test_up_to_fifty_labels_are_scored_and_more_only_filter_the_page(tmp_path, labels, scored):
    lines = ["x y z"] * 51
    groups = [min(number, labels - 1) for number in range(51)]
    for given, name in (({"of": groups}, "of"), (groups, "group")):
        found = ngram_metrics.evaluate({"a": lines}, lines, "chrf", confidence=None, groups=given)
        found.write_report(tmp_path / "page.html")
        (column,) = data_of(tmp_path / "page.html")["columns"]
        assert (column["name"], len(column["labels"]), len(column["of_segments"])) == (name, labels, 51)
        assert (column["groups"] is not None) == bool(found.groups) == ('"groups"' in found.to_json()) == scored
        assert (f"Groups with more than 50 labels are not scored: {name} (51 labels)" in str(found)) != scored


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"sources": ["x"]}, ValueError, "^sources has 1 segment and system 'a' 2: expected the same number$"),
        ({"sources": ["x", None]}, TypeError, r"^a missing value \(None\) at segment 1 of sources: "),
        ({"sources": "xy"}, TypeError, "^sources is a str: expected a sequence of texts$"),
        ({"title": 5}, TypeError, "^title is an int: expected a text$"),
        ({"tokenizer": "13b"}, ValueError, "unknown tokenizer '13b'"),
    ],
)
def test_what_cannot_be_shown_is_told(tmp_path, options, kind, words):
    with pytest.raises(kind, match=words):
        write_report(tmp_path / "page.html", PAIR, ["x", "y"], **options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("groups", [{"domain": ["news", "", "talk"] * 40}, ["news", "", "talk"] * 40], ids=type)
@pytest.mark.parametrize("confidence", [0.95, None])
def test_groups_reach_the_page_with_their_scores(tmp_path, confidence, groups):
    systems = {"base": BASE, "other": OTHER}
    expected = ngram_metrics.evaluate(systems, REFERENCES, "bleu,chrf", groups=["news", "", "talk"] * 40).groups
    write_report(tmp_path / "page.html", systems, REFERENCES, "bleu,chrf", confidence, groups)
    (column,) = data_of(tmp_path / "page.html")["columns"]
    assert column["name"] == ("domain" if isinstance(groups, dict) else "group")
    assert column["labels"] == ["news", "(empty)", "talk"]
    for group, results in zip(column["groups"], expected.values(), strict=True):
        assert group["segments"] == 40
        for value, of_systems in group["scores"].items():
            shown = [result[value] for result in results.values()]
            assert of_systems == [[round(100 * part, 2) for part in (one.score, one.low, one.high)] for one in shown]
        assert list(group["scores"]) == ["bleu", "chrf"]


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
