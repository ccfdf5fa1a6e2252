"""What a tokenizer may be: a name, any callable, one of Hugging Face, a model of sentencepiece; and what is refused."""

import hashlib
import io
import logging
import shlex
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from documentation import DOCS, blocks
from oracles import close
from sacrebleu.metrics import BLEU
from sacrebleu.metrics.bleu import _TOKENIZERS
from sacrebleu.tokenizers import tokenizer_spm
from systems import references

sentencepiece = pytest.importorskip("sentencepiece", reason="its models are tokenizers")
tokenizers = pytest.importorskip("tokenizers", reason="its tokenizers are passed")
transformers = pytest.importorskip("transformers", reason="its tokenizers are passed")

from ngram_metrics import Bleu, ROUGEScore
from ngram_metrics._core.scoring.settings import name_unequal
from ngram_metrics._core.text import tokenizer_option
from ngram_metrics._core.text.tokenizer_option import batch_tokenizer, check_tokenizer, tokenizer_signature
from ngram_metrics._core.text.word_rules import RULES
from ngram_metrics.functional import bleu_score

NAMES = [*filter(None, RULES), "ja-mecab", "ko-mecab"]


def tokenized(tokenizer, texts):
    return list(batch_tokenizer(tokenizer)(texts, "segment {}".format))


@pytest.mark.engines
@pytest.mark.parametrize(("name", "module"), [("ja-mecab", "MeCab"), ("ko-mecab", "mecab_ko")])
def test_tokenizers_that_need_mecab_are_those_of_sacrebleu(name, module):
    pytest.importorskip(module, reason=f"{name} needs {module}")
    peer = BLEU(tokenize=name)
    texts = ["", " \n", "Hello, 世界。", "こんにちは、世界。 ", "안녕하세요 세계!"]
    assert [list(tokens) for tokens in tokenized(name, texts)] == [peer._preprocess_segment(t).split() for t in texts]


@pytest.mark.engines
def test_rouge_takes_the_words_of_icu_as_its_page_shows():
    pytest.importorskip("icu4py", reason="ICU finds the words")
    (code,) = (code for code in blocks(DOCS / "metrics" / "rouge.md", "python") if "icu4py" in code)
    names = {"ROUGEScore": ROUGEScore}
    exec(code, names)
    names["metric"].update(["ฉันชอบกินข้าวผัด"], ["ฉันชอบกินข้าวต้ม"])
    # Of ฉัน ชอบ กิน ข้าว ผัด and ฉัน ชอบ กิน ข้าวต้ม three words are in both.
    assert names["metric"].compute()["rouge1_fmeasure"].item() == close(2 * 3 / (5 + 4))
    letters = ROUGEScore(tokenizer="unicode", rouge_keys="rouge1")
    letters.update(["ฉันชอบกินข้าวผัด"], ["ฉันชอบกินข้าวต้ม"])
    assert round(letters.compute()["rouge1_fmeasure"].item(), 3) == 0.833


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("gpt2", "for a model, pass its tokenizer, such as AutoTokenizer.from_pretrained('gpt2'"),
        ("facebook/bart-large", "such as AutoTokenizer.from_pretrained('facebook/bart-large'"),
        ("", "pass its tokenizer"),
        ("13A", "did you mean '13a'?"),
    ],
)
def test_an_unknown_name_is_refused_with_the_names_there_are(name, hint):
    with pytest.raises(ValueError, match=r"unknown tokenizer '.*': expected one of") as error:
        check_tokenizer(name)
    assert hint in str(error.value)
    assert all(repr(one) in str(error.value) for one in NAMES)


@pytest.mark.parametrize("name", ["spm", "flores101", "flores200", "spBLEU-1K"])
def test_a_name_that_would_download_is_refused(name):
    with pytest.raises(
        ValueError, match=rf"tokenizer '{name}' would download a model: .* pass the SentencePieceProcessor"
    ):
        batch_tokenizer(name)


def test_every_name_of_sacrebleu_is_offered_or_refused_for_a_reason():
    assert set(_TOKENIZERS) <= {*NAMES, "spm", "flores101", "flores200", "spBLEU-1K"}


