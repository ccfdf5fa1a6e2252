"""N-gram overlap of padded samples against torch-ngram, in time and in error.

How to run: ``python tests/benchmarks/overlap.py``, with 8 GiB of free memory, nearly all of it for torch-ngram. No data
are needed; ``--segments``, ``--samples`` and ``--width`` set the shape.

What it does: the ids of a reference are drawn evenly from 1,000. A sample is its reference with some of its blocks of
eight ids drawn anew, from a fifth of them to four fifths. Lengths lie between three quarters of the width and all of
it. Each repeat draws anew. torch-ngram is given one reference at a time, which is its faster way.

What it checks: nothing, since torch-ngram counts something else: at order 1 every pair of equal ids, above it n-grams
whose cosine is 1 in float32, unclipped. How far it is from the exact value is printed instead, as the mean and the
largest absolute error. The padding is 1 and no token: at 0, torch-ngram would count padding as equal on
both sides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from harness import Contestant, parser, run, time_each
from torch import Tensor
from torch_ngram.torch_ngram import get_score

from ngram_metrics.functional import ngram_overlap

WORDS, BLOCK, PAD = 1_000, 8, 1
#: Samples ``(segments, samples, width)`` and references ``(segments, width)``, padded at the end.
Drawn = tuple[Tensor, Tensor]


def draw(seed: int, options: Any) -> Drawn:
    """Draw references, and samples that share blocks with them."""
    random = torch.Generator().manual_seed(seed)
    segments, samples, width = options.segments, options.samples, options.width

    def ids(*shape: int) -> Tensor:
        return torch.randint(PAD + 1, PAD + 1 + WORDS, shape, generator=random)

    def padded(rows: Tensor) -> Tensor:
        lengths = torch.randint(3 * width // 4, width + 1, (*rows.shape[:-1], 1), generator=random)
        return rows.masked_fill(torch.arange(width) >= lengths, PAD)

    references = ids(segments, width)
    share = 0.2 + 0.6 * torch.rand(segments, samples, 1, generator=random)
    kept = torch.rand(segments, samples, width // BLOCK + 1, generator=random) < share
    kept = kept.repeat_interleave(BLOCK, -1)[..., :width]
    written = torch.where(kept, references.unsqueeze(1), ids(segments, samples, width))
    return padded(written), padded(references)


def ours(order: int) -> Callable[[Drawn], Callable[[], Tensor]]:
    return lambda drawn: lambda: ngram_overlap(*drawn, order, average="none", pad_id=PAD)


def peer(order: int) -> Callable[[Drawn], Callable[[], Tensor]]:
    """Time torch-ngram on one reference with its samples after another: what it builds then stays near the cache."""

    def prepare(drawn: Drawn) -> Callable[[], Tensor]:
        pairs = list(zip(*(side.split(1) for side in drawn), strict=True))
        return lambda: torch.cat([get_score(reference, samples, PAD, order) for samples, reference in pairs])

    return prepare


def main(options: Any) -> None:
    for order in range(1, 5):
        against = [
            Contestant("ngram_overlap", ours(order)),
            Contestant("torch-ngram get_score", peer(order), None),
        ]
        # The same for all contestants of a repeat, but each in tensors of its own.
        time_each(f"n = {order}", against, lambda repeat, contestant: draw(repeat, options), options)
        exact, theirs = (way.prepare(draw(options.repeats + 1, options))().double() for way in against)
        error = (theirs - exact).abs()
        print(f"\nerror of torch-ngram: {error.mean():.2g} on the average, at most {error.max():.2g}", flush=True)


if __name__ == "__main__":
    arguments = parser(__doc__, text=False)
    arguments.add_argument("--segments", type=int, default=256, help="references (%(default)s)")
    arguments.add_argument("--samples", type=int, default=8, help="for each reference (%(default)s)")
    arguments.add_argument("--width", type=int, default=256, help="ids in a row (%(default)s)")
    run(main, arguments, "torch-ngram")
