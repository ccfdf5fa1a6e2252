"""What scores of padded ids ask an accelerator for, counted and not timed: launches, bytes, copies, synchronizations.

How to run: ``python tests/benchmarks/launches.py``; no GPU, no data and no peer is needed, but pytest. The pretend
accelerator of the tests runs each call on the CPU and logs what is asked for. A launch is an operation of torch that
starts a kernel, a sort counted as one; bytes are its operands and results once each. Ids are those of ``gpu.py``. What
is counted does not hang on the machine, and for the scores of sentences the launches do not hang on ``--rows`` either.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import gpu
import torch
from harness import layout

from ngram_metrics import ChrF, mbr

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from pretend.device import DEVICE, accelerator
from pretend.log import Log


class Task(NamedTuple):
    """What is counted.

    Attributes:
        name: for the table.
        call: from hypotheses and references to the scores.
        length: tokens of a document.
        references: of each sentence.
    """

    name: str
    call: Callable[..., Any]
    length: int
    references: int = 1


TASKS = (
    Task("BLEU, L = 256", gpu.our_bleu, 256),
    Task("BLEU, L = 1,024", gpu.our_bleu, 1024),
    Task("BLEU, 4 references, L = 256", gpu.our_bleu, 256, 4),
    Task("BLEU, 4 references, L = 1,024", gpu.our_bleu, 1024, 4),
    Task("chrF, L = 256", gpu.our_chrf, 256),
    Task("chrF, L = 1,024", gpu.our_chrf, 1024),
    Task("ROUGE-L, L = 256", gpu.our_rouge_l, 256),
    Task("ROUGE-L, L = 1,024", gpu.our_rouge_l, 1024),
)


def counts(task: Task, rows: int) -> Log:
    """Return what one call asks for."""
    with accelerator() as log:
        batch = gpu.batch(0, rows, task.length, task.references, DEVICE)
        log.clear()
        task.call(*batch)
    return log


def pairwise(documents: int, length: int) -> Log:
    """Return what chrF of all pairs asks for."""
    with accelerator() as log:
        metric = ChrF(pad_id=gpu.PAD, device=DEVICE)
        hypotheses, references = gpu.batch(0, documents, length, 1, DEVICE)
        log.clear()
        mbr.pairwise(metric, hypotheses.unsqueeze(0), references.squeeze(1).unsqueeze(0))
    return log


def table(rows: int, documents: int) -> Iterator[list[str]]:
    """Yield the heading and the rows."""
    yield ["scores", "launches", "MB read and written", "copies", "synchronizations"]
    logs = {task.name: counts(task, rows) for task in TASKS}
    if documents:
        logs[f"chrF of {documents:,} x {documents:,} pairs, L = 256"] = pairwise(documents, 256)
    for name, log in logs.items():
        there, back, waits, launches = log.counts
        yield [name, f"{launches:,}", f"{log.moved / 1e6:,.0f}", str(there + back), str(waits)]


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rows", type=int, default=256, help="segments of a batch (%(default)s)")
    arguments.add_argument("--documents", type=int, default=1024, help="of all pairs; 0 for none (%(default)s)")
    options = arguments.parse_args()
    torch.set_num_threads(1)
    print(f"{options.rows} rows, vocabulary {gpu.WORDS}, torch {torch.__version__}\n")
    print(layout(list(table(options.rows, options.documents))))
