"""Subsequences of texts so long that both halves are taken at once, against the textbook table."""

import random

import pytest
from layouts import padded
from rouge_oracle import table

from ngram_metrics.counting.batch import PaddedPairs
from ngram_metrics.counting.subsequence.halves import in_halves
from ngram_metrics.counting.subsequence.pairs import subsequence_lengths


@pytest.mark.parametrize("steps", [33, 40, 41])
@pytest.mark.parametrize("letters", [2, 9])
def test_lengths_of_both_halves_are_the_tables(steps: int, letters: int):
    draw = random.Random(0)
    sides = [[[draw.randrange(letters) for _ in range(width)] for _ in range(3)] for width in (70, steps)]
    rows = [padded(side) for side in sides]
    assert in_halves(3, 2, rows[1].ids.shape[1], rows[0].ids.device)
    lengths = subsequence_lengths(PaddedPairs(*rows))
    assert lengths.tolist() == [table(*pair)[-1][-1] for pair in zip(*sides, strict=True)]
