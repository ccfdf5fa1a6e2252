"""What each process of tests/test_distributed.py does; a module of its own, so that a new process can import it."""

import os
import signal
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.distributed.checkpoint as dcp
from metrics.cases import TEXT, Batch
from metrics.ranks import _counted, _error_of
from torch import distributed
from torch.distributed.checkpoint.state_dict import get_model_state_dict, set_model_state_dict
from torchmetrics import MetricCollection

from ngram_metrics import Bleu, ChrF, NgramOverlap, ROUGEScore, ignite
from ngram_metrics.distributed import AllRanks
from ngram_metrics.hugging_face import ComputeMetrics

#: The batches of an epoch in two halves: before the checkpoint, and after it.
HALVES: tuple[tuple[Batch, ...], tuple[Batch, ...]] = ((*TEXT, TEXT[1], TEXT[0]), (TEXT[2], TEXT[0], TEXT[1]))
#: Shares of each half for each number of processes: uneven, and of the last rank empty in the first half.
_CUTS = {1: (), 2: (3,), 3: (1, 5)}
#: Each average, an interval, and several values.
METRICS: dict[str, Callable[[], Any]] = {
    "micro": lambda: Bleu(average="micro", smooth="exp"),
    "macro": lambda: Bleu(smooth="smooth2"),
    "none": lambda: ChrF(average="none"),
    "interval": lambda: ChrF(word_order=2, confidence=0.9),
    "rouge": lambda: ROUGEScore(rouge_keys=("rouge1", "rougeL")),
    "value of rouge": lambda: ROUGEScore(rouge_keys="rouge2")["rouge2_recall"],
    "overlap, none": lambda: NgramOverlap(average="none"),
    "of ignite": lambda: ignite.ChrF(average="none"),
    "never updated": lambda: Bleu(average="micro"),
}


def share_of(half: int, rank: int, processes: int) -> Sequence[Batch]:
    """The batches of a rank in a half."""
    batches = HALVES[half]
    ends = [0, *_CUTS[processes], len(batches)] if half == 0 else [*range(processes), len(batches)]
    return batches[ends[rank] : ends[rank + 1]]


def made() -> dict[str, Any]:
    return {name: make() for name, make in METRICS.items()}


def count(metrics: Mapping[str, Any], batches: Sequence[Batch]) -> None:
    for batch in batches:
        for name, metric in metrics.items():
            if name == "of ignite":
                metric.update(batch)
            elif name != "never updated":
                metric.update(*batch)


def computed(metrics: Mapping[str, Any]) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what was never updated
        return {name: metric.compute() for name, metric in metrics.items()}


def save(folder: Path, rank: int, processes: int) -> None:
    """Count the first half, and save: the checkpoint of all, and each rank's plain states."""
    metrics = made()
    count(metrics, share_of(0, rank, processes))
    state = AllRanks(metrics).state_dict()
    if rank == 0:
        torch.save(state, folder / f"all-{processes}.pt")
    metric = METRICS["interval"]()
    metric.persistent(True)
    count({"": metric}, share_of(0, rank, processes))
    torch.save(metric.state_dict(), folder / f"plain-{rank}-of-{processes}.pt")
    for name, state in {name: AllRanks(unsynced(name, rank, processes)).state_dict() for name in UNSYNCED}.items():
        if rank == 0:
            torch.save(state, folder / f"{name}-{processes}.pt")


#: Without synchronization: where each rank has counted everything, and where each has counted its share.
UNSYNCED = ("everything", "shares")


def unsynced(name: str, rank: int, processes: int) -> ChrF:
    """A metric that does not synchronize, which has counted the first half."""
    metric = ChrF(average="none", sync_on_compute=False)
    count({"": metric}, HALVES[0] if name == "everything" else share_of(0, rank, processes))
    return metric


def resume(folder: Path, saved_by: int, rank: int, processes: int) -> dict[str, Any]:
    """Load what so many processes have saved, and count the second half."""
    metrics = made()
    count(metrics, TEXT[:1])  # is forgotten
    with _counted() as calls:
        AllRanks(metrics).load_state_dict(torch.load(folder / f"all-{saved_by}.pt", weights_only=True))
    assert not calls
    count(metrics, share_of(1, rank, processes))
    return computed(metrics)


