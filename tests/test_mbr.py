"""All pairs and MBR decoding with every metric, against peers and plain Python that score one pair at a time."""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import oracles
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu import BLEU, CHRF

import ngram_metrics
from ngram_metrics import ignite, mbr
from ngram_metrics.counting import all_pairs, chunks, count_table, listed_pairs, pools
from ngram_metrics.functional import chrf_score
from ngram_metrics.scores.all_pairs import score_blocks
from ngram_metrics.scores.overlap import OverlapMeasure
from ngram_metrics.text.groups import read_rows


def overlap(hypothesis, reference, ngram):
    one, other = (oracles.ngrams(text.split(), ngram) for text in (hypothesis, reference))
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 0.0


def sacrebleu_score(metric):
    return lambda hypothesis, reference: metric.sentence_score(hypothesis, [reference]).score / 100


class Case(NamedTuple):
    """A metric of either framework, and what scores a pair of texts without it."""

    name: str
    options: dict[str, Any]
    score: Callable[[str, str], float]
    #: In `ngram_metrics.ignite`, where they are others there.
    ignite_options: dict[str, Any] | None = None

    def make(self, framework=ngram_metrics, **more):
        options = self.ignite_options if framework is ignite and self.ignite_options else self.options
        return getattr(framework, self.name)(**options, **more)


CASES = {
    "BLEU": Case("Bleu", {}, sacrebleu_score(BLEU(smooth_method="none", tokenize="none", effective_order=False))),
    "BLEU add-k": Case(
        "Bleu",
        {"ngram": 2, "smooth": "add-k", "average": "micro"},
        sacrebleu_score(
            BLEU(smooth_method="add-k", smooth_value=1, tokenize="none", max_ngram_order=2, effective_order=False)
        ),
        {"ngram": 2, "smooth": "smooth2", "average": "micro"},
    ),
    "ROUGE-2": Case(
        "ROUGEScore", {"rouge_keys": "rouge2"}, lambda h, r: RougeScorer(["rouge2"]).score(r, h)["rouge2"].fmeasure
    ),
    "ROUGE-1 F": Case(
        "ROUGEScore",
        {"rouge_keys": "rouge1", "accumulate": "avg"},
        lambda h, r: RougeScorer(["rouge1"]).score(r, h)["rouge1"].fmeasure,
    ),
    "chrF": Case("ChrF", {}, sacrebleu_score(CHRF())),
    "chrF++": Case("ChrF", {"word_order": 2, "average": "macro"}, sacrebleu_score(CHRF(word_order=2))),
    "chrF of words": Case(
        "ChrF", {"char_order": 0, "word_order": 3}, sacrebleu_score(CHRF(char_order=0, word_order=3))
    ),
    "chrF eps": Case("ChrF", {"eps_smoothing": True, "beta": 1.0}, sacrebleu_score(CHRF(eps_smoothing=True, beta=1))),
    "overlap": Case("NgramOverlap", {"ngram": 2}, lambda h, r: overlap(h, r, 2)),
}
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
each_framework = pytest.mark.parametrize("framework", [ngram_metrics, ignite], ids=["torchmetrics", "ignite"])

sentences = st.lists(st.sampled_from(["a", "b", "cd", "cd.", "(a"]), max_size=7).map(" ".join)
sides = st.lists(sentences, max_size=4)
batches = st.lists(st.tuples(sides, sides), min_size=1, max_size=3)
# The peers score one pair at a time.
few = settings(max_examples=20)


def apart(batch):
    hypotheses, references = zip(*batch, strict=True)
    return list(hypotheses), list(references)


def expected_scores(case, hypotheses, references):
    """`[row][hypothesis][reference]`"""
    return [
        [[case.score(one, other) for other in others] for one in own]
        for own, others in zip(hypotheses, references, strict=True)
    ]


def assert_scores(found, expected):
    shapes = {(len(own), len(own[0]) if own else None) for own in expected}
    if isinstance(found, torch.Tensor):
        assert len({size for size, _ in shapes}) == 1
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert (ours.dtype, ours.device.type, len(ours)) == (torch.float64, "cpu", len(theirs))
        for one, other in zip(ours.tolist(), theirs, strict=True):
            assert one == pytest.approx(other, rel=1e-9, abs=1e-12)


