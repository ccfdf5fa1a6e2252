"""The metrics in one call: read, count, score. They keep no state, so a reward compiles into one graph."""

from ngram_metrics.functional.corpus_functions import distinct as distinct
from ngram_metrics.functional.corpus_functions import near_duplicates as near_duplicates
from ngram_metrics.functional.corpus_functions import repetition as repetition
from ngram_metrics.functional.corpus_functions import self_bleu as self_bleu
from ngram_metrics.functional.corpus_functions import self_repetition as self_repetition
from ngram_metrics.functional.replacements import aggregate_chrf as aggregate_chrf
from ngram_metrics.functional.replacements import get_score as get_score
from ngram_metrics.functional.replacements import pad2max as pad2max
from ngram_metrics.functional.replacements import pairwise_chrf as pairwise_chrf
from ngram_metrics.functional.score_functions import bleu_score as bleu_score
from ngram_metrics.functional.score_functions import chrf_score as chrf_score
from ngram_metrics.functional.score_functions import gleu_score as gleu_score
from ngram_metrics.functional.score_functions import matched_orders as matched_orders
from ngram_metrics.functional.score_functions import ngram_overlap as ngram_overlap
from ngram_metrics.functional.score_functions import rouge_score as rouge_score
from ngram_metrics.functional.score_functions import ter_score as ter_score

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
