"""Segments counted with numpy: the matches of counters at every bound of a chunk, of a bin and of a key."""

import random
import subprocess
import sys
from itertools import cycle, product

import oracles
import pytest
import torch
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from layouts import ragged, ragged_sides
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

from ngram_metrics._core.counting import numpy_matches
from ngram_metrics._core.counting.documents import DocumentGroups, RaggedPairs, RaggedSides, RaggedTokens
from ngram_metrics.functional import bleu_score

count = numpy_matches.numpy_matches


def matches_of(pairs, max_order):
    sides = ragged_sides([(hypothesis, [reference]) for hypothesis, reference in pairs])
    return count(sides.only_pairs, max_order).tolist()


def expected(pairs, max_order):
    return oracles.match_rows([(hypothesis, [reference]) for hypothesis, reference in pairs], max_order)


def with_bound(pairs, id_bound):
    """The pairs in the ragged layout, with ids below a bound that may be larger than needed."""
    return RaggedPairs(*(ragged(side, id_bound) for side in zip(*pairs, strict=True)))


#: The bits of the slots of a chunk, and the slots of a round and of a bin. Chunks of 2^16 slots hold no key of four
#: places, only ranks.
SIZES = [*product([2, 5, 6, 7, 10, 16], [1, 30, 1 << 13], [1, 7, 128])]


def set_slot_bits(patch, bits):
    patch.setattr(numpy_matches, "MOST_SLOT_BITS", bits)
    patch.setattr(numpy_matches, "LEAST_SLOT_BITS", bits)


def set_sizes(patch, bits, round_slots, bin_slots):
    set_slot_bits(patch, bits)
    patch.setattr(numpy_matches, "_ROUND_SLOTS", round_slots)
    patch.setattr(numpy_matches, "_BIN_SLOTS", bin_slots)


def pairs_below(most):
    document = st.lists(st.integers(0, most), max_size=12)
    return st.lists(st.tuples(document, document), max_size=8)


@examples(
    *(
        {"pairs": [([0, most, 0, most], [most, 0, most]), ([most], []), ([most] * 12, [most] * 9)], "sizes": sizes}
        for sizes, most in zip(SIZES[::5], cycle([1, 1000, 200_000, 3, 40]), strict=False)
    )
)
@given(pairs=st.sampled_from([1, 3, 40, 1000, 200_000]).flatmap(pairs_below), sizes=st.sampled_from(SIZES))
def test_matches_are_those_of_counters_in_chunks_of_any_size(pairs, sizes):
    with pytest.MonkeyPatch.context() as patch:
        set_sizes(patch, *sizes)
        for max_order in (1, 2, 4, 5, 9, 20, 40):
            assert matches_of(pairs, max_order) == expected(pairs, max_order)


@pytest.mark.parametrize("slots", [2**13 - 2, 2**15 - 2, 2**15 - 1, 2**15, 2**16 - 2, 2**16 - 1, 2**16])
def test_a_pair_fills_a_chunk_to_the_last_slot_and_beyond(slots):
    """Two runs of all slots: neither a count nor a place overflows its bits."""
    half = slots // 2
    for pairs in (
        [([7] * half, [7] * (slots - half))],
        [([7] * (slots - 1), [7])],
        [([], [7] * slots)],
        [(list(range(half)), list(range(slots - half))), ([1], [1])],
    ):
        assert matches_of(pairs, 3) == [
            [max(0, min(len(one), len(other)) - lost) for lost in range(3)] for one, other in pairs
        ]
    # No slot is matched: the sum over the runs is the number of slots.
    assert matches_of([(list(range(half)), list(range(half, slots)))], 3) == [[0] * 3]


