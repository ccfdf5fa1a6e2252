"""BLEU against plain Python, sacrebleu, nltk, ignite and torchmetrics; where a peer differs, it says so and why."""

import math
import warnings
from itertools import product

import numpy as np
import oracles
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, corpus_bleu
from nltk.translate.bleu_score import sentence_bleu as nltk_sentence_bleu
from sacrebleu.metrics import BLEU
from torchmetrics.functional.text import bleu_score as torchmetrics_bleu

from ngram_metrics.scores.bleu import SMOOTHINGS, BleuMeasure, BleuStatistics
from ngram_metrics.scores.measure import averaged_score
from ngram_metrics.scores.rows import pack, row_width, unpack
from ngram_metrics.text.word_reader import WordReader

# Two or three words in short sentences: ties of lengths, orders without a match and without an n-gram all occur.
words = st.sampled_from("abc")
documents = st.lists(words, max_size=9)
id_documents = st.lists(st.integers(1, 3), max_size=7)


def batches(document=documents, references=4):
    """One to five sentences, each with one to four references."""
    several = st.lists(document, min_size=1, max_size=references)
    return st.lists(st.tuples(document, several), min_size=1, max_size=5)


def weights_of(order):
    """No weights, or one an order, not all of them 0."""
    weights = st.lists(st.sampled_from([0, 0.1, 0.25, 1.0]), min_size=order, max_size=order)
    return st.none() | weights.filter(any)


@st.composite
def settings(draw, smoothings=SMOOTHINGS):
    name, order = draw(st.sampled_from(smoothings)), draw(st.integers(1, 6))
    value = draw(st.sampled_from([None, 0, 0.01, 0.5, 1, 3])) if name in ("floor", "add-k") else None
    weights = draw(weights_of(order))
    return BleuMeasure(order, name, value, weights, draw(st.booleans()))


def statistics(metric, batch):
    return metric.statistics(WordReader().read([one for one, _ in batch], [several for _, several in batch], CPU))


def micro(metric, batch):
    return averaged_score(metric, statistics(metric, batch), "micro").item()


def sentences(metric, batch):
    return averaged_score(metric, statistics(metric, batch), "none").tolist()


def close(expected, tolerance=1e-12):
    return pytest.approx(expected, rel=tolerance, abs=1e-300)


def split(hypothesis, *references):
    return hypothesis.split(), [one.split() for one in references]


CPU = torch.device("cpu")
CAT = split("the cat sat on mat", "a cat is on the mat")
HELLO = split("hello world", "hello world")


# Plain Python.


@given(batches(), st.integers(1, 7))
def test_statistics_are_those_of_counters(batch, ngram):
    rows = statistics(BleuMeasure(ngram), batch)
    expected = [oracles.bleu_counts(*one, ngram) for one in batch]
    assert rows.matches.tolist() == [one.matches for one in expected]
    assert rows.totals.tolist() == [one.totals for one in expected]
    assert rows.hypothesis_length.tolist() == [one.hypothesis_length for one in expected]
    assert rows.reference_length.tolist() == [one.reference_length for one in expected]
    assert {field.dtype for field in rows} == {torch.int64}


@given(st.lists(st.tuples(id_documents, st.lists(id_documents, min_size=1, max_size=3)), min_size=1, max_size=5))
def test_padded_statistics_are_those_of_counters_and_a_missing_reference_has_no_length(batch):
    preds, target = torch.zeros(len(batch), 7).long(), torch.zeros(len(batch), 3, 7).long()
    for i, (one, several) in enumerate(batch):
        preds[i, : len(one)] = torch.tensor(one).long()
        for j, other in enumerate(several):
            target[i, j, 7 - len(other) :] = torch.tensor(other).long()
    rows = BleuMeasure(2).statistics(WordReader(pad_id=0).read(preds, target, CPU))
    # All padding is 'missing': an empty reference stays only where there is no other.
    kept = [(one, [other for other in several if other] or [[]]) for one, several in batch]
    expected = [oracles.bleu_counts(*one, 2) for one in kept]
    assert rows.matches.tolist() == [one.matches for one in expected]
    assert rows.reference_length.tolist() == [one.reference_length for one in expected]


