"""fastchrf's two functions in one call, against fastchrf itself."""

import fastchrf
import pytest
import torch
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from small_blocks import cut_small

from ngram_metrics import functional
from ngram_metrics.functional import pairwise_chrf

NAMES = ["pairwise_chrf", "aggregate_chrf"]
both = pytest.mark.parametrize("name", NAMES)


# Whitespace of all kinds, a letter with its accent apart, emoji of one and of several code points.
texts = st.text(alphabet="ab.\t\n \u00a0\u3000\u2028\u0085e\u0301🙂👩\u200d🚀", max_size=12)
documents = texts | st.text(max_size=8).map(
    lambda text: "".join(character for character in text if character not in CONTROL)
)
rows = st.lists(st.tuples(st.lists(documents, max_size=4), st.lists(documents, max_size=4)), min_size=1, max_size=4)
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
    {
        "rows": [(ROTATIONS[:4], ROTATIONS[4:]), (["", ""], [""])],
        "options": {"char_order": 20},
        "same": False,
        "cut": False,
    },
    *(
        {"rows": [(OWN, OTHERS), (["a"], []), (["é b"], ["e\u0301"])], "options": {}, "same": same, "cut": cut}
        for same in (False, True)
        for cut in (False, True)
    ),
)
@given(rows=rows, options=options, same=st.booleans(), cut=st.booleans())
def test_scores_are_those_of_fastchrf_however_the_work_is_cut(name, rows, options, same, cut):
    hypotheses, references = map(list, zip(*rows, strict=True))
    with pytest.MonkeyPatch.context() as patch:
        if cut:
            cut_small(patch, block=12)
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
    for one in CONTROL:
        assert pairwise_chrf([[f"a{one}bc"]], [["abc"]]).item() == 100
        assert pairwise_chrf([[f"a{one}bc"]], [["abc"]], remove_whitespace=False).item() < 100
        assert fastchrf.pairwise_chrf([[f"a{one}bc"]], [["abc"]])[0][0][0] < 100


@both
@pytest.mark.parametrize(
    ("hypotheses", "references", "options", "error", "words"),
    [
        ([["a"]], [["a"], ["b"]], {}, ValueError, "hypotheses has 1 row and references has 2: expected the same batch"),
        ([], [["a"]], {}, ValueError, "hypotheses and references must be non-empty"),
        (["a"], [["a"]], {}, TypeError, "row 0 of hypotheses is a str, 'a': expected a sequence of documents"),
        ([["a"]], [[None]], {}, TypeError, r"a missing value \(None\) at reference 0 of row 0"),
        ([["a"]], [["a"]], {"char_order": 0}, ValueError, "expected at least one order"),
        ([["a"]], [["a"]], {"beta": -0.5}, ValueError, r"beta must be at least 0 and finite \(got: -0.5\)"),
    ],
)
def test_what_is_refused(name, hypotheses, references, options, error, words):
    with pytest.raises(error, match=words):
        getattr(functional, name)(hypotheses, references, **options)
