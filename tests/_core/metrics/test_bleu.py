"""BLEU against plain Python, sacrebleu and nltk; where they or torchmetrics differ, it says so and why."""

import math
import warnings

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from layouts import apart, streams
from nltk.translate.bleu_score import SmoothingFunction, corpus_bleu
from nltk.translate.bleu_score import sentence_bleu as nltk_sentence_bleu
from oracles import BleuCounts, close
from sacrebleu.metrics import BLEU
from torchmetrics.functional.text import bleu_score as torchmetrics_bleu

from ngram_metrics._core.metrics.bleu import SMOOTHINGS, BleuMeasure, BleuStatistics
from ngram_metrics._core.scoring.scorer import Scorer
from ngram_metrics._core.text.reader import WordReader


def batches_of(documents):
    """One to five segments, each with one reference or several."""
    references = st.lists(documents, min_size=1, max_size=4)
    return st.lists(st.tuples(documents, references), min_size=1, max_size=5)


# Two or three words in short segments: ties, repeats, orders without a match and without an n-gram all occur.
batches = batches_of(st.lists(st.sampled_from("abc"), max_size=9))


def weights_of(order):
    """No weights, or one an order, not all of them 0."""
    weights = st.lists(st.sampled_from([0, 0.1, 0.25, 1.0]), min_size=order, max_size=order)
    return st.none() | weights.filter(any)


@st.composite
def measures(draw, smoothings=SMOOTHINGS, weighted=True):
    """BLEU under any settings."""
    smooth = draw(st.sampled_from(smoothings))
    order = draw(st.integers(1, 6))
    values = {"floor": [None, 0, 0.01, 0.5, 1], "add-k": [None, 0, 0.01, 0.5, 1, 3]}.get(smooth, [None])
    weights = draw(weights_of(order)) if weighted else None
    return BleuMeasure(order, smooth, draw(st.sampled_from(values)), weights, draw(st.booleans()))


def scored(measure, batch, average):
    scorer = Scorer(WordReader(), measure, average, {"bleu": ()})
    return scorer.score_batch(*apart(batch))


def micro(measure, batch):
    return scored(measure, batch, "micro").item()


def segment_scores(measure, batch):
    return scored(measure, batch, "none").tolist()


def statistics(measure, batch):
    """The counts of each segment."""
    return measure.layout.unpack(Scorer(WordReader(), measure, "micro", {}).count_batch(*apart(batch)).rows)


@given(batches, measures())
def test_counts_and_scores_are_those_of_plain_python(batch, measure):
    counts = [oracles.bleu_counts(*segment, measure.ngram) for segment in batch]
    found = zip(*(field.tolist() for field in statistics(measure, batch)), strict=True)
    assert list(found) == counts

    def score(row):
        settings = measure.smooth, measure.smooth_value, measure.weights, measure.effective_order
        return oracles.bleu(BleuCounts(*row), *settings)

    assert segment_scores(measure, batch) == close([score(row) for row in counts])
    assert micro(measure, batch) == close(score(oracles.summed(counts)))


@given(batches, measures(["none", "no_smooth", "floor", "add-k", "smooth2", "exp"], weighted=False))
def test_scores_are_those_of_sacrebleu(batch, measure):
    """It has an option for every one of ours but the weights."""
    peer = BLEU(
        tokenize="none",
        force=True,
        smooth_method={"no_smooth": "none", "smooth2": "add-k"}.get(measure.smooth, measure.smooth),
        smooth_value=measure.smooth_value,
        max_ngram_order=measure.ngram,
        effective_order=measure.effective_order,
    )
    hypotheses = [" ".join(hypothesis) for hypothesis, _ in batch]
    references = [[" ".join(reference) for reference in references] for _, references in batch]
    expected = [peer.sentence_score(*segment).score / 100 for segment in zip(hypotheses, references, strict=True)]
    assert segment_scores(measure, batch) == close(expected, 1e-10)
    corpus = peer.corpus_score(hypotheses, streams(references))
    assert micro(measure, batch) == close(corpus.score / 100, 1e-10)
    parts = measure.parts(BleuStatistics(*(field.sum(0) for field in statistics(measure, batch))))
    assert parts["hypothesis_length"].item() == corpus.sys_len
    assert parts["reference_length"].item() == corpus.ref_len
    assert parts["brevity_penalty"].item() == close(corpus.bp)
    # sacrebleu shows no precisions where nothing matches, and none past the first order without an n-gram.
    shown = next((n for n, total in enumerate(corpus.totals) if total == 0), measure.ngram)
    if any(corpus.counts) and parts["matches"][0] > 0:
        assert parts["precisions"][:shown].tolist() == close([p / 100 for p in corpus.precisions[:shown]], 1e-10)


