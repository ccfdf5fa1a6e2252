"""The report's numbers are the command line's; what cannot be reported is told, and leaves no file behind."""

import html
import json
import re
import sys
from pathlib import Path

import pytest
from commands import failing, printed, report, write
from report_pages import HOSTILE, REFERENCES, SYSTEMS, data_of, write_report
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from ngram_metrics import evaluate
from ngram_metrics._core.text.word_rules import RULES
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
    write_report("page.html", SYSTEMS, REFERENCES)
    data = data_of(folder / "page.html")
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
