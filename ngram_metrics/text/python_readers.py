"""Readers without torch: the settings of each, and how texts are read one by one. Other readers derive from them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import TYPE_CHECKING, Any

from ngram_metrics.basics.option_checks import check_booleans, check_id, fixed_pad_id, pad_signature
from ngram_metrics.text.input_warnings import warn_of_another_tokenizer, warn_of_no_words, warn_of_texts_as_tokens
from ngram_metrics.text.messages import NameOf, shortened, type_name
from ngram_metrics.text.single_texts import prepare_texts, read_summaries, split_characters
from ngram_metrics.text.tokenizer_option import (
    callable_name,
    check_tokenizer,
    is_for_text_only,
    reads_text_as_it_is,
    tokenizer_signature,
)
from ngram_metrics.text.word_rules import SPLITTERS, has_splitter

if TYPE_CHECKING:
    from ngram_metrics.text.input_types import Tokenizer


class PythonReader(ABC):
    """The settings of a reader, and how it reads texts in plain Python.

    Attributes:
        pad_id: the id or ids that are not tokens, which are dropped at every position. A padded tensor needs it.
        reads_text_in_python: whether ``read_texts_in_python`` reads texts.
    """

    pad_id: int | Sequence[int] | None
    reads_text_in_python = False
    lowercase: bool = False

    def __post_init__(self) -> None:
        check_booleans(self)
        object.__setattr__(self, "pad_id", fixed_pad_id(self.pad_id))

    def prepare(self, texts: Sequence[str]) -> Sequence[str]:
        """Return texts as they are split into words or characters."""
        return prepare_texts(texts, self.lowercase)

    def read_texts_in_python(self, texts: Sequence[str], hypotheses: int, name_of: NameOf) -> Sequence[Any]:
        """Read each text as ``ngram_metrics.scores.python_scores`` counts it.

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

    def check_tokens(self, documents: Sequence[Any], name_of: NameOf) -> None:
        """Warn of tokens that are whole texts."""
        warn_of_texts_as_tokens(documents, name_of)

    @abstractmethod
    def _text_options(self) -> dict[str, object]:
        """Return the options that are for text only, by name, with None or False if they are not set."""


@dataclass(frozen=True)
class PythonWordReader(PythonReader):
    """The settings for reading words.

    Attributes:
        tokenizer: see ``ngram_metrics.text.tokenizer_option``.
        lowercase: whether text is lowercased before it is tokenized.
        pad_id: see ``PythonReader``.
        samples: whether hypotheses may be padded ids ``(segments, samples, width)``.

    Raises:
        TypeError: a tokenizer or ``pad_id`` of another type.
        ValueError: an unknown tokenizer name, or a tokenizer that truncates.
        ModuleNotFoundError: a tokenizer whose package is not installed.
    """

    tokenizer: Tokenizer | None = None
    lowercase: bool = False
    pad_id: int | Sequence[int] | None = None
    # Not compared: it changes nothing that both read.
    samples: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        check_tokenizer(self.tokenizer)
        super().__post_init__()
        object.__setattr__(self, "reads_text_in_python", has_splitter(self.tokenizer))

    def signature(self, kind: str) -> dict[str, str]:
        case = "lc" if self.lowercase else "mixed"
        return {"case": case, **tokenizer_signature(self.tokenizer, kind), **pad_signature(self.pad_id)}

    def _text_options(self) -> dict[str, object]:
        return {"tokenizer": self.tokenizer, "lowercase": self.lowercase}

    def read_texts_in_python(self, texts: Sequence[str], hypotheses: int, name_of: NameOf) -> Sequence[Any]:
        """Split each text into words."""
        return list(map(SPLITTERS[self.tokenizer], self.texts_to_split(texts, hypotheses)))

    def texts_to_split(self, texts: Sequence[str], hypotheses: int) -> Sequence[str]:
        """Return the texts to split into words, and warn of those that the tokenizer does not suit."""
        warn_of_another_tokenizer(self.tokenizer, texts[:hypotheses], texts[hypotheses:])
        return self.prepare(texts)


