"""Files are replaced as a whole; links and pipes keep their place. And the progress bar."""

import io
import os
import sys
import threading
import time
from pathlib import Path

import pytest
from ordinary_user import folder_of_ordinary_user as folder_of_ordinary_user

from ngram_metrics._core.basics import output
from ngram_metrics._core.basics.output import write_file


def test_a_file_is_new_or_replaced_in_utf_8_and_nothing_is_left_beside_it(tmp_path: Path):
    path = tmp_path / "out.txt"
    for text in ("first, and longer\n", "se\u00e9\r\n", "a name \udcff of bytes"):
        write_file(str(path), text)
        assert path.read_bytes() == text.encode("utf-8", "backslashreplace")
        assert list(tmp_path.iterdir()) == [path]


def test_others_may_read_the_file_as_they_may_read_any(tmp_path: Path):
    before = os.umask(0o022)
    try:
        write_file(str(tmp_path / "out.txt"), "x")
    finally:
        os.umask(before)
    assert (tmp_path / "out.txt").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("fails", ["open", "replace"])
def test_after_an_error_the_file_is_as_it_was(fails: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "out.txt"
    path.write_text("before")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("builtins.open" if fails == "open" else "os.replace", refuse)
    with pytest.raises(OSError, match=r"^cannot write .*out\.txt: No space left on device$"):
        write_file(str(path), "after")
    monkeypatch.undo()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_a_file_keeps_its_mode_from_the_first_byte_on(mode: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "out.txt"
    path.write_text("before")
    path.chmod(mode)
    modes: list[int] = []

    class WatchedFile(io.FileIO):
        def write(self, content: object) -> int:
            modes.append(os.fstat(self.fileno()).st_mode & 0o777)
            return super().write(content)  # type: ignore[arg-type]

    monkeypatch.setattr("builtins.open", lambda path, mode, opener=None: WatchedFile(path, mode, opener=opener))
    write_file(str(path), "after")
    monkeypatch.undo()
    assert modes == [mode]
    assert path.stat().st_mode & 0o777 == mode
    assert path.read_text() == "after"


def test_a_file_that_the_user_may_not_write_is_not_replaced(folder_of_ordinary_user: Path):
    path = folder_of_ordinary_user / "out.txt"
    path.write_text("before")
    path.chmod(0o444)
    with pytest.raises(OSError, match=r"^cannot write .*out\.txt: Permission denied$"):
        write_file(str(path), "after")
    assert path.read_text() == "before"
    assert list(folder_of_ordinary_user.iterdir()) == [path]


def test_a_file_in_a_locked_folder_is_written_in_its_place(folder_of_ordinary_user: Path):
    path = folder_of_ordinary_user / "out.txt"
    path.write_text("before, and longer")
    before = path.stat()
    folder_of_ordinary_user.chmod(0o555)
    write_file(str(path), "after")
    with pytest.raises(OSError, match=r"^cannot write .*new\.txt: Permission denied$"):
        write_file(str(folder_of_ordinary_user / "new.txt"), "after")
    folder_of_ordinary_user.chmod(0o755)
    assert path.read_text() == "after"
    assert path.stat().st_ino == before.st_ino


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes files of other users")
def test_a_file_keeps_its_owner(tmp_path: Path):
    path = tmp_path / "out.txt"
    path.write_text("before")
    os.chown(path, 12, 34)
    path.chmod(0o640)
    write_file(str(path), "after")
    assert path.read_text() == "after"
    assert (path.stat().st_uid, path.stat().st_gid, path.stat().st_mode & 0o777) == (12, 34, 0o640)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes files of other users")
def test_a_file_of_somebody_else_is_written_in_its_place(folder_of_ordinary_user: Path):
    path = folder_of_ordinary_user / "out.txt"
    path.write_text("before, and longer")
    path.chmod(0o666)
    os.seteuid(0)
    os.chown(path, 12, 34)
    os.seteuid(65534)
    write_file(str(path), "after")
    assert path.read_text() == "after"
    assert (path.stat().st_uid, path.stat().st_gid) == (12, 34)
    assert list(folder_of_ordinary_user.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path: Path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file.txt").write_text("before")
    link = tmp_path / "link.txt"
    link.symlink_to("folder/file.txt")
    write_file(str(link), "after")
    assert link.is_symlink()
    assert (tmp_path / "folder" / "file.txt").read_text() == "after"


def test_a_pipe_stays_a_pipe(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_file(str(pipe), "text")
    reader.join()
    assert read == ["text"]
    assert pipe.is_fifo()


@pytest.mark.parametrize("installed", [True, False])
def test_a_bar_counts_on_a_terminal_if_tqdm_is_installed(installed: bool, monkeypatch: pytest.MonkeyPatch):
    stream = io.StringIO()
    stream.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(output, "DELAY", 1e-9)
    if not installed:
        monkeypatch.setitem(sys.modules, "tqdm", None)
    with output.show_progress("segments") as count:
        count(1)
        time.sleep(0.2)  # tqdm draws at most every tenth of a second
        count(2)
    assert ("3 segments" in stream.getvalue()) is installed
