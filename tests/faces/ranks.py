"""What each process of tests/test_distributed.py does; a module of its own, so that a new process can import it.

Every process writes down what it got, and the tests look at it.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import ignite.distributed as idist
import torch
import torchmetrics
import torchmetrics.text
from faces.cases import CASES, TEXT, Batch, Case, joined
from ignite.engine import Engine
from ignite.exceptions import NotComputableError
from torchmetrics import MetricCollection

import ngram_metrics
from ngram_metrics import Bleu
from ngram_metrics import ignite as faces
from ngram_metrics.significance import paired_approximate_randomization, paired_bootstrap

#: The processes are started once: all of them meet, then fewer.
WORLD_SIZES = (4, 2)
#: The number of a batch without a sentence.
NOTHING = -1
#: For each number of ranks: the batches of each rank, by number, in the order of updates.
SHARDS: dict[int, dict[str, tuple[tuple[int, ...], ...]]] = {
    2: {
        "uneven": ((0, 1), (2,)),
        "the second never updated": ((0, 1, 2), ()),
        "the first updated with nothing": ((NOTHING,), (2, 0)),
        "none updated": ((), ()),
    },
    4: {"uneven, one never updated, one updated with nothing": ((), (2, 0), (NOTHING,), (0, 1, 2))},
}
#: The batch of each rank in the steps of `forward`.
STEPS: dict[int, tuple[tuple[int, ...], ...]] = {2: ((0, 2), (1, NOTHING)), 4: ((2,), (NOTHING,), (1,), (0,))}
#: How many sentences each rank counts, 200 in all, to see that they cost no more collectives than a few.
SENTENCES = {2: (150, 50), 4: (150, 0, 25, 25)}
#: Metrics of ignite: class and settings.
IGNITE: dict[str, tuple[str, dict[str, Any]]] = {
    "Bleu-macro": ("Bleu", {"smooth": "smooth1"}),
    "Bleu-micro": ("Bleu", {"average": "micro", "ngram": 2}),
    "Rouge": ("Rouge", {"variants": [1, 2, "L"], "alpha": 0.5}),
    "RougeN": ("RougeN", {"ngram": 2, "multiref": "best"}),
    "RougeL": ("RougeL", {"alpha": 0.5}),
    **{
        f"{name}-{average}": (name, {"average": average, **options})
        for name, options in (
            ("ROUGEScore", {"rouge_keys": ("rouge2", "rougeL")}),
            ("ChrF", {"char_order": 3}),
            ("NgramOverlap", {"ngram": 2}),
        )
        for average in ("micro", "macro", "none")
    },
}
#: Metrics run with intervals: counts, and scores.
CONFIDENT = {
    "Bleu-micro": ("Bleu", {"average": "micro", "ngram": 2}),
    "ChrF": ("ChrF", {"char_order": 3}),
    "ROUGEScore": ("ROUGEScore", {"accumulate": "avg", "rouge_keys": ("rouge1", "rougeL")}),
}
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
#: Those that a face of ignite has: it has no average none.
UNLIKE_RANKS_OF_IGNITE = {
    name: pair for name, pair in UNLIKE_RANKS.items() if all(one.get("average") != "none" for one in pair)
}
#: A batch of another kind than TEXT.
OF_IDS: Batch = ([[1, 2, 3]], [[[1, 2, 4], [1]]])
#: What one sync does has nothing to do with how the sentences were read: with four ranks, slow to meet, text is enough.
CASES_OF = {2: CASES, 4: tuple(case for case in CASES if case.batches is TEXT)}
#: Under Lightning's Trainer: as many training steps on each rank, for they wait for one another, and uneven validation.
#: A rank without any batch would run no hook of the epoch, and the others wait for it: it gets one without sentences.
TRAINER_TRAINING = ((0, 1), (2, 0))
TRAINER_VALIDATION = {"fit": ((0, 1), (2,)), "validate": ((NOTHING,), (0, 1, 2))}
#: The metric that Lightning computes and logs.
TRAINER_ALONE = "ChrF-text-macro"
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


def collection() -> MetricCollection:
    """Every metric in every average, for text."""
    return MetricCollection(
        {
            f"{case.name}-{average}": case.make(average)
            for case in CASES
            if case.batches is TEXT
            for average in case.averages
        }
    )


def ignite_metric(name: str) -> Any:
    kind, settings = IGNITE[name]
    return getattr(faces, kind)(**settings)


def ignite_value(metric: Any) -> Any:
    """What a metric of ignite computes, or the words of its error."""
    try:
        return metric.compute()
    except NotComputableError as error:
        return str(error)


def run(rank: int, folder: Path) -> None:
    torch.set_num_threads(1)
    for world_size in WORLD_SIZES:
        if rank < world_size:
            meeting = f"file://{folder}/meeting-{world_size}"
            idist.initialize(
                "gloo", init_method=meeting, rank=rank, world_size=world_size, timeout=timedelta(seconds=120)
            )
            results = _results(rank, world_size)
            if world_size == 2:
                from faces import trainer_ranks  # Lightning is imported where it is needed: that takes its time

                results["trainer"] = trainer_ranks.run(rank)
            torch.save(results, folder / f"{world_size}-{rank}.pt")
            idist.finalize()


def _results(rank: int, world_size: int) -> dict[str, Any]:
    results: dict[str, Any] = {"world_size": idist.get_world_size()}
    shardings, sentences = SHARDS[world_size], SENTENCES[world_size][rank]
    for case in CASES_OF[world_size]:
        for average in case.averages:
            name = f"{case.name}-{average}"
            for sharding, shards in shardings.items():
                results[f"{sharding}/{name}"] = _torchmetrics(case, average, shards[rank])
            metric = case.make(average, dist_sync_on_step=True)
            steps = [metric(*batch) for batch in chosen(case.batches, STEPS[world_size][rank])]
            results[f"on step/{name}"] = [*steps, metric.compute()]
            results[f"alone/{name}"] = _alone(case, average, rank)
            metric = case.filled(average, _updates(case.batches, sentences))
            results[f"collectives/{name}"] = _computed(metric)["collectives"]
    for name in IGNITE:
        for sharding, shards in shardings.items():
            results[f"{sharding}/ignite-{name}"] = _ignite(name, chosen(TEXT, shards[rank]))
        results[f"attached/{name}"] = _attached(name, next(iter(shardings.values()))[rank])
        metric = ignite_metric(name)
        for batch in _updates(TEXT, sentences):
            metric.update(batch)
        results[f"collectives/ignite-{name}"] = _computed(metric)["collectives"]
    for sharding, shards in shardings.items():
        for name in CONFIDENT:
            results[f"{sharding}/confident-{name}"] = _confident(name, chosen(TEXT, shards[rank]))
    results["collectives/torchmetrics"] = _collectives_of_torchmetrics()
    # Last, for a rank may have been left waiting by the others.
    results["unlike"] = {
        **{name: _error_of_unlike_ranks(Bleu, rank, *pair) for name, pair in UNLIKE_RANKS.items()},
        **{
            f"ignite, {name}": _error_of_unlike_ranks(faces.Bleu, rank, *pair)
            for name, pair in UNLIKE_RANKS_OF_IGNITE.items()
        },
    }
    results["unlike kinds"] = {
        f"{of}, {name}": _error_of_unlike_kinds(getattr(package, name), rank)
        for of, package in (("torchmetrics", ngram_metrics), ("ignite", faces))
        for name in ("Bleu", "ROUGEScore", "ChrF", "NgramOverlap")
    }
    return results


def _torchmetrics(case: Case, average: str, numbers: Sequence[int]) -> dict[str, Any]:
    metric = case.filled(average, chosen(case.batches, numbers))
    local = _numbers(metric)
    computed = _computed(metric)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cached = metric.compute()
        metric._computed = None
        again = metric.compute()
        details = metric.details() if case.has_details else {}
    after = _numbers(metric)
    metric.update(*case.batches[0])
    return {
        **computed,
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


def _alone(case: Case, average: str, rank: int) -> dict[str, Any]:
    batches = chosen(case.batches, [rank % len(case.batches)])
    return _computed(case.filled(average, batches, sync_on_compute=False))


def confident_metrics(name: str) -> dict[str, Any]:
    """A metric with intervals, and another that counts the hypotheses without their last words; and ignite's face."""
    kind, settings = CONFIDENT[name]
    made = {of: getattr(ngram_metrics, kind)(**settings, confidence=0.95) for of in ("whole", "shortened")}
    return {**made, "ignite": getattr(faces, kind)(**settings, confidence=0.95)}


