"""torch, numpy and RapidFuzz, imported when the first of their names is asked for.

The files of the metrics import them from here: so the command and ``ngram_metrics.pair``, which count in plain Python,
start without them.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import rapidfuzz
    import torch
else:

    class _Later(ModuleType):
        """Stands for a module, and gives its place to it when it is used."""

        def __getattr__(self, name: str) -> Any:
            module = import_module(self.__name__)
            # From here on the files have the module itself: graphs record its functions, and no name takes longer.
            for user in [user for path, user in sys.modules.items() if path.startswith("ngram_metrics.")]:
                for alias in [alias for alias, value in vars(user).items() if value is self]:
                    setattr(user, alias, module)
            return getattr(module, name)

    np, rapidfuzz, torch = map(_Later, ("numpy", "rapidfuzz", "torch"))

__all__ = ["load_arrays", "np", "rapidfuzz", "torch"]


def load_arrays() -> None:
    """Import torch and numpy now: a graph cannot record the import."""
    _ = torch.__version__, np.__version__