def first(rank: int, processes: int, folder: Path) -> dict[str, Any]:
    """Save, and see what a state_dict takes of collectives, and that ranks which differ raise together."""
    save(folder, rank, processes)
    found: dict[str, Any] = {}
    for batches in (0, 40):
        metrics = made()
        count(metrics, TEXT * batches if rank else ())
        with _counted() as calls:
            AllRanks(metrics).state_dict()
        found[f"collectives, {batches}"] = dict(calls)
        collection = MetricCollection({name: make() for name, make in METRICS.items() if name != "of ignite"})
        if rank:
            collection.update(*TEXT[0])  # there are compute groups here, and none on rank 0
        with _counted() as calls:
            AllRanks(collection).state_dict()
        found[f"collectives of a collection, {batches}"] = dict(calls)
        with _counted() as calls, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # rank 0 was not updated
            collection.compute()
        found[f"collectives of its compute, {batches}"] = {"metrics": len(collection), **calls}
    last = rank == processes - 1
    unlike: dict[str, Any] = {
        "settings": Bleu(ngram=3 if last else 4),
        "names": {"a": Bleu()} if last else {"b": Bleu()},
        "more": {"a": Bleu(), "b": Bleu()} if last else {"a": Bleu()},
        "class": Bleu() if last else ChrF(),
    }
    synchronized = Bleu(pad_id=0)
    synchronized.update(*TEXT[0])
    if last:
        synchronized.distributed_available_fn, synchronized.dist_sync_fn = bool, None
        synchronized.sync(dist_sync_fn=lambda state, group=None: [state], distributed_available=lambda: True)
    unlike["synchronized"] = synchronized
    broken, other = ChrF(), Bleu()
    changed: dict[str, Any] = {"a": Bleu()}
    states = {name: AllRanks(metrics) for name, metrics in {**unlike, "broken": broken, "changed": changed}.items()}
    if last:
        broken.row = None
        changed["a"] = torch.nn.Linear(1, 1)
    else:
        other.update(*TEXT[0])
    found["unlike"] = {name: _error_of(all_states.state_dict) for name, all_states in states.items()}
    with _counted() as calls:
        found["unlike"]["updated on all but one"] = sorted(AllRanks(other).state_dict())
    assert calls == {"all_gather": 2}
    distributed.barrier()  # nobody waits for anything else
    found["unlike"] |= _of_a_broken_rank(last)
    compute_metrics = ComputeMetrics(ChrF(pad_id=0, confidence=0.9))
    ids = torch.tensor([[5, 6, 7, 0], [5, 6, 8, 9], [1, 2, 3, 4]])
    with _counted() as calls:
        values = compute_metrics((ids, ids.flip(0)))
    found["of a trainer"] = {"values": values, "collectives": dict(calls)}
    found["in groups"] = _in_groups(rank, processes, folder)
    model = _model()
    count({"": model["metric"]}, share_of(0, rank, processes))
    state = {"model": get_model_state_dict(model), "metrics": AllRanks(model["metric"]).state_dict()}
    dcp.save(state, checkpoint_id=folder / f"dcp-{processes}")
    return found


def _model() -> torch.nn.ModuleDict:
    """A model with a weight of 1 and a metric, whose states are in its state_dict too."""
    metric, layer = METRICS["none"](), torch.nn.Linear(1, 1)
    metric.persistent(True)
    torch.nn.init.ones_(layer.weight)
    return torch.nn.ModuleDict({"layer": layer, "metric": metric})


def _of_torchs_checkpoint(path: Path, batches: Sequence[Batch]) -> dict[str, Any]:
    """What a metric that has counted computes when it has loaded the states of all ranks, and what its own raise."""
    model = _model()
    metric = model["metric"]
    count({"": metric}, batches)
    state = {"model": get_model_state_dict(model), "metrics": AllRanks(metric).state_dict()}
    dcp.load(state, checkpoint_id=path)
    found = {"own": _error_of(lambda: set_model_state_dict(model, state["model"]))}
    found["kept"] = metric.compute()
    AllRanks(metric).load_state_dict(state["metrics"])
    found["of all"] = metric.compute()
    metric.persistent(False)
    torch.nn.init.zeros_(model["layer"].weight)
    state = {"model": get_model_state_dict(model)}
    dcp.load(state, checkpoint_id=path)
    set_model_state_dict(model, state["model"])
    return {**found, "weight": model["layer"].weight.item()}


def _of_a_broken_rank(is_broken: bool) -> dict[str, Any]:
    """What each rank raises if one cannot read its rows, where ranks add up or save."""
    found = {}
    for name, metric in {"compute": METRICS["none"](), "state_dict of ignite": METRICS["of ignite"]()}.items():
        count({"of ignite" if name != "compute" else name: metric}, TEXT[:1])
        states = getattr(metric, "_accumulator", metric)
        if is_broken:
            states.rows.append(torch.zeros(1, 3))
        segments = int(states.segments)
        with _counted() as calls:
            error = _error_of(metric.compute if name == "compute" else metric.state_dict)
        assert calls == {"all_gather": 2}
        assert int(states.segments) == segments
        found[name] = error
        distributed.barrier()
    return found


