"""Where output goes: files that are replaced whole, pipes, links, and a terminal that gets no commands from names."""

import errno
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from pathlib import Path

import pytest
from commands import BASE, REFERENCES, failing, printed, refused, report, write
from commands import folder as folder

from ngram_metrics import _cli as cli
from ngram_metrics._core.basics import output
from ngram_metrics._core.basics.output import OutputError, open_output

WORDS = ["base.txt", "-r", "ref.txt", "-m", "bleu"]
#: An escape sequence, a turn of the writing direction, and what ends lines and cells.
NAME = "a\x1b[31m\u202eb\tc\nd\x07.txt"
SHOWN = "a[U+001B][31m[U+202E]b c d[U+0007].txt"


def test_the_temporary_file_is_new_and_its_name_cannot_be_guessed(folder: Path, monkeypatch):
    before, names = set(folder.iterdir()), set()
    for _ in range(2):
        with open_output("out.txt") as write_text:
            names |= {path.name for path in folder.iterdir()} - {path.name for path in before}
            write_text("new")
        (folder / "out.txt").unlink()
    assert len(names) == 2
    assert not any(str(os.getpid()) in name for name in names)
    # Even under a name that somebody knew: nothing that is there is opened, and no link is followed.
    monkeypatch.setattr(output.os, "urandom", lambda count: bytes(count))
    with open_output("out.txt"):
        (name,) = {path.name for path in folder.iterdir()} - {path.name for path in before}
    (folder / name).symlink_to("base.txt")
    with pytest.raises(OutputError, match="File exists"), open_output("out.txt"):
        pass
    assert (folder / "base.txt").read_text().splitlines() == BASE


def _refusing(code: int):
    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    return refuse


@pytest.fixture(params=["mounted by itself", "another owner", "a folder that cannot be written"])
def fixed(request, folder: Path, monkeypatch) -> Path:
    """A file that keeps its place in the folder, only its contents can change."""
    path = folder / "fixed.txt"
    path.write_text("what was there, and more of it\n")
    if request.param == "mounted by itself":
        monkeypatch.setattr(output.os, "replace", _refusing(errno.EBUSY))
    elif request.param == "another owner":
        whole = os.stat

        def stat(path: str, **options: bool) -> os.stat_result:
            status = whole(path, **options)
            is_part = str(path).endswith(".part")
            return os.stat_result([*status[:5], status.st_gid + 1, *status[6:]]) if is_part else status

        monkeypatch.setattr(output.os, "stat", stat)
    else:
        (folder / "temporary").mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(folder / "temporary"))
        monkeypatch.setattr(output.os, "access", lambda *_: False)
        monkeypatch.setattr(output.os, "replace", _refusing(errno.EXDEV))
    return path


def _files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("text", ["new", "new " * 100_000])
def test_a_file_that_cannot_be_replaced_is_written_at_the_end(text: str, fixed: Path, folder: Path):
    files, number, before = _files(folder), fixed.stat().st_ino, fixed.read_text()
    with open_output("fixed.txt") as write_text:
        write_text(text)
        assert fixed.read_text() == before
        assert all(part.stat().st_mode & 0o777 == 0o600 for part in _files(folder) - files)
    assert fixed.read_text() == text
    assert fixed.stat().st_ino == number
    assert _files(folder) == files


def test_a_file_that_cannot_be_replaced_remains_after_an_error(fixed: Path, folder: Path, capsys):
    write(folder / "bad.txt", b"a\xff\n")
    files, before = _files(folder), fixed.read_text()
    for command in (["base.txt", "-r", "bad.txt"], ["mbr", "bad.txt", "-k", "1"]):
        assert "is not UTF-8" in failing(capsys, *command, "-o", "fixed.txt")
    assert fixed.read_text() == before
    assert _files(folder) == files


