"""With NGRAM_METRICS_COUNTING=torch padded ids are counted in torch on a CPU too, and the counts are the same."""

import runpy

import pytest
from faces.cases import CASES, Case, assert_same, states_of

from ngram_metrics import functional, mbr
from ngram_metrics.counting import all_pairs, numpy_matches, python_matches
from ngram_metrics.counting.subsequence import lengths

ROWS = [(case, average) for case in CASES if case.on_ids for average in case.tried]


def refuse(*arguments: object) -> None:
    raise AssertionError("counted another way")


@pytest.fixture
def in_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numpy_matches, "FORCES_TORCH", True)
    monkeypatch.setattr(numpy_matches, "numpy_segments", refuse)
    monkeypatch.setattr(lengths, "_lengths_of_texts", refuse)
    monkeypatch.setattr(python_matches, "clipped_matches", refuse)


@pytest.mark.parametrize(("case", "average"), ROWS, ids=[f"{case.name}-{average}" for case, average in ROWS])
def test_every_metric_counts_the_same_in_torch(case: Case, average: str, request: pytest.FixtureRequest):
    expected = case.make(average)
    for batch in case.batches:
        expected.update(*batch)
    value = expected.compute()
    request.getfixturevalue("in_torch")
    metric = case.make(average)
    for batch in case.batches:
        metric.update(*batch)
    assert_same(metric.compute(), value)
    if average == "micro" and "row" in states_of(metric):
        assert metric.row.equal(expected.row)


def test_all_pairs_and_a_corpus_are_the_same_in_torch(monkeypatch: pytest.MonkeyPatch):
    texts = ["the cat sat on the mat", "a cat sat", "the dog ran home today", "a cat on a mat"]

    def scores() -> list[object]:
        from ngram_metrics import ChrF

        pairs = mbr.pairwise(ChrF(), [texts], [texts])
        return [pairs, functional.self_bleu(texts), functional.distinct(texts), functional.repetition(texts, 1)]

    expected = scores()
    monkeypatch.setattr(numpy_matches, "FORCES_TORCH", True)
    monkeypatch.setattr(all_pairs, "small_block", refuse)
    for in_torch, other in zip(scores(), expected, strict=True):
        assert_same(in_torch, other)


def test_the_environment_decides(monkeypatch: pytest.MonkeyPatch):
    def forces_torch() -> bool:
        return runpy.run_path(numpy_matches.__file__)["FORCES_TORCH"]

    monkeypatch.delenv("NGRAM_METRICS_COUNTING", raising=False)
    assert not forces_torch()
    for value in ("torch", ""):
        monkeypatch.setenv("NGRAM_METRICS_COUNTING", value)
        assert forces_torch() == (value == "torch")
    monkeypatch.setenv("NGRAM_METRICS_COUNTING", "numpy")
    with pytest.raises(ValueError, match="the environment has NGRAM_METRICS_COUNTING='numpy': expected 'torch', or"):
        forces_torch()
