"""A metric counts text, tokens or ids, and one of them from reset to compute: added up they would be no score."""

from collections.abc import Callable
from typing import Any

import pytest
import torchmetrics
from faces.cases import Batch, assert_same, assert_same_states, states_of

import ngram_metrics
from ngram_metrics import ignite as for_ignite

# Every word is one character, so that chrF takes the tokens as well.
TEXT: Batch = (["t c s", "a d"], [["t c s w", "a c"], ["a d r"]])
TOKENS: Batch = (
    [one.split() for one in TEXT[0]],
    [[one.split() for one in several] for several in TEXT[1]],
)
_NUMBERS = {word: number for number, word in enumerate("tcsadwr")}
IDS: Batch = (
    [[_NUMBERS[word] for word in one] for one in TOKENS[0]],
    [[[_NUMBERS[word] for word in one] for one in several] for several in TOKENS[1]],
)
NOTHING: Batch = ([], [])
KINDS = {"text": TEXT, "tokens": TOKENS, "ids": IDS}

each_name = pytest.mark.parametrize("name", ["Bleu", "ROUGEScore", "ChrF", "NgramOverlap"])
each_kind = pytest.mark.parametrize("kind", KINDS)
each_average = pytest.mark.parametrize("average", ["micro", "macro", "none"])
each_pair = pytest.mark.parametrize(
    ("first", "second"), [(one, other) for one in KINDS for other in KINDS if one != other]
)


def _make(name: str, average: str = "macro") -> Any:
    return getattr(ngram_metrics, name)(average=average)


def _filled(name: str, kind: str, average: str = "macro") -> Any:
    metric = _make(name, average)
    metric.update(*KINDS[kind])
    return metric


def _face(name: str, kind: str | None = None) -> Any:
    metric = getattr(for_ignite, name)(average="macro")
    if kind is not None:
        metric.update(KINDS[kind])
    return metric


def _count(metric: Any, batch: Batch) -> None:
    """Update a metric of either framework."""
    if isinstance(metric, torchmetrics.Metric):
        metric.update(*batch)
    else:
        metric.update(batch)


def _refusal(*kinds: str) -> str:
    """The words of the error, which names the kinds in one order."""
    return f"one metric was given {' and '.join(kind for kind in KINDS if kind in kinds)}: expected one kind from reset"


def _unit(metric: Any) -> str:
    (found,) = [field for field in metric.signature.split("|") if field.startswith("unit:")]
    return found.removeprefix("unit:")


@each_pair
@each_average
@each_name
@pytest.mark.parametrize("call", ["update", "forward"])
def test_another_kind_is_refused_and_changes_nothing(name: str, average: str, first: str, second: str, call: str):
    metric = _filled(name, first, average)
    states, value = states_of(metric), metric.compute()
    with pytest.raises(ValueError, match=_refusal(first, second)):
        getattr(metric, call)(*KINDS[second])
    assert_same_states(metric, states)
    assert metric.update_count == 1
    assert_same(metric.compute(), value)
    metric.update(*KINDS[first])
    metric.reset()
    metric.update(*KINDS[second])
    assert_same(metric.compute(), _filled(name, second, average).compute())


@each_pair
@each_name
def test_an_ignite_face_refuses_another_kind_and_keeps_what_it_has_counted(name: str, first: str, second: str):
    metric = _face(name, first)
    states, value = states_of(metric._accumulator), metric.compute()
    with pytest.raises(ValueError, match=_refusal(first, second)):
        metric.update(KINDS[second])
    assert_same_states(metric._accumulator, states)
    assert metric.compute() == value
    metric.reset()
    metric.update(KINDS[second])
    assert metric.compute() == _face(name, second).compute()


@each_kind
@each_name
def test_a_batch_without_sentences_is_of_any_kind(name: str, kind: str):
    for metric in (_make(name), _face(name)):
        for batch in (NOTHING, KINDS[kind], NOTHING):
            _count(metric, batch)
        assert _unit(metric) == kind


def _as_a_metric(metric: Any) -> Any:
    return metric


def _as_states(metric: Any) -> Any:
    return metric.metric_state


@pytest.mark.parametrize("incoming", [_as_a_metric, _as_states])
@each_pair
@each_average
@each_name
def test_merge_refuses_another_kind(name: str, average: str, first: str, second: str, incoming: Callable[[Any], Any]):
    metric, other = _filled(name, first, average), _filled(name, second, average)
    states, of_other = states_of(metric), states_of(other)
    with pytest.raises(ValueError, match=_refusal(first, second)):
        metric.merge_state(incoming(other))
    assert_same_states(metric, states)
    assert_same_states(other, of_other)
    assert metric.update_count == 1


@each_pair
@each_name
def test_a_merged_kind_is_known(name: str, first: str, second: str):
    metric = _make(name)
    metric.merge_state(_filled(name, first))
    assert _unit(metric) == first
    with pytest.raises(ValueError, match=_refusal(first, second)):
        metric.update(*KINDS[second])


@each_pair
@each_name
def test_a_loaded_kind_is_known(name: str, first: str, second: str):
    saved, loaded = _filled(name, first), _make(name)
    saved.persistent(True)
    loaded.load_state_dict(saved.state_dict())
    face = _face(name)
    face.load_state_dict(_face(name, first).state_dict())
    for metric in (loaded, face):
        assert _unit(metric) == first
        with pytest.raises(ValueError, match=_refusal(first, second)):
            _count(metric, KINDS[second])
        _count(metric, KINDS[first])


@each_kind
@each_name
def test_the_signature_says_what_the_sentences_were_given_as(name: str, kind: str):
    for metric in (_make(name), _face(name)):
        assert _unit(metric) == "?"
        _count(metric, NOTHING)
        assert _unit(metric) == "?"
        _count(metric, KINDS[kind])
        assert _unit(metric) == kind
        assert f"|avg:{metric.average}|unit:{kind}|" in metric.signature
        metric.reset()
        assert _unit(metric) == "?"


@each_pair
@pytest.mark.parametrize("name", ["Rouge", "RougeN", "RougeL"])
def test_the_drop_ins_of_rouge_refuse_another_kind_too(name: str, first: str, second: str):
    metric = getattr(for_ignite, name)()
    metric.update(KINDS[first])
    value = metric.compute()
    with pytest.raises(ValueError, match=_refusal(first, second)):
        metric.update(KINDS[second])
    assert metric.compute() == value
