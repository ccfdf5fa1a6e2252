"""Scores of every segment, a line each."""

import json
from pathlib import Path

import pytest
from commands import BASE, OTHER, REFERENCES, SECOND, failing, printed, write

from ngram_metrics._cli import files
from ngram_metrics.functional import bleu_score, chrf_score, rouge_score

SYSTEMS = {"base.txt": BASE, "other.txt": OTHER}


def _expected(lines: list[str]) -> list[dict[str, float]]:
    """The scores of each line by the functions, with two references."""
    sides = lines, list(zip(REFERENCES, SECOND, strict=True))
    columns = {
        "bleu": bleu_score(*sides, average="none"),
        "chrf": chrf_score(*sides, average="none"),
        "chrf++": chrf_score(*sides, word_order=2, average="none"),
        **rouge_score(*sides, average="none"),
    }
    named = {name.replace("_fmeasure", ""): (100 * scores).tolist() for name, scores in columns.items()}
    return [dict(zip(named, row, strict=True)) for row in zip(*named.values(), strict=True)]


@pytest.mark.parametrize(("chunk", "name"), [(7, "scores.tsv"), (4096, "scores.jsonl")])
def test_segments_have_the_scores_of_the_functions(name: str, chunk: int, folder: Path, capsys, monkeypatch):
    monkeypatch.setattr(files, "CHUNK", chunk)
    lines = ["the", "", *BASE[2:]]
    (folder / "base.txt").write_text("".join(f"{line}\n" for line in lines))
    words = ["-r", "ref.txt", "ref2.txt", "-m", "bleu,chrf,chrf++,rouge", "--segments", name]
    assert "120 segments" in printed(capsys, *SYSTEMS, *words)
    rows = _read(folder / name)
    systems = {"base.txt": _expected(lines), "other.txt": _expected(OTHER)}
    assert [(row["line"], row["system"]) for row in rows] == [
        (number, system) for number in range(1, 121) for system in systems
    ]
    for row in rows:
        number, system = row.pop("line"), row.pop("system")
        expected = systems[system][number - 1]
        assert list(row) == list(expected)
        assert row == pytest.approx(expected, abs=1e-9)


def _read(path: Path) -> list[dict]:
    lines = path.read_text().splitlines()
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in lines]
    names, *rows = [line.split("\t") for line in lines]
    read = [dict(zip(names, row, strict=True)) for row in rows]
    return [{name: value if name == "system" else json.loads(value) for name, value in row.items()} for row in read]


@pytest.mark.parametrize("before", [None, b"what was there"])
def test_half_a_file_is_never_left(before: bytes | None, folder: Path, capsys, monkeypatch):
    """Of a failure after the first lines; what stood there stays."""
    monkeypatch.setattr(files, "CHUNK", 7)
    if before is not None:
        (folder / "scores.tsv").write_bytes(before)
    words = ["-r", "ref.txt", "--segments", "scores.tsv", "-o", "scores.tsv.report"]
    write(folder / "cut.txt", BASE[:-1])
    there = sorted(folder.iterdir())
    assert "have different numbers of lines" in failing(capsys, "cut.txt", *words)
    assert sorted(folder.iterdir()) == there
    assert before is None or (folder / "scores.tsv").read_bytes() == before
    printed(capsys, "base.txt", *words)
    assert len(_read(folder / "scores.tsv")) == len(BASE)
    assert sorted(folder.iterdir()) == sorted({*there, folder / "scores.tsv", folder / "scores.tsv.report"})


def test_a_file_that_is_replaced_keeps_its_mode_and_links(folder: Path, capsys):
    (folder / "there.tsv").touch(mode=0o600)
    (folder / "link.tsv").symlink_to("there.tsv")
    printed(capsys, "base.txt", "-r", "ref.txt", "--segments", "link.tsv")
    assert len(_read(folder / "there.tsv")) == len(BASE)
    assert (folder / "there.tsv").stat().st_mode & 0o777 == 0o600
    assert (folder / "link.tsv").is_symlink()


def test_a_file_that_cannot_be_written_is_told(folder: Path, capsys):
    (folder / "full.tsv").symlink_to("/dev/full")
    told = failing(capsys, "base.txt", "-r", "ref.txt", "--segments", "full.tsv")
    assert told == "cannot write full.tsv: No space left on device"
