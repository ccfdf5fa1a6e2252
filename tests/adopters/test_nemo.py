"""NeMo reads each segment by the tokenizer of its language, and adds up the counts of all languages."""

import pytest
import torch
from documentation import run_recipe
from sacrebleu.metrics import BLEU
from torchmetrics.functional.text.bleu import _bleu_score_compute, _bleu_score_update

TEXTS = [
    ("13a", "The cat sat on a mat, and slept.", "The cat sat on the mat and slept."),
    ("zh", "我们昨天在河边看见白鹭。", "我们昨天在河边看见了白鹭。"),
    ("13a", "It rained.", "It rained all day."),
]
READ = {name: BLEU(tokenize=name).tokenizer for name in ("13a", "zh")}


def values_of_the_recipe() -> dict[str, float | list[float]]:
    metric = run_recipe("NeMo")["metric"]
    for name, hypothesis, reference in TEXTS:
        metric.update([hypothesis], [reference], tokenizers=[name])
    return {name: value.tolist() for name, value in metric.compute().items()}


def test_the_score_is_that_of_the_words_of_all_languages():
    values = values_of_the_recipe()
    hypotheses = [READ[name](hypothesis) for name, hypothesis, _ in TEXTS]
    references = [READ[name](reference) for name, _, reference in TEXTS]
    theirs = BLEU(tokenize="none", smooth_method="none").corpus_score(hypotheses, [references])
    assert values.pop("bleu") == pytest.approx(theirs.score / 100, rel=1e-12)
    assert [*values.values()] == [theirs.counts, theirs.totals, theirs.sys_len, theirs.ref_len]


def test_each_language_has_the_score_of_sacrebleu():
    recipe = run_recipe("NeMo")
    language = {"13a": "en", "zh": "zh"}
    for name, hypothesis, reference in TEXTS:
        recipe["update"]([hypothesis], [reference], [language[name]])
    values = recipe["bleu_of_languages"].compute()
    for name, label in language.items():
        hypotheses = [hypothesis for rule, hypothesis, _ in TEXTS if rule == name]
        references = [reference for rule, _, reference in TEXTS if rule == name]
        theirs = BLEU(tokenize=name).corpus_score(hypotheses, [references])
        assert values[f"bleu_{label}"].item() == pytest.approx(theirs.score / 100, rel=1e-12)


def test_the_score_is_nemos_within_float32():
    """``BLEU.update`` of nemo/collections/asr/metrics/bleu.py of NeMo 2.6 calls torchmetrics for each segment."""
    matches, totals = torch.zeros(4), torch.zeros(4)
    lengths = torch.tensor(0.0), torch.tensor(0.0)
    for name, hypothesis, reference in TEXTS:

        def words(text: str, name: str = name) -> list[str]:
            return READ[name](text).split()

        lengths = _bleu_score_update([hypothesis], [[reference]], matches, totals, *lengths, 4, words)
    theirs = _bleu_score_compute(*lengths, matches, totals, 4, [0.25] * 4, False)
    assert values_of_the_recipe()["bleu"] == pytest.approx(theirs.item(), rel=1e-6)
