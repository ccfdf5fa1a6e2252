"""Tables, JSON, Markdown and LaTeX: the same numbers, whatever is drawn around them."""

import io
import json
import os
import re
import sys
from pathlib import Path

import pytest
from commands import printed, report, write

from ngram_metrics import _cli as cli

ARGUMENTS = ["base.txt", "other.txt", "-r", "ref.txt", "-m", "bleu,rouge", "-c"]
#: An escape sequence, a turn of the writing direction, and what ends lines and cells.
NAME = "a\x1b[31m\u202eb\tc\nd\x07.txt"
SHOWN = "a[U+001B][31m[U+202E]b c d[U+0007].txt"
VALUES = ["bleu", "rouge1", "rouge2", "rougeL", "rougeLsum"]


def _cell(entry: dict, digits: int = 2) -> str:
    shown = [f"{entry[name]:.{digits}f}" for name in ("score", "low", "high")]
    mark = "" if entry.get("p_value", 1) >= 0.05 else "+" if entry["difference"] > 0 else "-"
    return f"{shown[0]} [{shown[1]}, {shown[2]}]{mark}"


def test_the_table_shows_what_json_holds(folder: Path, capsys):
    found = report(capsys, *ARGUMENTS)
    header, *rows = printed(capsys, *ARGUMENTS).splitlines()
    assert header.split() == ["system", *VALUES]
    for row, (system, entries) in zip(rows, found["systems"].items(), strict=False):
        assert row.split() == f"{system} {' '.join(map(_cell, entries.values()))}".split()
    assert rows[2:6] == [
        "",
        "120 segments, reference ref.txt, scores on a 0-100 scale",
        "[low, high]: 95% bootstrap interval",
        "+ better, - worse than base.txt: p < 0.05, paired randomization test with Holm's correction",
    ]
    assert rows[6:] == [f"{name}: {text}" for name, text in found["signatures"].items()]
    assert len(header) == len(rows[0].rstrip("+")) + 1 == len(rows[1].rstrip("+")) + 1, "columns are aligned"


def test_details_are_in_the_table_by_value(folder: Path, capsys):
    found = report(capsys, *ARGUMENTS)
    blocks = printed(capsys, *ARGUMENTS, "--details").split("\n\n")
    assert len(blocks) == len(VALUES) + 1
    lines = [[re.split(r" {2,}", line) for line in block.splitlines()] for block in blocks[:-1]]
    details = [*(f"precision{order}" for order in range(1, 5)), "BP", "ratio", "hyp_len", "ref_len"]
    assert lines[0][0] == ["system", "bleu", "difference", "p", *details]
    assert lines[1][0] == ["system", "rouge1", "difference", "p", "precision", "recall"]
    entry = found["systems"]["other.txt"]["bleu"]
    assert lines[0][2] == [
        "other.txt",
        _cell(entry),
        f"{entry['difference']:+.2f} [{entry['difference_low']:.2f}, {entry['difference_high']:.2f}]",
        f"{entry['p_value']:.4f}",
        *(f"{precision:.2f}" for precision in entry["precisions"]),
        f"{entry['brevity_penalty']:.3f}",
        f"{entry['ratio']:.3f}",
        str(entry["hypothesis_length"]),
        str(entry["reference_length"]),
    ]
    entry = found["systems"]["base.txt"]["rouge1"]
    assert lines[1][1] == ["base.txt", _cell(entry), f"{entry['precision']:.2f}", f"{entry['recall']:.2f}"]


def test_a_table_wider_than_the_terminal_is_laid_out_by_value(folder: Path, capsys, monkeypatch):
    whole = printed(capsys, *ARGUMENTS)
    width = max(map(len, whole.partition("\n\n")[0].splitlines()))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    assert printed(capsys, *ARGUMENTS) == whole
    monkeypatch.setenv("COLUMNS", str(width - 1))
    *blocks, notes = printed(capsys, *ARGUMENTS).split("\n\n")
    assert [block.split()[1] for block in blocks] == VALUES
    assert all(len(line) < width for block in blocks for line in block.splitlines())
    assert notes == whole.partition("\n\n")[2]


