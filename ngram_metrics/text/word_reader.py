"""How metrics of words read ``preds`` and ``target``: as words, as the numbers of a table, or as whole texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from ngram_metrics.basics.option_checks import pad_ids
from ngram_metrics.counting.documents import (
    Batch,
    DocumentGroups,
    PaddedReferences,
    PaddedSides,
    RaggedTokens,
    host_counts,
    padded_sides,
    ragged_sides,
)
from ngram_metrics.document_frequency import DocumentFrequency, counted_in_segments
from ngram_metrics.text.input_forms import PaddedSegments, Segments
from ngram_metrics.text.input_warnings import warn_of_unsplit_texts
from ngram_metrics.text.messages import name_unhashable
from ngram_metrics.text.numbering import columns_of, listed_ids, number_tokens
from ngram_metrics.text.python_readers import PythonWordReader
from ngram_metrics.text.reader import Reader, batch_of
from ngram_metrics.text.single_texts import split_words
from ngram_metrics.text.tokenizer_option import rule_of, tokenizer_signature
from ngram_metrics.text.word_bounds import WHITESPACE
from ngram_metrics.text.words import number_words

#: Fewer characters are split by ``str.split``, which is then faster than operations on arrays.
FEW_CHARACTERS = 1 << 14


class WordReader(PythonWordReader, Reader):
    """Reads words under the settings of ``PythonWordReader``."""

    @property
    def sample_padding(self) -> tuple[int, ...] | None:
        """The ids that are not tokens, if hypotheses may be samples."""
        return pad_ids(self.pad_id) if self.samples else None

    def _encode_text(self, segments: Segments) -> Batch:
        texts = self.texts_to_split(segments.documents, len(segments.hypotheses))
        rule = rule_of(self.tokenizer)
        if rule is None or (rule is WHITESPACE and sum(map(len, texts)) < FEW_CHARACTERS):
            tokens = number_tokens(split_words(texts, self.tokenizer, segments.name_of), segments.name_of)
        else:
            tokens = number_words(rule, texts, columns_of(segments))
        return batch_of(segments, tokens)


@dataclass(frozen=True)
class TokenReader(WordReader):
    """The settings for reading texts and ids as lists of tokens, whose names a table keeps."""

    @property
    def words(self) -> str:
        """How texts are split into words, as a signature writes it."""
        return "|".join(f"{name}:{value}" for name, value in tokenizer_signature(self.tokenizer).items())

    def table(self, segments: Segments | PaddedSegments, ngram: int) -> DocumentFrequency:
        """Count in the references of how many segments each n-gram occurs, up to the order ``ngram``.

        Raises:
            TypeError, ValueError: the errors of ``ngram_metrics.text.reader.Reader.encode``.
        """
        if isinstance(segments, PaddedSegments):
            self._check_options(segments)
            segments = self._list_padded(segments)
        documents = self._lists(segments)[len(segments.hypotheses) :]
        flat: list[Any] = list(chain.from_iterable(documents))
        kind = _kind_of(segments)
        # NumPy's int and str become Python's, which a file holds and which are written in one way.
        tokens: list[Hashable] = (
            [int(token) for token in sorted(set(flat))]
            if kind == "ids"
            else [str.__str__(token) if isinstance(token, str) else token for token in dict.fromkeys(flat)]
        )
        numbers = {token: index for index, token in enumerate(tokens)}
        ids = torch.from_numpy(np.fromiter(map(numbers.__getitem__, flat), np.int64, len(flat)))
        ragged = RaggedTokens(ids, host_counts(list(map(len, documents))), len(tokens))
        groups = DocumentGroups(ragged, host_counts(segments.counts))
        return counted_in_segments(groups, ngram, tokens, kind, self.words if kind == "words" else "")

    def _lists(self, segments: Segments) -> Sequence[Sequence[Hashable]]:
        """Return the tokens of each document, hypotheses first."""
        if segments.kind == "text":
            return split_words(
                self.texts_to_split(segments.documents, len(segments.hypotheses)), self.tokenizer, segments.name_of
            )
        dropped = self._check_options(segments)
        if segments.kind == "tokens":
            name_unhashable(segments.documents, segments.name_of)
            return segments.documents
        return listed_ids(segments, dropped)


@dataclass(frozen=True)
class VocabularyReader(TokenReader):
    """The settings for reading tokens with their numbers in a table of document frequencies.

    A token that is not in the table has another number: at least the number of tokens of the table, or below 0 in
    padded ids. Without a table the tokens of a batch are numbered together, and padded ids become ragged.

    Raises:
        ValueError: a table of texts that were split into words in another way.
    """

    document_frequency: DocumentFrequency | None = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        table = self.document_frequency
        if table is not None and table.kind == "words" and table.tokenizer != self.words:
            raise ValueError(
                f"document_frequency was counted with {table.tokenizer}, and the tokenizer is {self.words}: expected "
                "the same"
            )

    def encode(self, segments: Segments | PaddedSegments) -> Batch:
        """Turn checked segments into token ids, or raise the errors of ``Reader.encode``."""
        table = self.document_frequency
        if isinstance(segments, PaddedSegments):
            return super().encode(segments)
        if table is None:
            return super().encode(segments._replace(together=True))
        documents = self._lists(segments)
        if any(map(len, documents)):
            _check_kind(table, segments)
        numbers = table.numbers
        others: defaultdict[Hashable, int] = defaultdict()
        others.default_factory = lambda: len(numbers) + len(others)
        tokens = chain.from_iterable(documents)
        ids = np.array([numbers[token] if token in numbers else others[token] for token in tokens], np.int64)
        bound = max(1, len(numbers) + len(others))
        ragged = RaggedTokens(torch.from_numpy(ids), host_counts(list(map(len, documents))), bound)
        return batch_of(segments, ragged)

    def _encode_padded(self, segments: PaddedSegments, dropped: tuple[int, ...]) -> Batch:
        table = self.document_frequency
        if table is None:
            sides = ragged_sides(segments.hypotheses, segments.references, dropped)
            return Batch(sides, segments.leading_shape)
        _check_kind(table, segments)
        padded = padded_sides(segments.hypotheses, segments.references, dropped)
        hypotheses, (references, present) = padded
        table_ids, *_ = table.to_device(hypotheses.ids.device)
        hypotheses, references = (s._replace(ids=_indices(table_ids, s.ids)) for s in (hypotheses, references))
        padded = PaddedSides(hypotheses, PaddedReferences(references, present))
        return Batch(padded, segments.leading_shape)


def _kind_of(segments: Segments | PaddedSegments) -> Literal["words", "ids"]:
    return "ids" if segments.kind == "ids" else "words"


def _check_kind(table: DocumentFrequency, segments: Segments | PaddedSegments) -> None:
    """Raise ValueError if the table is of words and the segments are ids, or the other way round."""
    if table.tokens and table.kind != _kind_of(segments):
        raise ValueError(
            f"document_frequency was counted in {table.kind}, and the segments are {segments.kind}: expected the "
            "same kind of tokens"
        )


def _indices(table: Tensor, ids: Tensor) -> Tensor:
    """Return the index of each id in a table of ascending ids, and for an unknown id a negative number of its own."""
    if not len(table):
        return -1 - ids
    index = torch.searchsorted(table, ids.contiguous()).clamp(max=len(table) - 1)
    return torch.where(table.take(index) == ids, index, -1 - ids)


@dataclass(frozen=True)
class TextReader(Reader):
    """Reads a text as one token on the CPU, whose id is the index of the text in ``Batch.texts``.

    Attributes:
        splits: whether the measure splits Chinese and Japanese, which have no spaces, into characters.
    """

    splits: bool = False
    pad_id: None = field(default=None, init=False)

    def encode(self, segments: Segments | PaddedSegments) -> Batch:
        """Number checked texts.

        Raises:
            TypeError: tokens or ids.
        """
        if segments.kind != "text":
            raise TypeError(
                f"the segments are {segments.kind}, and this metric takes text only: expected each as a str, such as "
                "tokens joined by spaces, or decoded ids"
            )
        return super().encode(segments)

    def signature(self, kind: str) -> dict[str, str]:
        """Return no settings: there are none."""
        return {}

    def _text_options(self) -> dict[str, object]:
        return {}

    def _encode_text(self, segments: Segments) -> Batch:
        texts = segments.documents
        if not self.splits:
            advice = "normalized=True and asian_support=True, which split Chinese and Japanese into characters"
            warn_of_unsplit_texts(segments.hypotheses, segments.references, advice)
        indices = RaggedTokens(torch.arange(len(texts), device="cpu"), host_counts([1] * len(texts)), len(texts))
        return batch_of(segments, indices)._replace(texts=texts)
