"""Clipped matches against counters, lists in numpy and rows in torch, at every bound of the keys, however it is cut."""

import random
from contextlib import nullcontext
from itertools import islice

import oracles
import pytest
import torch
from crossings import crossings
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from layouts import by_count, padded_sides, ragged_sides

from ngram_metrics import counting
from ngram_metrics._core.counting import documents as documents_module
from ngram_metrics._core.counting.keys import Digits, sorted_keys
from ngram_metrics._core.counting.matches import count_matches, ngram_totals

LARGEST = 2**63 - 1

LAYOUTS = {"ragged": ragged_sides, "padded": padded_sides}
both_layouts = pytest.mark.parametrize("layout", LAYOUTS)


def count(layout, batch, max_order):
    return count_matches(LAYOUTS[layout](batch), max_order).tolist()


def batches(ids, longest=12, sentences=6, references=4):
    """Segments with a hypothesis and one to four references, each possibly empty."""
    document = st.lists(ids, max_size=longest)
    several = st.lists(document, min_size=1, max_size=references)
    return st.lists(st.tuples(document, several), max_size=sentences)


# A handful of different ids: enough equal n-grams for ties and repetitions; the vocabulary is the largest of them.
small_ids = st.integers(0, 2)
vocabularies = st.integers(0, 22).flatmap(lambda bits: st.sampled_from([0, 1, 2**bits - 1, 2**bits]))
any_ids = st.sampled_from([-(2**63), 1 - 2**63, -100, -2, -1, 0, 1, 7, 2**22 - 1, 2**22, 2**62, LARGEST - 1, LARGEST])
orders = st.integers(1, 9) | st.sampled_from([20, 40])
SLOTS = [1, 2, 7, 30]


@given(batches(vocabularies), orders)
def test_ragged_matches_are_those_of_counters(batch, max_order):
    assert count("ragged", batch, max_order) == oracles.match_rows(batch, max_order)


@pytest.mark.parametrize("in_torch", [False, True])
@given(data=st.data(), max_order=orders)
def test_padded_ids_have_the_matches_of_counters_wherever_padding_stands(in_torch, data, max_order):
    """Also of different widths, with missing references, and with several ids that are padding."""
    padding = data.draw(st.lists(any_ids, min_size=1, max_size=3, unique=True))
    segments, width, references = (data.draw(st.integers(0, most)) for most in (4, 12, 4))
    other = data.draw(st.just(width) | st.integers(0, 12))
    rows = [
        data.draw(st.lists(st.lists(any_ids, min_size=size, max_size=size), min_size=count, max_size=count))
        for count, size in ((segments, width), (segments * (references + 1), other))
    ]
    preds = torch.tensor(rows[0], dtype=torch.int64).reshape(segments, width)
    target = torch.tensor(rows[1], dtype=torch.int64).reshape(segments, references + 1, other)
    hypotheses, others = ([[i for i in row if i >= 0 and i not in padding] for row in side] for side in rows)
    several = [list(filter(None, part)) or [[]] for part in by_count(others, [references + 1] * segments)]
    batch = list(zip(hypotheses, several, strict=True))
    given = preds.clone(), target.clone()
    # Torch counts on a CPU too while something records its operations.
    with crossings() if in_torch else nullcontext():
        found = counting.clipped_matches(preds, target, max_order, padding)
    assert found.matches.tolist() == oracles.match_rows(batch, max_order)
    assert found.hypothesis_ngrams[:, 0].tolist() == list(map(len, hypotheses))
    closest = [min(map(len, others), key=lambda n: (abs(n - len(own)), n)) for own, others in batch]
    assert found.reference_ngrams[:, 0].tolist() == closest
    assert preds.equal(given[0])
    assert target.equal(given[1])


@pytest.mark.covering
@pytest.mark.parametrize("digit_bits", [2, 3, 4, 5, 6, 7, 9, 10, 12, 15, 20, 22])
@pytest.mark.parametrize("group_bits", [0, 2, 4])
def test_ragged_keys_stay_exact_where_they_straddle_the_word(digit_bits, group_bits):
    """Orders about as long as a first sort serves, and a second. Groups and ids fill their bits, up to the highest."""
    draw = random.Random(digit_bits)
    ends = [0, 1, 2**digit_bits - 3, 2**digit_bits - 2]
    one, *shorter = (draw.choices(ends, k=length) for length in (70, 40, 29))
    batch = [(one, [one[:-1], *shorter])] + [(draw.choices(ends, k=3), [[0, 1]])] * (2**group_bits - 1)
    slots = sum(len(document) for hypothesis, references in batch for document in [hypothesis, *references])
    first = (63 - group_bits) // digit_bits
    second = first + (63 - slots.bit_length()) // digit_bits
    max_order = second + 2
    expected = oracles.match_rows(batch[:2], max_order)
    expected += expected[1:] * (len(batch) - 2)  # the others are the same
    for order in {first - 1, first, first + 1, second - 1, second, second + 1, max_order} - {0}:
        assert count("ragged", batch, order) == [row[:order] for row in expected]
        assert count("ragged", batch[::-1], order) == [row[:order] for row in expected[::-1]]


@pytest.mark.parametrize("bits", [58, 60, 62, 63])
def test_vocabularies_that_leave_no_room_for_a_second_digit_serve_every_order(bits):
    digits, remaining = torch.tensor([[1, 2**bits - 1, 1, 2**bits - 1] * 10]), torch.arange(40, 0, -1).unsqueeze(0)
    sorts = list(islice(sorted_keys(Digits(digits, remaining, bits, None, 0), 3), 4))
    assert [order for keys in sorts for order in range(keys.first, keys.last + 1)] == [1, 2, 3]


