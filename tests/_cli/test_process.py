"""The command as a shell sees it: how fast it answers, its exit codes, and what it leaves on the terminal."""

import functools
import gc
import io
import json
import lzma
import os
import signal
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest
import torch
from commands import REFERENCES, failing, printed, write
from systems import references

from ngram_metrics import _cli as cli
from ngram_metrics._cli import files, score_command
from ngram_metrics._core.basics import output
from ngram_metrics._core.metrics.registry import REGISTRY

COMMAND = [sys.executable, "-m", "ngram_metrics"]
ALL = ",".join(REGISTRY)


_WITHOUT_TORCH = """
import json, sys
from ngram_metrics._cli import main
for arguments, code in json.loads(sys.argv[1]):
    try:
        found = main(arguments)
    except SystemExit as error:
        found = error.code
    assert found == code, arguments
    assert not {"torch", "numpy", "tqdm", "torchmetrics"} & set(sys.modules), arguments
"""


def test_arguments_are_answered_without_torch(folder: Path):
    """What takes most of the time, on any machine, is to import torch and numpy."""
    answered = {
        "--help": 0,
        "--version": 0,
        "mbr --help": 0,
        "base.txt ref.txt": 2,
        "base.txt -r ref.txt --tokenizer 14a": 2,
        "mbr base.txt --device gpu": 2,
        "base.txt -r ref.txt -m chrf --stem": 2,
        "base.txt -r missing.txt": 1,
        "base.txt -r packed.zip": 1,
        "mbr missing.txt": 1,
    }
    write(folder / "packed.zip", b"PK\x03\x04\xff")
    codes = json.dumps([(arguments.split(), code) for arguments, code in answered.items()])
    subprocess.run([sys.executable, "-c", _WITHOUT_TORCH, codes], capture_output=True, check=True)
    assert min(_user_seconds([*COMMAND, "base.txt", "-r", "missing.txt"]) for _ in range(3)) < 0.3


@pytest.mark.parametrize("collects", [True, False])
def test_the_garbage_collector_goes_on_as_before(folder: Path, capsys, monkeypatch, collects: bool):
    was = gc.isenabled()
    (gc.enable if collects else gc.disable)()
    try:
        frozen = gc.get_freeze_count()
        printed(capsys, "base.txt", "-r", "ref.txt")
        printed(capsys, "base.txt", "-r", "ref.txt", "-c")
        assert gc.isenabled() == collects
        assert gc.get_freeze_count() == frozen, "the objects of a caller are collected"
        monkeypatch.setattr(sys, "argv", ["ngram-metrics", "base.txt", "-r", "ref.txt", "-c"])
        assert cli.main() == 0
        assert gc.isenabled() == collects
        assert gc.get_freeze_count() > frozen
    finally:
        gc.unfreeze()
        (gc.enable if was else gc.disable)()


def _user_seconds(command: list[str]) -> float:
    """Seconds of the processor, which other processes do not lengthen as they do the clock's."""
    before = os.times()
    subprocess.run(command, capture_output=True, check=False)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["mbr", "-h"]])
