"""All pairs and decoding with every metric: as each pair scores by itself, whatever is around and however it is cut."""

import functools
import math
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import oracles
import pytest
import torch
from draws import examples, fewer
from hypothesis import given
from hypothesis import strategies as st
from layouts import PADDING, apart, with_gaps
from rouge_oracle import table
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu import BLEU, CHRF

from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore, mbr
from ngram_metrics.functional import chrf_score

pytest.importorskip("ignite", reason="the classes for ignite are tested")

from ngram_metrics import ignite
from ngram_metrics.ignite import drop_in


def overlap(hypothesis, reference, ngram=2):
    return oracles.overlap(*oracles.overlap_counts(hypothesis.split(), reference.split(), ngram))


def sacrebleu(peer):
    """Each pair once: it takes long, and the texts are short."""
    return functools.cache(lambda hypothesis, reference: peer.sentence_score(hypothesis, [reference]).score / 100)


def rouge(key, value="fmeasure"):
    scorer = RougeScorer([key])
    return lambda hypothesis, reference: getattr(scorer.score(reference, hypothesis)[key], value)


class Case(NamedTuple):
    """A metric, and what scores a pair of texts without it."""

    metric: Any
    score: Callable[[str, str], float]


IDS = {"pad_id": PADDING}
_PAPERS = {"average": "micro", "tokenizer": "13a", **IDS}
_ADD_K = BLEU(smooth_method="add-k", smooth_value=1, max_ngram_order=2, effective_order=False)
#: Metrics that read text and ids.
CASES = {
    "BLEU": Case(Bleu(**IDS), sacrebleu(BLEU(effective_order=True))),
    "BLEU ignite": Case(
        ignite.Bleu(smooth="exp", effective_order=True, **_PAPERS), sacrebleu(BLEU(effective_order=True))
    ),
    "BLEU add-k": Case(Bleu(ngram=2, smooth="add-k", effective_order=False, **IDS), sacrebleu(_ADD_K)),
    "BLEU smooth2 ignite": Case(ignite.Bleu(ngram=2, smooth="smooth2", **_PAPERS), sacrebleu(_ADD_K)),
    "ROUGE-2": Case(ROUGEScore(rouge_keys="rouge2", **IDS), rouge("rouge2")),
    "ROUGE-1 mean": Case(ROUGEScore(rouge_keys="rouge1", accumulate="avg", **IDS), rouge("rouge1")),
    "ROUGE-L ignite": Case(ignite.ROUGEScore(rouge_keys="rougeL", **IDS), rouge("rougeL")),
    "ROUGE-L precision": Case(
        ROUGEScore(rouge_keys=("rouge1", "rougeL"), **IDS)["rougeL_precision"], rouge("rougeL", "precision")
    ),
    "ROUGE-2 alpha ignite": Case(drop_in.RougeN(ngram=2, alpha=0.5, **IDS), overlap),
    "ROUGE-2 recall ignite": Case(
        drop_in.RougeN(ngram=2, **IDS), lambda h, r: oracles.matches(h.split(), [r.split()], 2) / max(1, r.count(" "))
    ),
    "ROUGE-L recall ignite": Case(
        drop_in.RougeL(**IDS), lambda h, r: table(r.split(), h.split())[-1][-1] / max(1, len(r.split()))
    ),
    "chrF": Case(ChrF(**IDS), sacrebleu(CHRF())),
    "chrF eps ignite": Case(
        ignite.ChrF(eps_smoothing=True, beta=1.0, **IDS), sacrebleu(CHRF(eps_smoothing=True, beta=1))
    ),
    "overlap": Case(NgramOverlap(ngram=2, **IDS), overlap),
}
#: And those that read only text. With so many orders the pairs of a few texts are scored in several blocks.
TEXT_CASES = {
    **CASES,
    "chrF++": Case(ChrF(word_order=2, average="macro"), sacrebleu(CHRF(word_order=2))),
    "chrF words": Case(ChrF(char_order=0, word_order=3), sacrebleu(CHRF(char_order=0, word_order=3))),
    "chrF++ blocks": Case(ChrF(char_order=1000, word_order=1000), sacrebleu(CHRF(char_order=1000, word_order=1000))),
}
#: The others run if slow tests run too.
BY_DEFAULT = ("BLEU", "ROUGE-L ignite", "ROUGE-L precision", "chrF", "overlap", "chrF words")
each_case = pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=name, marks=() if name in BY_DEFAULT else pytest.mark.slow)
        for name, case in TEXT_CASES.items()
    ],
)

texts = st.lists(st.sampled_from(["a", "b", "cd", "cd.", "(a"]), max_size=7).map(" ".join)
batches = st.lists(st.tuples(st.lists(texts, max_size=4), st.lists(texts, max_size=4)), min_size=1, max_size=3)
several = st.lists(texts, min_size=1, max_size=5)
#: The peers score one pair at a time.
few = fewer(4)


def expected_scores(case, hypotheses, references):
    """`[row][hypothesis][reference]`"""
    return [
        [[case.score(one, other) for other in others] for one in own]
        for own, others in zip(hypotheses, references, strict=True)
    ]


def assert_scores(found, hypotheses, references, expected):
    """A tensor where all rows have one size, else a matrix for each row."""
    sizes = [(len(own), len(others)) for own, others in zip(hypotheses, references, strict=True)]
    assert isinstance(found, torch.Tensor if len({*sizes}) == 1 else list)
    assert [(ours.dtype, ours.device.type, tuple(ours.shape)) for ours in found] == [
        (torch.float64, "cpu", size) for size in sizes
    ]
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.numpy() == pytest.approx(np.array(theirs, float).reshape(ours.shape), rel=1e-9, abs=1e-12)


def assert_decoded(decoded, hypotheses, expected, weights):
    """Against a plain argmax; two that differ by rounding alone may stand for each other, two of one text may not."""
    assert isinstance(decoded, mbr.Decoded)
    assert (decoded.indices.dtype, decoded.indices.shape) == (torch.int64, (len(hypotheses),))
    assert (decoded.expected_utilities.dtype, decoded.expected_utilities.shape) == (torch.float64, (len(hypotheses),))
    found = zip(*(part.tolist() for part in decoded[1:]), decoded.hypotheses, strict=True)
    for (index, utility, chosen), row, scores, row_weights in zip(found, hypotheses, expected, weights, strict=True):
        utilities = [
            math.fsum(p * u for p, u in zip(row_weights, of_one, strict=True)) / math.fsum(row_weights)
            for of_one in scores
        ]
        assert utility == pytest.approx(max(utilities), rel=1e-9, abs=1e-12)
        assert utilities[index] == pytest.approx(max(utilities), rel=1e-9, abs=1e-12)
        assert chosen == row[index]
        assert row.index(chosen) == index


@each_case
@few
@examples(
    *(
        {"batch": [(["a b c", "a b", ""] * 12, ["a cd.", "b a"]), (["a"], ["a b", "b"])], "other": other}
        for other in ("references", "the same", "a copy")
    )
)
@given(batch=batches, other=st.sampled_from(["references", "the same", "a copy"]))
def test_pairwise_scores_are_those_of_each_pair(case, batch, other):
    hypotheses, references = apart(batch)
    if other != "references":
        references = hypotheses if other == "the same" else [list(row) for row in hypotheses]
    found = mbr.pairwise(case.metric, hypotheses, references)
    assert_scores(found, hypotheses, references, expected_scores(case, hypotheses, references))


def test_more_pairs_and_orders_than_are_counted_at_a_time():
    texts = ["a b", "b", "cd. a", "", "a cd cd", "efg", "(a) b", "b a", "a", "cd. cd."]
    expected = mbr.pairwise(ChrF(char_order=1000), [texts], [texts])
    assert mbr.pairwise(ChrF(char_order=1000), [texts * 10], [texts * 9]).equal(expected.repeat(1, 10, 9))


def drawn_documents(chance, size):
    """Ids of which a few are in most documents, many in few, some often in one; and passages that documents share.

    Before a passage stands an id of which only high bits differ.
    """
    weights = [1 / rank for rank in range(1, 2001)]
    rows = [chance.choices(range(1, 2001), weights, k=chance.randrange(70)) for _ in range(size)]
    passages = [[], [7] * 9, list(range(60, 80)), list(range(1980, 2000))]
    return [
        row * chance.choice([1, 1, 1, 2]) + [chance.choice([5, 261, 517, 1029])] + chance.choice(passages)
        for row in rows
    ]


