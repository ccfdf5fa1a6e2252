"""Three real processes count as one: uneven shards, ranks without data, settings that differ.

What a test passes to ``on_ranks`` runs on every rank: its asserts are about this rank, and the test looks at what all
of them return.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
import torch
from metrics.cases import KINDS_OF_STATE, PAIRS, TEXT, Batch, assert_same, joined, states_of
from ranks import SIZE, on_ranks
from torch import Tensor, distributed
from torch.utils._python_dispatch import TorchDispatchMode

import ngram_metrics
from ngram_metrics import Bleu, ChrF, GroupedMetric, NgramOverlap
from ngram_metrics.functional import chrf_score
from ngram_metrics.significance import paired_approximate_randomization, paired_bootstrap

pytest.importorskip("ignite", reason="the classes for ignite are tested")

from ignite.exceptions import NotComputableError
from metrics.ignite_cases import IGNITE_KINDS_OF_STATE

from ngram_metrics import ignite as for_ignite

#: The number of a batch without a segment.
EMPTY = -1
UNEVEN = ((0, 1), (2,), (2, 0))
#: The batches of each rank, by number, in the order of updates.
SHARDS = {
    "uneven": UNEVEN,
    "one never updated, one with nothing": ((), (2, 0), (EMPTY,)),
    "none updated": ((), (), ()),
}
#: Functions that make a metric updated with batches, and all batches: one for each kind of state, which is all that a
#: sync sees, one with samples, and those of ignite.
METRICS = {
    name: (partial(case.filled, average), case.batches)
    for name, (case, average) in PAIRS.items()
    if name in (*KINDS_OF_STATE, "NgramOverlap-samples-none")
}
METRICS |= {f"ignite {case.name}": (case.filled, case.batches) for case in IGNITE_KINDS_OF_STATE}


def select(batches: Sequence[Batch], numbers: Sequence[int]) -> list[Batch]:
    """The batches of these numbers."""
    preds, target = batches[0]
    return [(preds[:0], target[:0]) if number == EMPTY else batches[number] for number in numbers]


def join_ranks(batches: Sequence[Batch], shards: Sequence[Sequence[int]]) -> list[Batch]:
    """The batches of all ranks, rank by rank."""
    return [batch for numbers in shards for batch in select(batches, numbers)]


def update(metric: Any, batch: Batch) -> None:
    """Update a metric of either framework."""
    metric.update(*batch) if isinstance(metric, torch.nn.Module) else metric.update(batch)


def value_of(metric: Any) -> Any:
    """What a metric computes; None for the error of ignite's before any data."""
    try:
        return metric.compute()
    except NotComputableError:
        return None


def parts_of(metric: Any) -> dict[str, Tensor]:
    """The details; empty for means over references, which have no counts."""
    return metric.details() if metric.scorer.measure.has_counts else {}


def counts_of(metric: Any) -> dict[str, Tensor]:
    """All states; rows in several tensors are as good as in one."""
    states = states_of(metric)
    rows = states.get("rows")
    if rows is not None:
        states["rows"] = torch.cat([metric.row[None][:0], *rows])
    return states


