"""Distinct-n, repetition, self-repetition and self-BLEU against counters and peers, in every kind of input."""

import math
import random
import warnings
from collections import Counter

import numpy as np
import oracles
import pytest
import torch
from draws import fewer
from hypothesis import given
from hypothesis import strategies as st
from layouts import inputs
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

from ngram_metrics.functional import distinct, repetition, self_bleu, self_repetition

ids = st.lists(st.integers(1, 3), max_size=9)
corpora = st.lists(ids, min_size=1, max_size=6)
several = st.lists(ids, min_size=2, max_size=6)
orders = st.integers(1, 5)


def layouts(corpus):
    """The texts of a corpus in every kind of input, also as samples, with the options that it needs."""
    found = inputs([(text, [[]]) for text in corpus])
    yield from ((texts, options) for texts, _, options in found.values())
    rows, _, options = found["rows"]
    yield rows[:, None], options


def check(function, corpus, expected, **options):
    """Every layout scores as plain Python; the first is compared with it, the others with the first."""
    first = None
    for texts, reading in layouts(corpus):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "a single text")
            scores = function(texts, **options, **reading)
        assert (scores.dtype, scores.device.type) == (torch.float64, "cpu")
        if first is None:
            first = scores
            assert scores.numpy() == pytest.approx(np.array(expected), rel=1e-14, abs=1e-15)
        assert scores.flatten().equal(first.flatten())


def shares(corpus, order):
    """Distinct and all n-grams of each text."""
    counts = [oracles.ngrams(text, order) for text in corpus]
    return [(len(count), count.total()) for count in counts]


@fewer(2)
@given(corpora, orders)
def test_distinct_of_a_corpus_counts_an_ngram_once(corpus, order):
    together = sum((oracles.ngrams(text, order) for text in corpus), Counter())
    check(distinct, corpus, len(together) / max(1, together.total()), ngram=order)


@fewer(2)
@given(corpora, orders)
def test_distinct_of_each_text(corpus, order):
    rows = shares(corpus, order)
    check(distinct, corpus, [few / max(1, many) for few, many in rows], ngram=order, average="none")
    long_enough = [few / many for few, many in rows if many]
    check(distinct, corpus, math.fsum(long_enough) / max(1, len(long_enough)), ngram=order, average="macro")


@given(corpora, st.lists(orders, min_size=1, max_size=4))
def test_several_orders_stand_side_by_side(corpus, several_orders):
    for average in ("micro", "macro", "none"):
        alone = [distinct(corpus, order, average) for order in several_orders]
        assert distinct(corpus, several_orders, average).equal(torch.stack(alone, -1))
    assert distinct(corpus, range(1, 4)).equal(distinct(corpus, [1, 2, 3]))
    rows = torch.tensor([[[*text, 0] + [0] * (9 - len(text))] for text in corpus])
    assert distinct(rows, (1, 2), "none", pad_id=0).shape == (len(corpus), 1, 2)


@fewer(2)
@given(corpora, orders)
def test_repetition(corpus, order):
    rows = shares(corpus, order)
    each = [1 - few / many if many else 0.0 for few, many in rows]
    check(repetition, corpus, each, ngram=order, average="none")
    check(repetition, corpus, math.fsum(each) / len(each), ngram=order)
    few, many = map(sum, zip(*rows, strict=True))
    check(repetition, corpus, 1 - few / many if many else 0.0, ngram=order, average="micro")


@fewer(2)
@given(corpora, orders)
def test_self_repetition(corpus, order):
    counts = [oracles.ngrams(text, order) for text in corpus]
    shared = [sum(ngram in other for ngram in count for other in counts) - len(count) for count in counts]
    expected = math.fsum(math.log(1 + number) for number in shared) / len(corpus)
    check(self_repetition, corpus, expected, ngram=order)


@fewer(2)
@given(several, st.integers(1, 4), st.sampled_from(["no_smooth", "smooth2", "exp", "floor"]))
def test_self_bleu_is_bleu_with_all_others_as_references(corpus, order, smooth):
    scores = []
    for number, text in enumerate(corpus):
        counts = oracles.bleu_counts(text, corpus[:number] + corpus[number + 1 :], order)
        scores.append(oracles.bleu(counts, smooth=smooth))
    check(self_bleu, corpus, scores, ngram=order, smooth=smooth, average="none")
    check(self_bleu, corpus, math.fsum(scores) / len(scores), ngram=order, smooth=smooth)


