"""Every hypothesis against every reference, as minimum Bayes risk decoding needs it, against fastchrf on real text.

Goal: from strings to chrF scores, on one thread, 1,024 x 1,024 at least 8 times as fast as fastchrf, 600 groups of
16 x 16 at least 4 times, the aggregate of 1,024 as fast, and 1 to 16 lines at least half as fast.

How to run: ``python tests/benchmarks/all_pairs.py FOLDER``, with the group ``bench`` installed, on an idle machine.
FOLDER holds ``reference.txt`` and ``systems/*.txt``. ``--tasks`` picks some of:

    small       n distinct lines against n others, themselves and the aggregate of n others, and the best of n, n = 1,
                2, 3, 4, 8, ... 64. Calls are timed one after another, of 64 hypotheses in all
    pairwise    n distinct lines of all systems against n others, n = 64, 128, ... 1,024
    groups      the outputs of all systems for a segment against each other, 600 segments
    repetitive  n = 1,024 texts of few distinct characters, repeated phrases or nearly equal sentences, at least 2 times
    aggregate   n = 1,024 against the aggregate of n others

Ours are what a user calls, ``pairwise_chrf``, ``aggregate_chrf`` and ``mbr.decode``, whose peer is the line with the
highest mean of fastchrf's scores.

What it checks: the scores agree with fastchrf's within 1e-9 of 0..100, in every repeat.
"""

from __future__ import annotations

import random
import string
import sys
from collections.abc import Callable
from typing import Any

import fastchrf
import numpy as np
from harness import Contestant, Corpus, distinct_lines, parser, read_corpus, run_pinned, time_each, unseen

from ngram_metrics import ChrF, functional, mbr

Groups = list[list[str]]
SMALL_SIZES = (1, 2, 3, 4, 8, 16, 32, 64)
SIZES = (64, 128, 256, 512, 1024)
SEGMENTS = 600
METRIC = ChrF()
TASKS = ("small", "pairwise", "groups", "repetitive", "aggregate")


def ours_pairwise(groups: tuple[Groups, Groups]) -> Callable[[], Any]:
    return lambda: functional.pairwise_chrf(*groups).numpy()


def ours_aggregate(groups: tuple[Groups, Groups]) -> Callable[[], Any]:
    return lambda: functional.aggregate_chrf(*groups).numpy()


def one_after_another(function: Callable[..., Any]) -> Callable[[list[tuple[Groups, Groups]]], Callable[[], Any]]:
    """Return what prepares the calls of a function with several groups."""
    return lambda calls: lambda: [np.asarray(function(*groups)) for groups in calls]


