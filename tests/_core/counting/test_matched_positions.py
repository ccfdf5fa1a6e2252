"""Where n-grams match, against plain loops: in both layouts, however the work is cut, and as a public function."""

from collections import Counter

import numpy as np
import oracles
import pytest
import torch
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from layouts import by_count, documents_of, padded_sides, present_references, ragged_sides

from ngram_metrics._core.counting import documents as documents_module
from ngram_metrics._core.counting.matched_positions import chunks_of, matched_positions, matched_starts
from ngram_metrics._core.counting.matches import count_matches
from ngram_metrics.functional import matched_orders

LAYOUTS = {"ragged": ragged_sides, "padded": padded_sides}
both_layouts = pytest.mark.parametrize("layout", LAYOUTS)

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


def documents(layout, sides, orders):
    """Orders as lists, and nothing but 0 past the ends."""
    hypotheses = sides.hypotheses._replace(ids=orders[0])
    references = sides.references.tokens._replace(ids=orders[1])
    if layout == "ragged":
        return documents_of(hypotheses), by_count(documents_of(references), sides.references.counts.tolist())
    for part in (hypotheses, references):
        assert not (part.ids * (torch.arange(part.ids.shape[-1]) >= part.lengths.unsqueeze(-1))).any()
    return documents_of(hypotheses), present_references(sides.references._replace(tokens=references))


@both_layouts
@examples(*({"batch": SEGMENTS, "longest": longest, "slots": slots} for longest in (6, 40) for slots in SLOTS))
@given(batch=batches, longest=st.integers(1, 6) | st.just(40), slots=st.sampled_from(SLOTS))
def test_orders_are_those_of_plain_loops(layout, batch, longest, slots):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents_module, "CPU_SLOTS", slots)
        sides = LAYOUTS[layout](batch)
        found = matched_positions(sides, longest)
    assert {part.dtype for part in found} == {torch.int64}
    assert documents(layout, sides, found) == expected(batch, longest)


@both_layouts
@given(batch=batches.filter(bool), longest=st.integers(1, 6))
def test_as_many_ngrams_are_matched_as_count_matches_counts(layout, batch, longest):
    sides = LAYOUTS[layout](batch)
    counted = [0] * longest
    for chunk in chunks_of(sides):
        if chunk.tokens.digits.shape[-1]:
            for order, starts in matched_starts(chunk, longest):
                counted[order - 1] += int(starts[..., : chunk.hypothesis_slots].sum())
    assert (
        counted
        == count_matches(sides, longest).sum(0).tolist()
        == np.sum(oracles.match_rows(batch, longest), 0).tolist()
    )


@both_layouts
def test_one_giant_document(layout):
    draw = np.random.default_rng(0)
    one, other = (draw.integers(0, 40, 12_000).tolist() for _ in range(2))
    batch = [(one, [other, other[::-1]]), ([1], [[1]])]
    sides = LAYOUTS[layout](batch)
    assert documents(layout, sides, matched_positions(sides, 4)) == expected(batch, 4)


@both_layouts
@pytest.mark.parametrize("surroundings", ["bfloat16 by default"], indirect=True)
def test_the_numbers_of_many_ngrams_are_integers(layout, surroundings):
    one = list(range(400))
    sides = LAYOUTS[layout]([(one, [one])])
    assert documents(layout, sides, matched_positions(sides, 1)) == ([[1] * 400], [[[1] * 400]])


# The function.

PREDS = [[5, 3, 0, 9, 3], [3, 0, 0, 0, 0]]
TARGET = [[5, 3, 7, 9, 0, 0], [0, 0, 0, 0, 0, 0]]
ORDERS = [[2, 2, 0, 1, 0], [0, 0, 0, 0, 0]]


def test_padded_ids_keep_their_shape():
    for make in (torch.tensor, np.array, lambda rows: torch.tensor(rows, dtype=torch.int32)):
        orders = matched_orders(make(PREDS), make(TARGET), pad_id=0)
        assert isinstance(orders, torch.Tensor)
        assert orders.tolist() == ORDERS
    beside_lists = matched_orders(torch.tensor(PREDS), TARGET, pad_id=0)
    assert beside_lists.tolist() == ORDERS
    assert matched_orders(torch.tensor([[-100, 3]]), torch.tensor([[3, 3]]), pad_id=0).tolist() == [[0, 1]]


def test_lists_of_ids_keep_their_places():
    for of_row in (list, torch.tensor, np.array):
        orders = matched_orders([of_row(row) for row in PREDS], [of_row(row) for row in TARGET], pad_id=0)
        assert [part.tolist() for part in orders] == ORDERS
    assert [part.tolist() for part in matched_orders([[1, 2], []], [[2], [3]])] == [[0, 1], []]
    assert matched_orders([[1, 2, 3, 4, 5]], [[1, 2, 3, 4, 5]])[0].tolist() == [4] * 5


def test_text_and_tokens():
    texts = ["the cat, the cat", "", "A dog"]
    references = [["the cat is", "no cat, the"], ["x"], ["a dog"]]
    found = matched_orders(texts, references, ngram=2, tokenizer="13a")
    assert [part.tolist() for part in found] == [[2, 2, 2, 2, 0], [], [0, 1]]
    assert matched_orders("A dog", "a dog", lowercase=True)[0].tolist() == [2, 2]
    assert matched_orders([["a", "b"]], [["b"]])[0].tolist() == [0, 1]
    assert matched_orders([], []) == []


@pytest.mark.parametrize(
    ("preds", "options", "words"),
    [
        (["a"], {"ngram": 0}, "ngram order must be greater than zero"),
        ([[1]], {"tokenizer": str.split}, "tokenizer is an option for text, but the segments are ids"),
        (torch.tensor([[1]]), {}, "a padded tensor of ids needs pad_id"),
        ([[-1]], {}, "segment 0 has the id -1"),
    ],
)
def test_what_cannot_be_read_is_refused(preds, options, words):
    with pytest.raises(ValueError, match=words):
        matched_orders(preds, preds, **options)
