"""The functions that replace those of torch_ngram and fastchrf: against these, and against plain Python."""

import pytest
import torch
from crossings import crossings
from draws import examples, fewer
from hypothesis import given
from hypothesis import strategies as st
from layouts import PADDING, with_gaps
from oracles import close, overlap, overlap_counts, summed

from ngram_metrics import functional
from ngram_metrics.functional import get_score, ngram_overlap, pad2max, pairwise_chrf

documents = st.lists(st.integers(1, 3), max_size=6)


@st.composite
def batches_of_samples(draw):
    """For each segment several hypotheses, and references that all of them share."""
    segments = draw(st.integers(1, 3))
    samples = draw(st.integers(1, 3))
    references = draw(st.integers(1, 3))
    preds = [[draw(documents) for _ in range(samples)] for _ in range(segments)]
    target = [[draw(documents.filter(bool)) for _ in range(references)] for _ in range(segments)]
    return preds, target


def rows_of(preds, target):
    """Padded ids with gaps: ``(segments, samples, width)`` and ``(segments, references, width)``."""
    return (
        torch.tensor([with_gaps(samples, 6) for samples in preds]),
        torch.tensor([with_gaps(references, 6) for references in target]),
    )


def best_counts(preds, target, ngram):
    """The counts of each sample with the reference that has the highest overlap, segment by segment."""
    counts = []
    for samples, references in zip(preds, target, strict=True):
        for sample in samples:
            with_each = [overlap_counts(sample, reference, ngram) for reference in references]
            counts.append(max(with_each, key=lambda row: overlap(*row)))
    return counts


orders = st.integers(1, 5)


@given(batches_of_samples(), orders)
def test_each_sample_has_a_score(batch, ngram):
    preds, target = batch
    scores = ngram_overlap(*rows_of(preds, target), ngram, average="none", pad_id=PADDING)
    assert (scores.shape, scores.dtype) == ((len(preds), len(preds[0])), torch.float64)
    expected = [overlap(*counts) for counts in best_counts(preds, target, ngram)]
    assert scores.flatten().tolist() == close(expected)


@given(batches_of_samples(), orders)
def test_the_averages_are_over_all_samples(batch, ngram):
    counts = best_counts(*batch, ngram)
    scores = [overlap(*row) for row in counts]
    macro = ngram_overlap(*rows_of(*batch), ngram, average="macro", pad_id=PADDING)
    micro = ngram_overlap(*rows_of(*batch), ngram, average="micro", pad_id=PADDING)
    assert macro.item() == close(sum(scores) / len(scores))
    assert micro.item() == close(overlap(*summed(counts)))


@given(batches_of_samples(), orders)
def test_a_sample_scores_as_it_does_alone(batch, ngram):
    preds, target = rows_of(*batch)
    scores = ngram_overlap(preds, target, ngram, average="none", pad_id=PADDING)
    for sample in range(preds.shape[1]):
        alone = ngram_overlap(preds[:, sample], target, ngram, average="none", pad_id=PADDING)
        assert alone.equal(scores[:, sample])


@given(batches_of_samples(), orders)
def test_samples_score_the_same_in_every_layout_and_engine(batch, ngram):
    preds, target = rows_of(*batch)
    options = {"ngram": ngram, "average": "none", "pad_id": PADDING}
    scores = ngram_overlap(preds, target, **options)
    assert ngram_overlap(preds.numpy(), target.numpy(), **options).equal(scores)
    if target.shape[1] == 1:
        assert ngram_overlap(preds, target[:, 0], **options).equal(scores)
    with crossings():  # torch counts on a CPU too while something records its operations
        assert ngram_overlap(preds, target, **options).equal(scores)


REFERENCE = [38457, 14, 62, 7, 201]
SYSTEMS = [[38457, 14, 62, 5128, 7, 201], [38457, 14, 5128, 159], [9226, 16, 21111]]