@pytest.mark.parametrize("spare", [-1, 0, 1])
def test_keys_are_exact_where_they_fill_the_word_and_beyond(spare):
    """Ids of 2^k - 2 and less fill k bits, beside all bits set, which stand for no token."""
    draw = random.Random(spare)
    for orders, bits in ((6, 8), (5, 9), (3, 16), (2, 20)):
        bound = (1 << bits) - 2 + spare
        ends = [0, 1, bound - 2, bound - 1]
        pairs = [(draw.choices(ends, k=9), draw.choices(ends, k=9)) for _ in range(40)]
        assert count(with_bound(pairs, bound), orders).tolist() == expected(pairs, orders)
    for distinct in (61, 62, 63):  # ranks of up to 62 tokens have six bits
        pairs = [(list(range(distinct)), [0, *range(distinct - 5)])] * 3
        assert count(with_bound(pairs, 2**20), 9).tolist() == expected(pairs, 9)


@pytest.mark.parametrize("distinct", [9, 10, 14, 15, 16])
def test_wide_ids_of_high_orders_are_ranked_in_their_segment(distinct):
    """Ranks of up to 14 tokens fill four bits, beside all bits set; places in the chunk would need eleven."""
    draw = random.Random(distinct)
    ids = draw.sample(range(2**30), distinct)
    pairs = [(draw.sample(ids, distinct - 4), draw.sample(ids, 4)) for _ in range(50)]
    pairs += [([ids[0]] * 7, [ids[0]] * 3), ([], ids[:5]), (ids[:8], ids[:8])]
    for orders in (6, 8, 12):
        assert count(with_bound(pairs, 2**30), orders).tolist() == expected(pairs, orders)


# With several references.

segments_of_ids = st.lists(
    st.tuples(
        st.lists(st.integers(0, 2), max_size=9),
        st.lists(st.lists(st.integers(0, 2), max_size=9), min_size=1, max_size=5),
    ),
    max_size=8,
)


@examples(
    *(
        {"drawn": [([0, 1, 0, 2], [[1, 0], [], [0, 1, 0]]), ([], [[1]])] * 2, "spread": spread, "sizes": sizes}
        for sizes, spread in zip(SIZES[::5], cycle([500_000, 1, 20, 1]), strict=False)
    )
)
@given(drawn=segments_of_ids, spread=st.sampled_from([1, 20, 500_000]), sizes=st.sampled_from(SIZES))
def test_several_references_have_the_matches_of_counters_in_chunks_of_any_size(drawn, spread, sizes):
    """Any number of references in each segment, empty ones too; ids as they are, as places and as ranks."""
    segments = [
        ([spread * token for token in hypothesis], [[spread * token for token in one] for one in references])
        for hypothesis, references in drawn
    ]
    with pytest.MonkeyPatch.context() as patch:
        set_sizes(patch, *sizes)
        for max_order in (1, 2, 4, 5, 9, 20, 40):
            sides = ragged_sides(segments)
            rows = count(sides.only_pairs or sides, max_order)
            assert rows.tolist() == oracles.match_rows(segments, max_order)


@pytest.mark.covering
@pytest.mark.parametrize("references", [2, 3, 4, 7, 8, 255, 256, 1023, 1024])
def test_numbers_of_documents_fill_their_bits_and_beyond(references):
    segments = [
        ([1] * 9, [[1] * (number % 9) for number in range(references)]),
        ([1] * 9, [[2] * 9] * references),
        ([1, 2] * 4, [*[[1, 1]] * (references - 1), [2, 1, 2]]),
        ([], [[]]),
    ]
    expected_rows = oracles.match_rows(segments, 3)
    assert count(ragged_sides(segments * 10), 3).tolist() == expected_rows * 10


@pytest.mark.parametrize("spare", [-1, 0, 1])
@pytest.mark.parametrize(("orders", "bits", "references"), [(6, 10, 4), (6, 10, 1), (5, 12, 3), (20, 3, 2), (4, 15, 4)])
def test_bins_hold_as_many_segments_as_their_keys_can_number(orders, bits, references, spare):
    """Beside the digits there are 0 to 2 bits: neighbours with the same n-grams have to be told apart."""
    bound = (1 << bits) - 2 + spare
    draw = random.Random(orders)
    hypothesis = draw.choices([0, bound - 1], k=25)
    segments = [(hypothesis[index % 5 :], [hypothesis[: 25 - index % 4]] * references) for index in range(40)]
    segments += [([bound - 1], [[bound - 1]] * references)] * 40
    rows = count(ragged_sides(segments), orders)
    assert rows.tolist() == oracles.match_rows(segments, orders)


