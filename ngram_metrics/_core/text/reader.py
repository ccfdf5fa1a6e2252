"""How metrics of words and of characters read ``preds`` and ``target`` into batches of token ids.

Text, tokens and lists of ids become a ``Batch`` in NumPy, and so do padded ids on a CPU. Padded ids on a device are
read there, into a ``PaddedBatch`` in torch, and so are padded ids on a CPU during tracing or ``torch.compile``.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ngram_metrics._core.basics.arrays import counts_in_torch
from ngram_metrics._core.basics.option_checks import (
    check_booleans,
    fixed_pad_id,
    pad_ids,
    pad_signature,
    refuse_missing_pad_id,
)
from ngram_metrics._core.counting.batch import (
    Batch,
    Integers,
    batch_of,
    number_characters,
    number_ids,
    number_padded,
    number_tokens,
    portions,
)
from ngram_metrics._core.text.foreign_values import list_on_host, tensor_types
from ngram_metrics._core.text.input_forms import PaddedSegments, Segments, refuse_negative
from ngram_metrics._core.text.input_types import Tokenizer
from ngram_metrics._core.text.input_warnings import warn_of_another_tokenizer, warn_of_texts_as_tokens
from ngram_metrics._core.text.messages import NameOf, name_unhashable, shortened
from ngram_metrics._core.text.tokenizer_option import (
    batch_tokenizer,
    check_tokenizer,
    is_for_text_only,
    rule_of,
    tokenizer_signature,
)
from ngram_metrics._core.text.word_rules import CHRF_WORDS, END_OF_TEXT, WordRule

if TYPE_CHECKING:
    from ngram_metrics._core.counting.padded_batch import PaddedBatch

    Batches: TypeAlias = Sequence[Batch] | Sequence[PaddedBatch]

#: Ends each document whose tokens come from no ``WordRule``.
_END = object()


class Reader(ABC):
    """How ``preds`` and ``target`` are read.

    Attributes:
        pad_id: the id or ids that are not tokens. They are dropped at every position. A padded tensor needs it.
        tokenizer: for metrics of words, see ``_core.text.tokenizer_option``.
        samples: whether hypotheses may be samples, padded ids ``(segments, samples, width)``.
        sentence_separator_id: the id between the sentences of a summary. A negative one is not padding.
    """

    pad_id: int | Sequence[int] | None
    tokenizer: Tokenizer | None = None
    lowercase: bool = False
    samples: bool = False
    sentence_separator_id: int | None = None

    def __post_init__(self) -> None:
        check_booleans(self)
        object.__setattr__(self, "pad_id", fixed_pad_id(self.pad_id))

    @abstractmethod
    def signature(self, kind: str) -> dict[str, str]:
        """Return the settings that affect the score of a ``kind`` of input, by name. Before any input it is ``?``."""

    @abstractmethod
    def _text_options(self) -> dict[str, object]:
        """Return the options for text, by name. Those that are not set are None or False."""

    @abstractmethod
    def _encode_text(self, segments: Segments) -> Sequence[Batch]:
        """Encode texts."""

    @property
    def can_stay_padded(self) -> bool:
        """Whether padded ids on a device, or in a recorded graph, need no copy to the CPU."""
        return True

    @property
    def sample_padding(self) -> tuple[int, ...] | None:
        """The ids that are not tokens, if hypotheses may be samples, else None."""
        return pad_ids(self.pad_id) if self.samples else None

    def encode(self, segments: Segments | PaddedSegments) -> Batches:
        """Turn the segments of ``_core.text.input_forms`` into token ids, one batch for each kind of token.

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
        if segments.kind == "ids":
            return self._encode_ids(segments, dropped)
        self.check_tokens(segments)
        return [encode_tokens(segments)]

    def prepare(self, texts: Sequence[str]) -> Sequence[str]:
        """Prepare texts for splitting: lowercase them if asked to."""
        return list(map(str.lower, texts)) if self.lowercase else texts

    def check_text_options(self, kind: str) -> None:
        """Raise ValueError for an option for text if the segments are of another kind."""
        for name, value in self._text_options().items():
            if is_for_text_only(value):
                raise ValueError(
                    f"{name} is an option for text, but the segments are {kind}: expected texts, "
                    f"or {name}={False if value is True else None}"
                )

    def check_tokens(self, segments: Segments) -> None:
        """Warn of tokens that are whole texts."""
        warn_of_texts_as_tokens(segments.hypotheses, segments.references, segments.name_of)

    def _encode_ids(self, segments: Segments, dropped: tuple[int, ...]) -> Sequence[Batch]:
        """Encode lists and 1-D tensors of ids, without the ids in ``dropped``."""
        return [number_ids(*flatten_ids(segments, dropped, None))]

    def _encode_padded(self, segments: PaddedSegments, dropped: tuple[int, ...]) -> Batches:
        """Encode padded ids. Those on a device stay there, and nothing waits for it."""
        sides = segments.hypotheses, segments.references
        if counts_in_torch(*sides):
            from ngram_metrics._core.counting.padded_batch import pad_batch  # imports torch

            return [pad_batch(*sides, dropped, self.sentence_separator_id)]
        hypotheses, references = (side.numpy() for side in sides)
        batch = number_padded(hypotheses, references, dropped, self.sentence_separator_id)
        return [batch if self.sentence_separator_id is None else batch.drop_sentence_ends()]

    def _check_options(self, segments: Segments | PaddedSegments) -> tuple[int, ...]:
        """Return the ids that are not tokens. Raise ValueError for options for text, and for a missing ``pad_id``."""
        self.check_text_options(segments.kind)
        padding = pad_ids(self.pad_id)
        if isinstance(segments, PaddedSegments) or any(segments.padded):
            refuse_missing_pad_id(padding)
        return padding if segments.kind == "ids" else ()


