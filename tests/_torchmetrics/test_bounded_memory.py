"""Large batches fit the bound of memory that stands in docs/guides/counting.md.

Python and NumPy tell ``tracemalloc`` what they allocate, and on a CPU they do all the counting.
"""

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore

#: The documented bound of the peak above the input, on a CPU: so many bytes, and for each token slot so many more.
FIXED_BYTES = 48 << 20
BYTES_A_SLOT = 320
#: Instead of the fixed bytes for longest common subsequences, whose table is as wide as the documents are long.
SUBSEQUENCE_BYTES = 128 << 20
PADDING = -1
WORDS = 50_000
Batch = tuple[torch.Tensor, torch.Tensor]


def document(size: int) -> Batch:
    """One hypothesis; its first half is the reference and shares no word with the rest."""
    hypothesis = torch.randint(0, WORDS, (1, size), generator=torch.Generator().manual_seed(0))
    hypothesis[:, size // 2 :] += WORDS
    return hypothesis, hypothesis[:, : size // 2].clone().unsqueeze(1)


def one_token(size: int) -> Batch:
    """Segments of one token, every second of which is that of the reference, in rows of four."""
    hypotheses = torch.nn.functional.pad((torch.arange(size) % 2).unsqueeze(1), (0, 3), value=PADDING)
    return hypotheses, torch.zeros((size, 1, 1), dtype=torch.int64)


def references(size: int) -> Batch:
    """One segment of 50 tokens; a single one of its references is the same, the others share nothing with it."""
    hypothesis = torch.arange(50).unsqueeze(0)
    others = torch.arange(50, 50 + size * 50).reshape(1, size, 50)
    others[0, size * 3 // 4] = hypothesis
    return hypothesis, others


def as_lists(preds: torch.Tensor, target: torch.Tensor) -> tuple[Any, Any]:
    """Rows without their padding, as lists."""
    several = [[[one for one in row if one != PADDING] for row in rows] for rows in target.tolist()]
    return [[token for token in row if token != PADDING] for row in preds.tolist()], several


METRICS: dict[str, Callable[..., Any]] = {
    "bleu": Bleu,
    "rouge": lambda **options: ROUGEScore(rouge_keys=("rouge1", "rouge2"), **options),
    "chrf": ChrF,
    "overlap": lambda **options: NgramOverlap(ngram=2, **options),
    "rougeL": lambda **options: ROUGEScore(rouge_keys="rougeL", **options),
    "rougeLsum": lambda **options: ROUGEScore(rouge_keys="rougeLsum", sentence_separator_id=-2, **options),
}
COUNTED = ("bleu", "rouge", "chrf", "overlap")
LIGHT: list[tuple[Callable[[int], Batch], int, str, str]] = [
    (document, 50_000, "bleu", "padded"),
    (document, 50_000, "bleu", "ragged"),
    (document, 50_000, "chrf", "padded"),
    (one_token, 20_000, "overlap", "padded"),
    (one_token, 20_000, "bleu", "ragged"),
    (references, 1000, "rouge", "padded"),
    (references, 1000, "rougeLsum", "padded"),
    (document, 4000, "rougeL", "padded"),
    (document, 4000, "rougeL", "ragged"),
]
HEAVY: list[tuple[Callable[[int], Batch], int, str, str]] = [
    *((document, 50_000, name, "padded") for name in ("rouge", "overlap")),
    *((one_token, 20_000, name, "padded") for name in ("bleu", "rouge", "chrf")),
    *((references, 1000, name, "padded") for name in ("bleu", "chrf", "overlap", "rougeL")),
    (references, 1000, "bleu", "ragged"),
    *(
        (shape, 1_000_000, name, layout)
        for shape in (document, one_token)
        for name in COUNTED
        for layout in ("padded", "ragged")
    ),
    *((document, 20_000, name, layout) for name in ("rougeL", "rougeLsum") for layout in ("padded", "ragged")),
]


@pytest.mark.parametrize(
    ("shape", "size", "name", "layout"),
    [*LIGHT, *(pytest.param(*one, marks=pytest.mark.slow) for one in HEAVY)],
    ids=lambda part: getattr(part, "__name__", str(part)),
)
def test_a_large_batch_is_counted_within_the_documented_bound(
    shape: Callable[[int], Batch], size: int, name: str, layout: str
):
    batch = shape(size)
    slots = sum(side.numel() for side in batch)
    given = batch if layout == "padded" else as_lists(*batch)
    metric = METRICS[name](pad_id=PADDING if layout == "padded" else None)
    tracemalloc.start()
    try:
        metric.update(*given)
        metric.compute()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 8 * slots < peak < (SUBSEQUENCE_BYTES if "rougeL" in name else FIXED_BYTES) + BYTES_A_SLOT * slots


@pytest.mark.slow
def test_an_interval_takes_room_for_two_copies_of_the_counts_in_float32():
    """And draws in room that is made once: new arrays for each draw took gigabytes of many segments in some runs."""
    segments = 100_000
    metric = ChrF(pad_id=PADDING, confidence=0.95)
    metric.update(*one_token(segments))
    tracemalloc.start()
    try:
        metric.compute()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2 * 4 * metric.rows[0].numel() + 64 * segments


def test_the_documented_bound_is_the_tested_one():
    text = (Path(__file__).parents[2] / "docs" / "guides" / "counting.md").read_text("utf-8")
    assert f"at most {FIXED_BYTES >> 20} MiB on top of its input, plus {BYTES_A_SLOT} bytes for each token slot" in text
    assert f"the limit is {SUBSEQUENCE_BYTES >> 20} MiB instead of {FIXED_BYTES >> 20} MiB" in text