@pytest.mark.parametrize(
    ("ngram", "expected"), [(1, [0.9091, 0.4444, 0]), (2, [0.6667, 0.2857, 0]), (3, [0.2857, 0, 0])]
)
def test_the_example_that_torch_ngram_documents(ngram, expected):
    peer = pytest.importorskip("torch_ngram.torch_ngram", reason="torch-ngram is compared with")
    reference = torch.tensor(REFERENCE)
    systems = pad2max(list(map(torch.tensor, SYSTEMS)), pad_id=1)
    assert systems.tolist() == [SYSTEMS[0], [*SYSTEMS[1], 1, 1], [*SYSTEMS[2], 1, 1, 1]]
    for batch in (1, 2):
        given_to_both = reference.repeat(batch, 1), systems.repeat(batch, 1, 1), 1, ngram
        scores = get_score(*given_to_both)
        assert scores.shape == (batch, 3)
        assert scores.tolist() == [pytest.approx(expected, abs=5e-5)] * batch
        # The package itself gives it for one token alone: of longer n-grams its cosine, in float32, misses some.
        if ngram == 1:
            torch.testing.assert_close(peer.get_score(*given_to_both), scores)
    assert get_score(reference[None], reference[None, None], 1, ngram).tolist() == [[1]]


@pytest.mark.parametrize(
    ("reference", "system", "ngram", "ours", "theirs"),
    [
        # The cosine of (1, 2) and (2, 4) is 1: it takes n-grams for equal that point the same way.
        pytest.param([1, 2, 3, 4], [2, 4, 6, 8], 2, 0, [2 / 3], id="unequal n-grams of the same direction"),
        # The cosine of (5, 5) with itself may be a bit less than 1 in float32: it misses equal n-grams, or clips none.
        pytest.param([5, 5, 6, 7], [5, 5, 5, 5], 2, 1 / 3, [0, 1], id="equal n-grams of a rounded cosine"),
        # Every pair of equal tokens counts, and the score is cut at 1.
        pytest.param([5, 5, 6, 7], [5, 5, 5, 5], 1, 0.5, [1], id="repeated tokens"),
        # An n-gram of the hypothesis counts as often as it stands there, however often in the reference.
        pytest.param([1, 0, 1, 3, 4], [1, 0, 1, 0, 1], 2, 0.5, [1], id="repeated n-grams"),
        # An order longer than the tensors is cut down to their width.
        pytest.param([3, 4], [3, 4], 3, 0, [1], id="an order longer than the texts"),
    ],
)
def test_where_torch_ngram_gives_another_number(reference, system, ngram, ours, theirs):
    peer = pytest.importorskip("torch_ngram.torch_ngram", reason="torch-ngram is compared with")
    given_to_both = torch.tensor([reference]), torch.tensor([[system]]), -1, ngram
    assert get_score(*given_to_both).item() == pytest.approx(ours, abs=1e-7)
    assert ours == close(overlap(*overlap_counts(system, reference, ngram)))
    assert any(peer.get_score(*given_to_both).item() == pytest.approx(one, abs=1e-6) for one in theirs)


@given(st.lists(st.lists(documents, min_size=3, max_size=3), min_size=1, max_size=3), st.integers(1, 5))
def test_get_score_is_the_overlap_rounded_once_to_float32(preds, ngram):
    flat = [torch.tensor(one, dtype=torch.int64) for several in preds for one in several]
    systems = pad2max(flat, pad_id=0).reshape(len(preds), 3, -1)
    references = pad2max(flat[::3], pad_id=0)
    exact = ngram_overlap(systems, references, ngram, average="none", pad_id=0)
    scores = get_score(references, systems, 0, ngram)
    assert scores.equal(exact.to(torch.float32))
    assert get_score(ref_tensor=references, sys_tensor=systems, pad_id=0, n_gram=ngram).equal(scores)