def test_what_is_printed_of_the_command_itself_arrives_or_is_an_error(words: list[str], folder: Path):
    with open("/dev/full", "wb") as full:
        # With Python's buffer, which it writes at its end, also where the tests run without.
        buffered = {**os.environ, "PYTHONUNBUFFERED": ""}
        done = subprocess.run([*COMMAND, *words], env=buffered, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    assert done.stderr.decode() == "ngram-metrics: cannot write to standard output: No space left on device\n"


@pytest.mark.programs
def test_a_closed_pipe_and_a_full_disk_are_one_line(folder: Path):
    reading, writing = os.pipe()
    os.close(reading)
    score, decode = ["base.txt", "-r", "ref.txt"], ["mbr", "base.txt", "-k", "5"]
    with open(writing, "wb") as pipe, open("/dev/full", "wb") as full:
        for command, stream, told in ((score, pipe, "Broken pipe"), (decode, full, "No space left on device")):
            done = subprocess.run([*COMMAND, *command], stdout=stream, stderr=subprocess.PIPE, check=False)
            assert done.returncode == 1
            assert done.stderr.decode() == f"ngram-metrics: cannot write to standard output: {told}\n"


@pytest.mark.programs
def test_a_closed_standard_output_is_told(folder: Path):
    words = " ".join([*COMMAND, "base.txt", "-r", "ref.txt", ">&-"])
    done = subprocess.run(words, shell=True, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    assert done.stderr.decode() == "ngram-metrics: cannot write to standard output: it is closed\n"


@pytest.mark.programs
@pytest.mark.parametrize(
    ("code", "told"), [(signal.SIGINT, "ngram-metrics: interrupted\n"), (signal.SIGTERM, ""), (signal.SIGHUP, "")]
)
def test_a_signal_ends_the_command_and_leaves_no_file(code: int, told: str, folder: Path):
    """The command waits for standard input."""
    (folder / "out.txt").write_text("as it was")
    there = sorted(folder.iterdir())
    words = ["-", "-r", "ref.txt", "-c", "-o", "out.txt", "--segments", "new.tsv"]
    heed = functools.partial(signal.signal, code, signal.SIG_DFL)  # nohup has SIGHUP ignored, which children inherit
    with subprocess.Popen(
        [*COMMAND, *words], stdin=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heed
    ) as process:
        # Before it has begun, Python itself answers; to import torch takes the longest.
        while "libtorch" not in Path(f"/proc/{process.pid}/maps").read_text():
            assert process.poll() is None, process.stderr.read().decode()
            time.sleep(0.05)
        assert any(path.suffix == ".part" for path in folder.iterdir())
        process.send_signal(code)
        assert (process.stderr.read().decode(), process.wait()) == (told, 128 + code)
    assert sorted(folder.iterdir()) == there
    assert (folder / "out.txt").read_text() == "as it was"


@pytest.mark.programs
def test_interruption_of_an_import_is_one_line(folder: Path):
    """Numpy, where torch imports it, makes an error of its own of an exception."""
    program = """
import importlib.abc, os, signal, sys
class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, *_):
        if name == "numpy.exceptions":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
from ngram_metrics._cli import main
sys.exit(main(["base.txt", "-r", "ref.txt", "-c"]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "ngram-metrics: interrupted\n")


def test_interruption_at_any_step_is_one_line(folder: Path, capsys, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    main = sys.modules["ngram_metrics._cli.main"]  # cli.main is the function
    for options, place, name in (
        (["-c"], main, "make_scorers"),
        (["-c"], score_command, "count"),
        (["-c"], score_command, "compute_outcome"),
        (["-c"], main, "format_outcome"),
        ([], main, "format_outcome"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, interrupted)
            assert cli.main(["base.txt", "-r", "ref.txt", *options]) == 130
        captured = capsys.readouterr()
        assert (captured.out, captured.err) == ("", "ngram-metrics: interrupted\n")


def test_long_work_shows_progress_on_a_terminal(folder: Path, monkeypatch):
    stream = io.StringIO()
    stream.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(output, "DELAY", 1e-9)
    assert cli.main(["base.txt", "-r", "ref.txt", "-m", "bleu,chrf,rouge", "-c", "-o", "out"]) == 0
    assert " lines" in stream.getvalue()
    assert stream.getvalue().endswith("\r"), "it is wiped out at the end"


class _Bar:
    """Notes when it is told of so many lines, in seconds of the processor."""

    def __init__(self) -> None:
        self.told: list[tuple[int, float]] = []

    def __enter__(self) -> "_Bar":
        self._start = time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def update(self, lines: int) -> None:
        self.told.append((lines, time.process_time() - self._start))


def test_progress_begins_within_two_seconds_of_work(folder: Path, capsys, monkeypatch):
    """What is counted at once takes less than a second, and from two seconds on each part is shown."""
    assert output.DELAY <= 2
    write(folder / "ref.txt", REFERENCES * 35)
    bar = _Bar()
    monkeypatch.setattr(score_command, "Progress", lambda unit: bar)
    printed(capsys, "ref.txt", "-r", "ref.txt", "-m", ALL)
    lines, seconds = bar.told[1]
    assert lines <= files.CHUNK
    assert seconds - bar.told[0][1] < 1


def _run_apart(code: str) -> subprocess.CompletedProcess[str]:
    """Run Python below a shell: Linux hands the highest memory of a process on to those that it starts."""
    command = ["sh", "-c", '"$0" -c "$1" || exit', sys.executable, code]
    return subprocess.run(command, capture_output=True, text=True, check=True)


_LONG = """
import resource, sys
from ngram_metrics._cli import main
for files in (["long.txt", "-r", "long.txt"], ["longer.txt", "-r", "longer.txt"]):
    main([*files, "-m", "bleu,chrf,rouge", "--segments", "scores.tsv", "-o", "report"])
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
main("base.txt other.txt -r ref.txt -m ALL -c -o report".split())
assert not {"torchmetrics", "ignite", "transformers"} & set(sys.modules)
"""


@pytest.mark.programs
def test_long_work_takes_no_more_memory_imports_no_framework_and_is_silent_without_a_terminal(folder: Path):
    lines = references(10_000)
    write(folder / "long.txt", lines)
    write(folder / "longer.txt", lines * 6)
    done = _run_apart(_LONG.replace("ALL", ALL))
    assert done.stderr == ""
    short, long = map(int, done.stdout.split())
    # In KiB; the files and their scores have 20 MiB more.
    assert (long - short) * 1024 < 8 << 20, (long, short)


_SMALL_ARCHIVES = """
import resource
from ngram_metrics._cli import main, mbr_command, score_command
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for line in ("mbr lines.xz -k 2", "mbr small --weights weights.xz", "mbr values.xz", "texts.xz -r texts.xz"):
    assert main([*line.split(), "-m", "overlap", "-o", "out"]) == 0
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_an_archive_of_few_bytes_is_unpacked_part_by_part(folder: Path):
    """Archives of less than 10 KB unpack to 40 MB: no line is too long, nor are there more lines than one chunk."""
    write(folder / "small", ['["a"]'] * 256)
    for name, line, lines in (
        ("lines.xz", "word " * 16_000, 512),
        ("weights.xz", "[1" + " " * 160_000 + "]", 256),
        ("values.xz", json.dumps(["word " * 32_000]), 256),
        ("texts.xz", "word " * 4000, 2048),
    ):
        write(folder / name, lzma.compress(f"{line}\n".encode() * lines))
        assert (folder / name).stat().st_size < 10_000
    grown = [int(line) * 1024 for line in _run_apart(_SMALL_ARCHIVES).stdout.split()]
    assert max(grown) < 100 << 20, grown


_WITH_LITTLE_MEMORY = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
from ngram_metrics._cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_an_archive_that_asks_for_more_memory_than_there_is_is_told(folder: Path):
    packed = bytearray(lzma.compress(b"a b\n", preset=0))
    header = packed[12:24]
    header[header.index(b"\x21\x01") + 2] = 40  # a dictionary of 4 GiB
    packed[12:24] = header[:-4] + zlib.crc32(header[:-4]).to_bytes(4, "little")
    write(folder / "large.xz", bytes(packed))
    command = [sys.executable, "-c", _WITH_LITTLE_MEMORY, "large.xz", "-r", "ref.txt"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == "ngram-metrics: large.xz cannot be read: it needs more memory than there is\n"
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("package", "options", "told"),
    [
        ("sentencepiece", "--spm-model m", "--spm-model needs sentencepiece: pip install sentencepiece"),
    ],
)
def test_a_missing_package_is_named(package: str, options: str, told: str, folder: Path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    assert failing(capsys, "base.txt", "-r", "ref.txt", *options.split()) == told


def test_threads_are_one_unless_told_and_are_set_back(folder: Path, capsys, monkeypatch):
    seen = []
    score = score_command.score
    monkeypatch.setattr(score_command, "score", lambda *given: (seen.append(torch.get_num_threads()), score(*given))[1])
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        printed(capsys, "base.txt", "-r", "ref.txt", "-c")
        printed(capsys, "base.txt", "-r", "ref.txt", "-c", "--threads", "2")
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
    assert seen == [1, 2]


@pytest.mark.parametrize("device", ["cuda", "mps"])
def test_a_device_that_is_not_there_is_told(device: str, folder: Path, capsys):
    if getattr(torch, device).is_available():
        pytest.skip(f"there is a device {device}")
    words = failing(capsys, "mbr", "base.txt", "-k", "5", "--device", device)
    assert words == f"--device {device}: there is no such device"
