"""Where n-grams match: for each token the longest order of a matched n-gram that covers it.

Among equal n-grams of a hypothesis the first k match, where k is the largest count in one reference. So the number of
matches is that of ``_core.counting.matches``. In a reference, k is the count in the hypothesis.
"""

from __future__ import annotations

import numpy as np

from ngram_metrics._core.counting.batch import Batch, Integers
from ngram_metrics._core.counting.matches import locate_documents


def find_matched_orders(batch: Batch, orders: int) -> Integers:
    """Return the longest order of a matched n-gram that covers each slot, 0 to ``orders``, ``(slots,)``."""
    batch = batch.narrow()
    segments, indices = locate_documents(batch)
    sizes = batch.lengths + 1
    documents = np.arange(len(sizes)).repeat(sizes)
    is_hypothesis = (indices == 0).repeat(sizes)
    numbers = segments.repeat(sizes)  # equal n-grams of a segment have one number
    slots = np.arange(len(batch.ids))
    longest = np.zeros(len(slots), np.int64)
    for order in range(1, orders + 1):
        past_end = np.zeros(order - 1, np.int64)
        digits = np.append(batch.ids[order - 1 :], past_end)[: len(slots)]
        numbers = np.unique(numbers * batch.bound + digits, return_inverse=True)[1]
        starts = _find_matched(numbers, documents, is_hypothesis)
        # A matched n-gram ends inside its document, so it never covers tokens of the next one.
        latest = np.maximum.accumulate(np.where(starts, slots, -order))
        longest[slots - latest < order] = order
    return longest


def _find_matched(numbers: Integers, documents: Integers, is_hypothesis: np.ndarray) -> np.ndarray:
    """Return whether a matched n-gram starts at each slot, ``(slots,)`` bool, from the numbers of the n-grams."""
    keys = numbers * (int(documents[-1]) + 1) + documents if len(documents) else numbers
    order = np.argsort(keys, kind="stable")
    is_first = np.diff(keys[order], prepend=-1) > 0
    firsts = is_first.nonzero()[0]
    runs = np.empty(len(keys), np.int64)
    runs[order] = is_first.cumsum() - 1  # (slots,), the n-gram in its document
    occurrences = np.empty(len(keys), np.int64)
    occurrences[order] = np.arange(len(keys)) - firsts[runs[order]]
    counts = np.diff(firsts, append=len(keys))  # (runs,)
    ngrams = int(numbers.max(initial=-1)) + 1
    in_hypothesis = np.zeros(ngrams, np.int64)
    in_reference = np.zeros(ngrams, np.int64)  # the largest count in one reference
    run_slots = order[firsts]
    run_numbers = numbers[run_slots]
    is_run_of_hypothesis = is_hypothesis[run_slots]
    in_hypothesis[run_numbers[is_run_of_hypothesis]] = counts[is_run_of_hypothesis]
    np.maximum.at(in_reference, run_numbers[~is_run_of_hypothesis], counts[~is_run_of_hypothesis])
    return occurrences < np.where(is_hypothesis, in_reference[numbers], in_hypothesis[numbers])
