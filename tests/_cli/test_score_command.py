"""The numbers: sacrebleu's command line and rouge_score on the same files, whatever stands in them."""

import gzip
import json
import lzma
from pathlib import Path

import pytest
from commands import BASE, REFERENCES, SECOND, leaves_files_open, of_sacrebleu, printed, report, scores, write

from ngram_metrics import _cli as cli
from ngram_metrics._cli import files

#: A hypothesis and a reference, a line each or more.
FILES: dict[str, tuple[bytes | list[str], bytes | list[str]]] = {
    "as usual": (BASE, REFERENCES),
    "carriage returns": (b"the cat sat.\r\nA dog ran!\r\n", b"the cat sat.\r\nA dog ran off!\r\n"),
    "carriage returns on one side": (b"the cat sat.\r\nA dog ran!\r\n", b"the cat sat.\nA dog!\n"),
    "a carriage return inside": (b"the cat\rsat.\nA dog ran!\n", b"the cat sat.\nA dog ran off!\n"),
    "no last newline": (b"the cat sat.\nA dog ran!", b"the cat sat.\nA dog ran off!\n"),
    "empty lines": (b"the cat sat on it.\n\n\nA dog ran!\n", b"the cat sat on it.\n\nso it is\n\n"),
    "blanks at the ends": (b"  the cat sat. \t\n\xc2\xa0A dog ran!\n", b"the cat sat.\nA dog ran off! \n"),
    "tabs": (b"the cat\tsat on\tthe mat\n\tA dog ran off\n", b"the cat sat on the mat\nA dog\tran off\t\n"),
    "a NUL": (b"the c\x00t sat on it\nA dog ran\n", b"the c\x00t sat on it\nA \x00 dog ran\n"),
    "rarer separators": (["the cat\u2028sat.", "A\x0bdog\x0cran!"], ["the cat sat.", "A\x85dog ran\x1c off!"]),
    "other scripts": (["東京は、雨。", "Zoë läuft 5,5 km."], ["東京は晴れ。", "Zoë lief 5,5 km."]),
}


@leaves_files_open
@pytest.mark.parametrize(("hypotheses", "references"), FILES.values(), ids=FILES)
def test_scores_are_sacrebleus_on_the_same_files(hypotheses, references, folder: Path, capsys, monkeypatch):
    write(folder / "base.txt", hypotheses)
    write(folder / "ref.txt", references)
    ours = scores(capsys, "base.txt", "-r", "ref.txt", "-m", "bleu,chrf,chrf++")
    theirs = of_sacrebleu(monkeypatch, "ref.txt", "-i", "base.txt", "-m", "bleu", "chrf")
    theirs |= of_sacrebleu(monkeypatch, "ref.txt", "-i", "base.txt", "-m", "chrf", "--chrf-word-order", "2")
    assert list(ours.values()) == pytest.approx([theirs[name] for name in ("BLEU", "chrF2", "chrF2++")], abs=1e-11)


@leaves_files_open
def test_a_byte_order_mark_is_kept_as_by_sacrebleu_and_told(folder: Path, capsys, monkeypatch):
    write(folder / "base.txt", b"\xef\xbb\xbfthe cat sat.\nA dog ran!\n")
    write(folder / "ref.txt", b"the cat sat.\nA dog ran!\n")
    expected = of_sacrebleu(monkeypatch, "ref.txt", "-i", "base.txt", "-m", "bleu", "chrf")
    assert expected["chrF2"] < 100
    assert cli.main(["base.txt", "-r", "ref.txt", "-f", "json"]) == 0
    captured = capsys.readouterr()
    entries = json.loads(captured.out)["systems"]["base.txt"]
    assert [entries[name]["score"] for name in ("bleu", "chrf")] == pytest.approx(list(expected.values()), abs=1e-11)
    told = "base.txt begins with a byte order mark, which counts as a character, as in sacrebleu: "
    assert captured.err == f"ngram-metrics: warning: {told}remove it, as by sed '1s/^\\xEF\\xBB\\xBF//'\n"


def test_only_the_first_character_of_a_file_is_a_byte_order_mark(folder: Path, capsys, monkeypatch):
    monkeypatch.setattr(files, "CHUNK", 1)
    write(folder / "base.txt", ["the cat sat.", "\ufeffA dog ran!"])
    assert scores(capsys, "base.txt", "-r", "base.txt", "-m", "chrf") == {"chrf": pytest.approx(100)}


def test_a_byte_order_mark_before_another_column_is_none_of_the_text(folder: Path, capsys):
    write(folder / "t.tsv", b"\xef\xbb\xbf7\tthe cat sat.\n")
    write(folder / "ref.txt", ["the cat sat."])
    assert scores(capsys, "t.tsv:2", "-r", "ref.txt", "-m", "chrf") == {"chrf": pytest.approx(100)}


