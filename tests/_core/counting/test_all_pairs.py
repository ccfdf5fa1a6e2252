"""All-pairs and aggregate matches against counters, however the work is cut."""

import random
from collections import Counter
from functools import partial
from itertools import chain, product

import oracles
import pytest
import torch
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from layouts import groups
from torch.utils._python_dispatch import TorchDispatchMode

from ngram_metrics._core.counting import all_pairs
from ngram_metrics._core.counting import documents as documents_module
from ngram_metrics._core.counting import pools as pools_module
from ngram_metrics._core.counting.all_pairs import all_pairs_matches
from ngram_metrics._core.counting.pools import aggregate_matches

CPU = torch.device("cpu")
#: What a listed pair is said to cost: so all columns go through the product, all are listed, or each as it seems best.
PATHS = {"product": 10**9, "listed": 0, "either": 4}
every_path = pytest.mark.parametrize("path", PATHS)


@pytest.fixture(scope="module", autouse=True)
def counted_in_pools():
    """As large groups are; the tests of small batches say so."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pools_module, "SMALL_CELLS", 0)
        yield


def both_sides(batch, same=False):
    hypotheses = groups([hypothesis for hypothesis, _ in batch])
    return hypotheses, hypotheses if same else groups([one for _, one in batch])


def listed_matches(batch, max_order, same=False):
    """The matches of each group, `[group][hypothesis][reference][order]`, put together from the blocks."""
    joined = [[] for _ in batch]
    covered = []
    for block in all_pairs_matches(*both_sides(batch, same), max_order, CPU):
        assert block.matches.dtype in (torch.int32, torch.int64)
        assert block.matches.shape[:3] == (*block.hypothesis_lengths.shape, block.reference_lengths.shape[1])
        assert block.rows == (0, block.matches.shape[1]) or block.groups[1] - block.groups[0] == 1
        for index, group in enumerate(range(*block.groups)):
            hypotheses, references = batch[group]
            hypotheses = hypotheses[slice(*block.rows)]
            there, missing = len(hypotheses), len(references)
            joined[group] += block.matches[index, :there, :missing].tolist()
            assert block.matches[index, there:].sum() == 0
            assert block.matches[index, :, missing:].sum() == 0
            assert block.hypothesis_lengths[index, :there].tolist() == list(map(len, hypotheses))
            assert block.reference_lengths[index, :missing].tolist() == list(map(len, references))
            assert block.hypothesis_lengths[index, there:].sum() == block.reference_lengths[index, missing:].sum() == 0
        covered += range(*block.groups)
    assert list(dict.fromkeys(covered)) == list(range(len(batch)))
    return joined


def expected_matches(batch, max_order):
    orders = range(1, max_order + 1)
    return [
        [
            [[oracles.matches(hypothesis, [other], n) for n in orders] for other in references]
            for hypothesis in hypotheses
        ]
        for hypotheses, references in batch
    ]


def expected_aggregate(batch, max_order):
    """Matches, and totals of hypothesis and references, times the number of references."""
    rows = [[], [], []]
    for hypotheses, references in batch:
        summed = [
            sum((oracles.ngrams(reference, n) for reference in references), Counter()) for n in range(1, max_order + 1)
        ]
        for hypothesis in hypotheses:
            own = [oracles.ngrams(hypothesis, n) for n in range(1, max_order + 1)]
            rows[0].append(
                [
                    sum(min(len(references) * count, all_of[ngram]) for ngram, count in counts.items())
                    for counts, all_of in zip(own, summed, strict=True)
                ]
            )
            rows[1].append([len(references) * counts.total() for counts in own])
            rows[2].append([all_of.total() for all_of in summed])
    return rows


def aggregate(batch, max_order, same=False):
    counts = aggregate_matches(*both_sides(batch, same), max_order, CPU)
    assert all(field.dtype == torch.int64 for field in counts)
    return [field.tolist() for field in counts]


texts = st.lists(st.integers(0, 2), max_size=10)


def batches():
    side = st.lists(texts, max_size=5)
    return st.lists(st.tuples(side, side), max_size=4)


def random_batch(seed, sizes=((9, 7), (0, 3), (1, 1), (4, 0), (6, 12)), ids=6, longest=30):
    draw = random.Random(seed)
    return [
        tuple([[draw.randrange(ids) for _ in range(draw.randrange(longest))] for _ in range(size)] for size in both)
        for both in sizes
    ]


#: Sides that differ, in groups of different sizes, one with equal references and one without a reference.
APART = [([[0, 1, 0, 1], [2], []], [[0, 1, 0], [2, 2, 1]]), ([[1]], [[1], [1]]), ([[2, 2], [1]], [])]

NOTHING = [[], [([], [])], [([[]], [[]])], [([[]], [[]]), ([], []), ([[], []], [[], []])]]
#: Orders of these need more than one sort.
LARGE_IDS = [([[2**40, 3, 2**40, 3, 1, 2**40, 3, 1]], [[3, 2**40, 3, 1, 7], [2**40, 3, 1, 2**40]])] * 2

# Against counters


@examples(
    *({"batch": batch, "max_order": 3, "same": same} for batch in (APART, *NOTHING) for same in (False, True)),
    {"batch": LARGE_IDS, "max_order": 6, "same": False},
    {"batch": [(LARGE_IDS[0][1], [])], "max_order": 6, "same": True},
    # As many documents as groups, which are no pairs.
    {"batch": [([[1, 2], [1]], []), ([], [[1, 2], [2]])], "max_order": 2, "same": False},
    {"batch": [([[1, 2]], [[1, 2], [2]]), ([[2]], [])], "max_order": 2, "same": False},
)
@given(batch=batches(), max_order=st.integers(1, 5), same=st.booleans())
def test_counts_are_those_of_counters(batch, max_order, same):
    if same:
        batch = [(hypotheses, hypotheses) for hypotheses, _ in batch]
    for cost in PATHS.values():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(all_pairs, "PAIR_COST", cost)
            assert listed_matches(batch, max_order, same) == expected_matches(batch, max_order)
    assert aggregate(batch, max_order, same) == expected_aggregate(batch, max_order)


CELLS, SLOTS, MINIMA = [1 << 22, 300, 3000], [1 << 14, 5, 40], [1 << 14, 0]


@examples(
    *(
        {"batch": APART, "max_order": 3, "same": False, "cells": cells, "slots": slots, "minima": minima}
        for cells, slots, minima in product(CELLS, SLOTS, MINIMA)
    )
)
@given(
    batch=batches(),
    max_order=st.integers(1, 12),
    same=st.booleans(),
    cells=st.sampled_from(CELLS),
    slots=st.sampled_from(SLOTS),
    minima=st.sampled_from(MINIMA),
)
def test_small_batches_are_counted_in_tables(batch, max_order, same, cells, slots, minima):
    """Groups of the same sizes and of different ones, some without documents on a side, in one table or in several."""
    if same:
        batch = [(hypotheses, hypotheses) for hypotheses, _ in batch]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pools_module, "SMALL_CELLS", cells)
        patch.setattr(pools_module, "SMALL_SLOTS", slots)
        patch.setattr(all_pairs, "SMALL_MINIMA", minima)
        assert listed_matches(batch, max_order, same) == expected_matches(batch, max_order)
        assert aggregate(batch, max_order, same) == expected_aggregate(batch, max_order)


@pytest.mark.parametrize("spare", [0, -1])
def test_small_batches_are_those_within_the_limit(monkeypatch, spare):
    pooled = []
    for module in (all_pairs, pools_module):
        monkeypatch.setattr(module, "pools", lambda *groups: pooled.append(groups) or ())
    # The larger group has 70 tokens in 5 rows, and both are counted as large.
    batch = [([[1] * 30, [2] * 20], [[1] * 10, [2] * 5, [3] * 5]), ([[1]], [])]
    monkeypatch.setattr(pools_module, "SMALL_CELLS", 2 * 70 * 5 * 2 + spare)
    assert len(list(all_pairs_matches(*both_sides(batch), 2, CPU))) == 1 + spare
    aggregate_matches(*both_sides(batch), 2, CPU)
    assert len(pooled) == -2 * spare
    # Six rows of one token each: more documents than tokens.
    monkeypatch.setattr(pools_module, "SMALL_CELLS", 5 * 5 + spare)
    assert len(list(all_pairs_matches(*both_sides([([[], [1]], [[], [], [1]])]), 1, CPU))) == 1 + spare


def test_a_batch_is_cut_into_small_ones_of_whole_groups(monkeypatch):
    monkeypatch.setattr(pools_module, "SMALL_CELLS", 1 << 22)
    monkeypatch.setattr(pools_module, "SMALL_SLOTS", 30)
    group = ([[1] * 6], [[1] * 4, [1] * 5])  # 15 slots, so two fit
    parts = [block.groups for block in all_pairs_matches(*both_sides([group] * 5), 2, CPU)]
    assert parts == [(0, 1), (1, 3), (3, 5)] or parts == [(0, 2), (2, 4), (4, 5)]
    # One that is too large leaves all to the pools.
    pooled = []
    monkeypatch.setattr(all_pairs, "pools", lambda *groups: pooled.append(groups) or ())
    assert not list(all_pairs_matches(*both_sides([group, ([[1] * 16], [[1] * 15])]), 2, CPU))
    assert len(pooled) == 1
    assert len(list(all_pairs_matches(*both_sides([group, ([[1] * 15], [[1] * 15])]), 2, CPU))) == 2


PAIRS = [([[1, 2, 1, 2]], [[2, 1, 2]]), ([[]], [[3]]), ([[2, 3]], [[2, 3]])]
SEVERAL = [([[1, 2, 1], [], [2]], [[2, 1]]), ([[3], [3, 3], [1, 3]], [[3, 3, 3]])]


@pytest.mark.parametrize("batch", [PAIRS, SEVERAL, SEVERAL[:1], [*SEVERAL, *PAIRS], [([], [[1]]), *PAIRS]])
def test_hypotheses_with_one_reference_are_counted_as_segments(monkeypatch, batch):
    monkeypatch.setattr(all_pairs, "FEWEST_REPEATED", 0)
    for way in ("pools", "small_layouts"):
        monkeypatch.setattr(all_pairs, way, None)
    assert listed_matches(batch, 3) == expected_matches(batch, 3)
    if batch is PAIRS:
        batch = [(hypotheses, hypotheses) for hypotheses, _ in batch]
        assert listed_matches(batch, 3, same=True) == expected_matches(batch, 3)


@given(
    st.lists(st.tuples(st.lists(texts, max_size=4), st.lists(texts, min_size=1, max_size=1)), max_size=4),
    st.integers(0, 20),
)
def test_groups_with_one_reference_have_the_counts_of_counters(batch, fewest):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(all_pairs, "FEWEST_REPEATED", fewest)
        assert listed_matches(batch, 3) == expected_matches(batch, 3)


@pytest.mark.parametrize("spare", [0, 1])
def test_a_long_reference_is_not_repeated_for_many_hypotheses(monkeypatch, spare):
    pooled = []
    monkeypatch.setattr(all_pairs, "FEWEST_REPEATED", 4)
    monkeypatch.setattr(all_pairs, "pools", lambda *groups: pooled.append(groups) or ())
    batch = [([[1, 2], [1], [3]], [[1] * 5]), ([[]], [[2] * (1 + spare)])]  # 4 tokens, and 16 of references
    assert len(list(all_pairs_matches(*both_sides(batch), 2, CPU))) == 1 - spare
    assert len(pooled) == spare


@pytest.mark.parametrize("spare", [0, -1])
def test_small_batches_are_those_whose_keys_fit(monkeypatch, spare):
    """Keys of 2 bits for a group, 6 digits of 10 bits and a bit for a row are 63."""
    pooled = []
    monkeypatch.setattr(pools_module, "SMALL_CELLS", 1 << 22)
    monkeypatch.setattr(all_pairs, "pools", lambda *groups: pooled.append(groups) or ())
    group = ([[0, 1022, 3, 0, 1022, 3, 5]], [[1022, 3, 0, 1022, 3, 5, 1]])
    batch = [*[group] * (3 - spare), (group[0], [])]
    hypotheses, references = both_sides(batch)
    wide = [side._replace(tokens=side.tokens._replace(id_bound=1023)) for side in (hypotheses, references)]
    blocks = list(all_pairs_matches(*wide, 6, CPU))
    assert (len(blocks), len(pooled)) == (1 + spare, -spare)
    for block in blocks:
        assert block.matches.flatten(0, 2).tolist() == [*[expected_matches([group], 6)[0][0][0]] * 3, [0] * 6]


@every_path
def test_a_token_repeated_ten_thousand_times(path, monkeypatch):
    monkeypatch.setattr(all_pairs, "PAIR_COST", PATHS[path])
    hypotheses = [[1] * 10_000 + [2], [1, 2] * 300, [2] * 40, []]
    references = [[1] * 9_000, [2] + [1] * 8_000, [3]]
    batch = [(hypotheses, references), ([[1]], [[1]])]
    assert listed_matches(batch, 3) == expected_matches(batch, 3)
    assert listed_matches([(hypotheses, hypotheses)], 3, same=True) == expected_matches([(hypotheses, hypotheses)], 3)
    assert aggregate(batch, 3) == expected_aggregate(batch, 3)


# However the work is cut


def cut(monkeypatch, tokens, block, dense, pairs, pool):
    monkeypatch.setattr(documents_module, "CPU_SLOTS", tokens)
    monkeypatch.setattr(all_pairs, "BLOCK_CELLS", block)
    monkeypatch.setattr(all_pairs, "DENSE_CELLS", dense)
    monkeypatch.setattr(all_pairs, "CPU_LISTED_PAIRS", pairs)
    monkeypatch.setattr(pools_module, "POOL_CELLS", pool)


@pytest.mark.covering
@every_path
@pytest.mark.parametrize("same", [False, True], ids=["two sides", "one side"])
@pytest.mark.parametrize(
    "sizes", [(1, 1, 1, 1, 1), (200, 100, 150, 5, 400), (200, 10**6, 100, 10**6, 10**6), (10**6, 60, 10**6, 7, 10**6)]
)
def test_counts_do_not_depend_on_the_cut(path, same, sizes, monkeypatch):
    monkeypatch.setattr(all_pairs, "PAIR_COST", PATHS[path])
    batch = random_batch(1)
    if same:
        batch = [(hypotheses, hypotheses) for hypotheses, _ in batch]
    cut(monkeypatch, *sizes)
    assert listed_matches(batch, 3, same) == expected_matches(batch, 3)
    assert aggregate(batch, 3, same) == expected_aggregate(batch, 3)


@pytest.mark.parametrize("same", [False, True], ids=["two sides", "one side"])
def test_no_block_is_larger_than_its_budget(same, monkeypatch):
    monkeypatch.setattr(all_pairs, "BLOCK_CELLS", 120)
    batch = random_batch(2, sizes=[*[(2, 2)] * 20, (9, 9), *[(2, 2)] * 20, (1, 50)])
    if same:
        batch = [(hypotheses, hypotheses) for hypotheses, _ in batch]
    blocks = list(all_pairs_matches(*both_sides(batch, same), 3, CPU))
    rows = [block.rows[1] - block.rows[0] for block in blocks]
    sizes = [block.matches.numel() for block in blocks]
    assert all(size <= 120 or height == 1 for size, height in zip(sizes, rows, strict=True))
    assert sum(block.groups[1] - block.groups[0] == 10 for block in blocks) == 4  # small groups share a block


def test_no_pool_has_more_tokens_than_its_budget(monkeypatch):
    monkeypatch.setattr(documents_module, "CPU_SLOTS", 200)
    pools = list(pools_module.pools(*both_sides(random_batch(8, sizes=[(2, 2)] * 30)), 10**6, CPU))
    assert all(pool.size == 1 or len(pool.row) <= 200 for pool in pools)
    assert 1 < len(pools) < 30


def test_no_more_pairs_are_listed_at_a_time_than_their_budget(monkeypatch):
    monkeypatch.setattr(all_pairs, "PAIR_COST", 0)
    monkeypatch.setattr(all_pairs, "CPU_LISTED_PAIRS", 100)
    listed = []

    class Listed(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            if function is torch.ops.aten.scatter_add_.default:
                listed.append(args[2].numel())
            return function(*args, **(kwargs or {}))

    batch = random_batch(9, sizes=[(30, 40)])
    with Listed():
        assert listed_matches(batch, 2) == expected_matches(batch, 2)
    # One that shares a column with all 40 may still fit in.
    assert 100 - 40 < max(listed) <= 100 + 40


def test_a_large_group_does_not_pad_many_small_ones(monkeypatch):
    monkeypatch.setattr(pools_module, "POOL_CELLS", 10_000)
    batch = [*random_batch(3, sizes=[(1, 1)] * 50), ([[1] * 3_000], [[1] * 3_000]), *random_batch(4)]
    for pool in pools_module.pools(*both_sides(batch), 10**6, CPU):
        tokens = pool.hypothesis_lengths.sum(1) + pool.reference_lengths.sum(1)
        assert pool.size == 1 or pool.rows * int(tokens.max()) <= 10_000
    assert listed_matches(batch, 2) == expected_matches(batch, 2)


def test_no_product_sums_more_ones_than_a_float32_counts(monkeypatch):
    shapes, product = [], torch.bmm

    def spied(left, right):
        assert left.dtype == right.dtype == torch.float32
        assert left.max() <= all_pairs.LARGEST_WEIGHT
        shapes.append(left.shape)
        return product(left, right)

    monkeypatch.setattr(torch, "bmm", spied)
    assert all_pairs.EXACT_COLUMNS * all_pairs.LARGEST_WEIGHT == 2**24
    monkeypatch.setattr(all_pairs, "EXACT_COLUMNS", 7)
    monkeypatch.setattr(all_pairs, "PAIR_COST", 10**9)
    batch = [*random_batch(5), ([[1] * 900], [[1] * 800])]
    assert listed_matches(batch, 3) == expected_matches(batch, 3)
    assert max(shape[-1] for shape in shapes) == 7


# Whatever the surroundings say about floating point


@pytest.mark.usefixtures("surroundings")
@every_path
def test_counts_that_bfloat16_would_round(path, monkeypatch, request):
    request.addfinalizer(partial(torch.set_float32_matmul_precision, torch.get_float32_matmul_precision()))
    torch.set_float32_matmul_precision("medium")
    monkeypatch.setattr(all_pairs, "PAIR_COST", PATHS[path])
    draw = random.Random(6)
    documents = [[draw.randrange(40) for _ in range(length)] for length in (1021, 1031, 1033, 1039)]
    batch = [(documents, documents[1:])]
    found = listed_matches(batch, 2)
    assert found == expected_matches(batch, 2)
    assert max(chain.from_iterable(chain.from_iterable(found[0]))) > 257
    assert aggregate(batch, 2) == expected_aggregate(batch, 2)