@pytest.mark.parametrize("name", ["ja-mecab", "ko-mecab"])
def test_what_is_not_installed_is_named_with_how_to_install_it(monkeypatch, name):
    # None: to import it raises
    monkeypatch.setitem(sys.modules, f"sacrebleu.tokenizers.tokenizer_{name.replace('-', '_')}", None)
    tokenizer_option._sacrebleu_tokenizer.cache_clear()
    with pytest.raises(ModuleNotFoundError, match=rf"tokenizer '{name}' needs .* pip install 'sacrebleu\[ja,ko\]'"):
        batch_tokenizer(name)
    monkeypatch.undo()
    tokenizer_option._sacrebleu_tokenizer.cache_clear()


@pytest.mark.parametrize(
    ("tokenizer", "expected"),
    [
        (list, [["a", " ", "b"], []]),
        (lambda text: tuple(map(ord, text)), [(97, 32, 98), ()]),
        (str.split, [["a", "b"], []]),
        (lambda text: range(len(text)), [range(3), range(0)]),
    ],
)
def test_a_callable_is_asked_for_each_text(tokenizer, expected):
    assert tokenized(tokenizer, ["a b", ""]) == expected
    assert tokenized(tokenizer, []) == []


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [("a b", "str"), ({"a"}, "set"), (None, "NoneType"), (iter("a"), r"str_\w*iterator"), ({"input_ids": [1]}, "dict")],
)
def test_a_callable_that_returns_no_sequence_is_refused(wrong, kind):
    words = rf"^the tokenizer returned a {kind} for segment 1, 'A b': expected a sequence of tokens"
    with pytest.raises(TypeError, match=words):
        tokenized(lambda text: wrong if text else [], ["", "A b"])


@pytest.mark.parametrize(("tokenizer", "name"), [(shlex.split, "shlex.split"), (str.split, "str.split")])
def test_a_callable_is_named_in_signatures(tokenizer, name):
    assert tokenizer_signature(tokenizer) == {"tok": name}


class OfAnotherLibrary:
    """Not callable, and with a method of the same name as in `tokenizers`."""

    def encode_batch(self, texts):
        return [[0] for _ in texts]


@pytest.mark.parametrize(
    "tokenizer", [5, ["a"], b"13a", object(), OfAnotherLibrary()], ids=lambda one: type(one).__name__
)
def test_what_is_no_tokenizer_is_refused(tokenizer):
    with pytest.raises(TypeError, match=r"tokenizer is an? .*: expected None, one of .*13a.* Hugging Face tokenizer"):
        batch_tokenizer(tokenizer)


SAMPLES = ["the cat sat on the mat", "", "a cat", "the the the the the the the the the", "unseen 猫 👩\u200d👧"]
VOCABULARY = ["<pad>", "<s>", "</s>", "?", "the", "cat", "sat", "on", "mat", "a"]
OF_SAMPLES = [[VOCABULARY.index(word if word in VOCABULARY else "?") for word in text.split()] for text in SAMPLES]


def fast_tokenizer(words=VOCABULARY, **padding):
    """A tokenizer of words, whose template adds a token before and after each text."""
    model = tokenizers.models.WordLevel({word: index for index, word in enumerate(words)}, unk_token="?")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    if padding:
        tokenizer.enable_padding(length=40, **padding)
    return tokenizer


def truncating():
    tokenizer = fast_tokenizer()
    tokenizer.enable_truncation(3)
    return tokenizer


def wrapped(tokenizer, **options):
    # Up to transformers 4 the wrapper sets the prefix of the tokenizer itself, by default to none.
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        add_prefix_space=True,
        **options,
    )


@pytest.mark.parametrize(
    "tokenizer",
    [
        fast_tokenizer(),
        wrapped(fast_tokenizer()),
        *(fast_tokenizer(direction=side) for side in ("left", "right")),
        *(wrapped(fast_tokenizer(direction=side), padding_side=side) for side in ("left", "right")),
        wrapped(truncating()),
    ],
)
def test_ids_are_those_of_the_text_alone(tokenizer):
    assert fast_tokenizer().encode("cat").ids[0] == 1  # of the template
    assert [*map(list, tokenized(tokenizer, SAMPLES))] == OF_SAMPLES
    assert tokenized(tokenizer, []) == []


def test_a_tokenizer_that_truncates_is_refused():
    tokenizer = truncating()
    with pytest.raises(ValueError, match=r"this tokenizer truncates.*call its method no_truncation\(\) first"):
        batch_tokenizer(tokenizer)
    tokenizer.no_truncation()
    batch_tokenizer(tokenizer)