@pytest.mark.parametrize(
    ("tensors", "expected"),
    [
        ([[1, 2, 3], [4], []], [[1, 2, 3], [4, 7, 7], [7, 7, 7]]),
        ([[1]], [[1]]),
        ([[[1, 2], [3, 4]], [[5], [6]]], [[[1, 2], [3, 4]], [[5, 7], [6, 7]]]),
    ],
)
def test_pad2max_pads_and_stacks_as_torch_ngram(tensors, expected):
    peer = pytest.importorskip("torch_ngram.torch_ngram", reason="torch-ngram is compared with")
    tensors = [torch.tensor(tensor, dtype=torch.int64) for tensor in tensors]
    assert pad2max(tensors, 7).equal(torch.tensor(expected))
    assert peer.pad2max(tensors, 7).equal(torch.tensor(expected))
    assert pad2max(input_tensors=tensors, pad_id=-100).dtype == torch.int64


IDS = torch.tensor([[1, 2, 0]])


@pytest.mark.parametrize(
    ("references", "systems", "words"),
    [
        (IDS, IDS, r"sys_tensor has shape \(1, 3\): expected \(batch, width\) and \(batch, samples, width\)"),
        (IDS[None], IDS[None], r"ref_tensor has shape \(1, 1, 3\)"),
        (IDS[0], IDS[None], r"ref_tensor has shape \(3,\)"),
    ],
)
def test_what_get_score_cannot_read_is_refused(references, systems, words):
    with pytest.raises(ValueError, match=words):
        get_score(references, systems, 0, 1)


def test_what_is_no_tensor_is_refused():
    with pytest.raises(TypeError, match=r"ref_tensor is a list: expected a tensor of ids"):
        get_score([[1]], IDS[None], 0, 1)


def test_only_the_last_dimension_is_padded():
    with pytest.raises(RuntimeError, match="equal size"):
        pad2max([torch.zeros(2, 3).long(), torch.zeros(3, 3).long()], 0)


def test_nothing_to_pad_is_refused():
    with pytest.raises(ValueError, match="input_tensors is empty: expected at least one tensor"):
        pad2max([], 0)


@pytest.mark.parametrize(
    ("tensors", "words"),
    [
        ([IDS[0], IDS[0].to(torch.int32)], "tensor 1 has dtype torch.int32 and 1 dimension"),
        ([IDS[0], IDS[0].to(torch.float32)], "tensor 1 has dtype torch.float32 and 1 dimension"),
        ([IDS[0], IDS[0].to(torch.bool)], "tensor 1 has dtype torch.bool and 1 dimension"),
        ([torch.tensor(1)], "tensor 0 has dtype torch.int64 and 0 dimensions"),
        ([[1]], "tensor 0 is a list"),
    ],
)
def test_what_pad2max_cannot_pad_is_refused_by_its_place(tensors, words):
    with pytest.raises(TypeError, match=f"{words}: expected int64 token ids"):
        pad2max(tensors, 0)


both = pytest.mark.parametrize("name", ["pairwise_chrf", "aggregate_chrf"])
# Whitespace of all kinds, a letter with its accent apart, emoji of one and of several code points.
texts = st.text(alphabet="ab.\t\n \u00a0\u3000\u2028\u0085e\u0301🙂👩\u200d🚀", max_size=12)
any_texts = texts | st.text(max_size=8).map(
    lambda text: "".join(character for character in text if character not in CONTROL)
)
rows = st.lists(st.tuples(st.lists(any_texts, max_size=4), st.lists(any_texts, max_size=4)), min_size=1, max_size=4)
options = st.fixed_dictionaries(
    {},
    optional={
        "char_order": st.integers(1, 9),
        "beta": st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0]),
        "remove_whitespace": st.booleans(),
        "eps_smoothing": st.booleans(),
    },
)
ROTATIONS = [(LETTERS := "abcdefghijklmnopqrstuvwxyz0123456789")[place:] + LETTERS[:place] for place in range(8)]
OWN, OTHERS = ["ab ab.e", "b", "a\u3000ba🙂ab"], ["aba b.", "", "ba ba🙂a", "b"]
#: Whitespace to Python and sacrebleu, and characters to fastchrf.
CONTROL = "\x1c\x1d\x1e\x1f"


