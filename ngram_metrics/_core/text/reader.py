"""How metrics of words and of characters read ``preds`` and ``target`` into batches of token ids.

``Reader.read`` takes all steps: it finds the form of the input and checks it, warns of likely mistakes, and numbers the
words, characters or ids.

Text, tokens and lists of ids become a ``Batch`` in NumPy, and so do padded ids on a CPU. Padded ids on a device are
read there, into a ``PaddedBatch`` in torch, and so are padded ids on a CPU during tracing or ``torch.compile``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, overload

from ngram_metrics._core.basics.arrays import counts_in_torch
from ngram_metrics._core.basics.option_checks import (
    canonical_pad_id,
    check_booleans,
    fixed_pad_id,
    pad_ids,
    refuse_missing_pad_id,
)
from ngram_metrics._core.counting.batch import Batch
from ngram_metrics._core.counting.numbering import (
    TokenNumbering,
    cut_portions,
    number_characters,
    number_ids,
    number_padded,
)
from ngram_metrics._core.text.foreign_values import tensor_types
from ngram_metrics._core.text.id_lists import flatten_ids
from ngram_metrics._core.text.input_forms import read
from ngram_metrics._core.text.input_types import Tokenizer
from ngram_metrics._core.text.input_warnings import (
    warn_of_another_tokenizer,
    warn_of_input_form,
    warn_of_markers,
    warn_of_texts_as_tokens,
)
from ngram_metrics._core.text.messages import NameOf, name_unhashable, shortened
from ngram_metrics._core.text.segments import PaddedSegments, Segments
from ngram_metrics._core.text.tokenizer_option import (
    batch_tokenizer,
    check_tokenizer,
    rule_of,
)
from ngram_metrics._core.text.word_rules import CHRF_WORDS, END_OF_TEXT, WordRule

if TYPE_CHECKING:
    from ngram_metrics._core.counting.padded_batch import PaddedBatch
    from ngram_metrics._core.text.input_types import Hypotheses, References

    #: One batch for each kind of token that a reader reads.
    Batches: TypeAlias = Sequence[Batch] | Sequence[PaddedBatch]

#: Ends each document whose tokens come from no ``WordRule``.
_END = object()


class TextOption(NamedTuple):
    """An option for text: its name, its value, and the value that a caller passes to leave it out."""

    name: str
    value: object
    unset: object = None

    @property
    def is_for_text_only(self) -> bool:
        """Whether it is an error for tokens and ids. The name of a tokenizer is not: they ignore it."""
        return not (self.value is None or self.value is False or isinstance(self.value, str))


class Reading(NamedTuple):
    """The segments and batches that a reader made from ``preds`` and ``target``.

    Attributes:
        segments: the checked segments as they were given.
        batches: their token ids, one batch for each kind of token: words, or characters and, for chrF++, words.
    """

    segments: Segments | PaddedSegments
    batches: Batches


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
    def settings(self) -> dict[str, object]:
        """Return the options that affect a score, by name. Options that mean the same have one value."""

    @abstractmethod
    def _text_options(self) -> list[TextOption]:
        """Return the options for text. The value of an option that is left out is None or False."""

    @abstractmethod
    def warn_of_texts(self, segments: Segments, is_first: bool) -> None:
        """Warn of texts that this reader splits into words in a way that is probably not intended."""

    @abstractmethod
    def _encode_text(self, segments: Segments) -> Sequence[Batch]:
        """Encode texts."""

    @property
    def can_stay_padded(self) -> bool:
        """Whether padded ids on a device, or in a recorded graph, need no copy to the CPU."""
        return True

    def can_be_recorded(self, preds: object, target: object) -> bool:
        """Return whether ``torch.compile`` may record how these are read and counted: only if both are padded."""
        tensors = tensor_types()
        return self.can_stay_padded and isinstance(preds, tensors) and isinstance(target, tensors)

    def read(self, preds: Hypotheses, target: References, is_first: bool = True) -> Reading:
        """Read a batch: find its form, check it, and number its tokens.

        ``is_first`` says whether it is the first batch: some warnings look only at its texts.

        Raises:
            TypeError, ValueError: the errors of ``input_forms.read`` and of ``encode``.
        """
        segments = self.find_segments(preds, target, is_first)
        return Reading(segments, self.encode(segments, is_first))

    def find_segments(self, preds: Hypotheses, target: References, is_first: bool = True) -> Segments | PaddedSegments:
        """Find the form of a batch and check it. The options for text make no difference here."""
        segments = read(preds, target, pad_ids(self.pad_id) if self.samples else None)
        if isinstance(segments, Segments) and segments.kind == "text":
            warn_of_input_form(segments.hypotheses, segments.references, segments.reference_counts, is_first)
        return segments

    @overload
    def encode(self, segments: Segments, is_first: bool = True) -> Sequence[Batch]: ...

    @overload
    def encode(self, segments: Segments | PaddedSegments, is_first: bool = True) -> Batches: ...

    def encode(self, segments: Segments | PaddedSegments, is_first: bool = True) -> Batches:
        """Number the tokens of checked segments, one batch for each kind of token.

        Raises:
            TypeError: a token that is not hashable; a callable that returned an object of a wrong type.
            ValueError: options for text together with tokens or ids; a padded tensor without ``pad_id``; in a sequence
                or 1-D tensor a negative id that is not in ``pad_id``.
        """
        if segments.kind == "text":
            segments = self.rewrite_texts(segments)
            if is_first:
                warn_of_markers(segments.hypotheses, segments.references)
            self.warn_of_texts(segments, is_first)
            return self._encode_text(segments)
        self.check_text_options(segments.kind)
        dropped = pad_ids(self.pad_id)
        if isinstance(segments, PaddedSegments):
            refuse_missing_pad_id(dropped)
            return self._encode_padded(segments, dropped)
        if any(segments.padded):
            refuse_missing_pad_id(dropped)
        if segments.kind == "ids":
            return self._encode_ids(segments, dropped)
        self.check_tokens(segments)
        return [encode_tokens(segments)]

    def rewrite_texts(self, segments: Segments) -> Segments:
        """Return the segments with texts as this reader reads them, such as with other separators of sentences."""
        return segments

    def prepare(self, texts: Sequence[str]) -> Sequence[str]:
        """Prepare texts for splitting: lowercase them if asked to."""
        return list(map(str.lower, texts)) if self.lowercase else texts

    def check_text_options(self, kind: str) -> None:
        """Raise ValueError for an option for text if the segments are of another kind."""
        for option in self._text_options():
            if option.is_for_text_only:
                raise ValueError(
                    f"{option.name} is an option for text, but the segments are {kind}: expected texts, "
                    f"or {option.name}={option.unset}"
                )

    def check_tokens(self, segments: Segments) -> None:
        """Warn of tokens that are whole texts."""
        warn_of_texts_as_tokens(segments.hypotheses, segments.references, segments.name_of)

    def _encode_ids(self, segments: Segments, dropped: tuple[int, ...]) -> Sequence[Batch]:
        """Encode lists and 1-D tensors of ids, without the ids in ``dropped``."""
        tokens, lengths, reference_counts = flatten_ids(segments, dropped, None)
        return [number_ids(tokens, lengths, reference_counts)]

    def _encode_padded(self, segments: PaddedSegments, dropped: tuple[int, ...]) -> Batches:
        """Encode padded ids without the ids in ``dropped``. On a device they stay there, and nothing waits for it."""
        separator = self.sentence_separator_id
        if self.can_stay_padded and counts_in_torch(segments.hypotheses, segments.references):
            from ngram_metrics._core.counting.padded_batch import pad_batch  # imports torch

            return [pad_batch(segments.hypotheses, segments.references, dropped, separator)]
        hypotheses = segments.hypotheses.cpu().numpy()
        references = segments.references.cpu().numpy()
        batch = number_padded(hypotheses, references, dropped, separator)
        return [batch] if separator is None else self._split_sentences_off(batch)

    def _split_sentences_off(self, batch: Batch) -> Sequence[Batch]:
        """Return the batches of documents that may have ends of sentences. Only ROUGE's have."""
        return [batch]


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

    def settings(self) -> dict[str, object]:
        return {
            "tokenizer": "none" if self.tokenizer is None else self.tokenizer,
            "lowercase": self.lowercase,
            "pad_id": canonical_pad_id(self.pad_id),
        }

    def _text_options(self) -> list[TextOption]:
        return [TextOption("tokenizer", self.tokenizer), TextOption("lowercase", self.lowercase, unset=False)]

    def warn_of_texts(self, segments: Segments, is_first: bool) -> None:
        warn_of_another_tokenizer(self.tokenizer, segments.hypotheses, segments.references)

    def _encode_text(self, segments: Segments) -> Sequence[Batch]:
        documents, reference_counts = segments.interleave()
        texts = self.prepare(documents)
        portions = cut_portions(len(texts), reference_counts)
        rule = rule_of(self.tokenizer)
        if rule is not None:
            numbering = number_words(rule, texts, portions)
        else:
            words = batch_tokenizer(self.tokenizer)(texts, segments.name_interleaved)
            numbering = number_documents(words, portions, segments.name_interleaved)
        return [numbering.to_batch(reference_counts)]


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

    def settings(self) -> dict[str, object]:
        return {
            "lowercase": self.lowercase,
            "whitespace": self.whitespace,
            "pad_id": canonical_pad_id(self.pad_id),
        }

    def _text_options(self) -> list[TextOption]:
        return [
            TextOption("lowercase", self.lowercase, unset=False),
            TextOption("whitespace", self.whitespace, unset=False),
            TextOption("word_order", self.words, unset=0),
        ]

    def warn_of_texts(self, segments: Segments, is_first: bool) -> None:
        """Do nothing: every text has characters."""

    def check_tokens(self, segments: Segments) -> None:
        """Raise TypeError for a ``str`` of more or less than one character, such as a word."""
        for index, document in enumerate(segments.documents):
            for token in document:
                if isinstance(token, str) and len(token) != 1:
                    raise TypeError(
                        f"{segments.name_of(index)} has the token {shortened(token)}, but this metric counts "
                        "characters: expected text, such as ' '.join(tokens), or tokens of one character each"
                    )

    def _encode_text(self, segments: Segments) -> Sequence[Batch]:
        documents, reference_counts = segments.interleave()
        texts = self.prepare(documents)
        batches = [number_characters(texts, reference_counts, self.whitespace)]
        if self.words:
            numbering = number_words(CHRF_WORDS, texts, cut_portions(len(texts), reference_counts))
            batches.append(numbering.to_batch(reference_counts))
        return batches


