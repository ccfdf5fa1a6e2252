"""N-gram overlap against plain Python."""

import math
from itertools import product

import numpy as np
import oracles
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ngram_metrics.scores.measure import averaged_score
from ngram_metrics.scores.overlap import OverlapMeasure, OverlapStatistics
from ngram_metrics.scores.rows import pack, row_width, unpack
from ngram_metrics.text.word_reader import WordReader

CPU = torch.device("cpu")

# Two letters in short sentences: repeats, ties and orders without an n-gram all occur.
documents = st.lists(st.sampled_from("ab"), max_size=8)
batches = st.lists(st.tuples(documents, st.lists(documents, min_size=1, max_size=4)), min_size=1, max_size=5)
orders = st.integers(1, 7)


def counted(hypothesis, reference, ngram):
    """Matches, n-grams of the hypothesis, and of the reference."""
    totals = [oracles.ngrams(one, ngram).total() for one in (hypothesis, reference)]
    return oracles.matches(hypothesis, [reference], ngram), *totals


def overlap(matches, hypothesis, reference):
    return 2 * matches / (hypothesis + reference) if hypothesis + reference else 0.0


def best(hypothesis, references, ngram):
    """The counts with the reference of the highest overlap, the first of equals."""
    return max((counted(hypothesis, one, ngram) for one in references), key=lambda counts: overlap(*counts))


def statistics(batch, ngram):
    preds, target = [list(one) for one, _ in batch], [list(map(list, several)) for _, several in batch]
    return OverlapMeasure(ngram).statistics(WordReader().read(preds, target, CPU))


def rows(batch, ngram):
    return list(zip(*(field.tolist() for field in statistics(batch, ngram)), strict=True))


def score(batch, ngram, average):
    return averaged_score(OverlapMeasure(ngram), statistics(batch, ngram), average).tolist()


def close(expected):
    return pytest.approx(expected, rel=1e-12, abs=1e-300)


@given(batches, orders)
def test_statistics_are_those_of_counters(batch, ngram):
    fields = statistics(batch, ngram)
    assert rows(batch, ngram) == [best(*one, ngram) for one in batch]
    assert {(field.dtype, field.shape) for field in fields} == {(torch.int64, (len(batch),))}


@given(batches, orders)
def test_scores_are_those_of_the_formula_in_plain_python(batch, ngram):
    counts = [best(*one, ngram) for one in batch]
    expected = [overlap(*one) for one in counts]
    assert score(batch, ngram, "none") == close(expected)
    assert score(batch, ngram, "macro") == close(sum(expected) / len(expected))
    assert score(batch, ngram, "micro") == close(overlap(*map(sum, zip(*counts, strict=True))))


def test_each_of_equal_n_grams_counts_once():
    """An n-gram of one side is the partner of one of the other side, and of no more."""
    assert score([("aaab", ["ac"])], 1, "none") == [2 * 1 / 6]
    assert score([("aaaa", ["aab"])], 1, "none") == [2 * 2 / 7]
    assert score([("aaaa", ["aab"])], 2, "none") == [2 * 1 / 5]


def test_of_equally_good_references_the_first_counts():
    hypothesis, few, many = "abcd", "abxy", "abcdpqrsxyzw"
    assert overlap(*counted(hypothesis, few, 1)) == overlap(*counted(hypothesis, many, 1)) == 0.5
    assert rows([(hypothesis, [few, many])], 1) == [(2, 4, 4)]
    assert rows([(hypothesis, [many, few])], 1) == [(4, 4, 12)]
    assert rows([(hypothesis, ["", "x", many, few])], 1) == [(4, 4, 12)]


@pytest.mark.parametrize("ngram", [1, 2, 5])
def test_what_has_no_n_gram_scores_0(ngram):
    short = "abcd"[: ngram - 1]
    nothing = [
        ("", [""]),
        ("", ["abcdef"]),
        ("abcdef", [""]),
        (short, [short]),
        (short, [short, ""]),
        ("abcdef", ["uvwxyz"]),
    ]
    assert score(nothing, ngram, "none") == [0] * len(nothing)
    assert score(nothing, ngram, "macro") == score(nothing, ngram, "micro") == 0
    assert score(nothing[:1], ngram, "micro") == 0


# Properties.


@given(st.lists(st.lists(st.sampled_from("ab"), min_size=7, max_size=9), min_size=1, max_size=4), orders)
def test_a_text_that_is_its_own_reference_scores_1(several, ngram):
    batch = [(one, [["c"], one]) for one in several]
    assert score(batch, ngram, "none") == [1] * len(batch)
    assert score(batch, ngram, "micro") == 1


