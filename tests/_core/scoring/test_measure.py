"""What holds of every measure: its counts and scores are those of plain Python, in any company and in any shape."""

import inspect
import math
import random

import numpy as np
import pytest
import torch
from all_measures import MEASURES
from covering import grid
from draws import fewer
from hypothesis import given
from hypothesis import strategies as st
from layouts import apart, array_batch, read_batch, tensor_batch
from measures import Measured

from ngram_metrics._core.scoring.measure import Measure

#: Texts of which ROUGE's rule leaves nothing are among those drawn; `test_input_warnings.py` is about the warning.
pytestmark = pytest.mark.filterwarnings("ignore:ROUGE's rule for words")

# What is counted once more in other company or another shape: there the tests against plain Python have many examples.
few = fewer(3)
each = pytest.mark.parametrize("measured", MEASURES.values(), ids=MEASURES)


def subclasses(of: type) -> set[type]:
    return {of}.union(*map(subclasses, of.__subclasses__()))


def test_every_measure_has_a_row():
    ours = {one for one in subclasses(Measure) if one.__module__.startswith("ngram_metrics.")}
    rows = {type(measured.make({})) for measured in MEASURES.values()}
    measures = {one for one in ours if not inspect.isabstract(one)}
    assert measures == rows, "add MEASURED to the test of the metric in tests/_core/metrics"


def drawn(data: st.DataObject, measured: Measured) -> tuple:
    return data.draw(measured.settings), data.draw(measured.batches)


def sample(measured: Measured, texts: list[tuple[str, list[str]]]) -> list[tuple]:
    """Texts as documents of a measure."""
    return [(measured.of_text(hypothesis), list(map(measured.of_text, several))) for hypothesis, several in texts]


@each
@given(data=st.data())
def test_counts_and_scores_are_those_of_plain_python(measured, data):
    settings, batch = drawn(data, measured)
    for average in measured.averages[:2]:
        assert measured.scored(settings, batch, average) == measured.close(measured.expected(settings, batch, average))
    if not measured.choice_is_exact:  # of equally good references another may be taken
        batch = [(hypothesis, references[:1]) for hypothesis, references in batch]
    rows = measured.rows(settings, batch)
    assert rows.dtype == (np.int64 if measured.make(settings).has_counts else np.float64)
    assert rows == measured.close(measured.expected_rows(settings, batch))
    for average in measured.averages[2:]:
        scores = measured.scored(settings, batch, average)
        assert (scores.dtype, scores.shape) == (np.float64, measured.make(settings).score_shape)
        assert scores == measured.close(measured.expected(settings, batch, average))


#: The most segments, tokens of a document, and ids of a vocabulary: few; more than a chunk; n-grams of more bits than a
#: key has, so that their heads are numbered, with few ids and with many.
SIZES = [(5, 9, 3), (700, 12, 4), (3, 300, 2), (3, 300, 20_000)]


