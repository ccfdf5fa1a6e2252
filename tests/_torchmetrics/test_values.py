"""What every metric computes of the same sentences: in batches or at once, in any order, by class or by function."""

from collections.abc import Mapping
from typing import Any

import pytest
import torch
from metrics.cases import Batch, Case, assert_same, each_case_with_none, each_metric, joined, scores_of
from torch import Tensor


def _chosen(batch: Batch, order: list[int]) -> Batch:
    """The sentences of these numbers, in this order."""
    return tuple(part[order] if isinstance(part, Tensor) else [part[i] for i in order] for part in batch)


def _without_intervals(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    named = {name: score for name, score in value.items() if not name.endswith(("_low", "_high"))}
    return named if len(named) > 1 else next(iter(named.values()))


@each_case_with_none
def test_the_sample_sentences_all_score_differently(case: Case):
    """Else a test on their order would hold nothing."""
    rows = torch.stack(scores_of(case.value("none")), 1).tolist()
    alike = {number: row for number, row in enumerate(rows) if rows.count(row) > 1}
    assert not alike, f"sentences of {case.name} score alike: choose other settings in tests/support/metrics/cases.py"


@each_metric
def test_scores_are_float64_in_their_range(case: Case, average: str):
    for scores in scores_of(case.filled(average).compute()):
        assert scores.dtype == torch.float64
        assert ((scores > 0) & (scores <= 1)).all()
        assert scores.shape == case.shape(average)


@each_metric
def test_batches_of_any_size_count_as_one_batch(case: Case, average: str):
    expected = case.value(average)
    sentences = [_chosen(case.whole, [number]) for number in range(len(case.whole[0]))]
    for batches in (case.batches, sentences, [joined(sentences[:5]), case.nothing, sentences[5]]):
        assert_same(case.filled(average, batches).compute(), expected)


@each_case_with_none
def test_none_of_one_sentence_is_still_a_vector(case: Case):
    """torchmetrics squeezes what holds one number."""
    metric = case.make("none")
    for scores in scores_of(metric(*case.batches[1])) + scores_of(metric.compute()):
        assert scores.shape == case.shape("none", 1)


@each_metric
def test_the_function_scores_as_the_class(case: Case, average: str):
    score = case.function(average, case.whole)
    assert_same(score, _without_intervals(case.value(average)))
    with pytest.warns(UserWarning, match="^no segment was counted: the value says nothing"):
        nothing = case.function(average, case.nothing)
    for scores in scores_of(nothing):
        shape = case.shape(average, 0)
        assert_same(scores, torch.full(shape, case.before_data, dtype=torch.float64))


@pytest.mark.usefixtures("surroundings")
@each_metric
def test_the_surroundings_of_a_training_loop_change_nothing(case: Case, average: str):
    """Of a class, of its details, and of a function."""
    metric = case.make(average, device="cpu")
    values = [metric(*batch) for batch in case.batches]
    values += [metric.compute(), case.function(average, case.whole)]
    details = metric.details() if case.has_details else {}
    metric.reset()
    again = metric(*case.whole)
    with torch.inference_mode(False), torch.autocast("cpu", enabled=False), torch.device("cpu"):
        default, _ = torch.get_default_dtype(), torch.set_default_dtype(torch.float32)
        expected = [case.value(average, [batch]) for batch in case.batches]
        whole = case.value(average)
        assert_same(values, [*expected, whole, _without_intervals(whole)])
        assert_same(again, whole)
        assert_same(details, case.filled(average).details() if case.has_details else {})
        torch.set_default_dtype(default)
