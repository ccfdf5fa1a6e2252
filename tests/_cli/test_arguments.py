"""Which file is what, and which arguments are refused before a file is read."""

import json
import os
import sys
from pathlib import Path

import pytest
from commands import BASE, FILES, printed, refused, report, scores, write
from ordinary_user import folder_of_ordinary_user as folder_of_ordinary_user

from ngram_metrics import _cli as cli


@pytest.mark.parametrize(
    ("arguments", "systems", "references"),
    [
        ("base.txt -r ref.txt", ["base.txt"], ["ref.txt"]),
        ("base.txt --references ref.txt ref2.txt", ["base.txt"], ["ref.txt", "ref2.txt"]),
        ("base.txt -r ref.txt -r ref2.txt", ["base.txt"], ["ref.txt", "ref2.txt"]),
        ("base.txt other.txt -r ref.txt", ["base.txt", "other.txt"], ["ref.txt"]),
        ("base.txt -r ref.txt -m bleu other.txt", ["base.txt", "other.txt"], ["ref.txt"]),
        ("-r ref.txt -lc base.txt other.txt", ["base.txt", "other.txt"], ["ref.txt"]),
        ("other.txt base.txt -r ref.txt --baseline base.txt", ["base.txt", "other.txt"], ["ref.txt"]),
        ("first=base.txt other.txt -r human=ref.txt", ["first", "other.txt"], ["human"]),
        ("a=base.txt b=other.txt -r ref.txt --baseline b", ["b", "a"], ["ref.txt"]),
        ("a=base.txt b=other.txt -r ref.txt --baseline other.txt", ["b", "a"], ["ref.txt"]),
        ("runs/base.txt runs/other.txt -r runs/ref.txt", ["base.txt", "other.txt"], ["ref.txt"]),
        ("base.txt runs/base.txt -r ref.txt", ["base.txt", "runs/base.txt"], ["ref.txt"]),
        ("lr=0.1.txt -r ref.txt", ["lr=0.1.txt"], ["ref.txt"]),
        ("lr=0.1.jsonl:answer -r ref.txt", ["lr=0.1.jsonl:answer"], ["ref.txt"]),
        ("runs/lr=0.1/out.txt -r ref.txt", ["out.txt"], ["ref.txt"]),
        ("-r ref.txt -- base.txt other.txt", ["base.txt", "other.txt"], ["ref.txt"]),
        ("other.txt -r ref.txt -- --name -l", ["other.txt", "--name", "-l"], ["ref.txt"]),
        ("chrf -r ref.txt -m bleu", ["chrf"], ["ref.txt"]),
    ],
)
def test_systems_and_references_are_the_named_files(
    arguments: str, systems: list[str], references: list[str], folder: Path, capsys
):
    (folder / "runs" / "lr=0.1").mkdir(parents=True)
    for name in ("lr=0.1.txt", "runs/lr=0.1/out.txt", "--name", "-l", "chrf"):
        write(folder / name, BASE)
    write(folder / "lr=0.1.jsonl", [json.dumps({"answer": line}) for line in BASE])
    for name, lines in FILES.items():
        write(folder / "runs" / name, lines)
    shown = report(capsys, *arguments.split())
    assert list(shown["systems"]) == systems
    assert shown["references"] == references


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        ("", ["chrf", "bleu"]),
        ("-m chrf,bleu,chrf", ["chrf", "bleu"]),
        ("--metrics=rouge,overlap", ["rouge1", "rouge2", "rougeL", "rougeLsum", "overlap"]),
        ("-m rougeL,rouge9,chrf++", ["rougeL", "rouge9", "chrf++"]),
    ],
)
def test_metrics_are_those_that_are_named(arguments: str, values: list[str], folder: Path, capsys):
    assert list(scores(capsys, "base.txt", "-r", "ref.txt", *arguments.split())) == values


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("", "the following arguments are required: "),
        ("base.txt ref.txt", "the following arguments are required: -r/--references"),
        ("-r ref.txt", "the following arguments are required: SYSTEM"),
        ("-r ref.txt --", "the following arguments are required: SYSTEM"),
        ("base.txt -r ref.txt --metri bleu", "unrecognized arguments: --metri bleu"),
        ("base.txt -r ref.txt -l", "unrecognized arguments: -l; did you mean -lc?"),
        ("base.txt -r ref.txt -to zh", "unrecognized arguments: -to; did you mean -tok?"),
        (
            "base.txt -r ref.txt -m bleu chrf",
            "there is no file named chrf; to name several metrics, separate them with comma",
        ),
        ("base.txt chrf++ rougeL -r ref.txt -m bleu,chrf", "separate them with commas: -m bleu,chrf,chrf++,rougeL"),
        ("base.txt base.txt -r ref.txt", "two systems have the name 'base.txt': give them different names, as in NAM"),
        ("a=base.txt a=other.txt -r ref.txt", "two systems have the name 'a'"),
        ("base.txt -r a=ref.txt a=ref2.txt", "two references have the name 'a'"),
        ("base.txt other.txt -r ref.txt --baseline x", "--baseline x: expected one of the systems base.txt, other.txt"),
        ("base.txt -r ref.txt -m meteor", "unknown metric 'meteor': expected one or more of bleu,chrf,"),
        ("base.txt -r ref.txt -m rouge,bleu,rougeL", "the metrics 'rouge' and 'rougeL' both write 'rougeL'"),
        ("base.txt -r ref.txt -c 95", "confidence must be between 0 and 1, such as 0.95 (got: 95.0)"),
        ("base.txt -r ref.txt -c .9985", "confidence must be at most 0.998, the highest level that 1000 resamples"),
        ("-r ref.txt -c base.txt", "'base.txt' is not a level such as 0.95: expected files before -c"),
        ("base.txt -r ref.txt -tok 14a", "invalid choice: '14a' (choose from "),
        ("base.txt -r ref.txt -f jsno", "invalid choice: 'jsno' (choose from "),
        ("base.txt -r ref.txt -w -1", "invalid choice: -1 (choose from "),
        ("base.txt -r ref.txt -m bleu,chrf --stem", "--stem is for rouge, and has no effect on bleu, chrf"),
        ("base.txt -r ref.txt -m bleu --rouge-tokenizer zh", "--rouge-tokenizer is for rouge, and has no effect on"),
        ("base.txt -r ref.txt -m chrf -lc", "--lowercase is for bleu, and has no effect on chrf"),
        ("base.txt -r ref.txt -m bleu --chrf-lowercase", "--chrf-lowercase is for chrf, chrf++, and has no effect on"),
        ("base.txt -r ref.txt -m chrf -tok zh", "and has no effect on chrf"),
        ("base.txt -r ref.txt --test bootstrap", "--test compares systems, but there is only one: base.txt"),
        ("base.txt -r ref.txt --source ref2.txt", "--source is only shown in the report: expected --report as well"),
        ("- -r -", "standard input can be read only once, but - is given twice"),
        ("base.txt -r ref.txt --segments ./base.txt", "--segments ./base.txt would overwrite an input"),
        ("base.txt -r ref.txt --report ref.txt", "--report ref.txt would overwrite an input"),
        ("base.txt -r ref.txt --report link.txt", "--report link.txt would overwrite an input"),
        ("base.txt -r ref.txt --segments no/s.jsonl", "--segments no/s.jsonl: expected a file in a directory that"),
        ("base.txt -r ref.txt --report .", "--report .: expected a file in a directory that exists"),
        ("base.txt -r ref.txt --report=", "--report : expected a file in a directory that exists"),
        ("base.txt -r ref.txt --segments out --report ./out", "--segments and --report both write ./out: expected two"),
        ("base.txt -r ref.txt --segments old --report new", "--segments and --report both write new: expected two"),
    ],
)
def test_wrong_arguments_are_refused_with_a_reason(arguments: str, told: str, folder: Path, capsys):
    (folder / "link.txt").hardlink_to("ref.txt")
    (folder / "new").symlink_to("old")
    assert told in refused(capsys, *arguments.split())
    assert (folder / "base.txt").read_text(encoding="utf-8").splitlines() == BASE
    assert not (folder / "out").exists()
    assert not (folder / "old").exists()


