"""Longest common subsequences against rouge_score's table, token ids to counts.

Goal: on 1,000 pairs of 1,000 tokens at least 250 times as fast as rouge_score's table.

How to run: ``python tests/benchmarks/longest_common_subsequence.py``, with the group ``bench`` installed, on an idle
machine. No data are needed. ``--tasks`` picks some of:

    long        one pair of 100,000 tokens, seconds and peak memory, for the length and the union
    text        1,000 pairs of 1,000 tokens drawn from a distribution like Zipf's over 30,000 words
    dense       the same of 50 words only, where every token is common to both texts and nothing can be left out
    sentences   3,000 pairs of 25 tokens, drawn as in text
    summaries   the union for ROUGE-Lsum, 1,000 pairs of 3 sentences of 20 tokens
    documents   the same, 100 pairs of 40 sentences of 25 tokens

Lengths are counted twice: by RapidFuzz, as we do on a CPU, and by our table in torch, which serves accelerators.

What it checks: all contestants count the same, in every repeat. rouge_score is run on the first pairs only, for it
takes a tenth of a second for one of 1,000 tokens, and its time is scaled to all of them.

Memory is what the high-water mark of the resident set (``resource.getrusage``) has grown by.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from harness import CLOCKS, layout, parser, run_pinned
from rouge_score import rouge_scorer

from ngram_metrics._core.counting.documents import (
    DocumentGroups,
    PaddedPairs,
    PaddedTokens,
    RaggedPairs,
    RaggedSummaries,
    RaggedTokens,
)
from ngram_metrics._core.counting.subsequence.lengths import subsequence_lengths
from ngram_metrics._core.counting.subsequence.union import union_subsequence_hits

WORDS = 30_000
DENSE_WORDS = 50
SEPARATOR = -1
LONG = 100_000

_CUMULATED = np.cumsum(1 / np.arange(1, WORDS + 1))
_CUMULATED /= _CUMULATED[-1]

#: A name, how many of the pairs it is run on, and the call, which returns their counts.
Timed = tuple[str, int, Callable[[], Any]]


def draw(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return word numbers, number k about 1/k as often as the first."""
    return np.searchsorted(_CUMULATED, random.random(shape)).clip(max=WORDS - 1)


