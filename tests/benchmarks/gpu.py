"""BLEU of each sentence from padded ids against TensorBLEU and a bare sort on one device, and chrF, ROUGE-L, all pairs.

Goal: on a GPU, BLEU of a batch at most a few times as slow as the one sort that no exact count can do without, and
several times as fast as TensorBLEU.

How to run: ``python tests/benchmarks/gpu.py`` on an idle machine with a CUDA device; ``--device cpu`` runs eager only,
with smaller batches. No data are needed. TensorBLEU is ``rxlm/metrics/tensorbleu.py`` of the distribution rxlm, whose
other modules need much more than torch: ``pip install --no-deps rxlm``; the one file is loaded from where it lies.
``--tasks`` picks some of:

    bleu       B x L tokens for every B of ``--batches`` and L of ``--lengths``, with 1 and with 4 references
    chrf       the same sizes, ids as characters, 1 reference
    rougeL     the same sizes, 1 reference
    pairwise   matches of all pairs of 1,024 hypotheses and 1,024 references of ``--pair-length`` tokens

What it does: ids are drawn from a vocabulary of 32,000 with a distribution like Zipf's, a reference is the hypothesis
with three tokens in ten drawn anew, rows are full. Inputs take turns, so that no repeat sees the batch of the one
before. On CUDA a repeat is timed by device events around it, and the median of ``--repeats`` is reported; on the CPU by
``--clock``. *compiled* is ``torch.compile(fullgraph=True)``, *graph* is a captured CUDA graph with its inputs copied
in. The floor is ``torch.sort(dim=1)`` of B rows of as many int64 as hypothesis and references have tokens.

What it checks, before anything is timed: eager, compiled and graph give the same scores to 1e-12; TensorBLEU's lie
within 1e-4 of ours. It scores in float32 and adds 1e-12 to each precision, so that is as near as it comes. Compared is
``floor`` smoothing of full rows with a match in every order that has one: where TensorBLEU is right. Elsewhere it is
not: ``none`` gives about 1e-3 where it should be 0; ``exp`` puts 1e-12 in place of the smoothed precision; ``add-k``
adds to unigrams as well; a hypothesis without any unigram match does not score 0; of two references equally near it
takes the first listed and not the shorter. Its counts are a matrix of sentences by distinct n-grams of the batch, so
its memory grows with the square of B; where that runs out the table says so.

Nothing is asserted about time.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from harness import CLOCKS, layout, parser, run_pinned
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

Inputs = tuple[Tensor, Tensor]
Call = Callable[[Tensor, Tensor], Tensor]


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
    return bleu_score(preds, target, smooth="floor", average="none", pad_id=PAD)


def our_chrf(preds: Tensor, target: Tensor) -> Tensor:
    return chrf_score(preds, target, average="none", pad_id=PAD)


def our_rouge_l(preds: Tensor, target: Tensor) -> Tensor:
    return rouge_score(preds, target, rouge_keys="rougeL", average="none", pad_id=PAD)["rougeL_fmeasure"]


def sort_rows(rows: Tensor, _: Tensor) -> Tensor:
    return torch.sort(rows, dim=1).values


def joined(inputs: Sequence[Inputs]) -> list[Inputs]:
    """Return each batch as rows of all its tokens, for the sort alone to be timed."""
    return [(torch.cat((preds, target.flatten(1)), 1), preds) for preds, target in inputs]


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


def as_graph(call: Call, inputs: Inputs) -> Call:
    """Capture a call on inputs of this shape; the returned one copies its inputs in and replays."""
    static = [side.clone() for side in inputs]
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            call(*static)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = call(*static)

    def replay(preds: Tensor, target: Tensor) -> Tensor:
        static[0].copy_(preds)
        static[1].copy_(target)
        graph.replay()
        return result

    return replay


def ways(name: str, call: Call, inputs: Inputs, options: argparse.Namespace, compiles: bool = True) -> dict[str, Call]:
    """Return a call in all the ways it is run on this device, eager first."""
    made = {f"{name}, eager": call}
    if options.device.type == "cuda":
        if compiles:
            torch._dynamo.reset()
            made[f"{name}, compiled"] = torch.compile(call, fullgraph=True, dynamic=False)
        made[f"{name}, graph"] = as_graph(call, inputs)
    return made


def check(task: str, made: dict[str, Call], inputs: Sequence[Inputs], tolerance: float) -> None:
    """End the script where the calls differ by more than the tolerance from the first."""
    first, *others = made.items()
    for one in inputs:
        expected = first[1](*one).clone()
        for name, call in others:
            worst = float((call(*one).double() - expected).abs().max())
            if not worst <= tolerance:  # written so that nan is a mismatch too
                sys.exit(f"{task}: {name} differs from {first[0]} by {worst}: expected at most {tolerance}")


def milliseconds(call: Call, inputs: Sequence[Inputs], options: argparse.Namespace) -> float:
    """Return the median time of a call, its inputs taking turns."""
    for one in inputs[:2]:
        call(*one)
    times = []
    for repeat in range(options.repeats):
        one = inputs[repeat % len(inputs)]
        if options.device.type == "cuda":
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda.synchronize()
            start.record()
            call(*one)
            end.record()
            torch.cuda.synchronize()
            times.append(start.elapsed_time(end))
        else:
            clock = CLOCKS[options.clock]
            begin = clock()
            call(*one)
            times.append((clock() - begin) * 1e3)
    return statistics.median(times)


def sizes(options: argparse.Namespace) -> list[tuple[int, int]]:
    return [(sentences, length) for length in options.lengths for sentences in options.batches]


def bleu(options: argparse.Namespace) -> None:
    """Print BLEU, TensorBLEU and the floor, each size a row."""
    peer = tensorbleu()
    if peer is None:
        print("\nTensorBLEU is not installed: pip install --no-deps rxlm")
    for references in (1, 4):
        rows: list[list[str]] = []
        for sentences, length in sizes(options):
            inputs = [batch(seed, sentences, length, references, options.device) for seed in range(TURNS)]
            ours = ways("ours", our_bleu, inputs[0], options)
            check("bleu", ours, inputs, 1e-12)
            times = {name: milliseconds(call, inputs, options) for name, call in ours.items()}
            rows_of_all = joined(inputs)
            for name, call in ways("sort", sort_rows, rows_of_all[0], options, compiles=False).items():
                times[name] = milliseconds(call, rows_of_all, options)
            shown = {name: f"{took:.3f}" for name, took in times.items()}
            for way in ("eager", "graph") if options.device.type == "cuda" else ("eager",):
                shown[f"ours / sort, {way}"] = f"{times[f'ours, {way}'] / times[f'sort, {way}']:.1f}"
            if peer is not None:
                try:
                    check("bleu", {"ours": our_bleu, "TensorBLEU": peer}, inputs, 1e-4)
                    theirs = milliseconds(peer, inputs, options)
                    shown["TensorBLEU"] = f"{theirs:.3f}"
                    ratios = [f"{theirs / took:.1f}" for name, took in times.items() if name.startswith("ours")]
                    shown |= dict(zip([f"TensorBLEU / {name}" for name in ours], ratios, strict=True))
                except torch.OutOfMemoryError:
                    torch.cuda.empty_cache()
                    columns = ["TensorBLEU", *(f"TensorBLEU / {name}" for name in ours)]
                    shown |= dict.fromkeys(columns, "out of memory")
            rows = rows or [["B x L", *shown]]
            rows.append([f"{sentences} x {length}", *shown.values()])
        print(f"\n### BLEU, {references} reference{'s' * (references > 1)}, ms\n\n{layout(rows)}", flush=True)


def one_metric(title: str, call: Call, compiles: bool) -> Callable[[argparse.Namespace], None]:
    """Return the task that times one of ours beside the floor."""

    def task(options: argparse.Namespace) -> None:
        rows: list[list[str]] = []
        for sentences, length in sizes(options):
            inputs = [batch(seed, sentences, length, 1, options.device) for seed in range(TURNS)]
            ours = ways("ours", call, inputs[0], options, compiles)
            check(title, ours, inputs, 1e-12)
            rows = rows or [["B x L", *ours, "sort, eager"]]
            times = [f"{milliseconds(one, inputs, options):.3f}" for one in ours.values()]
            times.append(f"{milliseconds(sort_rows, joined(inputs), options):.3f}")
            rows.append([f"{sentences} x {length}", *times])
        print(f"\n### {title}, 1 reference, ms\n\n{layout(rows)}", flush=True)

    return task


def pairwise(options: argparse.Namespace) -> None:
    """Print the time of chrF of all pairs; the diagonal is checked against the scores of the pairs."""
    metric = ChrF(pad_id=PAD, device=options.device)

    def all_pairs(hypotheses: Tensor, references: Tensor) -> Tensor:
        return mbr.pairwise(metric, hypotheses.unsqueeze(0), references.squeeze(1).unsqueeze(0))[0]

    inputs = [batch(seed, PAIRS, options.pair_length, 1, options.device) for seed in range(2)]
    worst = float((all_pairs(*inputs[0]).diagonal() - our_chrf(*inputs[0])).abs().max())
    if not worst <= 1e-12:
        sys.exit(f"pairwise: the diagonal differs from the scores of the pairs by {worst}")
    took = milliseconds(all_pairs, inputs, options)
    rows = [["pairs", "ms"], [f"{PAIRS} x {PAIRS} of {options.pair_length} tokens, orders 1 to 6", f"{took:.1f}"]]
    print(f"\n### chrF of all pairs, eager\n\n{layout(rows)}", flush=True)


RUN: dict[str, Callable[[argparse.Namespace], None]] = {
    "bleu": bleu,
    "chrf": one_metric("chrF", our_chrf, compiles=True),
    # Each token is a step: a graph of a thousand steps takes minutes to compile. Captured, it takes none.
    "rougeL": one_metric("ROUGE-L", our_rouge_l, compiles=False),
    "pairwise": pairwise,
}


def main(options: argparse.Namespace) -> None:
    options.device = torch.device(options.device)
    on_cuda = options.device.type == "cuda"
    if on_cuda and not torch.cuda.is_available():
        sys.exit("no CUDA device: expected one, or --device cpu")
    options.batches = options.batches or ([32, 64, 128, 256, 512] if on_cuda else [32, 64])
    options.lengths = options.lengths or ([256, 1024] if on_cuda else [256])
    options.pair_length = options.pair_length or (256 if on_cuda else 64)
    if on_cuda:
        properties = torch.cuda.get_device_properties(options.device)
        asked = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        driver = subprocess.run(asked, stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")[0]
        print(
            f"{properties.name}, {properties.total_memory / 2**30:.0f} GiB, CUDA {torch.version.cuda}, driver {driver}"
        )
    else:
        print("no GPU: eager on the CPU")
    print(f"medians of {options.repeats}, {TURNS} batches taking turns, vocabulary {WORDS}")
    for task in options.tasks:
        RUN[task](options)


if __name__ == "__main__":
    arguments = parser(__doc__, text=False)
    arguments.set_defaults(repeats=50, threads="1")
    arguments.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="(%(default)s)")
    arguments.add_argument("--batches", type=int, nargs="+", help="sentences; by default 32 to 512, on a CPU 32 and 64")
    arguments.add_argument("--lengths", type=int, nargs="+", help="tokens; by default 256 and 1024, on a CPU 256")
    arguments.add_argument("--pair-length", type=int, help="tokens of the documents of all pairs; 256, on a CPU 64")
    arguments.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS), help="which (all)")
    run_pinned(main, arguments, "rxlm")
