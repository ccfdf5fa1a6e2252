"""The metrics in one call: read, count, score. They keep no state, so a reward compiles into one graph."""

from ngram_metrics.functional.replacements import aggregate_chrf, get_score, pad2max, pairwise_chrf
from ngram_metrics.functional.score_functions import bleu_score, chrf_score, ngram_overlap, rouge_score

__all__ = [
    "bleu_score",
    "rouge_score",
    "chrf_score",
    "ngram_overlap",
    "get_score",
    "pad2max",
    "pairwise_chrf",
    "aggregate_chrf",
]
