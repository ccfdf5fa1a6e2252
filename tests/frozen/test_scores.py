"""The same input gives the same score: every row of scores.json, recomputed."""

from typing import Any

import pytest
from frozen_scores import Row, compute, is_class, key_of, numbers, read_rows

ROWS = read_rows()

# Some inputs are what the metrics warn of: empty texts, scripts without spaces.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def frozen(row: Row) -> Any:
    """The numbers, integers exactly, and scores but for the last bits: exp and log differ there between versions."""
    values = {name: row[name] for name in ("values", "details") if name in row}
    return pytest.approx(dict(numbers(values)), rel=1e-14, abs=0, nan_ok=True)


@pytest.mark.parametrize("row", ROWS, ids=key_of)
def test_the_score_is_the_frozen_one(row: Row) -> None:
    assert dict(numbers(compute(row))) == frozen(row)


@pytest.mark.slow
@pytest.mark.parametrize("row", list(filter(is_class, ROWS)), ids=key_of)
def test_batches_of_several_sizes_have_the_frozen_score(row: Row) -> None:
    assert dict(numbers(compute(row, batch_sizes=(1, 3, 2, 17, 60)))) == frozen(row)
