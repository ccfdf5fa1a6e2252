"""What the benchmark scripts share: text nobody has seen, equal scores first, one table.

Goal: a ratio that neither a cache, nor the order of the contestants, nor a busy machine has flattered.

How to run: not by itself. A script builds its parser with :func:`parser`, hands it and its ``main`` to
:func:`run_pinned`, and calls :func:`time_each` for every task.

What it holds a measurement to:

1. Threads: a script runs itself anew for each setting of ``--threads`` (by default one thread, then all cores), with
   OpenMP, MKL, rayon and torch told the same number before anything is imported.
2. Order: within a repeat every contestant runs once, one after another, and each repeat starts with another contestant.
3. Caches: each repeat reads another system's output, and every line that a contestant sees in a repeat ends in a word
   that no other contestant and no other repeat has: no tokenizer's cache and no string's stored hash can be warm. The
   words are equally long and occur once a line in hypothesis and references alike, so the work and the scores are the
   same for all.
4. Objects: a contestant lays out its input and makes its metric anew before the clock starts, and garbage is
   collected; the clock runs from the input in the contestant's own form to the score.
5. Scores: in every repeat, the first of which is not timed, each score must lie within the contestant's tolerance of
   the first contestant's. A mismatch ends the script with an error. A contestant that by definition scores something
   else says so in a note and is timed only.

Medians, minima and ratios are reported; nothing is asserted about time. Where other processes keep the cores busy,
several threads are far slower than one, because they wait for each other actively: measure them on an idle machine.
"""

from __future__ import annotations

import argparse
import gc
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")
#: What ``--clock`` names.
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
_EXPECTED_TEXT = (
    "expected a folder that holds reference.txt, one segment a line, and systems/*.txt, the outputs of systems for the "
    "same segments (a test set of a translation task and its participants, for example)"
)


class Corpus(NamedTuple):
    """A test set and what several systems made of it; all lists are of one length."""

    references: list[str]
    systems: list[list[str]]


class Batch(NamedTuple):
    """Hypotheses, and for each its references."""

    hypotheses: list[str]
    references: list[list[str]]


@dataclass(frozen=True)
class Contestant:
    """One way to a score.

    Attributes:
        name: for the table.
        prepare: from the input to a call without arguments that is timed and returns the score or scores.
        tolerance: how far a score may lie from the first contestant's; None where the definitions differ.
        goal: the ratio to the first contestant that is hoped for, on one thread.
        note: what the table says beside it, such as how the definitions differ.
    """

    name: str
    prepare: Callable[[Any], Callable[[], Any]]
    tolerance: float | None = 1e-9
    goal: float | None = None
    note: str = ""


def parser(documentation: str, text: bool = True) -> argparse.ArgumentParser:
    """Return a parser of what all scripts take.

    Args:
        documentation: the docstring of the script.
        text: whether the script reads a folder of text.
    """
    made = argparse.ArgumentParser(description=documentation, formatter_class=argparse.RawDescriptionHelpFormatter)
    if text:
        made.add_argument("folder", type=Path, help=_EXPECTED_TEXT)
    made.add_argument("--threads", default="1,all", help="numbers of threads, or 'all', apart by commas (%(default)s)")
    made.add_argument(
        "--clock",
        choices=CLOCKS,
        default="wall",
        help="wall time; or, on a busy machine and one thread, the time of this process alone (%(default)s)",
    )
    made.add_argument("--repeats", type=int, default=7, help="timed repeats (%(default)s)")
    return made