def count_confidently(metrics: Mapping[str, Any], preds: Sequence[str], target: Sequence[Sequence[str]]) -> None:
    metrics["whole"].update(preds, target)
    metrics["shortened"].update([text.rsplit(" ", 1)[0] for text in preds], target)
    metrics["ignite"].update((preds, target))


def _confident(name: str, batches: Sequence[Batch]) -> dict[str, Any]:
    metrics = confident_metrics(name)
    for batch in batches:
        count_confidently(metrics, *batch)
    return confident_values(metrics)


def confident_values(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Values, signatures, and p-values; the first signature once more, for what is gathered must not stay."""
    pair = {of: metrics[of] for of in ("whole", "shortened")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value, of_ignite = metrics["whole"].compute(), ignite_value(metrics["ignite"])
    if not int(metrics["whole"].sentence_rows().shape[0]):
        tests = {}
    else:
        tests = {
            test.__name__: {key: one._asdict() for key, one in test(pair, "whole", 100)["shortened"].items()}
            for test in (paired_bootstrap, paired_approximate_randomization)
        }
    return {
        "value": value,
        "ignite": of_ignite,
        "signatures": [metrics[of].signature for of in ("whole", "ignite", "whole")],
        "tests": tests,
    }


def _ignite(name: str, batches: Sequence[Batch]) -> dict[str, Any]:
    metric = ignite_metric(name)
    for batch in batches:
        metric.update(batch)
    computed, again = _computed(metric), ignite_value(metric)
    saved = metric.state_dict()
    loaded = ignite_metric(name)
    loaded.load_state_dict(saved)
    metric.update(TEXT[0])
    loaded.update(TEXT[0])
    return {
        **computed,
        "again": again,
        "after another batch": metric.compute(),
        "loaded, after another batch": loaded.compute(),
    }


def _attached(name: str, numbers: Sequence[int]) -> Any:
    engine = Engine(lambda engine, batch: batch)
    ignite_metric(name).attach(engine, "value")
    # An engine does not run on no batch at all.
    return engine.run(chosen(TEXT, numbers or [NOTHING]), max_epochs=2).metrics["value"]


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
    return {"value": value, "warnings": [str(one.message) for one in warned], "collectives": dict(calls)}


def _updates(batches: Sequence[Batch], sentences: int) -> list[Batch]:
    """That many sentences in updates of at most 40; none is no update."""
    preds, target = joined(tuple(batches) * 25)
    starts = range(0, sentences, 40)
    return [(preds[start : min(start + 40, sentences)], target[start : min(start + 40, sentences)]) for start in starts]


def _collectives_of_torchmetrics() -> dict[str, int]:
    """Of a metric that gathers sentence by sentence."""
    metric = torchmetrics.text.ROUGEScore(rouge_keys="rouge1")
    metric.update(["the cat sat"] * 10, [["the cat"]] * 10)
    return _computed(metric)["collectives"]


def _is_last(rank: int) -> bool:
    return rank == idist.get_world_size() - 1


def _error_of_unlike_ranks(metric: type, rank: int, first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """The last rank is the one that differs."""
    return _error_of_compute(metric(**(second if _is_last(rank) else first)), TEXT[rank % len(TEXT)])


def _error_of_unlike_kinds(metric: type, rank: int) -> dict[str, Any]:
    return _error_of_compute(metric(average="macro"), OF_IDS if _is_last(rank) else TEXT[rank % len(TEXT)])


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
    return {"error": error, "collectives": dict(calls), "kept": kept, "sentences": int(accumulator.sentences)}


def _error_of(call: Callable[[], Any]) -> str:
    try:
        return f"returned {call()}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
