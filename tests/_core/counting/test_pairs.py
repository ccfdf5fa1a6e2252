"""Matches of all pairs and of aggregates against counters, however the work is cut."""

import random
from collections import Counter
from functools import partial

import numpy as np
import oracles
import pytest
import torch
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from rouge_oracle import table

from ngram_metrics._core.counting import pairs
from ngram_metrics._core.counting.pairs import match_aggregates, match_pairs
from ngram_metrics._core.counting.subsequences import match_subsequences
from ngram_metrics._core.text.pool_reader import read_pools
from ngram_metrics._core.text.reader import WordReader

#: What a listed pair is said to cost: all n-grams go through the tables, all are listed, or each as it seems best.
COSTS = {"tables": 10**9, "lists": 0, "either": pairs.LISTED_COST}
each_cost = pytest.mark.parametrize("cost", COSTS.values(), ids=COSTS)


def pools_of(batch, is_same=False):
    hypotheses, references = map(list, zip(*batch, strict=True))
    return read_pools(WordReader(), hypotheses, hypotheses if is_same else references)[0]


def expected_aggregates(hypotheses, references, orders):
    """Matches with the n-grams of all references together, where those of the hypothesis count once a reference."""
    together = [sum((oracles.ngrams(one, n) for one in references), Counter()) for n in orders]
    return [
        [
            sum(min(len(references) * count, shared[ngram]) for ngram, count in oracles.ngrams(own, n).items())
            for n, shared in zip(orders, together, strict=True)
        ]
        for own in hypotheses
    ]


def assert_are_those_of_counters(batch, longest, is_same=False):
    if is_same:
        batch = [(hypotheses, hypotheses) for hypotheses, _ in batch]
    pools = pools_of(batch, is_same)
    orders = range(1, longest + 1)
    for device in (None, torch.device("cpu")):
        matches = np.asarray(match_pairs(pools, longest, device))
        for found, (own, others) in zip(matches, batch, strict=True):
            expected = [[[oracles.matches(one, [other], n) for n in orders] for other in others] for one in own]
            assert found[: len(own), : len(others)].tolist() == expected
            assert not found[len(own) :].any()
            assert not found[:, len(others) :].any()
    for found, (own, others) in zip(match_aggregates(pools, longest), batch, strict=True):
        assert found[: len(own)].tolist() == expected_aggregates(own, others, orders)
    for side, rows in enumerate(pools.side_lengths()):
        for row, group in zip(rows.tolist(), batch, strict=True):
            sizes = [*map(len, group[side])]
            assert row == sizes + [0] * (len(row) - len(sizes))


texts = st.lists(st.integers(0, 2), max_size=10)
sides = st.lists(texts, max_size=5)

#: Sides that differ, in groups of different sizes, one with equal references and one without a reference.
APART = [([[0, 1, 0, 1], [2], []], [[0, 1, 0], [2, 2, 1]]), ([[1]], [[1], [1]]), ([[2, 2], [1]], [])]
NOTHING = [[([], [])], [([[]], [[]])], [([[]], [[]]), ([], []), ([[], []], [[], []])]]
#: The orders of these need more than one sort.
LARGE_IDS = [([[2**40, 3, 2**40, 3, 1, 2**40, 3, 1]], [[3, 2**40, 3, 1, 7], [2**40, 3, 1, 2**40]])] * 2


@examples(
    *({"batch": batch, "orders": 3, "is_same": same} for batch in (APART, *NOTHING) for same in (False, True)),
    {"batch": LARGE_IDS, "orders": 30, "is_same": False},
    {"batch": [(LARGE_IDS[0][1], [])], "orders": 30, "is_same": True},
    # Shared n-grams of one group that need more than one sort.
    {"batch": [([[1, 2] * 20], [[2, 1] * 20])], "orders": 38, "is_same": False},
    # As many documents as groups, which are no pairs.
    {"batch": [([[1, 2], [1]], []), ([], [[1, 2], [2]])], "orders": 2, "is_same": False},
)
@given(
    batch=st.lists(st.tuples(sides, sides), min_size=1, max_size=4),
    orders=st.integers(1, 5),
    is_same=st.booleans(),
)
def test_counts_are_those_of_counters(batch, orders, is_same):
    for cost in COSTS.values():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pairs, "LISTED_COST", cost)
            assert_are_those_of_counters(batch, orders, is_same)


def random_batch(seed, sizes=((9, 7), (0, 3), (1, 1), (4, 0), (6, 12)), ids=6, longest=30):
    draw = random.Random(seed)
    return [
        tuple([[draw.randrange(ids) for _ in range(draw.randrange(longest))] for _ in range(size)] for size in both)
        for both in sizes
    ]


@each_cost
@pytest.mark.parametrize("is_same", [False, True], ids=["two sides", "one side"])
@pytest.mark.parametrize(
    ("tile", "cells", "listed", "runs"),
    [
        (3, 100, 7, 300),
        pytest.param(1, 1, 1, 1, marks=pytest.mark.slow),
        pytest.param(64, 1 << 22, 5, 10**6, marks=pytest.mark.slow),
    ],
)
def test_counts_do_not_depend_on_the_cut(cost, is_same, tile, cells, listed, runs, monkeypatch):
    bounds = {"LISTED_COST": cost, "TILE": tile, "TABLE_CELLS": cells, "LISTED_PAIRS": listed, "CELLS": runs}
    for name, bound in bounds.items():
        monkeypatch.setattr(pairs, name, bound)
    assert_are_those_of_counters(random_batch(1), 3, is_same)


@pytest.mark.slow
@each_cost
def test_a_token_repeated_ten_thousand_times(cost, monkeypatch):
    monkeypatch.setattr(pairs, "LISTED_COST", cost)
    hypotheses = [[1] * 10_000 + [2], [1, 2] * 300, [2] * 40, []]
    batch = [(hypotheses, [[1] * 9_000, [2] + [1] * 8_000, [3]]), ([[1]], [[1]])]
    assert_are_those_of_counters(batch, 3)
    assert_are_those_of_counters(batch[:1], 3, is_same=True)


@pytest.mark.usefixtures("surroundings")
@each_cost
def test_counts_that_bfloat16_would_round(cost, monkeypatch, request):
    request.addfinalizer(partial(torch.set_float32_matmul_precision, torch.get_float32_matmul_precision()))
    torch.set_float32_matmul_precision("medium")
    monkeypatch.setattr(pairs, "LISTED_COST", cost)
    draw = random.Random(6)
    documents = [[draw.randrange(40) for _ in range(length)] for length in (1021, 1031, 1033, 1039)]
    assert_are_those_of_counters([(documents, documents[1:])], 2)


@examples({"batch": APART, "is_same": False}, {"batch": LARGE_IDS, "is_same": False})
@given(batch=st.lists(st.tuples(sides, sides), min_size=1, max_size=4), is_same=st.booleans())
def test_subsequences_are_those_of_each_pair(batch, is_same):
    if is_same:
        batch = [(hypotheses, hypotheses) for hypotheses, _ in batch]
    found = match_subsequences(pools_of(batch, is_same))
    for lengths, (own, others) in zip(found, batch, strict=True):
        for row, hypothesis in zip(lengths, own, strict=False):
            for length, reference in zip(row, others, strict=False):
                assert length.tolist() == [table(reference, hypothesis)[-1][-1]]
