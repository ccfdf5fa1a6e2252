"""What a process of tests/_torchmetrics/test_unequal_ranks.py does; a module of its own, so that it can be imported."""

import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from torch import distributed

from ngram_metrics import Bleu

#: Of the process group, in seconds.
TIMEOUT = 5
STEPS: dict[str, Callable[[Bleu], Any]] = {
    "update": lambda metric: metric.update(["the cat"], ["the cat"]),
    "compute": lambda metric: metric.compute(),
    "fail": lambda metric: metric.update(["the cat"], [5]),
    # As an actor of Ray, or a cell of a notebook.
    "stay": lambda metric: time.sleep(2 * TIMEOUT),
}


def run(rank: int, of_ranks: tuple[str, ...], folder: Path) -> None:
    """Go through the steps of this rank, also after an error, and write the first error down."""
    options = {"timeout": timedelta(seconds=TIMEOUT), "rank": rank, "world_size": len(of_ranks)}
    distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", **options)
    metric, errors = Bleu(), []
    for step in of_ranks[rank].split():
        try:
            STEPS[step](metric)
        except Exception as raised:
            errors.append(f"{type(raised).__name__}: {raised}")
    (folder / f"{rank}.txt").write_text("".join(errors[:1]))