#: Hypotheses and references of each group: large ones beside small ones and one without hypotheses, and one reference.
SIZES = {"several": ((110, 2, 0), (90, 60, 3)), "one": ((70, 3, 40), (1, 1, 1)), "many": ((12,) * 12, (11,) * 12)}


@pytest.mark.parametrize(
    "ngram",
    [
        pytest.param(1, marks=pytest.mark.slow),
        pytest.param(2, marks=pytest.mark.slow),
        3,
        pytest.param(9, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("sizes", [*SIZES, "the same"])
def test_large_groups_have_the_matches_of_counters(ngram, sizes):
    chance = random.Random(ngram)
    counts = SIZES.get(sizes, SIZES["several"])
    hypothesis_counts, reference_counts = counts
    hypotheses = [drawn_documents(chance, count) for count in hypothesis_counts]
    references = [drawn_documents(chance, count) for count in reference_counts]
    hypotheses[0][5] = []
    if sizes == "the same":
        references = hypotheses
    found = mbr.pairwise(NgramOverlap(ngram=ngram), hypotheses, references)
    for scores, of_group, references_of_group in zip(found, hypotheses, references, strict=True):
        own = [oracles.ngrams(document, ngram) for document in of_group]
        others = [oracles.ngrams(document, ngram) for document in references_of_group]
        expected = [[2 * (a & b).total() / max(1, a.total() + b.total()) for b in others] for a in own]
        assert scores.shape == (len(own), len(others))
        np.testing.assert_allclose(scores.numpy(), np.array(expected).reshape(scores.shape), rtol=0, atol=1e-15)


ids = st.lists(st.integers(1, 3), max_size=6)


def as_text(case, ids):
    """A text that the peers read as these ids: words, or for chrF characters."""
    is_chrf = isinstance(case.metric, (ChrF, ignite.ChrF))
    return ("" if is_chrf else " ").join("?abc"[token_id] for token_id in ids)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@fewer(6)
@given(data=st.data(), count=st.integers(1, 3), height=st.integers(1, 3), width=st.integers(1, 3))
def test_ids_score_as_the_texts_that_they_stand_for(case, data, count, height, width):
    def groups_of(size):
        return st.lists(st.lists(ids, min_size=size, max_size=size), min_size=count, max_size=count)

    def as_texts(groups):
        return [[as_text(case, document) for document in group] for group in groups]

    def as_tensor(groups):
        return torch.tensor([with_gaps(group, 6) for group in groups])

    hypotheses = data.draw(groups_of(height))
    references = data.draw(groups_of(width))
    expected = expected_scores(case, as_texts(hypotheses), as_texts(references))
    own = as_tensor(hypotheses)
    others = as_tensor(references)
    for sides in ((hypotheses, references), (own, others), (own.numpy(), references)):
        assert_scores(mbr.pairwise(case.metric, *sides), hypotheses, references, expected)
    assert mbr.pairwise(case.metric, own, own).equal(mbr.pairwise(case.metric, own, own.clone()))


@pytest.mark.usefixtures("surroundings")
@each_case
def test_the_surroundings_of_a_training_loop_change_no_score(case):
    rows = [["a b cd. " * 100, "b a cd. (a"], ["cd", "", "a cd"]]
    expected = expected_scores(case, rows, rows[::-1])
    assert_scores(mbr.pairwise(case.metric, rows, rows[::-1]), rows, rows[::-1], expected)
    probabilities = [[1, 2, 3], [3, 1]]
    assert_decoded(mbr.decode(case.metric, rows, rows[::-1], probabilities), rows, expected, probabilities)


def test_the_counts_of_a_metric_are_neither_read_nor_changed():
    metric = ChrF()
    rows = [["a cd", "b (a", ""], ["efg", "cd. a"]]
    expected = mbr.decode(ChrF(), rows).expected_utilities
    metric.update(["a b cd"], ["a b cd."])
    before = metric.compute().clone()
    assert mbr.decode(metric, rows).expected_utilities.equal(expected)
    assert metric.compute().equal(before)


@pytest.mark.parametrize("function", [mbr.pairwise, mbr.decode])
@pytest.mark.parametrize(
    ("metric", "words"),
    [
        (
            ROUGEScore(rouge_keys="rougeLsum"),
            r"^rouge_keys is \['rougeLsum'\]: expected a single key other than rougeLsum to score pairs",
        ),
        (ROUGEScore(rouge_keys=("rougeL", "rouge1")), r"rouge_keys is \['rougeL', 'rouge1'\]"),
        (ROUGEScore()["rougeLsum_recall"], r"rouge_keys is \['rougeLsum'\]"),
        (drop_in.Rouge(), r"rouge_keys is \['rouge1', 'rouge2', 'rouge4', 'rougeL'\]"),
    ],
    ids=lambda one: "" if isinstance(one, str) else type(one).__name__,
)
def test_metrics_without_one_score_of_matches_are_refused(function, metric, words):
    with pytest.raises(ValueError, match=words):
        function(metric, [["a"]], [["a"]])


@pytest.mark.parametrize("function", [mbr.pairwise, mbr.decode])
@pytest.mark.parametrize("metric", ["chrf", None, chrf_score, ignite.Bleu() * 2])
def test_what_is_no_metric_is_refused(function, metric):
    with pytest.raises(TypeError, match=r"metric is a \w+: expected a metric object of this package, such as"):
        function(metric, [["a"]], [["a"]])


@pytest.mark.parametrize("metric", [ChrF, ignite.Bleu], ids=["torchmetrics", "ignite"])
def test_the_class_of_a_metric_is_none(metric):
    with pytest.raises(TypeError, match=rf"metric is the class {metric.__name__}: expected a metric object"):
        mbr.decode(metric, [["a"]])


@each_case
@few
@given(
    data=st.data(),
    rows=st.lists(st.tuples(several, several), min_size=1, max_size=3),
    kind=st.sampled_from(["weighted", "equal", "samples"]),
)
def test_the_choice_is_that_of_a_plain_argmax(case, data, rows, kind):
    """Of references of some probability, or of samples that are their own references."""
    hypotheses, references = apart(rows)
    references = hypotheses if kind == "samples" else references
    weights = [[1.0] * len(row) for row in references]
    if kind == "weighted":
        one = st.sampled_from([0.0, 0.1, 0.25, 1.0, 3.0])
        weights = [data.draw(st.lists(one, min_size=len(r), max_size=len(r)).filter(any)) for r in references]
    given = {"weighted": (references, weights), "equal": (references,), "samples": ()}[kind]
    decoded = mbr.decode(case.metric, hypotheses, *given)
    assert_decoded(decoded, hypotheses, expected_scores(case, hypotheses, references), weights)


def test_the_first_of_equally_good_ones_is_chosen():
    metric = NgramOverlap()
    rows = [["x", "a b", "b a", "a b"], ["x", "y"], ["", ""]]
    references = [["a b", "b a"], ["a"], [""]]
    decoded = mbr.decode(metric, rows, references)
    assert decoded.indices.tolist() == [1, 0, 0]
    assert decoded.expected_utilities.tolist() == [1, 0, 0]
    assert decoded.hypotheses == ["a b", "x", ""]


def test_the_first_of_equally_good_ones_across_blocks():
    row = ["x"] * 30 + ["a b"] + ["y"] * 30 + ["a b"]  # 21 hypotheses a block
    decoded = mbr.decode(ChrF(char_order=1000), [row], [["a b", "b a", "a b"]])
    assert (decoded.indices.tolist(), decoded.hypotheses) == ([30], ["a b"])


def test_only_the_proportion_of_probabilities_counts():
    hypotheses, references = [["a b", "c d", "a d"], ["a"]], [["a b", "c d"], ["a c", "b", "a"]]
    metric = NgramOverlap()
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


def test_hypotheses_come_back_as_they_were_given():
    metric = NgramOverlap(pad_id=0)
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
        ([], None, "hypotheses or references is empty: expected at least one row in each"),
    ],
)
def test_rows_without_a_choice_are_refused_by_number(hypotheses, references, words):
    with pytest.raises(ValueError, match=words):
        mbr.decode(ChrF(), hypotheses, references)


def test_samples_that_are_not_in_a_row_are_said_to_go_into_one():
    words = "row 0 of hypotheses is a str, 'a b': expected .*; pass a single row of texts in a list, as in .samples.$"
    for call in (mbr.decode, lambda metric, samples: mbr.pairwise(metric, samples, [["a"]])):
        with pytest.raises(TypeError, match=words):
            call(ChrF(), ["a b", "c"])


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
        mbr.decode(ChrF(), [["a"], ["b"]], [["a", "b"], ["c"]], probabilities)
