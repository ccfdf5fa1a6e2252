"""The examples as modules: what several runs import is imported once."""

import importlib
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def example(name: str) -> ModuleType:
    """An example, which finds its neighbours."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.syspath_prepend(EXAMPLES)
        warnings.simplefilter("ignore")  # Lightning's own imports, among others, use what others deprecate
        return importlib.import_module(name)


def run(module: ModuleType, *options: Any) -> None:
    """Run a program as its command line does."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no error to a program
        patch.setattr(sys, "argv", [str(module.__file__), *map(str, options)])
        module.main()