@given(batches(), settings())
def test_scores_are_those_of_the_formula_in_plain_python(batch, metric):
    chosen = {
        "smooth": metric.smooth,
        "value": metric.smooth_value,
        "weights": metric.weights,
        "effective_order": metric.effective_order,
    }
    assert micro(metric, batch) == close(oracles.corpus_bleu(batch, metric.ngram, **chosen))
    assert sentences(metric, batch) == close([oracles.sentence_bleu(*one, metric.ngram, **chosen) for one in batch])


# sacrebleu, of which every option is followed.


def sacrebleu(metric):
    name = {"no_smooth": "none", "smooth2": "add-k"}.get(metric.smooth, metric.smooth)
    return BLEU(
        tokenize="none",
        force=True,
        smooth_method=name,
        smooth_value=metric.smooth_value,
        max_ngram_order=metric.ngram,
        effective_order=metric.effective_order,
    )


SACREBLEU = ["none", "no_smooth", "floor", "add-k", "smooth2", "exp"]


@given(batches(), settings(SACREBLEU))
def test_scores_are_those_of_sacrebleu(batch, metric):
    metric = BleuMeasure(metric.ngram, metric.smooth, metric.smooth_value, None, metric.effective_order)
    peer = sacrebleu(metric)
    hypotheses = [" ".join(one) for one, _ in batch]
    references = [[" ".join(one) for one in several] for _, several in batch]
    expected = [peer.sentence_score(*one).score / 100 for one in zip(hypotheses, references, strict=True)]
    assert sentences(metric, batch) == close(expected, 1e-10)
    # sacrebleu takes the first references of all sentences, then the second, ...; None where there is none.
    streams = [[several[i] if i < len(several) else None for several in references] for i in range(4)]
    streams = [stream for stream in streams if any(one is not None for one in stream)]
    corpus = peer.corpus_score(hypotheses, streams)
    assert micro(metric, batch) == close(corpus.score / 100, 1e-10)
    parts = metric.parts(BleuStatistics(*(field.sum(0) for field in statistics(metric, batch))))
    assert parts["hypothesis_length"].item() == corpus.sys_len
    assert parts["reference_length"].item() == corpus.ref_len
    assert parts["brevity_penalty"].item() == close(corpus.bp)
    # sacrebleu shows no precisions where nothing matches, and none past the first order without an n-gram.
    shown = next((n for n, total in enumerate(corpus.totals) if total == 0), metric.ngram)
    if any(corpus.counts) and parts["matches"][0] > 0:
        assert parts["precisions"][:shown].tolist() == close([p / 100 for p in corpus.precisions[:shown]], 1e-10)


# nltk.

NLTK = {"smooth1": "method1", "nltk_smooth2": "method2", "exp": "method3"}


def long_enough(order):
    """Documents that have an n-gram of every order: shorter ones are the subject of a test of their own."""
    return st.lists(words, min_size=order, max_size=order + 6)


@given(st.data(), st.sampled_from(sorted(NLTK)), st.integers(1, 6))
def test_scores_are_those_of_nltk(data, smooth, ngram):
    batch = data.draw(batches(long_enough(ngram)))
    weights = data.draw(weights_of(ngram))
    smoothing = getattr(SmoothingFunction(), NLTK[smooth])
    nltk_weights = tuple(weights or [1 / ngram] * ngram)
    metric = BleuMeasure(ngram, smooth, weights=weights)
    hypotheses, references = [one for one, _ in batch], [several for _, several in batch]
    assert micro(metric, batch) == close(corpus_bleu(references, hypotheses, nltk_weights, smoothing))
    expected = [nltk_sentence_bleu(several, one, nltk_weights, smoothing) for one, several in batch]
    assert sentences(metric, batch) == close(expected)


