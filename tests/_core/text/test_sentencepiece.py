"""Models of sentencepiece as tokenizers: sacrebleu's words and scores given the same model, and its name."""

import copy
import hashlib
import io
import pickle
from pathlib import Path

import pytest
from sacrebleu.metrics import BLEU
from sacrebleu.tokenizers import tokenizer_spm
from spm_model import trained

from ngram_metrics import Bleu, ROUGEScore
from ngram_metrics._core.text.tokenizer_option import batch_tokenizer, tokenizer_signature

sentencepiece = pytest.importorskip("sentencepiece")

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


@pytest.fixture(scope="module", params=["nmt_nfkc", "identity"])
def model(request: pytest.FixtureRequest) -> bytes:
    return trained(normalization=request.param)


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
    other = trained(vocabulary=60)
    one, same, another = (sentencepiece.SentencePieceProcessor(model_proto=of) for of in (model, model, other))
    assert tokenizer_signature(one) == {"tok": f"spm[{digest}]", "sentencepiece": sentencepiece.__version__}
    metrics = [Bleu(tokenizer=of) for of in (one, same, another)]
    assert f"tok:spm[{digest}]" in metrics[0].signature
    assert bool((metrics[0].settings == metrics[1].settings).all())
    assert not bool((metrics[0].settings == metrics[2].settings).all())


def test_rouge_leaves_the_text_to_the_model(model: bytes):
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    metric = ROUGEScore(tokenizer=processor, rouge_keys="rouge1")
    metric.update(["Zoë, ÄÖÜ"], ["Zoë, ÄÖÜ"])
    assert "norm:none" in metric.signature
    assert metric.compute()["rouge1_fmeasure"].item() == 1


def test_a_metric_with_a_model_is_copied_and_pickled(model: bytes):
    metric = Bleu(tokenizer=sentencepiece.SentencePieceProcessor(model_proto=model), average="micro", ngram=1)
    metric.update(["the cat"], ["the dog"])
    buffer = io.BytesIO()
    pickle.dump(metric, buffer)
    for other in (copy.deepcopy(metric), pickle.loads(buffer.getvalue())):
        other.update(["a"], ["a"])
        assert other.compute() > metric.compute()
        assert other.signature == metric.signature
