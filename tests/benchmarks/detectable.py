"""The differences that a test set of some size can show, and how often a test finds them.

Goal: the table of ``docs/concepts/differences.md``. It prints, for each number of segments, the mean and range of the
smallest detectable differences of all systems from the first, on random parts of the test set, and the power: how often
a bootstrap test of that many segments, drawn from all, has p < .05 for those four pairs of systems whose difference is
nearest to the detectable one.

How to run: ``python tests/benchmarks/detectable.py FOLDER``. FOLDER holds ``reference.txt`` and ``systems/*.txt``, one
segment a line. It takes minutes, and its numbers do not depend on the machine.
"""

import argparse
from itertools import combinations
from pathlib import Path
from statistics import mean

import torch
from harness import read_corpus
from ngram_metrics.significance.comparisons import Differences, compare_with_first
from ngram_metrics.significance.paired_systems import pair_rows
from torch import Tensor

from ngram_metrics import evaluate
from ngram_metrics._core.scoring.scorer import Scorer

SIZES = (100, 300, 500, 1000, 2000)
PARTS, PAIRS, REPEATS = 10, 4, 150


def compare(scorer: Scorer, rows: list[Tensor], test: str | None, seed: int) -> Differences:
    """Compare systems with the first, from the counts of their segments."""
    level = 0.95 if test is None else None
    (differences,) = compare_with_first([pair_rows(scorer, rows, None)], test, None, level, seed)
    return differences


def measure(name: str, scorer: Scorer, rows: list[Tensor]) -> None:
    generator = torch.Generator().manual_seed(1)
    count = len(rows[0])
    scores = [scorer.scores(system_rows.sum(0)).item() for system_rows in rows]
    errors = {
        pair: compare(scorer, [rows[system] for system in pair], None, 12345).standard_error.item()
        for pair in combinations(range(len(rows)), 2)
    }
    for size in filter(lambda size: size <= count, SIZES):
        detectable: list[float] = []
        for _ in range(PARTS if size < count else 1):
            part = torch.randperm(count, generator=generator)[:size]
            differences = compare(scorer, [system_rows[part] for system_rows in rows], None, 12345)
            detectable += (280 * differences.standard_error).tolist()
        wanted = {pair: 2.8 * error * (count / size) ** 0.5 for pair, error in errors.items()}
        nearest = sorted(errors, key=lambda pair: abs(abs(scores[pair[0]] - scores[pair[1]]) / wanted[pair] - 1))
        is_found = [
            compare(scorer, [rows[system][drawn] for system in pair], "bootstrap", seed).p_value.item() < 0.05
            for pair in nearest[:PAIRS]
            for seed in range(REPEATS)
            for drawn in [torch.randint(count, (size,), generator=generator)]
        ]
        spread = f"{mean(detectable):.2f} ({min(detectable):.2f} to {max(detectable):.2f})"
        print(f"{name} {size:5}: {spread}, power {mean(is_found):.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    torch.set_num_threads(1)
    references, systems = read_corpus(parser.parse_args().folder)
    found = evaluate(dict(enumerate(systems)), references, "bleu,chrf", confidence=None)
    for index, name in enumerate(("bleu", "chrf")):
        counts = [system_counts[index] for system_counts in found._systems.values()]
        measure(name, counts[0].scorer, [each.segment_rows() for each in counts])


if __name__ == "__main__":
    main()
