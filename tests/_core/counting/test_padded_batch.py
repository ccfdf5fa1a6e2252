"""The batches of both engines have the same methods, and answer alike."""

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from layouts import PADDING, padded

from ngram_metrics._core.counting.batch import Batch
from ngram_metrics._core.counting.counters import count_matches, count_union_hits, find_common_lengths
from ngram_metrics._core.counting.numbering import number_padded
from ngram_metrics._core.counting.padded_batch import PaddedBatch, pad_batch

documents = st.lists(st.integers(0, 4), max_size=7)
batches = st.lists(st.tuples(documents, st.lists(documents, min_size=1, max_size=3)), max_size=4)


def both(segments):
    """The batch of NumPy, the batch of torch, and which references of the second are there."""
    hypotheses, references = padded(segments)
    of_torch = pad_batch(hypotheses, references, PADDING)
    is_there = np.ones(len(segments), bool) if of_torch.present is None else of_torch.present.flatten().numpy()
    return number_padded(hypotheses.numpy(), references.numpy(), PADDING), of_torch, is_there


def public_names(batch):
    return {name for name in vars(batch) if not name.startswith("_") and name not in batch._fields}


def test_a_metric_may_call_every_method_of_either_batch():
    shared = public_names(PaddedBatch)
    missing = shared - public_names(Batch) - {*Batch._fields}
    assert not missing
    # What only the counters in NumPy need.
    assert public_names(Batch) - shared - {"hypothesis_lengths"} == {
        *("hypothesis_documents", "reference_documents", "sizes", "chunks", "narrow")
    }


@given(batches)
@example([([1, 2], [[1], [1, 2, 3]]), ([1, 2], [[1, 2, 3], [1]])])  # two equally near lengths
def test_both_batches_answer_alike(segments):
    of_numpy, of_torch, is_there = both(segments)
    assert of_numpy.hypothesis_lengths.tolist() == of_torch.hypothesis_lengths.tolist()
    assert of_numpy.reference_lengths.tolist() == of_torch.reference_lengths.numpy()[is_there].tolist()
    assert of_numpy.closest_lengths().tolist() == of_torch.closest_lengths().tolist()
    assert of_numpy.count_references().tolist() == of_torch.count_references().tolist()
    assert of_numpy.reference_range().tolist() == of_torch.reference_range().tolist()
    assert count_matches(of_numpy, 3).tolist() == count_matches(of_torch, 3).tolist()


@given(batches, st.lists(st.integers(0, 2), min_size=12, max_size=12))
def test_both_batches_choose_and_sum_references_alike(segments, drawn):
    of_numpy, of_torch, is_there = both(segments)
    scores = np.resize(np.array(drawn, float), (len(is_there), 2))
    values = np.arange(len(is_there) * 2.0).reshape(-1, 2)
    padded_scores = torch.from_numpy(scores)
    padded_values = torch.from_numpy(values)
    for column in (slice(None), 0):
        (chosen,) = of_numpy.take_best([values[is_there][:, column]], scores[is_there][:, column])
        (padded_chosen,) = of_torch.take_best([padded_values[:, column]], padded_scores[:, column])
        assert chosen.tolist() == padded_chosen.tolist()
    assert of_numpy.sum_references(values[is_there]).tolist() == of_torch.sum_references(padded_values).tolist()


@given(batches)
def test_pairs_of_both_batches_count_alike(segments):
    of_numpy, of_torch, is_there = both(segments)
    pairs = of_numpy.pairs()
    padded_pairs = of_torch.pairs()
    assert pairs.is_paired
    assert padded_pairs.is_paired
    for count in (find_common_lengths, count_union_hits, lambda batch: count_matches(batch.drop_sentence_ends(), 2)):
        assert count(pairs).tolist() == count(padded_pairs).numpy()[is_there].tolist()


@pytest.mark.parametrize("batch", both([([1, 2], [[1], [2, 3]])])[:2], ids=["NumPy", "torch"])
def test_no_order_gives_no_columns(batch):
    assert count_matches(batch, 0).shape == (1, 0)
