"""Kernels that padded ids launch on an accelerator, and the bytes that they move, counted and not timed.

How to run: ``python tests/benchmarks/launches.py``; no GPU, no data and no peer is needed. The calls run on torch's
``meta`` device, which has shapes and no data. A launch is an operation of torch that is neither a view nor new memory;
a sort counts as one. It moves the bytes of its operands and results. ``--rows`` does not change the launches. Of a
class its ``update`` is counted, with the default average.
"""

from __future__ import annotations

import argparse
import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from harness import print_heading, print_row
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from ngram_metrics import Bleu
from ngram_metrics.functional import bleu_score, chrf_score, rouge_score

META = torch.device("meta")
WITHOUT_KERNEL = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "_unsafe_view"}
WORDS, PAD = 32_000, 0


def draw_ids(seed: int, segments: int, length: int, references: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Draw full rows whose ids follow Zipf's law; three tokens in ten of a reference are drawn anew."""
    generator = torch.Generator().manual_seed(seed)
    shape = segments, references + 1, length
    ids = (WORDS ** torch.rand(shape, generator=generator)).long()
    is_new = torch.rand(shape, generator=generator) < 0.3
    hypotheses = ids[:, 0]
    return hypotheses.to(device), ids.where(is_new, hypotheses.unsqueeze(1))[:, 1:].to(device)


each_segment: dict[str, Any] = {"average": "none", "pad_id": PAD}
bleu = functools.partial(bleu_score, smooth="floor", effective_order=False, **each_segment)
chrf = functools.partial(chrf_score, **each_segment)
rouge = functools.partial(rouge_score, rouge_keys=("rouge1", "rouge2"), **each_segment)


def rouge_l(preds: Tensor, target: Tensor) -> Tensor:
    return rouge_score(preds, target, rouge_keys="rougeL", **each_segment)["rougeL_fmeasure"]


class Task(NamedTuple):
    """What is counted: a call that scores, or the class of a metric, for documents of so many tokens."""

    name: str
    call: Callable[..., Any]
    length: int
    references: int = 1

    def prepare(self, rows: int, device: torch.device) -> Callable[[], Any]:
        """Return the call with its batch on a device."""
        batch = draw_ids(0, rows, self.length, self.references, device)
        call = self.call(pad_id=PAD, device=device).update if isinstance(self.call, type) else self.call
        return functools.partial(call, *batch)


TASKS = (
    Task("BLEU", bleu, 256),
    Task("BLEU", bleu, 1024),
    Task("BLEU, 4 references", bleu, 256, 4),
    Task("BLEU, 4 references", bleu, 1024, 4),
    Task("`Bleu.update`", Bleu, 256),
    Task("`Bleu.update`, 4 references", Bleu, 256, 4),
    Task("chrF", chrf, 256),
    Task("chrF", chrf, 1024),
    Task("chrF, 4 references", chrf, 256, 4),
    Task("ROUGE-1 and -2", rouge, 256),
    Task("ROUGE-L", rouge_l, 256),
    Task("ROUGE-L", rouge_l, 1024),
)


class Launches(TorchDispatchMode):
    """Counts launches, and the bytes that they move."""

    def __init__(self) -> None:
        super().__init__()
        self.count = self.bytes = 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        results = function(*args, **kwargs)
        name = function._schema.name.partition("::")[2]
        is_filled = name.startswith("new_") or name.endswith("_like")  # the operand says only where
        moved = tree_leaves(results if is_filled else [args, kwargs, results])
        sizes = [_distinct_bytes(leaf) for leaf in moved if isinstance(leaf, Tensor)]
        if any(sizes) and not function.is_view and name not in WITHOUT_KERNEL:
            self.count += 1
            self.bytes += sum(sizes)
        return results


def _distinct_bytes(tensor: Tensor) -> int:
    """Return the bytes of a tensor; what is repeated by ``expand`` counts once."""
    sizes = zip(tensor.shape, tensor.stride(), strict=True)
    return math.prod(size if stride or not size else 1 for size, stride in sizes) * tensor.element_size()


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rows", type=int, default=256, help="segments of a batch (%(default)s)")
    options = arguments.parse_args()
    print(f"{options.rows} rows, vocabulary {WORDS}, torch {torch.__version__}\n")
    print_heading(["scores", "of", "launches", "bytes an id"])
    for task in TASKS:
        call = task.prepare(options.rows, META)
        call()  # what is made once is not counted
        with Launches() as launches:
            call()
        ids = options.rows * task.length * (1 + task.references)
        print_row([task.name, f"{task.length:,} ids", f"{launches.count:,}", f"{launches.bytes / ids:,.0f}"])
