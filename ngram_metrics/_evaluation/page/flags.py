"""Flags for signs of trouble in the outputs of systems."""

from __future__ import annotations

import string
from collections.abc import Sequence
from enum import IntFlag

import numpy as np
from numpy.typing import NDArray

from ngram_metrics._core.counting.batch import Batch, Integers
from ngram_metrics._core.counting.matches import SLOTS
from ngram_metrics._core.text.input_warnings import find_other_form
from ngram_metrics._evaluation.evaluate_arguments import Texts

#: An output is flagged if its length and the mean length of its references differ by more than this factor.
_LENGTH_RATIO = 2
#: A run of up to this many words is a repetition if it occurs four times in a row, and a longer run if twice.
_SHORT_RUN = 3


#: The flags of an output. The script of the page knows them by their values 1, 2, 4, 8 and 16.
Flag = IntFlag("Flag", ["EMPTY", "SOURCE", "REPEATED", "LENGTH", "FORM"])
#: The titles of the flags.
TITLES = {
    Flag.EMPTY: "empty output",
    Flag.SOURCE: "equal to the source",
    Flag.REPEATED: "repeated n-grams",
    Flag.LENGTH: "length out of range",
    Flag.FORM: "words in another Unicode form",
}
#: A digit for each combination of flags.
_DIGITS = string.digits + string.ascii_lowercase[:22]


def flags_of(
    texts: Texts, sources: Sequence[str] | None, batches: Sequence[Batch], wanted: NDArray[np.float64]
) -> list[str]:
    """Return the flags of each system's outputs as a str with one base-32 digit for each segment.

    The ``batches`` have the words of each system and of the references. ``wanted`` is the mean length of the references
    of each segment.
    """
    digits = []
    for batch, outputs in zip(batches, texts.systems.values(), strict=True):
        repeated = np.concatenate([count_repetitions(part) for part in batch.chunks(SLOTS)])
        counts = batch.count_references()
        most_repeated = np.maximum.reduceat(repeated[batch.reference_documents], counts.cumsum() - counts)
        lengths = batch.hypothesis_lengths
        empty = lengths == 0
        unequal = (lengths > _LENGTH_RATIO * wanted) | (lengths * _LENGTH_RATIO < wanted)
        flags = Flag.EMPTY * empty + Flag.LENGTH * (unequal & ~empty)
        flags += Flag.REPEATED * (repeated[batch.hypothesis_documents] > most_repeated)
        other_forms = list(map(find_other_form, outputs, texts.references))
        flags += Flag.FORM * np.array([form is not None for form in other_forms])
        if sources is not None:
            # Spaces around a text do not matter. If a reference equals the source, so may the output.
            copies = [
                output.strip() == source.strip() != "" and source.strip() not in map(str.strip, others)
                for output, source, others in zip(outputs, sources, texts.references, strict=True)
            ]
            flags += Flag.SOURCE * np.array(copies)
        digits.append("".join(_DIGITS[flag] for flag in flags.tolist()))
    return digits


def count_repetitions(batch: Batch) -> Integers:
    """Return the number of places in each document where a repetition ends, ``(documents,)``.

    A repetition is one to three words that occur four times in a row, or more words that occur twice in a row. Natural
    texts may say a word twice, such as "that that", and may repeat a phrase later.
    """
    counts = np.zeros(len(batch.lengths), np.int64)
    # A document's end belongs to it, and equals none of its tokens.
    owners = np.arange(len(counts)).repeat(batch.lengths + 1)
    ids = batch.ids
    for period in range(1, int(batch.lengths.max(initial=0)) // 2 + 1):
        # Where the word one period later is the same, in the same document.
        places = np.flatnonzero(ids[:-period] == ids[period:])
        places = places[owners[places] == owners[places + period]]
        copied = 3 * period if period <= _SHORT_RUN else period
        first = places[: 1 - copied]
        last = places[copied - 1 :]
        ends = last[last - first == copied - 1]
        counts += np.bincount(owners[ends], minlength=len(counts))
    return counts
