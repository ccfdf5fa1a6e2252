"""What holds of every measure, whatever it counts: in any batch and shape, on both engines, at the ends of its range.

The tests in tests/_core/metrics compare the counts and the scores of each with plain Python.
"""

import inspect
import math
import random
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from crossings import crossings
from draws import fewer
from hypothesis import given
from hypothesis import strategies as st
from layouts import PADDING, apart, padded

from ngram_metrics._core.metrics.bleu import SMOOTHINGS, make_bleu
from ngram_metrics._core.metrics.chrf import make_chrf
from ngram_metrics._core.metrics.overlap import make_overlap
from ngram_metrics._core.metrics.registry import REGISTRY
from ngram_metrics._core.metrics.rouge import ROUGE_KEYS, RougeMeasure, make_rouge
from ngram_metrics._core.scoring.measure import Measure
from ngram_metrics._core.scoring.scorer import Scorer

#: Some drawn texts cause warnings; test_input_warnings.py tests the warnings.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

ROUGE = make_rouge(rouge_keys=tuple(ROUGE_KEYS))
#: Metrics under settings that together reach every branch. Another metric of the registry has its defaults.
SCORERS: dict[str, list[Scorer]] = {
    "bleu": [
        *(make_bleu(smooth=name, effective_order=order) for name, order in product(SMOOTHINGS, (False, True))),
        *(
            make_bleu(smooth=name, effective_order=order, weights=(0.5, 0.3, 0.2, 0))
            for name, order in product(("none", "add-k"), (False, True))
        ),
        *(make_bleu(ngram=ngram) for ngram in (1, 6)),
    ],
    "chrf": [
        *(make_chrf(char_order=order, eps_smoothing=eps) for order, eps in product((1, 6, 9), (False, True))),
        *(make_chrf(word_order=2, eps_smoothing=eps) for eps in (False, True)),
        *(make_chrf(beta=0), make_chrf(whitespace=True)),
    ],
    "rouge": [
        *(
            replace(ROUGE, measure=RougeMeasure(ROUGE.measure.variants, reducer, alpha))
            for reducer, alpha in product(("best", "best_recall", "sum"), (None, 0, 0.5, 1))
        ),
        make_rouge(rouge_keys=("rouge1", "rougeL"), sentence_separator_id=1),
    ],
    "mean rouge": [make_rouge(rouge_keys=tuple(ROUGE_KEYS), accumulate="avg")],
    "overlap": [make_overlap(ngram=ngram) for ngram in (1, 2, 3, 9)],
}
# The keys of ROUGE are entries with options, and are above.
SCORERS |= {name: [entry.make()] for name, entry in REGISTRY.items() if not entry.options and name not in SCORERS}
each_metric = pytest.mark.parametrize("scorers", SCORERS.values(), ids=SCORERS)
#: Some settings of each metric.
each_scorer = pytest.mark.parametrize("scorers", list(map(st.sampled_from, SCORERS.values())), ids=SCORERS)
#: Means over references are scores, not counts.
each_scorer_of_counts = pytest.mark.parametrize(
    "scorers", [pytest.param(st.sampled_from(SCORERS[name]), id=name) for name in SCORERS if name != "mean rouge"]
)

# Few words in short texts of several lines: ties, repeats, orders without a match and without an n-gram all occur.
texts = st.lists(st.sampled_from(["a ", "b ", "ab ", "(a", "\n"]), max_size=9).map("".join)
batches = st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=4)), min_size=1, max_size=5)


def rows_of(scorer, batch):
    return scorer.count_batch(*apart(batch)).rows


def with_averages(scorer):
    """The scorer with each of its averages: means over references have no score of the corpus."""
    averages = ("none", "macro", "micro") if scorer.measure.has_counts else ("none", "macro")
    return [replace(scorer, average=average) for average in averages]


def score_by_average(scorer, batch):
    """The scores by average: of each segment and of the corpus."""
    return {averaged.average: averaged.score_batch(*apart(batch)) for averaged in with_averages(scorer)}


def subclasses(of):
    return {of}.union(*map(subclasses, of.__subclasses__()))