def run_pinned(main: Callable[[argparse.Namespace], None], arguments: argparse.ArgumentParser, packages: str) -> None:
    """Run ``main`` once for each thread setting, each in a process of its own.

    Args:
        main: takes the parsed options; ``options.threads`` is then a number.
        arguments: as made by :func:`parser`.
        packages: names of the distributions whose versions are printed, apart by blanks.
    """
    options = arguments.parse_args()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        settings = [cores if one == "all" else int(one) for one in options.threads.split(",")]
    except ValueError:
        arguments.error(f"--threads is {options.threads!r}: expected numbers or 'all', apart by commas")
    if hasattr(options, "folder"):
        read_corpus(options.folder)  # stop here, and not once for each setting
    threads = settings[0]
    if len(settings) == 1 and all(os.environ.get(name) == str(threads) for name in _THREAD_VARIABLES):
        torch.set_num_threads(threads)
        options.threads = threads
        heading = f"{threads} {'thread' if threads == 1 else 'threads'}, {options.clock} time"
        print(f"\n## {heading}\n\n{machine(cores)}\n{versions(packages)}", flush=True)
        main(options)
        return
    for threads in dict.fromkeys(settings):
        environment = os.environ | dict.fromkeys(_THREAD_VARIABLES, str(threads))
        command = [sys.executable, *sys.argv, "--threads", str(threads)]
        code = subprocess.run(command, env=environment).returncode
        if code != 0:
            sys.exit(code)


def machine(cores: int) -> str:
    """Describe the machine in one line, with how busy it is besides."""
    try:
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    except OSError:
        found = None
    model = found.group(1).strip() if found else platform.processor() or platform.machine()
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    return f"{model}, {cores} cores, load {load}, Python {platform.python_version()}, {platform.system()}"


def versions(packages: str) -> str:
    """List the versions of distributions, those of the measured package and torch first."""
    listed = []
    for package in ["ngram-metrics", "torch", *packages.split()]:
        try:
            listed.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            listed.append(f"{package} not installed")
    return ", ".join(listed)


def read_corpus(folder: Path) -> Corpus:
    """Read a folder of text, or end the script and say what is expected."""
    files = sorted((folder / "systems").glob("*.txt"))
    if not (folder / "reference.txt").is_file() or not files:
        sys.exit(f"{folder}: {_EXPECTED_TEXT}")
    # Lines end at newlines only: str.splitlines would also split at rarer separators inside a segment.
    references, *systems = (
        file.read_text(encoding="utf-8").removesuffix("\n").split("\n") for file in [folder / "reference.txt", *files]
    )
    for file, lines in zip(files, systems, strict=True):
        if len(lines) != len(references):
            sys.exit(f"{file} has {len(lines)} lines: expected {len(references)}, a line for each of reference.txt")
    return Corpus(references, systems)


def documents(lines: Sequence[str], size: int) -> list[str]:
    """Join lines to documents of ``size`` lines."""
    return ["\n".join(lines[start : start + size]) for start in range(0, len(lines), size)]


def distinct_lines(corpus: Corpus) -> list[str]:
    """Return the distinct outputs of all systems, segment after segment."""
    return list(dict.fromkeys(chain.from_iterable(zip(*corpus.systems, strict=True))))


