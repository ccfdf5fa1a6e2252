"""MetricCollection merges metrics of equal states into a compute group: only where the settings are equal, too."""

import copy
import functools
import pickle
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from metrics.cases import PRINTED_TEXT, TEXT, Case, assert_same, named_pairs
from torchmetrics import MetricCollection

from ngram_metrics import Bleu

WITHOUT_INTERVAL = named_pairs(lambda case, average: "confidence" not in case.options)
each_metric_without_interval = pytest.mark.parametrize(("case", "average"), WITHOUT_INTERVAL)


def _words(text: str) -> list[str]:
    return text.split()


def _characters(text: str) -> list[str]:
    return list(text)


_cut = functools.partial(functools.partial, re.split, " ")
_at_blanks = _cut()


class _Splitter:
    """A tokenizer with settings of its own, as an instance or by its method."""

    def __init__(self, separator: str) -> None:
        self.separator = separator

    def split(self, text: str) -> list[str]:
        return text.split(self.separator)

    def __call__(self, text: str) -> list[str]:
        return self.split(text)


def _groups(collection: MetricCollection) -> list[set[str]]:
    return sorted((set(group) for group in collection.compute_groups.values()), key=sorted)


def _run(collection: MetricCollection, batches: Sequence[Any]) -> tuple[list[set[str]], dict[str, Any]]:
    for batch in batches:
        collection.update(*batch)
    return _groups(collection), collection.compute()


def _alone(tokenizer: Any, batches: Sequence[Any]) -> torch.Tensor:
    metric = Bleu(tokenizer=tokenizer)
    for batch in batches:
        metric.update(*batch)
    return metric.compute()


def _flat(name: str, value: Any) -> dict[str, Any]:
    return {f"{name}_{key}": part for key, part in value.items()} if isinstance(value, dict) else {name: value}


@each_metric_without_interval
def test_metrics_of_other_settings_never_share_a_group(case: Case, average: str):
    """The first batch counts the same under all of them; the last one does not."""
    changes: dict[str, Any] = {"plain": {}}
    for number, change in enumerate(case.others):
        changes[f"other{number}"] = change
    batches = [*case.batches, case.telling]
    collection = MetricCollection({name: case.make(average, **change) for name, change in changes.items()})
    groups, values = _run(collection, batches)
    assert groups == [{name} for name in sorted(changes)]
    expected = {}
    for name, change in changes.items():
        expected |= _flat(name, case.value(average, batches, **change))
    assert_same(values, expected)


@each_metric_without_interval
def test_the_telling_batch_tells_the_settings_apart(case: Case, average: str):
    """Else a test on groups would hold nothing."""
    batches = [*case.batches, case.telling]
    plain = case.value(average, batches)
    for change in case.others:
        with pytest.raises(AssertionError):
            assert_same(case.value(average, batches, **change), plain)


def _of_three(case: Case, average: str) -> dict[str, Any]:
    """Two that share a group, and another."""
    return {"one": case.make(average), "two": case.make(average), "other": case.make(average, **case.others[0])}


def _values_of_three(case: Case, average: str, batches: Sequence[Any]) -> dict[str, Any]:
    value = case.value(average, batches)
    other = case.value(average, batches, **case.others[0])
    return {**_flat("one", value), **_flat("two", value), **_flat("other", other)}


@each_metric_without_interval
def test_the_values_after_every_update_are_those_of_the_metrics_alone(case: Case, average: str):
    """In two epochs: the first forms the groups, and the second begins with them."""
    collection = MetricCollection(_of_three(case, average))
    for _ in range(2):
        for seen, batch in enumerate(case.batches, 1):
            collection.update(*batch)
            assert_same(collection.compute(), _values_of_three(case, average, case.batches[:seen]))
        assert _groups(collection) == [{"one", "two"}, {"other"}]
        collection.reset()
        assert not collection["one"].update_called


@each_metric_without_interval
def test_forward_gives_the_values_of_the_batch_and_counts_it(case: Case, average: str):
    collection = MetricCollection(_of_three(case, average))
    for _ in range(2):
        for batch in case.batches:
            assert_same(collection(*batch), _values_of_three(case, average, [batch]))
        assert_same(collection.compute(), _values_of_three(case, average, case.batches))
        collection.reset()


def _with_prefix(prefix: str, values: dict[str, Any]) -> dict[str, Any]:
    return {prefix + name: value for name, value in values.items()}