def number_words(
    rule: WordRule, texts: Sequence[str], portions: Sequence[slice], stem: Callable[[str], str] | None = None
) -> TokenNumbering:
    """Number the words of texts by a rule, or the stems of these. No portion of the texts cuts a segment."""
    numbering = TokenNumbering(END_OF_TEXT)
    for portion in portions:
        words = rule.words(texts[portion])
        if stem is not None:
            words = list(map(stem, words))  # the stem of the end of a text is itself
        numbering.add(words)
    return numbering


def encode_tokens(segments: Segments) -> Batch:
    """Encode segments of tokens, or raise TypeError for a token that is not hashable."""
    documents, reference_counts = segments.interleave()
    portions = cut_portions(len(documents), reference_counts)
    return number_documents(documents, portions, segments.name_interleaved).to_batch(reference_counts)


def number_documents(
    documents: Sequence[Sequence[Hashable]], portions: Sequence[slice], name_of: NameOf
) -> TokenNumbering:
    """Number the tokens of documents. No portion cuts a segment, and the error for an unhashable token names it."""
    numbering = TokenNumbering(_END)
    for portion in portions:
        tokens: list[Hashable] = []
        for document in documents[portion]:
            tokens += document
            tokens.append(_END)
        try:
            numbering.add(tokens)
        except TypeError:
            name_unhashable(documents, name_of)
            raise
    return numbering