def test_a_tokenizer_written_in_python_gives_the_ids_of_the_text_alone():
    ids = [[byte + 3 for byte in text.encode()] for text in SAMPLES]
    assert [*map(list, tokenized(transformers.ByT5Tokenizer(), SAMPLES))] == ids


def test_a_longest_length_of_the_model_cuts_nothing_and_is_not_warned_of(monkeypatch):
    wrapper = wrapped(fast_tokenizer(), model_max_length=2)
    logged = io.StringIO()
    monkeypatch.setattr(logging.getLogger("transformers"), "handlers", [logging.StreamHandler(logged)])
    assert [*map(list, tokenized(wrapper, SAMPLES))] == OF_SAMPLES
    assert logged.getvalue() == ""


def test_tokenizers_are_told_apart_by_their_vocabulary_in_settings_and_signature():
    other = fast_tokenizer([*VOCABULARY, "dog"])
    same = fast_tokenizer(direction="left")  # padding changes no count
    for package, wrap in (("tokenizers", lambda one: one), ("transformers", wrapped)):
        metric, equal, unequal = (Bleu(tokenizer=wrap(tokenizer)) for tokenizer in (fast_tokenizer(), same, other))
        settings = [one.scorer.settings() for one in (metric, equal, unequal)]
        assert name_unequal(*settings[:2]) == []
        assert name_unequal(*settings[1:]) == ["tokenizer"]
        assert metric.signature == equal.signature != unequal.signature
        assert f"|{package}:{version(package)}|" in metric.signature


def test_what_a_tokenizer_returned_is_refused_with_the_name_of_its_ids():
    batch = transformers.ByT5Tokenizer()(["a", "b"])
    for preds in (batch, [batch]):
        with pytest.raises(TypeError, match=r'is a BatchEncoding.*: expected .*; pass its \["input_ids"\]$'):
            bleu_score(preds, [[1], [2]][: len(preds)])
    encoding = fast_tokenizer().encode("the cat")
    for preds in (encoding, [encoding]):
        with pytest.raises(TypeError, match=r"is an Encoding.*: expected .*; pass its .ids$"):
            bleu_score(preds, [[1]])


TEXTS = [
    "",
    " \n",
    "The cat sat.",
    "  two   blanks ",
    "a\u2028b\x0bc\u00a0d\u3000e",
    "unseen: 東京 🎉 Zoë",
    "a\tb\r",
    "a\x00b",
    "\ufeffmark",
    "\u2581literal \u2581 piece",
]


def trained_pieces(vocabulary: int = 120, normalization: str = "nmt_nfkc") -> bytes:
    """The serialized model; equal for equal settings. Under the normalization ``identity`` rare blanks are text."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(references(400)),
        model_writer=model,
        vocab_size=vocabulary,
        normalization_rule_name=normalization,
        num_threads=1,
        minloglevel=2,
    )
    return model.getvalue()


@pytest.fixture(scope="module", params=["nmt_nfkc", "identity"])
def model(request: pytest.FixtureRequest) -> bytes:
    return trained_pieces(normalization=request.param)


@pytest.fixture
def peer(model: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BLEU:
    """sacrebleu's flores200 with the model in the place of the one it would download."""
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / Path(tokenizer_spm.SPM_MODELS["flores200"]["url"]).name).write_bytes(model)
    monkeypatch.setattr(tokenizer_spm, "SACREBLEU_DIR", str(tmp_path))
    return BLEU(tokenize="flores200")


def test_tokens_are_sacrebleus_given_the_model(model: bytes, peer: BLEU):
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    found = batch_tokenizer(processor)(TEXTS, "segment {}".format)
    assert found == [peer._preprocess_segment(text).split() for text in TEXTS]
    assert any(len(tokens) > len(text.split()) for tokens, text in zip(found, TEXTS, strict=True))


def test_a_model_is_known_by_its_digest(model: bytes):
    digest = hashlib.sha256(model).hexdigest()[:8]
    other = trained_pieces(vocabulary=60)
    one, same, another = (sentencepiece.SentencePieceProcessor(model_proto=of) for of in (model, model, other))
    assert tokenizer_signature(one) == {"tok": f"spm[{digest}]", "sentencepiece": sentencepiece.__version__}
    metrics = [Bleu(tokenizer=of) for of in (one, same, another)]
    assert f"tok:spm[{digest}]" in metrics[0].signature
    settings = [metric.scorer.settings() for metric in metrics]
    assert name_unequal(*settings[:2]) == []
    assert name_unequal(*settings[1:]) == ["tokenizer"]
