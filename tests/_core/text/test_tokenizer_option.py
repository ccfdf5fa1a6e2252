"""Foreign tokenizers: sacrebleu's that ask MeCab, any callable; and what each refuses."""

import shlex
import sys

import pytest
from documentation import DOCS, blocks
from oracles import close

from ngram_metrics import ROUGEScore
from ngram_metrics._core.text import tokenizer_option
from ngram_metrics._core.text.tokenizer_option import batch_tokenizer, check_tokenizer, tokenizer_signature
from ngram_metrics._core.text.word_rules import RULES

NAMES = [*filter(None, RULES), "ja-mecab", "ko-mecab"]


def tokenized(tokenizer, texts):
    return list(batch_tokenizer(tokenizer)(texts, "segment {}".format))


@pytest.mark.parametrize(("name", "module"), [("ja-mecab", "MeCab"), ("ko-mecab", "mecab_ko")])
def test_tokenizers_that_need_mecab_are_those_of_sacrebleu(name, module):
    pytest.importorskip(module)
    from sacrebleu.metrics import BLEU

    peer = BLEU(tokenize=name)
    texts = ["", " \n", "Hello, 世界。", "こんにちは、世界。 ", "안녕하세요 세계!"]
    assert [list(tokens) for tokens in tokenized(name, texts)] == [peer._preprocess_segment(t).split() for t in texts]


def test_rouge_takes_the_words_of_icu_as_its_page_shows():
    pytest.importorskip("icu4py", reason="icu4py is not installed")
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
    ("name", "hint"), [("14a", "from_pretrained('14a')"), ("", "pass its tokenizer"), ("13A", "did you mean '13a'?")]
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
    from sacrebleu.metrics.bleu import _TOKENIZERS

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


def test_what_a_callable_raises_is_not_changed():
    def fails(text):
        raise RuntimeError(f"cannot read {text}")

    with pytest.raises(RuntimeError, match="cannot read a b"):
        tokenized(fails, ["a b"])


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