@pytest.mark.parametrize("slots", [2, 6, 7, 8, 62, 63, 64, 126, 127, 128])
def test_padded_keys_stay_exact_where_they_straddle_the_word(slots):
    """In the padded layout the width of a row decides how many tokens go into a key."""
    draw = random.Random(slots)
    hypothesis, reference = ([draw.choice([3, 5]) for _ in range(slots // 2)] for _ in range(2))
    batch = [(hypothesis, [reference]), (hypothesis, [hypothesis[:-1]]), ([], [reference])]
    bits = slots.bit_length()
    for max_order in {1, 63 // bits - 1, 63 // bits, 63 // bits + 1, 2 * (63 // bits) + 1}:
        sides = padded_sides(batch, spare=slots % 2)
        assert sides.hypotheses.ids.shape[1] + sides.references.tokens.ids.shape[2] == slots
        assert count_matches(sides, max_order).tolist() == oracles.match_rows(batch, max_order)


@pytest.mark.parametrize("length", [2, 4, 8, 16])
@both_layouts
def test_the_count_of_a_document_fills_its_bits_to_the_last(layout, length):
    batch = [([1] * length, [[1] * (length - 1), [1] * length])]
    assert count(layout, batch, 2) == [[length, length - 1]]


@pytest.mark.parametrize("max_order", [62, 63, 64, 130])
@both_layouts
def test_orders_longer_than_any_key(layout, max_order):
    batch = [([1] * 140, [[1] * 135, [1, 2] * 70]), ([1], [[1]]), ([2] * 64, [[2] * 63])]
    assert count(layout, batch, max_order) == oracles.match_rows(batch, max_order)


@both_layouts
@examples(*({"batch": [([0, 1, 0], [[1, 0], [0, 1]]), ([], [[2]])] * 3, "slots": slots} for slots in SLOTS))
@given(batch=batches(small_ids), slots=st.sampled_from(SLOTS))
def test_chunks_do_not_change_the_counts(layout, batch, slots):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents_module, "CPU_SLOTS", slots)
        assert count(layout, batch, 4) == oracles.match_rows(batch, 4)


@pytest.mark.parametrize("budget", [1, 10, 64])
def test_chunks_hold_all_groups_once_in_order_and_within_the_budget(monkeypatch, budget):
    monkeypatch.setattr(documents_module, "CPU_SLOTS", budget)
    sizes = torch.tensor([0, 3, 0, 0, 50, 1, 9, 9, 9, 70, 0])
    cuts = list(documents_module.ragged_chunks(sizes, torch.device("cpu")))
    assert [i for start, stop in cuts for i in range(start, stop)] == list(range(len(sizes)))
    assert all(stop - start == 1 or int(sizes[start:stop].sum()) <= budget for start, stop in cuts)
    cuts = list(documents_module.row_chunks(11, 5, torch.device("cpu")))
    assert [i for start, stop in cuts for i in range(start, stop)] == list(range(11))
    assert all(stop - start == 1 or (stop - start) * 5 <= budget for start, stop in cuts)


@pytest.mark.parametrize(
    ("device", "update", "most"),
    [
        ("cpu", True, documents_module.UPDATE_CHUNK_SLOTS),
        ("cpu", False, documents_module.CPU_SLOTS),
        ("meta", True, documents_module.ACCELERATOR_SLOTS),
        ("meta", False, documents_module.ACCELERATOR_SLOTS),
    ],
)
def test_chunks_are_as_large_as_the_device_and_the_batch_allow(device, update, most):
    sizes = torch.full((400,), 600)
    cuts = list(documents_module.ragged_chunks(sizes, torch.device(device), update))
    assert max(600 * (stop - start) for start, stop in cuts) <= most
    assert len(cuts) == -(-400 * 600 // most)


@pytest.mark.parametrize("max_order", [1, 4])
@pytest.mark.parametrize(
    "batch",
    [[], [([], [[]])], [([], [[], []])], [([], [[1]])], [([1], [[]])], [([1], [[], [1]])], [([], [[]]), ([1], [[1]])]],
    ids=repr,
)
@both_layouts
def test_empty_documents_and_batches(layout, batch, max_order):
    rows = count_matches(LAYOUTS[layout](batch), max_order)
    assert rows.tolist() == oracles.match_rows(batch, max_order)
    assert rows.shape == (len(batch), max_order)
    assert rows.dtype == torch.int64


@pytest.mark.covering
@pytest.mark.parametrize("references", [1, 2])
@both_layouts
def test_one_giant_document(layout, references):
    draw = random.Random(0)
    texts = [draw.choices(range(50), k=80_000) for _ in range(1 + references)]
    batch = [(texts[0], texts[1:]), ([1, 2, 3], [[1, 2]] * references)]
    assert count(layout, batch, 4) == oracles.match_rows(batch, 4)


@given(st.lists(st.integers(0, 9)), st.integers(1, 12))
def test_totals_are_those_of_counters_for_any_leading_shape(lengths, max_order):
    expected = [[oracles.ngrams(range(length), n).total() for n in range(1, max_order + 1)] for length in lengths]
    totals = ngram_totals(torch.tensor(lengths, dtype=torch.int64), max_order)
    assert totals.tolist() == expected
    assert ngram_totals(torch.tensor([lengths] * 2, dtype=torch.int64), max_order).tolist() == [expected] * 2
