"""How ROUGE reads ``preds`` and ``target``: whole texts, and for ROUGE-Lsum their sentences.

Text. The default is rouge_score's rule, ``ROUGE_WORDS`` in ``_core.text.word_rules``: lowercase, and keep ``a-z0-9``. A
``normalizer`` turns a text into the text to tokenize, and a ``tokenizer`` returns the words. As in torchmetrics, a
callable ``tokenizer`` without a ``normalizer`` gets the text after the ASCII rule. A tokenizer given by name, or a
Hugging Face tokenizer, gets the original text. Empty words are dropped. Porter stemming, ``_core.text.stemmer``, is the
last step.

Sentences. A sentence is a line, as in rouge_score, or an item that ``sentence_splitter`` returns. A
``SentenceSeparator`` becomes a line feed before words are read, so it leaves no word either.
``nltk.sent_tokenize`` gives torchmetrics' numbers. Ids are split at ``sentence_separator_id``, which is not a token.
Other documents of tokens or ids are one sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import chain
from numbers import Integral

import numpy as np

from ngram_metrics._core.basics.option_checks import canonical_pad_id, check_id
from ngram_metrics._core.counting.batch import END_OF_SENTENCE, Batch, Integers
from ngram_metrics._core.counting.numbering import TokenNumbering, cut_portions, number_ids
from ngram_metrics._core.text.id_lists import flatten_ids
from ngram_metrics._core.text.input_types import Tokenizer
from ngram_metrics._core.text.input_warnings import warn_of_another_tokenizer
from ngram_metrics._core.text.messages import NameOf, shortened, type_name, visible
from ngram_metrics._core.text.reader import Reader, TextOption, number_documents, number_words
from ngram_metrics._core.text.rouge_warnings import warn_of_dropped_letters, warn_of_unsplit_sentences
from ngram_metrics._core.text.segments import Segments
from ngram_metrics._core.text.stemmer import rouge_stem
from ngram_metrics._core.text.tokenizer_option import (
    batch_tokenizer,
    call_each,
    check_tokenizer,
    reads_text_as_it_is,
    rule_of,
)
from ngram_metrics._core.text.word_rules import ROUGE_WORDS, rouge_text

#: Tokenizers that split at newlines, so that the words of a text are the words of its lines.
_SPLIT_AT_LINES = (None, "unicode")


@dataclass(frozen=True)
class SentenceSeparator:
    """A ``sentence_splitter`` that splits at a text, such as ``<q>``, and at line feeds.

    Raises:
        ValueError: an empty text.
    """

    separator: str

    def __post_init__(self) -> None:
        if not self.separator:
            raise ValueError("the sentence separator is empty: expected the text between two sentences")

    def break_lines(self, text: str) -> str:
        """Return a text with a line feed in place of each separator."""
        return text.replace(self.separator, "\n")

    def __call__(self, text: str) -> list[str]:
        return self.break_lines(text).split("\n")

    def signature(self) -> str:
        """Return its name in a signature, without bars, because bars separate the fields of a signature."""
        return f"lines,{visible(self.separator).replace('|', '[U+007C]')}"


@dataclass(frozen=True)
class RougeReader(Reader):
    """Reads words, and for ROUGE-Lsum the ``sentences`` too.

    The other settings are those of ``ngram_metrics.ROUGEScore``. Wrong ones raise TypeError, ValueError or, if the
    package of a tokenizer is not installed, ModuleNotFoundError.
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
        if separator is not None:
            if isinstance(separator, bool) or not isinstance(separator, Integral):
                raise TypeError(f"sentence_separator_id is {shortened(separator)}: expected an integer or None")
            check_id(int(separator), "sentence_separator_id")

    def settings(self) -> dict[str, object]:
        separator = self.sentence_separator_id
        return {
            "use_stemmer": self.use_stemmer,
            "normalizer": self.normalizer,
            "tokenizer": self.tokenizer,  # None is rouge_score's rule, and "none" splits at whitespace
            "sentence_splitter": self.sentence_splitter,
            "sentence_separator_id": None if separator is None else int(separator),
            "pad_id": canonical_pad_id(self.pad_id),
        }

    def _text_options(self) -> list[TextOption]:
        return [
            TextOption("use_stemmer", self.use_stemmer, unset=False),
            TextOption("normalizer", self.normalizer),
            TextOption("tokenizer", self.tokenizer),
            TextOption("sentence_splitter", self.sentence_splitter),
        ]

    @property
    def follows_ascii_rule(self) -> bool:
        """Whether the ASCII rule applies, so that only a-z and 0-9 remain of a text."""
        return self.normalizer is None and not reads_text_as_it_is(self.tokenizer)

    @property
    def can_stay_padded(self) -> bool:
        """Whether documents are not split into sentences. Sentences are compared on the CPU."""
        return self.sentence_separator_id is None or not self.sentences

    @property
    def reads_lines(self) -> bool:
        """Whether the sentences of a text are its lines."""
        return self.sentence_splitter is None or isinstance(self.sentence_splitter, SentenceSeparator)

    def rewrite_texts(self, segments: Segments) -> Segments:
        """Put line feeds in place of separators of sentences."""
        if not isinstance(self.sentence_splitter, SentenceSeparator):
            return segments
        break_lines = self.sentence_splitter.break_lines
        return segments._replace(
            hypotheses=list(map(break_lines, segments.hypotheses)),
            references=list(map(break_lines, segments.references)),
        )

    def warn_of_texts(self, segments: Segments, is_first: bool) -> None:
        hypotheses = segments.hypotheses
        references = segments.references
        if isinstance(self.tokenizer, str):
            warn_of_another_tokenizer(self.tokenizer, hypotheses, references, is_rouge=True)
        elif self.follows_ascii_rule:
            warn_of_dropped_letters(self.tokenizer, hypotheses, references, is_first)
        if is_first and self.sentences and self.sentence_splitter is None:
            warn_of_unsplit_sentences(hypotheses, references)

    def _encode_text(self, segments: Segments) -> Sequence[Batch]:
        texts, reference_counts = segments.interleave()
        name_of = segments.name_interleaved
        shares_words = self.reads_lines and self.normalizer is None and self.tokenizer in _SPLIT_AT_LINES
        batches: list[Batch] = []
        if self.sentences and shares_words:
            batches += self._split_sentences_off(self._encode_sentences(texts, reference_counts, name_of))
        else:
            portions = cut_portions(len(texts), reference_counts)
            batches.append(self._number(texts, portions, name_of).to_batch(reference_counts))
            if self.sentences:
                batches.append(self._encode_sentences(texts, reference_counts, name_of))
        return batches

    def _encode_sentences(self, texts: Sequence[str], reference_counts: Integers | None, name_of: NameOf) -> Batch:
        """Return a batch of the words of texts, with the ends of their sentences."""
        split = self._split_sentences(texts, name_of)
        sentence_counts = np.fromiter(map(len, split), np.int64, len(split))  # (documents,)
        stops = np.append(0, sentence_counts.cumsum())
        portions = [
            slice(stops[portion.start], stops[portion.stop]) for portion in cut_portions(len(texts), reference_counts)
        ]

        def name_sentence(index: int) -> str:
            return name_of(int(stops.searchsorted(index, side="right")) - 1)

        numbering = self._number(list(chain.from_iterable(split)), portions, name_sentence)
        return numbering.to_batch_of_sentences(sentence_counts, reference_counts)

    def _split_sentences(self, texts: Sequence[str], name_of: NameOf) -> list[Sequence[str]]:
        """Return the sentences of each text, at least one: its lines, or what the caller's splitter returns."""
        if self.reads_lines:
            return [text.split("\n") for text in texts]
        assert self.sentence_splitter is not None
        split = call_each(self.sentence_splitter, "sentence_splitter", "str", texts, name_of)
        for index, sentences in enumerate(split):
            for sentence in sentences:
                if not isinstance(sentence, str):
                    raise TypeError(
                        f"the sentence_splitter returned {type_name(sentence)} among the sentences of "
                        f"{name_of(index)}: expected a sequence of str"
                    )
        return [sentences or [""] for sentences in split]

    def _number(self, texts: Sequence[str], portions: Sequence[slice], name_of: NameOf) -> TokenNumbering:
        """Number the words of texts, as ``number_words`` does."""
        if self.normalizer is not None:
            texts = self._normalize(texts, name_of)
        rule = ROUGE_WORDS if self.tokenizer is None and self.normalizer is None else rule_of(self.tokenizer)
        if rule is not None:
            return number_words(rule, texts, portions, rouge_stem if self.use_stemmer else None)
        if self.follows_ascii_rule:
            texts = list(map(rouge_text, texts))
        documents: list[Sequence[Hashable]] = []
        for index, words in enumerate(batch_tokenizer(self.tokenizer)(texts, name_of)):
            words = [word for word in words if word != ""]
            documents.append(_stem(words, index, name_of) if self.use_stemmer else words)
        return number_documents(documents, portions, name_of)

    def _normalize(self, texts: Sequence[str], name_of: NameOf) -> list[str]:
        """Call the caller's normalizer on each text, and raise TypeError if it does not return text."""
        assert self.normalizer is not None
        normalized = list(map(self.normalizer, texts))
        for index, text in enumerate(normalized):
            if not isinstance(text, str):
                raise TypeError(f"the normalizer returned {type_name(text)} for {name_of(index)}: expected a str")
        return normalized

    def _encode_ids(self, segments: Segments, dropped: tuple[int, ...]) -> Sequence[Batch]:
        separator = self.sentence_separator_id
        tokens, lengths, reference_counts = flatten_ids(segments, dropped, separator)
        return self._split_sentences_off(number_ids(tokens, lengths, reference_counts, separator))

    def _split_sentences_off(self, batch: Batch) -> Sequence[Batch]:
        """Return whole documents and, if any has several sentences, the documents with the ends of sentences."""
        if not (batch.ids == END_OF_SENTENCE).any():
            return [batch]
        words = batch.drop_sentence_ends()
        return [words, batch] if self.sentences else [words]


def _stem(words: Sequence[Hashable], index: int, name_of: NameOf) -> list[str]:
    """Return the stems of the words of a text, or raise TypeError for tokens that are not words."""
    try:
        return list(map(rouge_stem, words))
    except TypeError as error:
        raise TypeError(
            f"use_stemmer=True needs words, but the tokenizer returned {shortened(words)} for {name_of(index)}"
        ) from error
