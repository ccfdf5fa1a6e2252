"""What the command prints: sacrebleu's numbers on the same files, as a table, JSON, Markdown and LaTeX."""

import io
import json
import os
import re
import sys
from pathlib import Path

import pytest
from commands import (
    BASE,
    OTHER,
    REFERENCES,
    SECOND,
    failing,
    leaves_files_open,
    of_sacrebleu,
    printed,
    report,
    scores,
    write,
)

from ngram_metrics import ROUGEScore, evaluate
from ngram_metrics import _cli as cli
from ngram_metrics.functional import rouge_score

#: A hypothesis and a reference, a line each or more.
FILES: dict[str, tuple[bytes | list[str], bytes | list[str]]] = {
    "as usual": (BASE, REFERENCES),
    "carriage returns on one side": (b"the cat sat.\r\nA dog ran!\r\n", b"the cat sat.\nA dog!\n"),
    "a carriage return inside": (b"the cat\rsat.\nA dog ran!\n", b"the cat sat.\nA dog ran off!\n"),
    "no last newline": (b"the cat sat.\nA dog ran!", b"the cat sat.\nA dog ran off!\n"),
    "empty lines": (b"the cat sat on it.\n\n\nA dog ran!\n", b"the cat sat on it.\n\nso it is\n\n"),
    "blanks at the ends": (b"  the cat sat. \t\n\xc2\xa0A dog ran!\n", b"the cat sat.\nA dog ran off! \n"),
    "a NUL": (b"the c\x00t sat on it\nA dog ran\n", b"the c\x00t sat on it\nA \x00 dog ran\n"),
    "rarer separators": (["the cat\u2028sat.", "A\x0bdog\x0cran!"], ["the cat sat.", "A\x85dog ran\x1c off!"]),
    "other scripts": (["東京は、雨。", "Zoë läuft 5,5 km."], ["東京は晴れ。", "Zoë lief 5,5 km."]),
}


NEPALI = (
    "पूर्व प्रधानमन्त्री शिंजो आबेको हत्याले जापान छ।",
    "पूर्व प्रधानमन्त्री शिंजो आबेको हत्याले जापान स्तब्ध छ।",
)


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
    expected = of_sacrebleu(monkeypatch, "ref.txt", "ref2.txt", "-i", "base.txt", "-m", "bleu", "chrf", *options)
    found = scores(capsys, "base.txt", "-r", "ref.txt", "ref2.txt", *options)
    assert found == pytest.approx({"bleu": expected["BLEU"], "chrf": expected["chrF2"]}, abs=1e-11)


def test_words_are_stemmed_for_rouge(folder: Path, capsys):
    write(folder / "base.txt", ["the cats ran"])
    write(folder / "ref.txt", ["the cat ran"])
    for options, score in (([], 200 / 3), (["--stem"], 100)):
        shown = report(capsys, "base.txt", "-r", "ref.txt", "-m", "rouge1", *options)
        assert shown["systems"]["base.txt"]["rouge1"]["score"] == pytest.approx(score)
        assert ("stem:porter" in shown["signatures"]["rouge1"]) == bool(options)


@pytest.mark.parametrize(
    ("tokenizer", "metric", "hypothesis", "reference", "score"),
    [
        # https://github.com/google/adk-python/issues/4122: 4 of 6 and of 5 words, 7 of 11 and of 9 characters.
        ("none", "rouge1", "これ は テスト 候補 の 応答", "これ は テスト の 正解", 8 / 11),
        ("unicode", "rouge1", "これ は テスト 候補 の 応答", "これ は テスト の 正解", 14 / 20),
        ("char", "rouge1", "これ は テスト 候補 の 応答", "これ は テスト の 正解", 14 / 20),
        # https://github.com/huggingface/datasets/issues/851
        ("unicode", "rouge1", "тест тест привет", "тест тест пока", 2 / 3),
        ("unicode", "rouge2", "тест тест привет", "тест тест пока", 1 / 2),
        # The text of https://github.com/huggingface/evaluate/issues/256, and without one of its 8 words.
        ("unicode", "rouge1", *NEPALI, 14 / 15),
        ("none", "rouge2", *NEPALI, 10 / 13),
        ("unicode", "rougeL", *NEPALI, 14 / 15),
        ("zh", "rouge1", "今天天气好。", "今天天气很好。", 12 / 13),
        ("unicode", "rouge1", "今天天气好。", "今天天气很好。", 10 / 11),
        ("char", "rouge1", "สวัสดี", "สวัสดี", 1),  # https://github.com/google/adk-python/issues/3111
        ("unicode", "rouge1", "สวัสดี", "สวัสดี", 1),
        # An Arabic noun without and with its article: 3 of 4 words.
        ("unicode", "rouge1", "قرأت كتاب جديد، أمس", "قرأت الكتاب جديد أمس.", 3 / 4),
        # A Korean particle, and a postposition with it: 2 of 3 and of 4 words.
        ("unicode", "rouge1", "고양이가 매트에 앉았다.", "고양이가 매트 위에 앉았다!", 4 / 7),
    ],
)
def test_rouge_of_other_scripts(tokenizer, metric, hypothesis, reference, score, folder: Path, capsys):
    write(folder / "base.txt", [hypothesis])
    write(folder / "ref.txt", [reference])
    options = ["-m", f"bleu,{metric}", "-tok", "char", "--rouge-tokenizer", tokenizer]
    assert scores(capsys, "base.txt", "-r", "ref.txt", *options)[metric] == pytest.approx(100 * score)
    values = rouge_score([hypothesis], [reference], rouge_keys=metric, tokenizer=tokenizer)
    assert values[f"{metric}_fmeasure"].item() == pytest.approx(score)
    metrics = {metric: ROUGEScore(rouge_keys=metric, tokenizer=tokenizer)}
    assert evaluate([hypothesis], [reference], metrics).results["system"][metric].score == pytest.approx(score)


@pytest.mark.parametrize("form", ["table", "json"])
def test_the_segments_of_each_label_are_scored(form: str, folder: Path, capsys):
    labels = ["news" if index % 3 else "talks" for index in range(len(BASE))]
    write(folder / "domains.txt", labels)
    write(folder / "domains.jsonl", [json.dumps({"domain": label}) for label in labels])
    expected = evaluate({"base.txt": BASE}, {"ref.txt": REFERENCES}, groups=labels, confidence=None)
    wanted = f"{expected}\n" if form == "table" else expected.to_json()
    assert "talks" in wanted
    (folder / "windows.txt").write_bytes("".join(f"{label}\r\n" for label in labels).encode())
    for groups in ("domains.txt", "windows.txt", "domains.jsonl:domain"):
        assert printed(capsys, "base.txt", "-r", "ref.txt", "--groups", groups, "-f", form) == wanted


def test_a_warning_is_one_line(folder: Path, capsys):
    for name, lines in {"base.txt": BASE, "other.txt": OTHER, "ref.txt": REFERENCES}.items():
        write(folder / name, lines[:49])
    assert cli.main(["base.txt", "other.txt", "-r", "ref.txt", "--test", "bootstrap"]) == 0
    told = capsys.readouterr().err
    assert told.startswith("ngram-metrics: warning: a bootstrap test needs at least 50 segments")
    assert told.count("\n") == 1


@pytest.mark.parametrize(
    ("package", "options"), [("jinja2", "--report page.html"), ("MeCab", "-m bleu -tok ja-mecab")], ids=str
)
def test_a_missing_package_is_named(package: str, options: str, folder: Path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    assert "pip install" in failing(capsys, "base.txt", "-r", "ref.txt", *options.split())


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