def with_themselves(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda hypotheses, _: function(hypotheses, [list(row) for row in hypotheses])


def our_best(hypotheses: Groups, _: Groups) -> Any:
    """Return the expected utility of the line that MBR decoding chooses."""
    return 100 * mbr.decode(METRIC, hypotheses).expected_utilities


def their_best(hypotheses: Groups, _: Groups) -> Any:
    """Return the mean score of the line that has the highest."""
    means = np.asarray(fastchrf.pairwise_chrf(hypotheses, hypotheses)).mean(-1)
    return np.take_along_axis(means, means.argmax(-1)[:, None], -1)[:, 0]


def theirs(function: Callable[..., Any]) -> Callable[[tuple[Groups, Groups]], Callable[[], Any]]:
    return lambda groups: lambda: function(*groups)


#: What is timed with small sizes: ours and the peer.
SMALL = {
    "x as many others": (functional.pairwise_chrf, fastchrf.pairwise_chrf),
    "x themselves": (with_themselves(functional.pairwise_chrf), with_themselves(fastchrf.pairwise_chrf)),
    "x the aggregate of as many others": (functional.aggregate_chrf, fastchrf.aggregate_chrf),
    "samples, the best": (our_best, their_best),
}


def fresh_lines(lines: list[str], size: int) -> Callable[[int, int], tuple[Groups, Groups]]:
    """Return the function that makes one group of ``size`` hypotheses, and as many references."""
    if len(lines) < 2 * size:
        sys.exit(f"{2 * size} distinct lines are needed, the folder has {len(lines)}")

    def make(repeat: int, contestant: int) -> tuple[Groups, Groups]:
        own, others = (unseen(part, repeat, contestant) for part in (lines[:size], lines[size : 2 * size]))
        return [own], [others]

    return make


def fresh_calls(lines: list[str], size: int) -> Callable[[int, int], list[tuple[Groups, Groups]]]:
    """Return the function that makes the groups of ``fresh_lines`` for as many calls as make the largest size."""
    calls = max(SMALL_SIZES) // size
    makers = [fresh_lines(lines[2 * size * call :], size) for call in range(calls)]
    return lambda repeat, contestant: [make(repeat, contestant) for make in makers]


def fresh_segments(corpus: Corpus) -> Callable[[int, int], tuple[Groups, Groups]]:
    """Return the function that makes a group of each segment, all systems' outputs on both sides."""

    def make(repeat: int, contestant: int) -> tuple[Groups, Groups]:
        systems = [unseen(lines[:SEGMENTS], repeat, contestant) for lines in corpus.systems]
        groups = [list(several) for several in zip(*systems, strict=True)]
        return groups, groups

    return make


def _phrase(chance: random.Random) -> str:
    return (chance.choice(["the cat sat ", "on the mat ", "very ", "again and again ", "ha "]) * 40)[: _length(chance)]


def _nearly_equal(chance: random.Random) -> str:
    text = list("the committee therefore proposes that the member states should adopt the measures which are necessary")
    for _ in range(2):
        text[chance.randrange(len(text))] = chance.choice("abcdefghij")
    return "".join(text)


def _length(chance: random.Random) -> int:
    return chance.randint(100, 140)


#: Texts with few distinct n-grams, each of which many documents have, often or in turn.
REPETITIVE: dict[str, Callable[[random.Random], str]] = {
    "one letter, 1 to 240 times": lambda chance: "a" * chance.randint(1, 240),
    "one letter, 1 to 5,000 times": lambda chance: "a" * chance.randint(1, 5000),
    "one letter of 26, 1 to 240 times": lambda chance: chance.choice(string.ascii_lowercase) * chance.randint(1, 240),
    "abab...": lambda chance: ("ab" * 70)[: _length(chance)],
    "2 letters at random": lambda chance: "".join(chance.choices("ab", k=_length(chance))),
    "4 letters at random": lambda chance: "".join(chance.choices("abcd", k=_length(chance))),
    "a repeated phrase": _phrase,
    "nearly equal sentences": _nearly_equal,
}


def fresh_repetitive(make: Callable[[random.Random], str]) -> Callable[[int, int], tuple[Groups, Groups]]:
    """Return the function that makes one group of new texts on both sides."""

    def fresh(repeat: int, contestant: int) -> tuple[Groups, Groups]:
        chance = random.Random(repeat)
        return [[make(chance) for _ in range(SIZES[-1])]], [[make(chance) for _ in range(SIZES[-1])]]

    return fresh


def contestants(kind: str, goal: float | None) -> list[Contestant]:
    ours, peer = {
        "pairwise": (ours_pairwise, fastchrf.pairwise_chrf),
        "aggregate": (ours_aggregate, fastchrf.aggregate_chrf),
    }[kind]
    return [Contestant("ngram_metrics", ours), Contestant(f"fastchrf.{kind}_chrf", theirs(peer), goal=goal)]


def main(options: Any) -> None:
    corpus = read_corpus(options.folder)
    lines = distinct_lines(corpus)
    measured: list[tuple[str, str, Callable[[int, int], Any], float | None]] = []
    tasks = options.tasks.split(",")
    if "small" in tasks:
        for name, (ours, peer) in SMALL.items():
            for size in SMALL_SIZES:
                against = [Contestant("ngram_metrics", one_after_another(ours))]
                against.append(Contestant("fastchrf", one_after_another(peer), goal=0.5))
                time_each(f"{size} {name}", against, fresh_calls(lines, size), options)
    if "pairwise" in tasks:
        for size in SIZES:
            name = f"{size} x {size}, distinct lines"
            measured.append((name, "pairwise", fresh_lines(lines, size), 8 if size == SIZES[-1] else None))
    if "groups" in tasks:
        name = f"{SEGMENTS} groups of {len(corpus.systems)} x {len(corpus.systems)}"
        measured.append((name, "pairwise", fresh_segments(corpus), 4))
    if "repetitive" in tasks:
        for name, make in REPETITIVE.items():
            measured.append((f"{SIZES[-1]} x {SIZES[-1]}, {name}", "pairwise", fresh_repetitive(make), 2))
    if "aggregate" in tasks:
        size = SIZES[-1]
        measured.append((f"{size} x aggregate of {size} others", "aggregate", fresh_lines(lines, size), 1))
    for name, kind, fresh, goal in measured:
        time_each(name, contestants(kind, goal), fresh, options)


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--tasks", default=",".join(TASKS), help="apart by commas (%(default)s)")
    if unknown := set(arguments.parse_args().tasks.split(",")) - set(TASKS):
        arguments.error(f"--tasks has {sorted(unknown)}: expected some of {', '.join(TASKS)}")
    run_pinned(main, arguments, "fastchrf")