@dataclass(frozen=True)
class WordReader(Reader):
    """Reads words: ``lowercase`` first, then the ``tokenizer``, see ``_core.text.tokenizer_option``."""

    tokenizer: Tokenizer | None = None
    lowercase: bool = False
    pad_id: int | Sequence[int] | None = None
    # Left out of ==: input that both settings accept is read alike.
    samples: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        check_tokenizer(self.tokenizer)
        super().__post_init__()

    def signature(self, kind: str) -> dict[str, str]:
        case = "lc" if self.lowercase else "mixed"
        return {"case": case, **tokenizer_signature(self.tokenizer, kind), **pad_signature(self.pad_id)}

    def _text_options(self) -> dict[str, object]:
        return {"tokenizer": self.tokenizer, "lowercase": self.lowercase}

    def _encode_text(self, segments: Segments) -> Sequence[Batch]:
        warn_of_another_tokenizer(self.tokenizer, segments.hypotheses, segments.references)
        documents, counts = segments.interleave()
        texts = self.prepare(documents)
        ranges = portions(len(texts), counts)
        rule = rule_of(self.tokenizer)
        if rule is not None:
            ids, bound = number_words(rule, texts, ranges)
        else:
            words = batch_tokenizer(self.tokenizer)(texts, segments.name_interleaved)
            ids, bound = number_documents(words, ranges, segments.name_interleaved)
        return [batch_of(ids, bound, counts)]


@dataclass(frozen=True)
class CharacterReader(Reader):
    """Reads characters. Tokens are characters too: a ``str`` of one character, or another hashable. So are ids.

    An emoji of several code points is several characters, as in sacrebleu. Whitespace is every character at which
    ``str.split()`` splits, including the tab, the no-break space and the ideographic space. With ``words``, for chrF++,
    words are read too, with punctuation split off.
    """

    lowercase: bool = False
    whitespace: bool = False
    words: bool = False
    pad_id: int | Sequence[int] | None = None

    def signature(self, kind: str) -> dict[str, str]:
        fields = {"case": "lc" if self.lowercase else "mixed", "space": "yes" if self.whitespace else "no"}
        return {**fields, **pad_signature(self.pad_id)}

    def _text_options(self) -> dict[str, object]:
        return {"lowercase": self.lowercase, "whitespace": self.whitespace, "word_order": self.words}

    def check_tokens(self, segments: Segments) -> None:
        """Raise TypeError for a ``str`` of more or less than one character, such as a word."""
        for index, document in enumerate(segments.documents):
            for token in document:
                if isinstance(token, str) and len(token) != 1:
                    raise TypeError(
                        f"{segments.name_of(index)} has the token {shortened(token)}, but this metric counts "
                        "characters: expected text, such as words joined by spaces, or tokens of one character each"
                    )

    def _encode_text(self, segments: Segments) -> Sequence[Batch]:
        documents, counts = segments.interleave()
        texts = self.prepare(documents)
        batches = [number_characters(texts, counts, self.whitespace)]
        if self.words:
            ids, bound = number_words(CHRF_WORDS, texts, portions(len(texts), counts))
            batches.append(batch_of(ids, bound, counts))
        return batches


