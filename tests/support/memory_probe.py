"""Counts large batches in a process of its own, and prints how many bytes each took.

``python tests/support/memory_probe.py SHAPE:SIZE:METRIC:LAYOUT ...`` prints a line for each, as
``document:1000000:bleu:padded``; tests/_torchmetrics/test_bounded_memory.py runs it.

Each batch is counted in a fork of this process: a process that has counted before keeps memory that it would use again,
unseen. The peak is that of the resident set; a fork begins with what is resident.
"""

import gc
import os
import resource
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore

METRICS: dict[str, Callable[..., Any]] = {
    "bleu": Bleu,
    "rouge": partial(ROUGEScore, rouge_keys=("rouge1", "rouge2")),
    "rougeL": partial(ROUGEScore, rouge_keys="rougeL"),
    "rougeLsum": partial(ROUGEScore, rouge_keys="rougeLsum", sentence_separator_id=-2),
    "chrf": ChrF,
    "overlap": partial(NgramOverlap, ngram=2),
}
PADDING = -1
WORDS = 50_000


def peak_bytes() -> int:
    """The high-water mark of this process."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def document(size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """One hypothesis; its first half is the reference and shares no word with the rest."""
    generator = torch.Generator().manual_seed(0)
    hypothesis = torch.randint(0, WORDS, (1, size), generator=generator)
    hypothesis[:, size // 2 :] += WORDS
    return hypothesis, hypothesis[:, : size // 2].clone().unsqueeze(1)


def empty(size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Segments without a token, in rows of four."""
    return torch.full((size, 4), PADDING), torch.full((size, 1, 4), PADDING)


def one_token(size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Segments of one token, every second of which is that of the reference."""
    return (torch.arange(size) % 2).unsqueeze(1), torch.zeros((size, 1, 1), dtype=torch.int64)


def many_references(size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """One sentence of 50 tokens; a single one of its references is the same, the others share nothing with it."""
    hypothesis = torch.arange(50).unsqueeze(0)
    references = torch.arange(50, 50 + size * 50).reshape(1, size, 50)
    references[0, size * 3 // 4] = hypothesis
    return hypothesis, references


SHAPES = {"document": document, "empty": empty, "one-token": one_token, "references": many_references}


def as_lists(preds: torch.Tensor, target: torch.Tensor) -> tuple[Any, Any]:
    """Rows without their padding, as lists."""
    return (
        [[token for token in row if token != PADDING] for row in preds.tolist()],
        [[[one for one in row if one != PADDING] for row in rows] for rows in target.tolist()],
    )


def batch_of(shape: str, size: int, layout: str) -> tuple[Any, Any]:
    preds, target = SHAPES[shape](size)
    return (preds, target) if layout == "padded" else as_lists(preds, target)


def measure(shape: str, size: int, name: str, layout: str) -> int:
    """Count one batch, which is there before the peak is looked at, and return the bytes that it took."""
    batch = batch_of(shape, size, layout)
    metric = METRICS[name](pad_id=PADDING if layout == "padded" else None)
    gc.collect()
    before = peak_bytes()
    metric.update(*batch)
    metric.compute()
    return peak_bytes() - before


def main(asked: list[str]) -> None:
    torch.set_num_threads(1)
    for make in METRICS.values():  # what is loaded once
        for layout in ("padded", "ragged"):
            make(pad_id=PADDING).forward(*batch_of("document", 4, layout))
    gc.collect()
    gc.freeze()  # so that a fork, which collects garbage first, does not write to every object
    for one in asked:
        shape, size, name, layout = one.split(":")
        fork = os.fork()
        if fork == 0:
            print(measure(shape, int(size), name, layout), flush=True)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1])
        if code != 0:
            sys.exit(f"{one}: exit code {code}")


if __name__ == "__main__":
    main(sys.argv[1:])