def test_every_measure_is_tested_here():
    ours = {one for one in subclasses(Measure) if one.__module__.startswith("ngram_metrics.")}
    tested = {type(scorer.measure) for scorers in SCORERS.values() for scorer in scorers}
    assert {one for one in ours if not inspect.isabstract(one)} == tested, "add the metric to SCORERS"


#: The number of segments, and the largest number of tokens of a document and of different ids.
SIZES = [
    (5, 9, 3),
    pytest.param((700, 12, 4), marks=pytest.mark.slow),  # more than one chunk
    (3, 300, 2),  # long documents of few ids, whose n-grams of high orders need more than one key
    (3, 300, 20_000),  # and of many ids
]


def for_padded_ids(scorers):
    """The scorers that count ids, with the padding of the tests."""
    return [
        replace(scorer, reader=replace(scorer.reader, pad_id=PADDING))
        for scorer in scorers
        if not getattr(scorer.reader, "words", False) and not getattr(scorer.reader, "whitespace", False)
    ]


def draw_batch(chance, size, references):
    """So many segments with up to so many references, and one more whose reference is empty."""
    segments, longest, vocabulary = size

    def document(shortest):
        return [chance.randint(1, vocabulary) for _ in range(chance.randint(shortest, longest))]

    # An empty reference among several cannot be told from a missing one in a padded tensor.
    shortest = 0 if references == 1 else 1
    batch = []
    for _ in range(segments):
        count = chance.randint(1, references)
        batch.append((document(0), [document(shortest) for _ in range(count)]))
    return [*batch, (document(0), [[]])]


@each_metric
@pytest.mark.parametrize("size", SIZES, ids=str)
@fewer(8)
@given(data=st.data(), seed=st.integers(0, 10**6), references=st.sampled_from([1, 3]))
def test_both_engines_count_and_score_the_same(scorers, size, data, seed, references):
    """NumPy and, on tensors of the CPU, the kernels for devices."""
    scorer = data.draw(st.sampled_from(for_padded_ids(scorers)))
    batch = draw_batch(random.Random(seed), size, references)
    in_numpy = scorer.count_batch(*apart(batch))
    with crossings():  # torch counts on a CPU too while something records its operations
        in_torch = scorer.count_batch(*padded(batch))
    assert in_torch.rows.numpy() == pytest.approx(in_numpy.rows, rel=1e-12, abs=0)
    assert in_torch.reference_range.tolist() == in_numpy.reference_range.tolist()
    for averaged in with_averages(scorer):
        score = averaged.score(averaged.add_up(in_torch))
        expected = averaged.score(averaged.add_up(in_numpy))
        assert score.numpy() == pytest.approx(expected, rel=1e-12, abs=0)


@each_scorer
@fewer(3)
@given(data=st.data(), batch=batches)
def test_a_segment_has_the_counts_and_the_score_in_a_batch_that_it_has_alone(scorers, data, batch):
    scorer = data.draw(scorers)
    rows = rows_of(scorer, batch)
    scores = score_by_average(scorer, batch)["none"]
    for index, segment in enumerate(batch):
        assert np.array_equal(rows_of(scorer, [segment]), rows[[index]])
        for score in score_by_average(scorer, [segment]).values():
            assert np.array_equal(score.ravel(), scores[index].ravel())


@each_scorer
@fewer(3)
@given(data=st.data(), batch=batches)
def test_the_order_of_segments_does_not_change_their_counts_or_the_score_of_the_corpus(scorers, data, batch):
    scorer = data.draw(scorers)
    order = data.draw(st.permutations(range(len(batch))))
    permuted = [batch[index] for index in order]
    assert np.array_equal(rows_of(scorer, permuted), rows_of(scorer, batch)[order])
    if scorer.measure.has_counts:
        micro = score_by_average(scorer, batch)["micro"]
        assert np.array_equal(score_by_average(scorer, permuted)["micro"], micro)


