"""Scores of rows from columns of counts, against a loop over sacrebleu's functions for sentences.

Such a loop is what NVIDIA's NeMo Curator runs over the rows of a batch: ``sacrebleu.sentence_bleu`` or
``sentence_chrf``, each of which makes a metric object. It gives a score for each row, of which no score of a group can
be made.

Goal, on one thread, for 2,000 rows: BLEU at least 20 times as fast, chrF at least 30 times.

How to run: ``python tests/benchmarks/columns.py FOLDER --threads 1 --clock cpu``, with the group ``bench`` and the
extra ``columns`` installed. FOLDER holds ``reference.txt`` and ``systems/*.txt``. ``--tasks`` picks some of:

    rows        (a) a pyarrow table of 2,000 rows to the score of each row
    million     (b) a table of ``--size`` rows, with BLEU and chrF: throughput, and peak memory above the table

What it checks: in (a) the score of every row agrees in every repeat, within 1e-12. In (b), which runs in processes of
its own, the sums by group of all ways agree to the last bit.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow
import sacrebleu
from harness import CLOCKS, Batch, Contestant, fresh_batch, layout, parser, read_corpus, run_pinned, time_each

from ngram_metrics import Bleu, ChrF
from ngram_metrics.columns import StatisticsColumns

#: With effective order, as sacrebleu scores sentences.
METRICS: dict[str, Callable[[], Any]] = {"bleu": lambda: Bleu(effective_order=True), "chrf": ChrF}
PEERS: dict[str, Callable[..., Any]] = {"bleu": sacrebleu.sentence_bleu, "chrf": sacrebleu.sentence_chrf}
GOALS = {"bleu": 20.0, "chrf": 30.0}
#: Rows in a batch of an engine.
BATCH = 10_000
WAYS = ("columns", "sums", "batches")


def with_columns(name: str) -> Callable[[Batch], Callable[[], list[float]]]:
    """Return the contestant of this package, from a table."""

    def prepare(batch: Batch) -> Callable[[], list[float]]:
        table = pyarrow.table({"mt": batch.hypotheses, "ref": [one for (one,) in batch.references]})
        # Made once for each worker, and not for each batch.
        columns = StatisticsColumns({name: METRICS[name]()}, preds="mt", target="ref")
        return lambda: columns.scores(columns(table))[name].to_pylist()

    return prepare


def with_loop(name: str) -> Callable[[Batch], Callable[[], list[float]]]:
    """Return the loop over sacrebleu, from lists of str."""

    def prepare(batch: Batch) -> Callable[[], list[float]]:
        peer = PEERS[name]
        pairs = list(zip(batch.hypotheses, batch.references, strict=True))
        return lambda: [peer(hypothesis, references).score / 100 for hypothesis, references in pairs]

    return prepare


def time_rows(options: argparse.Namespace) -> None:
    """Task (a)."""
    fresh = fresh_batch(read_corpus(options.folder))
    for name, goal in GOALS.items():
        ours = Contestant("columns, then scores", with_columns(name))
        loop = Contestant(f"loop of sentence_{name}", with_loop(name), tolerance=1e-12, goal=goal)
        time_each(f"{name}, score of each row", [ours, loop], fresh, options)


def large_table(options: argparse.Namespace) -> pyarrow.Table:
    """Return a table of the outputs of all systems, again and again, each row with another word at the end."""
    corpus = read_corpus(options.folder)
    pairs = [pair for system in corpus.systems for pair in zip(system, corpus.references, strict=True)]

    def some(first: int) -> pyarrow.RecordBatch:
        rows = [(*pairs[row % len(pairs)], row) for row in range(first, min(first + BATCH, options.size))]
        sides = [[f"{pair[side]} {pair[2]}" for pair in rows] for side in (0, 1)]
        groups = pyarrow.array([row // 100 % 96 for *_, row in rows])
        return pyarrow.RecordBatch.from_arrays([*map(pyarrow.array, sides), groups], ["mt", "ref", "group"])

    return pyarrow.Table.from_batches([some(first) for first in range(0, options.size, BATCH)])


def count(way: str, columns: StatisticsColumns, table: pyarrow.Table) -> pyarrow.Table:
    """Return the sums by group: of the table with all columns, of it without, or of the sums of its batches."""
    if way == "sums":
        return columns.sums(table, by="group")
    if way == "batches":
        table = pyarrow.Table.from_batches([columns.sums(batch, by="group") for batch in table.to_batches()])
    else:
        table = columns(table)
    return table.group_by("group").aggregate([(name, "sum") for name in columns.names])


def count_alone(options: argparse.Namespace) -> None:
    """Count in one way, and print seconds, peak memory in MiB, and the scores."""
    columns = StatisticsColumns({name: make() for name, make in METRICS.items()}, preds="mt", target="ref")
    table = large_table(options)
    columns(table.slice(0, 10))  # what is made once
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = CLOCKS[options.clock]()
    sums = count(options.way, columns, table)
    took = CLOCKS[options.clock]() - start
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10
    print(took, peak, columns.scores(sums).sort_by("group").to_pydict())


def time_million(options: argparse.Namespace) -> None:
    """Task (b)."""

    def measured() -> Iterator[tuple[str, str, str, str]]:
        for way in WAYS:
            command = [sys.executable, __file__, str(options.folder), "--way", way, "--size", str(options.size)]
            command += ["--clock", options.clock, "--threads", str(options.threads)]
            printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            yield (way, *printed.splitlines()[-1].split(" ", 2))

    found = list(measured())
    if len({scores for *_, scores in found}) > 1:
        sys.exit("the ways to sum by group differ: expected equal scores")
    rows: Iterable[list[str]] = (
        [way, f"{float(took):.1f}", f"{options.size / float(took):,.0f}", f"{int(peak):,}"]
        for way, took, peak, _ in found
    )
    heading = ["way", "seconds", "rows per second", "peak above the table, MiB"]
    print(f"\n### {options.size:,} rows, BLEU and chrF, 96 groups\n\n{layout([heading, *rows])}", flush=True)


TASKS = {"rows": time_rows, "million": time_million}


def main(options: argparse.Namespace) -> None:
    """Run the tasks that were asked for."""
    if options.way:
        count_alone(options)
        return
    for name in options.tasks.split(","):
        TASKS[name](options)


if __name__ == "__main__":
    arguments = parser(__doc__ or "")
    arguments.add_argument("--tasks", default=",".join(TASKS), help="some of %(default)s")
    arguments.add_argument("--size", type=int, default=1_000_000, help="rows of the large table (%(default)s)")
    arguments.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    run_pinned(main, arguments, "sacrebleu pyarrow")
