"""What cannot be read: one line that says what it looks like, and what to do."""

import builtins
import gzip
import io
import lzma
import os
import sys
import tarfile
import threading
import time
import tracemalloc
import unicodedata
import zipfile
from contextlib import ExitStack
from functools import partial
from itertools import accumulate, chain
from pathlib import Path

import pytest
from commands import REFERENCES, failing, printed, refused, scores, write

from ngram_metrics import _cli as cli
from ngram_metrics._cli import files
from ngram_metrics._cli.command_arguments import parse_mbr, parse_score


@pytest.mark.parametrize(("chunk", "chunk_bytes"), [(2, 1 << 22), (4096, 1 << 22), (4096, 1), (4096, 9)])
@pytest.mark.parametrize(("base", "other"), [(5, 3), (3, 5), (0, 5), (5, 0), (5, 6)])
def test_unequal_files_are_told_with_their_counts(
    base: int, other: int, chunk: int, chunk_bytes: int, folder: Path, capsys, monkeypatch
):
    monkeypatch.setattr(files, "CHUNK", chunk)
    monkeypatch.setattr(files, "CHUNK_BYTES", chunk_bytes)
    write(folder / "base.txt", ["a b"] * base)
    write(folder / "ref.txt", ["a b"] * other)
    write(folder / "ref2.txt", ["a b"] * 5)
    assert failing(capsys, "base.txt", "-r", "ref.txt", "ref2.txt") == (
        f"the files have different numbers of lines: base.txt has {base}, ref.txt has {other}, ref2.txt has 5; "
        "expected one line per segment in each"
    )


@pytest.mark.parametrize("chunk", [3, 2048])
@pytest.mark.parametrize("chunk_bytes", [1, 30, 1 << 22])
def test_files_are_read_in_step_however_long_their_lines_are(chunk: int, chunk_bytes: int, folder: Path, monkeypatch):
    monkeypatch.setattr(files, "CHUNK", chunk)
    monkeypatch.setattr(files, "CHUNK_BYTES", chunk_bytes)
    lines = {"hyp": ["a" * (line % 7) for line in range(25)], "ref": ["b" * 5 * (line % 11) for line in range(25)]}
    lines["labels"] = list(map(str, range(25)))
    for name, texts in lines.items():
        write(folder / name, texts)
    with ExitStack() as stack:
        sources = [stack.enter_context(files.open_source(files.split_name(name), 100)) for name in lines]
        parts = list(files.read_segments(sources, 1, 1))
    assert [part.first for part in parts] == list(accumulate((len(part.references) for part in parts[:-1]), initial=1))
    assert max(len(part.references) for part in parts) <= chunk
    assert list(chain(*(part.hypotheses[0] for part in parts))) == lines["hyp"]
    assert list(chain(*(part.references for part in parts))) == [[text] for text in lines["ref"]]
    assert list(chain(*(part.beside[0] for part in parts))) == lines["labels"]
    if chunk_bytes == 1:
        assert len(parts) == 25


def _zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a", bytes(range(256)) * 9)
    return buffer.getvalue()


def _tar() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a"), io.BytesIO())
    return buffer.getvalue()


TEXT = "".join(f"{line}\n" for line in REFERENCES)
PACKED = "expected lines of text in UTF-8, which may be compressed with gzip or xz"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (TEXT.encode("utf-16"), "bad looks like UTF-16: convert it, as by iconv -f UTF-16 -t UTF-8"),
        (TEXT.encode("utf-16-be"), "bad looks like UTF-16: "),
        (TEXT.encode("utf-16-le"), "bad looks like UTF-16: "),
        (TEXT.encode("utf-32"), "bad looks like UTF-32: convert it, as by iconv -f UTF-32 -t UTF-8"),
        (_tar(), "bad looks like a tar archive: unpack it first"),
        (gzip.compress(_tar()), "bad looks like a tar archive: unpack it first"),
        (gzip.compress(TEXT.encode("utf-16")), "bad looks like UTF-16: "),
        (_zip(), f"bad looks like a zip archive: {PACKED}"),
        (b"BZh91AY&SY\xff\xfe", f"bad looks like a bzip2 file: {PACKED}"),
        (bytes(range(256)) * 20, f"bad looks like a binary file: {PACKED}"),
        (b"", "bad has 0"),
        (gzip.compress(TEXT.encode())[:400], "bad is a broken archive: "),
        (gzip.compress(TEXT.encode())[:4], "bad is a broken archive: "),
        (lzma.compress(TEXT.encode())[:200], "bad is a broken archive: "),
        (b"\xfd7zXZ\x00" + b"x" * 99, "bad is a broken archive: "),
        (
            "\n".join(REFERENCES[:99]).encode() + b"\nZo\xeb ran.\n" + b"a\n" * 20,
            "bad, line 100: byte 3 of the line, 0xeb, is not UTF-8: convert the file, as by iconv -f LATIN1 -t UTF-8",
        ),
    ],
    # gzip writes the time: two processes that collect these tests would name them differently.
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_what_is_no_text_is_told(content: bytes, told: str, folder: Path, capsys):
    write(folder / "bad", content)
    assert told in failing(capsys, "base.txt", "-r", "bad")