@pytest.mark.parametrize(
    "scorers", [pytest.param(st.sampled_from(SCORERS[name]), id=name) for name in SCORERS if "rouge" not in name]
)  # ROUGE may choose another of tied references
@fewer(3)
@given(data=st.data(), batch=batches)
def test_the_order_of_references_does_not_change_a_score(scorers, data, batch):
    scorer = data.draw(scorers)
    turned = [(hypothesis, references[::-1]) for hypothesis, references in batch]
    scores = score_by_average(scorer, batch)["none"]
    assert score_by_average(scorer, turned)["none"] == pytest.approx(scores, rel=1e-10, abs=0)


@each_scorer
@fewer(3)
@given(data=st.data(), batch=batches)
def test_rows_are_counts_in_int64_or_scores_in_float64(scorers, data, batch):
    scorer = data.draw(scorers)
    rows = rows_of(scorer, batch)
    assert rows.shape == (len(batch), scorer.measure.layout.row_width)
    assert rows.dtype == (np.int64 if scorer.measure.has_counts else np.float64)


@each_scorer
@fewer(3)
@given(data=st.data(), batch=batches)
def test_macro_is_the_mean_of_the_scores_of_segments(scorers, data, batch):
    scorer = data.draw(scorers)
    scores = score_by_average(scorer, batch)
    assert np.array_equal(scores["none"], scorer.measure.score_rows(rows_of(scorer, batch)))
    assert scores["macro"] == pytest.approx(scores["none"].sum(0) / len(batch), rel=1e-15, abs=0)


@each_scorer_of_counts
@fewer(3)
@given(data=st.data(), batch=batches)
def test_micro_scores_the_sum_of_the_counts(scorers, data, batch):
    scorer = data.draw(scorers)
    score = score_by_average(scorer, batch)["micro"]
    assert score.dtype == np.float64
    assert score.shape == scorer.measure.score_shape
    assert np.array_equal(score, scorer.measure.score_rows(rows_of(scorer, batch).sum(0)))


@each_scorer
@fewer(3)
@given(data=st.data(), batch=batches)
def test_rows_are_packed_as_they_were_before_they_were_unpacked(scorers, data, batch):
    scorer = data.draw(scorers)
    layout = scorer.measure.layout
    rows = rows_of(scorer, batch)
    assert np.array_equal(layout.pack(layout.unpack(rows)), rows)


#: Leading shapes: one row, none, several axes, and more rows than a vector register holds.
shapes = st.sampled_from([(), (1,), (2, 3), (0, 2), (2, 1, 2), (67,)])


def in_shape(rows, shape):
    """Rows of a batch again and again, in a leading shape."""
    index = np.arange(math.prod(shape)) % len(rows)
    return rows[index].reshape((*shape, rows.shape[-1]))


def score_one_by_one(measure, rows):
    """The scores of rows in a leading shape, each by itself."""
    leading = rows.shape[:-1]
    scores = [measure.score_rows(row) for row in rows.reshape(math.prod(leading), rows.shape[-1])]
    return np.array(scores).reshape((*leading, *measure.score_shape))


@each_scorer
@fewer(3)
@given(data=st.data(), batch=batches, shape=shapes)
def test_a_row_scores_the_same_in_any_leading_shape(scorers, data, batch, shape):
    """To the last bit, also where the rows of an array are its columns in memory."""
    scorer = data.draw(scorers)
    rows = in_shape(rows_of(scorer, batch), shape)
    expected = score_one_by_one(scorer.measure, rows)
    for in_memory in (rows, np.asfortranarray(rows)):
        scores = scorer.measure.score_rows(in_memory)
        assert scores.dtype == np.float64
        assert np.array_equal(scores, expected)


@each_scorer
@fewer(3)
@given(data=st.data(), batch=batches, shape=shapes)
def test_rows_of_torch_score_what_those_of_numpy_do(scorers, data, batch, shape):
    scorer = data.draw(scorers)
    rows = in_shape(rows_of(scorer, batch), shape)
    scores = scorer.measure.score_rows(torch.from_numpy(rows))
    assert scores.dtype == torch.float64
    assert scores.numpy() == pytest.approx(score_one_by_one(scorer.measure, rows), rel=1e-12, abs=0)


