"""What every metric does from construction to reset: values, updates, intervals, and errors that change nothing."""

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import torch
import torchmetrics
from metrics.apis import FUNCTIONS
from metrics.cases import (
    Batch,
    Case,
    assert_same,
    assert_same_states,
    each_metric,
    each_metric_of_one_value,
    joined,
    named_cases,
    named_pairs,
    scores_of,
    states_of,
)
from systems import output, references
from torch import Tensor
from torchmetrics import MetricCollection
from torchmetrics.utilities.exceptions import TorchMetricsUserError

import ngram_metrics
from ngram_metrics import ChrF, ROUGEScore

pytest.importorskip("ignite", reason="the classes for ignite are tested")

from ngram_metrics import ignite as for_ignite


def _chosen(batch: Batch, order: list[int]) -> Batch:
    """The segments of these numbers, in this order."""
    return tuple(part[order] if isinstance(part, Tensor) else [part[i] for i in order] for part in batch)


def _without_intervals(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    named = {name: score for name, score in value.items() if not name.endswith(("_low", "_high"))}
    return named if len(named) > 1 else next(iter(named.values()))


each_metric_with_details = pytest.mark.parametrize(
    ("case", "average"), named_pairs(lambda case, average: case.has_details)
)
each_case_with_none = pytest.mark.parametrize("case", named_cases(lambda case: "none" in case.averages))


@each_case_with_none
def test_segments_all_score_differently(case: Case):
    """Else a test on their order would hold nothing."""
    rows = torch.stack(scores_of(case.value("none")), 1).tolist()
    alike = {number: row for number, row in enumerate(rows) if rows.count(row) > 1}
    assert not alike, f"segments of {case.name} score alike: choose other settings in tests/support/metrics/cases.py"


@each_metric
def test_scores_are_float64_in_their_range(case: Case, average: str):
    for scores in scores_of(case.filled(average).compute()):
        assert scores.dtype == torch.float64
        assert ((scores > 0) & (scores <= 1)).all()
        assert scores.shape == case.shape(average)


@each_metric
def test_batches_of_any_size_count_as_one_batch(case: Case, average: str):
    expected = case.value(average)
    segments = [_chosen(case.whole, [number]) for number in range(len(case.whole[0]))]
    for batches in (case.batches, segments, [joined(segments[:-1]), case.nothing, segments[-1]]):
        assert_same(case.filled(average, batches).compute(), expected)


@each_case_with_none
def test_none_of_one_segment_is_still_a_vector(case: Case):
    """torchmetrics squeezes what holds one number."""
    metric = case.make("none")
    for scores in scores_of(metric(*case.batches[1])) + scores_of(metric.compute()):
        assert scores.shape == case.shape("none", 1)


@each_metric
def test_the_function_scores_as_the_class(case: Case, average: str):
    assert_same(case.function(average, case.whole), _without_intervals(case.value(average)))


@each_metric
def test_the_function_of_no_segment_warns(case: Case, average: str):
    with pytest.warns(UserWarning, match="^no segments were counted, so the score is"):
        score = case.function(average, case.nothing)
    assert_score_before_data(case, score, case.shape(average, 0))


def assert_score_before_data(case: Case, score: Any, shape: tuple[int, ...]) -> None:
    for scores in scores_of(score):
        assert_same(scores, torch.full(shape, case.before_data, dtype=torch.float64))


@contextmanager
def usual_surroundings() -> Iterator[None]:
    """Those that torch begins with, inside of the fixture `surroundings`."""
    default = torch.get_default_dtype()
    with torch.inference_mode(False), torch.autocast("cpu", enabled=False), torch.device("cpu"):
        torch.set_default_dtype(torch.float32)
        yield
        torch.set_default_dtype(default)


@pytest.mark.usefixtures("surroundings")
@each_metric
def test_the_surroundings_of_a_training_loop_change_no_value(case: Case, average: str):
    metric = case.make(average, device="cpu")
    of_batches = [metric(*batch) for batch in case.batches]
    of_all = metric.compute()
    with usual_surroundings():
        assert_same(of_batches, [case.value(average, [batch]) for batch in case.batches])
        assert_same(of_all, case.value(average))


@pytest.mark.usefixtures("surroundings")
@each_metric
def test_the_surroundings_of_a_training_loop_change_nothing_after_a_reset(case: Case, average: str):
    metric = case.make(average, device="cpu")
    metric.update(*case.batches[0])
    metric.reset()
    value = metric(*case.whole)
    with usual_surroundings():
        assert_same(value, case.value(average))


@pytest.mark.usefixtures("surroundings")
@each_metric
def test_the_surroundings_of_a_training_loop_change_no_score_of_a_function(case: Case, average: str):
    score = case.function(average, case.whole)
    with usual_surroundings():
        assert_same(score, _without_intervals(case.value(average)))


@pytest.mark.usefixtures("surroundings")
@each_metric_with_details
def test_the_surroundings_of_a_training_loop_change_no_details(case: Case, average: str):
    metric = case.make(average, device="cpu")
    metric.update(*case.whole)
    details = metric.details()
    with usual_surroundings():
        assert_same(details, case.filled(average).details())


def _two_ranks_of_the_same(state: torch.Tensor, group: Any = None) -> list[torch.Tensor]:
    return [state, state]


#: Makes a metric one of two ranks, which both hold the same.
TWO_RANKS: dict[str, Any] = {"dist_sync_fn": _two_ranks_of_the_same, "distributed_available_fn": lambda: True}


def _attributes(metric: torchmetrics.Metric) -> dict[str, Any]:
    """The plain attributes: tensors and callables differ between metrics."""
    return {name: value for name, value in vars(metric).items() if type(value) in (type(None), bool, int, tuple)}


@pytest.mark.parametrize("options", [{}, {"compute_with_cache": False}], ids=str)
@each_metric
def test_compute_is_never_stale_and_changes_nothing(case: Case, average: str, options: dict[str, Any]):
    metric = case.make(average, **options)
    for seen, batch in enumerate(case.batches):
        metric.update(*batch)
        states = states_of(metric)
        for _ in range(2):
            assert_same(metric.compute(), case.value(average, case.batches[: seen + 1]))
            assert (metric._computed is None) == (not metric.compute_with_cache)
        assert_same_states(metric, states)


@each_metric
def test_a_value_that_is_changed_in_place_changes_no_other_value(case: Case, average: str):
    metric = case.make(average)
    of_batch = metric(*case.whole)
    for value in (of_batch, metric.compute(), metric.compute()):
        for scores in scores_of(value):
            scores.mul_(100)
        if isinstance(value, dict):
            value.clear()
    assert_same(metric.compute(), case.value(average))
    assert_same(metric._forward_cache, case.value(average))  # what Lightning logs


@each_metric
def test_a_metric_that_was_never_updated_warns(case: Case, average: str):
    metric = case.make(average)
    with pytest.warns(UserWarning, match="was called before the ``update`` method") as warned:
        value = metric.compute()
    assert len(warned) == 1
    assert_score_before_data(case, value, (0,) if average == "none" else ())


@each_metric
def test_a_metric_that_was_updated_without_segments_warns(case: Case, average: str):
    metric = case.make(average)
    metric.update(*case.nothing)
    with pytest.warns(UserWarning, match="^no segments were counted, so the score is") as warned:
        value = metric.compute()
    assert [warning.filename for warning in warned] == [__file__]
    assert_score_before_data(case, value, case.shape(average, 0))


@each_metric
def test_a_metric_whose_segments_were_reset_warns_again(case: Case, average: str):
    metric = case.filled(average)
    metric.reset()
    metric.update(*case.nothing)
    with pytest.warns(UserWarning, match="^no segments were counted"):
        metric.compute()


@each_metric
def test_a_batch_without_segments_counts_nothing(case: Case, average: str):
    for change in ({}, *case.others):
        metric = case.make(average, **change)
        metric.update(*case.nothing)
        metric.update(*case.whole)
        assert_same(metric.compute(), case.value(average, **change))


@pytest.mark.parametrize("synced", [False, True])
@each_metric
def test_after_a_reset_a_metric_is_as_new(case: Case, average: str, synced: bool):
    metric = case.filled(average)
    fresh = case.make(average)
    metric.compute()
    if synced:
        metric.sync(dist_sync_fn=_two_ranks_of_the_same, distributed_available=lambda: True)
    metric.reset()
    assert_same_states(metric, states_of(fresh))
    assert _attributes(metric) == _attributes(fresh)
    assert not any(state is metric._defaults[name] for name, state in metric.metric_state.items())


@each_metric
def test_after_a_reset_a_metric_counts_only_what_follows(case: Case, average: str):
    metric = case.filled(average)
    metric.compute()
    metric.reset()
    metric.update(*case.batches[1])
    assert_same(metric.compute(), case.value(average, case.batches[1:2]))


@each_metric
def test_a_reset_leaves_the_value_that_was_computed(case: Case, average: str):
    metric = case.filled(average)
    value = metric.compute()
    metric.reset()
    assert_same(value, case.value(average))


class Interrupting:
    """Interrupts at the call of one function of the package; without a number, counts the calls."""

    def __init__(self, number: int | None = None):
        self.number = number
        self.seen = 0

    def __enter__(self) -> "Interrupting":
        sys.setprofile(self._notice)
        return self

    def __exit__(self, *error: object) -> None:
        sys.setprofile(None)

    def _notice(self, frame: FrameType, event: str, argument: object) -> None:
        # A generator is called again whenever it goes on.
        is_function = event == "call" and not frame.f_code.co_flags & inspect.CO_GENERATOR
        if is_function and frame.f_code.co_filename.startswith(PACKAGE):
            self.seen += 1
            if self.seen == self.number:
                raise KeyboardInterrupt(f"at {frame.f_code.co_qualname}" if sys.version_info >= (3, 11) else "")


PACKAGE = str(Path(ngram_metrics.__file__).parent)


def chosen_calls(call: Callable[[], Any]) -> list[int]:
    """About eight of the calls that a call makes, evenly spaced, and each of the last six."""
    with Interrupting() as counting:
        call()
    last = counting.seen
    assert last > 3
    return sorted({*range(1, last + 1, max(1, last // 8)), *range(max(1, last - 5), last + 1)})


#: Options that take different branches of torchmetrics' forward.
STEPS: tuple[dict[str, Any], ...] = ({}, {"dist_sync_on_step": True}, {"compute_on_cpu": True})
OF_TWO_RANKS = {"dist_sync_on_step": True, **TWO_RANKS}
each_way_to_count = pytest.mark.parametrize(
    ("method", "options"),
    [
        pytest.param("update", {}, id="update"),
        pytest.param("forward", {}, id="forward"),
        pytest.param("forward", {"dist_sync_on_step": True}, id="forward, synced"),
        pytest.param("forward", {"compute_on_cpu": True}, id="forward, on the CPU"),
        pytest.param("forward", OF_TWO_RANKS, id="forward, of two ranks"),
    ],
)
#: Of a metric that is new, and of one that has counted two batches.
each_history = pytest.mark.parametrize(
    "batches_before",
    [pytest.param(0, id="new", marks=pytest.mark.slow), pytest.param(2, id="with two batches")],
)


def metric_with_history(
    case: Case, average: str, method: str, options: dict[str, Any], batches_before: int
) -> torchmetrics.Metric:
    metric = case.make(average, **options)
    for batch in case.batches[:batches_before]:
        getattr(metric, method)(*batch)
        metric.compute()
    return metric


def interrupt(call: Callable[[], Any], number: int) -> None:
    """Interrupt a call at the function of the package that it calls as this one."""
    with pytest.raises(KeyboardInterrupt), Interrupting(number):
        call()


@each_history
@each_way_to_count
@each_metric
def test_a_refused_batch_changes_nothing(
    case: Case, average: str, method: str, options: dict[str, Any], batches_before: int
):
    metric = metric_with_history(case, average, method, options, batches_before)
    states = states_of(metric)
    attributes = {**vars(metric)}
    preds, target = case.batches[2]
    with pytest.raises(ValueError, match="expected"):
        getattr(metric, method)(preds, target[:-1])
    assert_same_states(metric, states)
    assert all(value is attributes[name] for name, value in vars(metric).items())


@each_history
@each_way_to_count
@each_metric
def test_an_interrupted_batch_changes_nothing(
    case: Case, average: str, method: str, options: dict[str, Any], batches_before: int
):
    metric = metric_with_history(case, average, method, options, batches_before)
    states = states_of(metric)
    attributes = {**vars(metric)}
    another = metric_with_history(case, average, method, options, batches_before)
    for number in chosen_calls(lambda: getattr(another, method)(*case.batches[2])):
        interrupt(lambda: getattr(metric, method)(*case.batches[2]), number)
        assert_same_states(metric, states)
        assert all(value is attributes[name] for name, value in vars(metric).items())


@each_history
@each_way_to_count
@each_metric
def test_after_an_interruption_a_metric_goes_on(
    case: Case, average: str, method: str, options: dict[str, Any], batches_before: int
):
    metric = metric_with_history(case, average, method, options, batches_before)
    uninterrupted = metric_with_history(case, average, method, options, batches_before)
    interrupt(lambda: getattr(metric, method)(*case.batches[2]), 3)
    getattr(metric, method)(*case.batches[2])
    getattr(uninterrupted, method)(*case.batches[2])
    assert_same_states(metric, states_of(uninterrupted))
    assert_same(metric.compute(), uninterrupted.compute())


@pytest.mark.parametrize("options", STEPS, ids=str)
@each_metric
def test_forward_gives_the_batch_and_accumulates(case: Case, average: str, options: dict[str, bool]):
    metric = case.make(average, **options)
    for seen, batch in enumerate(case.batches, 1):
        assert_same(metric(*batch), case.value(average, [batch]))
        assert metric.update_count == seen
    preds, target = case.batches[0]
    metric.update(target=target, preds=preds)
    assert_same(metric.compute(), case.value(average, [*case.batches, case.batches[0]]))


def test_a_rank_that_cannot_pack_its_counts_raises_its_own_error_and_the_others_say_so():
    """It still takes part, or the others would wait for ever."""
    sent = []

    def gather_alone(message: Tensor, group: Any = None) -> list[Tensor]:
        sent.append(message)
        return [message]

    failing = ChrF()
    other = ChrF()
    for metric in (failing, other):
        metric.update(["a b"], ["a c"])
    failing.row = torch.empty_like(failing.row, device="meta")  # has no data
    states = states_of(other)
    with pytest.raises(NotImplementedError, match="meta tensor"):
        failing.sync(dist_sync_fn=gather_alone, distributed_available=lambda: True)
    with pytest.raises(RuntimeError, match=r"^rank 1 cannot pack its counts: NotImplementedError: "):
        other.sync(dist_sync_fn=lambda message, group=None: [message, *sent], distributed_available=lambda: True)
    assert_same_states(other, states)
    assert not other._is_synced


def _synced(case: Case, average: str) -> torchmetrics.Metric:
    metric = case.filled(average)
    metric.sync(dist_sync_fn=_two_ranks_of_the_same, distributed_available=lambda: True)
    return metric


@each_metric
def test_a_metric_that_is_synced_neither_counts_nor_syncs_again(case: Case, average: str):
    metric = _synced(case, average)
    with pytest.raises(TorchMetricsUserError, match="shouldn't be synced"):
        metric(*case.batches[0])
    with pytest.raises(TorchMetricsUserError, match="already been synced"):
        metric.compute()
    assert metric._is_synced


@each_metric
def test_unsync_restores_the_states_of_this_rank(case: Case, average: str):
    metric = _synced(case, average)
    metric.unsync()
    assert_same(metric.compute(), case.value(average))
    expected = states_of(case.filled(average))
    for name, state in states_of(metric).items():
        as_one = torch.cat if isinstance(state, list) else torch.as_tensor
        assert_same(as_one(state), as_one(expected[name]))


def _one_of_two_ranks(case: Case, average: str) -> torchmetrics.Metric:
    return case.filled(average, compute_with_cache=False, **TWO_RANKS)


@each_metric
def test_an_interrupted_compute_leaves_the_states_of_this_rank(case: Case, average: str):
    _one_of_two_ranks(case, average).compute()  # the draws of an interval are made once
    metric = _one_of_two_ranks(case, average)
    states = states_of(metric)
    for number in chosen_calls(_one_of_two_ranks(case, average).compute):
        interrupt(metric.compute, number)
        assert_same_states(metric, states)
        assert not metric._is_synced
    assert_same(metric.compute(), case.value(average, 2 * case.batches))


@pytest.mark.parametrize("incoming", ["metric", "states"])
@each_metric
def test_an_interrupted_merge_leaves_the_states_of_this_rank(case: Case, average: str, incoming: str):
    other = case.filled(average)
    merged = other if incoming == "metric" else other.metric_state
    metric = _one_of_two_ranks(case, average)
    states = states_of(metric)
    another = _one_of_two_ranks(case, average)
    for number in chosen_calls(lambda: another.merge_state(merged)):
        interrupt(lambda: metric.merge_state(merged), number)
        assert_same_states(metric, states)
        assert not metric._is_synced
    metric.merge_state(merged)
    assert_same(metric.compute(), case.value(average, 4 * case.batches))


@each_metric_with_details
def test_details_are_of_all_segments_whatever_the_average(case: Case, average: str):
    details = case.filled(average).details()
    assert details
    assert_same(details, case.filled("macro", [case.whole]).details())


@each_metric_with_details
def test_details_that_are_changed_in_place_change_no_metric(case: Case, average: str):
    metric = case.filled(average)
    for part in metric.details().values():
        part.zero_()
    assert_same_states(metric, states_of(case.filled(average)))
    assert_same(metric.compute(), case.value(average))


@each_metric_with_details
def test_details_before_any_data_are_numbers(case: Case, average: str):
    for part in case.make(average).details().values():
        assert not part.isnan().any()


def test_means_over_references_have_no_details():
    metric = ROUGEScore(rouge_keys="rouge1", accumulate="avg")
    metric.update("a b", ["a c"])
    with pytest.raises(ValueError, match="accumulate='avg' averages the scores"):
        metric.details()


REFERENCES = references(150)
OUTPUT = output(REFERENCES, 0.3, seed=10)


def _filled(metric: Any) -> Any:
    metric.update(OUTPUT, REFERENCES)
    return metric


@each_metric_of_one_value
def test_each_value_stands_beside_the_ends_of_its_interval(case: Case, average: str):
    plain = case.value(average)
    value = case.filled(average, confidence=0.95).compute()
    named = plain if isinstance(plain, dict) else dict.fromkeys(case.make(average).scorer.values, plain)
    assert list(value) == [name + end for name in named for end in ("", "_low", "_high")]
    for name, score in named.items():
        assert_same(value[name], score)
        low, high = value[f"{name}_low"], value[f"{name}_high"]
        assert low.dtype == high.dtype == torch.float64
        assert low.shape == high.shape == ()
        assert 0 <= low <= high <= 1
    assert any(value[f"{name}_low"] < value[f"{name}_high"] for name in named)


@each_metric_of_one_value
def test_levels_share_a_group_and_keep_their_intervals(case: Case, average: str):
    metrics = {"wide": case.make(average, confidence=0.99), "narrow": case.make(average, confidence=0.5)}
    collection = MetricCollection({**metrics, "plain": case.make(average)})
    for batch in case.batches:
        collection.update(*batch)
    assert sorted(map(sorted, collection.compute_groups.values())) == [["narrow", "wide"], ["plain"]]
    values = collection.compute()
    for name, level in (("wide", 0.99), ("narrow", 0.5)):
        for key, score in case.filled(average, confidence=level).compute().items():
            found = values[f"{name}_{key}"] if f"{name}_{key}" in values else values[key]
            assert_same(found, score)


def test_the_generator_of_the_caller_is_not_touched():
    state = torch.get_rng_state()
    _filled(ChrF(confidence=0.95)).compute()
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("metric", FUNCTIONS)
def test_a_confidence_outside_0_to_1_is_refused(metric: type):
    for module in (metric, getattr(for_ignite, metric.__name__)):
        with pytest.raises(ValueError, match=r"confidence must be between 0 and 1, such as 0\.95 \(got: 95\)"):
            module(confidence=95)
    with pytest.raises(ValueError, match="average='none' gives a score for each segment"):
        metric(average="none", confidence=0.95)


@pytest.mark.parametrize("metric", FUNCTIONS)
def test_rows_are_kept_only_where_asked_for(metric: type):
    for made in (metric(), getattr(for_ignite, metric.__name__)()):
        with pytest.raises(
            ValueError, match=r"keeps only sums, not the counts of each segment: construct it with confidence=0\.95"
        ):
            made.segment_rows()
    assert _filled(metric(confidence=0.95)).segment_rows().shape[0] == len(OUTPUT)
    assert _filled(metric(average="none")).segment_rows().shape[0] == len(OUTPUT)