@given(batches, orders)
def test_hypothesis_and_reference_may_change_places(batch, ngram):
    single = [(one, several[:1]) for one, several in batch]
    turned = [(other, [one]) for one, (other,) in single]
    for average in ("none", "macro", "micro"):
        assert score(turned, ngram, average) == score(single, ngram, average)


@given(batches, orders, st.permutations(range(5)))
def test_permuted_sentences_and_references_have_the_scores_permuted(batch, ngram, order):
    order = [i for i in order if i < len(batch)]
    scores = score(batch, ngram, "none")
    assert score([(batch[i][0], batch[i][1][::-1]) for i in order], ngram, "none") == [scores[i] for i in order]
    assert score([batch[i] for i in order], ngram, "micro") == score(batch, ngram, "micro")


@given(batches, orders)
def test_sentences_count_the_same_alone_and_in_a_batch(batch, ngram):
    assert rows(batch, ngram) == [rows([one], ngram)[0] for one in batch]


@given(batches, orders, st.sampled_from([(), (1,), (2, 3), (0, 2), (2, 1, 2)]))
def test_any_leading_shape_scores_as_its_rows_do(batch, ngram, shape):
    metric = OverlapMeasure(ngram)
    packed = pack(statistics(batch, ngram), metric.layout)
    assert packed.shape == (len(batch), row_width(metric.layout)) == (len(batch), 3)
    chosen = packed[torch.arange(math.prod(shape)) % len(packed)].reshape(*shape, 3)
    scores = metric.score(unpack(chosen, metric.layout))
    assert (scores.shape, scores.dtype) == (shape, torch.float64)
    each = score(batch, ngram, "none")
    assert scores.flatten().tolist() == [each[i % len(each)] for i in range(math.prod(shape))]
    parts = metric.parts(unpack(chosen, metric.layout))
    assert list(parts) == list(OverlapStatistics._fields)
    assert {part.shape for part in parts.values()} == {shape}


def test_counts_past_the_exact_integers_of_float32_are_scored_exactly():
    many = 2**24 + 1
    counts = OverlapStatistics(*map(torch.tensor, (many - 1, many, many)))
    assert OverlapMeasure().score(counts).item() == (many - 1) / many


@pytest.mark.usefixtures("surroundings")
def test_the_surroundings_of_a_training_loop_change_no_score():
    batch = [("aab", ["ab", "b"]), ("ab", ["bb"]), ("", ["a"])]
    for ngram, average in product((1, 2), ("none", "macro", "micro")):
        counts = [best(*one, ngram) for one in batch]
        each = [overlap(*one) for one in counts]
        expected = {"none": each, "macro": sum(each) / 3, "micro": overlap(*map(sum, zip(*counts, strict=True)))}
        assert score(batch, ngram, average) == close(expected[average])


def test_padded_ids_are_scored_without_waiting_for_the_device():
    preds, target = torch.zeros(3, 7, device="meta").long(), torch.zeros(3, 2, 5, device="meta").long()
    for ngram, references in product([1, 3, 9], [target, target[:, 0]]):
        metric = OverlapMeasure(ngram)
        scores = metric.score(metric.statistics(WordReader(pad_id=0).read(preds, references, CPU)))
        assert (scores.device.type, scores.shape, scores.dtype) == ("meta", (3,), torch.float64)


@pytest.mark.parametrize(
    ("ngram", "words"),
    [(0, "greater than zero"), (-1, "greater than zero"), (1001, "at most 1000"), (2**40, "at most 1000")],
)
def test_an_order_out_of_its_range_is_refused_at_once(ngram, words):
    with pytest.raises(ValueError, match=rf"ngram order must be {words} \(got: {ngram}\)"):
        OverlapMeasure(ngram)


@pytest.mark.parametrize("ngram", [2.0, 2.5, True, None, "2"], ids=repr)
def test_an_order_that_is_no_integer_is_refused_at_once(ngram):
    with pytest.raises(TypeError, match=rf"ngram order must be an integer \(got: {ngram!r}\)"):
        OverlapMeasure(ngram)


def test_an_order_may_be_an_integer_of_numpy():
    assert OverlapMeasure(np.int64(2)) == OverlapMeasure(2)
    assert type(OverlapMeasure(np.int64(2)).ngram) is int
