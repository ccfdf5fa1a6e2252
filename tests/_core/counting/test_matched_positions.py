"""Where n-grams match, against plain loops, however the work is cut."""

from collections import Counter

import numpy as np
import oracles
import pytest
import torch
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from layouts import by_count, documents_of, ragged_sides

from ngram_metrics._core.counting import documents as documents_module
from ngram_metrics._core.counting.matched_positions import chunks_of, matched_positions, matched_starts
from ngram_metrics._core.counting.matches import count_matches

document = st.lists(st.integers(0, 2), max_size=14)
batches = st.lists(st.tuples(document, st.lists(document, min_size=1, max_size=3)), max_size=5)
SEGMENTS = [([0, 1, 0, 1, 2], [[1, 0, 1], [0, 1, 0, 1]]), ([], [[2]]), ([2] * 14, [[2] * 9, []])]
SLOTS = [7, 30, 1 << 17]


def expected_orders(one, limits, longest):
    """The longest matched order at each token, where `limits` tells how many of an n-gram may be matched."""
    orders = [0] * len(one)
    for order in range(1, longest + 1):
        seen, limit = Counter(), limits(order)
        for start in range(len(one) - order + 1):
            ngram = tuple(one[start : start + order])
            seen[ngram] += 1
            if seen[ngram] <= limit[ngram]:
                orders[start : start + order] = [order] * order
    return orders


def expected(batch, longest):
    """The orders of hypotheses, and for each sentence those of its references."""
    hypotheses, references = [], []
    for one, several in batch:

        def in_references(order, several=several):
            most = Counter()
            for reference in several:
                most |= oracles.ngrams(reference, order)
            return most

        hypotheses.append(expected_orders(one, in_references, longest))
        references.append(
            [expected_orders(other, lambda n, one=one: oracles.ngrams(one, n), longest) for other in several]
        )
    return hypotheses, references


def documents(sides, orders):
    """Orders as lists."""
    hypotheses = sides.hypotheses._replace(ids=orders[0])
    references = sides.references.tokens._replace(ids=orders[1])
    return documents_of(hypotheses), by_count(documents_of(references), sides.references.counts.tolist())


@examples(*({"batch": SEGMENTS, "longest": longest, "slots": slots} for longest in (6, 40) for slots in SLOTS))
@given(batch=batches, longest=st.integers(1, 6) | st.just(40), slots=st.sampled_from(SLOTS))
def test_orders_are_those_of_plain_loops(batch, longest, slots):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents_module, "CPU_SLOTS", slots)
        sides = ragged_sides(batch)
        found = matched_positions(sides, longest)
    assert {part.dtype for part in found} == {torch.int64}
    assert documents(sides, found) == expected(batch, longest)


@given(batch=batches.filter(bool), longest=st.integers(1, 6))
def test_as_many_ngrams_are_matched_as_count_matches_counts(batch, longest):
    sides = ragged_sides(batch)
    counted = [0] * longest
    for chunk in chunks_of(*sides):
        if len(chunk.tokens.digits):
            for order, starts in matched_starts(chunk, longest):
                counted[order - 1] += int(starts[: chunk.hypothesis_slots].sum())
    assert (
        counted
        == count_matches(sides, longest).sum(0).tolist()
        == np.sum(oracles.match_rows(batch, longest), 0).tolist()
    )


def test_one_giant_document():
    draw = np.random.default_rng(0)
    one, other = (draw.integers(0, 40, 12_000).tolist() for _ in range(2))
    batch = [(one, [other, other[::-1]]), ([1], [[1]])]
    sides = ragged_sides(batch)
    assert documents(sides, matched_positions(sides, 4)) == expected(batch, 4)


@pytest.mark.parametrize("surroundings", ["bfloat16 by default"], indirect=True)
def test_the_numbers_of_many_ngrams_are_integers(surroundings):
    one = list(range(400))
    sides = ragged_sides([(one, [one])])
    assert documents(sides, matched_positions(sides, 1)) == ([[1] * 400], [[[1] * 400]])
