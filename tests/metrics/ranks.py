"""What each process of tests/test_distributed.py does; a module of its own, so that a new process can import it.

Every process writes down what it got, and the tests look at it.
"""

import warnings
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import ignite.distributed as idist
import torch
import torchmetrics
from ignite.engine import Engine
from ignite.exceptions import NotComputableError
from metrics.cases import CASES, TEXT, Batch, Case

from ngram_metrics import Bleu
from ngram_metrics.ignite import Bleu as IgniteBleu

WORLD_SIZE = 2
#: Which batches each rank sees.
SHARDS: dict[str, tuple[slice, slice]] = {
    "uneven": (slice(0, 2), slice(2, 3)),
    "the second rank empty": (slice(0, 3), slice(0, 0)),
    "the first rank empty": (slice(0, 0), slice(0, 3)),
    "both ranks empty": (slice(0, 0), slice(0, 0)),
}
IGNITE_SETTINGS: dict[str, dict[str, Any]] = {
    "macro": {"smooth": "smooth1"},
    "micro": {"average": "micro", "ngram": 2},
}
#: Two metrics that differ so that their ranks must not be added up.
UNLIKE_RANKS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "lowercase": ({"lowercase": True}, {"lowercase": False}),
    "order": ({"ngram": 2}, {"ngram": 4}),
    "smoothing": ({"smooth": "exp"}, {"smooth": "floor"}),
    "order of none": ({"ngram": 2, "average": "none"}, {"ngram": 4, "average": "none"}),
    "micro and macro": ({"average": "micro"}, {"average": "macro"}),
    "none and macro": ({"average": "none"}, {"average": "macro"}),
}


def run(rank: int, folder: Path) -> None:
    torch.set_num_threads(1)
    idist.initialize(
        "gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=WORLD_SIZE, timeout=timedelta(seconds=60)
    )
    results: dict[str, Any] = {"world_size": idist.get_world_size()}
    for name, shards in SHARDS.items():
        for case in CASES:
            for average in case.averages:
                results[f"{name}/{case.name}-{average}"] = _torchmetrics(case, average, case.batches[shards[rank]])
        for average, settings in IGNITE_SETTINGS.items():
            results[f"{name}/ignite-{average}"] = _ignite(settings, TEXT[shards[rank]])
    for average, settings in IGNITE_SETTINGS.items():
        results[f"attached/{average}"] = _attached(settings, TEXT[SHARDS["uneven"][rank]])
    for case in CASES:
        for average in case.averages:
            metric = case.make(average, dist_sync_on_step=True)
            results[f"on step/{case.name}-{average}"] = [metric(*case.batches[rank]), metric.compute()]
    torch.save(results, folder / f"{rank}.pt")
    # Last, for a rank may have been left waiting by the other.
    results["unlike"] = {name: _error_of_unlike_ranks(rank, *pair) for name, pair in UNLIKE_RANKS.items()}
    torch.save(results, folder / f"{rank}.pt")
    idist.finalize()


def _torchmetrics(case: Case, average: str, batches: Sequence[Batch]) -> dict[str, Any]:
    metric = case.filled(average, batches)
    local = _numbers(metric)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        value = metric.compute()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cached = metric.compute()
        metric._computed = None
        again = metric.compute()
        details = metric.details() if case.has_details else {}
    after = _numbers(metric)
    metric.update(*case.batches[0])
    return {
        "value": value,
        "warnings": [str(one.message) for one in warned],
        "cached": cached,
        "again": again,
        "details": details,
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


def _ignite(settings: dict[str, Any], batches: Sequence[Batch]) -> dict[str, Any]:
    metric = IgniteBleu(**settings)
    for batch in batches:
        metric.update(batch)
    try:
        value, again = metric.compute(), metric.compute()
    except NotComputableError as error:
        value = again = str(error)
    saved = metric.state_dict()
    loaded = IgniteBleu(**settings)
    loaded.load_state_dict(saved)
    metric.update(TEXT[0])
    loaded.update(TEXT[0])
    return {
        "value": value,
        "again": again,
        "after another batch": metric.compute(),
        "loaded, after another batch": loaded.compute(),
    }


def _attached(settings: dict[str, Any], batches: Sequence[Batch]) -> float:
    engine = Engine(lambda engine, batch: batch)
    IgniteBleu(**settings).attach(engine, "bleu")
    return engine.run(batches, max_epochs=2).metrics["bleu"]


def _error_of_unlike_ranks(rank: int, first: dict[str, Any], second: dict[str, Any]) -> str:
    metric = Bleu(**(first, second)[rank])
    metric.update(*TEXT[rank])
    return _error_of(metric.compute)


def _error_of(call: Callable[[], Any]) -> str:
    try:
        return f"returned {call()}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
