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


#: What only the counters in NumPy need.
ONLY_OF_NUMPY = {"hypothesis_documents", "reference_documents", "sizes", "chunks", "narrow"}


def test_a_metric_may_call_every_method_of_either_batch():
    # The batch of NumPy keeps the lengths of references as a field, and computes those of hypotheses.
    of_numpy = public_names(Batch) | set(Batch._fields)
    of_torch = public_names(PaddedBatch) | set(PaddedBatch._fields)
    assert public_names(PaddedBatch) <= of_numpy
    assert public_names(Batch) <= of_torch | ONLY_OF_NUMPY


#: Questions with an answer for each segment, or one for all.
QUESTIONS = {
    "the lengths of hypotheses": lambda batch: batch.hypothesis_lengths,
    "the closest lengths": lambda batch: batch.closest_lengths(),
    "how many references a segment has": lambda batch: batch.count_references(),
    "the fewest and the most references": lambda batch: batch.reference_range(),
    "matches": lambda batch: count_matches(batch, 3),
}


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
@given(segments=batches)
@example(segments=[([1, 2], [[1], [1, 2, 3]]), ([1, 2], [[1, 2, 3], [1]])])  # two equally near lengths
def test_both_batches_answer_alike(ask, segments):
    of_numpy, of_torch, _ = both(segments)
    assert ask(of_numpy).tolist() == ask(of_torch).tolist()


@given(batches)
def test_both_batches_have_the_lengths_of_the_references_that_are_there(segments):
    of_numpy, of_torch, is_there = both(segments)
    assert of_numpy.reference_lengths.tolist() == of_torch.reference_lengths.numpy()[is_there].tolist()


#: Scores of references, few different ones, so that some are equal. They are repeated for more references.
few_scores = st.lists(st.integers(0, 2), min_size=12, max_size=12)


@pytest.mark.parametrize("of_a_reference", [(), (2,)], ids=["one score", "two scores"])
@given(segments=batches, drawn=few_scores)
def test_both_batches_choose_the_same_of_several_references(of_a_reference, segments, drawn):
    """Of each segment the reference with the highest score, and with several scores the best by each."""
    of_numpy, of_torch, is_there = both(segments)
    shape = (len(is_there), *of_a_reference)
    scores = np.resize(np.array(drawn, float), shape)
    values = np.arange(float(scores.size)).reshape(shape)
    (chosen,) = of_numpy.take_best([values[is_there]], scores[is_there])
    (chosen_of_padded,) = of_torch.take_best([torch.from_numpy(values)], torch.from_numpy(scores))
    assert chosen.tolist() == chosen_of_padded.tolist()


@given(batches)
def test_both_batches_sum_the_same_of_several_references(segments):
    of_numpy, of_torch, is_there = both(segments)
    values = np.arange(len(is_there) * 2.0).reshape(-1, 2)
    assert (
        of_numpy.sum_references(values[is_there]).tolist() == of_torch.sum_references(torch.from_numpy(values)).tolist()
    )


COUNTERS = {
    "common subsequences": find_common_lengths,
    "hits of the union": count_union_hits,
    "matches": lambda batch: count_matches(batch.drop_sentence_ends(), 2),
}


@pytest.mark.parametrize("count", COUNTERS.values(), ids=COUNTERS)
@given(segments=batches)
def test_pairs_of_both_batches_count_alike(count, segments):
    of_numpy, of_torch, is_there = both(segments)
    pairs = of_numpy.pairs()
    padded_pairs = of_torch.pairs()
    assert pairs.is_paired
    assert padded_pairs.is_paired
    assert count(pairs).tolist() == count(padded_pairs).numpy()[is_there].tolist()


@pytest.mark.parametrize("batch", both([([1, 2], [[1], [2, 3]])])[:2], ids=["NumPy", "torch"])
def test_no_order_gives_no_columns(batch):
    assert count_matches(batch, 0).shape == (1, 0)
