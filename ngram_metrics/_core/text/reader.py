"""From ``preds`` and ``target`` to token ids: the base class of all readers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Container, Sequence
from itertools import chain
from typing import Any

from ngram_metrics._core.basics.lazy import torch
from ngram_metrics._core.basics.option_checks import check_booleans, fixed_pad_id, pad_ids, refuse_missing_pad_id
from ngram_metrics._core.counting.documents import (
    Batch,
    DocumentGroups,
    PaddedSides,
    RaggedSides,
    RaggedTokens,
    has_data,
    host_counts,
    padded_sides,
    ragged_sides,
)
from ngram_metrics._core.counting.numpy_matches import must_use_torch
from ngram_metrics._core.text.input_forms import PaddedSegments, Segments, read
from ngram_metrics._core.text.input_types import Tokenizer
from ngram_metrics._core.text.input_warnings import warn_of_texts_as_tokens
from ngram_metrics._core.text.messages import NameOf
from ngram_metrics._core.text.numbering import listed_ids, number_ids, number_tensors, number_tokens
from ngram_metrics._core.text.tokenizer_option import is_for_text_only
from ngram_metrics._core.text.word_rules import prepare_texts


class Reader(ABC):
    """How ``preds`` and ``target`` are read: the settings, as arrays, and a few texts in plain Python.

    Attributes:
        pad_id: the id or ids that are not tokens, which are dropped at every position. A padded tensor needs it.
        tokenizer: for metrics of words, see ``_core.text.tokenizer_option``.
        samples: whether hypotheses may be samples, padded ids ``(segments, samples, width)``.
        sentence_separator_id: an id between the sentences of a summary. It may be negative, and is then not padding.
        reads_text_in_python: whether ``read_texts_in_python`` reads texts.
    """

    pad_id: int | Sequence[int] | None
    reads_text_in_python = False
    tokenizer: Tokenizer | None = None
    lowercase: bool = False
    samples: bool = False
    sentence_separator_id: int | None = None

    def __post_init__(self) -> None:
        check_booleans(self)
        object.__setattr__(self, "pad_id", fixed_pad_id(self.pad_id))

    def prepare(self, texts: Sequence[str]) -> Sequence[str]:
        """Return texts as they are split into words or characters."""
        return prepare_texts(texts, self.lowercase)

    def read_texts_in_python(self, texts: Sequence[str], hypotheses: int, name_of: NameOf) -> Sequence[Any]:
        """Read each text as ``_core.counting.python_matches`` counts it.

        The first ``hypotheses`` texts are the hypotheses; the references follow. ``name_of`` names a text in an error.
        """
        raise NotImplementedError

    @abstractmethod
    def signature(self, kind: str) -> dict[str, str]:
        """Return the settings that affect the score of a kind of input, or ``?`` before any, by name, as strings."""

    def check_text_options(self, kind: str) -> None:
        """Raise ValueError for an option for text, if the segments are of another kind."""
        for name, value in self._text_options().items():
            if is_for_text_only(value):
                raise ValueError(
                    f"{name} is an option for text, but the segments are {kind}: expected texts, "
                    f"or {name}={False if value is True else None}"
                )

    def check_tokens(self, segments: Segments) -> None:
        """Warn of tokens that are whole texts."""
        warn_of_texts_as_tokens(segments.hypotheses, segments.references, segments.name_of)

    @abstractmethod
    def _text_options(self) -> dict[str, object]:
        """Return the options that are for text only, by name, with None or False if they are not set."""

    def read_systems(
        self, systems: Sequence[Sequence[str]], references: Sequence[str] | Sequence[Sequence[str]]
    ) -> Batch:
        """Read the texts of several systems, one per segment, into a batch of all segments of each system in turn.

        The errors are those of ``read`` and ``encode``.
        """
        segments = read(systems[0], references)
        assert isinstance(segments, Segments)
        every = list(chain.from_iterable(systems))
        batch = self.encode(segments._replace(hypotheses=every))
        if len(systems) == 1:
            return batch
        parts: dict[str, Any] = {}
        for name in ("sides", "words", "summaries"):
            if (part := getattr(batch, name)) is not None:
                # Summaries have a group for each reference, and not for each segment.
                repeated = torch.arange(len(part.references.counts), device="cpu").repeat(len(systems))
                parts[name] = part._replace(references=part.references.take(repeated))
        return batch._replace(**parts)

    def encode(self, segments: Segments | PaddedSegments) -> Batch:
        """Turn segments that ``_core.text.input_forms`` has read into token ids.

        Raises:
            TypeError: a token that is not hashable; a callable that returned an object of a wrong type.
            ValueError: options for text together with tokens or ids; a padded tensor without ``pad_id``; in a sequence
                or 1-D tensor a negative id that is not in ``pad_id``.
        """
        if segments.kind == "text":
            return self._encode_text(segments)
        dropped = self._check_options(segments)
        if isinstance(segments, PaddedSegments):
            return self._encode_padded(segments, dropped)
        return self._encode_tokens(segments, dropped)

    @property
    def sample_padding(self) -> tuple[int, ...] | None:
        """The ids that are not tokens, if hypotheses may be samples, else None."""
        return pad_ids(self.pad_id) if self.samples else None

    def reads_in_python(self, segments: Segments | PaddedSegments) -> bool:
        """Return whether ``read_in_python`` reads these segments.

        It does not read texts if the reader has an external tokenizer or another callable, tokens other than ``str``,
        integers other than ``int``, and tensors without data, as in ``torch.vmap``.
        """
        if isinstance(segments, PaddedSegments):
            is_read = segments.leading_shape is None and self.sentence_separator_id is None
            return is_read and bool(pad_ids(self.pad_id)) and all(map(has_data, segments[:2]))
        if segments.kind == "text":
            return self.reads_text_in_python
        if not segments.token_types <= {int if segments.kind == "ids" else str}:
            return False
        return all(has_data(document) for document in segments.documents if isinstance(document, torch.Tensor))

    def read_in_python(
        self, segments: Segments | PaddedSegments
    ) -> tuple[Sequence[object], Sequence[object], list[int]]:
        """Return hypotheses, references and how many each segment has, as ``Measure.count_in_python`` counts them.

        The errors are those of ``encode``.
        """
        listed = self._list_padded(segments) if isinstance(segments, PaddedSegments) else segments
        first = len(listed.hypotheses)
        if listed.kind == "text":
            documents = self.read_texts_in_python(listed.documents, first, listed.name_of)
        else:
            documents = self._read_tokens_in_python(listed)
        return documents[:first], documents[first:], listed.counts

    def _read_tokens_in_python(self, segments: Segments) -> Sequence[Any]:
        """Read tokens or ids, the hypotheses first."""
        dropped = self._check_options(segments)
        if segments.kind == "tokens":
            self.check_tokens(segments)
            return segments.documents
        return listed_ids(segments, dropped, self.sentence_separator_id)

    def _list_padded(self, segments: PaddedSegments) -> Segments:
        """Return padded ids as lists, without missing references and without the ids that are not tokens."""
        padding = {*pad_ids(self.pad_id)}
        hypotheses = [_tokens(row, padding) for row in segments.hypotheses.tolist()]
        references: list[list[int]] = []
        counts = []
        for rows in segments.references.tolist():
            present = [tokens for row in rows if (tokens := _tokens(row, padding))]
            if rows and not present:
                present = [[]]  # all references are missing: one empty reference stands for them
            references += present
            counts.append(len(present))
        return Segments("ids", hypotheses, references, counts)

    @abstractmethod
    def _encode_text(self, segments: Segments) -> Batch:
        """Encode texts."""

    def _encode_tokens(self, segments: Segments, dropped: tuple[int, ...]) -> Batch:
        """Encode sequences of tokens or ids, without the ids in ``dropped``."""
        documents = segments.documents
        if documents and all(isinstance(document, torch.Tensor) for document in documents):
            tokens = number_tensors(segments, dropped)
        elif segments.kind == "tokens":
            self.check_tokens(segments)
            tokens = number_tokens(documents, segments.name_of)
        else:
            tokens = number_ids(listed_ids(segments, dropped))
        return batch_of(segments, tokens)

    def _encode_padded(self, segments: PaddedSegments, dropped: tuple[int, ...]) -> Batch:
        """Encode padded ids without gaps: on a CPU as lists, else in steps that do not depend on data."""
        sides: RaggedSides | PaddedSides
        if must_use_torch() or not all(map(has_data, segments[:2])):
            sides = padded_sides(segments.hypotheses, segments.references, dropped, self.sentence_separator_id)
        else:
            sides = ragged_sides(segments.hypotheses, segments.references, dropped, self.sentence_separator_id)
        return Batch(sides, segments.leading_shape)

    def _check_options(self, segments: Segments | PaddedSegments) -> tuple[int, ...]:
        """Return the ids that are not tokens, or raise ValueError for an option for text or padded ids without them."""
        self.check_text_options(segments.kind)
        padding = pad_ids(self.pad_id)
        if isinstance(segments, PaddedSegments) or any(segments.padded):
            refuse_missing_pad_id(padding)
        return padding if segments.kind == "ids" else ()


def _tokens(row: Sequence[int], dropped: Container[int]) -> list[int]:
    """Return the ids of a padded row that are tokens."""
    return [token for token in row if token >= 0 and token not in dropped]


def batch_of(segments: Segments, tokens: RaggedTokens) -> Batch:
    """Return a batch from the tokens of all documents."""
    return Batch(sides_of(segments, tokens))


def sides_of(segments: Segments, tokens: RaggedTokens) -> RaggedSides:
    """Split tokens into hypotheses and the references that follow them."""
    first = len(segments.hypotheses)
    references = DocumentGroups(tokens.slice(first, tokens.documents), host_counts(segments.counts))
    return RaggedSides(tokens.slice(0, first), references)