@leaves_files_open
@pytest.mark.parametrize(
    "options",
    [
        [],
        ["-lc"],
        ["-lc", "--chrf-lowercase"],
        *(["-tok", name] for name in ("13a", "intl", "zh", "char", "none")),
        ["-lc", "-tok", "intl"],
    ],
    ids=" ".join,
)
def test_options_and_several_references_are_sacrebleus(options: list[str], folder: Path, capsys, monkeypatch):
    write(folder / "base.txt", [f"{line} Zoë, 5.5 東京" if number % 2 else line for number, line in enumerate(BASE)])
    write(folder / "ref2.txt", [line.upper() if number % 3 else "東京" for number, line in enumerate(SECOND)])
    files = ["ref.txt", "ref2.txt", "-i", "base.txt", "-m", "bleu", "chrf"]
    expected = of_sacrebleu(monkeypatch, *files, *options)
    # The same words after the name of the command.
    found = scores(capsys, *files, *options)
    assert found == pytest.approx({"bleu": expected["BLEU"], "chrf": expected["chrF2"]}, abs=1e-11)


def test_every_metric_has_its_column(folder: Path, capsys):
    found = scores(capsys, "base.txt", "-r", "ref.txt", "-m", "rouge,bleu,overlap", "-m", "chrf++,chrf,bleu")
    assert list(found) == ["rouge1", "rouge2", "rougeL", "rougeLsum", "bleu", "overlap", "chrf++", "chrf"]


def test_files_longer_than_a_chunk_score_the_same(folder: Path, capsys, monkeypatch):
    arguments = ["base.txt", "other.txt", "-r", "ref.txt", "-m", "bleu,chrf,rouge", "--confidence"]
    expected = report(capsys, *arguments)
    for chunk in (7, 119, 120):
        monkeypatch.setattr(files, "CHUNK", chunk)
        found = report(capsys, *arguments)
        for system, values in expected["systems"].items():
            for name, entry in values.items():
                other = found["systems"][system][name]
                assert other.pop("precisions", ()) == pytest.approx(entry.get("precisions", ()), abs=1e-9)
                assert other == pytest.approx({key: entry[key] for key in other}, abs=1e-9)


def _table(lines: list[str]) -> bytes:
    return "".join(f"7\t{line}\tx\n" for line in lines).encode()


def _json_lines(lines: list[str]) -> bytes:
    return "".join(json.dumps({"id": 7, "answer": line}) + "\n" for line in lines).encode()


PLAIN = "".join(f"{line}\n" for line in BASE).encode()


@pytest.mark.parametrize(
    ("name", "content", "given"),
    [
        ("base.gz", gzip.compress(PLAIN), "base.gz"),
        ("base.txt.xz", lzma.compress(PLAIN), "base.txt.xz"),
        ("packed.txt", gzip.compress(PLAIN), "packed.txt"),
        ("two.gz", gzip.compress(PLAIN[:999]) + gzip.compress(PLAIN[999:]), "two.gz"),
        ("table.tsv", _table(BASE), "table.tsv:2"),
        ("table.tsv", _table(BASE).replace(b"\tx\n", b"\r\n"), "table.tsv:2"),
        ("table.gz", gzip.compress(_table(BASE)), "table.gz:2"),
        ("lines.jsonl", _json_lines(BASE), "lines.jsonl:answer"),
        ("lines.xz", lzma.compress(_json_lines(BASE)), "lines.xz:answer"),
        ("a:2", PLAIN, "a:2"),
        ("a:2:3", _table(BASE), "a:2:3:2"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_packed_or_part_of_a_line_is_read(name: str, content: bytes, given: str, folder: Path, capsys):
    expected = scores(capsys, "base.txt", "-r", "ref.txt")
    write(folder / name, content)
    assert scores(capsys, given, "-r", "ref.txt") == expected
    shown = report(capsys, "ref.txt", "-r", given)
    assert shown["references"] == [given]


def test_one_segment_is_not_called_segments(folder: Path, capsys):
    write(folder / "one.txt", ["so it is"])
    assert "\n1 segment, reference one.txt, " in printed(capsys, "one.txt", "-r", "one.txt")


def test_two_columns_of_a_file_are_two_systems(folder: Path, capsys):
    write(folder / "table.tsv", "".join(f"{one}\t{two}\n" for one, two in zip(BASE, REFERENCES, strict=True)).encode())
    found = report(capsys, "table.tsv:1", "table.tsv:2", "-r", "ref.txt", "-m", "bleu")["systems"]
    assert {system: entries["bleu"]["score"] == pytest.approx(100) for system, entries in found.items()} == {
        "table.tsv:1": False,
        "table.tsv:2": True,
    }