def cut_small(patch, block=60):
    """Cut everything: several pools, groups in blocks of a few rows, a chunk a group."""
    patch.setattr(chunks, "CPU_SLOTS", 20)
    patch.setattr(all_pairs, "BLOCK_CELLS", block)
    patch.setattr(count_table, "DENSE_CELLS", 50)
    patch.setattr(listed_pairs, "CPU_LISTED_PAIRS", 5)
    patch.setattr(pools, "POOL_CELLS", 40)


# All pairs


@each_framework
@each_case
@few
@given(
    batch=batches, other=st.sampled_from(["references", "the same", "a copy"]), block=st.sampled_from([None, 1, 13, 60])
)
def test_pairwise_scores_are_those_of_each_pair_however_the_work_is_cut(framework, case, batch, other, block):
    hypotheses, references = apart(batch)
    if other != "references":
        references = hypotheses if other == "the same" else [list(row) for row in hypotheses]
    with pytest.MonkeyPatch.context() as patch:
        if block is not None:
            cut_small(patch, block)
        found = mbr.pairwise(case.make(framework), hypotheses, references)
    assert_scores(found, expected_scores(case, hypotheses, references))


def random_rows(sizes, seed=0):
    draw = np.random.default_rng(seed)
    words = ["a", "b", "cd", "cd.", "(a", "efg"]
    return [[" ".join(draw.choice(words, draw.integers(0, 9))) for _ in range(size)] for size in sizes]


@each_case
@pytest.mark.parametrize("same", [False, True], ids=["two sides", "one side"])
def test_a_large_row_beside_small_ones_is_cut_into_blocks(case, same, monkeypatch):
    hypotheses = random_rows([2, 30, 0, 3, 3])
    references = hypotheses if same else random_rows([3, 17, 2, 0, 3], seed=1)
    whole = mbr.pairwise(case.make(), hypotheses, references)
    metric = case.make()
    monkeypatch.setattr(all_pairs, "BLOCK_CELLS", 300)
    blocks = list(score_blocks(metric.measure, read_rows(metric.reader, hypotheses, references, metric.device)))
    assert sum(block.groups == (1, 2) for block in blocks) >= 2
    assert any(block.groups[1] - block.groups[0] > 1 for block in blocks)
    found = mbr.pairwise(metric, hypotheses, references)
    for one, other in zip(found, whole, strict=True):
        assert one.equal(other)
    assert_scores(found, expected_scores(case, hypotheses, references))
    chosen = [mbr.decode(metric, hypotheses[1:2], references[1:2])]
    monkeypatch.undo()
    chosen.append(mbr.decode(metric, hypotheses[1:2], references[1:2]))
    assert chosen[0].indices.equal(chosen[1].indices)
    torch.testing.assert_close(chosen[0].expected_utilities, chosen[1].expected_utilities, rtol=1e-14, atol=0)


def test_shapes():
    metric = ngram_metrics.Bleu(ngram=1)
    assert mbr.pairwise(metric, [["a", "b"]] * 3, [["a"]] * 3).shape == (3, 2, 1)
    assert [one.shape for one in mbr.pairwise(metric, [["a", "b"], []], [["a"], ["b"]])] == [(2, 1), (0, 1)]
    assert [one.shape for one in mbr.pairwise(metric, [["a"], ["b"]], [["a"], []])] == [(1, 1), (1, 0)]
    assert mbr.pairwise(metric, [[], []], [["a"], ["b"]]).shape == (2, 0, 1)
    assert mbr.pairwise(metric, [[]], [[]]).shape == (1, 0, 0)


def test_rouge_of_ignite_and_its_alpha():
    hypotheses, references = random_rows([4]), random_rows([5], seed=1)
    scores = mbr.pairwise(ignite.RougeN(ngram=2, alpha=0.5), hypotheses, references)
    assert_scores(scores, [[[overlap(h, r, 2) for r in references[0]] for h in hypotheses[0]]])
    recalls = [
        [
            oracles.matches(h.split(), [r.split()], 2) / max(1, oracles.ngrams(r.split(), 2).total())
            for r in references[0]
        ]
        for h in hypotheses[0]
    ]
    assert_scores(mbr.pairwise(ignite.RougeN(ngram=2), hypotheses, references), [recalls])


# Ids


ids = st.lists(st.integers(1, 3), max_size=6)
ON_IDS = [name for name in CASES if "++" not in name and "words" not in name]


def as_text(case, ids):
    """A text that the peers read as these ids: words, or for chrF characters."""
    return ("" if case.name == "ChrF" else " ").join("?abc"[one] for one in ids)


