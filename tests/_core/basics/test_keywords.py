"""Wrong keywords: the error names the public class and our option; a keyword of a peer stands in that package."""

import inspect
import pkgutil
from types import ModuleType
from typing import Any

import pytest

from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore, functional


def object_of(name: str) -> Any:
    """The object of a name such as "package.module:Class.method"; without the package the test is skipped."""
    module = name.partition(":")[0]
    pytest.importorskip(module, reason=f"{module} is not installed", exc_type=ImportError)
    return pkgutil.resolve_name(name)


#: A keyword of another package, the class of ours that gets it, and what its error proposes.
KEYWORDS = [
    ("torchmetrics.text:BLEUScore", "n_gram", Bleu, "ngram"),
    ("torchmetrics.text:BLEUScore", "n_gram", NgramOverlap, "ngram"),
    ("torchmetrics.text:SacreBLEUScore", "tokenize", Bleu, "tokenizer"),
    ("torchmetrics.text:CHRFScore", "n_char_order", ChrF, "char_order"),
    ("torchmetrics.text:CHRFScore", "n_word_order", ChrF, "word_order"),
    ("torchmetrics.text:CHRFScore", "return_sentence_level_score", ChrF, "average='none'"),
    ("sacrebleu:BLEU", "max_ngram_order", Bleu, "ngram"),
    ("sacrebleu:BLEU", "tokenize", Bleu, "tokenizer"),
    ("sacrebleu:BLEU", "smooth_method", Bleu, "smooth"),
    ("sacrebleu:BLEU", "force", Bleu, "tokenizer=None, for text that is already tokenized"),
    ("sacrebleu:BLEU", "trg_lang", Bleu, "tokenizer, such as 'zh', 'ja-mecab' or 'ko-mecab'"),
    ("sacrebleu:corpus_bleu", "use_effective_order", Bleu, "effective_order"),
    ("sacrebleu:BLEU.corpus_score", "n_bootstrap", Bleu, "confidence, the level of the interval"),
    ("nltk.translate.bleu_score:corpus_bleu", "smoothing_function", Bleu, "smooth"),
    ("nltk.translate.bleu_score:corpus_bleu", "auto_reweigh", Bleu, "effective_order"),
    ("nltk.translate.chrf_score:corpus_chrf", "max_len", ChrF, "char_order"),
    ("nltk.translate.chrf_score:corpus_chrf", "ignore_whitespace", ChrF, "whitespace, which means the opposite"),
    ("fastchrf:pairwise_chrf", "remove_whitespace", ChrF, "whitespace, which means the opposite"),
    (
        "rouge_score.rouge_scorer:RougeScorer",
        "split_summaries",
        ROUGEScore,
        "sentence_splitter, such as nltk.sent_tokenize",
    ),
    ("ignite.metrics:Rouge", "variants", ROUGEScore, "rouge_keys"),
    ("ignite.metrics:Rouge", "multiref", ROUGEScore, "accumulate"),
    # Of packages that no environment of the tests has.
    ("", "max_order", Bleu, "ngram"),
    ("", "rouge_types", ROUGEScore, "rouge_keys"),
    ("", "use_aggregator", ROUGEScore, "average, 'none' for a score of each segment"),
    ("", "pad_token_id", Bleu, "pad_id"),
]


@pytest.mark.parametrize(("peer", "keyword", "metric", "ours"), KEYWORDS)
def test_a_keyword_of_a_peer_names_ours(peer: str, keyword: str, metric: type, ours: str):
    with pytest.raises(TypeError, match=rf"^{metric.__name__}: unknown argument {keyword}, did you mean {ours}\?$"):
        metric(**{keyword: None})
    if peer:
        assert keyword in inspect.signature(object_of(peer)).parameters


@pytest.mark.parametrize(
    ("keyword", "metric", "ours"),
    [row[1:] for row in KEYWORDS if not row[0].startswith("ignite")],  # a keyword of ignite names its class instead
)
def test_a_class_of_ignite_names_the_same(keyword: str, metric: type, ours: str, ignite_classes: ModuleType):
    of_ignite = getattr(ignite_classes, metric.__name__)
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


@pytest.mark.parametrize("name", ["ngram_metrics", "ngram_metrics.ignite"])
def test_a_misspelt_keyword_names_ours(name: str):
    package = object_of(name)
    with pytest.raises(TypeError, match=r"^Bleu: unknown argument smoth, did you mean smooth\?$"):
        package.Bleu(smoth="exp")
    with pytest.raises(TypeError, match=r"^ChrF: unknown argument n_gram, expected one of \[.*'char_order', .*\]$"):
        package.ChrF(n_gram=4)


def test_keywords_of_torchmetrics_are_its_own():
    assert Bleu(sync_on_compute=False, compute_on_cpu=True).compute_on_cpu
    with pytest.raises(ValueError, match="Expected keyword argument `sync_on_compute`"):
        Bleu(sync_on_compute="no")


@pytest.mark.parametrize("method", ["update", "forward"])
def test_wrong_arguments_of_a_method_name_the_public_class(method: str):
    """``forward`` calls ``update``."""
    metric = Bleu()
    for arguments, keywords, message in (
        ([["a"]], {}, "missing a required argument: 'target'"),
        ([["a"], ["a"], ["a"]], {}, "too many positional arguments"),
    ):
        with pytest.raises(TypeError, match=f"^Bleu.update: {message}$"):
            getattr(metric, method)(*arguments, **keywords)
    with pytest.raises(TypeError, match=r"^Bleu.update: unknown argument predictions, did you mean preds\?$"):
        getattr(metric, method)(predictions=["a"], references=["a"])
    assert metric.update_count == 0


@pytest.mark.parametrize(
    "path",
    [
        *(f"ngram_metrics.functional:{name}" for name in functional.__all__),
        "ngram_metrics.significance:paired_bootstrap",
        "ngram_metrics.significance:paired_approximate_randomization",
        "ngram_metrics.mbr:decode",
        "ngram_metrics.mbr:pairwise",
        "ngram_metrics:evaluate",
        "ngram_metrics.hugging_face:ComputeMetrics",
        "ngram_metrics.hugging_face:Reward",
        "ngram_metrics.lightning:ScoresCallback",
        "ngram_metrics.ignite:ScoresHandler",
    ],
)
def test_every_public_function_names_its_options(path: str):
    function = object_of(path)
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
