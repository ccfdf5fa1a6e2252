"""BLEU under its defaults is sacrebleu's for text, tokens and ids, and what two of them mean in every API."""

from collections.abc import Callable, Sequence
from typing import Any
from zlib import crc32

import pytest
from sacrebleu.metrics import BLEU
from systems import output, references

from ngram_metrics import Bleu
from ngram_metrics.functional import bleu_score

#: Hypotheses with two references: the first is longer than all orders, the next three are shorter than order 4.
ROWS = [
    ("The cat sat on the mat.", "The cat sat on a mat.", "The cats sat on mats."),
    ("It rains.", "It rains.", "It snows."),
    ("Yes", "Yes", "Oh, yes"),
    ("so it goes", "so it goes on", "so be it"),
    ("No, never!", "Always?", "Sometimes."),
    ("We were there all day", "We are there every day", "They were there"),
]
LONG = references(40)
ROWS += zip(output(LONG, 0.3, seed=10), LONG, output(LONG, 0.4, seed=3), strict=True)
#: All segments; three without a match of order 4, which smoothing scores; and three that are too short for that order.
PARTS = {"whole": slice(None), "unmatched": slice(3, 6), "short": slice(1, 4)}
#: Tokens are the words between spaces, which 13a would split further, and ids are their numbers.
READ: dict[str, Callable[[str], Any]] = {
    "text": str,
    "tokens": str.split,
    "ids": lambda text: [crc32(word.encode()) for word in text.split()],
}


def _corpus(kind: str, rows: Sequence[Sequence[str]] = ROWS) -> tuple[list[Any], list[list[Any]]]:
    read = [list(map(READ[kind], row)) for row in rows]
    return [row[0] for row in read], [row[1:] for row in read]


@pytest.mark.parametrize("kind", READ)
def test_scores_are_sacrebleus(kind: str):
    options: dict[str, Any] = {} if kind == "text" else {"tokenize": "none", "force": True}
    for part in PARTS.values():
        hypotheses, *several = zip(*ROWS[part], strict=True)
        expected = BLEU(**options).corpus_score(hypotheses, several).score / 100
        assert bleu_score(*_corpus(kind, ROWS[part])).item() == pytest.approx(expected, abs=1e-14)
    peer = BLEU(**options, effective_order=True)
    each = [peer.sentence_score(hypothesis, several).score / 100 for hypothesis, *several in ROWS]
    assert bleu_score(*_corpus(kind), average="none").tolist() == pytest.approx(each, abs=1e-14)


@pytest.mark.parametrize(("average", "means"), [("micro", False), ("macro", True), ("none", True)])
def test_an_effective_order_of_none_is_the_setting_that_it_means(average: Any, means: bool):
    default, same, other = (Bleu(average=average, effective_order=order) for order in (None, means, not means))
    assert default.settings.equal(same.settings)
    assert default.signature == same.signature
    assert not default.settings.equal(other.settings)
    assert default.signature != other.signature
    same.update(["a b"], ["a b c"])
    same.persistent(True)
    default.load_state_dict(same.state_dict())
    assert default.compute().equal(same.compute())


@pytest.mark.parametrize("kind", ["tokens", "ids"])
@pytest.mark.parametrize("name", ["13a", "intl", "zh", "char"])
def test_a_tokenizer_with_a_name_leaves_tokens_and_ids_as_they_are(name: Any, kind: str):
    preds, target = _corpus(kind)
    named, unnamed = Bleu(tokenizer=name), Bleu(tokenizer=None)
    assert f"|tok:{name}|" in str(named.signature)
    assert named(preds, target).equal(unnamed(preds, target))
    assert "|tok:" not in str(named.signature)
    assert bleu_score(preds, target, tokenizer=name).equal(unnamed.compute())
    named.reset()
    assert not named(*_corpus("text")).equal(unnamed.compute())
    assert f"|tok:{name}|" in str(named.signature)