def test_the_output_is_somewhere_where_the_disk_of_its_file_is_full(fixed: Path, folder: Path, monkeypatch):
    monkeypatch.setattr(shutil, "copyfileobj", _refusing(errno.ENOSPC))
    told = r"^cannot write fixed.txt: No space left on device; the output is in (.*\.part)$"
    with pytest.raises(OutputError, match=told) as raised, open_output("fixed.txt") as write_text:
        write_text("new")
    assert Path(re.search(told, str(raised.value))[1]).read_text() == "new"


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.usefixtures("umask")
def test_a_folder_where_no_file_can_be_renamed_gets_a_new_one(folder: Path, monkeypatch):
    monkeypatch.setattr(output.os, "replace", _refusing(errno.EPERM))
    files = _files(folder)
    with open_output("new.txt") as write_text:
        write_text("new")
    assert (folder / "new.txt").read_text() == "new"
    assert (folder / "new.txt").stat().st_mode & 0o777 == 0o644
    assert _files(folder) == files | {folder / "new.txt"}


@pytest.mark.usefixtures("umask")
@pytest.mark.parametrize("mode", [None, 0o600, 0o640, 0o666])
def test_only_the_owner_reads_an_output_that_is_not_complete(mode: int | None, folder: Path):
    if mode is not None:
        (folder / "out.txt").touch()
        (folder / "out.txt").chmod(mode)
    files = _files(folder)
    with open_output("out.txt"):
        (part,) = _files(folder) - files
        assert part.stat().st_mode & 0o777 == 0o600
    assert (folder / "out.txt").stat().st_mode & 0o777 == (0o644 if mode is None else mode)


class _Slow(io.RawIOBase):
    """Takes at most three bytes at a time, as a pipe that is nearly full."""

    def __init__(self) -> None:
        self.taken = b""

    def writable(self) -> bool:
        return True

    def write(self, data) -> int:
        self.taken += bytes(data[:3])
        return min(3, len(data))


def test_writes_that_are_partial_go_on(folder: Path, capsys, monkeypatch):
    expected = printed(capsys, *WORDS)
    slow = _Slow()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BufferedWriter(slow)))
    assert cli.main(WORDS) == 0
    assert slow.taken.decode() == expected


@pytest.mark.parametrize("words", [WORDS, ["mbr", "base.txt", "-k", "5"], ["--help"]])
def test_output_goes_to_a_stream_of_text(words: list[str], folder: Path, capsys):
    def run() -> None:
        with suppress(SystemExit):
            assert cli.main(words) == 0

    run()
    expected = capsys.readouterr().out
    with redirect_stdout(io.StringIO()) as stream:
        run()
    assert stream.getvalue() == expected
    assert capsys.readouterr().out == ""


def test_output_goes_through_an_open_descriptor(folder: Path, capsys):
    expected = printed(capsys, *WORDS)
    assert printed(capsys, *WORDS, "-o", "/dev/stdout") == expected
    reading, writing = os.pipe()
    with open(reading, "rb") as pipe, open(writing, "wb") as other:
        printed(capsys, *WORDS, "-o", f"/dev/fd/{other.fileno()}")
        other.close()
        assert pipe.read().decode() == expected
    with open(folder / "log.txt", "wb", buffering=0) as log:
        log.write(b"before\n")
        printed(capsys, *WORDS, "-o", f"/dev/fd/{log.fileno()}")
    assert (folder / "log.txt").read_text() == "before\n" + expected


@pytest.mark.programs
def test_output_goes_through_pipes_of_a_shell(folder: Path, capsys):
    expected = printed(capsys, *WORDS)
    command = " ".join([sys.executable, "-m ngram_metrics", *WORDS])
    program = f"""{command} -o /dev/stdout | cat > first
        {command} -o >(cat > second); wait $!
        (echo; {command} -o /dev/stdout; echo) > third"""
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
    assert [(folder / name).read_text() for name in ("first", "second")] == [expected, expected]
    assert (folder / "third").read_text() == f"\n{expected}\n"


def test_a_link_to_an_input_is_not_written(folder: Path, capsys):
    (folder / "link.txt").symlink_to("base.txt")
    (folder / "here").symlink_to(".")
    for path in ("link.txt", "here/base.txt", "here/link.txt"):
        assert refused(capsys, *WORDS, "-o", path) == f"--output {path} would overwrite base.txt"
    told = refused(capsys, "link.txt", "-r", "ref.txt", "-o", "base.txt")
    assert told == "--output base.txt would overwrite link.txt"