def test_markdown(folder: Path, capsys):
    write(folder / "a|b_c.txt", (folder / "base.txt").read_bytes())
    found = report(capsys, "a|b_c.txt", "other.txt", "-r", "ref.txt")
    lines = printed(capsys, "a|b_c.txt", "other.txt", "-r", "ref.txt", "-f", "markdown").splitlines()
    values = [f"{entry['score']:.2f}" for entry in found["systems"]["a|b_c.txt"].values()]
    assert lines[:3] == ["| system | chrF | BLEU |", "| :-- | --: | --: |", rf"| a\|b\_c.txt | {' | '.join(values)} |"]
    assert lines[3].count("+ |") == 2
    assert r"\+ better, - worse than a\|b\_c.txt: p " in lines[6]
    assert f"`bleu: {found['signatures']['bleu']}`  " in lines
    assert printed(capsys, *ARGUMENTS, "-f", "markdown", "--details").count("| system |") == len(VALUES)


@pytest.mark.parametrize(
    ("character", "written"),
    [
        *((character, f"a\\{character}b") for character in "&%$#_{}"),
        ("~", r"a\textasciitilde{}b"),
        ("^", r"a\textasciicircum{}b"),
        ("\\", r"a\textbackslash{}b"),
        ("*", "a*b"),
    ],
)
def test_no_character_of_a_name_is_a_command_of_latex(character: str, written: str, folder: Path, capsys):
    name = f"a{character}b"
    for other in (name, f"{name}2"):
        write(folder / other, (folder / "base.txt").read_bytes())
    lines = printed(capsys, name, "other.txt", "-r", f"{name}2", "-m", "bleu", "-f", "latex").splitlines()
    assert lines[7].startswith(f"{written} & ")
    assert lines[2] == r"\caption{120 segments, 1 reference, scores on a 0-100 scale.}"
    assert rf"$^{{+}}$ better, $^{{-}}$ worse than {written}: p" in "".join(lines)


def test_a_name_is_no_argument_of_the_line_end_of_latex(folder: Path, capsys):
    for name in ("[b].txt", "*c.txt"):
        write(folder / name, (folder / "base.txt").read_bytes())
    lines = printed(capsys, "base.txt", "[b].txt", "*c.txt", "-r", "ref.txt", "-f", "latex").splitlines()
    assert [line.split(" &")[0] for line in lines[7:10]] == ["base.txt", "{}[b].txt", "{}*c.txt"]


@pytest.mark.parametrize("digits", [0, 5])
def test_digits(digits: int, folder: Path, capsys):
    full = report(capsys, *ARGUMENTS)["systems"]["other.txt"]["bleu"]
    short = report(capsys, *ARGUMENTS, "--digits", str(digits))["systems"]["other.txt"]["bleu"]
    assert short["score"] == round(full["score"], digits)
    assert short["precisions"] == [round(precision, digits) for precision in full["precisions"]]
    assert short["p_value"] == full["p_value"]
    assert short["hypothesis_length"] == full["hypothesis_length"]
    assert _cell(full, digits) in printed(capsys, *ARGUMENTS, "-w", str(digits))


def test_the_table_is_utf8_whatever_the_encoding_of_standard_output(folder: Path, monkeypatch):
    write(folder / "東京.txt", (folder / "base.txt").read_bytes())
    stream = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    monkeypatch.setattr(sys, "stdout", stream)
    assert cli.main(["東京.txt", "-r", "ref.txt"]) == 0
    assert "東京.txt" in stream.buffer.getvalue().decode("utf-8")


def test_a_name_that_is_no_unicode_is_shown_with_its_code_point(folder: Path, capsys):
    name = os.fsdecode(b"Zo\xeb.txt")
    write(folder / name, (folder / "base.txt").read_bytes())
    assert "Zo[U+DCEB].txt" in printed(capsys, name, "-r", "ref.txt")
    assert name in json.loads(printed(capsys, name, "-r", "ref.txt", "-f", "json"))["systems"]


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
def test_a_name_commands_no_terminal_and_is_one_cell_of_one_line(form: str, folder: Path, capsys):
    for name in (NAME, "ref\n%.txt"):
        write(folder / name, (folder / "base.txt").read_bytes())
    shown = printed(capsys, NAME, "other.txt", "-r", "ref\n%.txt", "-f", form)
    assert shown.replace("\n", "").isprintable()
    assert shown.replace("\\", "").count(SHOWN) == 2  # it is the baseline too
    plain = printed(capsys, "base.txt", "other.txt", "-r", "ref.txt", "-f", form)
    assert len(shown.splitlines()) == len(plain.splitlines())
    assert NAME in report(capsys, NAME, "-r", "ref.txt")["systems"]
