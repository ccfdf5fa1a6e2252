"""Hugging Face tokenizers, trained here on a few lines: their ids, without special tokens, padding or truncation."""

import io
import logging
from importlib.metadata import version

import pytest

from ngram_metrics import Bleu
from ngram_metrics._core.text.tokenizer_option import batch_tokenizer
from ngram_metrics.functional import bleu_score

tokenizers = pytest.importorskip("tokenizers")
TEXTS = ["the cat sat on the mat", "", "a cat", "the the the the the the the the the", "unseen 猫 👩\u200d👧"]


def trained():
    """A byte-level BPE whose template adds a token before and after each text."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<pad>", "<s>", "</s>"],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(["the cat sat on the mat", "there is a cat on the mat"], trainer)
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    return tokenizer


def wrapped(tokenizer, **options):
    transformers = pytest.importorskip("transformers")
    # Up to transformers 4 the wrapper sets the prefix of the tokenizer itself, by default to none.
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        add_prefix_space=True,
        **options,
    )


def tokenized(tokenizer, texts):
    return [list(ids) for ids in batch_tokenizer(tokenizer)(texts, "segment {}".format)]


def tokens_only(tokenizer):
    return [tokenizer.encode(text, add_special_tokens=False).ids for text in TEXTS]


@pytest.mark.parametrize("wrap", [lambda one: one, wrapped], ids=["tokenizers", "transformers"])
def test_ids_are_those_of_the_text_alone(wrap):
    tokenizer = trained()
    assert tokenizer.encode("cat").ids[0] == 1  # of the template
    assert tokenized(wrap(tokenizer), TEXTS) == tokens_only(tokenizer)
    assert tokenized(wrap(tokenizer), []) == []


@pytest.mark.parametrize("direction", ["left", "right"])
def test_padding_set_on_the_tokenizer_is_ignored(direction):
    expected = tokens_only(trained())
    padding = trained()
    padding.enable_padding(length=40, pad_id=0, pad_token="<pad>", direction=direction)
    assert tokenized(padding, TEXTS) == expected
    assert padding.padding is not None
    wrapper = wrapped(padding, padding_side=direction)
    assert tokenized(wrapper, TEXTS) == expected


def test_a_tokenizer_that_truncates_is_refused():
    tokenizer = trained()
    tokenizer.enable_truncation(3)
    with pytest.raises(ValueError, match=r"this tokenizer truncates.*call its no_truncation\(\) first"):
        batch_tokenizer(tokenizer)
    tokenizer.no_truncation()
    batch_tokenizer(tokenizer)


def test_truncation_set_in_the_wrapped_tokenizer_cuts_nothing():
    expected, tokenizer = tokens_only(trained()), trained()
    tokenizer.enable_truncation(3)
    assert tokenized(wrapped(tokenizer), TEXTS) == expected


def test_a_tokenizer_written_in_python_gives_the_ids_of_the_text_alone():
    transformers = pytest.importorskip("transformers")
    ids = [[byte + 3 for byte in text.encode()] for text in TEXTS]
    assert tokenized(transformers.ByT5Tokenizer(), TEXTS) == ids


def test_a_longest_length_of_the_model_cuts_nothing_and_is_not_warned_of(monkeypatch):
    tokenizer, logged = trained(), io.StringIO()
    wrapper = wrapped(tokenizer, model_max_length=2)
    monkeypatch.setattr(logging.getLogger("transformers"), "handlers", [logging.StreamHandler(logged)])
    assert tokenized(wrapper, TEXTS) == tokens_only(tokenizer)
    assert logged.getvalue() == ""


def test_tokenizers_are_told_apart_by_their_vocabulary_in_settings_and_signature():
    other = tokenizers.Tokenizer(tokenizers.models.WordLevel({"the": 0, "?": 1}, unk_token="?"))
    same = trained()
    same.enable_padding(length=9)  # changes no count
    for package, wrap in (("tokenizers", lambda one: one), ("transformers", wrapped)):
        metric, equal, unequal = (Bleu(tokenizer=wrap(tokenizer)) for tokenizer in (trained(), same, other))
        assert metric.settings.equal(equal.settings)
        assert not metric.settings.equal(unequal.settings)
        assert metric.signature == equal.signature != unequal.signature
        assert f"|{package}:{version(package)}|" in metric.signature


def test_what_a_tokenizer_returned_is_refused_with_the_name_of_its_ids():
    transformers = pytest.importorskip("transformers", reason="transformers is optional")
    batch = transformers.ByT5Tokenizer()(["a", "b"])
    for preds in (batch, [batch]):
        with pytest.raises(TypeError, match=r'is a BatchEncoding.*: expected .*; pass its \["input_ids"\]$'):
            bleu_score(preds, [[1], [2]][: len(preds)])
    encoding = trained().encode("the cat")
    for preds in (encoding, [encoding]):
        with pytest.raises(TypeError, match=r"is an Encoding.*: expected .*; pass its .ids$"):
            bleu_score(preds, [[1]])