@each_scorer
@fewer(3)
@given(data=st.data(), batch=batches)
def test_scores_are_from_0_to_1(scorers, data, batch):
    for scores in score_by_average(data.draw(scorers), batch).values():
        assert (scores >= 0).all()
        assert (scores <= 1 + 1e-12).all()


@each_scorer_of_counts
@fewer(3)
@given(data=st.data(), batch=batches, shape=shapes)
def test_the_parts_of_a_score_end_with_its_counts(scorers, data, batch, shape):
    scorer = data.draw(scorers)
    statistics = scorer.measure.layout.unpack(in_shape(rows_of(scorer, batch), shape))
    parts = scorer.measure.parts(statistics)
    assert list(parts)[-len(statistics) :] == list(statistics._fields)
    for name, counts in statistics._asdict().items():
        assert np.array_equal(parts[name], counts)
    for part in parts.values():
        assert part.shape[: len(shape)] == shape


@each_metric
@fewer(3)
@given(letters=st.text("abc", min_size=12, max_size=15))
def test_a_hypothesis_equal_to_its_reference_scores_1(scorers, letters):
    text = " ".join(letters)
    for scorer in scorers:
        for scores in score_by_average(scorer, [(text, [text])]).values():
            assert scores == pytest.approx(np.ones_like(scores), rel=1e-10)


#: Segments without a token, without one in the hypothesis or the references, and without a match.
NOTHING = [("", [""]), ("", ["a"]), ("a", [""]), ("a", ["", ""]), ("aaaaa", ["bbbbb"])]


@each_metric
@pytest.mark.parametrize("batch", [NOTHING, NOTHING[:3]], ids=["some without a match", "no text on one side"])
def test_an_empty_text_or_no_match_scores_0(scorers, batch):
    for scorer in scorers:
        # Epsilon smoothing takes 0 / 0 for 1e-16.
        most = 1e-14 if getattr(scorer.measure, "eps_smoothing", False) else 0
        for scores in score_by_average(scorer, batch).values():
            assert (scores >= 0).all(), scorer
            assert (scores <= most).all(), scorer


#: Smoothings that add to a count, which then weighs less beside a larger one.
ADDING = ("add-k", "smooth2", "nltk_smooth2")


@pytest.mark.parametrize("name", [name for name in SCORERS if name != "mean rouge"])  # means of scores are no counts
def test_counts_past_the_exact_integers_of_float32_are_scored_exactly(name):
    segment = ("a b c a b " * 3 + "d", ["a b c a b " * 3])
    for scorer in SCORERS[name]:
        if getattr(scorer.measure, "smooth", "none") not in ADDING:
            rows = rows_of(scorer, [segment])
            scores = scorer.measure.score_rows(rows)
            assert scorer.measure.score_rows(rows * (2**24 + 1)) == pytest.approx(scores, rel=1e-14)


SEGMENTS = [
    ("the cat sat on mat", ["a cat is on the mat"]),
    ("hello world", ["hello world", "a"]),
    ("a", ["b", "a a a"]),
    ("a b c d e f", ["u v f w x y z"]),
    ("(It) ran.\nso", ["so\nit ran ."]),
    ("", [""]),
]


#: The score of each segment under the first settings; the others are compiled if slow tests run too.
COMPILED_BY_DEFAULT = ("rouge", "none", 0)


@pytest.mark.usefixtures("compiling")
@pytest.mark.parametrize(
    "scorer",
    [
        pytest.param(
            one,
            id=f"{name}-{one.average}-{index}",
            marks=() if (name, one.average, index) == COMPILED_BY_DEFAULT else pytest.mark.slow,
        )
        for name, scorers in SCORERS.items()
        for index, scorer in enumerate(scorers)
        for one in (with_averages(scorer) if index == 0 else with_averages(scorer)[:1])
    ],
)
def test_every_variant_compiles_into_one_graph(scorer):
    counted = scorer.count_batch(*apart(SEGMENTS))  # an array, of which torch.compile takes a tensor
    counts = scorer.add_up(counted._replace(rows=torch.from_numpy(counted.rows)))
    compiled = torch.compile(scorer.score, fullgraph=True, backend="eager")
    assert compiled(counts).equal(scorer.score(counts))
