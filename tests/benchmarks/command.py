"""The command against sacrebleu's: whole processes, from files to the printed score.

How to run: ``python tests/benchmarks/command.py FOLDER``, the folder of ``epoch.py``. The scores are compared first.
Times are of the processor, the least of several runs, and memory is the peak of a process. Let Python write its
bytecode (no ``PYTHONDONTWRITEBYTECODE``), or each run compiles the package anew. This script imports no torch: the peak
of a process counts that of the one it was forked from.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from itertools import cycle, islice, product
from pathlib import Path

_SIZES = (200, 2_000, 10_000, 50_000)
_METRICS = (("bleu",), ("bleu", "chrf"))


def run(command: list[str]) -> tuple[float, int, str]:
    """Return the seconds of the processor, the peak of memory in KiB, and what a command prints."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss, printed


def main() -> None:
    """Print a row for each number of lines and choice of metrics."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="reference.txt, and systems/*.txt")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each command (%(default)s)")
    given = parser.parse_args()
    files = (min((given.folder / "systems").glob("*.txt")), given.folder / "reference.txt")
    print("| lines | metrics | ngram-metrics | sacrebleu | times as fast | MiB | sacrebleu's MiB |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        system, reference = paths = [f"{folder}/{file.name}" for file in files]
        for size, metrics in product(_SIZES, _METRICS):
            for path, file in zip(paths, files, strict=True):
                lines = cycle(file.read_text(encoding="utf-8").splitlines())
                Path(path).write_text("".join(f"{line}\n" for line in islice(lines, size)), encoding="utf-8")
            ours = [sys.executable, "-m", "ngram_metrics", system, "-r", reference, "-m", ",".join(metrics)]
            theirs = [sys.executable, "-m", "sacrebleu", reference, "-i", system, "-m", *metrics]
            compare(ours, theirs, metrics)
            runs = [(run(ours), run(theirs)) for _ in range(given.repeats)]
            seconds = [min(pair[side][0] for pair in runs) for side in (0, 1)]
            memory = [max(pair[side][1] for pair in runs) / 1024 for side in (0, 1)]
            times = f"{seconds[0]:.2f} s | {seconds[1]:.2f} s | {seconds[1] / seconds[0]:.1f}"
            print(f"| {size:,} | {', '.join(metrics)} | {times} | {memory[0]:.0f} | {memory[1]:.0f} |", flush=True)


def compare(ours: list[str], theirs: list[str], metrics: tuple[str, ...]) -> None:
    """End the script if the commands print other scores."""
    (values,) = json.loads(run([*ours, "-f", "json"])[2])["systems"].values()
    printed = json.loads(run([*theirs, "-b", "-w", "9"])[2])
    expected = printed if isinstance(printed, list) else [printed]
    for name, score in zip(metrics, expected, strict=True):
        if abs(values[name]["score"] - score) > 1e-8:
            sys.exit(f"{name} is {values[name]['score']}: expected sacrebleu's {score}")


if __name__ == "__main__":
    main()
