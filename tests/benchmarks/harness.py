"""What the benchmark scripts share: text nobody has seen, equal scores first, one table.

How to run: not by itself. A script hands its ``main`` and a parser from :func:`parser` to :func:`run`, and calls
:func:`time_each` for every task. They need the group ``bench``, and an idle machine or ``--clock cpu``.

What it holds a measurement to:

1. Threads: a script starts itself anew, so that OpenMP, MKL, rayon and torch are told the number of ``--threads``
   before anything is imported.
2. Order: within a repeat every contestant runs once, one after another, and each repeat starts with another contestant.
3. Caches: each repeat reads another system's output, and every line that a contestant sees in a repeat ends in a word
   that no other contestant and no other repeat has: no tokenizer's cache and no string's stored hash can be warm. The
   words are equally long and occur once a line in hypothesis and references alike, so the work and the scores are the
   same for all.
4. Objects: a contestant lays out its input and makes its metric anew before the clock starts, and garbage is
   collected; the clock runs from the input in the contestant's own form to the score.
5. Scores: in every repeat, the first of which is not timed, each score must lie within the contestant's tolerance of
   the first contestant's. A mismatch ends the script with an error. A contestant that by definition scores something
   else is timed only.

Medians, minima and ratios are reported; nothing is asserted about time. Where other processes keep the cores busy,
several threads are far slower than one, because they wait for each other actively.
"""

from __future__ import annotations

import argparse
import gc
import os
import platform
import re
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

#: What ``--clock`` names.
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


class Corpus(NamedTuple):
    """A test set and what several systems made of it; all lists are of one length."""

    references: list[str]
    systems: list[list[str]]


@dataclass(frozen=True)
class Contestant:
    """One way to a score.

    Attributes:
        name: for the table.
        prepare: from the input to a call without arguments that is timed and returns the score or scores.
        tolerance: how far a score may lie from the first contestant's; None where the definitions differ.
    """

    name: str
    prepare: Callable[[Any], Callable[[], Any]]
    tolerance: float | None = 1e-9


def parser(documentation: str, text: bool = True) -> argparse.ArgumentParser:
    """Return a parser of what all scripts take; ``text`` says whether the script reads a folder of text."""
    made = argparse.ArgumentParser(description=documentation, formatter_class=argparse.RawDescriptionHelpFormatter)
    if text:
        help_of_folder = "holds reference.txt, one segment a line, and systems/*.txt, their translations for example"
        made.add_argument("folder", type=Path, help=help_of_folder)
    made.add_argument("--threads", type=int, default=1, help="(%(default)s)")
    made.add_argument("--clock", choices=CLOCKS, default="wall", help="cpu: the time of this process (%(default)s)")
    made.add_argument("--repeats", type=int, default=7, help="timed repeats (%(default)s)")
    return made


def run(main: Callable[[argparse.Namespace], None], arguments: argparse.ArgumentParser, packages: str) -> None:
    """Say what is measured and where, and run ``main`` with the options.

    Args:
        main: takes the parsed options.
        arguments: as made by :func:`parser`.
        packages: names of the distributions whose versions are printed, apart by blanks.
    """
    options = arguments.parse_args()
    variables = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"), str(options.threads))
    if not variables.items() <= os.environ.items():
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **variables})
    torch.set_num_threads(options.threads)
    cpus = Path("/proc/cpuinfo")
    model = re.search(r"model name\s*:\s*(.+)|$", cpus.read_text() if cpus.exists() else "")[1] or platform.processor()
    print(f"{model}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {platform.python_version()}")
    print(", ".join(f"{package} {version(package)}" for package in ["torch", *packages.split()]))
    print(f"{options.threads} threads, {options.clock} time, {options.repeats} repeats", flush=True)
    main(options)


def read_corpus(folder: Path) -> Corpus:
    """Read a folder of text, or end the script and say what is expected."""
    files = [folder / "reference.txt", *sorted((folder / "systems").glob("*.txt"))]
    # Lines end at newlines only: str.splitlines would also split at rarer separators inside a segment.
    references, *systems = (file.read_text(encoding="utf-8").removesuffix("\n").split("\n") for file in files)
    if {*map(len, systems)} != {len(references)}:
        sys.exit(f"{folder}: expected systems/*.txt, each with as many lines as reference.txt")
    return Corpus(references, systems)


def unseen(lines: Sequence[str], repeat: int, contestant: int) -> list[str]:
    """End every line in a word that is only this contestant's and only this repeat's."""
    word = "zqx" + "".join(chr(97 + number // 26) + chr(97 + number % 26) for number in (repeat, contestant))
    return [f"{line} {word}" for line in lines]


def time_each(
    task: str, contestants: Sequence[Contestant], fresh: Callable[[int, int], Any], options: argparse.Namespace
) -> None:
    """Check that the contestants agree, time them, and print a table; the arguments are those of :func:`seconds_of`."""
    seconds = seconds_of(task, contestants, fresh, options)
    print(f"\n### {task}\n")
    print_heading(["contestant", "median ms", "least ms", "times ours", "equal within"])
    for contestant, times in zip(contestants, seconds, strict=True):
        milliseconds = [f"{reduce(times) * 1e3:.2f}" for reduce in (statistics.median, min)]
        ratio = f"{min(times) / min(seconds[0]):.2f}"
        print_row([contestant.name, *milliseconds, ratio, contestant.tolerance or "other score"])


def seconds_of(
    task: str, contestants: Sequence[Contestant], fresh: Callable[[int, int], Any], options: argparse.Namespace
) -> list[list[float]]:
    """Check that the contestants agree, and return the times of each.

    Args:
        task: names the comparison in an error.
        contestants: the first is ours, which the others are compared with.
        fresh: from the number of the repeat and of the contestant to its input; the same but for the words that tell
            apart what has been seen.
        options: with ``repeats`` and ``clock``.
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
        for index, contestant in enumerate(contestants):
            if contestant.tolerance is not None:
                check_scores(task, contestant, numbers_of(scores[index]), numbers_of(scores[0]))
    return seconds


def numbers_of(score: Any) -> list[float]:
    """Return the numbers of a score, of a dict in the order of its names."""
    if isinstance(score, dict):
        score = [score[name] for name in sorted(score)]
    if isinstance(score, list):
        return [number for part in score for number in numbers_of(part)]
    return np.ravel(score).tolist()  # type: ignore[no-any-return]


def check_scores(task: str, contestant: Contestant, found: list[float], expected: list[float]) -> None:
    """End the script where a contestant's scores are not those of the first."""
    # Written so that nan is a mismatch too.
    if len(found) == len(expected) and (abs(np.subtract(found, expected)) <= contestant.tolerance).all():
        return
    sys.exit(
        f"{task}: {contestant.name} scores {found[:9]}, ours {expected[:9]}: expected the same within "
        f"{contestant.tolerance}"
    )


def print_heading(cells: Sequence[str]) -> None:
    """Print the first two lines of a Markdown table."""
    print_row(cells)
    print_row(["---", *["---:"] * (len(cells) - 1)])


def print_row(cells: Sequence[object]) -> None:
    """Print a line of a Markdown table."""
    first, *others = cells
    print("|", " | ".join([f"{first:<38}", *(f"{cell:>14}" for cell in others)]), "|", flush=True)
