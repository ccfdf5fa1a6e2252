"""Extreme settings keep scores in their range, and compiled steps score what eager ones do."""

from typing import Any

import pytest
import torch

from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore
from ngram_metrics._core.metrics.bleu import make_bleu
from ngram_metrics.functional import rouge_score


@pytest.mark.parametrize("weights", [[1e15, 1e15], [0, 1e15], [1e-300, 1e15], [1e15, 1e-300], [1e-320, 1e-320]])
@pytest.mark.parametrize(
    ("smooth", "value"), [("floor", 1.0), ("floor", 1e-320), ("add-k", 1e15), ("add-k", 1e-320), ("exp", None)]
)
@pytest.mark.parametrize("effective_order", [False, True])
def test_the_largest_and_the_smallest_settings_give_scores_from_0_to_1(weights, smooth, value, effective_order):
    options = {"ngram": 2, "weights": weights, "smooth": smooth, "smooth_value": value}
    scorer = make_bleu(**options, effective_order=effective_order, average="none")
    pairs = [("a b", "a c"), ("a b", "a b"), ("a", "a b"), ("a b c d", "b a c"), ("a", "b")]
    counted = scorer.count_batch(*zip(*pairs, strict=True))
    arrays = scorer.score(scorer.add_up(counted)).tolist()
    tensors = scorer.score(scorer.add_up(counted._replace(rows=torch.from_numpy(counted.rows)))).tolist()
    assert tensors == pytest.approx(arrays, rel=1e-12)
    assert all(0 <= score <= 1 for score in arrays)


@pytest.mark.parametrize("tiny", [1e-30, 1e-39, 1e-300])
def test_tiny_settings_keep_their_ratios(tiny: float):
    added = make_bleu(ngram=2, smooth="add-k", smooth_value=tiny)
    assert added.score_batch(["a"], ["a"]) == 1  # k / k in the order without n-grams
    weighed = make_bleu(ngram=2, weights=[tiny, 1], effective_order=True)
    assert weighed.score_batch(["a", "b"], ["a", "c"]) == pytest.approx(0.5, rel=1e-12)


TEXT = ["the cat sat\non the mat", "a dog ran"], [["the cat\nsat on a mat", "a cat"], ["a dog ran home"]]
LISTS = [[1, 2, 9, 3], [4]], [[[2, 9, 1, 3], [1, 2]], [[4, 5]]]
SUMMARIES = torch.tensor([[1, 2, 9, 3, 1, 0], [4, 9, 4, 0, 0, 0]]), torch.tensor([[[2, 1, 9, 1]], [[4, 4, 9, 9]]])
OUTSIDE = {
    "Bleu of text": (Bleu, {}, TEXT),
    "ChrF of text": (ChrF, {"average": "macro"}, TEXT),
    "ROUGEScore of text": (ROUGEScore, {}, TEXT),
    "Bleu of lists": (Bleu, {"average": "none"}, LISTS),
    "NgramOverlap of lists": (NgramOverlap, {}, LISTS),
    "Bleu of rows beside lists": (Bleu, {"pad_id": 0}, (SUMMARIES[0], LISTS[1])),
    "ROUGEScore of summaries": (ROUGEScore, {"pad_id": 0, "sentence_separator_id": 9}, SUMMARIES),
}


@pytest.mark.slow
@pytest.mark.usefixtures("compiling")
@pytest.mark.parametrize("name", OUTSIDE)
def test_a_compiled_step_counts_outside_of_its_graph_what_numpy_counts(name: str):
    make, options, batch = OUTSIDE[name]
    metric = make(**options)
    eager = make(**options)

    @torch.compile(backend="eager")
    def step(loss: torch.Tensor, preds: Any, target: Any) -> torch.Tensor:
        halved = loss / 2
        metric.update(preds, target)
        return halved + 1

    for _ in range(3):
        assert step(torch.tensor(4.0), *batch) == 3
        eager.update(*batch)
    torch.testing.assert_close(metric.compute(), eager.compute(), rtol=1e-12, atol=0)
    assert metric.signature == eager.signature
    with pytest.raises(ValueError, match="expected"):
        step(torch.tensor(4.0), batch[0], batch[1][:1])
    torch.testing.assert_close(metric.compute(), eager.compute(), rtol=1e-12, atol=0)


@pytest.mark.slow
@pytest.mark.usefixtures("compiling")
def test_a_function_in_a_compiled_step_has_the_eager_score():
    for batch, options in ((TEXT, {}), (SUMMARIES, {"pad_id": 0, "sentence_separator_id": 9})):
        compiled = torch.compile(lambda *sides: rouge_score(*sides, **options), backend="eager")  # noqa: B023
        torch.testing.assert_close(compiled(*batch), rouge_score(*batch, **options), rtol=1e-12, atol=0)
