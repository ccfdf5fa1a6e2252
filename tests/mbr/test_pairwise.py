"""All pairs with every metric, as each pair scores by itself, however the work is cut and whatever is around."""

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import oracles
import pytest
import torch
from draws import examples, fewer
from hypothesis import given
from hypothesis import strategies as st
from layouts import apart, padded_with_gaps
from mbr_cases import (
    CASES,
    assert_decoded,
    assert_scores,
    batches,
    cut_small,
    each_case,
    each_framework,
    expected_scores,
    few,
    overlap,
    random_rows,
    rouge_l,
)
from rouge_oracle import table

import ngram_metrics
from ngram_metrics import ignite, mbr
from ngram_metrics._core.scoring import pair_scores
from ngram_metrics.functional import chrf_score


@each_framework
@each_case
@few
@examples(
    *(
        {"batch": [(["a b c", "a b", ""], ["a cd.", "b a"]), (["a"], ["a b", "b"])], "other": other, "block": block}
        for other, block in (("references", None), ("references", 1), ("the same", 13), ("a copy", 60))
    )
)
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


def test_shapes():
    metric = ngram_metrics.Bleu(ngram=1)
    assert mbr.pairwise(metric, [["a", "b"]] * 3, [["a"]] * 3).shape == (3, 2, 1)
    assert [one.shape for one in mbr.pairwise(metric, [["a", "b"], []], [["a"], ["b"]])] == [(2, 1), (0, 1)]
    assert [one.shape for one in mbr.pairwise(metric, [["a"], ["b"]], [["a"], []])] == [(1, 1), (1, 0)]
    assert mbr.pairwise(metric, [[], []], [["a"], ["b"]]).shape == (2, 0, 1)
    assert mbr.pairwise(metric, [[]], [[]]).shape == (1, 0, 0)


def test_hypotheses_whose_counts_need_several_parts(monkeypatch):
    """Two blocks in the first part, the second of which is shorter than the other."""
    monkeypatch.setattr(pair_scores, "COUNTED_CELLS", 5)
    monkeypatch.setattr(pair_scores, "BLOCK_CELLS", 3)
    rows = random_rows([8])
    case = CASES["overlap"]
    metric = ngram_metrics.NgramOverlap(ngram=1)
    scores = mbr.pairwise(metric, rows, [["a cd"]])
    assert_scores(scores, [[[overlap(one, "a cd", 1)] for one in rows[0]]])
    assert_scores(mbr.pairwise(case.make(), rows, rows), expected_scores(case, rows, rows))


def test_a_value_of_rouge_with_summaries():
    """Its reader makes whole texts and summaries, of which only the first count."""
    metric = ngram_metrics.ROUGEScore()["rougeL_fmeasure"]
    rows = [["a b\ncd", "b cd"]]
    assert_scores(mbr.pairwise(metric, rows, rows), [[[rouge_l("fmeasure")(h, r) for r in rows[0]] for h in rows[0]]])


def test_rouge_of_ignite_and_its_alpha():
    hypotheses, references = random_rows([4]), random_rows([5], seed=1)
    scores = mbr.pairwise(ignite.RougeN(ngram=2, alpha=0.5), hypotheses, references)
    assert_scores(scores, [[[overlap(h, r, 2) for r in references[0]] for h in hypotheses[0]]])
    counts = [[oracles.overlap_counts(h.split(), r.split(), 2) for r in references[0]] for h in hypotheses[0]]
    recalls = [[matches / max(1, total) for matches, _, total in row] for row in counts]
    assert_scores(mbr.pairwise(ignite.RougeN(ngram=2), hypotheses, references), [recalls])
    common = [[table(r.split(), h.split())[-1][-1] for r in references[0]] for h in hypotheses[0]]
    words = [[one / max(1, len(r.split())) for one, r in zip(row, references[0], strict=True)] for row in common]
    assert_scores(mbr.pairwise(ignite.RougeL(), hypotheses, references), [words])


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


