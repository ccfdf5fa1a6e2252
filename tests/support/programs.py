"""The examples as modules, where what several runs import is imported once, and as programs of their own."""

import importlib
import os
import subprocess
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
#: What starts a program on two processes, at a port that is free.
TORCHRUN = (
    *("-m", "torch.distributed.run", "--nproc-per-node", "2"),
    *("--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0"),
)
#: Nothing is fetched, and no GPU is needed.
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
OFFLINE |= {"CUDA_VISIBLE_DEVICES": "", "ACCELERATE_USE_CPU": "1"}


def example(name: str) -> ModuleType:
    """An example, by the path of its file without the suffix; it finds its neighbours."""
    path = EXAMPLES / name
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.syspath_prepend(path.parent)
        warnings.simplefilter("ignore")  # Lightning's own imports, among others, use what others deprecate
        return importlib.import_module(path.name)


def only(folder: Path, pattern: str) -> Path:
    """The one file of a folder that fits."""
    (path,) = folder.glob(pattern)
    return path


def run(module: ModuleType, *options: Any) -> None:
    """Run a program as its command line does."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no error to a program
        patch.setattr(sys, "argv", [str(module.__file__), *map(str, options)])
        module.main()


def start(
    program: Path, *options: Any, launch: tuple[str, ...] = (), folder: Path | None = None, limit: int = 400
) -> str:
    """What a program prints that is a process of its own, or several."""
    command = [sys.executable, *launch, str(program), *map(str, options)]
    surroundings = {**os.environ, **OFFLINE}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=limit, env=surroundings)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout
