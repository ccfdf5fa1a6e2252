"""The words of the page: their positions in texts, and matched n-grams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from ngram_metrics._core.counting.documents import DocumentGroups, RaggedSides, RaggedTokens, host_counts
from ngram_metrics._core.counting.matched_positions import matched_positions
from ngram_metrics._core.text.input_types import Tokenizer
from ngram_metrics._core.text.numbering import number_in_order, number_tokens
from ngram_metrics._core.text.tokenizer_option import batch_tokenizer, rule_of
from ngram_metrics._core.text.word_bounds import Rule, character_chunks, counts_between
from ngram_metrics._core.text.word_reader import WordReader
from ngram_metrics._core.text.words import found_words

#: Counts, positions, or indices.
Integers: TypeAlias = NDArray[np.int64]
Part = TypeVar("Part", str, list[int])
#: The longest order that is shown.
ORDERS = 4


class Words(NamedTuple):
    """Texts, split into words."""

    #: The texts after rewriting, as they were split into words.
    texts: list[str]
    #: For each text the width of the gap before each word and of the word, in UTF-16 units, as JavaScript counts.
    steps: list[list[int]]
    #: The words as numbers.
    tokens: RaggedTokens


def split_words(reader: WordReader, texts: Sequence[str]) -> Words:
    """Split texts into words as a reader does."""
    texts = list(reader.prepare(texts))
    rule = rule_of(reader.tokenizer)
    return _split_by_rule(rule, texts) if rule is not None else _split_by_tokenizer(reader.tokenizer, texts)


def _split_by_rule(rule: Rule, texts: list[str]) -> Words:
    prepared = list(rule.prepare(texts))
    steps: list[list[int]] = []
    words: list[bytes] = []
    lengths: list[int] = []
    for characters in character_chunks(prepared):
        begin, end, units = rule.words(characters)
        counts = counts_between(begin, characters.ends)
        # The position of each character in UTF-16.
        position = np.concatenate(([0], (1 + (characters.codes > 0xFFFF)).cumsum()))
        starts = position[np.concatenate(([0], characters.ends[:-1])) + 1]
        steps += _steps(position[begin], position[end], np.repeat(starts, counts), counts)
        words += found_words(characters, begin, end, units).to_bytes()
        lengths += counts.tolist()
    ids, bound = number_in_order(words)
    return Words(prepared, steps, RaggedTokens(torch.from_numpy(ids), host_counts(lengths), bound))


def _steps(begin: Integers, end: Integers, start: Integers, counts: Integers) -> list[list[int]]:
    """Return the steps of each text from the positions of all words, and of the starts of their texts."""
    gap = begin - np.maximum(start, np.concatenate((start[:1], end[:-1])))
    return split(np.stack((gap, end - begin), 1).ravel().tolist(), (2 * counts).tolist())


def _split_by_tokenizer(tokenizer: Tokenizer | None, texts: list[str]) -> Words:
    """Return the tokens of an external tokenizer as words, separated by spaces; an id is shown as its token."""
    tokens = batch_tokenizer(tokenizer)(texts, lambda index: f"text {index}")
    by_id = getattr(tokenizer, "id_to_token", None) or getattr(tokenizer, "convert_ids_to_tokens", None) or str
    words = [[str(by_id(token) if isinstance(token, int) else token) for token in row] for row in tokens]
    steps: list[list[int]] = []
    for text_words in words:
        widths = [len(word.encode("utf-16-le", "surrogatepass")) // 2 for word in text_words]
        steps.append([step for index, width in enumerate(widths) for step in (min(index, 1), width)])
    numbered = number_tokens(tokens, lambda index: f"text {index}")
    return Words(list(map(" ".join, words)), steps, numbered)


def match_words(hypotheses: RaggedTokens, references: DocumentGroups) -> tuple[list[str], list[str]]:
    """Return for each hypothesis and each reference the longest matched order at each word, as digits."""
    sides = matched_positions(RaggedSides(hypotheses, references), ORDERS)
    digits = [(orders + ord("0")).to(torch.uint8).numpy().tobytes().decode("ascii") for orders in sides]
    return split(digits[0], hypotheses.lengths.tolist()), split(digits[1], references.tokens.lengths.tolist())


def split(values: Part, lengths: Sequence[int]) -> list[Part]:
    """Split a list or a text into parts of these lengths."""
    parts = []
    start = 0
    for length in lengths:
        parts.append(values[start : start + length])
        start += length
    return parts
