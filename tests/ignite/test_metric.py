"""What every metric for ignite does: the numbers of its torchmetrics class, in an engine and through its life."""

import copy
import functools
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from ignite.engine import Engine, Events
from ignite.exceptions import NotComputableError
from ignite.handlers import Checkpoint, DiskSaver
from metrics.cases import assert_same_states, states_of
from metrics.ignite_cases import IGNITE_CASES, IgniteCase, assert_equal, each_ignite_case, each_kind_of_state

from ngram_metrics import ignite as ours


@each_ignite_case
def test_without_a_sentence_there_is_no_value(ignite_case: IgniteCase):
    emptied, nothing = ignite_case.filled(), ignite_case.make()
    emptied.reset()
    if ignite_case.case is not None:
        nothing.update(ignite_case.case.nothing)
    for metric in (ignite_case.make(), emptied, nothing):
        if ignite_case.metric is ours.Bleu and ignite_case.average == "micro":
            assert_equal(metric.compute(), 0.0)
            continue
        words = "Rouge metric must have at least one example before being computed"
        if ignite_case.case is not None:
            words = f"{ignite_case.metric.__name__} must have at least one example before it can be computed"
        with pytest.raises(NotComputableError, match=words):
            metric.compute()


def test_without_a_sentence_micro_bleu_has_an_interval_of_zeros():
    assert ours.Bleu(average="micro", confidence=0.95).compute() == {"bleu": 0, "bleu_low": 0, "bleu_high": 0}


@each_ignite_case
def test_a_batch_that_is_refused_counts_nothing(ignite_case: IgniteCase):
    metric = ignite_case.filled(ignite_case.batches[:1])
    states = states_of(metric._accumulator)
    (y_pred, y), unequal = ignite_case.batches[0], "nb of candidates should be equal to nb of reference lists "
    for wrong, words in (
        ((y_pred, y[:1]), rf"{unequal}\({len(y_pred)} != 1\)"),
        ((y_pred[:0], y), rf"{unequal}\(0 != {len(y)}\)"),
        ((["a"], (text for text in "a")), "target is a generator: expected a sequence"),
        ((["a"], [[]]), "segment 0 has no reference"),
        ((["a", ["b"]], ["a", "b"]), "segment 1 is a list"),
        ((5, ["a"]), "preds is an int: expected a sequence"),
        (([["a", []]], [[["a"]]]), "segment 0"),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            metric.update(wrong)
        assert_same_states(metric._accumulator, states)
    for arguments in (ignite_case.batches[0], ("text",), (None,), ({"y_pred": y_pred},)):
        with pytest.raises(TypeError, match=r"update takes one argument: expected metric\.update\(\(y_pred, y\)\), "):
            metric.update(*arguments)
    for y_pred, y in ignite_case.batches[1:]:
        metric.update({"y_pred": y_pred, "y": y})
    assert_equal(metric.compute(), ignite_case.value())


def _saved_and_loaded(ignite_case: IgniteCase, metric: Any, folder: Path) -> Any:
    loaded = ignite_case.filled(ignite_case.batches[2:])  # what it has counted is forgotten
    loaded.load_state_dict(metric.state_dict())
    return loaded


def _of_a_checkpoint(ignite_case: IgniteCase, metric: Any, folder: Path) -> Any:
    """As in an epoch that is interrupted, after the first two batches."""
    engine, attached, restored = Engine(lambda engine, batch: batch), ignite_case.make(), ignite_case.make()
    attached.attach(engine, "score")
    handler = Checkpoint({"engine": engine, "score": attached}, DiskSaver(str(folder)), n_saved=1)
    engine.add_event_handler(Events.ITERATION_COMPLETED(once=2), handler)
    engine.run(ignite_case.batches)
    checkpoint = torch.load(folder / handler.last_checkpoint, weights_only=True)
    Checkpoint.load_objects({"score": restored}, checkpoint={"score": checkpoint["score"]})
    return restored


@pytest.mark.parametrize(
    "copied",
    [
        _saved_and_loaded,
        _of_a_checkpoint,
        lambda ignite_case, metric, folder: copy.deepcopy(metric),
        lambda ignite_case, metric, folder: pickle.loads(pickle.dumps(metric)),
    ],
    ids=["state_dict", "checkpoint", "copy", "pickle"],
)
@each_kind_of_state
def test_what_is_saved_or_copied_goes_on_by_itself(ignite_case: IgniteCase, copied: Callable[..., Any], tmp_path: Path):
    metric = ignite_case.filled(ignite_case.batches[:2])
    saved = metric.state_dict()
    twin = copied(ignite_case, metric, tmp_path)
    metric.reset()
    assert_equal(twin.compute(), ignite_case.value(ignite_case.batches[:2]))
    assert twin.signature == ignite_case.filled(ignite_case.batches[:2]).signature
    twin.update(ignite_case.batches[2])
    assert_equal(twin.compute(), ignite_case.value())
    assert int(metric._accumulator.segments) == 0
    ((of_rank,),) = saved.values()
    assert set(of_rank) == set(metric._accumulator.metric_state) - {"callables"}
    metric.load_state_dict(saved)  # the snapshot is as it was
    assert_equal(metric.compute(), ignite_case.value(ignite_case.batches[:2]))


@functools.cache
def _saved() -> dict[str, Any]:
    """The state of each case, by its name."""
    return {ignite_case.name: ignite_case.filled().state_dict() for ignite_case in IGNITE_CASES}


@each_ignite_case
def test_a_state_of_other_settings_or_shapes_is_refused_and_sets_nothing(ignite_case: IgniteCase):
    metric = ignite_case.filled(ignite_case.batches[:1])
    states = states_of(metric._accumulator)
    others = [ignite_case.filled(**change).state_dict() for change in ignite_case.others]
    others += [
        _saved()[other.name]
        for other in IGNITE_CASES
        if other.batches is ignite_case.batches and other is not ignite_case
    ]
    for other in others:
        with pytest.raises(ValueError, match="expected the same class, options and average"):
            metric.load_state_dict(other)
        assert_same_states(metric._accumulator, states)
    saved = ignite_case.filled().state_dict()
    ((of_rank,),) = saved.values()
    of_rank["row"] = torch.zeros(99, dtype=of_rank["row"].dtype)
    with pytest.raises(ValueError, match=r"the saved state row is torch\.\w+ of shape \(99,\): expected"):
        metric.load_state_dict(saved)
    assert_same_states(metric._accumulator, states)


def test_one_text_as_the_only_reference():
    metric = ours.ChrF()
    metric.update((["abc"], "abc"))
    assert metric.compute() == 1
    metric.update(("abc", ["abc", "abd"]))
    assert int(metric._accumulator.segments) == 2
