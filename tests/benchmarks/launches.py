"""Kernels that padded ids launch on an accelerator, counted and not timed.

How to run: ``python tests/benchmarks/launches.py``; no GPU, no data and no peer is needed. The calls run on torch's
``meta`` device, which has shapes and no data. A launch is an operation of torch that is neither a view nor new memory;
a sort counts as one. Ids are those of ``gpu.py``, and ``--rows`` does not change the launches. Of a class its
``update`` is counted, with the default average.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

import gpu
import torch
from harness import layout
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from ngram_metrics import Bleu
from ngram_metrics.functional import rouge_score

META = torch.device("meta")
WITHOUT_KERNEL = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "_unsafe_view"}


class Task(NamedTuple):
    """What is counted.

    Attributes:
        name: for the table.
        call: from hypotheses and references to the scores, or the class of a metric.
        length: tokens of a document.
        references: of each sentence.
    """

    name: str
    call: Callable[..., Any]
    length: int
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
)


class Launches(TorchDispatchMode):
    """Counts launches."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        results = function(*args, **kwargs)
        has_elements = any(leaf.numel() for leaf in tree_leaves([args, kwargs, results]) if isinstance(leaf, Tensor))
        name = function._schema.name.partition("::")[2]
        self.count += has_elements and not function.is_view and name not in WITHOUT_KERNEL
        return results


def launches(task: Task, rows: int) -> int:
    """Return the launches of one call, after the first."""
    batch = gpu.batch(0, rows, task.length, task.references, META)
    call = task.call(pad_id=gpu.PAD, device=META).update if isinstance(task.call, type) else task.call
    call(*batch)
    with Launches() as counted:
        call(*batch)
    return counted.count


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rows", type=int, default=256, help="segments of a batch (%(default)s)")
    options = arguments.parse_args()
    print(f"{options.rows} rows, vocabulary {gpu.WORDS}, torch {torch.__version__}\n")
    rows = [[task.name, f"{task.length:,} ids", f"{launches(task, options.rows):,}"] for task in TASKS]
    print(layout([["scores", "of", "launches"], *rows]))
