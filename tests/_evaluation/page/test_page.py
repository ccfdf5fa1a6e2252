"""The page of a report: its numbers are those of `evaluate`, names are no markup, texts have their words."""

import base64
import hashlib
import html
import re
import sys
import warnings
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from report_pages import HOSTILE, NAME, REFERENCES, SHOWN, SYSTEMS, data_of
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from ngram_metrics import Bleu, ROUGEScore, evaluate
from ngram_metrics._core.text.word_rules import RULES
from ngram_metrics._evaluation.page import check_size, contents
from ngram_metrics._evaluation.page.page_words import split_words

SOURCES = [f"source {line}" for line in REFERENCES]
DOMAINS = [("news", "sport \u202e", 3, "")[number % 7 % 4] for number in range(len(REFERENCES))]
IDS = list(range(len(REFERENCES)))
ONE = evaluate({"a": ["x y"]}, ["x"])


def cells_of(path: Path) -> list[list[str]]:
    """The cells of the table of systems, row by row."""
    body = re.search(r"<tbody>(.*?)</tbody>", path.read_text("utf-8"), re.S)[1]
    rows = re.findall(r"<tr>(.*?)</tr>", body, re.S)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S) for row in rows]
    return [[html.unescape(re.sub("<.*?>", "", cell)) for cell in row] for row in cells]


def cells_of_result(result: Any) -> list[str]:
    """A score, and what stands beside it."""

    def interval(low: float, high: float) -> str:
        return f"[{100 * low:.2f}, {100 * high:.2f}]"

    cells = [f"{100 * result.score:.2f} {interval(result.low, result.high)}", "baseline", *[""] * 4]
    if result.difference is not None:
        mark = (" +" if result.difference > 0 else " -") * (result.p_value < 0.05)
        apart = f"{100 * result.difference:+.2f} {interval(result.difference_low, result.difference_high)}"
        cells[1:] = [apart, f"{result.p_value:.4f}{mark}", *map(str, (result.wins, result.ties, result.losses))]
    parts = result.as_dict()
    cells += [f"{100 * parts[part]:.2f}" for part in ("precision", "recall") if part in parts]
    return cells + [f"{parts[part]:.3f}" for part in ("brevity_penalty", "ratio") if part in parts]


def rounded(values: dict[str, Any]) -> dict[str, list[float]]:
    """A score with its interval, by value."""
    return {
        value: [round(100 * part, 2) for part in (result.score, result.low, result.high)]
        for value, result in values.items()
    }


#: A mark of the direction is shown as its number, and an empty label in words.
SHOWN_DOMAINS = [str(label).replace("\u202e", "[U+202E]") or "(empty)" for label in DOMAINS]
GROUPS = {"domain": DOMAINS, "<id>": IDS}


def evaluate_everything(confidence: float | None = 0.9) -> Any:
    return evaluate(SYSTEMS, REFERENCES, "bleu,chrf++,rouge,overlap", confidence=confidence, groups=GROUPS)


