"""Several references a sentence: pairs laid out, the best of them chosen, all of them summed."""

import operator
from functools import partial, reduce

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from layouts import padded_sides, ragged_sides

from ngram_metrics._core.scoring.references import best_pair, pair_up, sum_over_references
from ngram_metrics.functional import bleu_score, chrf_score, ngram_overlap, rouge_score

documents = st.lists(st.integers(0, 3), max_size=4)
#: Three references a sentence, of which those past its own, or before them, are missing.
padded_batch = partial(padded_sides, count=3)
batches = st.lists(st.tuples(documents, st.lists(documents, min_size=1, max_size=3)), min_size=1, max_size=5)


def scores_for(batch, seed, columns=()):
    """Scores of few values, so that many tie, some below -1, for the pairs of a batch in order."""
    pairs = sum(len(references) for _, references in batch)
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 3, (pairs, *columns), generator=generator).double() - 4


def spread(values, pairs, missing):
    """Values of the pairs that are there, with another value where one is missing."""
    if pairs.present is None:
        return values
    out = values.new_full((len(pairs.present), *values.shape[1:]), missing)
    out[pairs.present] = values
    return out


@pytest.mark.parametrize("columns", [(), (2,), (2, 3)])
@given(batches, st.integers(0, 99), st.booleans())
def test_the_best_pair_is_the_first_of_the_highest(columns, batch, seed, first):
    score = scores_for(batch, seed, columns)
    each = torch.split(score, [len(references) for _, references in batch])
    flat = [part.reshape(len(part), -1).T.tolist() for part in each]
    number = [[column.index(max(column)) for column in ids] for ids in flat]
    for make, missing in ((ragged_sides, 0), (lambda b: padded_batch(b, first=first), 9.0)):
        pairs = pair_up(make(batch))
        best = best_pair(spread(score, pairs, missing), pairs)
        assert best.shape == (len(batch), *columns)
        assert best.dtype == torch.int64
        if pairs.segment is None:
            continue
        there = torch.ones(len(pairs.segment)) if pairs.present is None else pairs.present
        index = [there.nonzero().flatten()[pairs.segment[there.bool()] == i].tolist() for i in range(len(batch))]
        expected = [[index[i][reference] for reference in chosen] for i, chosen in enumerate(number)]
        assert best.reshape(len(batch), -1).tolist() == expected


@pytest.mark.parametrize("columns", [(), (2,), (2, 3)])
@given(batches, st.integers(0, 99), st.booleans())
def test_sums_leave_out_what_is_missing(columns, batch, seed, first):
    values = scores_for(batch, seed, columns).long()
    each = torch.split(values, [len(references) for _, references in batch])
    expected = torch.stack([part.sum(0) for part in each])
    for make in (ragged_sides, lambda b: padded_batch(b, first=first)):
        pairs = pair_up(make(batch))
        assert sum_over_references(spread(values, pairs, 9), pairs).equal(expected)


@pytest.mark.parametrize("layout", [ragged_sides, padded_batch])
def test_references_are_added_one_after_another(layout, monkeypatch: pytest.MonkeyPatch):
    """To the last bit, although ``index_add`` may add in any order, as it does on a GPU."""
    in_order = torch.Tensor.index_add_

    def backwards(sums, dim, index, values):
        return in_order(sums, dim, index.flip(0), values.flip(0))

    monkeypatch.setattr(torch.Tensor, "index_add_", backwards)
    monkeypatch.setattr(torch.Tensor, "index_add", lambda sums, *others: backwards(sums.clone(), *others))
    batch = [([1], [[1]] * (1 + number % 3)) for number in range(60)]
    counts = [len(references) for _, references in batch]
    pairs = pair_up(layout(batch))
    values = torch.rand(sum(counts), 2, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    expected = [
        [reduce(operator.add, column) for column in zip(*part.tolist(), strict=True)]
        for part in torch.split(values, counts)
    ]
    assert sum_over_references(spread(values, pairs, 9.0), pairs).tolist() == expected


@pytest.mark.parametrize("target", [torch.ones(2, 0).long(), torch.ones(2, 3, 0).long()])
def test_references_of_no_width_are_empty(target):
    preds = torch.ones(2, 3).long()
    scores = [bleu_score, chrf_score, ngram_overlap]
    assert [score(preds, target, pad_id=0).item() for score in scores] == [0, 0, 0]
    assert rouge_score(preds, target, pad_id=0)["rougeL_fmeasure"].item() == 0
