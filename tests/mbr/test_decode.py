"""MBR decoding with every metric: the choice is that of a plain argmax, and what is refused."""

import math

import numpy as np
import pytest
import torch
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from layouts import apart
from mbr_cases import (
    CASES,
    assert_decoded,
    cut_small,
    each_case,
    each_framework,
    expected_scores,
    few,
    random_rows,
    sentences,
    weights_of,
)

import ngram_metrics
from ngram_metrics import mbr
from ngram_metrics._core.metrics.overlap import OverlapMeasure
from ngram_metrics._core.scoring import pair_scores

several = st.lists(sentences, min_size=1, max_size=5)


@each_framework
@each_case
@few
@given(data=st.data(), rows=st.lists(st.tuples(several, several), min_size=1, max_size=3), weighted=st.booleans())
def test_the_choice_is_that_of_a_plain_argmax(framework, case, data, rows, weighted):
    hypotheses, references = apart(rows)
    probabilities = None
    if weighted:
        one = st.sampled_from([0.0, 0.1, 0.25, 1.0, 3.0])
        probabilities = [data.draw(st.lists(one, min_size=len(r), max_size=len(r)).filter(any)) for r in references]
    decoded = mbr.decode(case.make(framework), hypotheses, references, probabilities)
    expected = expected_scores(case, hypotheses, references)
    assert_decoded(decoded, hypotheses, expected, weights_of(probabilities, references))


@few
@examples(*({"rows": [["a b c", "a b", "(a cd."], ["a"]], "block": block} for block in (1, 13, 60)))
@given(rows=st.lists(several, min_size=1, max_size=3), block=st.sampled_from([1, 13, 60]))
def test_samples_are_their_own_references(rows, block):
    case = CASES["chrF++"]
    expected = expected_scores(case, rows, rows)
    with pytest.MonkeyPatch.context() as patch:
        cut_small(patch, block)
        decoded = mbr.decode(case.make(), rows)
    assert_decoded(decoded, rows, expected, weights_of(None, rows))


def test_the_first_of_equally_good_ones_is_chosen():
    metric = ngram_metrics.NgramOverlap()
    rows = [["x", "a b", "b a", "a b"], ["x", "y"], ["", ""]]
    references = [["a b", "b a"], ["a"], [""]]
    decoded = mbr.decode(metric, rows, references)
    assert decoded.indices.tolist() == [1, 0, 0]
    assert decoded.expected_utilities.tolist() == [1, 0, 0]
    assert decoded.hypotheses == ["a b", "x", ""]


def test_the_first_of_equally_good_ones_across_blocks(monkeypatch):
    monkeypatch.setattr(pair_scores, "BLOCK_CELLS", 6)  # two hypotheses a block
    row = ["x", "y", "b", "a b", "a b", "b a", "a", "b a"]
    decoded = mbr.decode(ngram_metrics.NgramOverlap(), [row], [["a b", "b a", "a b"]])
    assert (decoded.indices.tolist(), decoded.hypotheses) == ([3], ["a b"])


def test_what_a_shorter_row_lacks_is_neither_chosen_nor_counted(monkeypatch):
    # A distance: what is missing in a row that shares a block with longer ones is as far off as can be.
    score = OverlapMeasure.score
    monkeypatch.setattr(OverlapMeasure, "score", lambda self, statistics: 1 - score(self, statistics))
    decoded = mbr.decode(ngram_metrics.NgramOverlap(), [["a"], ["b", "c"]], [["a"], ["b", "b", "c"]])
    assert decoded.indices.tolist() == [0, 1]
    assert decoded.expected_utilities.tolist() == pytest.approx([0, 2 / 3])


def test_only_the_proportion_of_probabilities_counts():
    hypotheses, references = [["a b", "c d", "a d"], ["a"]], [["a b", "c d"], ["a c", "b", "a"]]
    metric = ngram_metrics.NgramOverlap()
    decoded = mbr.decode(metric, hypotheses, references, [[0.25, 0.75], [0.2, 0.2, 0.6]])
    assert decoded.indices.tolist() == [1, 0]
    assert decoded.expected_utilities.tolist() == pytest.approx([0.75, 0.2 * 2 / 3 + 0.6])
    for first in ([1, 3], [0.5e308, 1.5e308], [5e-324, 15e-324]):
        for second in ((1, 1, 3), torch.tensor([1, 1, 3]), np.array([0.25, 0.25, 0.75], np.float32)):
            again = mbr.decode(metric, hypotheses, references, [first, second])
            assert again.indices.equal(decoded.indices)
            torch.testing.assert_close(again.expected_utilities, decoded.expected_utilities)
    # A reference of probability 0 is as good as none, and one given twice counts twice.
    fewer = mbr.decode(metric, [hypotheses[0]], [references[0]], [[1, 0]])
    assert (fewer.hypotheses, fewer.expected_utilities.tolist()) == (["a b"], [1])
    twice = mbr.decode(metric, [hypotheses[0]], [["a b", "c d", "a b"]])
    weighted = mbr.decode(metric, [hypotheses[0]], [references[0]], torch.tensor([[2, 1]], dtype=torch.bfloat16))
    assert twice.indices.equal(weighted.indices)
    torch.testing.assert_close(twice.expected_utilities, weighted.expected_utilities)


