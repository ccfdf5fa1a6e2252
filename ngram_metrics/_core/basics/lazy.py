"""torch, numpy and RapidFuzz, imported when one of them is first used.

The files of the metrics import them from here: so the command prints its help without them.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any


class _Placeholder(ModuleType):
    """Stands for a module that is not imported yet."""

    def __getattr__(self, name: str) -> Any:
        load_arrays()
        return getattr(sys.modules[self.__name__], name)


if TYPE_CHECKING:
    import numpy as np
    import rapidfuzz
    import torch
else:
    np, rapidfuzz, torch = map(_Placeholder, ("numpy", "rapidfuzz", "torch"))

__all__ = ["load_arrays", "np", "rapidfuzz", "torch"]


def load_arrays() -> None:
    """Import the three now, as ``torch.compile`` needs it, and put them in the place of their placeholders.

    What the modules of this package then have is torch itself: a graph can record it, and no name takes longer.
    """
    import numpy
    import rapidfuzz
    import torch

    modules = {module.__name__: module for module in (numpy, rapidfuzz, torch)}
    # A copy, because another thread may import a module meanwhile.
    for name, user in list(sys.modules.items()):
        if not name.startswith("ngram_metrics."):
            continue
        for alias, value in list(vars(user).items()):
            if isinstance(value, _Placeholder):
                setattr(user, alias, modules[value.__name__])
