"""Few texts are counted in plain Python and many in arrays: the same counts on both sides of the limit."""

import warnings
from typing import Any

import pytest
import torch
from draws import fewer
from hypothesis import given
from hypothesis import strategies as st

from ngram_metrics import Bleu, metrics
from ngram_metrics.scorer import Scorer
from ngram_metrics.scores.references import NO_REFERENCES, joined_range

CPU = torch.device("cpu")
KEYS = ("rouge1", "rouge3", "rougeL", "rougeLsum")
SCORERS: dict[str, Scorer] = {
    "bleu": metrics.bleu(),
    **{f"bleu {name}": metrics.bleu(tokenizer=name) for name in ("13a", "intl", "zh", "char", "unicode", "none")},
    "bleu lower": metrics.bleu(ngram=2, tokenizer="13a", lowercase=True),
    "chrf": metrics.chrf(),
    "chrf++": metrics.chrf(word_order=2, lowercase=True),
    "chrf whitespace": metrics.chrf(char_order=3, whitespace=True, eps_smoothing=True),
    "rouge": metrics.rouge(rouge_keys=KEYS),
    "rouge stemmed": metrics.rouge(use_stemmer=True, rouge_keys=KEYS),
    "rouge unicode": metrics.rouge(tokenizer="unicode", rouge_keys=KEYS[:3]),
    "rouge average": metrics.rouge(accumulate="avg", rouge_keys="rouge1"),
    "rouge splitter": metrics.rouge(sentence_splitter=str.splitlines),
    "overlap": metrics.overlap(2),
    "gleu": metrics.gleu(),
    "repetition": metrics.repetition(2),
    "gleu function": metrics.gleu(tokenizer=str.split),
}
TEXT = st.lists(st.sampled_from(["a", "b.", "B", "runs", "1,5", "é", "中", "\n", " ", "&amp;", "a-b"]), max_size=9).map(
    " ".join
)


def counted(scorer: Scorer, limit: int, monkeypatch: Any, *sides: Any) -> Any:
    with monkeypatch.context() as patch:
        patch.setattr(type(scorer.measure), "plain_limit", limit)
        return scorer.count(*sides, CPU)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", SCORERS)
@fewer(2)
@given(st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=4))
def test_both_ways_count_the_same(name: str, drawn: list[tuple[str, list[str]]]):
    sides = [text for text, _ in drawn], [references for _, references in drawn]
    with pytest.MonkeyPatch.context() as patch:
        arrays, plain = (counted(SCORERS[name], limit, patch, *sides) for limit in (0, 10**9))
    for ours, theirs in zip(plain.statistics, arrays.statistics, strict=True):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        assert ours.equal(theirs)
    known = torch.tensor(NO_REFERENCES)
    assert joined_range(known, plain.references).equal(joined_range(known, arrays.references))
    assert (plain.kind, plain.leading_shape) == (arrays.kind, arrays.leading_shape)


def test_texts_below_the_limit_alone_are_counted_in_plain_python(monkeypatch: pytest.MonkeyPatch):
    """Ids, tokens, a caller's tokenizer and texts of as many characters as the limit are counted in arrays."""
    calls: list[str] = []
    for way in ("plain", "statistics"):
        function = getattr(type(SCORERS["bleu"].measure), way)
        patched = lambda *args, _function=function, _way=way: calls.append(_way) or _function(*args)  # noqa: E731
        monkeypatch.setattr(type(SCORERS["bleu"].measure), way, patched)
    limit = SCORERS["bleu"].measure.plain_limit
    for preds, target, options in (
        (["a" * (limit - 2)], ["b"], {}),
        (["a" * (limit - 1)], ["b"], {}),
        ("a b", ["a b", "a c"], {}),
        ([["a", "b"]], [["a", "b"]], {}),
        ([[1, 2]], [[1, 2]], {}),
        (torch.tensor([[1, 2]]), torch.tensor([[1, 2]]), {"pad_id": 0}),
        (["a b"], ["a b"], {"tokenizer": str.split}),
    ):
        Bleu(**options).update(preds, target)
    assert calls == ["plain", "statistics", "plain", "statistics", "statistics", "statistics", "statistics"]


@pytest.mark.parametrize(
    ("name", "hypotheses", "references"),
    [
        ("bleu 13a", ["a b .", "c d ."] * 3, ["a b.", "c d."] * 3),
        ("bleu", ["我们今天去公园散步"], ["他们今天去公园散步"]),
        ("rouge", ["привет мир"], ["привет"]),
        ("bleu", ["the cat sat"], [["the", "cat"]]),
    ],
)
def test_both_ways_warn_of_the_same(name: str, hypotheses: Any, references: Any, monkeypatch: pytest.MonkeyPatch):
    messages = []
    for limit in (0, 10**9):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            counted(SCORERS[name], limit, monkeypatch, hypotheses, references)
        messages.append([str(warning.message) for warning in caught])
    assert messages[0] == messages[1]
    assert messages[0]
