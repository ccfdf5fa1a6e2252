"""Three processes that call ``compute`` unequally often: what each sees before it ends."""

import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from torch import distributed

from ngram_metrics import Bleu

SIZE = 3
#: Of the process group, in seconds.
TIMEOUT = 5


def never_update(metric: Bleu) -> None:
    metric.compute()


def fail(metric: Bleu) -> None:
    metric.update(["the cat"], ["the cat"])
    metric.update(["the cat"], [5])


def fail_and_stay(metric: Bleu) -> None:
    """As an actor of Ray, or a cell of a notebook."""
    try:
        fail(metric)
    finally:
        time.sleep(2 * TIMEOUT)


def compute(metric: Bleu) -> None:
    metric.update(["the cat"], ["the cat"])
    metric.compute()


def compute_and_stay(metric: Bleu) -> None:
    compute(metric)
    time.sleep(2 * TIMEOUT)


def compute_twice(metric: Bleu) -> None:
    compute(metric)
    compute(metric)


#: What the ranks do.
WAYS: dict[str, tuple[Callable[[Bleu], None], ...]] = {
    "one never updates": (never_update, compute, compute),
    "one fails": (never_update, fail, compute_twice),
    "one fails and stays": (never_update, fail_and_stay, compute_twice),
    "one computes twice": (never_update, compute, compute_twice),
    "one computes twice, and the others stay": (compute_and_stay, compute_and_stay, compute_twice),
}


def run(rank: int, way: str, folder: Path) -> None:
    options = {"timeout": timedelta(seconds=TIMEOUT), "rank": rank, "world_size": SIZE}
    distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", **options)
    error = ""
    try:
        WAYS[way][rank](Bleu())
    except Exception as raised:
        error = f"{type(raised).__name__}: {raised}"
    (folder / f"{rank}.txt").write_text(error)
