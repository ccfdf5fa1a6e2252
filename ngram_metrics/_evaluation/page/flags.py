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
#: A repetition is an n-gram of up to this many words twice in a row, or a longer one anywhere before.
_LONGEST_RUN = 3


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
        repeated = np.concatenate([repetitions(part) for part in batch.chunks(SLOTS)])
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


def repetitions(batch: Batch) -> Integers:
    """Return the number of repetitions in each document, ``(documents,)``.

    A repetition is a run of up to three words right after the same run, or four words in a row that occurred before.
    """
    documents = len(batch.lengths)
    owner = np.arange(documents).repeat(batch.lengths + 1)
    repeats = np.zeros(documents, np.int64)
    # The number of the n-gram at each slot. An n-gram with the end of its document is not repeated inside it.
    ngrams = batch.ids
    for order in range(1, _LONGEST_RUN + 1):
        inside = owner[: -2 * order + 1] == owner[2 * order - 1 :]
        again = inside & (ngrams[:-order] == ngrams[order:])
        repeats += np.bincount(owner[: len(again)][again], minlength=documents)
        ngrams = np.unique(ngrams[:-1] * batch.bound + batch.ids[order:], return_inverse=True)[1]
    inside = owner[:-_LONGEST_RUN] == owner[_LONGEST_RUN:]
    in_order = np.sort(owner[:-_LONGEST_RUN][inside] * (len(owner) + 1) + ngrams[inside])
    before = in_order[1:][in_order[1:] == in_order[:-1]] // (len(owner) + 1)
    return repeats + np.bincount(before, minlength=documents)