@pytest.mark.parametrize("key_bits", range(9, 16))
def test_a_digit_that_does_not_fit_behind_its_head_is_ranked_with_it(monkeypatch, key_bits):
    """As with millions of references, in keys of fewer bits."""
    monkeypatch.setattr(numpy_matches, "KEY_BITS", key_bits)
    tokens = [*range(20), 3, 4, 5, 6]
    segments = [(tokens, [tokens[2:], [], [3, 4, 5, 6, 7]]), ([3, 4], [[3, 4, 5], [], []]), ([1], [[], [1], [2]])]
    assert count(ragged_sides(segments), 6).tolist() == oracles.match_rows(segments, 6)


@pytest.mark.parametrize("slots", [30, 31, 62, 63])
def test_a_segment_with_several_references_fills_a_chunk_and_more(monkeypatch, slots):
    set_slot_bits(monkeypatch, 5)
    tokens = list(range(100, 100 + slots - 20))
    segments = [([7] * 10, [[7] * 10, tokens]), ([1], [[1]]), (tokens, [[7] * 10, tokens[-10:]])]
    assert count(ragged_sides(segments), 2).tolist() == oracles.match_rows(segments, 2)


def test_more_pairs_than_a_key_can_number_are_cut():
    """Short pairs take few slots, and empty pairs take none, but each takes a number."""
    matched = random.Random(0).choices([True, False], k=15_000)
    pairs = [([3], [3]) if both else ([], [[], [1]][place % 2]) for place, both in enumerate(matched)]
    for bound in (30, 1 << 14):
        counted = count(with_bound(pairs, bound), 4)
        assert counted.tolist() == [[int(both), 0, 0, 0] for both in matched]


@pytest.mark.parametrize("slots", [30, 31, 32])
def test_the_last_place_of_a_chunk_is_not_taken_for_the_end_of_a_reference(monkeypatch, slots):
    set_slot_bits(monkeypatch, 5)
    for last in (slots - 1, slots):
        tokens = list(range(100, 100 + last - 6))
        pairs = [([1, 2], [1]), (tokens, [1]), ([], [7, 2])]
        assert count(with_bound(pairs, 5000), 2).tolist() == [[1, 0], [0, 0], [0, 0]]
        # A segment by itself.
        assert count(with_bound([([2, 2], [*tokens, 4, 4, 4, 2])], 5000), 2).tolist() == [[1, 0]]


