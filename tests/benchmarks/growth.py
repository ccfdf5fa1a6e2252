"""BLEU as the corpus grows: time per token, peak memory, counts past the reach of float32; and where the way changes.

Goal: time per token does not grow from 10^4 to 10^7 tokens, whatever the layout; memory beside the input is bounded; a
stream of 10^8 tokens is counted exactly in constant memory; a long text, wide rows and high orders cost what they add.

How to run: ``python tests/benchmarks/growth.py``, on an idle machine; ``--largest 6`` stops at 10^6 tokens, and
``--stream`` adds the stream of 10^8 tokens (``--stream-tokens`` sets another number). No data are needed.

What it does: token ids are drawn from a distribution like Zipf's over 50,000 words, in sentences of 8 to 42 tokens; the
reference is the hypothesis with every fifth token drawn anew. *Ragged* is lists of ints, *padded* is one int64 tensor a
side. Each size and layout runs in a process of its own, which first counts a small batch, then corpora it has not seen,
each in one ``update`` with a new metric; ``tokens`` are those of the hypotheses.

What it checks: totals and lengths are those of the corpus, and ragged and padded count the same matches. In the stream
hypothesis and reference are identical: matches and totals of every order must be the number that follows from the
lengths alone, the score 1, and the memory's high-water mark must stay where the first tenth has left it, within 64 MiB.
A difference ends the script with an error. Nothing is asserted about time.

Memory is the high-water mark of the resident set (``resource.getrusage``): ``input MiB`` what building the corpus
added, ``peak MiB`` what counting added to that.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
from typing import Any

import numpy as np
import torch
from harness import CLOCKS, layout, parser, run_pinned

from ngram_metrics import Bleu, ChrF, NgramOverlap

WORDS = 50_000
LENGTHS = (8, 42)
PAD = -1
BATCH_TOKENS = 500_000
MEMORY_SLACK_MIB = 64

_CUMULATED = np.cumsum(1 / np.arange(1, WORDS + 1))
_CUMULATED /= _CUMULATED[-1]


def draw(random: np.random.Generator, tokens: int) -> np.ndarray:
    """Return word numbers, number k about 1/k as often as the first."""
    return np.searchsorted(_CUMULATED, random.random(tokens)).clip(max=WORDS - 1)


def draw_lengths(random: np.random.Generator, tokens: int) -> np.ndarray:
    """Return sentence lengths that sum to ``tokens``."""
    lengths = random.integers(LENGTHS[0], LENGTHS[1] + 1, tokens // LENGTHS[0] + 1)
    ends = lengths.cumsum()
    sentences = int(np.searchsorted(ends, tokens)) + 1
    lengths = lengths[:sentences]
    lengths[-1] -= ends[sentences - 1] - tokens
    return lengths


def corpus(seed: int, tokens: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the lengths of the sentences, and the ids of hypotheses and references end to end."""
    random = np.random.default_rng(seed)
    lengths, hypotheses = draw_lengths(random, tokens), draw(random, tokens)
    references = np.where(random.random(tokens) < 0.2, draw(random, tokens), hypotheses)
    return lengths, hypotheses, references


def as_lists(ids: np.ndarray, lengths: np.ndarray) -> list[list[int]]:
    return [sentence.tolist() for sentence in np.split(ids, lengths.cumsum()[:-1])]


def as_padded(ids: np.ndarray, lengths: np.ndarray) -> torch.Tensor:
    padded = np.full((len(lengths), LENGTHS[1]), PAD)
    padded[np.arange(LENGTHS[1]) < lengths[:, None]] = ids
    return torch.from_numpy(padded)


LAYOUTS = {"ragged": (as_lists, None), "padded": (as_padded, PAD)}


def totals_of(lengths: np.ndarray) -> list[int]:
    """Return how many n-grams sentences of these lengths have, for the orders 1 to 4."""
    return [int((lengths - order).clip(min=0).sum()) for order in range(4)]


