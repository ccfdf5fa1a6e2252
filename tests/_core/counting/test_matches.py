"""Clipped matches against counters, in NumPy and in torch, at every bound of chunks and keys."""

import random
from functools import partial

import numpy as np
import oracles
import pytest
import torch
from draws import fewer
from hypothesis import given
from hypothesis import strategies as st
from layouts import array_batch, by_count, tensor_batch
from torch.utils._python_dispatch import TorchDispatchMode

from ngram_metrics import counting
from ngram_metrics._core.basics.arrays import count_ngrams

LARGEST = 2**63 - 1
LAYOUTS = {"arrays": array_batch, "tensors": tensor_batch}
both_layouts = pytest.mark.parametrize("layout", LAYOUTS)


class Recorded(TorchDispatchMode):
    """Sees the operations of torch, which then counts itself."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


def count(layout, batch, orders):
    matches = LAYOUTS[layout](batch).count_matches(orders)
    assert (str(matches.dtype).removeprefix("torch."), tuple(matches.shape)) == ("int64", (len(batch), orders))
    return matches.tolist()


def batches(ids, longest=12, segments=6, references=4):
    """Segments with a hypothesis and one to four references, each possibly empty."""
    document = st.lists(ids, max_size=longest)
    several = st.lists(document, min_size=1, max_size=references)
    return st.lists(st.tuples(document, several), max_size=segments)


#: A handful of different ids: enough equal n-grams for ties and repetitions; the largest of them bounds the vocabulary.
vocabularies = st.integers(0, 63).flatmap(lambda bits: st.sampled_from([0, 1, 2, 2**bits - 1, min(2**bits, LARGEST)]))
any_ids = st.sampled_from([-(2**63), 1 - 2**63, -100, -2, -1, 0, 1, 7, 2**22 - 1, 2**22, 2**62, LARGEST - 1, LARGEST])
orders = st.integers(1, 9) | st.sampled_from([20, 40])


@both_layouts
@given(batch=batches(vocabularies), orders=orders)
def test_matches_are_those_of_counters(layout, batch, orders):
    assert count(layout, batch, orders) == oracles.match_rows(batch, orders)


@pytest.mark.parametrize("in_torch", [False, True])
@given(data=st.data(), orders=orders)
def test_padded_ids_have_the_matches_of_counters_wherever_padding_stands(in_torch, data, orders):
    """Also of different widths, with missing references, and with several ids that are padding."""
    padding = data.draw(st.lists(any_ids, min_size=1, max_size=3, unique=True))
    segments, width, references = (data.draw(st.integers(0, most)) for most in (4, 12, 4))
    other = data.draw(st.just(width) | st.integers(0, 12))
    rows = [
        data.draw(st.lists(st.lists(any_ids, min_size=size, max_size=size), min_size=rows, max_size=rows))
        for rows, size in ((segments, width), (segments * (references + 1), other))
    ]
    preds = torch.tensor(rows[0], dtype=torch.int64).reshape(segments, width)
    target = torch.tensor(rows[1], dtype=torch.int64).reshape(segments, references + 1, other)
    hypotheses, others = ([[i for i in row if i >= 0 and i not in padding] for row in side] for side in rows)
    several = [list(filter(None, part)) or [[]] for part in by_count(others, [references + 1] * segments)]
    batch = list(zip(hypotheses, several, strict=True))
    before = preds.clone(), target.clone()
    call = partial(counting.clipped_matches, ngram=orders, pad_id=padding)
    if in_torch:
        with Recorded():
            counted = call(preds, target)
    else:
        counted = call(preds, target)
    assert counted.matches.tolist() == oracles.match_rows(batch, orders)
    assert counted.hypothesis_ngrams[:, 0].tolist() == list(map(len, hypotheses))
    assert counted.reference_ngrams[:, 0].tolist() == [oracles.closest_length(*segment) for segment in batch]
    assert preds.equal(before[0])
    assert target.equal(before[1])


@both_layouts
@pytest.mark.parametrize("slots", [2, 6, 7, 8, 62, 63, 64, 126, 127, 128, 500])
def test_keys_stay_exact_where_their_digits_straddle_the_word(layout, slots):
    """As many digits as slots, and orders about as long as a first key serves, a second and a third."""
    draw = random.Random(slots)
    hypothesis, reference = ([draw.choice([3, 5]) for _ in range(slots // 2)] for _ in range(2))
    filler = [*range(slots // 2)]
    batch = [(hypothesis, [reference]), (hypothesis, [hypothesis[:-1]]), ([], [reference]), (filler, [filler[1:]])]
    bits = slots.bit_length()
    longest = 2 * (63 // bits) + 1
    expected = oracles.match_rows(batch, longest)
    for order in {
        1,
        *(
            63 // digit * many + around
            for digit in (bits - 1, bits, bits + 1)
            if digit
            for many in (1, 2)
            for around in (-1, 0, 1)
        ),
    }:
        if 1 <= order <= longest:
            assert count(layout, batch, order) == [row[:order] for row in expected]


@pytest.mark.parametrize("segments", [1, 2, 300])
@pytest.mark.parametrize("references", [1, 2, 5])
def test_the_numbers_of_segments_and_references_take_bits_of_a_key_too(segments, references):
    draw = random.Random(references)
    documents = [
        [draw.randrange(2**20) if draw.random() < 0.3 else draw.randrange(4) for _ in range(30)]
        for _ in range(segments * (references + 1))
    ]
    batch = [(first, others) for first, *others in by_count(documents, [references + 1] * segments)]
    for order in (1, 2, 3, 4, 7, 30, 31):
        assert count("arrays", batch, order) == oracles.match_rows(batch, order)


@pytest.mark.parametrize("orders", [62, 63, 64, 130])
@both_layouts
def test_orders_longer_than_any_key(layout, orders):
    batch = [([1] * 140, [[1] * 135, [1, 2] * 70]), ([1], [[1]]), ([2] * 64, [[2] * 63])]
    assert count(layout, batch, orders) == oracles.match_rows(batch, orders)


@fewer(10)
@given(st.integers(0, 10**6), st.sampled_from([1, 3]))
def test_chunks_do_not_change_the_counts(seed, references):
    """Several chunks, of which some are one segment that is larger than a chunk."""
    draw = random.Random(seed)

    def document():
        return [draw.randrange(9) for _ in range(5000 if draw.random() < 0.005 else draw.randrange(25))]

    batch = [(document(), [document() for _ in range(draw.randint(1, references))]) for _ in range(600)]
    assert count("arrays", batch, 4) == oracles.match_rows(batch, 4)


@pytest.mark.covering
@pytest.mark.parametrize("references", [1, 2])
@both_layouts
def test_one_giant_document(layout, references):
    draw = random.Random(0)
    texts = [draw.choices(range(50), k=80_000) for _ in range(1 + references)]
    batch = [(texts[0], texts[1:]), ([1, 2, 3], [[1, 2]] * references)]
    assert count(layout, batch, 4) == oracles.match_rows(batch, 4)


def test_a_long_segment_is_counted_in_parts_of_its_orders():
    draw = random.Random(1)
    text = draw.choices(range(3), k=3000)
    batch = [(text, [text[7:], text[:90]])]
    assert count("arrays", batch, 700) == oracles.match_rows(batch, 700)


@given(st.lists(st.integers(0, 9)), st.integers(1, 12))
def test_totals_are_those_of_counters_for_any_leading_shape(lengths, orders):
    expected = [[oracles.ngrams(range(length), n).total() for n in range(1, orders + 1)] for length in lengths]
    for array in (np.array(lengths, np.int64), torch.tensor(lengths, dtype=torch.int64)):
        assert count_ngrams(array, orders).tolist() == expected
        assert count_ngrams(array.reshape(1, -1, 1), orders).tolist() == [[[row] for row in expected]]
