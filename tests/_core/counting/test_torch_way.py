"""NGRAM_METRICS_COUNTING=torch counts padded ids in torch on a CPU too; scoring/test_scorer.py compares the counts."""

import runpy

import pytest
import torch
from metrics.cases import assert_same

from ngram_metrics import ChrF, functional, mbr
from ngram_metrics._core.counting import all_pairs, numpy_matches, python_matches
from ngram_metrics._core.counting.subsequence import lengths


def refuse(*arguments: object) -> None:
    raise AssertionError("counted another way")


def test_padded_ids_are_counted_in_no_other_way(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(numpy_matches, "FORCES_TORCH", True)
    monkeypatch.setattr(numpy_matches, "numpy_segments", refuse)
    monkeypatch.setattr(lengths, "_lengths_of_texts", refuse)
    monkeypatch.setattr(python_matches, "_match", refuse)
    ids = torch.tensor([[1, 2, 3, 0]])
    for score in (functional.bleu_score, functional.chrf_score, functional.rouge_score):
        score(ids, ids, pad_id=0)


def test_all_pairs_are_the_same_in_torch(monkeypatch: pytest.MonkeyPatch):
    texts = ["the cat sat on the mat", "a cat sat", "the dog ran home today", "a cat on a mat"]
    expected = mbr.pairwise(ChrF(), [texts], [texts])
    monkeypatch.setattr(numpy_matches, "FORCES_TORCH", True)
    monkeypatch.setattr(all_pairs, "small_block", refuse)
    assert_same(mbr.pairwise(ChrF(), [texts], [texts]), expected)


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