def peak_mib() -> float:
    """Return the high-water mark of this process."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def fail(where: str, found: Any, expected: Any) -> None:
    if found != expected:
        sys.exit(f"{where}: counted {found}, expected {expected}")


def measure(clock: str, which: str, tokens: int, repeats: int) -> dict[str, Any]:
    """Count corpora of one size in one layout; run in a process of its own."""
    build, pad_id = LAYOUTS[which]
    lengths, *sides = corpus(0, 1_000)
    Bleu(average="micro", pad_id=pad_id).update(*(build(ids, lengths) for ids in sides))
    before = peak_mib()
    seconds, with_input, after, matches = [], 0.0, 0.0, []
    for repeat in range(repeats):
        lengths, *sides = corpus(1 + repeat, tokens)
        inputs = [build(ids, lengths) for ids in sides]
        if repeat == 0:
            with_input = peak_mib()
        metric = Bleu(average="micro", pad_id=pad_id)
        start = CLOCKS[clock]()
        metric.update(*inputs)
        metric.compute()
        seconds.append(CLOCKS[clock]() - start)
        if repeat == 0:
            after = peak_mib()
        counted = metric.details()
        fail(f"{which}, {tokens} tokens, totals", counted["totals"].tolist(), totals_of(lengths))
        for name in ("hypothesis_length", "reference_length"):
            fail(f"{which}, {tokens} tokens, {name}", int(counted[name]), tokens)
        matches.append(counted["matches"].tolist())
        del inputs, sides
    return {
        "nanoseconds": statistics.median(seconds) / tokens * 1e9,
        "least": min(seconds) / tokens * 1e9,
        "input": with_input - before,
        "peak": after - with_input,
        "matches": matches,
    }


def elsewhere(options: Any, *part: str) -> dict[str, Any]:
    """Run a part of this script in a process of its own and return what it found."""
    command = [sys.executable, __file__, "--threads", str(options.threads), "--clock", options.clock]
    done = subprocess.run([*command, "--part", *part], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(done.returncode)
    return json.loads(done.stdout.splitlines()[-1])


def sizes(options: Any) -> None:
    """Print the table of sizes."""
    rows = [["tokens", "layout", "ns a token", "least", "input MiB", "peak MiB", "peak bytes a token"]]
    for exponent in range(4, options.largest + 1):
        tokens, counted = 10**exponent, []
        # A corpus of 10^7 is its own average.
        repeats = options.repeats if exponent < 7 else 1
        for which in LAYOUTS:
            found = elsewhere(options, which, str(tokens), str(repeats))
            counted.append(found["matches"])
            numbers = [found[key] for key in ("nanoseconds", "least", "input", "peak")]
            rows.append(
                [f"10^{exponent}", which, *(f"{number:.0f}" for number in (*numbers, found["peak"] * 2**20 / tokens))]
            )
        fail(f"{tokens} tokens, matches of ragged and padded", counted[0], counted[1])
    print(f"\n### Corpora in one update\n\n{layout(rows)}", flush=True)


def steps(options: Any) -> None:
    """Print the time of batches on both sides of what changes the way of counting, each counted in one update."""
    random = np.random.default_rng(0)
    texts = ["".join(map(chr, codes)) for codes in random.integers(0x4E00, 0x59B8, (3004, 40)).tolist()]
    others = [text[:25] + other[25:] for text, other in zip(texts, texts[1:] + texts[:1], strict=True)]
    long = "".join(texts[:25])
    ids = torch.from_numpy(random.integers(0, 32_000, (256, 2, 1024)))
    ids[:, 1, ::2] = ids[:, 0, ::2]
    lengths, *sides = corpus(0, 60_000)
    lists = [as_lists(side, lengths) for side in sides]
    rows = [["one update", "least ms"]]
    for name, metric, preds, target in (
        ("BLEU, 3,004 pairs of 40 hanzi", Bleu(tokenizer="zh"), texts, others),
        ("BLEU, and one pair of 1,000", Bleu(tokenizer="zh"), [*texts, long], [*others, long[100:]]),
        ("chrF, 256 x 512 ids of 32,000", ChrF(pad_id=PAD), ids[:, 0, :512], ids[:, 1, :512]),
        ("chrF, 256 x 1,024 ids", ChrF(pad_id=PAD), ids[:, 0], ids[:, 1]),
        ("overlap of order 4, 60,000 ids", NgramOverlap(4), *lists),
        ("overlap of order 13, 60,000 ids", NgramOverlap(13), *lists),
    ):
        seconds = []
        for _ in range(options.repeats + 1):
            start = CLOCKS[options.clock]()
            metric.update(preds, target)
            seconds.append(CLOCKS[options.clock]() - start)
        rows.append([name, f"{1e3 * min(seconds):.1f}"])
    print(f"\n### Steps\n\n{layout(rows)}", flush=True)


def stream(clock: str, tokens: int) -> dict[str, Any]:
    """Count a stream of identical hypotheses and references in batches."""
    random = np.random.default_rng(0)
    metric = Bleu(average="micro", pad_id=PAD)
    expected, seconds, done, early = np.zeros(4, np.int64), 0.0, 0, 0.0
    while done < tokens:
        size = min(BATCH_TOKENS, tokens - done)
        lengths = draw_lengths(random, size)
        batch = as_padded(draw(random, size), lengths)
        expected += totals_of(lengths)
        start = CLOCKS[clock]()
        metric.update(batch, batch.clone())
        seconds += CLOCKS[clock]() - start
        done += size
        if done <= tokens // 10 or early == 0.0:
            early = peak_mib()
    counted = metric.details()
    for name in ("matches", "totals"):
        fail(f"stream, {name}", counted[name].tolist(), expected.tolist())
    for name in ("hypothesis_length", "reference_length"):
        fail(f"stream, {name}", int(counted[name]), tokens)
    fail("stream, score", float(metric.compute()), 1.0)
    grown = peak_mib() - early
    if grown > MEMORY_SLACK_MIB:
        sys.exit(f"stream: the peak grew by {grown:.0f} MiB after the first tenth, expected at most {MEMORY_SLACK_MIB}")
    return {"seconds": seconds, "early": early, "grown": grown, "matches": expected.tolist()}


def main(options: Any) -> None:
    steps(options)
    sizes(options)
    if options.stream:
        tokens = options.stream_tokens
        found = elsewhere(options, "stream", str(tokens))
        print(
            f"\n### A stream of {tokens} tokens, padded, {BATCH_TOKENS} a batch\n\n"
            f"{found['seconds']:.1f} s, {found['seconds'] / tokens * 1e9:.0f} ns a token; peak "
            f"{found['early']:.0f} MiB after the first tenth, {found['grown']:.0f} MiB more at the end; "
            f"matches and totals {found['matches']} as they must be, the first {found['matches'][0] / 2**24:.2f} "
            "times 2^24; score 1",
            flush=True,
        )


def part(clock: str, which: str, tokens: str, repeats: str = "1") -> None:
    """Do what :func:`elsewhere` asks, and print what it found as the last line."""
    if which == "stream":
        found = stream(clock, int(tokens))
    else:
        found = measure(clock, which, int(tokens), int(repeats))
    print(json.dumps(found))


if __name__ == "__main__":
    arguments = parser(__doc__, text=False)
    arguments.add_argument("--largest", type=int, default=7, help="stop at 10 to this power (%(default)s)")
    arguments.add_argument("--stream", action="store_true", help="count the stream too")
    arguments.add_argument("--stream-tokens", type=int, default=10**8, help="its length (%(default)s)")
    arguments.add_argument("--part", nargs="+", help="for the script itself: one measurement")
    options = arguments.parse_args()
    if options.part:
        torch.set_num_threads(int(options.threads))
        part(options.clock, *options.part)
    else:
        run_pinned(main, arguments, "torchmetrics")
