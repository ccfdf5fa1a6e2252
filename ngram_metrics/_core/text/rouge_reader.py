"""How ROUGE reads ``preds`` and ``target``: whole texts, and for ROUGE-Lsum their sentences.

Text. The default is rouge_score's rule, ``ROUGE_RULE`` in ``_core/text/word_rules.py``: lowercase, keep ``a-z0-9``. A
``normalizer`` takes a text and returns the text to tokenize; a ``tokenizer`` returns the words. As in torchmetrics, a
callable ``tokenizer`` without a ``normalizer`` gets the text after this ASCII rule. A tokenizer given by name, or a
Hugging Face tokenizer, gets the original text. Empty words are dropped; Porter stemming,
``_core.text.stemmer``, is the last step.

Sentences. A sentence is a line, as in rouge_score, or an item that ``sentence_splitter`` returns, such as
``nltk.sent_tokenize`` for torchmetrics' numbers. Ids are split at ``sentence_separator_id``, which is not a token; else
a document of tokens or ids is one sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat
from numbers import Integral
from typing import Any

from ngram_metrics._core.basics.lazy import np, torch
from ngram_metrics._core.basics.option_checks import check_id, pad_signature
from ngram_metrics._core.counting.documents import (
    Batch,
    DocumentGroups,
    PaddedReferences,
    PaddedSides,
    RaggedSides,
    RaggedSummaries,
    RaggedTokens,
    drop_from_sides,
    host_counts,
    owners,
    padded_sides,
)
from ngram_metrics._core.text.input_forms import PaddedSegments, Segments
from ngram_metrics._core.text.input_types import Tokenizer
from ngram_metrics._core.text.input_warnings import warn_of_no_words
from ngram_metrics._core.text.messages import NameOf, shortened, type_name
from ngram_metrics._core.text.numbering import listed_ids, number_ids, number_tokens
from ngram_metrics._core.text.reader import Reader, batch_of
from ngram_metrics._core.text.single_texts import (
    SPLIT_AT_LINES,
    normalize,
    read_summaries,
    rouge_words,
    split_ids,
    split_sentences,
    summary_of_ids,
)
from ngram_metrics._core.text.stemmer import rouge_stem
from ngram_metrics._core.text.tokenizer_option import (
    callable_name,
    check_tokenizer,
    reads_text_as_it_is,
    rule_of,
    tokenizer_signature,
)
from ngram_metrics._core.text.word_bounds import ROUGE, Integers, Rule
from ngram_metrics._core.text.word_rules import has_splitter
from ngram_metrics._core.text.words import number_words


@dataclass(frozen=True)
class RougeReader(Reader):
    """Reads words and, with ``sentences``, for ROUGE-Lsum, sentences.

    The other settings are those of ``ngram_metrics.ROUGEScore``, and wrong ones raise TypeError, ValueError or,
    for a tokenizer whose package is not installed, ModuleNotFoundError.
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
        return {name: getattr(self, name) for name in ("use_stemmer", "normalizer", "tokenizer", "sentence_splitter")}

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

    def _read_tokens_in_python(self, segments: Segments) -> Sequence[object]:
        documents = super()._read_tokens_in_python(segments)
        separator = self.sentence_separator_id
        if separator is None or segments.kind != "ids":
            return documents
        return [summary_of_ids(document, separator) for document in documents]

    def _encode_text(self, segments: Segments) -> Batch:
        batch = self._encode_words(segments)
        if self.follows_ascii_rule and isinstance(batch.sides, RaggedSides):
            lengths = torch.cat((batch.sides.hypotheses.lengths, batch.sides.references.tokens.lengths))
            warn_of_no_words(segments.documents, lengths)
        return batch

    def _encode_words(self, segments: Segments) -> Batch:
        texts = segments.documents
        splitter = self.sentence_splitter
        if not self.sentences:
            return batch_of(segments, self._number(texts, segments.name_of, segments.columns))
        if splitter is None and self.normalizer is None and self._rule is not None and self.tokenizer in SPLIT_AT_LINES:
            lines = self._number(texts, segments.name_of, segments.columns, by_line=True)
            text = owners(host_counts([1 + newlines for newlines in map(str.count, texts, repeat("\n"))]))
            # A line without words is no sentence.
            lengths = lines.lengths[lines.lengths > 0]
            counts = text[lines.lengths > 0].bincount(minlength=len(texts))
            return _batch_lines(segments, DocumentGroups(lines._replace(lengths=lengths), counts))
        split = split_sentences(texts, splitter, segments.name_of)
        owner = [index for index, lines in enumerate(split) for _ in lines]
        sizes = map(len, split)
        columns = [np.array([sum(islice(sizes, size)) for size in column]) for column in segments.columns]
        every = list(chain.from_iterable(split))
        lines = self._number(every, lambda index: segments.name_of(owner[index]), columns)
        whole = self._number(texts, segments.name_of, segments.columns)
        return _add_summaries(segments, whole, DocumentGroups(lines, host_counts(list(map(len, split)))))

    def _encode_tokens(self, segments: Segments, dropped: tuple[int, ...]) -> Batch:
        separator = self.sentence_separator_id
        if separator is None or segments.kind != "ids":
            return super()._encode_tokens(segments, dropped)
        split = [split_ids(document, separator) for document in listed_ids(segments, dropped, separator)]
        lines = number_ids(list(chain.from_iterable(split)))
        return _batch_lines(segments, DocumentGroups(lines, host_counts(list(map(len, split)))))

    def _encode_padded(self, segments: PaddedSegments, dropped: tuple[int, ...]) -> Batch:
        batch = super()._encode_padded(segments, dropped)
        separator = self.sentence_separator_id
        sides = batch.sides
        if separator is None or (isinstance(sides, RaggedSides) and not self.sentences):
            return batch
        # A reference of separators alone is empty and not missing, unless the separator is padding too.
        with_separators = padded_sides(*segments[:2], dropped, separator) if isinstance(sides, RaggedSides) else sides
        present = with_separators.references.present

        def without(ids: tuple[int, ...]) -> PaddedSides:
            hypotheses, references = drop_from_sides(*segments[:2], ids, separator)
            return PaddedSides(hypotheses, PaddedReferences(references, present))

        if isinstance(sides, PaddedSides):
            batch = batch._replace(sides=without((*dropped, separator)))
        if not self.sentences:
            return batch
        separated = without(tuple(padding for padding in dropped if padding != separator))
        return batch._replace(summaries=separated, separator_id=separator)

    @property
    def _rule(self) -> Rule | None:
        """The rule that finds the words, or None if an external tokenizer does."""
        return ROUGE if self.tokenizer is None and self.normalizer is None else rule_of(self.tokenizer)

    def _number(
        self, texts: list[str], name_of: NameOf, columns: Sequence[Integers], by_line: bool = False
    ) -> RaggedTokens:
        """Number the words of texts, or of their lines, with ``columns`` as in ``number_words``."""
        if self._rule is None:
            words = rouge_words(texts, self.use_stemmer, self.normalizer, self.tokenizer, name_of)
            return number_tokens(words, name_of)
        if self.normalizer is not None:
            texts = normalize(texts, self.normalizer, name_of)
        return number_words(self._rule, texts, columns, by_line, rouge_stem if self.use_stemmer else None)


def _batch_lines(segments: Segments, lines: DocumentGroups) -> Batch:
    """Return a batch of documents that consist of lines."""
    whole = lines.join()
    return _add_summaries(segments, whole, lines) if (lines.counts > 1).any() else batch_of(segments, whole)


def _add_summaries(segments: Segments, whole: RaggedTokens, lines: DocumentGroups) -> Batch:
    """Return a batch of whole documents, together with the sentences of each."""
    first = len(segments.hypotheses)
    summaries = RaggedSummaries(lines.slice(0, first), lines.slice(first, len(lines.counts)))
    return batch_of(segments, whole)._replace(summaries=summaries)