@pytest.mark.parametrize(
    ("prefix", "copied"),
    [
        pytest.param("val/", lambda collection: collection.clone(prefix="val/"), id="clone"),
        pytest.param("train/", lambda collection: pickle.loads(pickle.dumps(collection)), id="pickle"),
    ],
)
@each_metric_without_interval
def test_a_copied_collection_keeps_its_groups_and_counts_by_itself(
    case: Case, average: str, prefix: str, copied: Callable[[MetricCollection], MetricCollection]
):
    collection = MetricCollection(_of_three(case, average), prefix="train/")
    collection.update(*case.batches[0])
    twin = copied(collection)
    twin.update(*case.batches[1])
    assert _groups(twin) == [{"one", "two"}, {"other"}]
    assert_same(twin.compute(), _with_prefix(prefix, _values_of_three(case, average, case.batches[:2])))
    assert_same(collection.compute(), _with_prefix("train/", _values_of_three(case, average, case.batches[:1])))


ONE_LETTER = (["a"], [["a"]])
_splitter = _Splitter(" ")
#: Whether two tokenizers are one; others cut TEXT differently, or PRINTED_TEXT, though some bear one name.
TOKENIZERS: dict[str, tuple[bool, Any, Any]] = {
    "lambdas": (False, lambda text: text.split(), lambda text: list(text)),
    "functions": (False, _words, _characters),
    "instances": (False, _Splitter(" "), _Splitter("t")),
    "bound methods": (False, _Splitter(" ").split, _Splitter("t").split),
    "partials": (False, _at_blanks, functools.partial(re.split, "t")),
    "built-in methods": (False, re.compile(r"\w+").findall, re.compile(r"\w").findall),
    "a function and a name": (False, _characters, "13a"),
    "a function and none": (False, _characters, None),
    "one function": (True, _words, _words),
    "one lambda": (True, (shared := lambda text: text.split()), shared),
    "one instance": (True, _splitter, _splitter),
    "bound methods of one instance": (True, _splitter.split, _splitter.split),
    "str.split": (True, str.split, str.split),
    "one name": (True, "13a", "13a"),
}


@pytest.mark.parametrize("kind", TOKENIZERS)
def test_one_tokenizer_shares_a_group_and_others_never_do(kind: str):
    """The counts of others are equal after the first batch, a word of one letter, and then no more."""
    batches = [ONE_LETTER, *TEXT, PRINTED_TEXT]
    is_one, *pair = TOKENIZERS[kind]
    x, y = (_alone(tokenizer, batches) for tokenizer in pair)
    assert torch.equal(x, y) == is_one
    metrics = MetricCollection({name: Bleu(tokenizer=one) for name, one in zip("xy", pair, strict=True)})
    for collection in (metrics, metrics.clone()):
        groups, values = _run(collection, batches)
        assert groups == ([{"x", "y"}] if is_one else [{"x"}, {"y"}])
        assert_same(values, {"x": x, "y": y})


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))], ids=["copy", "pickle"])
def test_a_copy_has_the_number_of_its_own_callables(copied: Callable[[Bleu], Bleu]):
    """Of another process it may be that of another callable here."""
    metric = Bleu(tokenizer=_Splitter(" "))
    twin = copied(metric)
    number = Bleu(tokenizer=twin.scorer.reader.tokenizer).settings[32:]
    assert not torch.equal(number, metric.settings[32:])
    assert torch.equal(twin.settings[32:], number)
    twin.reset()
    assert torch.equal(twin.settings[32:], number)


@pytest.mark.parametrize(
    ("equal", "first", "second"),
    [
        (False, {"pad_id": np.int64(0)}, {"pad_id": np.int64(99)}),
        (False, {"pad_id": [0, 99]}, {"pad_id": [0, 98]}),
        (False, {"weights": np.float32([0.5, 0.5]).tolist()}, {"weights": [0.2, 0.8]}),
        (False, {"weights": list(np.float32([0.5, 0.5]))}, {"weights": list(np.float32([0.2, 0.8]))}),
        (False, {"tokenizer": _at_blanks}, {"tokenizer": functools.partial(_at_blanks, maxsplit=2)}),
        (True, {"pad_id": np.int64(99)}, {"pad_id": 99}),
        (True, {"pad_id": np.array([0, 99]).tolist()}, {"pad_id": (0, 99)}),
        (True, {"weights": (0.5, 0.5)}, {"weights": [0.5, 0.5]}),
        (True, {"weights": list(np.float64([0.2, 0.8]))}, {"weights": [0.2, 0.8]}),
        (True, {"tokenizer": _words}, {"tokenizer": _words}),
        (True, {"tokenizer": _cut(maxsplit=np.int64(2), flags=1)}, {"tokenizer": _cut(flags=1, maxsplit=2)}),
        (True, {"tokenizer": _Splitter(" ").split}, {"tokenizer": _Splitter(" ").split}),
    ],
)
def test_equal_settings_and_they_alone_are_equal_states(equal: bool, first: dict[str, Any], second: dict[str, Any]):
    """By what is saved and merged, not by the number of this process alone; test_settings.py has the rest."""
    assert torch.equal(Bleu(2, **first).settings[:32], Bleu(2, **second).settings[:32]) == equal