@pytest.mark.parametrize(
    ("content", "name", "told"),
    [
        (b"a\tb\nc\n", "t:2", "t:2, line 2: the line has 1 column, separated by tabs: expected at least 2"),
        (b'{"x": "a"}\n{"y": "a"}\n', "t:x", "t:x, line 2: {'y': 'a'} has no field 'x'"),
        (b'{"x": "a"}\n["x"]\n', "t:x", "t:x, line 2: ['x'] has no field 'x'"),
        (b'{"x": "a"}\n{"x": 5}\n', "t:x", "t:x, line 2: 'x' is 5: expected a string"),
        (b'{"x": "a"}\nthe cat\n', "t:x", "t:x, line 2: 'the cat' is not JSON: expected JSON lines"),
    ],
)
def test_a_line_without_the_part_is_told(content: bytes, name: str, told: str, folder: Path, capsys):
    write(folder / "t", content)
    write(folder / "ref.txt", ["a", "b"])
    assert failing(capsys, name, "-r", "ref.txt") == told


@pytest.mark.parametrize("packed", [bytes, gzip.compress, partial(lzma.compress, preset=0)])
def test_a_line_that_is_too_long_is_told_before_it_is_unpacked(packed, folder: Path, capsys):
    write(folder / "long", packed(b"a b\n" + b"c" * (32 << 20)))
    tracemalloc.start()
    try:
        told = failing(capsys, "long", "-r", "long", "--line-limit", "1000")
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()
    expected = "the line has more than 1000 characters: expected one segment, or a larger --line-limit"
    assert told == f"long, line 2: {expected}"


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
@pytest.mark.parametrize("character", ["a", "\U0001f600"])
def test_the_longest_line_has_as_many_characters_as_the_limit(character: str, end: str, folder: Path, capsys):
    for characters, answer in ((9, scores), (10, scores), (11, failing), (50, failing)):
        write(folder / "t", (character * characters + end).encode())
        assert answer(capsys, "t", "-r", "t", "-m", "chrf", "--line-limit", "10")
    write(folder / "t", "".join(f'["{character * characters}"]\n' for characters in (1, 6, 7)).encode())
    assert failing(capsys, "mbr", "t", "--line-limit", "10").startswith("t, line 3: the line has more than 10 ")


def test_ten_million_characters_are_a_line():
    assert parse_score(["a", "-r", "b"]).line_limit == parse_mbr(["a"]).line_limit == 10_000_000
    assert parse_score(["a", "-r", "b", "--line-limit", "1000000000"]).line_limit == 10**9


@pytest.mark.parametrize("packed", [bytes, gzip.compress])
def test_lines_are_not_counted_to_their_end_for_an_error(packed, folder: Path, capsys, monkeypatch):
    monkeypatch.setattr(files, "CHUNK", 100)
    monkeypatch.setattr(files, "MOST_COUNTED", 50)
    for lines, told in ((249, "249"), (250, "250"), (251, "more than 250"), (10**6, "more than 250")):
        write(folder / "base.txt", packed(b"\n" * lines))
        told = f"base.txt has {told}, ref.txt has 120; expected one line per"
        assert told in failing(capsys, "base.txt", "-r", "ref.txt")


def test_a_word_in_another_unicode_form_is_told_once(folder: Path, capsys):
    write(folder / "base.txt", ["the cat", "die Größe und die Größe", "noch größer"])
    write(
        folder / "ref.txt",
        ["the cat", unicodedata.normalize("NFD", "die Größe"), unicodedata.normalize("NFD", "größer")],
    )
    assert cli.main(["base.txt", "-r", "ref.txt", "-m", "bleu,chrf"]) == 0
    told = capsys.readouterr().err
    assert told == (
        "ngram-metrics: warning: base.txt, line 2: 'Größe' has another Unicode form than in the reference, composed or "
        "decomposed, and counts as another word: convert both, as by uconv -x NFC or unicodedata.normalize\n"
    )
    write(folder / "base.txt", ["the cat", unicodedata.normalize("NFD", "die Größe"), "größer"])
    write(folder / "ref.txt", ["the cat", unicodedata.normalize("NFD", "die Größe"), "grob"])
    printed(capsys, "base.txt", "-r", "ref.txt")


def test_a_long_word_in_another_unicode_form_is_shortened(folder: Path, capsys):
    write(folder / "base.txt", ["ö" * 1000])
    write(folder / "ref.txt", [unicodedata.normalize("NFD", "ö" * 1000)])
    assert cli.main(["base.txt", "-r", "ref.txt", "-m", "bleu"]) == 0
    told = capsys.readouterr().err
    assert told.startswith(f"ngram-metrics: warning: base.txt, line 1: '{'ö' * 56}... has another Unicode form")
    assert len(told) < 300


