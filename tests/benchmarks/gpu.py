"""BLEU of each sentence from padded ids against TensorBLEU and a bare sort on one device, and chrF, ROUGE-L, all pairs.

Goal: on a GPU, BLEU of a batch at most a few times as slow as the one sort that no exact count can do without, and
several times as fast as TensorBLEU.

How to run: ``python tests/benchmarks/gpu.py`` on an idle machine with a CUDA device; ``--device cpu`` runs eager only,
with smaller batches. It needs torch, torchmetrics and this package, no data and no peer. ``--tasks``, ``--batches``,
``--lengths`` and ``--references`` fit it into the time there is: each row is printed when it is known. TensorBLEU, left
out where it is not installed, is ``rxlm/metrics/tensorbleu.py`` of the distribution rxlm, whose other modules need much
more than torch: ``pip install --no-deps rxlm``; the one file is loaded from where it lies.
``--tasks`` picks some of:

    bleu       B x L tokens for every B of ``--batches`` and L of ``--lengths``, with 1 and with 4 references
    chrf       the same sizes, ids as characters, 1 reference
    rougeL     the same sizes, 1 reference
    pairwise   matches of all pairs of 1,024 hypotheses and 1,024 references of ``--pair-length`` tokens

What it does: ids are drawn from a vocabulary of 32,000 with a distribution like Zipf's, a reference is the hypothesis
with three tokens in ten drawn anew, rows are full. Inputs take turns, so that no repeat sees the batch of the one
before. On CUDA a repeat is timed by device events around it, and the median of ``--repeats`` is reported; on the CPU by
``--clock``. Each measurement is warmed up for 0.3 s. *compiled* is ``torch.compile(fullgraph=True)``, *graph* is a
captured CUDA graph with its inputs copied in, *compiled in a graph* is the former captured likewise. The
floor is ``torch.sort(dim=1)`` of B rows of as many int64 as hypothesis and references have tokens.

What it checks, before a call is timed: all ways give the scores of the eager one to 1e-12; TensorBLEU's lie within 1e-4
of ours. A call that does not, or that fails, has that in its cell and no time, and the run goes on. TensorBLEU scores
in float32 and adds 1e-12 to each precision, so that is as near as it comes. Compared is ``floor`` smoothing of full
rows with a match in every order that has one: where TensorBLEU is right. Elsewhere it is not: ``none`` gives about 1e-3
where it should be 0; ``exp`` puts 1e-12 in place of the smoothed precision; ``add-k`` adds to unigrams as well; a
hypothesis without any unigram match does not score 0; of two references equally near it takes the first listed and not
the shorter. Its counts are a matrix of sentences by distinct n-grams of the batch, so its memory grows with the square
of B; where that runs out the table says so.

Nothing is asserted about time.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from gpu_ways import Call, Inputs, Table, cell, failure, measured, ratio, ways
from harness import parser, run_pinned
from torch import Tensor

from ngram_metrics import ChrF, mbr
from ngram_metrics.functional import bleu_score, chrf_score, rouge_score

WORDS = 32_000
PAD = 0
CHANGED = 0.3
#: Batches that take turns.
TURNS = 6
PAIRS = 1024
TASKS = ("bleu", "chrf", "rougeL", "pairwise")

_CUMULATED = np.cumsum(1 / np.arange(1, WORDS + 1))
_CUMULATED /= _CUMULATED[-1]


def draw(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return word numbers from 1, number k about 1/k as often as the first; 0 is padding."""
    return 1 + np.searchsorted(_CUMULATED, random.random(shape)).clip(max=WORDS - 1)


def batch(seed: int, sentences: int, length: int, references: int, device: torch.device) -> Inputs:
    """Return hypotheses ``(sentences, length)`` and references ``(sentences, references, length)``."""
    random = np.random.default_rng(seed)
    hypotheses = draw(random, (sentences, length))
    shape = (sentences, references, length)
    others = np.where(random.random(shape) < CHANGED, draw(random, shape), hypotheses[:, None])
    return torch.from_numpy(hypotheses).to(device), torch.from_numpy(others).to(device)


