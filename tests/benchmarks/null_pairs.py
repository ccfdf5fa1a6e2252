"""How often the tests of all pairs call systems different that differ by chance alone, and the time of many systems.

Goal: with randomization, of 2,000 runs at most .06 have p < .05 for one pair without correction, and at most .06 have
any with Holm's; 24 systems of 20 segments take at most 3 s of CPU time, and 100 of 1,000, half of whose pairs differ,
5 minutes.

How to run: ``python tests/benchmarks/null_pairs.py FOLDER``. FOLDER holds ``reference.txt`` and ``systems/*.txt``, one
segment a line. ``--systems 2,34``, ``--metrics overlap`` and ``--runs``, 0 for none, say what is simulated, and
``--times`` adds the times. It takes an hour.

A run draws 100 segments, and deals each system one of the folder's outputs for each segment, so that no system is
better. The systems of the times have 5 % of the words of the first output changed, or 9 %.
"""

import argparse
import random
import time
from pathlib import Path

import torch
from harness import read_corpus
from ngram_metrics.significance.comparisons import compare_all_pairs
from ngram_metrics.significance.p_values import holm
from ngram_metrics.significance.paired_systems import pair_rows
from torch import Tensor

from ngram_metrics import evaluate
from ngram_metrics._evaluation.evaluate_arguments import checked_scorers

METRICS = "bleu,chrf"
SEGMENTS, LEVEL = 100, 0.05


def simulate(metrics: str, rows: list[Tensor], systems: int, runs: int) -> None:
    """Print the shares from the counts of each metric, ``(outputs, segments, fields)``."""
    scorers = checked_scorers(metrics)
    generator = torch.Generator().manual_seed(systems)
    names = [str(system) for system in range(systems)]
    found = {value: [0, 0] for value in scorers}
    for seed in range(runs):
        segments = torch.randint(rows[0].shape[1], (SEGMENTS,), generator=generator)
        dealt = torch.randint(len(rows[0]), (systems, SEGMENTS), generator=generator)
        tested = [
            pair_rows(scorer, list(counts[dealt, segments]), None)
            for scorer, counts in zip(scorers.values(), rows, strict=True)
        ]
        for matrix in compare_all_pairs(tested, names, "randomization", None, seed):
            for value, table in matrix.items():
                chances = [table[one][other] for one in names for other in names if one < other]
                found[value][0] += table["0"]["1"] < LEVEL
                found[value][1] += holm(torch.tensor(chances)).min().item() < LEVEL
    for value, (one, any_pair) in found.items():
        shares = f"one pair {one / runs:.4f}, any pair with Holm's correction {any_pair / runs:.4f}"
        print(f"{value}, {systems} systems, p < {LEVEL} in {runs} runs: {shares}", flush=True)


def changed(line: str, share: float, chance: random.Random) -> str:
    return " ".join("xx" if chance.random() < share else word for word in line.split(" "))


def measure(lines: list[str], references: list[str], systems: int, segments: int) -> None:
    chance = random.Random(1)
    outputs = {
        str(system): [changed(line, 0.05 + 0.04 * (system % 2), chance) for line in lines[:segments]]
        for system in range(systems)
    }
    found = evaluate(outputs, references[:segments], METRICS, confidence=None)
    begin = time.process_time()
    pairs = found.pairs
    seconds = time.process_time() - begin
    chances = [chance for table in pairs.values() for row in table.values() for chance in row.values()]
    share = sum(chance < LEVEL for chance in chances) / len(chances)
    draws = sum(chance.draws for chance in chances) / len(chances)
    print(
        f"{systems} systems x {segments} segments: {seconds:.2f} s of CPU time, {share:.2f} of the pairs differ,",
        end="",
    )
    print(f" {draws:.0f} draws for a pair")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--systems", default="2,8,34", help="apart by commas (%(default)s)")
    parser.add_argument("--metrics", default=METRICS, help="of the simulation, apart by commas (%(default)s)")
    parser.add_argument("--runs", type=int, default=2000, help="of each number of systems (%(default)s)")
    parser.add_argument("--times", action="store_true", help="measure times, too")
    options = parser.parse_args()
    torch.set_num_threads(1)
    references, outputs = read_corpus(options.folder)
    if options.times:
        for systems, segments in ((12, 20), (24, 20), (24, 1000), (100, 1000)):
            measure(outputs[0], references, systems, segments)
    if options.runs:
        counted = evaluate(dict(enumerate(outputs)), references, options.metrics, confidence=None)._systems.values()
        rows = [torch.stack([counts.segment_rows() for counts in metric]) for metric in zip(*counted, strict=True)]
        for systems in map(int, options.systems.split(",")):
            simulate(options.metrics, rows, systems, options.runs)


if __name__ == "__main__":
    main()
