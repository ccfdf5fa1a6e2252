"""What padded ids and texts ask an accelerator for, counted and not timed: launches, bytes, copies, synchronizations.

How to run: ``python tests/benchmarks/launches.py``; no GPU, no data and no peer is needed, but pytest. The pretend
accelerator of the tests runs each call on the CPU and logs what is asked for. A launch is an operation of torch that
starts a kernel, a sort counted as one; bytes are its operands and results once each. Ids are those of ``gpu.py``. What
is counted does not hang on the machine, and for the scores of sentences the launches do not hang on ``--rows`` either.
Of a class its ``update`` is counted, with the default average.
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
from torch import Tensor

from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore, mbr
from ngram_metrics.functional import rouge_score

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from pretend.device import DEVICE, accelerator
from pretend.log import Log


class Task(NamedTuple):
    """What is counted.

    Attributes:
        name: for the table.
        call: from hypotheses and references to the scores, or the class of a metric.
        length: tokens of a document; None for texts.
        references: of each sentence.
    """

    name: str
    call: Callable[..., Any]
    length: int | None
    references: int = 1


def rouge(preds: Tensor, target: Tensor) -> Any:
    return rouge_score(preds, target, rouge_keys=("rouge1", "rouge2"), average="none", pad_id=gpu.PAD)


TASKS = (
    Task("BLEU", gpu.our_bleu, 256),
    Task("BLEU", gpu.our_bleu, 1024),
    Task("BLEU, 4 references", gpu.our_bleu, 256, 4),
    Task("BLEU, 4 references", gpu.our_bleu, 1024, 4),
    Task("`Bleu.update`", Bleu, 256),
    Task("`Bleu.update`, 4 references", Bleu, 256, 4),
    Task("chrF", gpu.our_chrf, 256),
    Task("chrF", gpu.our_chrf, 1024),
    Task("chrF, 4 references", gpu.our_chrf, 256, 4),
    Task("ROUGE-1 and -2", rouge, 256),
    Task("ROUGE-L", gpu.our_rouge_l, 256),
    Task("ROUGE-L", gpu.our_rouge_l, 1024),
    *(Task(f"`{metric.__name__}.update`", metric, None) for metric in (Bleu, ROUGEScore, ChrF, NgramOverlap)),
)
TEXTS = [f"sentence {number} of the cats that sat on the mat" for number in range(32)]


def counts(task: Task, rows: int) -> Log:
    """Return what one call asks for, after the first."""
    with accelerator() as log:
        ids = task.length and gpu.batch(0, rows, task.length, task.references, DEVICE)
        batch = ids or (TEXTS, TEXTS[::-1])
        call = task.call(pad_id=gpu.PAD, device=DEVICE).update if isinstance(task.call, type) else task.call
        call(*batch)
        log.clear()
        call(*batch)
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
    yield ["scores", "of", "launches", "MB read and written", "copies", "synchronizations"]
    logs = [(task.name, task.length, counts(task, rows)) for task in TASKS]
    if documents:
        logs.append((f"chrF of {documents:,} x {documents:,} pairs", 256, pairwise(documents, 256)))
    for name, length, log in logs:
        there, back, waits, launches = log.counts
        of = f"{length:,} ids" if length else f"{len(TEXTS)} texts"
        yield [name, of, f"{launches:,}", f"{log.moved / 1e6:,.0f}", str(there + back), str(waits)]


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rows", type=int, default=256, help="segments of a batch (%(default)s)")
    arguments.add_argument("--documents", type=int, default=1024, help="of all pairs; 0 for none (%(default)s)")
    options = arguments.parse_args()
    torch.set_num_threads(1)
    print(f"{options.rows} rows, vocabulary {gpu.WORDS}, torch {torch.__version__}\n")
    print(layout(list(table(options.rows, options.documents))))