def our_bleu(preds: Tensor, target: Tensor) -> Tensor:
    return bleu_score(preds, target, smooth="floor", average="none", effective_order=False, pad_id=PAD)


def our_chrf(preds: Tensor, target: Tensor) -> Tensor:
    return chrf_score(preds, target, average="none", pad_id=PAD)


def our_rouge_l(preds: Tensor, target: Tensor) -> Tensor:
    return rouge_score(preds, target, rouge_keys="rougeL", average="none", pad_id=PAD)["rougeL_fmeasure"]


def sort_rows(rows: Tensor) -> Tensor:
    return torch.sort(rows, dim=1).values


def joined(inputs: Sequence[Inputs]) -> list[Inputs]:
    """Return each batch as rows of all its tokens, for the sort alone to be timed."""
    return [(torch.cat((preds, target.flatten(1)), 1),) for preds, target in inputs]


def tensorbleu() -> Call | None:
    """Return TensorBLEU's score of each sentence, loaded from its file alone; None where it is not installed."""
    package = importlib.util.find_spec("rxlm")
    if package is None or not package.submodule_search_locations:
        return None
    file = Path(package.submodule_search_locations[0]) / "metrics" / "tensorbleu.py"
    spec = importlib.util.spec_from_file_location("tensorbleu", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return lambda preds, target: module.tensor_sentence_bleu(preds, target, PAD, smoothing_method="floor")


def sizes(options: argparse.Namespace) -> list[tuple[int, int]]:
    return [(sentences, length) for length in options.lengths for sentences in options.batches]


def timed(
    call: Call, inputs: Sequence[Inputs], options: argparse.Namespace, compiles: bool = True
) -> dict[str, float | str]:
    """Return the times of a call in all its ways, each checked against the plain one."""
    makers = ways(call, inputs[0], options.device, compiles)
    try:
        expected = [call(*batch).clone() for batch in inputs]
    except Exception as error:
        return dict.fromkeys(makers, failure(error))
    return {way: measured(make, inputs, expected, 1e-12, options) for way, make in makers.items()}


def bleu(options: argparse.Namespace) -> None:
    """Print BLEU, TensorBLEU and the floor, each size a row."""
    peer = tensorbleu()
    if peer is None:
        print("\nTensorBLEU is not installed, and left out: pip install --no-deps rxlm", flush=True)
    for references in options.references:
        table = Table(f"BLEU, {references} reference{'s' * (references > 1)}, ms")
        for sentences, length in sizes(options):
            inputs = [batch(seed, sentences, length, references, options.device) for seed in range(TURNS)]
            ours = timed(our_bleu, inputs, options)
            sort = timed(sort_rows, joined(inputs), options, compiles=False)
            cells = {f"ours, {way}": cell(took) for way, took in ours.items()}
            cells |= {f"sort, {way}": cell(took) for way, took in sort.items()}
            cells |= {f"ours / sort, {way}": ratio(ours[way], took) for way, took in sort.items()}
            if peer is not None:
                expected = [our_bleu(*sides).clone() for sides in inputs]
                theirs = measured(lambda: peer, inputs, expected, 1e-4, options)
                cells["TensorBLEU"] = cell(theirs)
                cells |= {f"TensorBLEU / ours, {way}": ratio(theirs, took) for way, took in ours.items()}
            table.row(f"{sentences} x {length}", cells)


def one_metric(title: str, call: Call, compiles: bool) -> Callable[[argparse.Namespace], None]:
    """Return the task that times one of ours beside the floor."""

    def task(options: argparse.Namespace) -> None:
        table = Table(f"{title}, 1 reference, ms")
        for sentences, length in sizes(options):
            inputs = [batch(seed, sentences, length, 1, options.device) for seed in range(TURNS)]
            cells = {f"ours, {way}": cell(took) for way, took in timed(call, inputs, options, compiles).items()}
            cells["sort, eager"] = cell(measured(lambda: sort_rows, joined(inputs), None, 0.0, options))
            table.row(f"{sentences} x {length}", cells)

    return task


def pairwise(options: argparse.Namespace) -> None:
    """Print the time of chrF of all pairs; the diagonal is checked against the scores of the pairs."""
    metric = ChrF(pad_id=PAD, device=options.device)

    def all_pairs(hypotheses: Tensor, references: Tensor) -> Tensor:
        return mbr.pairwise(metric, hypotheses.unsqueeze(0), references.squeeze(1).unsqueeze(0))[0]

    inputs = [batch(seed, PAIRS, options.pair_length, 1, options.device) for seed in range(2)]
    table = Table("chrF of all pairs, orders 1 to 6, ms")
    worst = float((all_pairs(*inputs[0]).diagonal() - our_chrf(*inputs[0])).abs().max())
    took = measured(lambda: all_pairs, inputs, None, 0.0, options) if worst <= 1e-12 else f"differs by {worst:.1e}"
    table.row(f"{PAIRS} x {PAIRS} of {options.pair_length}", {"ours, eager": cell(took)})


RUN: dict[str, Callable[[argparse.Namespace], None]] = {
    "bleu": bleu,
    "chrf": one_metric("chrF", our_chrf, compiles=True),
    # Each token is a step: a graph of a thousand steps takes minutes to compile. Captured, it takes none.
    "rougeL": one_metric("ROUGE-L", our_rouge_l, compiles=False),
    "pairwise": pairwise,
}


def machine_of(device: torch.device) -> str:
    """Describe the device in one line."""
    if device.type == "cpu":
        return "no GPU: eager on the CPU"
    properties = torch.cuda.get_device_properties(device)
    asked = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        driver = subprocess.run(asked, stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")[0]
    except (OSError, subprocess.CalledProcessError):
        driver = "unknown"
    return f"{properties.name}, {properties.total_memory / 2**30:.0f} GiB, CUDA {torch.version.cuda}, driver {driver}"


def main(options: argparse.Namespace) -> None:
    options.device = torch.device(options.device)
    on_host = options.device.type == "cpu"
    if not on_host and not torch.cuda.is_available():
        sys.exit("no CUDA device: expected one, or --device cpu")
    options.batches = options.batches or ([32, 64] if on_host else [32, 64, 128, 256, 512])
    options.lengths = options.lengths or ([256] if on_host else [256, 1024])
    options.pair_length = options.pair_length or (64 if on_host else 256)
    print(machine_of(options.device))
    print(f"medians of {options.repeats}, {TURNS} batches taking turns, vocabulary {WORDS}", flush=True)
    for task in options.tasks:
        try:
            RUN[task](options)
        except Exception:
            # The other tasks may run: what is lent for minutes is not given back with nothing.
            print(f"\n{task} failed", flush=True)
            traceback.print_exc(file=sys.stderr)


if __name__ == "__main__":
    arguments = parser(__doc__, text=False)
    arguments.set_defaults(repeats=50, threads="1")
    arguments.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="(%(default)s)")
    arguments.add_argument("--batches", type=int, nargs="+", help="segments; by default 32 to 512, on a CPU 32 and 64")
    arguments.add_argument("--lengths", type=int, nargs="+", help="tokens; by default 256 and 1024, on a CPU 256")
    arguments.add_argument("--references", type=int, nargs="+", default=[1, 4], help="of BLEU; by default 1 and 4")
    arguments.add_argument("--pair-length", type=int, help="tokens of the documents of all pairs; 256, on a CPU 64")
    arguments.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS), help="which (all)")
    run_pinned(main, arguments, "rxlm")