def assert_scores_are_those_of_fastchrf(name, hypotheses, references, **options):
    found = getattr(functional, name)(hypotheses, references, **options)
    fastchrf = pytest.importorskip("fastchrf", reason="it is compared with")
    expected = getattr(fastchrf, name)(hypotheses, references, **options)
    dimensions = 2 if name == "pairwise_chrf" else 1
    sizes = [(len(own), len(others)) for own, others in zip(hypotheses, references, strict=True)]
    shapes = [size[:dimensions] for size in sizes]
    # One rule for both functions: whether rows are stacked follows from the sizes of the rows alone.
    assert isinstance(found, torch.Tensor if len(set(sizes)) == 1 else list)
    assert len(found) == len(expected) == len(shapes)
    for ours, theirs, shape in zip(found, expected, shapes, strict=True):
        assert (ours.shape, ours.dtype) == (shape, torch.float64)
        torch.testing.assert_close(ours, torch.tensor(theirs, dtype=torch.float64).reshape(shape), rtol=0, atol=1e-9)


@both
@examples(
    {"rows": [(ROTATIONS[:4], ROTATIONS[4:]), (["", ""], [""])], "options": {"char_order": 20}, "same": False},
    # So many orders that the pairs of a row, and the rows, are scored in several blocks.
    *(
        {"rows": [(OWN * 12, OTHERS * 12), (["a"], []), (["é b"], ["e\u0301"])], "options": options, "same": same}
        for same in (False, True)
        for options in ({}, {"char_order": 1000})
    ),
)
@fewer(2)
@given(rows=rows, options=options, same=st.booleans())
def test_scores_are_those_of_fastchrf(name, rows, options, same):
    hypotheses, references = map(list, zip(*rows, strict=True))
    assert_scores_are_those_of_fastchrf(name, hypotheses, hypotheses if same else references, **options)
    copied = [[*row] for row in hypotheses]
    score = getattr(functional, name)
    pairs = zip(score(hypotheses, hypotheses, **options), score(hypotheses, copied, **options), strict=True)
    assert all(one.equal(other) for one, other in pairs)


@pytest.mark.parametrize("eps_smoothing", [False, True])
def test_the_aggregate_of_no_references_scores_0(eps_smoothing):
    first, second = functional.aggregate_chrf([["a", "b"], ["c"]], [["a"], []], eps_smoothing=eps_smoothing)
    assert first[0] > first[1]
    assert second.tolist() == [0]


def test_control_characters_are_whitespace_as_in_sacrebleu():
    fastchrf = pytest.importorskip("fastchrf", reason="it is compared with")
    for one in CONTROL:
        assert pairwise_chrf([[f"a{one}bc"]], [["abc"]]).item() == 100
        assert pairwise_chrf([[f"a{one}bc"]], [["abc"]], remove_whitespace=False).item() < 100
        assert fastchrf.pairwise_chrf([[f"a{one}bc"]], [["abc"]])[0][0][0] < 100


@both
@pytest.mark.parametrize(
    ("references", "options", "words"),
    [
        ([["a"], ["b"]], {}, "hypotheses has 1 row and references has 2: expected the same number of rows"),
        ([["a"]], {"char_order": 0}, "expected at least one order"),
        ([["a"]], {"beta": -0.5}, r"beta must be at least 0 and finite \(got: -0.5\)"),
    ],
)
def test_what_is_refused(name, references, options, words):
    with pytest.raises(ValueError, match=words):
        getattr(functional, name)([["a"]], references, **options)


NO_GPU = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")


@both
@pytest.mark.parametrize("device", ["", pytest.param("cuda", marks=NO_GPU)])
def test_a_device_that_is_not_there_is_not_the_cpu(name, device):
    with pytest.raises((RuntimeError, AssertionError)):
        getattr(functional, name)([["a b"]], [["a"]], device=device)
