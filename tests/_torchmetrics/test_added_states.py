"""The states that a user's subclass adds: kept, merged and given back together with the counts."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from ngram_metrics import ChrF


class WithLabels(ChrF):
    """Keeps a label for each segment, and their number."""

    def __init__(self) -> None:
        super().__init__(average="none")
        self.add_state("labels", [], "cat")
        self.add_state("labelled", torch.tensor(0), "sum")

    def update(self, preds: Any, target: Any, label: Any) -> None:  # type: ignore[override]
        super().update(preds, target)
        self.labels.append(torch.tensor([label]))
        self.labelled = self.labelled + 1


class Adding(ChrF):
    """Counts without the class that it comes from."""

    def __init__(self) -> None:
        super().__init__()
        self.add_state("total", torch.tensor(0), "sum")

    def update(self, number: int) -> None:  # type: ignore[override]
        self.total = self.total + number

    def compute(self) -> Tensor:
        return self.total * 1


TEXTS = ["a", "a b", "a b c", "a b c d"]


def of_labels(*labels: int) -> WithLabels:
    metric = WithLabels()
    for label in labels:
        metric.update([TEXTS[label]], ["a b x"], label)
    return metric


def contents(metric: WithLabels) -> tuple[list[float], list[int], int]:
    """The scores of the segments, their labels, and the number of labels."""
    labels = torch.cat(metric.labels) if metric.labels else torch.zeros(0)
    return metric.compute().tolist(), labels.tolist(), metric.labelled.item()


def merge(metric: WithLabels, other: WithLabels) -> None:
    metric.merge_state(other)


def merge_states(metric: WithLabels, other: WithLabels) -> None:
    metric.merge_state(other.metric_state)


def reload(metric: WithLabels) -> WithLabels:
    metric.persistent(True)
    loaded = WithLabels()
    loaded.load_state_dict(metric.state_dict())
    return loaded


@pytest.mark.parametrize("merged", [merge, merge_states])
def test_added_lists_are_merged_in_the_order_of_the_segments(merged: Callable[[WithLabels, WithLabels], None]):
    metric = of_labels(2, 0)
    other = of_labels(3, 1)
    merged(metric, other)
    assert contents(metric) == contents(of_labels(2, 0, 3, 1))
    assert contents(other) == contents(of_labels(3, 1))


def test_forward_keeps_the_order():
    metric = of_labels(2, 0)
    metric([TEXTS[3]], ["a b x"], 3)
    assert contents(metric) == contents(of_labels(2, 0, 3))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda metric: pickle.loads(pickle.dumps(metric)), reload])
def test_added_states_are_copied_and_saved(copied: Callable[[WithLabels], WithLabels]):
    metric = of_labels(2, 0)
    twin = copied(metric)
    assert contents(twin) == contents(metric)
    twin.update([TEXTS[3]], ["a b x"], 3)
    assert contents(metric) == contents(of_labels(2, 0))


@pytest.mark.parametrize("batch", [([TEXTS[1]], ["a b x"], "no number"), ([TEXTS[1]], [["a"], ["b"]], 1)])
@pytest.mark.parametrize("call", [WithLabels.forward, WithLabels.__call__])
def test_a_forward_that_fails_changes_nothing(call: Callable[..., Any], batch: tuple[Any, ...]):
    metric = of_labels(2, 0)
    with pytest.raises(ValueError, match=r"too many dimensions|1 segment"):
        call(metric, *batch)
    assert contents(metric) == contents(of_labels(2, 0))
    assert metric.update_count == 2


def test_an_update_that_fails_after_it_has_counted_leaves_the_counts():
    metric = of_labels(2, 0)
    with pytest.raises(ValueError, match="too many dimensions"):
        metric.update([TEXTS[1]], ["a b x"], "no number")
    assert contents(metric) == contents(of_labels(2, 0))
    assert metric.update_count == 2


def test_a_merge_that_fails_changes_nothing():
    metric = of_labels(2, 0)
    other = of_labels(1)
    other.labelled = torch.zeros(2, 3)
    metric.labelled = torch.zeros(2, 2)
    with pytest.raises(RuntimeError, match="must match"):
        metric.merge_state(other)
    assert metric.labelled.shape == (2, 2)
    assert torch.cat(metric.labels).tolist() == [2, 0]
    assert len(metric.compute()) == metric.update_count == 2


def test_a_reset_leaves_a_list_that_was_taken_before():
    metric = of_labels(2, 0)
    labels = metric.labels
    metric.reset()
    assert torch.cat(labels).tolist() == [2, 0]
    assert metric.labels == []
    assert metric.labelled == 0


@pytest.mark.filterwarnings("ignore:no segments were counted")
def test_a_subclass_that_counts_alone_computes_a_new_value_after_each_update():
    metric = Adding()
    for number, total in ((1, 1), (2, 3)):
        metric.update(number)
        assert metric.compute() == total
    assert metric.update_count == 2


def test_a_reset_that_fails_changes_nothing(monkeypatch: pytest.MonkeyPatch):
    metric = ChrF()
    metric.update(TEXTS[:1], ["a b x"])
    value = metric.compute()

    def fail(self: object) -> None:
        raise MemoryError

    monkeypatch.setattr(type(metric._counts), "copy", fail)
    with pytest.raises(MemoryError):
        metric.reset()
    assert metric.update_count == 1
    assert metric.compute() == value
