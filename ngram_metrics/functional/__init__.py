"""The metrics in one call: read, count, score. They keep no state, so a reward compiles into one graph."""

from ngram_metrics._core.basics.lazy import load_arrays
from ngram_metrics.functional.corpus_functions import distinct, near_duplicates, repetition, self_bleu, self_repetition
from ngram_metrics.functional.replacements import aggregate_chrf, get_score, pad2max, pairwise_chrf
from ngram_metrics.functional.score_functions import (
    bleu_score,
    chrf_score,
    gleu_score,
    matched_orders,
    ngram_overlap,
    rouge_score,
    ter_score,
)

load_arrays()

__all__ = [
    "bleu_score",
    "rouge_score",
    "chrf_score",
    "ngram_overlap",
    "gleu_score",
    "ter_score",
    "matched_orders",
    "near_duplicates",
    "distinct",
    "repetition",
    "self_bleu",
    "self_repetition",
    "get_score",
    "pad2max",
    "pairwise_chrf",
    "aggregate_chrf",
]