@pytest.mark.parametrize("equal", [0.1, 1 / 3, 7, 1e300])
def test_equal_probabilities_are_those_of_samples_to_the_last_bit(equal):
    rows = random_rows([7, 5], seed=3)
    decoded = mbr.decode(ngram_metrics.ChrF(), rows)
    weighted = mbr.decode(ngram_metrics.ChrF(), rows, None, [[equal] * len(row) for row in rows])
    assert weighted.expected_utilities.equal(decoded.expected_utilities)
    assert weighted.indices.equal(decoded.indices)


def test_hypotheses_come_back_as_they_were_given():
    metric = ngram_metrics.NgramOverlap(pad_id=0)
    given_ids = torch.tensor([[[1, 2, 0], [3, 3, 3]], [[5, 0, 0], [4, 0, 4]]])
    references = [[[3]], [[4]]]
    decoded = mbr.decode(metric, given_ids, references)
    assert decoded.indices.tolist() == [1, 1]
    assert torch.stack(decoded.hypotheses).equal(given_ids[:, 1])
    array = mbr.decode(metric, given_ids.numpy(), references).hypotheses[0]
    assert isinstance(array, np.ndarray)
    assert array.tolist() == [3, 3, 3]
    row = [(1, 2), (3, 3, 3)]
    assert mbr.decode(metric, [row], [[[3]]]).hypotheses[0] is row[1]
    # A row that knows no indices.
    assert mbr.decode(metric, [{"x": "a", "y": "b c"}.values()], [["b"]]).hypotheses == ["b c"]


@pytest.mark.parametrize(
    ("hypotheses", "references", "words"),
    [
        ([["a"], []], [["a"], ["b"]], "row 1 has no hypotheses: expected at least one"),
        ([["a"], ["b"]], [["a"], []], "row 1 has no references: expected at least one"),
        ([], None, "must be non-empty: expected at least one row"),
    ],
)
def test_rows_without_a_choice_are_refused_by_number(hypotheses, references, words):
    with pytest.raises(ValueError, match=words):
        mbr.decode(ngram_metrics.ChrF(), hypotheses, references)


def test_samples_that_are_not_in_a_row_are_said_to_go_into_one():
    words = "row 0 of hypotheses is a str, 'a b': expected .*; a single row of texts goes into a list, as in .samples.$"
    for call in (mbr.decode, lambda metric, samples: mbr.pairwise(metric, samples, [["a"]])):
        with pytest.raises(TypeError, match=words):
            call(ngram_metrics.ChrF(), ["a b", "c"])


def test_a_blank_at_the_end_of_a_hypothesis_is_kept_and_counted():
    metric = ngram_metrics.ChrF(char_order=1, whitespace=True)
    assert mbr.pairwise(metric, [["ab "]], [["ab"]]).item() == pytest.approx(10 / 11)  # F2 of 2/3 and 1
    chosen = mbr.decode(metric, [["a\t", "ab ", "ab \n"]], [["ab "]])
    assert (chosen.hypotheses, chosen.expected_utilities.tolist()) == (["ab "], [1])


@pytest.mark.parametrize(
    ("probabilities", "error", "words"),
    [
        ([[1, 1]], ValueError, "reference_probabilities has 1 row: expected 2, one for each row"),
        ([0.5, 0.5], ValueError, "row 0 of reference_probabilities has 1 number: expected 2"),
        ([[1, 1], [1, 1]], ValueError, "row 1 of reference_probabilities has 2 numbers: expected 1"),
        ([[1, 1], [0]], ValueError, r"row 1 of reference_probabilities is \[0.0\]: expected finite .*, not all 0"),
        ([[1, -1], [1]], ValueError, r"row 0 of reference_probabilities is \[1.0, -1.0\]: expected finite numbers"),
        ([[1, math.nan], [1]], ValueError, "row 0 of reference_probabilities is .*expected finite numbers"),
        ([[1, 10**400], [1]], ValueError, "row 0 of reference_probabilities has a number above 1e308: expected finite"),
        ([[1, 1], [10**5000]], ValueError, "row 1 of reference_probabilities has a number above 1e308"),
        ([[1, 1], ["one"]], TypeError, r"row 1 of reference_probabilities is \['one'\]: expected numbers"),
        ([None, [1]], TypeError, "row 0 of reference_probabilities is None: expected numbers"),
    ],
)
def test_probabilities_that_do_not_fit_are_refused(probabilities, error, words):
    with pytest.raises(error, match=words):
        mbr.decode(ngram_metrics.ChrF(), [["a"], ["b"]], [["a", "b"], ["c"]], probabilities)