def draw_dense(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return numbers of a few words, each as often."""
    return random.integers(0, DENSE_WORDS, shape)


def ragged(ids: np.ndarray) -> RaggedTokens:
    """Lay the last dimension of ids end to end."""
    lengths = torch.full((ids.size // ids.shape[-1],), ids.shape[-1])
    return RaggedTokens(torch.from_numpy(ids.reshape(-1)), lengths, WORDS)


def padded(ids: np.ndarray) -> PaddedTokens:
    """Take ids as rows that are full."""
    return PaddedTokens(torch.from_numpy(ids), torch.full((len(ids),), ids.shape[1]))


def pairs(random: np.random.Generator, shape: tuple[int, ...], sample: int, drawn: Any) -> list[Timed]:
    """Return the contestants for the lengths of pairs ``(pairs, tokens)``."""
    hypotheses, references = drawn(random, shape), drawn(random, shape)
    rows = PaddedPairs(padded(hypotheses), padded(references))
    ends = RaggedPairs(ragged(hypotheses), ragged(references))
    lists = list(zip(hypotheses.tolist(), references.tolist(), strict=True))
    return [
        ("ragged", len(lists), lambda: subsequence_lengths(ends).tolist()),
        ("padded, in torch", len(lists), lambda: subsequence_lengths(rows).tolist()),
        (
            "rouge_score's table",
            sample,
            lambda: [rouge_scorer._lcs_table(reference, one)[-1][-1] for one, reference in lists[:sample]],
        ),
    ]


def unions(random: np.random.Generator, shape: tuple[int, ...], sample: int, drawn: Any) -> list[Timed]:
    """Return the contestants for the union hits of summaries ``(pairs, sentences, tokens)``."""
    sides = drawn(random, shape), drawn(random, shape)
    counts = torch.full(shape[:1], shape[1])
    ends = RaggedSummaries(*(DocumentGroups(ragged(side), counts) for side in sides))
    rows = PaddedPairs(
        *(
            padded(np.pad(side, ((0, 0), (0, 0), (0, 1)), constant_values=SEPARATOR).reshape(len(side), -1))
            for side in sides
        )
    )
    lists = list(zip(*(side.tolist() for side in sides), strict=True))

    def peer() -> list[int]:
        scores = [rouge_scorer._summary_level_lcs(reference, one) for one, reference in lists[:sample]]
        return [round(score.recall * shape[1] * shape[2]) for score in scores]

    return [
        ("ragged", len(lists), lambda: union_subsequence_hits(ends).tolist()),
        ("padded", len(lists), lambda: union_subsequence_hits(rows, SEPARATOR).tolist()),
        ("rouge_score's unions", sample, peer),
    ]


TASKS: dict[str, tuple[Any, tuple[int, ...], int, Any]] = {
    "text": (pairs, (1000, 1000), 5, draw),
    "dense": (pairs, (1000, 1000), 5, draw_dense),
    "sentences": (pairs, (3000, 25), 500, draw),
    "summaries": (unions, (1000, 3, 20), 50, draw),
    "documents": (unions, (100, 40, 25), 2, draw),
}


def compare(task: str, options: argparse.Namespace) -> None:
    """Check that the counts agree, time, and print a table."""
    contestants, shape, sample, drawn = TASKS[task]
    clock = CLOCKS[options.clock]
    seconds: dict[str, list[float]] = {}
    for repeat in range(options.repeats + 1):
        expected: list[int] = []
        for name, run_on, call in contestants(np.random.default_rng(repeat), shape, sample, drawn):
            start = clock()
            found = call()
            took = (clock() - start) * shape[0] / run_on
            expected = expected or found
            if found != expected[:run_on]:
                sys.exit(f"{task}: {name} counts {found}: expected {expected[:run_on]}")
            if repeat > 0:  # the first one checks and warms up
                seconds.setdefault(name, []).append(took)
    ours = statistics.median(seconds["ragged"])
    rows = [["contestant", "median ms", "min ms", "ratio to ragged"]]
    for name, times in seconds.items():
        median = statistics.median(times)
        rows.append([name, f"{median * 1e3:.2f}", f"{min(times) * 1e3:.2f}", f"{median / ours:.2f}"])
    print(f"\n### {task}: {' x '.join(map(str, shape))}\n\n{layout(rows)}", flush=True)


def long_pair(options: argparse.Namespace) -> None:
    """Count one long pair, and say how long it took and how much memory."""
    clock, random = CLOCKS[options.clock], np.random.default_rng(0)
    sides = draw(random, (1, LONG)), draw(random, (1, LONG))
    groups = (DocumentGroups(ragged(side.reshape(-1, 50)), torch.tensor([LONG // 50])) for side in sides)
    sentences = RaggedSummaries(*groups)
    subsequence_lengths(RaggedPairs(*(ragged(side[:, :99]) for side in sides)))
    rows = [["count", "seconds", "peak MiB"]]
    length = None
    for name, call in (
        ("length", lambda: subsequence_lengths(RaggedPairs(*map(ragged, sides)))),
        ("length, padded, in torch", lambda: subsequence_lengths(PaddedPairs(*map(padded, sides)))),
        ("union of 2,000 segments a side", lambda: union_subsequence_hits(sentences)),
    ):
        before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, clock()
        found = call().tolist()
        took = clock() - start
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        rows.append([name, f"{took:.1f}", f"{grown:.0f}"])
        length = length or found
        if name.startswith("length") and found != length:
            sys.exit(f"long: {name} is {found}: expected {length}")
    print(f"\n### long: one pair of {LONG:,} tokens\n\n{layout(rows)}", flush=True)


def main(options: argparse.Namespace) -> None:
    for task in options.tasks:
        if task == "long":
            long_pair(options)
        else:
            compare(task, options)


if __name__ == "__main__":
    arguments = parser(__doc__ or "", text=False)
    every = ["long", *TASKS]  # first, while the high-water mark is low
    arguments.add_argument("--tasks", nargs="+", choices=every, default=every, help="which (all)")
    run_pinned(main, arguments, "rapidfuzz rouge_score")