def unseen(lines: Sequence[str], repeat: int, contestant: int) -> list[str]:
    """End every line in a word that is only this contestant's and only this repeat's."""
    word = "zqx" + "".join(chr(97 + number // 26) + chr(97 + number % 26) for number in (repeat, contestant))
    return [f"{line} {word}" for line in lines]


def fresh_batch(
    corpus: Corpus,
    references: int = 1,
    segments: int | None = None,
    tokenize: Callable[[str], Sequence[str]] = str.split,
) -> Callable[[int, int], Batch]:
    """Return the function that makes a contestant's input of a repeat.

    Args:
        corpus: whose systems take turns as the hypotheses.
        references: of each segment; those past the first are the outputs of the systems next in turn. They stand in
            order of length, so that of two equally near the first is the shorter, as some peers need.
        segments: the first so many only; None for all.
        tokenize: what the length of a reference is counted with; it must not cache.
    """
    if references > len(corpus.systems):
        sys.exit(f"{references} references need as many systems beside the hypotheses: found {len(corpus.systems)}")

    def make(repeat: int, contestant: int) -> Batch:
        def turn(number: int) -> list[str]:
            return unseen(corpus.systems[number % len(corpus.systems)][:segments], repeat, contestant)

        sides = [unseen(corpus.references[:segments], repeat, contestant)]
        sides += [turn(repeat + further) for further in range(1, references)]
        by_length = [sorted(several, key=lambda line: len(tokenize(line))) for several in zip(*sides, strict=True)]
        return Batch(turn(repeat), by_length)

    return make


def time_each(
    task: str, contestants: Sequence[Contestant], fresh: Callable[[int, int], Any], options: argparse.Namespace
) -> None:
    """Check that the contestants agree, time them, and print a table; the arguments are those of :func:`seconds_of`."""
    seconds = seconds_of(task, contestants, fresh, options)
    print(f"\n### {task}\n\n{table(contestants, seconds, options.threads)}", flush=True)


def seconds_of(
    task: str, contestants: Sequence[Contestant], fresh: Callable[[int, int], Any], options: argparse.Namespace
) -> list[list[float]]:
    """Check that the contestants agree, and return the times of each.

    Args:
        task: the heading.
        contestants: the first is ours, which the others are compared with.
        fresh: from the number of the repeat and of the contestant to its input; the same but for the words that tell
            apart what has been seen.
        options: with ``repeats``, ``clock`` and ``threads``.
    """
    seconds: list[list[float]] = [[] for _ in contestants]
    clock = CLOCKS[options.clock]
    for repeat in range(options.repeats + 1):
        scores: dict[int, Any] = {}
        for turn in range(len(contestants)):
            index = (turn + repeat) % len(contestants)
            call = contestants[index].prepare(fresh(repeat, index))
            gc.collect()
            start = clock()
            scores[index] = call()
            took = clock() - start
            if repeat > 0:  # the first one checks and warms up
                seconds[index].append(took)
            del call
        check_scores(task, contestants, scores)
    return seconds


def check_scores(task: str, contestants: Sequence[Contestant], scores: dict[int, Any]) -> None:
    """End the script where a contestant's scores are not those of the first."""
    expected = np.asarray(scores[0], dtype=np.float64)
    for index, contestant in enumerate(contestants):
        if contestant.tolerance is None:
            continue
        found = np.asarray(scores[index], dtype=np.float64)
        # Written so that nan is a mismatch too.
        if found.shape != expected.shape or not (np.abs(found - expected) <= contestant.tolerance).all():
            sys.exit(
                f"{task}: {contestant.name} scores {found}, {contestants[0].name} scores {expected}: "
                f"expected the same within {contestant.tolerance}"
            )


def table(contestants: Sequence[Contestant], seconds: Sequence[Sequence[float]], threads: int) -> str:
    """Lay out medians and minima, their ratios to the first contestant's, and the goals."""
    rows = [["contestant", "median ms", "min ms", "ratio", "ratio of min", "goal", "scores equal within"]]
    ours = statistics.median(seconds[0]), min(seconds[0])
    for contestant, times in zip(contestants, seconds, strict=True):
        median, least = statistics.median(times), min(times)
        ratio = median / ours[0]
        goal = ""
        if contestant.goal is not None:
            goal = f">= {contestant.goal:g}"
            if threads == 1:
                goal += ", reached" if ratio >= contestant.goal else ", missed"
        equal = "not compared" if contestant.tolerance is None else f"{contestant.tolerance:g}"
        name = f"{contestant.name} ({contestant.note})" if contestant.note else contestant.name
        rows.append(
            [name, f"{median * 1e3:.2f}", f"{least * 1e3:.2f}", f"{ratio:.2f}", f"{least / ours[1]:.2f}", goal, equal]
        )
    return layout(rows)


def layout(rows: Sequence[Sequence[str]]) -> str:
    """Align rows as a Markdown table: the first is the heading, the first column stands left, the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        aligned = [cells[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(cells[1:], widths[1:], strict=True))]
        return f"| {' | '.join(aligned)} |"

    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join([line(rows[0]), line(rule), *map(line, rows[1:])])


def on_strings(metric: Callable[[], Any]) -> Callable[[Batch], Callable[[], float]]:
    """Time a torchmetrics class, ours or theirs, on strings."""

    def prepare(batch: Batch) -> Callable[[], float]:
        made = metric()

        def call() -> float:
            made.update(batch.hypotheses, batch.references)
            return float(made.compute())

        return call

    return prepare