@given(batches(), st.sampled_from(["smooth1", "nltk_smooth2"]), st.integers(1, 6))
def test_sentences_shorter_than_an_order_score_as_in_nltk_under_its_own_smoothings(batch, smooth, ngram):
    smoothing, weights = getattr(SmoothingFunction(), NLTK[smooth]), (1 / ngram,) * ngram
    expected = [nltk_sentence_bleu(several, one, weights, smoothing) for one, several in batch]
    assert sentences(BleuMeasure(ngram, smooth), batch) == close(expected)


@given(batches(long_enough(4)))
def test_without_smoothing_nltk_is_nearly_0_where_an_order_has_no_match(batch):
    metric = BleuMeasure()
    for one, ours in zip(batch, sentences(metric, batch), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # nltk warns of an order without a match
            theirs = nltk_sentence_bleu(one[1], one[0])
        if min(oracles.bleu_counts(*one).matches) > 0:
            assert ours == close(theirs)
        else:
            assert ours == 0
            assert theirs < 1e-70


def test_a_corpus_with_a_sentence_shorter_than_an_order_differs_from_nltk():
    """nltk counts one 4-gram in a sentence that has none, sentence by sentence; here and in sacrebleu it has none."""
    batch = [split("a b c d e", "a b c d f"), split("a", "a")]
    theirs = corpus_bleu([several for _, several in batch], [one for one, _ in batch])
    ours = micro(BleuMeasure(), batch)
    assert ours == close(math.exp(sum(map(math.log, (5 / 6, 3 / 4, 2 / 3, 1 / 2))) / 4))
    assert theirs == close(math.exp(sum(map(math.log, (5 / 6, 3 / 5, 2 / 4, 1 / 3))) / 4))


# ignite.


@given(batches(), st.sampled_from(["no_smooth", "smooth1", "nltk_smooth2", "smooth2"]), st.integers(1, 6))
def test_scores_are_those_of_ignite(batch, smooth, ngram):
    from ignite.metrics import Bleu

    metric, output = BleuMeasure(ngram, smooth), ([one for one, _ in batch], [several for _, several in batch])
    peer = Bleu(ngram=ngram, smooth=smooth, average="micro")
    peer.update(output)
    assert micro(metric, batch) == close(float(peer.compute()))
    peer = Bleu(ngram=ngram, smooth=smooth, average="macro")
    peer.update(output)
    macro = averaged_score(metric, statistics(metric, batch), "macro").item()
    # Unsmoothed, ignite divides in float32.
    assert macro == close(float(peer.compute()), 1e-6 if smooth == "no_smooth" else 1e-12)


def test_the_example_that_ignite_documents():
    batch = [split("the the the the the the the", "the cat is on the mat", "there is a cat on the mat")]
    assert round(micro(BleuMeasure(smooth="smooth1"), batch), 4) == 0.0393


# torchmetrics, where it is right.


@given(batches(), st.integers(1, 4), st.booleans())
def test_scores_are_those_of_torchmetrics_where_lengths_do_not_tie_and_every_order_matches(batch, ngram, smooth):
    for one, several in batch:
        nearest = abs(oracles.closest_length(one, several) - len(one))
        assume(len({len(other) for other in several if abs(len(other) - len(one)) == nearest}) == 1)
    if smooth:
        assume(min(oracles.summed_bleu_counts([oracles.bleu_counts(*one, ngram) for one in batch]).matches) > 0)
    hypotheses, references = [" ".join(one) for one, _ in batch], [list(map(" ".join, s)) for _, s in batch]
    theirs = torchmetrics_bleu(hypotheses, references, n_gram=ngram, smooth=smooth).item()
    assert micro(BleuMeasure(ngram, "smooth2" if smooth else "none"), batch) == pytest.approx(theirs, rel=1e-5)


def test_of_two_equally_near_references_the_shorter_counts_in_whatever_order():
    """torchmetrics takes the first listed: 0.8187 or 1."""
    hypothesis, shorter, longer = "a b c d e", "a b c d", "a b c d e f"
    for references in ([shorter, longer], [longer, shorter]):
        assert micro(BleuMeasure(), [split(hypothesis, *references)]) == 1
    theirs = [torchmetrics_bleu([hypothesis], [several]) for several in ([shorter, longer], [longer, shorter])]
    assert theirs == pytest.approx([1, math.exp(1 - 6 / 5)], rel=1e-6)


def test_adding_one_applies_where_an_order_has_no_match():
    """torchmetrics looks for an order without a match first, and returns 0."""
    assert micro(BleuMeasure(smooth="smooth2"), [CAT]) == pytest.approx(0.2782, abs=5e-5)
    assert torchmetrics_bleu([" ".join(CAT[0])], [[" ".join(CAT[1][0])]], smooth=True).item() == 0


# Numbers to look at: of the first pair sacrebleu, nltk and ignite give each of them; the second has two words.


@pytest.mark.parametrize(
    ("smooth", "cat", "hello"),
    [
        ("no_smooth", 0, 0),
        ("none", 0, 0),
        ("smooth1", 6.221, 31.6),
        ("floor", 6.221, 0),
        ("nltk_smooth2", 27.82, 70.7),
        ("smooth2", 27.82, 100),
        ("add-k", 27.82, 100),
        ("exp", 12.37, 0),
    ],
)
def test_the_table_of_smoothings(smooth, cat, hello):
    assert 100 * micro(BleuMeasure(smooth=smooth), [CAT]) == pytest.approx(cat, rel=5e-4)
    assert 100 * micro(BleuMeasure(smooth=smooth), [HELLO]) == pytest.approx(hello, rel=1e-3)
    if smooth not in ("smooth1", "nltk_smooth2"):
        assert micro(BleuMeasure(smooth=smooth, effective_order=True), [HELLO]) == close(1)


# Properties.


@pytest.mark.parametrize(("smooth", "effective_order"), [*product(SMOOTHINGS, [False, True])])
def test_nothing_scores_0_and_so_does_no_unigram_match(smooth, effective_order):
    metric = BleuMeasure(smooth=smooth, effective_order=effective_order)
    nothing = [([], [[]]), ([], [["a"]]), (["a"], [[]]), (["a"], [[], []]), (["a"] * 5, [["b"] * 5])]
    assert sentences(metric, nothing) == [0] * 5
    assert micro(metric, nothing[:3]) == 0
    assert averaged_score(metric, statistics(metric, nothing), "macro").item() == 0


@given(st.lists(st.lists(words, min_size=6, max_size=9), min_size=1, max_size=4), settings())
def test_a_text_that_is_its_own_reference_scores_1(several, metric):
    metric = BleuMeasure(metric.ngram, metric.smooth, metric.smooth_value, None, metric.effective_order)
    batch = [(one, [["c"], one]) for one in several]
    assert sentences(metric, batch) == close([1] * len(batch))
    assert micro(metric, batch) == close(1)


@given(batches(), settings(), st.permutations(range(5)))
def test_permuted_sentences_and_references_have_the_scores_permuted(batch, metric, order):
    order = [i for i in order if i < len(batch)]
    permuted = [(batch[i][0], batch[i][1][::-1]) for i in order]
    scores = sentences(metric, batch)
    assert sentences(metric, permuted) == [scores[i] for i in order]
    assert micro(metric, permuted) == micro(metric, batch)


@given(batches(), settings())
def test_sentences_score_the_same_alone_and_in_a_batch(batch, metric):
    assert sentences(metric, batch) == close([sentences(metric, [one])[0] for one in batch])


@given(batches(), settings())
def test_scores_are_finite_and_unsmoothed_ones_between_0_and_1(batch, metric):
    scores = [*sentences(metric, batch), micro(metric, batch)]
    assert all(math.isfinite(one) and one >= 0 for one in scores)
    if metric.smooth not in ("floor", "add-k"):
        assert all(one <= 1 + 1e-12 for one in scores)


@given(batches(), settings(), st.sampled_from([(), (1,), (2, 3), (0, 2), (2, 1, 2)]))
def test_any_leading_shape_scores_as_its_rows_do(batch, metric, shape):
    rows = pack(statistics(metric, batch), metric.layout)
    chosen = rows[torch.arange(math.prod(shape)) % len(rows)].reshape(*shape, rows.shape[-1])
    scores = metric.score(unpack(chosen, metric.layout))
    assert scores.shape == shape
    assert scores.flatten().tolist() == close(
        [sentences(metric, batch)[i % len(rows)] for i in range(math.prod(shape))]
    )
    parts = metric.parts(unpack(chosen, metric.layout))
    assert parts["precisions"].shape == (*shape, metric.ngram)
    assert parts["brevity_penalty"].shape == shape


@given(batches(), st.integers(1, 6))
def test_packed_rows_give_the_fields_back(batch, ngram):
    metric = BleuMeasure(ngram)
    given_back = unpack(pack(statistics(metric, batch), metric.layout), metric.layout)
    assert isinstance(given_back, BleuStatistics)
    assert row_width(metric.layout) == 2 * ngram + 2
    for one, other in zip(given_back, statistics(metric, batch), strict=True):
        assert one.equal(other)


def test_counts_past_the_exact_integers_of_float32_are_scored_exactly():
    many = 2**24 + 1
    counts = BleuStatistics(*map(torch.tensor, ([many], [2 * many], many * 2, many * 2)))
    assert BleuMeasure(1).score(counts).item() == 0.5
    counts = BleuStatistics(*map(torch.tensor, ([many - 1], [many], many, many)))
    assert BleuMeasure(1).score(counts).item() == (many - 1) / many


@pytest.mark.usefixtures("surroundings")
@pytest.mark.parametrize("smooth", SMOOTHINGS)
@pytest.mark.parametrize("effective_order", [False, True])
def test_the_surroundings_of_a_training_loop_change_no_score(smooth, effective_order):
    batch = [CAT, HELLO, (["a"], [["b"], ["a", "a", "a"]]), ([], [[]])]
    metric = BleuMeasure(smooth=smooth, effective_order=effective_order)
    chosen = {"smooth": smooth, "effective_order": effective_order}
    assert micro(metric, batch) == close(oracles.corpus_bleu(batch, **chosen))
    assert sentences(metric, batch) == close([oracles.sentence_bleu(*one, **chosen) for one in batch])


def test_padded_ids_are_scored_without_waiting_for_the_device():
    preds, target = torch.zeros(3, 7, device="meta").long(), torch.zeros(3, 2, 5, device="meta").long()
    for smooth, effective_order, ngram in product(SMOOTHINGS, [False, True], [1, 4]):
        metric = BleuMeasure(ngram, smooth, effective_order=effective_order)
        scores = metric.score(metric.statistics(WordReader(pad_id=0).read(preds, target, CPU)))
        assert (scores.device.type, scores.shape, scores.dtype) == ("meta", (3,), torch.float64)


@pytest.mark.parametrize(("smooth", "effective_order"), [*product(SMOOTHINGS, [False, True])])
def test_every_smoothing_compiles_into_one_graph(smooth, effective_order):
    torch._dynamo.reset()
    metric = BleuMeasure(smooth=smooth, weights=(0.5, 0.3, 0.2, 0), effective_order=effective_order)
    rows = statistics(metric, [CAT, HELLO])
    compiled = torch.compile(metric.score, fullgraph=True, backend="eager")
    assert compiled(rows).equal(metric.score(rows))


# Settings.


@pytest.mark.parametrize("make", [list, tuple, np.array])
def test_weights_may_be_any_sequence(make):
    assert micro(BleuMeasure(weights=make([1.0, 0, 0, 0])), [CAT]) == close(4 / 5 * math.exp(1 - 6 / 5))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ngram": 0}, r"ngram order must be greater than zero \(got: 0\)"),
        ({"ngram": -1}, r"ngram order must be greater than zero \(got: -1\)"),
        ({"ngram": 1001}, r"ngram order must be at most 1000 \(got: 1001\)"),
        ({"ngram": 2**40}, r"ngram order must be at most 1000 \(got: 1099511627776\)"),
        ({"smooth": "smooth3"}, r"Smooth is not valid \(expected: \['no_smooth', .*'exp'\], got: smooth3\)"),
        ({"smooth": None}, r"Smooth is not valid \(.*, got: None\)$"),
        (
            {"smooth": True},
            r"Smooth is not valid \(.*, got: True\): torchmetrics' smooth=True .* as 'add-k' and 'smooth2'",
        ),
        ({"smooth": False}, r"Smooth is not valid \(.*, got: False\): .* and its smooth=False is 'no_smooth'$"),
        ({"smooth": "exp", "smooth_value": 1}, r"smooth_value is for \['floor', 'add-k'\], not for smooth='exp'"),
        ({"smooth_value": 0}, r"smooth_value is for \['floor', 'add-k'\], not for smooth='no_smooth'"),
        ({"smooth": "floor", "smooth_value": -0.1}, r"smooth_value must be at least 0 and finite \(got: -0.1\)"),
        ({"smooth": "add-k", "smooth_value": math.inf}, r"smooth_value must be at least 0 and finite \(got: inf\)"),
        ({"smooth": "add-k", "smooth_value": math.nan}, r"smooth_value must be at least 0 and finite \(got: nan\)"),
        ({"weights": [0.5, 0.5]}, r"weights must be one for each of 4 orders \(got: 2\)"),
        ({"ngram": 2, "weights": [1, 1, 1]}, r"weights must be one for each of 2 orders \(got: 3\)"),
        ({"weights": []}, r"weights must be one for each of 4 orders \(got: 0\)"),
        ({"ngram": 2, "weights": [1, -1]}, r"weights\[1\] must be at least 0 and finite \(got: -1\)"),
        ({"ngram": 2, "weights": [1, math.nan]}, r"weights\[1\] must be at least 0 and finite \(got: nan\)"),
        ({"ngram": 2, "weights": [0, 0.0]}, r"weights must not all be 0 \(got: \[0.0, 0.0\]\)"),
        ({"ngram": 2, "weights": [1, math.inf]}, r"weights\[1\] must be at least 0 and finite \(got: inf\)"),
    ],
    ids=repr,
)
def test_a_setting_out_of_its_range_is_refused_at_once(options, words):
    with pytest.raises(ValueError, match=words):
        BleuMeasure(**options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ngram": 2.5}, r"ngram order must be an integer \(got: 2.5\)"),
        ({"ngram": 2.0}, r"ngram order must be an integer \(got: 2.0\)"),
        ({"ngram": True}, r"ngram order must be an integer \(got: True\)"),
        ({"smooth": "floor", "smooth_value": "x"}, r"smooth_value must be a number \(got: 'x'\)"),
        ({"smooth": "floor", "smooth_value": "1"}, r"smooth_value must be a number \(got: '1'\)"),
        ({"weights": "abcd"}, r"weights\[0\] must be a number \(got: 'a'\)"),
        ({"ngram": 2, "weights": [1, None]}, r"weights\[1\] must be a number \(got: None\)"),
        ({"weights": 0.25}, r"weights must be a sequence of 4 numbers \(got: 0.25\)"),
    ],
    ids=repr,
)
def test_a_setting_of_another_type_is_refused_at_once(options, words):
    with pytest.raises(TypeError, match=words):
        BleuMeasure(**options)


def test_numbers_of_numpy_are_the_same_settings():
    ours = BleuMeasure(np.int64(3), "floor", np.float32(0.5))
    assert ours == BleuMeasure(3, "floor", 0.5)
    assert type(ours.smooth_value) is float


def test_the_longest_order_there_is_counts():
    text = " ".join(map(str, range(1003)))
    assert micro(BleuMeasure(1000), [(text, [text])]) == 1
