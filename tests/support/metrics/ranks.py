"""What each process of _torchmetrics/test_ranks.py does; a module of its own, so that a new process can import it.

Every process writes down what it got, and the tests look at it.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import ignite.distributed as idist
import torch
import torchmetrics
from ignite.exceptions import NotComputableError
from metrics.cases import CASES, KINDS_OF_STATE, TEXT, Batch, Case
from metrics.ignite_cases import IGNITE_CASES, IgniteCase

import ngram_metrics
from ngram_metrics import Bleu, ChrF
from ngram_metrics import ignite as for_ignite
from ngram_metrics.significance import paired_approximate_randomization, paired_bootstrap

#: The number of a batch without a segment.
NOTHING = -1
#: So many processes: a middle one has neighbours on both sides.
SIZE = 3
#: The batches of each rank, by number, in the order of updates.
SHARDS: dict[str, tuple[tuple[int, ...], ...]] = {
    "uneven": ((0, 1), (2,), (2, 0)),
    "one never updated, one with nothing": ((), (2, 0), (NOTHING,)),
    "none updated": ((), (), ()),
}
#: The batch of each rank in the steps of `forward`.
STEPS: tuple[tuple[int, ...], ...] = ((0, 2), (1, NOTHING), (2, 1))
#: The cases with their averages, one of each kind of state: a sync does not know what a measure counts.
PAIRS = {f"{case.name}-{average}": (case, average) for case in CASES for average in case.tried}
PAIRS = {name: PAIRS[name] for name in KINDS_OF_STATE}
#: The same for ignite, and a class that is ignite's alone.
IGNITE = {ignite_case.name: ignite_case for ignite_case in IGNITE_CASES}
IGNITE = {name: IGNITE[name] for name in (*KINDS_OF_STATE, "Rouge-text") if name in IGNITE}


#: Two metrics that differ so that their ranks must not be added up.
UNLIKE_RANKS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "lowercase": ({"lowercase": True}, {"lowercase": False}),
    "order": ({"ngram": 2}, {"ngram": 4}),
    "smoothing": ({"smooth": "exp"}, {"smooth": "floor"}),
    "order of none": ({"ngram": 2, "average": "none"}, {"ngram": 4, "average": "none"}),
    "micro and macro": ({"average": "micro"}, {"average": "macro"}),
    "none and macro": ({"average": "none"}, {"average": "macro"}),
    "levels": ({"confidence": 0.95}, {"confidence": 0.9}),
    "level and none": ({"confidence": 0.95}, {}),
}
#: A batch of another kind than TEXT.
OF_IDS: Batch = ([[1, 2, 3]], [[[1, 2, 4], [1]]])
#: All by which processes exchange data or wait for one another.
_COLLECTIVES = (
    *("all_gather", "all_gather_into_tensor", "all_gather_object", "all_reduce", "all_to_all", "all_to_all_single"),
    *("barrier", "monitored_barrier", "broadcast", "broadcast_object_list", "gather", "gather_object", "reduce"),
    *("reduce_scatter", "reduce_scatter_tensor", "scatter", "scatter_object_list", "send", "recv", "isend", "irecv"),
)


def chosen(batches: Sequence[Batch], numbers: Sequence[int]) -> list[Batch]:
    """The batches of these numbers."""
    preds, target = batches[0]
    return [(preds[:0], target[:0]) if number == NOTHING else batches[number] for number in numbers]


def ignite_value(metric: Any) -> Any:
    """What a metric of ignite computes, or the words of its error."""
    try:
        return metric.compute()
    except NotComputableError as error:
        return str(error)


def run(rank: int, of_rank: Callable[[int, int], Any], world_size: int, folder: Path) -> None:
    """Meet the other processes, and save what is done there."""
    torch.set_num_threads(1)
    meeting = f"file://{folder}/meeting"
    idist.initialize("gloo", init_method=meeting, rank=rank, world_size=world_size, timeout=timedelta(seconds=60))
    torch.save(of_rank(rank, world_size), folder / f"{rank}.pt")
    idist.finalize()


def results(rank: int, world_size: int) -> dict[str, Any]:
    results: dict[str, Any] = {}
    for sharding, shards in SHARDS.items():
        for name, (case, average) in PAIRS.items():
            results[f"{sharding}/{name}"] = _torchmetrics(case, average, shards[rank])
        for name, ignite_case in IGNITE.items():
            results[f"{sharding}/ignite-{name}"] = _ignite(ignite_case, chosen(TEXT, shards[rank]))
    for name, (case, average) in PAIRS.items():
        metric = case.make(average, dist_sync_on_step=True)
        steps = [metric(*batch) for batch in chosen(case.batches, STEPS[rank])]
        results[f"on step/{name}"] = [*steps, metric.compute()]
    results["p-values"] = p_values(chosen(TEXT, SHARDS["uneven"][rank]))
    results["grouped"] = _grouped(SHARDS["uneven"][rank])
    results["saved"] = _saved(rank, world_size)
    # Last, for a rank may have been left waiting by the others.
    results["unlike"] = {
        **{name: _error_of_unlike_ranks(Bleu, rank, *pair) for name, pair in UNLIKE_RANKS.items()},
        "ignite": _error_of_unlike_ranks(for_ignite.Bleu, rank, *UNLIKE_RANKS["order"]),
    }
    results["unlike kinds"] = {
        f"{of}, {name}": _error_of_compute(
            getattr(package, name)(average="macro"), OF_IDS if _is_last(rank) else TEXT[rank]
        )
        for of, package in (("torchmetrics", ngram_metrics), ("ignite", for_ignite))
        for name in ("Bleu", "ROUGEScore")
    }
    return results


def _torchmetrics(case: Case, average: str, numbers: Sequence[int]) -> dict[str, Any]:
    metric = case.filled(average, chosen(case.batches, numbers))
    local = _numbers(metric)
    computed = _computed(metric)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cached = metric.compute()
        details = metric.details() if case.has_details else {}
    signature, after = metric.signature, _numbers(metric)
    metric.update(*case.batches[0])
    return {
        **computed,
        "cached": cached,
        "details": details,
        "signature": signature,
        "local": local,
        "after": after,
        "after another batch": metric.compute(),
    }


def _numbers(metric: torchmetrics.Metric) -> dict[str, Any]:
    """All states as numbers; rows in several tensors are as good as in one."""
    return {
        name: [row for rows in state for row in rows.tolist()] if isinstance(state, list) else state.tolist()
        for name, state in metric.metric_state.items()
    }


def p_values(batches: Sequence[Batch]) -> dict[str, Any]:
    """Of a metric and another that counts the hypotheses without their last words."""
    pair = {name: ngram_metrics.ChrF(confidence=0.95) for name in ("whole", "shortened")}
    for preds, target in batches:
        pair["whole"].update(preds, target)
        pair["shortened"].update([text.rsplit(" ", 1)[0] for text in preds], target)
    return {
        test.__name__: test(pair, "whole", 100)["shortened"]["chrf"]._asdict()
        for test in (paired_bootstrap, paired_approximate_randomization)
    }


def _grouped(numbers: Sequence[int]) -> dict[str, Any]:
    """The values of groups, each of which is a batch, so that a rank lacks some of them."""
    groups = [f"batch{number}" for number in range(len(TEXT))]
    metric = ngram_metrics.GroupedMetric(ChrF(), groups)
    of_ignite = for_ignite.GroupedMetric(for_ignite.ChrF(), groups)
    for number, (preds, target) in zip(numbers, chosen(TEXT, numbers), strict=True):
        metric.update(preds, target, [number] * len(preds))
        of_ignite.update((preds, target, [number] * len(preds)))
    return {"torchmetrics": metric.compute(), "ignite": of_ignite.compute()}


def _saved(rank: int, world_size: int) -> dict[str, Any]:
    """The states that each rank saves, and what this rank has and warns of after it has loaded some."""
    metric = Bleu(confidence=0.9)
    metric.persistent(True)
    empty = metric.state_dict()
    metric.update(*TEXT[rank])
    saved: list[Any] = [None] * world_size
    torch.distributed.all_gather_object(saved, metric.state_dict())
    with metric.sync_context():
        of_all = metric.state_dict()
    no_sync = Bleu(confidence=0.9, sync_on_compute=False)
    no_sync.persistent(True)
    no_sync.update(*TEXT[rank])
    torch.distributed.broadcast_object_list(alone := [no_sync.state_dict()])
    torch.distributed.broadcast_object_list(nothing := [empty])
    return {
        "states": saved[rank],
        "after those of each rank": [_loaded(Bleu(confidence=0.9), states) for states in saved],
        "after those of all": _loaded(Bleu(confidence=0.9), of_all),
        "after no counts": _loaded(Bleu(confidence=0.9), nothing[0]),
        "without sync": _loaded(Bleu(confidence=0.9, sync_on_compute=False), alone[0]),
    }


def _loaded(metric: Bleu[Any], states: dict[str, Any]) -> dict[str, Any]:
    """How many segments a metric has after it has loaded states in place of its own, and what it warns of."""
    metric.update(*TEXT[0])
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        metric.load_state_dict(states)
    return {"segments": int(metric.segments), "warnings": [str(warning.message) for warning in warned]}


def _ignite(ignite_case: IgniteCase, batches: Sequence[Batch]) -> dict[str, Any]:
    metric = ignite_case.filled(batches)
    computed, signature = _computed(metric), metric.signature
    loaded = ignite_case.make()
    loaded.load_state_dict(metric.state_dict())
    metric.update(TEXT[0])
    loaded.update(TEXT[0])
    return {
        **computed,
        "signature": signature,
        "after another batch": metric.compute(),
        "loaded, after another batch": loaded.compute(),
    }


@contextmanager
def _counted() -> Iterator[Counter[str]]:
    """How often each collective is called meanwhile."""
    calls: Counter[str] = Counter()

    def counting(name: str, collective: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **kwargs: Any) -> Any:
            calls[name] += 1
            return collective(*args, **kwargs)

        return counted

    with ExitStack() as stack:
        for name in _COLLECTIVES:
            collective = counting(name, getattr(torch.distributed, name))
            stack.enter_context(mock.patch.object(torch.distributed, name, collective))
        yield calls


def _computed(metric: Any) -> dict[str, Any]:
    """What a metric computes, what it warns of, and the collectives it calls."""
    with _counted() as calls, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        value = ignite_value(metric)
    return {"value": value, "warnings": [str(warning.message) for warning in warned], "collectives": dict(calls)}


def _is_last(rank: int) -> bool:
    return rank == idist.get_world_size() - 1


def _error_of_unlike_ranks(metric: type, rank: int, first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """The last rank is the one that differs."""
    return _error_of_compute(metric(**(second if _is_last(rank) else first)), TEXT[rank])


def _error_of_compute(metric: Any, batch: Batch) -> dict[str, Any]:
    """The words of the error, the collectives up to it, and whether the metric is as it was, also for other batches."""
    accumulator = getattr(metric, "_accumulator", metric)
    update = metric.update if accumulator is not metric else lambda pair: metric.update(*pair)
    update(batch)
    before = _numbers(accumulator)
    with _counted() as calls:
        error = _error_of(metric.compute)
    kept = _numbers(accumulator) == before
    update(batch)
    return {"error": error, "collectives": dict(calls), "kept": kept, "segments": int(accumulator.segments)}


def _error_of(call: Callable[[], Any]) -> str:
    try:
        return f"returned {call()}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