class Collectives(TorchDispatchMode):
    """Notes all by which processes exchange data or wait for one another."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function.namespace == "c10d":
            self.names.append(function.name())
        return function(*args, **(kwargs or {}))


@contextmanager
def one_gathering() -> Iterator[None]:
    """A sync has two collectives, one for lengths and one for states: see docs/guides/distributed.md."""
    with Collectives() as collectives:
        yield
    assert collectives.names == ["c10d::allgather_"] * 2


def filled_on_this_rank(shards: Sequence[Sequence[int]]) -> Iterator[tuple[str, Any, Batch]]:
    """Each metric with the batches of this rank, and another batch, which it has not counted."""
    for name, (filled, batches) in METRICS.items():
        yield name, filled(select(batches, shards[distributed.get_rank()])), batches[0]


def compute(shards: Sequence[Sequence[int]]) -> dict[str, Any]:
    """What each metric computes, its details and its signature."""
    results = {}
    for name, metric, _ in filled_on_this_rank(shards):
        with one_gathering(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = value_of(metric)
        results[name] = value, parts_of(metric), metric.signature
    return results


@pytest.mark.filterwarnings("ignore:The ``compute`` method", "ignore:no segments were counted")
@pytest.mark.parametrize(
    "sharding",
    [
        "uneven",
        pytest.param("one never updated, one with nothing", marks=pytest.mark.slow),
        pytest.param("none updated", marks=pytest.mark.slow),
    ],
)
def test_every_rank_computes_the_value_of_one_process(sharding: str):
    """And its details and its signature."""
    shards = SHARDS[sharding]
    of_ranks = on_ranks(compute, shards)
    for name, (filled, batches) in METRICS.items():
        one = filled(join_ranks(batches, shards))
        for value, parts, signature in (results[name] for results in of_ranks):
            assert_same(value, value_of(one))
            assert_same(parts, parts_of(one))
            assert signature == one.signature


def compute_with_warnings(shards: Sequence[Sequence[int]]) -> dict[str, list[str]]:
    """What `compute` of each metric of torchmetrics warns of."""
    messages = {}
    for name, metric, _ in filled_on_this_rank(shards):
        if isinstance(metric, torch.nn.Module):
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                metric.compute()
            messages[name] = [str(warning.message) for warning in warned]
    return messages


def test_only_a_rank_that_was_never_updated_warns():
    shards = SHARDS["one never updated, one with nothing"]
    for numbers, messages_of_metrics in zip(shards, on_ranks(compute_with_warnings, shards), strict=True):
        for messages in messages_of_metrics.values():
            assert len(messages) == (0 if numbers else 1)
            assert all("was called before the ``update`` method" in message for message in messages)


def compute_twice() -> None:
    for _, metric, _ in filled_on_this_rank(UNEVEN):
        counts = counts_of(metric)
        value = value_of(metric)
        assert_same(value_of(metric), value)
        torch.testing.assert_close(counts_of(metric), counts, rtol=0, atol=0)


def test_compute_leaves_each_rank_its_own_counts():
    on_ranks(compute_twice)


def go_on() -> dict[str, Any]:
    """What each metric computes after it has computed and counted another batch."""
    results = {}
    for name, metric, batch in filled_on_this_rank(UNEVEN):
        value_of(metric)
        update(metric, batch)
        results[name] = metric.compute()
    return results


def test_every_rank_goes_on_from_its_own_counts():
    of_ranks = on_ranks(go_on)
    for name, (filled, batches) in METRICS.items():
        expected = filled(join_ranks(batches, [(*numbers, 0) for numbers in UNEVEN])).compute()
        for results in of_ranks:
            assert_same(results[name], expected)


def load_in_ignite() -> None:
    for name, metric, _ in filled_on_this_rank(UNEVEN):
        if isinstance(metric, for_ignite.metric.IgniteMetric):
            make, _ = METRICS[name]
            loaded = make([])
            loaded.load_state_dict(metric.state_dict())
            assert_same(loaded.compute(), metric.compute())


def test_a_state_dict_of_ignite_has_the_counts_of_each_rank():
    on_ranks(load_in_ignite)


#: The batch of each rank in two steps of `forward`.
STEPS = ((0, 2), (1, EMPTY), (2, 1))


def forward_synchronized() -> dict[str, Any]:
    results = {}
    for name in KINDS_OF_STATE:
        filled, batches = METRICS[name]
        metric = filled([], dist_sync_on_step=True)
        steps = [metric(*batch) for batch in select(batches, STEPS[distributed.get_rank()])]
        results[name] = [*steps, metric.compute()]
    return results


def test_sync_on_step_gives_the_value_of_the_step_over_all_ranks():
    of_ranks = on_ranks(forward_synchronized)
    for name in KINDS_OF_STATE:
        case, average = PAIRS[name]
        of_steps = [select(case.batches, step) for step in zip(*STEPS, strict=True)]
        expected = [case.value(average, batches) for batches in (*of_steps, join_ranks(case.batches, STEPS))]
        for of_rank in of_ranks:
            assert_same(of_rank[name], expected)


def compute_groups() -> list[dict[str, Any]]:
    """The values of groups, each of which is a batch, so that a rank lacks some of them."""
    groups = [f"batch{number}" for number in range(len(TEXT))]
    metric = GroupedMetric(ChrF(), groups)
    of_ignite = for_ignite.GroupedMetric(for_ignite.ChrF(), groups)
    numbers = UNEVEN[distributed.get_rank()]
    for number, (preds, target) in zip(numbers, select(TEXT, numbers), strict=True):
        metric.update(preds, target, [number] * len(preds))
        of_ignite.update((preds, target, [number] * len(preds)))
    return [metric.compute(), of_ignite.compute()]


def test_every_rank_computes_the_groups_of_all_ranks():
    numbers = [number for of_rank in UNEVEN for number in of_rank]
    expected = {}
    for number, batch in enumerate(TEXT):
        expected[f"chrf_batch{number}"] = chrf_score(*joined([batch] * numbers.count(number))).item()
    expected["chrf_mean"] = sum(expected.values()) / len(TEXT)
    expected["chrf_all"] = chrf_score(*joined(join_ranks(TEXT, UNEVEN))).item()
    for of_rank in on_ranks(compute_groups):
        for values in of_rank:
            assert {name: float(value) for name, value in values.items()} == pytest.approx(expected, abs=1e-12)


def load(states: dict[str, Any], **options: Any) -> tuple[int, list[str]]:
    """How many segments a metric has after it has loaded states in place of its own, and what it warns of."""
    metric = Bleu(confidence=0.9, **options)
    metric.update(*TEXT[0])
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        metric.load_state_dict(states)
    segments = int(metric.segments)
    metric.update(*TEXT[0])
    assert metric.segments == segments + len(TEXT[0][0])
    return segments, [str(warning.message) for warning in warned]


def save(batch: Batch | None, **options: Any) -> dict[str, Any]:
    metric = Bleu(confidence=0.9, **options)
    metric.persistent(True)
    if batch is not None:
        metric.update(*batch)
    return metric.state_dict()


def load_each_others_states() -> dict[str, Any]:
    rank = distributed.get_rank()
    of_ranks: list[Any] = [None] * SIZE
    distributed.all_gather_object(of_ranks, save(TEXT[rank]))
    for owner, states in enumerate(of_ranks):
        segments, warned = load(states)
        if owner == rank:
            assert (segments, warned) == (len(TEXT[rank][0]), [])
        else:
            assert segments == 0
            assert warned[0].startswith(
                f"this Bleu starts empty: its saved states are the counts of rank {owner} of {SIZE}, "
                f"but this is rank {rank} of {SIZE}. Run the validation again"
            )
    return of_ranks[rank]


def test_the_states_of_another_rank_are_not_loaded():
    on_ranks(load_each_others_states)


def test_the_states_of_one_of_several_ranks_are_not_loaded_in_one_process():
    segments, (warned,) = load(on_ranks(load_each_others_states)[1])
    assert segments == 0
    assert f"the counts of rank 1 of {SIZE}, but this is rank 0 of 1." in warned


def load_synced_states() -> None:
    rank = distributed.get_rank()
    metric = Bleu(confidence=0.9)
    metric.persistent(True)
    metric.update(*TEXT[rank])
    with metric.sync_context():
        segments, warned = load(metric.state_dict())
    assert segments == 0
    assert f"the counts of rank 0 of 1, but this is rank {rank} of {SIZE}" in warned[0]


def test_states_that_were_saved_while_synced_are_not_loaded():
    on_ranks(load_synced_states)


def load_states_of_rank_0() -> None:
    shared = [save(None), save(TEXT[distributed.get_rank()], sync_on_compute=False)]
    distributed.broadcast_object_list(shared)
    without_segments, without_sync = shared
    assert load(without_segments) == (0, [])
    assert load(without_sync, sync_on_compute=False) == (len(TEXT[0][0]), [])


def test_empty_and_unsynced_states_are_loaded_on_every_rank():
    on_ranks(load_states_of_rank_0)


def p_values(batches: Sequence[Batch]) -> dict[str, Any]:
    """Of a metric and another that counts the hypotheses without their last words."""
    pair = {name: ChrF(confidence=0.95) for name in ("whole", "shortened")}
    for preds, target in batches:
        pair["whole"].update(preds, target)
        pair["shortened"].update([text.rsplit(" ", 1)[0] for text in preds], target)
    tests = paired_bootstrap, paired_approximate_randomization
    return {test.__name__: test(pair, "whole", 100)["shortened"]["chrf"]._asdict() for test in tests}


def p_values_of_rank() -> dict[str, Any]:
    return p_values(select(TEXT, UNEVEN[distributed.get_rank()]))


@pytest.mark.filterwarnings("ignore:a bootstrap test needs")
def test_every_rank_has_the_p_values_of_one_process():
    expected = p_values(join_ranks(TEXT, UNEVEN))
    for of_rank in on_ranks(p_values_of_rank):
        assert_same(of_rank, expected)


#: Two metrics that differ so that their ranks must not be added up.
UNLIKE: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"lowercase": True}, {"lowercase": False}),
    ({"ngram": 2}, {"ngram": 4}),
    ({"smooth": "exp"}, {"smooth": "floor"}),
    ({"ngram": 2, "average": "none"}, {"ngram": 4, "average": "none"}),
    ({"average": "micro"}, {"average": "macro"}),
    ({"average": "none"}, {"average": "macro"}),
    ({"confidence": 0.95}, {"confidence": 0.9}),
    ({"confidence": 0.95}, {}),
]


def assert_refused_together(make: Callable[[], Any], batch: Batch, words: str) -> None:
    """All ranks raise; after the error each has what it had, and goes on."""
    metric = make()
    uninterrupted = make()
    update(metric, batch)
    counts = counts_of(metric)
    with one_gathering(), pytest.raises(ValueError, match=words):
        metric.compute()
    torch.testing.assert_close(counts_of(metric), counts, rtol=0, atol=0)
    update(metric, batch)
    update(uninterrupted, batch)
    update(uninterrupted, batch)
    torch.testing.assert_close(counts_of(metric), counts_of(uninterrupted), rtol=0, atol=0)


def is_last_rank() -> bool:
    """The last rank is the one that differs."""
    return distributed.get_rank() == SIZE - 1


def differ_in_settings() -> None:
    words = "^the ranks have metrics with different settings: expected the same"
    text = TEXT[distributed.get_rank()]
    for options, other_options in UNLIKE:
        mine = other_options if is_last_rank() else options
        assert_refused_together(partial(Bleu, **mine), text, words)
    assert_refused_together(partial(for_ignite.Bleu, ngram=2 if is_last_rank() else 4), text, words)


def differ_in_samples() -> None:
    samples = torch.ones(1, 3 if is_last_rank() else 2, 4, dtype=torch.int64)
    batch = samples, torch.ones(1, 4, dtype=torch.int64)
    words = "average 'none' expects the same number in all batches"
    assert_refused_together(partial(NgramOverlap, average="none", pad_id=0), batch, words)


def differ_in_kinds() -> None:
    ids = [[1, 2, 3]], [[[1, 2, 4], [1]]]
    batch = ids if is_last_rank() else TEXT[distributed.get_rank()]
    words = "^this metric was given text and ids: expected one kind of input until reset"
    for package in (ngram_metrics, for_ignite):
        for name in ("Bleu", "ROUGEScore"):
            assert_refused_together(partial(getattr(package, name), average="macro"), batch, words)


@pytest.mark.parametrize("differ", [differ_in_settings, differ_in_samples, differ_in_kinds])
def test_all_ranks_raise_if_one_of_them_differs(differ: Callable[[], None]):
    on_ranks(differ)
