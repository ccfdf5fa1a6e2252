"""Two versions of this package against each other: small batches, large ones, and what a framework does with a metric.

How to run: ``python tests/benchmarks/before_and_after.py BEFORE AFTER [--rounds 9] [--only WORD]``, where BEFORE and
AFTER are checkouts, such as ``git worktree add ../before v0.1.0``. Each version runs in a process of its own. Both
processes first print what they compute for each job, and the values must be equal. Then they run the jobs in turn, so
that a busy machine slows down both. Times are CPU time on one thread; the lower quartile of the rounds is shown.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

#: The jobs of one process: it reads the name of a job from each line, runs it, and prints the time of a call.
CHILD = r"""
import copy, json, pickle, random, sys, time, warnings

sys.path.insert(0, sys.argv[1])
import torch
import torchmetrics

torch.set_num_threads(1)
warnings.simplefilter("ignore")
import ngram_metrics
from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore

assert ngram_metrics.__file__.startswith(sys.argv[1]), ngram_metrics.__file__
try:
    from ngram_metrics.ignite import drop_in as for_ignite
except ImportError:
    from ngram_metrics import ignite as for_ignite
from ngram_metrics.ignite import ChrF as IgniteChrF, NgramOverlap as IgniteOverlap, ROUGEScore as IgniteRouge

WORDS = "the cat sat on the mat and it was asleep for hours while a dog ran home".split()
draw = random.Random(0)


def text():
    return " ".join(draw.choices(WORDS, k=14))


def batch(segments):
    return [text() for _ in range(segments)], [[text()] for _ in range(segments)]


def ids(segments, width):
    generator = torch.Generator().manual_seed(segments)
    return tuple(torch.randint(1, 5000, (segments, width), generator=generator) for _ in range(2))


def cycle(metric, data):
    metric.update(*data)
    value = metric.compute()
    metric.reset()
    return value


def cycle_of_ignite(metric, data):
    metric.update(data)
    value = metric.compute()
    metric.reset()
    return value


def update(metric, data):
    metric.update(*data)


def forward(metric, data):
    return metric(*data)


def many_updates(metric, data):
    metric.reset()
    for _ in range(2000):
        metric.update(*data)


BATCHES = {segments: batch(segments) for segments in (1, 2, 4, 8, 64, 2000)}
jobs = {}
for name, metric in {"Bleu": Bleu(), "ROUGEScore": ROUGEScore(), "ChrF": ChrF()}.items():
    for segments, data in BATCHES.items():
        jobs[f"cycle {name} {segments}"] = (cycle, metric, data)
    jobs[f"forward {name} 1"] = (forward, metric, BATCHES[1])
    jobs[f"construct {name}"] = (lambda cls, data: cls() and None, type(metric), None)
    jobs[f"deepcopy {name}"] = (lambda metric, data: copy.deepcopy(metric) and None, metric, None)
    jobs[f"pickle {name}"] = (lambda metric, data: len(pickle.dumps(metric)) * 0, metric, None)
    saved = type(metric)()
    saved.persistent(True)
    jobs[f"state_dict {name}"] = (lambda metric, data: len(metric.state_dict()) * 0, saved, None)
ignite_metrics = {
    "Bleu": for_ignite.Bleu(), "ROUGEScore": IgniteRouge(), "ChrF": IgniteChrF(), "NgramOverlap": IgniteOverlap()
}
for name, metric in ignite_metrics.items():
    for segments in (1, 2, 4, 8, 64):
        jobs[f"cycle ignite {name} {segments}"] = (cycle_of_ignite, metric, BATCHES[segments])
for segments, width in ((64, 60), (256, 1024)):
    jobs[f"cycle padded {segments}x{width}"] = (cycle, Bleu(pad_id=0), ids(segments, width))
collection = torchmetrics.MetricCollection({"a": Bleu(), "b": Bleu(), "c": ChrF()})
jobs["update collection 1"] = (update, collection, BATCHES[1])
jobs["updates none 2,000"] = (many_updates, ChrF(average="none"), BATCHES[1])


def as_numbers(value):
    if isinstance(value, dict):
        return {name: float(part) for name, part in value.items()}
    return None if value is None else torch.as_tensor(value).tolist()


def timed(function, metric, data, seconds=0.04):
    if hasattr(metric, "reset"):
        metric.reset() if not isinstance(metric, type) else None
    for _ in range(2):
        function(metric, data)
    start = time.process_time()
    function(metric, data)
    calls = max(1, int(seconds / max(1e-6, time.process_time() - start)))
    start = time.process_time()
    for _ in range(calls):
        function(metric, data)
    return (time.process_time() - start) / calls * 1e6


values = {}
for name, (function, metric, data) in jobs.items():
    if "updates" not in name:
        values[name] = as_numbers(function(metric, data))
print(json.dumps(values), flush=True)
for line in sys.stdin:
    print(json.dumps(timed(*jobs[line.strip()])), flush=True)
"""


def start(checkout: str) -> subprocess.Popen[str]:
    """Start the process of one version. Threads would make CPU time depend on the other processes."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": ""}
    command = [sys.executable, "-c", CHILD, str(Path(checkout).resolve())]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def ask(process: subprocess.Popen[str], job: str) -> float:
    """Return the time of a call in microseconds."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{job}\n")
    process.stdin.flush()
    return float(json.loads(process.stdout.readline()))


def refuse_other_values(before: dict[str, object], after: dict[str, object]) -> None:
    """Exit with an error if a job gives other numbers in one of the versions."""
    if before.keys() != after.keys():
        raise SystemExit(f"the versions have other jobs: {sorted(before.keys() ^ after.keys())}")
    for name, value in before.items():
        if json.dumps(value) != json.dumps(after[name]):
            raise SystemExit(f"{name}: {value} before, and {after[name]} after")


def main() -> None:
    """Print a line for each job."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="", help="only jobs with this word")
    arguments = parser.parse_args()
    processes = {"before": start(arguments.before), "after": start(arguments.after)}
    values = {version: json.loads(process.stdout.readline()) for version, process in processes.items()}
    refuse_other_values(values["before"], values["after"])
    jobs = [*values["after"], "updates none 2,000"]
    jobs = [job for job in jobs if arguments.only in job]
    times: dict[str, dict[str, list[float]]] = {job: {"before": [], "after": []} for job in jobs}
    for _ in range(arguments.rounds):
        for job in jobs:
            for version, process in processes.items():
                times[job][version].append(ask(process, job))
    print(f"{'job':30}{'before':>12}{'after':>12}{'ratio':>8}   us of CPU time, lower quartile of {arguments.rounds}")
    for job, of_versions in times.items():
        before, after = (statistics.quantiles(of_versions[version], n=4)[0] for version in ("before", "after"))
        print(f"{job:30}{before:12.1f}{after:12.1f}{after / before:8.2f}")


if __name__ == "__main__":
    main()