@fewer(2)
@given(st.lists(st.lists(st.sampled_from("abc"), min_size=4, max_size=12), min_size=2, max_size=8))
@pytest.mark.filterwarnings("ignore:(?s).*The hypothesis contains 0 counts")
def test_self_bleu_is_that_of_nltk(texts):
    for smooth, method in (("no_smooth", "method0"), ("smooth2", "method2")):
        scores = self_bleu(texts, smooth=smooth, average="none").tolist()
        function = getattr(SmoothingFunction(), method)
        expected = [
            sentence_bleu(texts[:number] + texts[number + 1 :], text, smoothing_function=function)
            for number, text in enumerate(texts)
        ]
        assert scores == pytest.approx(expected, rel=0, abs=1e-15)


FUNCTIONS = (distinct, repetition, self_repetition, self_bleu)
AVERAGES = {distinct: ("micro", "macro", "none"), repetition: ("micro", "macro", "none"), self_bleu: ("macro", "none")}
each = pytest.mark.parametrize("function", FUNCTIONS)


@each
@pytest.mark.parametrize("texts", [[], torch.zeros(0, 4, dtype=torch.int64), torch.zeros(0, 2, 4, dtype=torch.int64)])
def test_no_text_is_warned_of_and_scores_0(function, texts):
    padding = {"pad_id": 0} if isinstance(texts, torch.Tensor) else {}
    for average in AVERAGES.get(function, (None,)):
        options = padding if average is None else {**padding, "average": average}
        with pytest.warns(UserWarning, match="^no segment was counted") as warned:
            scores = function(texts, **options)
        assert len(warned) == 1
        assert warned[0].filename == __file__
        assert scores.tolist() == ([] if average == "none" else 0.0)


@pytest.mark.parametrize("function", [self_repetition, self_bleu])
def test_a_single_text_is_warned_of(function):
    with pytest.warns(UserWarning, match="^a single text has nothing to be compared with") as warned:
        assert function(["a b c d e"]).item() == 0
    assert [warning.filename for warning in warned] == [__file__]


def test_texts_of_several_chunks_share_their_words():
    draw = random.Random(1)
    texts = [" ".join(f"word{draw.randrange(50)}" for _ in range(draw.randrange(1, 9))) for _ in range(6000)]
    words = [word for text in texts for word in text.split()]
    assert distinct(texts, 1).item() == len(set(words)) / len(words)


def test_samples_have_a_score_each():
    samples = torch.tensor([[[1, 2, 1, 2], [1, 2, 3, 0]], [[4, 4, 4, 4], [0, 0, 0, 0]]])
    assert repetition(samples, 2, average="none", pad_id=0).numpy() == pytest.approx(np.array([[1 / 3, 0], [2 / 3, 0]]))
    assert distinct(samples, 2, average="none", pad_id=0).numpy() == pytest.approx(np.array([[2 / 3, 1], [1 / 3, 0]]))
    assert distinct(samples, 2, average="macro", pad_id=0).item() == pytest.approx(2 / 3)
    assert self_bleu(samples, 1, average="none", pad_id=0).shape == (4,)


@each
@pytest.mark.parametrize(
    ("texts", "error", "message"),
    [
        (5, TypeError, "^texts is an int: expected a sequence"),
        (["a", ["b"]], TypeError, r"^segment 1 is a list, \['b'\], but the first segment is text"),
        (torch.zeros(3), TypeError, r"^texts is a tensor of torch.float32: expected token ids"),
        (torch.tensor([1, 2]), ValueError, r"^texts has shape \(2,\): expected \(segments, width\)"),
        (torch.tensor([[1, 2]]), ValueError, "^a padded tensor of ids needs pad_id"),
        ([[1, -1], [2]], ValueError, "^segment 0 has the id -1"),
    ],
)
def test_what_cannot_be_read_is_refused(function, texts, error, message):
    with pytest.raises(error, match=message):
        function(texts)


@each
def test_settings_are_checked(function):
    with pytest.raises(ValueError, match="ngram order must be greater than zero"):
        function(["a b", "a"], ngram=0)
    if function is distinct:
        with pytest.raises(ValueError, match=r"^ngram is empty"):
            distinct(["a"], ())
    if function in AVERAGES:
        meant = r"\['macro', 'none'\]" if function is self_bleu else r".*; did you mean 'micro'\?"
        with pytest.raises(ValueError, match=rf"^unknown average 'corpus': expected one of {meant}$"):
            function(["a b", "a"], average="corpus")
    with pytest.raises(TypeError, match=rf"^{function.__name__}: unknown argument n, did you mean ngram\?$"):
        function(["a b", "a"], n=2)
    with pytest.raises(ValueError, match=r"^tokenizer is an option for text, but the segments are ids"):
        function([[1], [2]], tokenizer=str.split)


def test_text_is_read_by_the_tokenizer():
    texts = ["It is, it is.", "is, it"]
    assert distinct(texts, 1, tokenizer="13a").item() == pytest.approx(5 / 9)
    assert self_bleu(["The cat.", "the cat ."], 3, lowercase=True, tokenizer="13a").item() == 1
