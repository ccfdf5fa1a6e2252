"""What is counted together: hypotheses and references in one layout, from the door to the counts."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ngram_metrics.counting.token_batch import DocumentGroups, PaddedReferences, PaddedTokens, RaggedTokens

#: What sentences are given as.
Kind = Literal["text", "tokens", "ids"]


class RaggedSides(NamedTuple):
    """Hypotheses, and for each its references, laid end to end, with ids of one meaning."""

    hypotheses: RaggedTokens
    references: DocumentGroups


class PaddedSides(NamedTuple):
    """Hypotheses, and for each its references, in rows, with ids of one meaning."""

    hypotheses: PaddedTokens
    references: PaddedReferences


class RaggedPairs(NamedTuple):
    """As many hypotheses as references, each with the reference of its index, laid end to end."""

    hypotheses: RaggedTokens
    references: RaggedTokens


class PaddedPairs(NamedTuple):
    """As many hypotheses as references, each with the reference of its index, in rows ``(pairs, width)``."""

    hypotheses: PaddedTokens
    references: PaddedTokens


class RaggedSummaries(NamedTuple):
    """The sentences of each hypothesis, and those of each reference, one reference after another."""

    hypotheses: DocumentGroups
    references: DocumentGroups


class PaddedSummaries(NamedTuple):
    """Hypotheses and references with separators left in, ``separator_id`` standing between two sentences."""

    sides: PaddedSides
    separator_id: int


class Batch(NamedTuple):
    """The sentences of one update.

    Attributes:
        sides: the documents as words, characters or ids.
        kind: what they were given as; None where there is no sentence.
        leading_shape: ``(sentences, samples)`` where the batch has a dimension of samples: sample s of sentence b is
            then hypothesis ``b * samples + s``. None for ``(sentences,)``.
        words: the documents as words besides, for chrF++.
        summaries: the sentences of the documents, for ROUGE-Lsum; None where each document is one sentence.
    """

    sides: RaggedSides | PaddedSides
    kind: Kind | None
    leading_shape: tuple[int, int] | None = None
    words: RaggedSides | None = None
    summaries: RaggedSummaries | PaddedSummaries | None = None
