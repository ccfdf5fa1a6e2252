"""Cutting a batch into chunks within a budget, of about the same size."""

import random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ngram_metrics._core.counting.documents import even_chunks


@example([3, 4], 7)
@example([3, 5], 7)
@example([8, 1], 7)
@given(st.lists(st.integers(0, 30)), st.integers(1, 60))
def test_chunks_are_within_the_budget_or_a_single_group(sizes, largest):
    ranges = list(even_chunks(np.array(sizes, np.int64), largest))
    assert [group for start, stop in ranges for group in range(start, stop)] == list(range(len(sizes)))
    assert all(stop == start + 1 or sum(sizes[start:stop]) <= largest for start, stop in ranges)


@pytest.mark.parametrize("largest", [500, 4096, 20_000])
def test_no_chunk_is_a_small_rest(largest):
    chance = random.Random(0)
    for _ in range(100):
        sizes = np.array([chance.randrange(60) for _ in range(chance.randrange(1, 3000))])
        chunks = [sizes[start:stop].sum() for start, stop in even_chunks(sizes, largest)]
        assert min(chunks) >= max(chunks) // 2 - 60
