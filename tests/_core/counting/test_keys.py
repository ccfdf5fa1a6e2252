"""Digits joined to numbers as Python reads them in base 8, and ranks that sort as their ids do."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ngram_metrics._core.counting import keys, numpy_matches


@given(st.lists(st.integers(0, 7), min_size=1, max_size=15), st.integers(1, 15))
def test_tensors_and_arrays_join_the_digits_that_a_reader_would(digits, length):
    padded = [*digits, *[0] * (length - 1)]
    numbers = [int("".join(map(str, padded[slot : slot + length])), 8) for slot in range(len(digits))]
    assert keys.join_digits(torch.tensor([padded]), length, 3).tolist() == [numbers]
    given = np.array(digits)
    joined = numpy_matches.join_digits(given, length, 3)
    assert joined.tolist() == numbers
    assert given.tolist() == digits


@pytest.mark.parametrize("searched", [0, 1 << 11])
@given(
    rows=st.integers(0, 5)
    .map(lambda width: st.lists(st.integers(-3, 3), min_size=width, max_size=width))
    .flatmap(st.lists)
)
def test_ranks_sort_as_ids_do_and_need_no_more_bits_than_their_row(searched, rows):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keys, "SEARCHED_SLOTS", searched)
        ranked = keys.rank_in_rows(torch.tensor(rows, dtype=torch.int64)).tolist()
    for ids, ranks in zip(rows, ranked, strict=True):
        assert all(1 <= rank <= len(ids) for rank in ranks)
        assert [[a < b for a in ids] for b in ids] == [[a < b for a in ranks] for b in ranks]
