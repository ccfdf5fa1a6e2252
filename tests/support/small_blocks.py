"""How tests of all pairs make every block, table and list small, so that a few short texts fill several of each."""

import pytest

from ngram_metrics._core.counting import pairs
from ngram_metrics._core.scoring import pair_scores


def cut_small(patch: pytest.MonkeyPatch, block: int = 60) -> None:
    """Cut everything: groups in blocks of a few rows, tables of a few columns, few listed pairs at a time."""
    for module, bounds in (
        (pair_scores, {"COUNTED_CELLS": 2 * block, "BLOCK_CELLS": block}),
        (pairs, {"TILE": 2, "TABLE_CELLS": 50, "LISTED_PAIRS": 5, "LISTED_COST": 4, "CELLS": 100}),
    ):
        for name, bound in bounds.items():
            patch.setattr(module, name, bound)
