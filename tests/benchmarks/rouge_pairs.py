"""ROUGE-L of all pairs against rouge_score pair by pair.

Goal, on one thread: ROUGE-L of 1,000 x 1,000 texts, from strings to scores, at least 100 times as fast a pair as
rouge_score.

How to run: ``python tests/benchmarks/rouge_pairs.py FOLDER --threads 1``, with the group ``bench`` installed, on an
idle machine. FOLDER holds ``reference.txt`` and ``systems/*.txt``.

What it checks: rouge_score's F of the first texts against all is ours to the last bit, in every repeat. rouge_score is
run on these alone, and its time is scaled to all pairs.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable

from harness import Contestant, distinct_lines, layout, parser, read_corpus, run_pinned, seconds_of, unseen
from rouge_score.rouge_scorer import RougeScorer

from ngram_metrics import ROUGEScore, mbr

SIDE = 1000
#: The texts that rouge_score compares with all others.
SAMPLE = 2
Sides = tuple[list[str], list[str]]


def ours(sides: Sides) -> Callable[[], object]:
    own, others = sides
    metric = ROUGEScore(rouge_keys="rougeL")
    return lambda: mbr.pairwise(metric, [own], [others])[0, :SAMPLE]


def peer(sides: Sides) -> Callable[[], object]:
    own, others = sides
    scorer = RougeScorer(["rougeL"])
    return lambda: [[scorer.score(other, text)["rougeL"].fmeasure for other in others] for text in own[:SAMPLE]]


def main(options: argparse.Namespace) -> None:
    lines = distinct_lines(read_corpus(options.folder))
    if len(lines) < 2 * SIDE:
        sys.exit(f"{2 * SIDE} distinct lines are needed, the folder has {len(lines)}")

    def fresh(repeat: int, contestant: int) -> Sides:
        return unseen(lines[:SIDE], repeat, contestant), unseen(lines[SIDE : 2 * SIDE], repeat, contestant)

    task = f"ROUGE-L of {SIDE} x {SIDE} lines"
    contestants = [Contestant("ngram_metrics", ours), Contestant("rouge_score", peer, tolerance=0)]
    seconds = seconds_of(task, contestants, fresh, options)
    rows = [["", "median us a pair", "least"]]
    for contestant, times, pairs in zip(contestants, seconds, (SIDE * SIDE, SAMPLE * SIDE), strict=True):
        each = [1e6 * time / pairs for time in times]
        rows.append([contestant.name, f"{statistics.median(each):.3f}", f"{min(each):.3f}"])
    print(f"\n### {task}\n\n{layout(rows)}", flush=True)


if __name__ == "__main__":
    run_pinned(main, parser(__doc__ or ""), "rapidfuzz rouge_score")