def number_words(
    rule: WordRule, texts: Sequence[str], ranges: Iterable[slice], stem: Callable[[str], str] | None = None
) -> tuple[Integers, int]:
    """Number the words of texts by a rule, or the stems of these, as ``number_tokens`` does.

    The ``ranges`` of texts do not cut segments.
    """
    parts = (rule.words(texts[some]) for some in ranges)
    if stem is not None:
        parts = ([*map(stem, words)] for words in parts)  # the stem of the end of a text is itself
    return number_tokens(parts, END_OF_TEXT)


def encode_tokens(segments: Segments) -> Batch:
    """Encode segments of tokens, or raise TypeError for a token that is not hashable."""
    documents, counts = segments.interleave()
    ids, bound = number_documents(documents, portions(len(documents), counts), segments.name_interleaved)
    return batch_of(ids, bound, counts)


def number_documents(
    documents: Sequence[Sequence[Hashable]], ranges: Iterable[slice], name_of: NameOf
) -> tuple[Integers, int]:
    """Number the tokens of documents as ``number_tokens`` does. An error names the document."""
    parts = (
        [*chain.from_iterable(chain.from_iterable(zip(documents[some], repeat((_END,)), strict=False)))]
        for some in ranges
    )
    try:
        return number_tokens(parts, _END)
    except TypeError:
        name_unhashable(documents, name_of)
        raise


def flatten_ids(
    segments: Segments, dropped: Sequence[int], separator: int | None
) -> tuple[Integers, Integers, Integers | None]:
    """Return all ids, the length of each document, and the number of references of each segment.

    Ids in ``dropped`` are left out, except the ``separator``. Another negative id raises ValueError, unless it is in a
    row of a padded tensor, where it is left out.
    """
    documents, counts = segments.interleave()
    tokens, lengths = _join_ids(documents)
    is_kept = np.ones(len(tokens), np.bool_)
    for padding in dropped:
        if padding != separator:
            is_kept &= tokens != padding
    is_negative = is_kept & (tokens < 0)
    if separator is not None:
        is_negative &= tokens != separator
    if is_negative.any():
        owner = np.arange(len(lengths)).repeat(lengths)
        first = len(segments.hypotheses)
        padded = segments.padded or [False] * len(documents)
        flags, _ = segments._replace(hypotheses=[*padded[:first]], references=[*padded[first:]]).interleave()
        refused = (is_negative & ~np.array(flags)[owner]).nonzero()[0]
        if len(refused):
            refuse_negative([int(tokens[refused[0]])], segments.name_interleaved(owner[refused[0]]))
        is_kept &= ~is_negative
    if not is_kept.all():
        lengths = np.bincount(np.arange(len(lengths)).repeat(lengths)[is_kept], minlength=len(lengths))
        tokens = tokens[is_kept]
    return tokens, lengths, counts


def _join_ids(documents: Sequence[Any]) -> tuple[Integers, Integers]:
    """Return the ids of all documents, int64 or else Python integers, and the number of ids of each document."""
    lengths = np.fromiter(map(len, documents), np.int64, len(documents))
    tensors = tensor_types()
    if documents and all(isinstance(document, tensors) for document in documents):
        return sys.modules["torch"].cat(documents).cpu().numpy(), lengths
    tokens = [*chain.from_iterable(list_on_host(documents))]
    try:
        return np.fromiter(tokens, np.int64, len(tokens)), lengths
    except OverflowError:
        return np.array([*map(int, tokens)], object), lengths
