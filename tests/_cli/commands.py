"""The command on files of made-up systems: what it prints, and how it refuses."""

import json
from pathlib import Path
from typing import Any

import pytest
from systems import output, references

from ngram_metrics import _cli as cli

REFERENCES = references(120)
SECOND = output(REFERENCES, 0.4, seed=3)
BASE = output(REFERENCES, 0.3, seed=10)
OTHER = output(REFERENCES, 0.2, seed=11)
FILES = {"base.txt": BASE, "other.txt": OTHER, "ref.txt": REFERENCES, "ref2.txt": SECOND}


def write(path: Path, content: bytes | list[str]) -> None:
    path.write_bytes(content if isinstance(content, bytes) else "".join(f"{line}\n" for line in content).encode())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two systems and two references, which the command runs in."""
    monkeypatch.chdir(tmp_path)
    for name, lines in FILES.items():
        write(tmp_path / name, lines)
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What the command prints, and that it prints no error."""
    assert cli.main(list(arguments)) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def report(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    return json.loads(printed(capsys, "--format", "json", *arguments))


def scores(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, float]:
    """The scores of the only system."""
    ((_, values),) = report(capsys, *arguments)["systems"].items()
    return {name: entry["score"] for name, entry in values.items()}


def failing(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What the command says of work that cannot be done: one line, and nothing else."""
    assert cli.main(list(arguments)) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("ngram-metrics: ")
    assert captured.err.count("\n") == 1
    return captured.err.removeprefix("ngram-metrics: ").strip()


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What the command says of wrong arguments, below the usage."""
    with pytest.raises(SystemExit) as stopped:
        cli.main(list(arguments))
    assert stopped.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err.splitlines()[-1].partition(": error: ")[2]