@each
@pytest.mark.parametrize("size", SIZES, ids=str)
@fewer(8)
@given(data=st.data(), seed=st.integers(0, 10**6), references=st.sampled_from([1, 3]))
def test_both_engines_have_the_rows_of_plain_python_and_one_score(measured, size, data, seed, references):
    """NumPy and, on tensors of the CPU, the kernel for devices."""
    of_ids = [one for one in measured.variants if not (one.get("word_order") or one.get("whitespace"))]
    settings, draw = data.draw(st.sampled_from(of_ids)), random.Random(seed)
    segments, longest, vocabulary = size

    def document(shortest: int) -> list[int]:
        return [draw.randint(1, vocabulary) for _ in range(draw.randint(shortest, longest))]

    # An empty reference among several cannot be told from a missing one in a padded tensor.
    batch = [(document(0), [document(references // 2) for _ in range(draw.randint(1, references))])]
    batch += [(document(0), [document(references // 2) for _ in range(references)]) for _ in range(segments - 1)]
    measure = measured.make(settings)
    arrays, tensors = (
        measure.layout.pack(measure.statistics([layout(batch)])) for layout in (array_batch, tensor_batch)
    )
    assert tensors.numpy() == measured.close(arrays)
    assert measure.score_rows(tensors).numpy() == pytest.approx(measure.score_rows(arrays), rel=1e-12, abs=0)
    if measured.choice_is_exact or references == 1:
        documents = [(measured.of_ids(one), list(map(measured.of_ids, several))) for one, several in batch]
        assert arrays == measured.close(measured.expected_rows(settings, documents))


@each
@few
@given(data=st.data())
def test_segments_count_the_same_in_any_company(measured, data):
    settings, batch = drawn(data, measured)
    rows, scores = measured.rows(settings, batch), measured.scored(settings, batch, "none")
    for index, segment in enumerate(batch):
        assert np.array_equal(measured.rows(settings, [segment]), rows[[index]])
        for average in measured.averages:
            assert np.array_equal(measured.scored(settings, [segment], average).ravel(), scores[index].ravel())
    order = data.draw(st.permutations(range(len(batch))))
    permuted = [batch[index] for index in order]
    assert np.array_equal(measured.rows(settings, permuted), rows[order])
    for average in measured.averages[2:]:
        assert np.array_equal(measured.scored(settings, permuted, average), measured.scored(settings, batch, average))
    if not measured.make(settings).score_shape:
        turned = [(hypothesis, references[::-1]) for hypothesis, references in batch]
        assert measured.scored(settings, turned, "none") == measured.close(scores)


@each
@few
@given(data=st.data(), shape=st.sampled_from([(), (1,), (2, 3), (0, 2), (2, 1, 2), (67,)]))
def test_a_row_scores_the_same_in_any_leading_shape(measured, data, shape):
    """To the last bit, also where the rows of an array are its columns in memory."""
    settings, batch = drawn(data, measured)
    measure, rows = measured.make(settings), measured.rows(settings, batch)
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
    assert ((expected >= 0) & (expected < math.inf)).all()
    if settings.get("smooth") not in ("floor", "add-k"):
        assert (expected <= 1 + 1e-12).all()
    if measured.averages[2:]:
        statistics = measure.layout.unpack(chosen)
        parts = measure.parts(statistics)
        assert list(parts)[-len(statistics) :] == list(statistics._fields)
        for name, counts in statistics._asdict().items():
            assert np.array_equal(parts[name], counts)
        assert {part.shape[: len(shape)] for part in parts.values()} == {shape}


@each
@few
@given(letters=st.text("abc", min_size=12, max_size=15))
def test_what_is_its_own_reference_has_the_best_score(measured, letters):
    document = measured.of_text(" ".join(letters))
    for settings in measured.variants:
        for average in measured.averages:
            scores = measured.scored(settings, [(document, [document])], average)
            assert scores == measured.close(np.ones_like(scores))


@each
def test_nothing_scores_0_and_so_does_no_match(measured):
    texts = [("", [""]), ("", ["a"]), ("a", [""]), ("a", ["", ""]), ("aaaaa", ["bbbbb"])]
    nothing = sample(measured, texts)
    for settings in measured.variants:
        for average in measured.averages:
            for batch in (nothing, nothing[:3]):
                # Epsilon smoothing takes 0 / 0 for 1e-16.
                most = 1e-14 if settings.get("eps_smoothing") else 0
                scores = measured.scored(settings, batch, average)
                assert ((scores >= 0) & (scores <= most)).all(), settings


@each
def test_counts_past_the_exact_integers_of_float32_are_scored_exactly(measured):
    measure = measured.make({})
    if not measure.has_counts:
        pytest.skip("means of scores are no counts")
    batch = read_batch(measured.reader({}), *apart(sample(measured, [("abcab" * 3 + "d", ["abcab" * 3])])))
    rows = measure.layout.pack(measure.statistics(batch))
    assert measure.score_rows(rows * (2**24 + 1)) == pytest.approx(measure.score_rows(rows), rel=1e-15)


SAMPLE = [
    ("the cat sat on mat", ["a cat is on the mat"]),
    ("hello world", ["hello world", "a"]),
    ("a", ["b", "a a a"]),
    ("a b c d e f", ["u v f w x y z"]),
    ("(It) ran.\nso", ["so\nit ran ."]),
    ("", [""]),
]


@pytest.mark.usefixtures("compiling")
@grid(
    ("measured", "settings", "average"),
    [
        pytest.param(measured, settings, average, id=f"{name}-{average}-{settings}")
        for name, measured in MEASURES.items()
        for settings in measured.variants
        for average in (measured.averages if settings is measured.variants[0] else ["none"])
    ],
)
def test_every_variant_compiles_into_one_graph(measured, settings, average):
    scorer = measured.scorer(settings, average)
    counted = scorer.count(*apart(sample(measured, SAMPLE)))
    counted = counted._replace(rows=torch.from_numpy(counted.rows))
    compiled = torch.compile(scorer.score, fullgraph=True, backend="eager")
    assert compiled(counted).equal(scorer.score(counted))
