"""Where n-grams match, against plain loops over Counters."""

from collections import Counter

import numpy as np
import oracles
from hypothesis import example, given
from hypothesis import strategies as st
from layouts import apart, read_batch

from ngram_metrics._core.counting.matched_orders import find_matched_orders
from ngram_metrics._core.text.reader import WordReader

document = st.lists(st.integers(0, 2), max_size=14)
batches = st.lists(st.tuples(document, st.lists(document, min_size=1, max_size=3)), max_size=5)


def orders_of(segments, longest):
    """The orders of each document, without its end."""
    (batch,) = read_batch(WordReader(), *apart(segments))
    found = find_matched_orders(batch, longest)
    assert len(found) == len(batch.ids)
    return [part[:-1].tolist() for part in np.split(found, (batch.lengths + 1).cumsum())[:-1]]


def expected_orders(one, limits, longest):
    """The longest matched order at each token, where `limits` tells how many of an n-gram may be matched."""
    orders = [0] * len(one)
    for order in range(1, longest + 1):
        seen = Counter()
        limit = limits(order)
        for start in range(len(one) - order + 1):
            ngram = tuple(one[start : start + order])
            seen[ngram] += 1
            if seen[ngram] <= limit[ngram]:
                orders[start : start + order] = [order] * order
    return orders


def expected(segments, longest):
    """The orders of each hypothesis, and after it those of its references."""
    orders = []
    for one, several in segments:

        def in_references(order, several=several):
            most = Counter()
            for reference in several:
                most |= oracles.ngrams(reference, order)
            return most

        orders.append(expected_orders(one, in_references, longest))
        orders += [expected_orders(other, lambda n, one=one: oracles.ngrams(one, n), longest) for other in several]
    return orders


@example(segments=[([0, 1, 0, 1, 2], [[1, 0, 1], [0, 1, 0, 1]]), ([], [[2]]), ([2] * 14, [[2] * 9, []])], longest=6)
@example(segments=[([0, 1], [[0, 1]]), ([], [[]]), ([1, 0], [[0, 1]])], longest=40)
@given(segments=batches, longest=st.integers(1, 6) | st.just(40))
def test_orders_are_those_of_plain_loops(segments, longest):
    assert orders_of(segments, longest) == expected(segments, longest)


def test_a_long_document_and_large_ids():
    draw = np.random.default_rng(0)
    one, other = (draw.integers(0, 40, 12_000).tolist() for _ in range(2))
    segments = [(one, [other, other[::-1]]), ([1], [[1]])]
    assert orders_of(segments, 4) == expected(segments, 4)
    large = [([2**62, 5, 2**62 + 1], [[5, 2**62 + 1, 2**62]])]
    assert orders_of(large, 2) == [[1, 2, 2], [2, 2, 1]]


def test_segments_share_no_ngram():
    """Also where the number of a segment times the bound of the ids, which is 2^62, passes 64 bits."""
    segments = [([7], [[8]]), ([8], [[7]]), ([5], [[6]]), ([9], [[9]]), ([2**62 - 4], [[7]])]
    assert orders_of(segments, 1) == expected(segments, 1)