@given(data=st.data())
def test_segments_whose_keys_do_not_fit_are_counted_apart(data):
    """Beside short segments, one that has as many distinct tokens as a key of six orders can hold, and more."""
    draw = data.draw(st.randoms(use_true_random=False))
    distinct = data.draw(st.integers(1015, 1030))
    tokens = draw.sample(range(1 << 15), distinct)
    cut = data.draw(st.integers(0, distinct))
    copied = data.draw(st.integers(0, distinct))
    long = (tokens[:cut], [tokens[cut:] + tokens[:copied], *data.draw(st.sampled_from([[], [tokens[: cut // 2]]]))])
    short = [(draw.choices(tokens, k=6), [draw.choices(tokens[:9], k=7)]) for _ in range(4)]
    segments = [*short, long, *short]
    sides = ragged_sides(segments)
    max_order = data.draw(st.integers(5, 7))
    assert count(sides.only_pairs or sides, max_order).tolist() == oracles.match_rows(segments, max_order)


def test_a_segment_of_a_million_tokens_is_counted():
    """A slot, a rank and a digit take more bits together than a key has."""
    tokens = torch.randperm(1 << 20, generator=torch.Generator().manual_seed(0))
    ids = torch.cat((tokens, tokens[5:], tokens[:-4]))
    lengths = torch.tensor([len(tokens), len(tokens) - 5, len(tokens) - 4])
    both = RaggedTokens(ids, lengths, len(tokens))
    sides = RaggedSides(both.slice(0, 1), DocumentGroups(both.slice(1, 3), torch.tensor([2])))
    # The second reference has the first tokens, the first one the last.
    assert count(sides, 5).tolist() == [[len(tokens) - lost for lost in range(5)]]


def test_many_references_of_a_long_hypothesis_take_little_memory():
    """A table of its repeated n-grams and 254 references would take hundreds of megabytes."""
    program = """
import resource, torch
from ngram_metrics._core.counting import numpy_matches
from ngram_metrics._core.counting.documents import DocumentGroups, RaggedSides, RaggedTokens
hypothesis = torch.arange(200_000).repeat_interleave(2)
references = (torch.arange(254).unsqueeze(1) * 800 + torch.arange(1600)) % 200_000
lengths = torch.tensor([400_000] + [1600] * 254)
tokens = RaggedTokens(torch.cat((hypothesis, references.flatten())), lengths, 200_000)
sides = RaggedSides(tokens.slice(0, 1), DocumentGroups(tokens.slice(1, 255), torch.tensor([254])))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
matches = numpy_matches.numpy_matches(sides, 4)
print(matches.tolist(), (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    matches, megabytes = run.stdout.rsplit(" ", 1)
    assert matches == "[[200000, 199999, 0, 0]]"
    assert int(megabytes) < 300


def test_orders_beyond_the_longest_document_fit():
    assert matches_of([([1, 2, 3], [1, 2]), ([], [5])], 1000) == [[2, 1, *[0] * 998], [0] * 1000]


def _bleu(preds, target):
    return bleu_score(preds, target, ngram=2, average="macro", pad_id=0)


@pytest.mark.parametrize(
    "record",
    [make_fx(_bleu), lambda *example: torch.jit.trace(_bleu, example, check_trace=False)],
    ids=["make_fx", "trace"],
)
@pytest.mark.filterwarnings("ignore")  # torch.jit is deprecated, and warns of every Python number
def test_a_recorded_call_counts_other_data(record):
    first, second, target = (
        torch.randint(0, 4, (5, 8), generator=torch.Generator().manual_seed(seed)) for seed in range(3)
    )
    recorded = record(first, target)
    # A recorded call scores in torch, another one in plain Python.
    assert recorded(second, target).item() == pytest.approx(_bleu(second, target).item(), abs=1e-15)
    assert abs(_bleu(second, target) - _bleu(first, target)) > 1e-3


@pytest.mark.filterwarnings("ignore:There is a performance drop")  # vmap has no rule of its own for scatter
def test_tensors_without_data_are_left_to_torch():
    with FakeTensorMode():
        assert _bleu(torch.empty(3, 8, dtype=torch.int64), torch.empty(3, 8, dtype=torch.int64)).shape == ()
    preds, target = (torch.randint(0, 4, (2, 3, 8), generator=torch.Generator().manual_seed(seed)) for seed in range(2))
    expected = [float(_bleu(*batch)) for batch in zip(preds, target, strict=True)]
    assert torch.vmap(_bleu)(preds, target).tolist() == expected
    assert torch.vmap(_bleu, (None, 0))(preds[0], target)[0] == expected[0]


@pytest.mark.parametrize("place", [0, 1])
def test_a_chunk_without_tokens_has_no_ranks(monkeypatch, place):
    """Ids are ranked, and a segment of more than a chunk leaves the empty ones beside it a chunk of their own."""
    set_slot_bits(monkeypatch, 4)
    long = [1000 * number for number in range(60)]
    pairs = [([], []), ([], [])]
    pairs.insert(2 * place, (long, long))
    assert matches_of(pairs, 10) == expected(pairs, 10)
