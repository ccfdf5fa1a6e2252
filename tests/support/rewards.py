"""Scores of padded ids that are computed in one graph, as rewards are, and batches for them."""

import functools
from collections.abc import Callable
from typing import Any

import torch
from metrics.apis import COMPLETE
from torch import Tensor

from ngram_metrics.functional import bleu_score, get_score, ngram_overlap, rouge_score

PADDING = 0
PADDED = {"pad_id": (PADDING, -100)}


def batch_of(
    seed: int, segments: int = 3, width: int = 6, references: int | None = 2, samples: int | None = None
) -> tuple[Tensor, ...]:
    """Ids -1 and 0 (padding) to 4, so that n-grams and padding recur."""
    generator = torch.Generator().manual_seed(seed)
    shape = (segments, width) if samples is None else (segments, samples, width)
    # One more than the hypotheses' width: none of the two is taken for the other.
    other = (segments, width + 1) if references is None else (segments, references, width + 1)
    return tuple(torch.randint(-1, 5, size, generator=generator) for size in (shape, other))


def _each_segment(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    return functools.partial(function, **{"average": "none", "pad_id": PADDING, **options})


#: A score of each segment, or of all, and what its batches are beside the seed.
REWARDS: dict[str, tuple[Callable[[Tensor, Tensor], Any], dict[str, Any]]] = {
    **{api.name: (_each_segment(api.function), {}) for api in COMPLETE},
    "bleu": (_each_segment(bleu_score, smooth="exp"), {}),
    "corpus bleu": (functools.partial(bleu_score, smooth="exp", average="micro", pad_id=PADDING), {"references": None}),
    "bleu-effective": (
        _each_segment(bleu_score, effective_order=True, weights=(0.4, 0.3, 0.2, 0.1), **PADDED),
        {"references": None},
    ),
    "rouge": (_each_segment(rouge_score, rouge_keys=("rouge1", "rouge2", "rougeL")), {"width": 4}),
    "mean rouge": (_each_segment(rouge_score, rouge_keys="rouge1", accumulate="avg"), {"width": 4}),
    "overlap": (_each_segment(ngram_overlap, ngram=2), {"samples": 2}),
    "get_score": (lambda preds, target: get_score(target, preds, PADDING, 2), {"samples": 2, "references": None}),
}
