"""What a file may be, and the errors of one that cannot be read."""

import gzip
import io
import json
import sys
from pathlib import Path

import pytest
from commands import BASE, OTHER, REFERENCES, SECOND, failing, printed, report, scores, write

from ngram_metrics import _cli as cli
from ngram_metrics import evaluate

PLAIN = "".join(f"{line}\n" for line in BASE).encode()
JSON_LINES = "".join(json.dumps({"id": 7, "answer": line}) + "\n" for line in BASE).encode()


@pytest.mark.parametrize(
    ("name", "content", "given"),
    [
        ("base.gz", gzip.compress(PLAIN), "base.gz"),
        ("packed.txt", gzip.compress(PLAIN), "packed.txt"),
        ("two.gz", gzip.compress(PLAIN[:999]) + gzip.compress(PLAIN[999:]), "two.gz"),
        ("lines.jsonl", JSON_LINES, "lines.jsonl:answer"),
        ("lines.gz", gzip.compress(JSON_LINES), "lines.gz:answer"),
        ("a:answer", PLAIN, "a:answer"),
        ("a:b", JSON_LINES, "a:b:answer"),
        ("mark.txt", b"\xef\xbb\xbf" + PLAIN, "mark.txt"),
        ("mark.gz", gzip.compress(b"\xef\xbb\xbf" + PLAIN), "mark.gz"),
        ("mark.jsonl", b"\xef\xbb\xbf" + JSON_LINES, "mark.jsonl:answer"),
        ("windows.txt", PLAIN.replace(b"\n", b"\r\n"), "windows.txt"),
        ("no_last_newline.txt", PLAIN.rstrip(b"\n"), "no_last_newline.txt"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_file_is_read_whatever_it_is_packed_in(name: str, content: bytes, given: str, folder: Path, capsys):
    expected = scores(capsys, "base.txt", "-r", "ref.txt", "-m", "bleu,chrf,rouge")
    write(folder / name, content)
    assert scores(capsys, given, "-r", "ref.txt", "-m", "bleu,chrf,rouge") == expected


def test_json_lines_without_a_field_are_text_with_a_warning_that_names_the_fields(folder: Path, capsys):
    write(folder / "lines.jsonl", JSON_LINES)
    write(folder / "lines.txt", JSON_LINES)
    assert cli.main(["lines.jsonl", "-r", "same=lines.txt:answer", "-m", "bleu"]) == 0
    captured = capsys.readouterr()
    assert "100.00" not in captured.out
    assert captured.err == (
        "ngram-metrics: warning: lines.jsonl contains JSON lines, but is read as plain text: to read a field, pass "
        "one of lines.jsonl:id, lines.jsonl:answer\n"
    )
    for text in ("{ the cat", "{}", '["a"]', "5", "{" * 20_000):
        write(folder / "text.txt", [text] * len(BASE))
        printed(capsys, "text.txt", "-r", "ref.txt", "-m", "bleu")


def test_a_field_of_references_may_have_a_list_in_each_line(folder: Path, capsys):
    lists = [[text] * (index % 2) + [other] for index, (text, other) in enumerate(zip(REFERENCES, SECOND, strict=True))]
    write(folder / "refs.jsonl", [json.dumps({"refs": texts, "ref": texts[0]}) for texts in lists])
    shown = printed(capsys, "base.txt", "-r", "refs.jsonl:refs", "-m", "bleu,chrf,rougeL", "-f", "json")
    assert shown == evaluate({"base.txt": BASE}, lists, "bleu,chrf,rougeL", confidence=None).to_json()
    shown = report(capsys, "base.txt", "-r", "refs.jsonl:refs", "refs.jsonl:ref", "ref.txt", "-m", "bleu")
    joined = [[*texts, texts[0], text] for texts, text in zip(lists, REFERENCES, strict=True)]
    assert shown["references"] == ["1", "2", "3", "4"]
    expected = evaluate({"base.txt": BASE}, joined, "bleu", confidence=None).results["base.txt"]["bleu"].score
    assert shown["systems"]["base.txt"]["bleu"]["score"] == pytest.approx(100 * expected)


@pytest.mark.parametrize("value", [[], ["a", None], [["a"]], None])
def test_a_list_of_references_has_strings(value: object, folder: Path, capsys):
    write(folder / "refs.jsonl", [json.dumps({"x": value})])
    write(folder / "base.txt", ["a"])
    told = failing(capsys, "base.txt", "-r", "refs.jsonl:x")
    assert told == f"refs.jsonl:x, line 1: 'x' is {value}: expected a string or a list of strings"


@pytest.mark.parametrize("value", [[], ["a", "b"], [["a"]], [None], {"a": "b"}])
def test_a_list_of_a_system_has_one_string(value: object, folder: Path, capsys):
    write(folder / "base.jsonl", [json.dumps({"x": value})])
    write(folder / "ref.txt", ["a"])
    told = failing(capsys, "base.jsonl:x", "-r", "ref.txt")
    assert told == f"base.jsonl:x, line 1: 'x' is {value}: expected a string or a list of one string"


def samples(outputs: list[str], targets: list[str] = REFERENCES) -> list[str]:
    """What an evaluation harness saves for each segment."""
    return [
        json.dumps({"doc": {"translation": {"de": target, "0": target}}, "target": target, "filtered_resps": [text]})
        for text, target in zip(outputs, targets, strict=True)
    ]


@pytest.mark.parametrize("reference", ["target", "doc.translation.de", "doc.translation.0"])
def test_the_samples_of_a_harness_are_scored_as_their_texts(reference: str, folder: Path, capsys):
    write(folder / "base.jsonl", samples(BASE))
    write(folder / "other.jsonl", samples(OTHER))
    systems = "base=base.jsonl:filtered_resps", "other=other.jsonl:filtered_resps"
    shown = report(capsys, *systems, "-r", f"base.jsonl:{reference}", "-c")
    expected = report(capsys, "base=base.txt", "other=other.txt", "-r", "ref.txt", "-c")
    assert shown["systems"] == expected["systems"]


def test_an_exact_key_wins_over_a_path_and_an_existing_file_over_both(folder: Path, capsys):
    both = {"a.b": "one", "a": {"b": "two", "c": ["three", "four"], "b.d": "five"}}
    write(folder / "rows.jsonl", [json.dumps(both)])
    write(folder / "ref.txt", ["one"])
    assert scores(capsys, "rows.jsonl:a.b", "-r", "ref.txt", "-m", "rouge1") == {"rouge1": pytest.approx(100)}
    for field in ("a.c.0", "a.b.d", "a.", ".a", "a..b", "a.b.c"):
        told = failing(capsys, f"rows.jsonl:{field}", "-r", "ref.txt")
        assert told.startswith(f"rows.jsonl:{field}, line 1: {{'a.b': 'one'")
        assert told.endswith(f" has no field {field!r}")
    write(folder / "rows.jsonl:a.b", ["three"])
    write(folder / "ref.txt", ["three"])
    assert scores(capsys, "rows.jsonl:a.b", "-r", "ref.txt", "-m", "rouge1") == {"rouge1": pytest.approx(100)}


def test_two_systems_with_different_targets_are_refused_with_the_line(folder: Path, capsys):
    write(folder / "base.jsonl", samples(BASE))
    swapped = [REFERENCES[1], REFERENCES[0], *REFERENCES[2:]]
    write(folder / "other.jsonl", samples(OTHER, [*REFERENCES[:5], "another", *REFERENCES[6:]]))
    write(folder / "swapped.jsonl", samples(OTHER, swapped))
    systems = "base.jsonl:filtered_resps", "other.jsonl:filtered_resps"
    told = failing(capsys, *systems, "-r", "base.jsonl:target")
    assert told.startswith("other.jsonl, line 6: 'target' is 'another', but '")
    assert told.endswith("in base.jsonl: expected the same segments in the same order")
    assert told == failing(capsys, *systems, "-r", "ref.txt", "base.jsonl:target")
    write(folder / "refs.jsonl", [json.dumps({"target": text}) for text in REFERENCES])
    assert told == failing(capsys, *systems, "-r", "refs.jsonl:target")
    told = failing(
        capsys, "base.jsonl:filtered_resps", "swapped.jsonl:filtered_resps", "-r", "base.jsonl:doc.translation.de"
    )
    assert told.startswith("swapped.jsonl, line 1: 'doc.translation.de' is ")
    # What no two files have to share.
    printed(capsys, *systems, "-r", "ref.txt")
    printed(capsys, "base.jsonl:filtered_resps", "other.txt", "-r", "refs.jsonl:target")
    write(folder / "refs.jsonl", [json.dumps({"gold": text}) for text in REFERENCES])
    printed(capsys, *systems, "-r", "refs.jsonl:gold")
    write(folder / "rows.jsonl", [json.dumps({"mt": text}) for text in OTHER])
    printed(capsys, "base.jsonl:filtered_resps", "rows.jsonl:mt", "-r", "base.jsonl:target")


def test_two_fields_of_a_file_are_two_systems(folder: Path, capsys):
    rows = [json.dumps({"mt": mt, "human": human}) for mt, human in zip(BASE, REFERENCES, strict=True)]
    write(folder / "rows.jsonl", rows)
    shown = report(capsys, "rows.jsonl:mt", "rows.jsonl:human", "-r", "rows.jsonl:human", "-m", "bleu")["systems"]
    assert shown["rows.jsonl:mt"]["bleu"]["score"] < 99
    assert shown["rows.jsonl:human"]["bleu"]["score"] == pytest.approx(100)


@pytest.mark.parametrize("content", [PLAIN, gzip.compress(PLAIN)], ids=["plain", "gzip"])
@pytest.mark.parametrize("arguments", ["- -r ref.txt", "ref.txt -r -"])
def test_standard_input_is_a_file(arguments: str, content: bytes, folder: Path, capsys, monkeypatch):
    expected = scores(capsys, *("base.txt" if word == "-" else word for word in arguments.split()))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert scores(capsys, *arguments.split()) == expected


def test_a_closed_standard_input_is_an_error(folder: Path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert failing(capsys, "-", "-r", "ref.txt") == "- cannot be read: standard input is closed"


def test_files_of_different_lengths_are_named_with_their_lengths(folder: Path, capsys):
    write(folder / "base.txt", ["a b"] * 5)
    write(folder / "ref.txt", ["a b"] * 3)
    write(folder / "ref2.txt", ["a b"] * 5)
    assert failing(capsys, "base.txt", "-r", "ref.txt", "ref2.txt") == (
        "the files have different numbers of lines: base.txt has 5, ref.txt has 3, ref2.txt has 5; "
        "expected one line per segment in each"
    )


@pytest.mark.parametrize(
    ("content", "line", "byte"),
    [
        ("the cat\na dog\n".encode("utf-16"), 1, "0xff"),
        (b"the cat\nZo\xeb ran.\n", 2, "0xeb"),
        (gzip.compress(b"the cat\nZo\xeb ran.\n"), 2, "0xeb"),
    ],
    ids=["utf-16", "latin-1", "gzip"],
)
def test_a_file_that_is_not_utf8_is_told_with_the_cure(content: bytes, line: int, byte: str, folder: Path, capsys):
    write(folder / "bad", content)
    assert failing(capsys, "base.txt", "-r", "bad") == (
        f"bad, line {line}: the byte {byte} is not UTF-8: expected text in UTF-8. Convert the file, for "
        "example with iconv -f UTF-16 -t UTF-8. PowerShell's > writes UTF-16: use Out-File -Encoding utf8 instead"
    )


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"y": "a"}', "t:x, line 2: {'y': 'a'} has no field 'x'"),
        ('["x"]', "t:x, line 2: ['x'] has no field 'x'"),
        ('{"x": 5}', "t:x, line 2: 'x' is 5: expected a string or a list of one string"),
        ("the cat", "t:x, line 2: 'the cat' is not JSON: expected JSON lines"),
        ("[" * 100_000, f"t:x, line 2: '{'[' * 56}... is not JSON: expected JSON lines"),
    ],
    ids=range(5),
)
def test_a_line_without_the_field_is_told_with_its_number(line: str, told: str, folder: Path, capsys):
    write(folder / "t", ['{"x": "a"}', line])
    write(folder / "ref.txt", ["a", "b"])
    assert failing(capsys, "t:x", "-r", "ref.txt") == told


def test_a_file_that_cannot_be_read_is_named(folder: Path, capsys):
    assert failing(capsys, "base.txt", "-r", "missing.txt") == "missing.txt cannot be read: No such file or directory"
    assert failing(capsys, "base.txt", "-r", "missing:2") == "missing cannot be read: No such file or directory"
    assert failing(capsys, "runs/lr=1/x", "-r", "ref.txt") == "runs/lr=1/x cannot be read: No such file or directory"
    (folder / "runs").mkdir()
    assert failing(capsys, "runs", "-r", "ref.txt") == "runs cannot be read: Is a directory"
    write(folder / "empty.txt", [])
    assert failing(capsys, "empty.txt", "-r", "empty=empty.txt") == "empty.txt is empty: expected at least one line"
    write(folder / "cut.gz", gzip.compress(PLAIN)[:400])
    assert failing(capsys, "base.txt", "-r", "cut.gz").startswith("cut.gz is a broken gzip file: ")


def test_a_name_in_an_error_commands_no_terminal(folder: Path, capsys):
    told = failing(capsys, "x\x1b[31m\u202e", "-r", "ref.txt")
    assert told == "x[U+001B][31m[U+202E] cannot be read: No such file or directory"