@dataclass(frozen=True)
class PythonCharacterReader(PythonReader):
    """The settings for reading characters, which may also be tokens: a ``str`` of one character, or another hashable.

    Attributes:
        lowercase: whether text is lowercased.
        whitespace: whether whitespace characters are counted.
        words: whether words are read too, for chrF++.
        pad_id: see ``PythonReader``; ids are counted as characters.

    Raises:
        TypeError: a setting of another type.
    """

    lowercase: bool = False
    whitespace: bool = False
    words: bool = False
    pad_id: int | Sequence[int] | None = None

    reads_text_in_python = True

    def signature(self, kind: str) -> dict[str, str]:
        """Return the settings that affect the score, in sacrebleu's terms."""
        fields = {"case": "lc" if self.lowercase else "mixed", "space": "yes" if self.whitespace else "no"}
        return {**fields, **pad_signature(self.pad_id)}

    def _text_options(self) -> dict[str, object]:
        return {"lowercase": self.lowercase, "whitespace": self.whitespace, "word_order": self.words}

    def check_tokens(self, documents: Sequence[Any], name_of: NameOf) -> None:
        """Raise TypeError for a ``str`` of more or less than one character, such as a word."""
        for index, document in enumerate(documents):
            for token in document:
                if isinstance(token, str) and len(token) != 1:
                    raise TypeError(
                        f"{name_of(index)} has the token {shortened(token)}, but this metric counts characters: "
                        "expected text, such as words joined by spaces, or tokens of one character each"
                    )

    def read_texts_in_python(self, texts: Sequence[str], hypotheses: int, name_of: NameOf) -> Sequence[Any]:
        """Split each text into characters and words."""
        return [split_characters(text, self.whitespace, self.words) for text in self.prepare(texts)]


@dataclass(frozen=True)
class PythonRougeReader(PythonReader):
    """The settings for reading, see ``ngram_metrics.text.rouge_reader``.

    Attributes:
        use_stemmer: whether words are stemmed.
        normalizer: ``str -> str``.
        tokenizer: see ``ngram_metrics.text.tokenizer_option``; None for the ASCII rule.
        sentence_splitter: ``str -> sequence of str``; None for lines.
        sentence_separator_id: the id between two sentences.
        pad_id: see ``PythonReader``.
        sentences: whether sentences are read, for ROUGE-Lsum.

    Raises:
        TypeError: a setting of another type.
        ValueError: an unknown tokenizer name, or a tokenizer that truncates.
        ModuleNotFoundError: a tokenizer whose package is not installed.
    """

    use_stemmer: bool = False
    normalizer: Callable[[str], str] | None = None
    tokenizer: Tokenizer | None = None
    sentence_splitter: Callable[[str], Sequence[str]] | None = None
    sentence_separator_id: int | None = None
    pad_id: int | Sequence[int] | None = None
    sentences: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tokenizer is not None:
            check_tokenizer(self.tokenizer)
        for name, option in (("normalizer", self.normalizer), ("sentence_splitter", self.sentence_splitter)):
            if option is not None and not callable(option):
                raise TypeError(f"{name} is {type_name(option)}: expected a callable that takes a str")
        separator = self.sentence_separator_id
        if separator is not None and (isinstance(separator, bool) or not isinstance(separator, Integral)):
            raise TypeError(f"sentence_separator_id is {shortened(separator)}: expected an integer or None")
        if separator is not None:
            check_id(int(separator), "sentence_separator_id")
        has_callable = self.normalizer is not None or self.sentence_splitter is not None
        object.__setattr__(self, "reads_text_in_python", not has_callable and has_splitter(self.tokenizer))

    def signature(self, kind: str) -> dict[str, str]:
        """Return the settings that affect the score, as strings, with ``rule`` for rouge_score's rule."""
        rule = "none" if reads_text_as_it_is(self.tokenizer) else "rule"
        fields = {"norm": rule if self.normalizer is None else callable_name(self.normalizer)}
        words = tokenizer_signature(self.tokenizer, kind)
        fields |= {"tok": "rule"} if words and self.tokenizer is None else words
        fields["stem"] = "porter-nltk" if self.use_stemmer else "no"
        if self.sentences:
            splitter = self.sentence_splitter
            fields["split"] = "lines" if splitter is None else callable_name(splitter)
        if self.sentence_separator_id is not None:
            fields["sep"] = str(self.sentence_separator_id)
        return {**fields, **pad_signature(self.pad_id)}

    def _text_options(self) -> dict[str, object]:
        return {
            "use_stemmer": self.use_stemmer,
            "normalizer": self.normalizer,
            "tokenizer": self.tokenizer,
            "sentence_splitter": self.sentence_splitter,
        }

    @property
    def follows_ascii_rule(self) -> bool:
        """Whether the ASCII rule is applied to a text, so that only a-z and 0-9 remain."""
        return self.normalizer is None and not reads_text_as_it_is(self.tokenizer)

    def read_texts_in_python(self, texts: Sequence[str], hypotheses: int, name_of: NameOf) -> Sequence[Any]:
        """Read the words and the sentences of each summary."""
        reading = self.use_stemmer, self.normalizer, self.tokenizer, self.sentence_splitter
        summaries = read_summaries(texts, self.sentences, *reading, name_of)
        if self.follows_ascii_rule:
            warn_of_no_words(texts, [len(words) for words, _ in summaries])
        return summaries