def test_files_that_cannot_be_read_are_named(folder: Path, capsys, monkeypatch):
    assert failing(capsys, "base.txt", "-r", "missing.txt") == "missing.txt: no such file"
    assert failing(capsys, "base.txt", "-r", "missing.txt:2") == "missing.txt: no such file"
    assert failing(capsys, "base.txt", "-r", f"missing.txt:{'9' * 5000}") == "missing.txt: no such file"
    (folder / "empty.txt").touch()
    assert failing(capsys, "empty.txt", "-r", "empty.txt:1") == "empty.txt is empty: expected at least one line"
    (folder / "systems").mkdir()
    assert failing(capsys, "systems", "-r", "ref.txt") == (
        "systems is a directory: expected a file, as systems/* names those in it"
    )
    whole = builtins.open

    def refusing(path: str, *arguments: object, **options: object):
        if path == "ref.txt":
            raise PermissionError(13, "Permission denied")
        return whole(path, *arguments, **options)

    monkeypatch.setattr(builtins, "open", refusing)
    assert failing(capsys, "base.txt", "-r", "ref.txt") == "ref.txt cannot be read: Permission denied"


@pytest.mark.parametrize("command", ["base.txt other.txt -r ref.txt -m bleu,chrf -c", "mbr base.txt -k 5"])
def test_a_file_is_opened_once(command: str, folder: Path, capsys, monkeypatch):
    named = []
    whole = builtins.open
    monkeypatch.setattr(
        builtins, "open", lambda path, *given, **options: (named.append(path), whole(path, *given, **options))[1]
    )
    printed(capsys, *command.split())
    files = [word for word in command.split() if word.endswith(".txt")]
    assert sorted(name for name in named if name in files) == sorted(files)


def _stream(content: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BufferedReader(io.BytesIO(content)))


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input_is_read_and_left_open(packed: bool, folder: Path, capsys, monkeypatch):
    expected = scores(capsys, "base.txt", "-r", "ref.txt")
    for arguments, name in ((["-", "-r", "ref.txt"], "base.txt"), (["base.txt", "-r", "-"], "ref.txt")):
        content = (folder / name).read_bytes()
        stream = _stream(gzip.compress(content) if packed else content)
        monkeypatch.setattr(sys, "stdin", stream)
        assert scores(capsys, *arguments) == expected
        assert not sys.stdin.buffer.closed
    stream = _stream(b"".join(b"7\t%s\n" % line for line in content.splitlines()))
    monkeypatch.setattr(sys, "stdin", stream)
    assert scores(capsys, "base.txt", "-r", "-:2") == expected
    monkeypatch.setattr(sys, "stdin", None)
    assert failing(capsys, "-", "-r", "ref.txt") == "standard input is closed"


@pytest.mark.parametrize("packed", [False, True])
def test_a_pipe_is_read_once_though_it_comes_in_drops(packed: bool, folder: Path, capsys):
    expected = scores(capsys, "base.txt", "-r", "ref.txt")
    content = (folder / "base.txt").read_bytes()
    content = gzip.compress(content) if packed else content
    os.mkfifo(folder / "pipe")

    def drip() -> None:
        with open(folder / "pipe", "wb", buffering=0) as pipe:
            for start in range(0, 10):
                pipe.write(content[start : start + 1])
                time.sleep(0.01)
            pipe.write(content[10:])

    writer = threading.Thread(target=drip)
    writer.start()
    assert scores(capsys, "pipe", "-r", "ref.txt") == expected
    writer.join()


@pytest.mark.parametrize(
    "arguments",
    [
        "score - -r ref.txt -o in.txt",
        "score - -r ref.txt -o ./in.txt",
        "score base.txt -r - --report in.txt",
        "score -:1 -r ref.txt --segments in.tsv",
        "mbr - -k 5 -o in.txt",
        "mbr base.txt -k 5 --weights - -o in.txt",
    ],
)
def test_the_file_behind_standard_input_is_not_overwritten(arguments: str, folder: Path, capsys, monkeypatch):
    name = "in.tsv" if "in.tsv" in arguments else "in.txt"
    before = (folder / "base.txt").read_bytes()
    (folder / name).write_bytes(before)
    with open(folder / name) as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        path = arguments.split()[-1]
        assert f" {path} would overwrite -" in refused(capsys, *arguments.split())
    assert (folder / name).read_bytes() == before


def test_a_file_is_replaced_that_standard_input_reads_but_the_command_does_not(folder: Path, capsys, monkeypatch):
    with open(folder / "other.txt") as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        printed(capsys, "base.txt", "-r", "ref.txt", "-o", "other.txt")
    assert "chrf" in (folder / "other.txt").read_text()
