"""Every hypothesis against every reference, as minimum Bayes risk decoding needs it, against fastchrf and rouge_score.

Goal, from strings to scores on one thread: chrF of 1,024 x 1,024 at least 8 times as fast as fastchrf, of 600 groups of
16 x 16 at least 4 times, of the aggregate of 1,024 as fast, of 1 to 16 lines at least half as fast; ROUGE-L of
1,000 x 1,000 at least 100 times as fast a pair as rouge_score.

How to run: ``python tests/benchmarks/all_pairs.py FOLDER``, with the group ``bench`` installed, on an idle machine.
FOLDER holds ``reference.txt`` and ``systems/*.txt``. ``--tasks`` picks some of:

    pairwise    n distinct lines of all systems against n others, n = 1, 4, 16, ... 1,024
    groups      the outputs of all systems for a segment against each other, 600 segments
    repetitive  1,024 texts of one letter of 26, repeated 1 to 240 times: fastchrf's best case
    aggregate   1,024 against the aggregate of 1,024 others
    rougeL      1,000 against 1,000; rouge_score scores the pairs of two of them, and its time is scaled to all

What it checks, in every repeat: chrF agrees with fastchrf's within 1e-9 of 0..100, ROUGE-L with rouge_score's to the
last bit.
"""

from __future__ import annotations

import random
import string
import sys
from collections.abc import Callable
from typing import Any

import fastchrf
import numpy as np
from harness import Contestant, distinct_lines, parser, read_corpus, run_pinned, seconds_of, time_each, unseen
from rouge_score.rouge_scorer import RougeScorer

from ngram_metrics import ROUGEScore, functional, mbr

Groups = list[list[str]]
Sides = tuple[Groups, Groups]
SIZES = (1, 4, 16, 64, 256, 1024)
GOALS = {1: 0.5, 4: 0.5, 16: 0.5, 1024: 8}
SEGMENTS = 600
#: The texts that rouge_score compares with all others.
SAMPLE = 2
TASKS = ("pairwise", "groups", "repetitive", "aggregate", "rougeL")


def call(function: Callable[..., Any]) -> Callable[[Sides], Callable[[], Any]]:
    """Return what prepares the call of a function with groups."""
    return lambda sides: lambda: np.asarray(function(*sides))


def our_rouge(sides: Sides) -> Callable[[], Any]:
    metric = ROUGEScore(rouge_keys="rougeL")
    return lambda: mbr.pairwise(metric, *sides)[0, :SAMPLE].numpy()


def rouge_score(sides: Sides) -> Callable[[], Any]:
    scorer, ((own,), (others,)) = RougeScorer(["rougeL"]), sides
    return lambda: [[scorer.score(other, text)["rougeL"].fmeasure for other in others] for text in own[:SAMPLE]]


def fresh_lines(lines: list[str], size: int) -> Callable[[int, int], Sides]:
    """Return the function that makes one group of ``size`` hypotheses, and as many references."""
    if len(lines) < 2 * size:
        sys.exit(f"{2 * size} distinct lines are needed, the folder has {len(lines)}")

    def make(repeat: int, contestant: int) -> Sides:
        own, others = (unseen(part, repeat, contestant) for part in (lines[:size], lines[size : 2 * size]))
        return [own], [others]

    return make


def fresh_segments(systems: list[list[str]]) -> Callable[[int, int], Sides]:
    """Return the function that makes a group of each segment, all systems' outputs on both sides."""

    def make(repeat: int, contestant: int) -> Sides:
        turned = [unseen(lines[:SEGMENTS], repeat, contestant) for lines in systems]
        groups = [list(several) for several in zip(*turned, strict=True)]
        return groups, groups

    return make


def fresh_repetitive(repeat: int, contestant: int) -> Sides:
    """Make one group of texts with one distinct letter each, on both sides."""
    chance = random.Random(repeat)
    own, others = (
        [chance.choice(string.ascii_lowercase) * chance.randint(1, 240) for _ in range(SIZES[-1])] for _ in "ab"
    )
    return [own], [others]


def main(options: Any) -> None:
    corpus = read_corpus(options.folder)
    lines, most = distinct_lines(corpus), SIZES[-1]

    def against_fastchrf(name: str, kind: str, fresh: Callable[[int, int], Sides], goal: float | None) -> None:
        ours, peer = (getattr(package, f"{kind}_chrf") for package in (functional, fastchrf))
        contestants = [Contestant("ngram_metrics", call(ours)), Contestant("fastchrf", call(peer), goal=goal)]
        time_each(name, contestants, fresh, options)

    for task in options.tasks.split(","):
        if task == "pairwise":
            for size in SIZES:
                against_fastchrf(f"{size} x {size}", task, fresh_lines(lines, size), GOALS.get(size))
        elif task == "groups":
            name = f"{SEGMENTS} groups of {len(corpus.systems)} x {len(corpus.systems)}"
            against_fastchrf(name, "pairwise", fresh_segments(corpus.systems), 4)
        elif task == "repetitive":
            against_fastchrf(f"{most} x {most}, one letter of 26", "pairwise", fresh_repetitive, None)
        elif task == "aggregate":
            against_fastchrf(f"{most} x the aggregate of {most} others", task, fresh_lines(lines, most), 1)
        else:
            contestants = [Contestant("ngram_metrics", our_rouge), Contestant("rouge_score", rouge_score, 0)]
            ours, theirs = map(min, seconds_of("ROUGE-L", contestants, fresh_lines(lines, 1000), options))
            print(f"\nROUGE-L, 1,000 x 1,000: {ours:.2f} s, {theirs / SAMPLE * 1000 / ours:.0f} times as fast a pair")


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--tasks", default=",".join(TASKS), help="apart by commas (%(default)s)")
    if unknown := set(arguments.parse_args().tasks.split(",")) - set(TASKS):
        arguments.error(f"--tasks has {sorted(unknown)}: expected some of {', '.join(TASKS)}")
    run_pinned(main, arguments, "fastchrf rapidfuzz rouge_score")