def test_the_brevity_penalty_falls_with_the_length_and_is_zero_for_an_empty_hypothesis():
    lengths = np.array([[0, 3], [0, 0], [2, 3], [3, 2]])
    none = np.zeros((4, 4), np.int64)
    parts = BleuMeasure().parts(BleuStatistics(none, none, *lengths.T))
    assert parts["brevity_penalty"].tolist() == close([0, 1, math.exp(-0.5), 1])


def split(hypothesis, *references):
    return hypothesis.split(), [reference.split() for reference in references]


NLTK = {"smooth1": "method1", "nltk_smooth2": "method2", "exp": "method3", "nltk_smooth3": "method3"}


def long_enough(order):
    """Documents that have an n-gram of every order: shorter ones are the subject of a test of their own."""
    return st.lists(st.sampled_from("abc"), min_size=order, max_size=order + 6)


@given(st.data(), st.sampled_from(sorted(NLTK)), st.integers(1, 6))
def test_scores_are_those_of_nltk(data, smooth, ngram):
    batch = data.draw(batches_of(long_enough(ngram)))
    weights = data.draw(weights_of(ngram))
    smoothing = getattr(SmoothingFunction(), NLTK[smooth])
    nltk_weights = tuple(weights or [1 / ngram] * ngram)
    measure = BleuMeasure(ngram, smooth, weights=weights)
    hypotheses, references = apart(batch)
    assert micro(measure, batch) == close(corpus_bleu(references, hypotheses, nltk_weights, smoothing))
    expected = [nltk_sentence_bleu(references, hypothesis, nltk_weights, smoothing) for hypothesis, references in batch]
    assert segment_scores(measure, batch) == close(expected)


@given(batches, st.sampled_from(["smooth1", "nltk_smooth2", "nltk_smooth3"]), st.integers(1, 6))
def test_segments_shorter_than_an_order_score_as_in_nltk_under_its_own_smoothings(batch, smooth, ngram):
    smoothing = getattr(SmoothingFunction(), NLTK[smooth])
    weights = (1 / ngram,) * ngram
    expected = [nltk_sentence_bleu(references, hypothesis, weights, smoothing) for hypothesis, references in batch]
    assert segment_scores(BleuMeasure(ngram, smooth), batch) == close(expected)


@given(batches_of(long_enough(4)))
def test_without_smoothing_nltk_is_nearly_0_where_an_order_has_no_match(batch):
    measure = BleuMeasure(smooth="no_smooth")
    for segment, ours in zip(batch, segment_scores(measure, batch), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # nltk warns of an order without a match
            theirs = nltk_sentence_bleu(segment[1], segment[0])
        if min(oracles.bleu_counts(*segment).matches) > 0:
            assert ours == close(theirs)
        else:
            assert ours == 0
            assert theirs < 1e-70


def test_a_corpus_with_a_segment_shorter_than_an_order_differs_from_nltk():
    """nltk counts one 4-gram in a segment that has none, segment by segment; here and in sacrebleu it has none."""
    batch = [split("a b c d e", "a b c d f"), split("a", "a")]
    theirs = corpus_bleu(*apart(batch)[::-1])
    ours = micro(BleuMeasure(), batch)
    assert ours == close(math.exp(sum(map(math.log, (5 / 6, 3 / 4, 2 / 3, 1 / 2))) / 4))
    assert theirs == close(math.exp(sum(map(math.log, (5 / 6, 3 / 5, 2 / 4, 1 / 3))) / 4))


def test_of_two_equally_near_references_the_shorter_counts_in_whatever_order():
    """torchmetrics takes the first listed: 0.8187 or 1."""
    hypothesis, shorter, longer = "a b c d e", "a b c d", "a b c d e f"
    for references in ([shorter, longer], [longer, shorter]):
        assert micro(BleuMeasure(), [split(hypothesis, *references)]) == 1
    theirs = [torchmetrics_bleu([hypothesis], [pair]) for pair in ([shorter, longer], [longer, shorter])]
    assert theirs == pytest.approx([1, math.exp(1 - 6 / 5)], rel=1e-6)


def test_the_effective_order_leaves_nothing_to_score_where_no_order_that_counts_has_a_weight():
    """The only order with an n-gram has the weight 0."""
    measure = BleuMeasure(ngram=2, weights=(0, 1), effective_order=True)
    assert micro(measure, [split("a", "a")]) == 0
    assert micro(measure, [split("a b", "a b")]) == 1


@pytest.mark.parametrize("make", [list, tuple, np.array])
def test_weights_may_be_any_sequence(make):
    cat = split("the cat sat on mat", "a cat is on the mat")
    assert micro(BleuMeasure(weights=make([1.0, 0, 0, 0])), [cat]) == close(4 / 5 * math.exp(1 - 6 / 5))