def padded(rows, width=9):
    """`(rows, documents, width)`, padding before and between the ids and after them."""
    spread = [[[0, *(part for one in document for part in (one, -1))] for document in row] for row in rows]
    return [[document + [0] * (2 * width - len(document)) for document in row] for row in spread]


@pytest.mark.parametrize(
    ("framework", "name"), [*((ngram_metrics, name) for name in ON_IDS), (ignite, "overlap"), (ignite, "chrF")]
)
@settings(max_examples=10)
@given(data=st.data(), count=st.integers(1, 3), height=st.integers(1, 3), width=st.integers(1, 3))
def test_ids_in_every_layout(framework, name, data, count, height, width):
    case = CASES[name]
    hypotheses, references = (
        data.draw(st.lists(st.lists(ids, min_size=size, max_size=size), min_size=count, max_size=count))
        for size in (height, width)
    )
    in_text = ([[as_text(case, one) for one in row] for row in side] for side in (hypotheses, references))
    expected = expected_scores(case, *in_text)
    metric = case.make(framework, pad_id=(0, -1))
    layouts = {
        "lists": lambda side: side,
        "tensors": lambda side: [[torch.tensor(one, dtype=torch.int64) for one in row] for row in side],
        "padded": lambda side: torch.tensor(padded(side)),
        "padded rows": lambda side: [torch.tensor(row, dtype=torch.int32) for row in padded(side)],
        "array": lambda side: np.array(padded(side)),
    }
    for layout in layouts.values():
        found = mbr.pairwise(metric, layout(hypotheses), layout(references))
        assert found.shape == (count, height, width)
        assert_scores(found, expected)
        assert_scores(mbr.pairwise(metric, layout(hypotheses), references), expected)
    own = torch.tensor(padded(hypotheses))
    assert mbr.pairwise(metric, own, own).equal(mbr.pairwise(metric, own, own.clone()))


def test_ids_that_need_many_bits():
    rows = [[[2**40, 3, 2**40], [2**62, 2**40, 3]], [[7], [2**40]]]
    case = CASES["overlap"]
    expected = expected_scores(case, *[[[" ".join(map(str, one)) for one in row] for row in rows]] * 2)
    assert_scores(mbr.pairwise(case.make(), rows, rows), expected)


# Decoding


def weights_of(probabilities, references):
    return probabilities if probabilities is not None else [[1.0] * len(row) for row in references]


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


some = st.lists(sentences, min_size=1, max_size=5)


@each_framework
@each_case
@few
@given(data=st.data(), rows=st.lists(st.tuples(some, some), min_size=1, max_size=3), weighted=st.booleans())
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
@given(rows=st.lists(some, min_size=1, max_size=3), block=st.sampled_from([1, 13, 60]))
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
    monkeypatch.setattr(all_pairs, "BLOCK_CELLS", 6)  # two hypotheses a block
    row = ["x", "y", "b", "a b", "a b", "b a", "a", "b a"]
    decoded = mbr.decode(ngram_metrics.NgramOverlap(), [row], [["a b", "b a", "a b"]])
    assert (decoded.indices.tolist(), decoded.hypotheses) == ([3], ["a b"])


def test_what_a_shorter_row_lacks_is_neither_chosen_nor_counted(monkeypatch):
    # A distance: what is missing in a row that shares a block with longer ones is as far off as can be.
    monkeypatch.setattr(OverlapMeasure, "pair_score", lambda self, statistics: 1 - self.score(statistics))
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


# The metric


@each_framework
@each_case
def test_states_are_neither_read_nor_changed(framework, case):
    metric = case.make(framework)
    batch = (["a b cd", "b"], ["a b cd.", "a"])
    metric.update(batch) if framework is ignite else metric.update(*batch)
    before = metric.compute()
    rows = random_rows([3, 2])
    expected = mbr.pairwise(case.make(framework), rows, rows)
    states = {name: value for name, value in vars(metric).items() if isinstance(value, torch.Tensor)}
    copies = {name: value.clone() for name, value in states.items()}
    for one, other in zip(mbr.pairwise(metric, rows, rows), expected, strict=True):
        assert one.equal(other)
    mbr.decode(metric, rows)
    assert states.keys() == copies.keys()
    assert all(getattr(metric, name).equal(value) for name, value in copies.items())
    after = metric.compute()
    for name in before if isinstance(before, dict) else [None]:
        one, other = (values if name is None else values[name] for values in (before, after))
        assert float(one) == float(other)