@pytest.mark.parametrize("flag", ["--report", "--segments"])
def test_the_file_that_standard_input_reads_is_not_overwritten(flag: str, folder: Path, capsys, monkeypatch):
    with open(folder / "base.txt", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert refused(capsys, "-", "-r", "ref.txt", flag, "base.txt") == f"{flag} base.txt would overwrite an input"
        assert refused(capsys, "ref.txt", "-r", "-", flag, "base.txt") == f"{flag} base.txt would overwrite an input"
        printed(capsys, "other.txt", "-r", "ref.txt", flag, "base.txt")  # standard input is not read


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_the_file_that_the_command_prints_to_is_not_overwritten(name: str, folder: Path, capfd, monkeypatch):
    with open(folder / "results.txt", "w+", encoding="utf-8") as stream, monkeypatch.context() as patch:
        patch.setattr(sys, name, stream)
        with pytest.raises(SystemExit):
            cli.main(["base.txt", "-r", "ref.txt", "--report", "results.txt"])
        stream.seek(0)
        told = stream.read() + capfd.readouterr().err
    assert "--report results.txt would overwrite the file that the results are printed to" in told


def test_a_device_may_be_written_twice(folder: Path, capsys):
    printed(capsys, "base.txt", "-r", "ref.txt", "--segments", os.devnull, "--report", os.devnull)


def test_an_output_that_the_user_may_not_write_is_refused_before_anything_is_read(
    folder_of_ordinary_user: Path, capsys, monkeypatch
):
    monkeypatch.chdir(folder_of_ordinary_user)
    Path("locked.jsonl").write_text("before", encoding="utf-8")
    Path("locked.jsonl").chmod(0o444)
    Path("locked").mkdir(0o555)
    for path in ("locked.jsonl", "locked/new.jsonl"):
        told = refused(capsys, "missing.txt", "-r", "missing.txt", "--segments", path)
        assert told == f"--segments {path}: permission denied; expected a file that you may write"
    assert Path("locked.jsonl").read_text(encoding="utf-8") == "before"


@pytest.mark.parametrize(
    ("option", "told"), [("--version", "ngram-metrics "), ("--help", "--references"), ("-h", "-lc")]
)
def test_version_and_help_are_printed(option: str, told: str, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main([option])
    assert stopped.value.code == 0
    assert told in capsys.readouterr().out
