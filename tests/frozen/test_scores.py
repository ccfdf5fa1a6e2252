"""The same input gives the same score: every row of scores.json, recomputed."""

import pytest
from frozen_scores import Row, compute, differences, is_class, key_of, read_rows

ROWS = read_rows()
CLASS_ROWS = [row for row in ROWS if is_class(row)]

# Some inputs are what the metrics warn of: empty texts, scripts without spaces.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def numbers(row: Row) -> Row:
    return {name: row[name] for name in ("values", "details") if name in row}


@pytest.mark.parametrize("row", ROWS, ids=key_of)
def test_the_score_is_the_frozen_one(row: Row) -> None:
    assert differences(numbers(row), compute(row)) == []


@pytest.mark.parametrize("row", CLASS_ROWS, ids=key_of)
def test_batches_of_several_sizes_have_the_frozen_score(row: Row) -> None:
    assert differences(numbers(row), compute(row, batch_sizes=(1, 3, 2, 17, 60))) == []