def _in_groups(rank: int, processes: int, folder: Path) -> dict[str, Any]:
    """Save and load metrics that synchronize with a part of the ranks, or with none."""
    groups = [distributed.new_group(list(range(start, processes, 2))) for start in (0, 1)]
    keywords: dict[str, dict[str, Any]] = {
        "part": {"process_group": groups[rank % 2]},
        "none": {"distributed_available_fn": bool},
    }
    found: dict[str, Any] = {}
    for name, options in keywords.items():
        metric, resumed = ChrF(average="none", **options), ChrF(average="none", **options)
        count({"": metric}, [TEXT[0]] * (rank + 1))
        state = AllRanks(metric).state_dict()
        AllRanks(resumed).load_state_dict(state)
        found[name] = {"saved": metric.compute(), "resumed": resumed.compute()}
    of_one_process = torch.load(folder / "shares-1.pt", weights_only=True)
    resumed = ChrF(average="none", **keywords["part"])
    found["part"]["error"] = _error_of(lambda: AllRanks(resumed).load_state_dict(of_one_process))
    metric = ChrF(average="none", process_group=groups[rank % 2])
    metric.persistent(True)
    count({"": metric}, TEXT[:1])
    states = [None] * processes
    distributed.all_gather_object(states, metric.state_dict())
    found["plain"] = {
        owner: _loaded(ChrF(average="none", process_group=groups[rank % 2]), state)
        for owner, state in enumerate(states)
    }
    return found


def _loaded(metric: Any, state: Mapping[str, Any]) -> dict[str, Any]:
    """What a metric has after loading, and what it warns of."""
    metric.persistent(True)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        metric.load_state_dict(state, strict=True)
    return {"segments": int(metric.segments), "warnings": [str(warning.message) for warning in warned]}


def second(rank: int, processes: int, folder: Path, saved_by: Sequence[int]) -> dict[str, Any]:
    """Resume from what others have saved, by AllRanks and by plain states."""
    found: dict[str, Any] = {f"from {number}": resume(folder, number, rank, processes) for number in saved_by}

    def read(owner: int, number: int) -> Any:
        return torch.load(folder / f"plain-{owner}-of-{number}.pt", weights_only=True)

    make = METRICS["interval"]
    for name, (owner, number) in {"own": (rank, processes), "of rank 0": (0, 2), "alone": (0, 1)}.items():
        metric = make()
        found[f"plain, {name}"] = _loaded(metric, read(owner, number))
        found[f"plain, {name}"]["value"] = computed({"": metric})[""]
    found["plain, not synchronized"] = _loaded(ChrF(word_order=2, confidence=0.9, sync_on_compute=False), read(0, 2))
    empty = make()
    empty.persistent(True)
    states = [None] * processes
    distributed.all_gather_object(states, empty.state_dict())
    found["plain, empty"] = _loaded(make(), states[0])
    metric = make()
    metric.persistent(True)
    count({"": metric}, share_of(0, rank, processes))
    with metric.sync_context():
        whole = metric.state_dict()
    found["plain, synchronized"] = _loaded(make(), whole)
    for number in saved_by:
        for name in UNSYNCED:
            metric = ChrF(average="none", sync_on_compute=False)
            AllRanks(metric).load_state_dict(torch.load(folder / f"{name}-{number}.pt", weights_only=True))
            found[f"{name} from {number}"] = computed({"": metric})[""]
        if (folder / f"dcp-{number}").exists():
            found[f"dcp, {number}"] = _of_torchs_checkpoint(folder / f"dcp-{number}", TEXT[: rank + 1])
    return found


def epoch(rank: int, processes: int, folder: Path, stop: int | None) -> dict[str, Any]:
    """Count an epoch with a checkpoint after each batch, from the last one on; be killed after so many."""
    metrics, path = made(), folder / "epoch.pt"
    batches = [TEXT[(step * processes + rank) % len(TEXT)] for step in range(5)]
    step = 0
    if path.exists():
        state = torch.load(path, weights_only=True)
        AllRanks(metrics).load_state_dict(state["metrics"])
        step = state["step"]
    while step < len(batches):
        count(metrics, batches[step : step + 1])
        step += 1
        state = {"metrics": AllRanks(metrics).state_dict(), "step": step}
        if rank == 0:
            torch.save(state, path.with_suffix(".new"))
            path.with_suffix(".new").replace(path)
        distributed.barrier()
        if step == stop:
            count(metrics, batches[step : step + 1])  # is lost
            os.kill(os.getpid(), signal.SIGKILL)
    return computed(metrics)
