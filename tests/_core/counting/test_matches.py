"""Clipped matches against counters, in NumPy and in torch, at every bound of chunks and keys."""

import random

import numpy as np
import oracles
import pytest
import torch
from crossings import crossings
from draws import fewer
from hypothesis import given
from hypothesis import strategies as st
from layouts import apart, by_count, padded

from ngram_metrics._core.basics.arrays import count_ngrams
from ngram_metrics.counting import clipped_matches

LARGEST = 2**63 - 1
both_engines = pytest.mark.parametrize("engine", ["numpy", "torch"])


def count(engine, batch, orders):
    if engine == "numpy":
        return clipped_matches(*apart(batch), orders).matches.tolist()
    with crossings():  # torch counts on a CPU too while something records its operations
        return clipped_matches(*padded(batch), orders, pad_id=-100).matches.tolist()


def batches(ids, longest=12, segments=6, references=4):
    """Segments with a hypothesis and one to four references, each possibly empty."""
    document = st.lists(ids, max_size=longest)
    several = st.lists(document, min_size=1, max_size=references)
    return st.lists(st.tuples(document, several), max_size=segments)


#: A handful of different ids: enough equal n-grams for ties and repetitions; the largest of them bounds the vocabulary.
vocabularies = st.integers(0, 63).flatmap(lambda bits: st.sampled_from([0, 1, 2, 2**bits - 1, min(2**bits, LARGEST)]))
orders = st.integers(1, 9) | st.sampled_from([20, 40])


@both_engines
@given(batch=batches(vocabularies), orders=orders)
def test_matches_are_those_of_counters(engine, batch, orders):
    assert count(engine, batch, orders) == oracles.match_rows(batch, orders)


def orders_that_fill_keys(digit_bits):
    """Orders one shorter, as long, and one longer than what a key of 63 bits holds, and than what two keys hold."""
    in_one_key = 63 // digit_bits
    return {keys * in_one_key + more for keys in (1, 2) for more in (-1, 0, 1)}


@both_engines
@pytest.mark.parametrize("slots", [2, 6, 7, 8, 62, 63, 64, 126, 127, 128, 500])
def test_keys_stay_exact_where_their_digits_straddle_the_word(engine, slots):
    """The ids are numbers up to that of the slots. A digit may have a bit less than it, or one more for the end."""
    draw = random.Random(slots)
    length = slots // 2
    hypothesis = [draw.choice([3, 5]) for _ in range(length)]
    reference = [draw.choice([3, 5]) for _ in range(length)]
    different = list(range(length))
    batch = [
        (hypothesis, [reference]),
        (hypothesis, [hypothesis[:-1]]),
        ([], [reference]),
        (different, [different[1:]]),
    ]
    bits = slots.bit_length()
    longest = 2 * (63 // bits) + 1
    expected = oracles.match_rows(batch, longest)

    orders = {1, longest}
    for digit_bits in (bits - 1, bits, bits + 1):
        if digit_bits:
            orders |= orders_that_fill_keys(digit_bits)
    for order in orders:
        if 1 <= order <= longest:
            assert count(engine, batch, order) == [row[:order] for row in expected]


@pytest.mark.parametrize(
    ("segments", "references"),
    [
        (1, 5),
        (2, 2),
        pytest.param(300, 1, marks=pytest.mark.slow),
        pytest.param(1, 1, marks=pytest.mark.slow),
        pytest.param(1, 2, marks=pytest.mark.slow),
        pytest.param(2, 1, marks=pytest.mark.slow),
        pytest.param(2, 5, marks=pytest.mark.slow),
        pytest.param(300, 2, marks=pytest.mark.slow),
        pytest.param(300, 5, marks=pytest.mark.slow),
    ],
)
def test_the_numbers_of_segments_and_references_take_bits_of_a_key_too(segments, references):
    draw = random.Random(references)
    documents = [
        [draw.randrange(2**20) if draw.random() < 0.3 else draw.randrange(4) for _ in range(30)]
        for _ in range(segments * (references + 1))
    ]
    batch = [(first, others) for first, *others in by_count(documents, [references + 1] * segments)]
    for order in (1, 2, 3, 4, 7, 30, 31):
        assert count("numpy", batch, order) == oracles.match_rows(batch, order)


@pytest.mark.parametrize("orders", [62, 63, 64, 130])
@both_engines
def test_orders_longer_than_any_key(engine, orders):
    batch = [([1] * 140, [[1] * 135, [1, 2] * 70]), ([1], [[1]]), ([2] * 64, [[2] * 63])]
    assert count(engine, batch, orders) == oracles.match_rows(batch, orders)


@fewer(10)
@given(st.integers(0, 10**6), st.sampled_from([1, 3]))
def test_chunks_do_not_change_the_counts(seed, references):
    """Several chunks, of which some are one segment that is larger than a chunk."""
    draw = random.Random(seed)

    def document():
        return [draw.randrange(9) for _ in range(5000 if draw.random() < 0.005 else draw.randrange(25))]

    batch = [(document(), [document() for _ in range(draw.randint(1, references))]) for _ in range(600)]
    assert count("numpy", batch, 4) == oracles.match_rows(batch, 4)


@pytest.mark.slow
@pytest.mark.parametrize("references", [1, 2])
@both_engines
def test_one_giant_document(engine, references):
    draw = random.Random(0)
    texts = [draw.choices(range(50), k=80_000) for _ in range(1 + references)]
    batch = [(texts[0], texts[1:]), ([1, 2, 3], [[1, 2]] * references)]
    assert count(engine, batch, 4) == oracles.match_rows(batch, 4)


def test_a_long_segment_is_counted_in_parts_of_its_orders():
    """So many slots times orders are not compared at once."""
    text = random.Random(1).choices(range(3), k=25_000)
    batch = [(text, [text[7:], text[:90]])]
    assert count("numpy", batch, 22) == oracles.match_rows(batch, 22)


@pytest.mark.slow
def test_padded_rows_of_many_slots_are_counted_a_few_segments_at_a_time():
    """A device counts 2^22 slots at a time: here each segment has more."""
    preds = torch.tensor([[1, 2], [3, 4]])
    target = torch.full((2, 1, 1 << 22), -100)
    target[0, 0, :2] = torch.tensor([1, 2])
    target[1, 0, -2:] = torch.tensor([4, 3])
    with crossings():
        matches = clipped_matches(preds, target, 2, pad_id=-100).matches
    assert matches.tolist() == [[2, 1], [2, 0]]


@given(st.lists(st.integers(0, 9)), st.integers(1, 12))
def test_totals_are_those_of_counters_for_any_leading_shape(lengths, orders):
    expected = [[oracles.ngrams(range(length), n).total() for n in range(1, orders + 1)] for length in lengths]
    for array in (np.array(lengths, np.int64), torch.tensor(lengths, dtype=torch.int64)):
        assert count_ngrams(array, orders).tolist() == expected
        assert count_ngrams(array.reshape(1, -1, 1), orders).tolist() == [[[row] for row in expected]]
