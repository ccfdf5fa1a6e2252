"""The two layouts of token ids: dropping ids, cutting, repeating and renaming, against list comprehensions."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from layouts import documents_of, groups, ragged

from ngram_metrics._core.counting.documents import (
    copy_to,
    drop_ids,
    flat_positions,
    owners,
    repeat_each,
)

#: A matrix of ids, some of which occur often enough to be dropped here and there.
matrices = st.integers(0, 8).flatmap(
    lambda width: st.lists(
        st.lists(st.sampled_from([-(2**63), -100, 0, 1, 2, 2**63 - 1]), min_size=width, max_size=width), max_size=5
    )
)
documents = st.lists(st.lists(st.integers(0, 4), max_size=5), max_size=6)


def matrix(rows):
    return torch.tensor(rows, dtype=torch.int64).reshape(len(rows), len(rows[0]) if rows else 0)


@given(
    matrices,
    st.lists(st.sampled_from([-(2**63), -100, 0, 1, 9]), max_size=3),
    st.sampled_from([None, -(2**63), -100, 0, 1]),
)
def test_dropped_and_negative_ids_go_wherever_they_stand_and_gaps_close(rows, dropped, separator):
    expected = [[token for token in row if token not in dropped and (token >= 0 or token == separator)] for row in rows]
    tokens = drop_ids(matrix(rows), dropped, separator)
    assert documents_of(tokens) == expected
    assert tokens.lengths.dtype == torch.int64
    assert tokens.ids.dtype == torch.int64
    assert tokens.ids.shape == matrix(rows).shape


@given(documents, st.data())
def test_a_slice_holds_the_documents_asked_for(documents, data):
    start = data.draw(st.integers(0, len(documents)))
    stop = data.draw(st.integers(start, len(documents)))
    cut = ragged(documents, 5).slice(start, stop)
    assert documents_of(cut) == documents[start:stop]
    assert (cut.documents, cut.id_bound) == (stop - start, 5)


@given(st.lists(documents, max_size=4), st.data())
def test_groups_are_taken_in_the_order_and_as_often_as_asked(each, data):
    numbers = data.draw(st.lists(st.integers(0, len(each) - 1))) if each else []
    indices = torch.tensor(numbers, dtype=torch.int64)
    taken = groups(each).take(indices)
    expected = [each[number] for number in numbers]
    assert taken.counts.tolist() == [len(group) for group in expected]
    assert documents_of(taken.tokens) == [document for group in expected for document in group]


@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.integers(0, 4))))
def test_values_are_repeated_as_often_as_said(pairs):
    values, times = (
        torch.tensor(list(side), dtype=torch.int64) for side in (zip(*pairs, strict=True) if pairs else ([], []))
    )
    assert repeat_each(values, times).tolist() == [value for value, often in pairs for _ in range(often)]
    assert owners(times).tolist() == [index for index, (_, often) in enumerate(pairs) for _ in range(often)]


@given(st.lists(st.integers(0, 5)))
def test_positions_count_from_0_in_each_document(lengths):
    expected = [position for length in lengths for position in range(length)]
    assert flat_positions(torch.tensor(lengths, dtype=torch.int64)).tolist() == expected


def test_what_goes_to_cuda_is_pinned_and_not_waited_for(monkeypatch):
    calls, pinned = [], []

    def empty(*size, pin_memory=False, **options):
        room = torch.zeros(*size, **options)
        pinned.extend([room] * pin_memory)
        return room

    def to(tensor, *args, **options):
        calls.append((any(tensor is room for room in pinned), *args, options))
        return tensor.clone()

    monkeypatch.setattr(torch, "empty", empty)
    monkeypatch.setattr(torch.Tensor, "to", to)
    sent = copy_to(torch.device("cuda"), torch.tensor([2, 1]), torch.tensor([[0.5], [-1.5]], dtype=torch.float64))
    assert calls == [(True, torch.device("cuda"), {"non_blocking": True})]
    assert [part.tolist() for part in sent] == [[2, 1], [[0.5], [-1.5]]]
    calls.clear()
    copy_to(torch.device("meta"), torch.tensor([1, 2]))
    assert calls == [(False, torch.device("meta"), {"non_blocking": False})]
