"""Every hypothesis against every reference, as minimum Bayes risk decoding needs it, against fastchrf and rouge_score.

How to run: ``python tests/benchmarks/all_pairs.py FOLDER``. ``--tasks`` picks some of:

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
from itertools import chain
from typing import Any

import fastchrf
import numpy as np
from harness import Contestant, parser, read_corpus, run, seconds_of, time_each, unseen
from rouge_score.rouge_scorer import RougeScorer

from ngram_metrics import ROUGEScore, functional, mbr

Groups = list[list[str]]
Sides = tuple[Groups, Groups]
SIZES = (1, 4, 16, 64, 256, 1024)
SEGMENTS, TEXTS = 600, 1024
#: The texts that rouge_score compares with all others.
SAMPLE = 2
TASKS = ("pairwise", "groups", "repetitive", "aggregate", "rougeL")


def call(function: Callable[..., Any]) -> Callable[[Sides], Callable[[], Any]]:
    """Return what prepares the call of a function with groups."""
    return lambda sides: lambda: np.asarray(function(*sides))


def our_rouge(own: Groups, others: Groups) -> Any:
    return mbr.pairwise(ROUGEScore(rouge_keys="rougeL"), own, others)[0, :SAMPLE]


def rouge_score(own: Groups, others: Groups) -> Any:
    scorer = RougeScorer(["rougeL"])
    return [[scorer.score(other, text)["rougeL"].fmeasure for other in others[0]] for text in own[0][:SAMPLE]]


def fresh_groups(own: Groups, others: Groups) -> Callable[[int, int], Sides]:
    """Return the function that makes the groups of a contestant in a repeat."""

    def make(repeat: int, contestant: int) -> Sides:
        groups = [unseen(group, repeat, contestant) for group in own]
        return groups, groups if others is own else [unseen(group, repeat, contestant) for group in others]

    return make


def fresh_repetitive(repeat: int, contestant: int) -> Sides:
    """Make one group of texts with one distinct letter each, on both sides."""
    chance = random.Random(repeat)
    own, others = ([chance.choice(string.ascii_lowercase) * chance.randint(1, 240) for _ in range(TEXTS)] for _ in "ab")
    return [own], [others]


def main(options: Any) -> None:
    corpus = read_corpus(options.folder)
    segments = list(map(list, zip(*corpus.systems, strict=True)))
    lines = list(dict.fromkeys(chain.from_iterable(segments)))
    if len(lines) < 2 * TEXTS:
        sys.exit(f"{2 * TEXTS} distinct lines are needed, the folder has {len(lines)}")

    def fresh_lines(size: int) -> Callable[[int, int], Sides]:
        return fresh_groups([lines[:size]], [lines[size : 2 * size]])

    def against_fastchrf(name: str, kind: str, fresh: Callable[[int, int], Sides]) -> None:
        ours, peer = (getattr(package, f"{kind}_chrf") for package in (functional, fastchrf))
        contestants = [Contestant("ngram_metrics", call(ours)), Contestant("fastchrf", call(peer))]
        time_each(name, contestants, fresh, options)

    for task in options.tasks:
        if task == "pairwise":
            for size in SIZES:
                against_fastchrf(f"{size} x {size}", task, fresh_lines(size))
        elif task == "groups":
            groups = segments[:SEGMENTS]
            size = len(corpus.systems)
            against_fastchrf(f"{len(groups)} groups of {size} x {size}", "pairwise", fresh_groups(groups, groups))
        elif task == "repetitive":
            against_fastchrf(f"{TEXTS} x {TEXTS}, one letter of 26", "pairwise", fresh_repetitive)
        elif task == "aggregate":
            against_fastchrf(f"{TEXTS} x the aggregate of {TEXTS} others", task, fresh_lines(TEXTS))
        else:
            contestants = [
                Contestant("ngram_metrics", call(our_rouge)),
                Contestant("rouge_score", call(rouge_score), 0),
            ]
            ours, theirs = map(min, seconds_of("ROUGE-L", contestants, fresh_lines(1000), options))
            print(f"\nROUGE-L, 1,000 x 1,000: {ours:.2f} s, {theirs / SAMPLE * 1000 / ours:.0f} times as fast a pair")


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--tasks", nargs="+", choices=TASKS, default=TASKS, help="(all)")
    run(main, arguments, "fastchrf rapidfuzz rouge_score")
