"""Texts read one by one in plain Python, without torch and numpy, for small batches.

Larger batches of ROUGE are read here too where a caller's function finds sentences or words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, groupby, islice

from ngram_metrics._core.counting.python_matches import RougeText, Tokens
from ngram_metrics._core.text.messages import NameOf, shortened, type_name
from ngram_metrics._core.text.stemmer import rouge_stem
from ngram_metrics._core.text.tokenizer_option import batch_tokenizer, call_each, reads_text_as_it_is
from ngram_metrics._core.text.word_rules import (
    SPLITTERS,
    has_splitter,
    remove_whitespace,
    rouge_text,
    split_chrf,
    split_rouge,
)

#: The tokenizers of ROUGE that split words at newlines anyway, so that a text has the same words as its lines.
SPLIT_AT_LINES = (None, "unicode")


def split_words(texts: Sequence[str], tokenizer: object, name_of: NameOf) -> Sequence[Tokens]:
    """Return the words of each text, which ``name_of`` names in the errors of an external tokenizer."""
    if has_splitter(tokenizer):
        return list(map(SPLITTERS[tokenizer], texts))
    return batch_tokenizer(tokenizer)(texts, name_of)


def split_characters(text: str, whitespace: bool, words: bool) -> list[Sequence[str]]:
    """Return what chrF counts in a text: its characters and, for chrF++, its words."""
    characters = text if whitespace else remove_whitespace(text)
    return [characters, split_chrf(text)] if words else [characters]


def rouge_words(
    texts: Sequence[str], use_stemmer: bool, normalizer: Callable[[str], str] | None, tokenizer: object, name_of: NameOf
) -> Sequence[Tokens]:
    """Return the words that ROUGE counts in each text, or raise TypeError for what a caller's function returned."""
    if normalizer is not None:
        texts = normalize(texts, normalizer, name_of)
    words: Sequence[Tokens]
    if normalizer is None and tokenizer is None:
        words = list(map(split_rouge, texts))
    elif has_splitter(tokenizer):
        words = split_words(texts, tokenizer, name_of)
    else:
        if normalizer is None and not reads_text_as_it_is(tokenizer):
            texts = list(map(rouge_text, texts))
        words = [[word for word in text_words if word != ""] for text_words in split_words(texts, tokenizer, name_of)]
    return [_stem(text_words, name_of, index) for index, text_words in enumerate(words)] if use_stemmer else words


def normalize(texts: Sequence[str], normalizer: Callable[[str], str], name_of: NameOf) -> list[str]:
    """Return what a caller's normalizer makes of each text, or raise TypeError if that is not text."""
    normalized = list(map(normalizer, texts))
    for index, text in enumerate(normalized):
        if not isinstance(text, str):
            raise TypeError(f"the normalizer returned {type_name(text)} for {name_of(index)}: expected a str")
    return normalized


def split_sentences(
    texts: Sequence[str], splitter: Callable[[str], Sequence[str]] | None, name_of: NameOf
) -> list[list[str]]:
    """Return the sentences of each summary that are not empty: its lines, or what a caller's splitter returns."""
    if splitter is None:
        return [list(filter(None, text.split("\n"))) for text in texts]
    summaries = []
    for index, sentences in enumerate(call_each(splitter, "sentence_splitter", "str", texts, name_of)):
        for sentence in sentences:
            if not isinstance(sentence, str):
                raise TypeError(
                    f"the sentence_splitter returned {type_name(sentence)} among the sentences of {name_of(index)}: "
                    "expected a sequence of str"
                )
        summaries.append(list(filter(None, sentences)))
    return summaries


def read_summaries(
    texts: Sequence[str],
    with_sentences: bool,
    use_stemmer: bool,
    normalizer: Callable[[str], str] | None,
    tokenizer: object,
    splitter: Callable[[str], Sequence[str]] | None,
    name_of: NameOf,
) -> list[RougeText]:
    """Return what ROUGE counts in each text, or raise TypeError for what a caller's function returned."""
    reading = use_stemmer, normalizer, tokenizer
    if normalizer is None and tokenizer is None and not (with_sentences or use_stemmer):
        return [RougeText(split_rouge(text)) for text in texts]
    if not with_sentences:
        return list(map(RougeText, rouge_words(texts, *reading, name_of)))
    summaries = split_sentences(texts, splitter, name_of)
    owners = [index for index, sentences in enumerate(summaries) for _ in sentences]
    words = rouge_words([*chain.from_iterable(summaries)], *reading, lambda index: name_of(owners[index]))
    remaining = iter(words)
    lines = [list(islice(remaining, len(sentences))) for sentences in summaries]
    if splitter is None and normalizer is None and tokenizer in SPLIT_AT_LINES:
        return [_summary_of([*filter(None, sentences)]) for sentences in lines]  # a line without words is no sentence
    return list(map(RougeText, rouge_words(texts, *reading, name_of), lines))


def split_ids(document: Sequence[int], separator: int) -> list[list[int]]:
    """Return the ids of the sentences of a document, without the separator between them."""
    runs = groupby(document, separator.__eq__)
    return [list(run) for is_separator, run in runs if not is_separator]


def summary_of_ids(document: Sequence[int], separator: int) -> RougeText:
    """Return the ids of a document and of its sentences, without the separator between them."""
    return _summary_of(split_ids(document, separator))


def _summary_of(sentences: Sequence[Tokens]) -> RougeText:
    return RougeText(sentences[0] if len(sentences) == 1 else [*chain.from_iterable(sentences)], sentences)


def _stem(words: Tokens, name_of: NameOf, index: int) -> list[str]:
    try:
        return list(map(rouge_stem, words))
    except TypeError as error:
        raise TypeError(
            f"use_stemmer=True needs words, but the tokenizer returned {shortened(words)} for {name_of(index)}"
        ) from error
