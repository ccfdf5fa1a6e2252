"""A batch: hypotheses and references in one layout, as the readers return them and the counting module takes them."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ngram_metrics.counting.token_batch import DocumentGroups, PaddedReferences, PaddedTokens, RaggedTokens

#: The kind of input of a sentence.
Kind = Literal["text", "tokens", "ids"]


class RaggedSides(NamedTuple):
    """Hypotheses, and the references of each, in the ragged layout, with one vocabulary."""

    hypotheses: RaggedTokens
    references: DocumentGroups


class PaddedSides(NamedTuple):
    """Hypotheses, and the references of each, in the padded layout, with one vocabulary."""

    hypotheses: PaddedTokens
    references: PaddedReferences


class RaggedPairs(NamedTuple):
    """Pairs of a hypothesis and the reference with the same index, in the ragged layout."""

    hypotheses: RaggedTokens
    references: RaggedTokens


class PaddedPairs(NamedTuple):
    """Pairs of a hypothesis and the reference with the same index, in rows ``(pairs, width)``."""

    hypotheses: PaddedTokens
    references: PaddedTokens


class RaggedSummaries(NamedTuple):
    """The sentences of each hypothesis, and the sentences of each reference."""

    hypotheses: DocumentGroups
    references: DocumentGroups


class PaddedSummaries(NamedTuple):
    """Hypotheses and references that keep ``separator_id`` between two sentences."""

    sides: PaddedSides
    separator_id: int


class Batch(NamedTuple):
    """The sentences of one update.

    Attributes:
        sides: the documents as words, characters or ids.
        kind: the kind of input; None for a batch without sentences.
        leading_shape: ``(sentences, samples)`` if the batch has a dimension of samples: sample s of sentence b is then
            hypothesis ``b * samples + s``. None for ``(sentences,)``.
        words: the documents as words too, for chrF++.
        summaries: the sentences of the documents, for ROUGE-Lsum; None if each document is one sentence.
    """

    sides: RaggedSides | PaddedSides
    kind: Kind | None
    leading_shape: tuple[int, int] | None = None
    words: RaggedSides | None = None
    summaries: RaggedSummaries | PaddedSummaries | None = None