@each_case
def test_one_metric_on_several_threads(case):
    metric = case.make()
    batches = [random_rows([5, 3], seed) for seed in range(6)]
    expected = [mbr.pairwise(metric, rows, rows[::-1]) for rows in batches]
    with ThreadPoolExecutor(4) as executor:
        found = list(executor.map(lambda rows: mbr.pairwise(metric, rows, rows[::-1]), batches))
    for ours, once in zip(found, expected, strict=True):
        assert all(one.equal(other) for one, other in zip(ours, once, strict=True))


@pytest.mark.usefixtures("surroundings")
@each_case
def test_the_surroundings_of_a_training_loop_change_no_score(case):
    rows = [["a b cd. " * 100, "b a cd. (a"], ["cd", "", "a cd"]]
    metric = case.make(device="cpu")
    expected = expected_scores(case, rows, rows[::-1])
    assert_scores(mbr.pairwise(metric, rows, rows[::-1]), expected)
    probabilities = [[1, 2, 3], [3, 1]]
    assert_decoded(mbr.decode(metric, rows, rows[::-1], probabilities), rows, expected, probabilities)


# What is refused


@pytest.mark.parametrize("function", [mbr.pairwise, mbr.decode])
@pytest.mark.parametrize(
    ("metric", "words"),
    [
        (
            ngram_metrics.ROUGEScore(rouge_keys="rougeL"),
            r"the rouge keys are \['rougeL'\]: expected one of 'rouge1' ..",
        ),
        (ngram_metrics.ROUGEScore(rouge_keys="rougeLsum"), r"the rouge keys are \['rougeLsum'\]"),
        (ngram_metrics.ROUGEScore(rouge_keys=("rouge1", "rouge2")), r"the rouge keys are \['rouge1', 'rouge2'\]"),
        (ignite.RougeL(), r"the rouge keys are \['rougeL'\]"),
        (ignite.Rouge(), r"the rouge keys are \['rouge1', 'rouge2', 'rouge4', 'rougeL'\]"),
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


@pytest.mark.parametrize("metric", [ngram_metrics.ChrF, ignite.Bleu], ids=["torchmetrics", "ignite"])
def test_the_class_of_a_metric_is_none(metric):
    with pytest.raises(TypeError, match=rf"metric is the class {metric.__name__}: expected a metric object"):
        mbr.decode(metric, [["a"]])


@pytest.mark.parametrize(
    ("hypotheses", "references", "words"),
    [
        ([["a"], []], [["a"], ["b"]], "row 1 has no hypotheses: expected at least one"),
        ([["a"], ["b"]], [["a"], []], "row 1 has no references: expected at least one"),
        ([[]], None, "row 0 has no hypotheses"),
        ([], None, "must be non-empty: expected at least one row"),
        ([["a"]], [["a"], ["b"]], "expected the same batch size"),
    ],
)
def test_rows_without_a_choice_are_refused_by_number(hypotheses, references, words):
    with pytest.raises(ValueError, match=words):
        mbr.decode(ngram_metrics.ChrF(), hypotheses, references)


@pytest.mark.parametrize(
    ("probabilities", "error", "words"),
    [
        ([[1, 1]], ValueError, "reference_probabilities has 1 rows: expected 2, one for each row"),
        ([0.5, 0.5], ValueError, "row 0 of reference_probabilities has 1 numbers: expected 2"),
        ([[1, 1], [1, 1]], ValueError, "row 1 of reference_probabilities has 2 numbers: expected 1"),
        ([[1, 1], [0]], ValueError, r"row 1 of reference_probabilities is \[0.0\]: expected finite .*, not all 0"),
        ([[1, -1], [1]], ValueError, r"row 0 of reference_probabilities is \[1.0, -1.0\]: expected finite numbers"),
        ([[1, math.nan], [1]], ValueError, "row 0 of reference_probabilities is .*expected finite numbers"),
        ([[1, math.inf], [1]], ValueError, "row 0 of reference_probabilities is .*expected finite numbers"),
        ([[1, 1], ["one"]], TypeError, r"row 1 of reference_probabilities is \['one'\]: expected numbers"),
        ([None, [1]], TypeError, "row 0 of reference_probabilities is None: expected numbers"),
    ],
)
def test_probabilities_that_do_not_fit_are_refused(probabilities, error, words):
    with pytest.raises(error, match=words):
        mbr.decode(ngram_metrics.ChrF(), [["a"], ["b"]], [["a", "b"], ["c"]], probabilities)
