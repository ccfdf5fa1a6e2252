"""The commands that the tests of the command line run: ours, and sacrebleu's on the same files."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import sacrebleu.sacrebleu
from systems import output, references

from ngram_metrics import _cli as cli

REFERENCES = references(120)
SECOND = output(REFERENCES, 0.4, seed=3)
BASE, OTHER = output(REFERENCES, 0.3, seed=10), output(REFERENCES, 0.2, seed=11)
FILES = {"base.txt": BASE, "other.txt": OTHER, "ref.txt": REFERENCES, "ref2.txt": SECOND}

#: sacrebleu's command leaves files open.
leaves_files_open = pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")


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
    return json.loads(printed(capsys, *arguments, "--format", "json"))


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


class _Stream(io.StringIO):
    def fileno(self) -> int:
        return 1


def of_sacrebleu(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> dict[str, float]:
    """What sacrebleu's command prints, with 13 digits."""
    stream = _Stream()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "argv", ["sacrebleu", *arguments, "-w", "13", "-f", "json", "--no-color"])
        patch.setattr(sys, "stdin", stream)
        patch.setattr(sys, "stdout", stream)
        # It opens the descriptors of both anew, to set their encoding.
        patch.setattr(sacrebleu.sacrebleu, "open", lambda *args, **options: stream, raising=False)
        sacrebleu.sacrebleu.main()
    shown = json.loads(stream.getvalue())
    return {one["name"]: one["score"] for one in (shown if isinstance(shown, list) else [shown])}