@pytest.mark.parametrize(
    "command",
    ["base.txt -r ref.txt -o", "mbr ref.txt -k 5 -o", "base.txt -r ref.txt --report", "mbr a --weights ref.txt -o"],
)
def test_an_input_is_not_written_under_another_of_its_names(command: str, folder: Path, capsys, monkeypatch):
    """A hard link is like a folder that is mounted twice: no path resolves to the other."""
    (folder / "name.txt").hardlink_to("ref.txt")
    option = {"-o": "--output"}.get(command.split()[-1], "--report")
    assert refused(capsys, *command.split(), "name.txt") == f"{option} name.txt would overwrite ref.txt"
    with open("name.txt", "a") as stream, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", stream)
        with pytest.raises(SystemExit):
            cli.main(command.split()[:-1])
    assert "standard output would overwrite ref.txt" in capsys.readouterr().err
    assert (folder / "ref.txt").read_text().splitlines() == REFERENCES


def test_two_outputs_are_two_files(folder: Path, capsys, monkeypatch):
    (folder / "there.tsv").touch()
    (folder / "name.tsv").hardlink_to("there.tsv")
    words = [*WORDS, "--segments", "there.tsv"]
    assert refused(capsys, *words, "-o", "name.tsv") == "--segments there.tsv would overwrite --output"
    with open("there.tsv", "a") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        with pytest.raises(SystemExit):
            cli.main(words)
    assert "--segments there.tsv would overwrite --output" in capsys.readouterr().err


def test_a_closed_standard_error_takes_the_error_with_it(folder: Path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert cli.main(["base.txt", "-r", "missing.txt"]) == 1
    write(folder / "mark.txt", b"\xef\xbb\xbf" + (folder / "base.txt").read_bytes())
    assert cli.main(["mark.txt", "-r", "ref.txt", "-o", "out.txt"]) == 0
    with pytest.raises(SystemExit) as stopped:
        cli.main(["base.txt"])
    assert stopped.value.code == 2
    assert sys.stderr is None
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("form", ["table", "tsv", "markdown", "latex"])
def test_a_name_commands_no_terminal_and_is_one_cell_of_one_line(form: str, folder: Path, capsys):
    for name in (NAME, "ref\n%.txt"):
        write(folder / name, (folder / "base.txt").read_bytes())
    shown = printed(capsys, NAME, "other.txt", "-r", "ref\n%.txt", "-f", form, "--segments", "scores.tsv")
    assert "\n" in shown
    assert shown.replace("\n", "").replace("\t", "").isprintable()
    assert shown.replace("\\", "").count(SHOWN) == 2  # it is the baseline too, or has two values
    plain = printed(capsys, "base.txt", "other.txt", "-r", "ref.txt", "-f", form)
    assert [line.count("\t") for line in shown.splitlines()] == [line.count("\t") for line in plain.splitlines()]
    names = {line.split("\t")[1] for line in (folder / "scores.tsv").read_text().splitlines()[1:]}
    assert names == {SHOWN, "other.txt"}
    assert NAME in report(capsys, NAME, "-r", "ref.txt")["systems"]


def test_a_name_in_an_error_commands_no_terminal(folder: Path, capsys):
    assert failing(capsys, "x\x1b[31m\u202e", "-r", "ref.txt") == "x[U+001B][31m[U+202E]: no such file"
    assert refused(capsys, "x\x1b[31m", "-r", "y\x9b", "y\x9b").endswith("'y\\x9b' is given twice")
    assert refused(capsys, "a", "-r", "b", "--x\x1b[31m") == "unrecognized arguments: --x[U+001B][31m"
    write(folder / "mark\x1b[31m", b"\xef\xbb\xbf" + (folder / "base.txt").read_bytes())
    assert cli.main(["mark\x1b[31m", "-r", "ref.txt"]) == 0
    assert "warning: mark[U+001B][31m begins with a byte order mark" in capsys.readouterr().err
