"""The n-grams of one order that each document has, and how often."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ngram_metrics._core.counting.batch import Integers


def count_each_ngram(
    tokens: Integers, lengths: Integers, order: int, together: bool = False
) -> tuple[Integers, Integers, Integers]:
    """Count each n-gram of each document, from the tokens of all documents and the ``lengths`` of each.

    With ``together`` all documents are counted as document 0; no n-gram crosses the border of two.

    Returns:
        An entry for each document and n-gram that it has, sorted by document and in a document by tokens: the n-grams
        ``(entries, order)``, the indices of their documents and their counts, each ``(entries,)``.
    """
    distinct, digits = np.unique(tokens, return_inverse=True)
    documents = np.arange(len(lengths)).repeat(lengths)
    remaining = lengths.cumsum().repeat(lengths) - np.arange(len(tokens))  # tokens of the document from each slot on
    starts = (remaining >= order).nonzero()[0]
    documents = np.zeros_like(starts) if together else documents[starts]
    # Each token more splits the numbers of equal n-grams, which are below the number of slots.
    numbers = documents
    for offset in range(order):
        numbers = np.unique(numbers * len(distinct) + digits[starts + offset], return_inverse=True)[1]
    _, first, counts = np.unique(numbers, return_index=True, return_counts=True)
    return tokens[starts[first, None] + np.arange(order)], documents[first], counts
