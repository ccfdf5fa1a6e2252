"""What holds of every measure: its counts and scores are those of plain Python, in any company and in any shape."""

import inspect
import math
from functools import partial

import numpy as np
import pytest
import torch
from all_measures import MEASURES
from covering import grid
from draws import fewer
from hypothesis import given
from hypothesis import strategies as st
from layouts import read_batch
from measures import Measured, averaged_score
from oracles import summed

from ngram_metrics._core.scoring.measure import Measure
from ngram_metrics._core.scoring.rows import pack, unpack

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


def listed(statistics: tuple) -> list[tuple]:
    """The fields of each sentence."""
    return list(zip(*(field.tolist() for field in statistics), strict=True))


def sample(measured: Measured, texts: list[tuple[str, list[str]]]) -> list[tuple]:
    """Texts as documents of a measure."""
    return [(measured.of_text(hypothesis), list(map(measured.of_text, several))) for hypothesis, several in texts]


def as_lists(row: tuple) -> tuple:
    return tuple(np.array(field).tolist() for field in row)


@each
@given(data=st.data())
def test_counts_and_scores_are_those_of_plain_python(measured, data):
    settings, batch = drawn(data, measured)
    for average in measured.averages[:2]:
        assert measured.scored(settings, batch, average).numpy() == measured.close(
            measured.expected(settings, batch, average)
        )
    if not measured.choice_is_exact:  # of equally good references another may be taken
        batch = [(hypothesis, references[:1]) for hypothesis, references in batch]
    fields, measure = measured.statistics(settings, batch), measured.make(settings)
    rows = [as_lists(measured.counts(settings, *segment)) for segment in batch]
    if measure.row_dtype == torch.int64:
        assert listed(fields) == rows
        assert {field.dtype for field in fields} == {torch.int64}
    for average in measured.averages[2:]:
        found = measured.scored(settings, batch, average)
        assert (found.dtype, found.shape) == (torch.float64, measure.score_shape)
        assert found.numpy() == measured.close(measured.score(settings, summed(rows)))


@each
@few
@given(data=st.data())
def test_sentences_count_the_same_in_any_company(measured, data):
    settings, batch = drawn(data, measured)
    rows, scores = listed(measured.statistics(settings, batch)), measured.scored(settings, batch, "none")
    assert [listed(measured.statistics(settings, [segment]))[0] for segment in batch] == rows
    order = data.draw(st.permutations(range(len(batch))))
    permuted = [batch[index] for index in order]
    assert listed(measured.statistics(settings, permuted)) == [rows[index] for index in order]
    assert measured.scored(settings, permuted, "none").equal(scores[order])
    for average in measured.averages[2:]:
        assert measured.scored(settings, permuted, average).equal(measured.scored(settings, batch, average))
    if not measured.make(settings).score_shape:
        turned = [(hypothesis, references[::-1]) for hypothesis, references in batch]
        assert measured.scored(settings, turned, "none").numpy() == measured.close(scores.numpy())


@each
@few
@given(data=st.data(), shape=st.sampled_from([(), (1,), (2, 3), (0, 2), (2, 1, 2)]))
def test_any_leading_shape_scores_as_its_rows_do(measured, data, shape):
    settings, batch = drawn(data, measured)
    measure, statistics = measured.make(settings), measured.statistics(settings, batch)
    rows = pack(statistics, measure.layout)
    assert rows.shape == (len(batch), measure.layout.row_width)
    assert rows.dtype == measure.row_dtype
    given_back = unpack(rows, measure.layout)
    assert type(given_back) is type(statistics)
    assert all(one.equal(other.to(one.dtype)) for one, other in zip(given_back, statistics, strict=True))
    numbers = torch.arange(math.prod(shape)) % len(rows)
    chosen = unpack(rows[numbers].reshape(*shape, rows.shape[-1]), measure.layout)
    scores, expected = measure.score(chosen), measured.scored(settings, batch, "none")[numbers]
    assert (scores.shape, scores.dtype) == ((*shape, *measure.score_shape), torch.float64)
    assert scores.reshape(expected.shape).numpy() == measured.close(expected.numpy())
    assert ((expected >= 0) & (expected < math.inf)).all()
    if settings.get("smooth") not in ("floor", "add-k"):
        assert (expected <= 1 + 1e-12).all()
    if measured.averages[2:]:
        parts = measure.parts(chosen)
        assert list(parts)[-len(chosen) :] == list(chosen._fields)
        for part, counted in zip(list(parts.values())[-len(chosen) :], chosen, strict=True):
            assert part.equal(counted)
        assert {part.shape[: len(shape)] for part in parts.values()} == {shape}


@each
@few
@given(data=st.data())
def test_what_is_its_own_reference_has_the_best_score(measured, data):
    settings, document = data.draw(measured.perfect)
    batch = [(document, [measured.of_text("c"), document]), (document, [document])]
    if measured.averages[2:]:
        shape = measured.make(settings).score_shape
        assert measured.scored(settings, batch, "none").numpy() == measured.close(np.ones((2, *shape)))
        assert measured.scored(settings, batch, "micro").numpy() == measured.close(np.ones(shape))
    else:
        assert measured.scored(settings, batch[1:], "none").numpy() == pytest.approx(1)


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
    for settings, counts, expected in measured.past_float32:
        measure = measured.make(settings)
        statistics = measure.layout.make(*map(torch.tensor, counts))
        assert measure.score(statistics).numpy() == pytest.approx(np.array(expected), rel=1e-15)


SAMPLE = [
    ("the cat sat on mat", ["a cat is on the mat"]),
    ("hello world", ["hello world", "a"]),
    ("a", ["b", "a a a"]),
    ("a b c d e f", ["u v f w x y z"]),
    ("(It) ran.\nso", ["so\nit ran ."]),
    ("", [""]),
]


@pytest.mark.covering
@pytest.mark.usefixtures("surroundings")
@each
def test_the_surroundings_of_a_training_loop_change_no_score(measured):
    batch = sample(measured, SAMPLE)
    for settings in measured.variants:
        for average in measured.averages:
            scores = measured.scored(settings, batch, average)
            assert (scores.dtype, scores.device.type) == (torch.float64, "cpu")
            assert scores.numpy() == measured.close(measured.expected(settings, batch, average))


@each
def test_padded_ids_are_scored_without_waiting_for_the_device(measured):
    """On the meta device there are no data: whatever would have to read some raises."""
    preds, target = torch.zeros(3, 7, device="meta").long(), torch.zeros(3, 2, 5, device="meta").long()
    counted = {}
    for settings in measured.variants:
        if settings.get("word_order") or settings.get("whitespace"):
            continue  # for text only
        measure, reader = measured.make(settings), measured.reader({**settings, "pad_id": 0})
        # Settings that count alike are counted once: on the meta device counting takes long.
        kind = measure.layout.row_width, settings.get("reducer")
        if kind not in counted:
            batches = [read_batch(reader, preds, one) for one in ([target] if counted else [target, target[:, 0]])]
            counted[kind] = list(map(measure.statistics, batches))
        for scores in map(measure.score, counted[kind]):
            assert (scores.device.type, scores.shape) == ("meta", (3, *measure.score_shape))
            assert scores.dtype == torch.float64


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
    batch = sample(measured, SAMPLE)
    score = partial(averaged_score, measured.make(settings), measured.statistics(settings, batch))
    torch._dynamo.reset()  # a graph of all takes ten times as long as a graph for each
    compiled = torch.compile(score, fullgraph=True, backend="eager")
    assert compiled(average).equal(score(average))
