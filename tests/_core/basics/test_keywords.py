"""Wrong keywords: the error names the public class and our option; a keyword of a peer stands in that package."""

import inspect
from collections.abc import Callable
from types import ModuleType

import fastchrf
import pytest
from ignite.metrics import Rouge
from nltk.translate import bleu_score, chrf_score
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu import BLEU, corpus_bleu
from torchmetrics import text

import ngram_metrics
from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore, functional, mbr, significance
from ngram_metrics import ignite as for_ignite
from ngram_metrics.hugging_face import ComputeMetrics, Reward
from ngram_metrics.ignite import ScoresHandler
from ngram_metrics.lightning import ScoresCallback


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
        (BLEU, "force", Bleu, "tokenizer=None, for text that is tokenized"),
        (BLEU, "trg_lang", Bleu, "tokenizer, such as 'zh', 'ja-mecab' or 'ko-mecab'"),
        (corpus_bleu, "use_effective_order", Bleu, "effective_order"),
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
        (None, "use_aggregator", ROUGEScore, "average, 'none' for a score of each segment"),
        (None, "pad_token_id", Bleu, "pad_id"),
    ],
)
def test_a_keyword_of_a_peer_names_ours(peer: Callable | None, keyword: str, metric: type, ours: str):
    assert peer is None or keyword in inspect.signature(peer).parameters
    with pytest.raises(TypeError, match=rf"^{metric.__name__}: unknown argument {keyword}, did you mean {ours}\?$"):
        metric(**{keyword: None})
    if metric is not ROUGEScore or keyword not in ("variants", "multiref"):
        of_ignite = getattr(for_ignite, metric.__name__)
        with pytest.raises(TypeError, match=rf"^{metric.__name__}: unknown argument {keyword}, did you mean {ours}\?$"):
            of_ignite(**{keyword: None})


def test_a_class_made_of_ours_has_its_options():
    class Chatty(Bleu):
        def __init__(self, loud: bool = False, **kwargs: object) -> None:
            super().__init__(**kwargs)

    with pytest.raises(TypeError, match=r"^Chatty: unknown argument n_gram, did you mean ngram\?$"):
        Chatty(n_gram=4)
    with pytest.raises(TypeError, match=r"^Chatty: unknown argument loudd, did you mean loud\?$"):
        Chatty(loudd=True)


@pytest.mark.parametrize("package", [ngram_metrics, for_ignite])
def test_a_misspelt_keyword_names_ours(package: ModuleType):
    with pytest.raises(TypeError, match=r"^Bleu: unknown argument smoth, did you mean smooth\?$"):
        package.Bleu(smoth="exp")
    with pytest.raises(TypeError, match=r"^ChrF: unknown argument n_gram, expected one of \['char_order', .*\]$"):
        package.ChrF(n_gram=4)


def test_keywords_of_torchmetrics_are_its_own():
    assert Bleu(sync_on_compute=False, compute_on_cpu=True).compute_on_cpu
    with pytest.raises(ValueError, match="Expected keyword argument `sync_on_compute`"):
        Bleu(sync_on_compute="no")


@pytest.mark.parametrize("method", ["update", "forward"])
def test_wrong_arguments_of_a_method_name_the_public_class(method: str):
    metric = Bleu()
    for arguments, keywords, message in (
        ([["a"]], {}, "missing a required argument: 'target'"),
        ([["a"], ["a"], ["a"]], {}, "too many positional arguments"),
    ):
        with pytest.raises(TypeError, match=f"^Bleu.{method}: {message}$"):
            getattr(metric, method)(*arguments, **keywords)
    with pytest.raises(TypeError, match=rf"^Bleu.{method}: unknown argument predictions, did you mean preds\?$"):
        getattr(metric, method)(predictions=["a"], references=["a"])
    assert metric.update_count == 0


@pytest.mark.parametrize(
    "function",
    [
        *(getattr(functional, name) for name in functional.__all__),
        *(significance.paired_bootstrap, significance.paired_approximate_randomization),
        *(mbr.decode, mbr.pairwise, ngram_metrics.evaluate),
        *(ComputeMetrics, Reward, ScoresCallback, ScoresHandler),
    ],
)
def test_every_public_function_names_its_options(function: Callable):
    name = function.__name__
    first, *_, last = options = inspect.signature(function).parameters
    for option in (first, last):
        with pytest.raises(TypeError, match=rf"^{name}: unknown argument {option}_, did you mean {option}\?$"):
            function(**{f"{option}_": None})
    with pytest.raises(TypeError, match=f"^{name}: missing a required argument: '{first}'$"):
        function()
    if options[last].kind is not inspect.Parameter.KEYWORD_ONLY:
        with pytest.raises(TypeError, match=f"^{name}: too many positional arguments$"):
            function(*[None] * (len(options) + 1))


def test_a_type_error_of_the_call_itself_stays_as_it_is():
    with pytest.raises(TypeError, match=r"^int\(\) argument must be .*$"):
        functional.rouge_score("a", "a", normalizer=lambda text: int(None))
