"""Several processes that count as one: each calls the same function of a test's file."""

import inspect
import multiprocessing
import os
import runpy
import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.multiprocessing

idist = pytest.importorskip("ignite.distributed", reason="it starts the processes")

#: The default number of processes: rank 1 has a neighbour on each side.
SIZE = 3

# Processes forked from one that has imported all this start in a fraction of the time.
multiprocessing.set_forkserver_preload(["pytest", "torch.testing", "ngram_metrics.ignite"])


def on_ranks(function: Callable[..., Any], *arguments: Any, size: int = SIZE) -> list[Any]:
    """Call a function of a file in each of several processes, and return what each rank returns.

    An error in one of them is an error here, such as that of an ``assert`` in the function.
    """
    with tempfile.TemporaryDirectory() as folder:
        call = inspect.getfile(function), function.__name__, arguments
        torch.multiprocessing.start_processes(_run, (size, folder, call), nprocs=size, start_method="forkserver")
        return [torch.load(f"{folder}/{rank}.pt", weights_only=True) for rank in range(size)]


def _run(rank: int, size: int, folder: str, call: tuple[str, str, tuple[Any, ...]]) -> None:
    torch.set_num_threads(1)
    # As torchrun does: frameworks read these.
    numbers = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": size, "LOCAL_WORLD_SIZE": size, "TORCHELASTIC_RUN_ID": 0}
    os.environ.update({variable: str(number) for variable, number in numbers.items()})
    file, name, arguments = call
    meeting = f"file://{folder}/meeting"
    idist.initialize("gloo", init_method=meeting, rank=rank, world_size=size, timeout=timedelta(seconds=60))
    # By its path: other processes cannot import the file by pytest's name for it.
    torch.save(runpy.run_path(file)[name](*arguments), Path(folder, f"{rank}.pt"))
    idist.finalize()
