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
SCORERS |= {name: [entry.make()] for name, entry in REGISTRY.items() if not entry.options and name not in SCORERS}
each_metric = pytest.mark.parametrize("scorers", SCORERS.values(), ids=SCORERS)
#: Some settings of each metric.
each_scorer = pytest.mark.parametrize("scorers", list(map(st.sampled_from, SCORERS.values())), ids=SCORERS)

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
    """The scores as none, macro and, if the measure has counts, micro."""
    return [one.score_batch(*apart(batch)) for one in with_averages(scorer)]


def subclasses(of):
    return {of}.union(*map(subclasses, of.__subclasses__()))


def test_every_measure_is_tested_here():
    ours = {one for one in subclasses(Measure) if one.__module__.startswith("ngram_metrics.")}
    tested = {type(scorer.measure) for scorers in SCORERS.values() for scorer in scorers}
    assert {one for one in ours if not inspect.isabstract(one)} == tested, "add the metric to SCORERS"


#: The largest number of segments, tokens of a document, and ids: few; more than one chunk; orders that need more than
#: one key, with few ids and with many.
SIZES = [(5, 9, 3), pytest.param((700, 12, 4), marks=pytest.mark.slow), (3, 300, 2), (3, 300, 20_000)]


@each_metric
@pytest.mark.parametrize("size", SIZES, ids=str)
@fewer(8)
@given(data=st.data(), seed=st.integers(0, 10**6), references=st.sampled_from([1, 3]))
def test_both_engines_count_and_score_the_same(scorers, size, data, seed, references):
    """NumPy and, on tensors of the CPU, the kernels for devices."""
    for_ids = [one for one in scorers if not any(getattr(one.reader, name, False) for name in ("words", "whitespace"))]
    scorer, draw = data.draw(st.sampled_from(for_ids)), random.Random(seed)
    scorer = replace(scorer, reader=replace(scorer.reader, pad_id=PADDING))
    segments, longest, vocabulary = size

    def document(shortest):
        return [draw.randint(1, vocabulary) for _ in range(draw.randint(shortest, longest))]

    # An empty reference among several cannot be told from a missing one in a padded tensor.
    counts = [draw.randint(1, references) for _ in range(segments)]
    batch = [(document(0), [document(references // 2) for _ in range(count)]) for count in counts]
    batch.append((document(0), [[]]))  # all of its rows are padding
    in_numpy = scorer.count_batch(*apart(batch))
    with crossings():  # torch counts on a CPU too while something records its operations
        in_torch = scorer.count_batch(*padded(batch))
    assert in_torch.rows.numpy() == pytest.approx(in_numpy.rows, rel=1e-12, abs=0)
    assert in_torch.reference_range.tolist() == in_numpy.reference_range.tolist()
    for one in with_averages(scorer):
        tensors, arrays = one.score(one.add_up(in_torch)), one.score(one.add_up(in_numpy))
        assert tensors.numpy() == pytest.approx(arrays, rel=1e-12, abs=0)


@each_scorer
@fewer(3)
@given(data=st.data(), batch=batches)
def test_segments_count_the_same_in_any_batch(scorers, data, batch):
    scorer = data.draw(scorers)
    rows, scores = rows_of(scorer, batch), score_by_average(scorer, batch)
    for index, segment in enumerate(batch):
        assert np.array_equal(rows_of(scorer, [segment]), rows[[index]])
        assert all(
            np.array_equal(score.ravel(), scores[0][index].ravel()) for score in score_by_average(scorer, [segment])
        )
    order = data.draw(st.permutations(range(len(batch))))
    permuted = [batch[index] for index in order]
    assert np.array_equal(rows_of(scorer, permuted), rows[order])
    assert all(map(np.array_equal, score_by_average(scorer, permuted)[2:], scores[2:]))
    if not scorer.measure.score_shape:  # ROUGE may choose another of tied references
        turned = [(hypothesis, references[::-1]) for hypothesis, references in batch]
        assert score_by_average(scorer, turned)[0] == pytest.approx(scores[0], rel=1e-10, abs=0)


@each_scorer
@fewer(3)
@given(data=st.data(), batch=batches)
def test_micro_scores_the_sum_of_the_counts_and_macro_is_the_mean_of_the_scores(scorers, data, batch):
    scorer = data.draw(scorers)
    rows, (each, mean, *of_sum) = rows_of(scorer, batch), score_by_average(scorer, batch)
    assert rows.dtype == (np.int64 if scorer.measure.has_counts else np.float64)
    assert np.array_equal(each, scorer.measure.score_rows(rows))
    assert mean == pytest.approx(each.sum(0) / len(batch), rel=1e-15, abs=0)
    for score in of_sum:
        assert (score.dtype, score.shape) == (np.float64, scorer.measure.score_shape)
        assert np.array_equal(score, scorer.measure.score_rows(rows.sum(0)))


@each_scorer
@fewer(3)
@given(data=st.data(), batch=batches, shape=st.sampled_from([(), (1,), (2, 3), (0, 2), (2, 1, 2), (67,)]))
def test_a_row_scores_the_same_in_any_leading_shape(scorers, data, batch, shape):
    """To the last bit, also where the rows of an array are its columns in memory."""
    scorer = data.draw(scorers)
    measure, rows = scorer.measure, rows_of(scorer, batch)
    assert rows.shape == (len(batch), measure.layout.row_width)
    assert np.array_equal(measure.layout.pack(measure.layout.unpack(rows)), rows)
    index = np.arange(math.prod(shape)) % len(rows)
    chosen = rows[index].reshape(*shape, rows.shape[-1])
    expected = np.array([measure.score_rows(row) for row in rows])[index].reshape((*shape, *measure.score_shape))
    for layout in (chosen, np.asfortranarray(chosen)):
        scores = measure.score_rows(layout)
        assert scores.dtype == np.float64
        assert np.array_equal(scores, expected)
    scores = measure.score_rows(torch.from_numpy(chosen))
    assert scores.dtype == torch.float64
    assert scores.numpy() == pytest.approx(expected, rel=1e-12, abs=0)
    assert ((expected >= 0) & (expected <= 1 + 1e-12)).all()
    if measure.has_counts:
        statistics = measure.layout.unpack(chosen)
        parts = measure.parts(statistics)
        assert list(parts)[-len(statistics) :] == list(statistics._fields)
        for name, counts in statistics._asdict().items():
            assert np.array_equal(parts[name], counts)
        assert {part.shape[: len(shape)] for part in parts.values()} == {shape}


@each_metric
@fewer(3)
@given(letters=st.text("abc", min_size=12, max_size=15))
def test_a_hypothesis_equal_to_its_reference_scores_1(scorers, letters):
    text = " ".join(letters)
    for scorer in scorers:
        for scores in score_by_average(scorer, [(text, [text])]):
            assert scores == pytest.approx(np.ones_like(scores), rel=1e-10)


@each_metric
def test_an_empty_text_or_no_match_scores_0(scorers):
    nothing = [("", [""]), ("", ["a"]), ("a", [""]), ("a", ["", ""]), ("aaaaa", ["bbbbb"])]
    for scorer in scorers:
        # Epsilon smoothing takes 0 / 0 for 1e-16.
        most = 1e-14 if getattr(scorer.measure, "eps_smoothing", False) else 0
        for scores in (*score_by_average(scorer, nothing), *score_by_average(scorer, nothing[:3])):
            assert ((scores >= 0) & (scores <= most)).all(), scorer


@pytest.mark.parametrize("name", [name for name in SCORERS if name != "mean rouge"])  # means of scores are no counts
def test_counts_past_the_exact_integers_of_float32_are_scored_exactly(name):
    for scorer in SCORERS[name]:
        rows = rows_of(scorer, [("a b c a b " * 3 + "d", ["a b c a b " * 3])])
        if getattr(scorer.measure, "smooth", "none") not in ("add-k", "smooth2", "nltk_smooth2"):  # add to a count
            assert scorer.measure.score_rows(rows * (2**24 + 1)) == pytest.approx(
                scorer.measure.score_rows(rows), rel=1e-14
            )


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
    counted = scorer.count_batch(*apart(SEGMENTS))
    counts = scorer.add_up(counted._replace(rows=torch.from_numpy(counted.rows)))
    compiled = torch.compile(scorer.score, fullgraph=True, backend="eager")
    assert compiled(counts).equal(scorer.score(counts))
