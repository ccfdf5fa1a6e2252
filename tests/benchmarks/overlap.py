"""``get_score`` of padded samples against the function of the same name of torch-ngram, in time and in error.

How to run: ``python tests/benchmarks/overlap.py``, with 8 GiB of free memory, nearly all of it for torch-ngram. No data
are needed; ``--segments``, ``--samples`` and ``--width`` set the shape.

What it does: both get the same references, samples, padding and order, which is 1. The ids of a reference are drawn
evenly from 1,000. A sample is its reference with some of its blocks of eight ids drawn anew, from a fifth of them to
four fifths. Lengths lie between three quarters of the width and all of it. Each repeat draws anew. torch-ngram is given
one reference at a time, which is its faster way.

What it checks: both give the same numbers, within the rounding of float32, where no id occurs twice in a row. Where ids
are repeated, torch-ngram counts every pair of equal ids, unclipped. How far that is from the exact value is printed, as
the mean and the largest absolute error. The padding is 1 and no token: at 0, torch-ngram would count padding as equal
on both sides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch_ngram.torch_ngram
from harness import Contestant, parser, run, time_each
from torch import Tensor

from ngram_metrics import functional

ORDER, WORDS, BLOCK, PAD = 1, 1_000, 8, 1
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


def draw_without_repeats(options: Any) -> Drawn:
    """Draw rows in which no id occurs twice, of which references and samples share many."""
    random = torch.Generator().manual_seed(0)
    shape = options.segments, options.samples + 1, 2 * options.width
    rows = PAD + 1 + torch.rand(shape, generator=random).argsort(-1)[..., : options.width]
    return rows[:, 1:], rows[:, 0]


def ours(drawn: Drawn) -> Callable[[], Tensor]:
    samples, references = drawn
    return lambda: functional.get_score(references, samples, PAD, ORDER)


def theirs(drawn: Drawn) -> Callable[[], Tensor]:
    """Time torch-ngram on one reference with its samples after another: what it builds then stays near the cache."""
    samples, references = drawn
    pairs = list(zip(references.split(1), samples.split(1), strict=True))
    get_score = torch_ngram.torch_ngram.get_score
    return lambda: torch.cat([get_score(reference, several, PAD, ORDER) for reference, several in pairs])


def main(options: Any) -> None:
    without_repeats = draw_without_repeats(options)
    torch.testing.assert_close(theirs(without_repeats)(), ours(without_repeats)())
    against = [Contestant("ngram_metrics get_score", ours), Contestant("torch-ngram get_score", theirs, None)]
    # The same for all contestants of a repeat, but each in tensors of its own.
    time_each(f"n = {ORDER}", against, lambda repeat, contestant: draw(repeat, options), options)
    last = draw(options.repeats + 1, options)
    error = (theirs(last)() - ours(last)()).abs()
    print(f"\nerror of torch-ngram: {error.mean():.2g} on the average, at most {error.max():.2g}", flush=True)


if __name__ == "__main__":
    arguments = parser(__doc__, text=False)
    arguments.add_argument("--segments", type=int, default=256, help="references (%(default)s)")
    arguments.add_argument("--samples", type=int, default=8, help="for each reference (%(default)s)")
    arguments.add_argument("--width", type=int, default=256, help="ids in a row (%(default)s)")
    run(main, arguments, "torch-ngram")
