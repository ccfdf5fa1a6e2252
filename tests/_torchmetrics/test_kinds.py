"""A metric counts text, tokens or ids, and one of them from reset to compute: added up they would be no score."""

from collections.abc import Callable
from typing import Any

import pytest
import torchmetrics
from metrics.apis import METRICS
from metrics.cases import Batch, assert_same, assert_same_states, states_of

import ngram_metrics

pytest.importorskip("ignite", reason="the classes for ignite are tested")

from ngram_metrics import ignite as for_ignite

# Every word is one character, so that chrF takes the tokens as well.
TEXT: Batch = (["t c s", "a d"], [["t c s w", "a c"], ["a d r"]])
NOTHING: Batch = ([], [])


def _read(tokenizer: Callable[[str], list[Any]]) -> Batch:
    preds, target = TEXT
    return list(map(tokenizer, preds)), [list(map(tokenizer, references)) for references in target]


KINDS = {"text": TEXT, "tokens": _read(str.split), "ids": _read(lambda text: [ord(word) for word in text.split()])}
#: Every class of both frameworks that takes any kind.
OF_TORCHMETRICS = {name: getattr(ngram_metrics, name) for name in METRICS}
OF_IGNITE = {
    f"{name} for ignite": getattr(for_ignite, name)
    for name in for_ignite.__all__
    if name not in ("ScoresHandler", "GroupedMetric")
}
CLASSES = OF_TORCHMETRICS | OF_IGNITE
each_class = pytest.mark.parametrize("make", CLASSES.values(), ids=CLASSES)
each_class_of_torchmetrics = pytest.mark.parametrize("make", OF_TORCHMETRICS.values(), ids=OF_TORCHMETRICS)
each_kind = pytest.mark.parametrize("kind", KINDS)
each_pair = pytest.mark.parametrize(
    ("first", "second"),
    [
        ("text", "ids"),
        pytest.param("text", "tokens", marks=pytest.mark.slow),
        pytest.param("tokens", "text", marks=pytest.mark.slow),
        ("tokens", "ids"),
        pytest.param("ids", "text", marks=pytest.mark.slow),
        pytest.param("ids", "tokens", marks=pytest.mark.slow),
    ],
)


def _count(metric: Any, batch: Batch) -> Any:
    """Update a metric of either framework."""
    if isinstance(metric, torchmetrics.Metric):
        metric.update(*batch)
    else:
        metric.update(batch)
    return metric


def _refusal(*kinds: str) -> str:
    """The words of the error, which names the kinds in one order."""
    names = " and ".join(kind for kind in KINDS if kind in kinds)
    return f"this metric was given {names}: expected one kind of input until reset"


def _unit(metric: Any) -> str:
    (found,) = [field for field in metric.signature.split("|") if field.startswith("unit:")]
    return found.removeprefix("unit:")


@each_pair
@each_class
def test_another_kind_is_refused_and_changes_nothing(make: Callable[[], Any], first: str, second: str):
    metric = _count(make(), KINDS[first])
    states = states_of(metric)
    value = metric.compute()
    with pytest.raises(ValueError, match=_refusal(first, second)):
        _count(metric, KINDS[second])
    assert_same_states(metric, states)
    assert_same(metric.compute(), value)


@each_pair
@each_class_of_torchmetrics
def test_forward_refuses_another_kind_and_changes_nothing(make: Callable[[], Any], first: str, second: str):
    metric = _count(make(), KINDS[first])
    states = states_of(metric)
    with pytest.raises(ValueError, match=_refusal(first, second)):
        metric(*KINDS[second])
    assert_same_states(metric, states)
    assert metric.update_count == 1


@each_pair
@each_class
def test_after_a_reset_another_kind_is_counted(make: Callable[[], Any], first: str, second: str):
    metric = _count(make(), KINDS[first])
    metric.reset()
    _count(metric, KINDS[second])
    assert_same(metric.compute(), _count(make(), KINDS[second]).compute())


@each_kind
@each_class
def test_the_signature_says_what_the_segments_were_given_as(make: Callable[[], Any], kind: str):
    metric = _count(make(), KINDS[kind])
    assert f"avg:{metric.average}|unit:{kind}|" in metric.signature


@each_class
def test_the_kind_is_unknown_until_a_segment_is_counted(make: Callable[[], Any]):
    metric = make()
    assert _unit(metric) == "?"
    _count(metric, NOTHING)
    assert _unit(metric) == "?"


@each_kind
@each_class
def test_a_batch_without_a_segment_does_not_change_the_kind(make: Callable[[], Any], kind: str):
    metric = _count(make(), KINDS[kind])
    _count(metric, NOTHING)
    assert _unit(metric) == kind


@each_kind
@each_class
def test_the_kind_is_unknown_after_a_reset(make: Callable[[], Any], kind: str):
    metric = _count(make(), KINDS[kind])
    metric.reset()
    assert _unit(metric) == "?"


def _loaded(saved: Any, fresh: Any) -> Any:
    if isinstance(saved, torchmetrics.Metric):
        saved.persistent(True)
    fresh.load_state_dict(saved.state_dict())
    return fresh


def _assert_kind_is_known(metric: Any, first: str, second: str) -> None:
    assert _unit(metric) == first
    with pytest.raises(ValueError, match=_refusal(first, second)):
        _count(metric, KINDS[second])
    _count(metric, KINDS[first])


@each_pair
@each_class
def test_a_loaded_kind_is_known(make: Callable[[], Any], first: str, second: str):
    _assert_kind_is_known(_loaded(_count(make(), KINDS[first]), make()), first, second)


@each_pair
@each_class_of_torchmetrics
def test_a_merged_kind_is_known(make: Callable[[], Any], first: str, second: str):
    merged = make()
    merged.merge_state(_count(make(), KINDS[first]))
    _assert_kind_is_known(merged, first, second)
