"""Where output goes: files that are replaced whole, pipes, links, and a terminal that gets no commands from names."""

import errno
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import BASE
from commands import folder as folder

from ngram_metrics._core.basics import output
from ngram_metrics._core.basics.output import OutputError, open_output


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
