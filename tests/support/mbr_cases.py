"""Metrics of both frameworks beside peers and plain Python that score one pair at a time: what MBR is tested with."""

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import oracles
import pytest
import torch
from covering import grid
from draws import fewer
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu import BLEU, CHRF

import ngram_metrics
from ngram_metrics import ignite, mbr
from ngram_metrics._core.counting import pairs
from ngram_metrics._core.scoring import pair_scores


def overlap(hypothesis, reference, ngram=2):
    return oracles.overlap(*oracles.overlap_counts(hypothesis.split(), reference.split(), ngram))


def sacrebleu_score(metric):
    """Each pair once: it takes long, and the texts are short."""
    return functools.cache(lambda hypothesis, reference: metric.sentence_score(hypothesis, [reference]).score / 100)


def rouge_l(part):
    scorer = RougeScorer(["rougeL"])
    return lambda hypothesis, reference: getattr(scorer.score(reference, hypothesis)["rougeL"], part)


class Case(NamedTuple):
    """A metric of either framework, and what scores a pair of texts without it."""

    name: str
    options: dict[str, Any]
    score: Callable[[str, str], float]
    #: In `ngram_metrics.ignite`, where they are others there.
    ignite_options: dict[str, Any] | None = None
    #: The one of its values that is the metric.
    value: str | None = None

    def make(self, framework=ngram_metrics, **more):
        options = self.ignite_options if framework is ignite and self.ignite_options is not None else self.options
        metric = getattr(framework, self.name)(**options, **more)
        return metric if self.value is None else metric[self.value]


#: For ignite, what papers report.
_PAPERS = {"average": "micro", "smooth": "exp", "tokenizer": "13a"}
CASES = {
    "BLEU": Case("Bleu", {}, sacrebleu_score(BLEU(effective_order=True)), {**_PAPERS, "effective_order": True}),
    "BLEU unsmoothed": Case(
        "Bleu",
        {"smooth": "no_smooth", "effective_order": False, "tokenizer": None},
        sacrebleu_score(BLEU(smooth_method="none", tokenize="none", effective_order=False)),
        {},
    ),
    "BLEU add-k": Case(
        "Bleu",
        {"ngram": 2, "smooth": "add-k", "effective_order": False},
        sacrebleu_score(BLEU(smooth_method="add-k", smooth_value=1, max_ngram_order=2, effective_order=False)),
        {"ngram": 2, "smooth": "smooth2", "tokenizer": "13a"},
    ),
    "ROUGE-2": Case(
        "ROUGEScore", {"rouge_keys": "rouge2"}, lambda h, r: RougeScorer(["rouge2"]).score(r, h)["rouge2"].fmeasure
    ),
    "ROUGE-1 F": Case(
        "ROUGEScore",
        {"rouge_keys": "rouge1", "accumulate": "avg"},
        lambda h, r: RougeScorer(["rouge1"]).score(r, h)["rouge1"].fmeasure,
    ),
    "ROUGE-L": Case("ROUGEScore", {"rouge_keys": "rougeL"}, rouge_l("fmeasure")),
    "ROUGE-L of means": Case("ROUGEScore", {"rouge_keys": ["rougeL"], "accumulate": "avg"}, rouge_l("fmeasure")),
    "ROUGE-L precision": Case(
        "ROUGEScore", {"rouge_keys": ("rouge1", "rougeL")}, rouge_l("precision"), value="rougeL_precision"
    ),
    "chrF": Case("ChrF", {}, sacrebleu_score(CHRF())),
    "chrF++": Case("ChrF", {"word_order": 2, "average": "macro"}, sacrebleu_score(CHRF(word_order=2))),
    "chrF of words": Case(
        "ChrF", {"char_order": 0, "word_order": 3}, sacrebleu_score(CHRF(char_order=0, word_order=3))
    ),
    "chrF eps": Case("ChrF", {"eps_smoothing": True, "beta": 1.0}, sacrebleu_score(CHRF(eps_smoothing=True, beta=1))),
    "overlap": Case("NgramOverlap", {"ngram": 2}, overlap),
}
each_case = grid("case", CASES.values(), ids=CASES)
each_framework = pytest.mark.parametrize("framework", [ngram_metrics, ignite], ids=["torchmetrics", "ignite"])

sentences = st.lists(st.sampled_from(["a", "b", "cd", "cd.", "(a"]), max_size=7).map(" ".join)
sides = st.lists(sentences, max_size=4)
batches = st.lists(st.tuples(sides, sides), min_size=1, max_size=3)
# The peers score one pair at a time.
few = fewer(4)


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
    """Cut everything: groups in blocks of a few rows, tables of a few columns, few listed pairs at a time."""
    for module, bounds in (
        (pair_scores, {"COUNTED_CELLS": 2 * block, "BLOCK_CELLS": block}),
        (pairs, {"TILE": 2, "TABLE_CELLS": 50, "LISTED_PAIRS": 5, "LISTED_COST": 4, "CELLS": 100}),
    ):
        for name, bound in bounds.items():
            patch.setattr(module, name, bound)


def random_rows(sizes, seed=0):
    draw = np.random.default_rng(seed)
    words = ["a", "b", "cd", "cd.", "(a", "efg"]
    return [[" ".join(draw.choice(words, draw.integers(0, 9))) for _ in range(size)] for size in sizes]


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