@pytest.mark.parametrize("ngram", [1, 2, 3, 9])
@pytest.mark.parametrize("sizes", [*SIZES, "the same"])
def test_large_groups_have_the_matches_of_counters(ngram, sizes):
    chance = random.Random(ngram)
    counts = SIZES.get(sizes, SIZES["several"])
    hypotheses, references = ([drawn_documents(chance, size) for size in side] for side in counts)
    hypotheses[0][5] = []
    if sizes == "the same":
        references = hypotheses
    found = mbr.pairwise(ngram_metrics.NgramOverlap(ngram=ngram), hypotheses, references)
    for scores, *sides in zip(found, hypotheses, references, strict=True):
        own, others = ([oracles.ngrams(document, ngram) for document in side] for side in sides)
        expected = [[2 * (a & b).total() / max(1, a.total() + b.total()) for b in others] for a in own]
        assert scores.shape == (len(own), len(others))
        np.testing.assert_allclose(scores.numpy(), np.array(expected).reshape(scores.shape), rtol=0, atol=1e-15)


ids = st.lists(st.integers(1, 3), max_size=6)
ON_IDS = [name for name in CASES if "++" not in name and "words" not in name]


def as_text(case, ids):
    """A text that the peers read as these ids: words, or for chrF characters."""
    return ("" if case.name == "ChrF" else " ").join("?abc"[token_id] for token_id in ids)


def padded_pool_rows(rows):
    """`(rows, documents, width)`, padding before and between the ids and after them."""
    return [padded_with_gaps(row, 9, before=(0,), between=-1) for row in rows]


@pytest.mark.parametrize(
    ("framework", "name"), [*((ngram_metrics, name) for name in ON_IDS), (ignite, "overlap"), (ignite, "chrF")]
)
@fewer(6)
@given(data=st.data(), count=st.integers(1, 3), height=st.integers(1, 3), width=st.integers(1, 3))
def test_ids_in_every_layout(framework, name, data, count, height, width):
    case = CASES[name]
    hypotheses, references = (
        data.draw(st.lists(st.lists(ids, min_size=size, max_size=size), min_size=count, max_size=count))
        for size in (height, width)
    )
    in_text = ([[as_text(case, document) for document in row] for row in side] for side in (hypotheses, references))
    expected = expected_scores(case, *in_text)
    metric = case.make(framework, pad_id=(0, -1))
    layouts = {
        "lists": lambda side: side,
        "tensors": lambda side: [[torch.tensor(document, dtype=torch.int64) for document in row] for row in side],
        "padded": lambda side: torch.tensor(padded_pool_rows(side)),
        "padded rows": lambda side: [torch.tensor(row, dtype=torch.int32) for row in padded_pool_rows(side)],
        "array": lambda side: np.array(padded_pool_rows(side)),
    }
    for layout in layouts.values():
        found = mbr.pairwise(metric, layout(hypotheses), layout(references))
        assert found.shape == (count, height, width)
        assert_scores(found, expected)
        assert_scores(mbr.pairwise(metric, layout(hypotheses), references), expected)
    own = torch.tensor(padded_pool_rows(hypotheses))
    assert mbr.pairwise(metric, own, own).equal(mbr.pairwise(metric, own, own.clone()))


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


@pytest.mark.parametrize("function", [mbr.pairwise, mbr.decode])
@pytest.mark.parametrize(
    ("metric", "words"),
    [
        (
            ngram_metrics.ROUGEScore(rouge_keys="rougeLsum"),
            r"the rouge keys are \['rougeLsum'\]: expected one of 'rouge1' .. 'rouge9', or 'rougeL', to score pairs by",
        ),
        (ngram_metrics.ROUGEScore(rouge_keys=("rougeL", "rouge1")), r"the rouge keys are \['rougeL', 'rouge1'\]"),
        (ngram_metrics.ROUGEScore()["rougeLsum_recall"], r"the rouge keys are \['rougeLsum'\]"),
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