@pytest.fixture(scope="module")
def full_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with everything that a page can have."""
    path = tmp_path_factory.mktemp("page") / "page.html"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "ROUGE's rule for words")
        evaluate_everything().write_report(path, sources=SOURCES)
    return path


everything_without_warnings = pytest.mark.filterwarnings("ignore:ROUGE's rule for words")


@everything_without_warnings
def test_the_table_of_systems_is_that_of_evaluate(full_page: Path):
    assert cells_of(full_page) == [
        [system.replace(NAME, SHOWN), *(cell for result in values.values() for cell in cells_of_result(result))]
        for system, values in evaluate_everything().results.items()
    ]


@everything_without_warnings
def test_a_page_that_was_asked_for_no_intervals_has_those_of_95_percent(tmp_path: Path):
    evaluate_everything(confidence=None).write_report(tmp_path / "page.html")
    expected = evaluate_everything(confidence=0.95).results
    assert data_of(tmp_path / "page.html")["entries"] == [rounded(values) for values in expected.values()]


@everything_without_warnings
def test_the_page_has_every_signature(full_page: Path):
    page = html.unescape(full_page.read_text("utf-8"))
    assert [signature for signature in evaluate_everything().signatures.values() if signature not in page] == []


@everything_without_warnings
def test_the_page_has_the_score_of_every_segment(full_page: Path):
    columns = evaluate_everything().segments()
    scores = data_of(full_page)["scores"]
    assert scores.keys() == {"bleu", "chrf++", "rouge1", "rouge2", "rougeL", "rougeLsum", "overlap"}
    for value, of_systems in scores.items():
        # The rows of segments have the systems one after another.
        assert of_systems == [[round(100 * score, 2) for score in columns[value][place::3]] for place in range(3)]


def test_the_page_has_the_sources(full_page: Path):
    assert data_of(full_page)["sources"] == SOURCES


def test_the_page_has_the_label_of_every_segment(full_page: Path):
    domain, number = data_of(full_page)["columns"]
    assert [domain["labels"][label] for label in domain["of_segments"]] == SHOWN_DOMAINS
    assert (number["name"], number["labels"]) == ("<id>", list(map(str, IDS)))


@everything_without_warnings
def test_the_page_has_the_scores_of_each_group(full_page: Path):
    data = data_of(full_page)
    domain, number = data["columns"]
    for group, results in zip(domain["groups"], evaluate_everything().groups["domain"].values(), strict=True):
        assert group["segments"] == results["base"]["bleu"].segments
        of_systems = [rounded(values) for values in results.values()]
        assert group["scores"] == {value: [entries[value] for entries in of_systems] for value in data["values"]}
    assert number["groups"] is None  # of too many labels


@pytest.mark.parametrize(("labels", "scored"), [(50, True), (51, False)])
def test_up_to_fifty_labels_are_scored_and_more_only_filter_the_page(tmp_path: Path, labels: int, scored: bool):
    lines = ["x y z"] * 51
    groups = [min(number, labels - 1) for number in range(51)]
    for given, name in (({"of": groups}, "of"), (groups, "group")):
        found = evaluate({"a": lines}, lines, "chrf", confidence=None, groups=given)
        found.write_report(tmp_path / "page.html")
        (column,) = data_of(tmp_path / "page.html")["columns"]
        assert (column["name"], len(column["labels"]), len(column["of_segments"])) == (name, labels, 51)
        assert (column["groups"] is not None) == bool(found.groups) == ('"groups"' in found.to_json()) == scored
        assert (f"Groups with more than 50 labels are not scored: {name} (51 labels)" in str(found)) != scored


def test_a_segment_may_have_fewer_references_than_others(tmp_path: Path):
    evaluate(["a b c", "d"], [["a b", "a b c d"], ["d"]]).write_report(tmp_path / "page.html")
    data = data_of(tmp_path / "page.html")
    assert data["references"] == ["1", "2"]
    assert data["of_references"] == {
        "texts": [["a b", "d"], ["a b c d", None]],
        "steps": [[[0, 1, 1, 1], [0, 1]], [[0, 1, 1, 1, 1, 1, 1, 1], []]],
    }
    assert data["reference_orders"] == [[["22", "1"], ["3330", ""]]]
    assert data["lengths"] == [3, 1]


def test_a_text_that_is_rewritten_before_it_is_split_is_shown_as_it_was(tmp_path: Path):
    """13a replaces escapes; blanks at the ends are no difference to see."""
    systems = {"a": ["x y", "b &amp; c", "d "], "b": ["&lt;x y", "b c", "d"]}
    references = {"1": ["x y", "b & c", "d"], "2": ["x &quot;y", " b c", "d"]}
    evaluate(systems, references).write_report(tmp_path / "page.html")
    rewritten = data_of(tmp_path / "page.html")["rewritten"]
    assert rewritten == {"s0:1": "b &amp; c", "s1:0": "&lt;x y", "r1:0": "x &quot;y"}


def test_words_orders_and_places_are_those_of_the_tokens(tmp_path: Path):
    evaluate(SYSTEMS, REFERENCES).write_report(tmp_path / "page.html")
    data = data_of(tmp_path / "page.html")
    tokenize = Tokenizer13a()
    for number, texts in enumerate(SYSTEMS.values()):
        for segment, (text, reference) in enumerate(zip(texts, REFERENCES, strict=True)):
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
    words = []
    place = 0
    for gap, width in zip(steps[::2], steps[1::2], strict=True):
        begin = place + gap
        place = begin + width
        words.append(units[2 * begin : 2 * place].decode("utf-16-le", "surrogatepass"))
    return words


@pytest.mark.parametrize("tokenizer", RULES)
def test_steps_lead_to_the_words_of_each_rule(tokenizer):
    """Also where an earlier sign looks like the word, or is not of the word before."""
    texts = ["", " ", "a", "  a\U0001f600b   c ", "\U0001f600 \u3000\u3000x", "\uffff \uffffb c", *HOSTILE]
    texts += ["a\u0301 \u0301 \u0301a", "1,2 ,2 a_b b", "\u0e04\u0e33\u0e04\u0e33 \u4f60\u597d\u4f60"]
    texts += ["x\ny &amp;amp; -y"]
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


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"sources": ["x"] * 2}, ValueError, "^sources has 2 segments and system 'a' has 1: expected the same number$"),
        ({"sources": [None]}, TypeError, r"^segment 0 of sources is a missing value, None: "),
        ({"sources": "x"}, TypeError, "^sources is a str: expected a sequence of texts$"),
        ({"title": 5}, TypeError, "^title is an int: expected a text$"),
        ({"tokenizer": "13b"}, ValueError, "unknown tokenizer '13b'"),
    ],
)
def test_what_cannot_be_shown_is_told(tmp_path: Path, options, kind, words):
    with pytest.raises(kind, match=words):
        ONE.write_report(tmp_path / "page.html", **options)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path):
    with pytest.raises(OSError, match=r"^cannot write .*page\.html: No such file or directory$"):
        ONE.write_report(tmp_path / "missing" / "page.html")
    with pytest.raises(OSError, match="Is a directory"):
        ONE.write_report(tmp_path)


def test_a_missing_package_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ModuleNotFoundError, match=r"^a report needs Jinja2: pip install Jinja2$"):
        ONE.write_report(tmp_path / "page.html")


def test_a_name_is_no_markup_and_hides_nothing(tmp_path: Path):
    path = tmp_path / "page.html"
    pages = []
    for name in ("plain", NAME):
        metrics = {name: Bleu(), "x": ROUGEScore(rouge_keys="rouge1")}
        found = evaluate({name: ["a b"], f"{name}2": ["a c"]}, {name: ["a b"]}, metrics)
        found.write_report(path, title=name)
        pages.append(path.read_text("utf-8"))
    assert re.findall(r"<[\w/]+", pages[0]) == re.findall(r"<[\w/]+", pages[1])
    texts = [html.unescape(text) for text in re.findall(">([^<>]*)<", pages[1])]
    # The title, its heading, the heading of the value, and the rows of the table and of two charts; then the note on
    # the baseline.
    assert (texts.count(SHOWN), texts.count(f"{SHOWN}2")) == (6, 3)
    assert f"+ better, - worse than {SHOWN}: " in "".join(texts)
    data = data_of(path)
    assert (data["systems"], data["values"]) == ([SHOWN, f"{SHOWN}2"], [SHOWN, "rouge1"])
    assert data["references"] == [SHOWN]
    assert "\u202e" not in pages[1]


def test_the_policy_allows_the_one_script_and_the_one_style_and_no_request(tmp_path: Path):
    ONE.write_report(tmp_path / "page.html")
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


@pytest.mark.slow
def test_a_page_has_at_most_200_000_texts(tmp_path: Path):
    segments = ["a"] * 50_000
    check_size({"a": segments, "b": segments}, [["a", "a"]] * 50_000)
    found = evaluate({"a": [*segments, "a"], "b": [*segments, "a"]}, [["a", "a"]] * 50_001, "overlap", confidence=None)
    with pytest.raises(
        ValueError, match=r"^a report has at most 200,000 texts, and 2 systems and the references have 20"
    ):
        found.write_report(tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


@pytest.mark.slow
def test_words_of_many_texts_are_counted_in_parts(tmp_path: Path):
    """A page of segments repeated until they fill several parts has the same words, flags and matches for each."""
    systems = {name: [*segments[:-1], "a b a b a b a b"] * 30 for name, segments in SYSTEMS.items()}
    evaluate(systems, REFERENCES * 30, "overlap", confidence=None).write_report(tmp_path / "page.html")
    data = data_of(tmp_path / "page.html")
    lists = [*data["of_references"]["steps"], *data["of_systems"]["steps"]]
    lists += [*data["hypothesis_orders"], *chain.from_iterable(data["reference_orders"]), *data["flags"]["of_systems"]]
    for values in lists:
        assert values == values[: len(REFERENCES)] * 30


@pytest.mark.parametrize(
    ("systems", "baseline", "title"),
    [
        (["a"], None, "Scores of a"),
        (["a", "b"], "b", "a, compared with b"),
        (["a", "b", "c"], None, "b and c, compared with a"),
        (list("abcdef"), "b", "a, c, d and 2 more, compared with b"),
        (["step-10", "step-20", "step-30"], None, "step-10 to step-30, compared with step-10"),
    ],
)
def test_a_title_says_what_is_compared(tmp_path: Path, systems: list[str], baseline: str | None, title: str):
    found = evaluate({system: ["x y"] for system in systems}, ["x y"], "chrf", baseline=baseline, confidence=None)
    found.write_report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert re.findall("<title>(.*?)</title>", page)[0] == re.findall("<h1.*?>(.*?)</h1>", page)[0] == title


def test_no_line_of_the_page_is_longer_than_160_characters():
    """Its markup, style and scripts are read and changed by people."""
    folder = Path(contents.__file__).parent
    files = [file for file in folder.iterdir() if file.suffix in (".html", ".css", ".js")]
    assert len(files) > 10
    lines = [(file.name, line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    assert [(name, line) for name, line in lines if len(line) > 160] == []
