"""Flags: signs of trouble in the outputs of systems."""

from __future__ import annotations

import string
from collections.abc import Sequence
from enum import IntFlag

import numpy as np
from numpy.typing import NDArray

from ngram_metrics.counting.documents import DocumentGroups, RaggedTokens
from ngram_metrics.evaluation.evaluate_arguments import Texts
from ngram_metrics.text.input_warnings import find_other_form

#: An output is flagged if it has more than so many times the words of its references, on average, or less than 1 / so.
_LENGTH_RATIO = 2
#: Up to so many words that stand twice in a row are a repetition, as are n-grams of the next order that occur twice.
_LONGEST_RUN = 3


class Flag(IntFlag):
    """The flags of an output, with the numbers by which the page knows them."""

    EMPTY = 1
    SOURCE = 2
    REPEATED = 4
    LENGTH = 8
    FORM = 16


_TITLES = {
    Flag.EMPTY: "empty output",
    Flag.SOURCE: "equal to the source",
    Flag.REPEATED: "repeated n-grams",
    Flag.LENGTH: "length out of range",
    Flag.FORM: "words in another Unicode form",
}
#: The digits of all combinations of flags.
_DIGITS = string.digits + string.ascii_lowercase[:22]


def titles_of(sources: Sequence[str] | None) -> dict[int, str]:
    """Return the titles of the flags that outputs may have, by their numbers."""
    return {int(flag): title for flag, title in _TITLES.items() if flag != Flag.SOURCE or sources is not None}


def flags_of(
    texts: Texts,
    sources: Sequence[str] | None,
    hypotheses: Sequence[RaggedTokens],
    references: DocumentGroups,
    wanted: NDArray[np.float64],
) -> list[str]:
    """Return the flags of each output of each system: a text with one digit, of base 32, for each segment.

    ``wanted`` is the mean number of words of the references of each segment.
    """
    counts = references.counts.numpy()
    repeated = np.maximum.reduceat(repetitions(references.tokens), counts.cumsum() - counts)
    digits = []
    for tokens, outputs in zip(hypotheses, texts.systems.values(), strict=True):
        lengths = tokens.lengths.numpy()
        empty = lengths == 0
        unequal = (lengths > _LENGTH_RATIO * wanted) | (lengths * _LENGTH_RATIO < wanted)
        flags = Flag.EMPTY * empty + Flag.LENGTH * (unequal & ~empty)
        flags += Flag.REPEATED * (repetitions(tokens) > repeated)
        other_forms = list(map(find_other_form, outputs, texts.references))
        flags += Flag.FORM * np.array([word is not None for word in other_forms])
        if sources is not None:
            flags += Flag.SOURCE * _find_copies(outputs, sources, texts.references)
        digits.append("".join(_DIGITS[flag] for flag in flags.tolist()))
    return digits


def _find_copies(
    outputs: Sequence[str], sources: Sequence[str], references: Sequence[Sequence[str]]
) -> NDArray[np.bool_]:
    """Return which outputs are the source, but for spaces around it, where no reference is."""
    return np.array(
        [
            output.strip() == source.strip() != "" and all(text.strip() != source.strip() for text in texts)
            for output, source, texts in zip(outputs, sources, references, strict=True)
        ]
    )


def repetitions(tokens: RaggedTokens) -> NDArray[np.int64]:
    """Return how often each document repeats itself, ``(documents,)`` int64.

    A repetition is a run of up to three words that is directly followed by the same run, or four words in a row that
    occurred before.
    """
    ids = tokens.ids.numpy()
    documents = tokens.documents
    owner = np.repeat(np.arange(documents), tokens.lengths.numpy())
    repeats = np.zeros(documents, np.int64)
    # The number of the n-gram that begins at each word; those at the end of a document go on in the next one.
    ngrams = ids
    for order in range(1, _LONGEST_RUN + 1):
        inside = owner[: -2 * order + 1] == owner[2 * order - 1 :]
        again = inside & (ngrams[:-order] == ngrams[order:])
        repeats += np.bincount(owner[: len(again)][again], minlength=documents)
        ngrams = np.unique(ngrams[:-1] * tokens.id_bound + ids[order:], return_inverse=True)[1]
    inside = owner[:-_LONGEST_RUN] == owner[_LONGEST_RUN:]
    in_order = np.sort(owner[:-_LONGEST_RUN][inside] * (len(ids) + 1) + ngrams[inside])
    before = in_order[1:][in_order[1:] == in_order[:-1]] // (len(ids) + 1)
    return repeats + np.bincount(before, minlength=documents)
