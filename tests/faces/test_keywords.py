"""The keywords of other packages: each stands in one of them, and the error names ours."""

import inspect
from collections.abc import Callable

import fastchrf
import pytest
from ignite.metrics import Rouge
from nltk.translate import bleu_score, chrf_score
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu import BLEU
from torchmetrics import text

from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore
from ngram_metrics.torchmetrics.keywords import refuse_keywords_of_peers


@pytest.mark.parametrize(
    ("peer", "keyword", "metric", "ours"),
    [
        (text.BLEUScore, "n_gram", Bleu, "ngram"),
        (text.BLEUScore, "n_gram", NgramOverlap, "ngram"),
        (text.SacreBLEUScore, "tokenize", Bleu, "tokenizer"),
        (text.CHRFScore, "n_char_order", ChrF, "char_order"),
        (text.CHRFScore, "n_word_order", ChrF, "word_order"),
        (text.CHRFScore, "return_sentence_level_score", ChrF, "average='none'"),
        (BLEU, "max_ngram_order", Bleu, "ngram"),
        (BLEU, "tokenize", Bleu, "tokenizer"),
        (BLEU, "smooth_method", Bleu, "smooth"),
        (BLEU.corpus_score, "n_bootstrap", Bleu, "confidence, the level of the interval"),
        (bleu_score.corpus_bleu, "smoothing_function", Bleu, "smooth"),
        (bleu_score.corpus_bleu, "auto_reweigh", Bleu, "effective_order"),
        (chrf_score.corpus_chrf, "max_len", ChrF, "char_order"),
        (chrf_score.corpus_chrf, "ignore_whitespace", ChrF, "whitespace, which means the opposite"),
        (fastchrf.pairwise_chrf, "remove_whitespace", ChrF, "whitespace, which means the opposite"),
        (RougeScorer, "split_summaries", ROUGEScore, "sentence_splitter, such as nltk.sent_tokenize"),
        (Rouge, "variants", ROUGEScore, "rouge_keys"),
        (Rouge, "multiref", ROUGEScore, "accumulate"),
        # These peers are not installed.
        (None, "max_order", Bleu, "ngram"),
        (None, "rouge_types", ROUGEScore, "rouge_keys"),
        (None, "use_aggregator", ROUGEScore, "average, 'none' for a score of each sentence"),
        (None, "pad_token_id", Bleu, "pad_id"),
    ],
)
def test_a_keyword_of_a_peer_names_ours(peer: Callable | None, keyword: str, metric: type, ours: str):
    assert peer is None or keyword in inspect.signature(peer).parameters
    with pytest.raises(TypeError, match=rf"^{metric.__name__} has no {keyword}: expected {ours}$"):
        refuse_keywords_of_peers(metric, [keyword])


def test_a_class_made_of_ours_has_its_options():
    class Chatty(Bleu):
        def __init__(self, **kwargs: object) -> None:
            super().__init__(**kwargs)

    with pytest.raises(TypeError, match="Chatty has no n_gram: expected ngram"):
        refuse_keywords_of_peers(Chatty, ["n_gram"])


def test_other_keywords_are_left_to_torchmetrics():
    # ChrF has no option that is called n_gram elsewhere.
    refuse_keywords_of_peers(ChrF, ["n_gram", "tokenize", "averages"])
    refuse_keywords_of_peers(Bleu, ["sync_on_compute", "compute_on_cpu"])
