"""How often each document has each n-gram of one order."""

from __future__ import annotations

import numpy as np

from ngram_metrics._core.counting.batch import Integers


def count_each_ngram(
    tokens: Integers, lengths: Integers, order: int, together: bool = False
) -> tuple[Integers, Integers, Integers]:
    """Count each n-gram of each document. ``tokens`` joins the documents, whose ``lengths`` say where each one ends.

    ``together`` counts all documents as document 0. No n-gram crosses from one document into the next.

    Returns:
        One entry for each distinct n-gram of a document, sorted by document and then by tokens: the n-grams
        ``(entries, order)``, the indices of their documents and their counts, each ``(entries,)``.
    """
    distinct, digits = np.unique(tokens, return_inverse=True)
    documents = np.arange(len(lengths)).repeat(lengths)
    remaining = lengths.cumsum().repeat(lengths) - np.arange(len(tokens))  # tokens of the document from each slot on
    starts = (remaining >= order).nonzero()[0]
    documents = np.zeros_like(starts) if together else documents[starts]
    # Equal n-grams have one number. Every further token splits it, and it stays below the number of slots.
    numbers = documents
    for offset in range(order):
        numbers = np.unique(numbers * len(distinct) + digits[starts + offset], return_inverse=True)[1]
    _, first, counts = np.unique(numbers, return_index=True, return_counts=True)
    ngrams = tokens[starts[first, None] + np.arange(order)]
    return ngrams, documents[first], counts
