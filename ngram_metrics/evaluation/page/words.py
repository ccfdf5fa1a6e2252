"""The words of texts as the page shows them: the text, the position of each word in it, and the matched n-grams."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from ngram_metrics.counting.documents import DocumentGroups, RaggedSides, RaggedTokens, host_counts
from ngram_metrics.counting.positions import matched_positions
from ngram_metrics.text.arrays import counts_between, numbered_in_order
from ngram_metrics.text.code_points import character_chunks
from ngram_metrics.text.numbering import number_tokens
from ngram_metrics.text.rules import Rule
from ngram_metrics.text.tokenizers import batch_tokenizer, rule_of
from ngram_metrics.text.word_reader import WordReader
from ngram_metrics.text.words import found_words

#: The longest order that is shown.
ORDERS = 4


class Words(NamedTuple):
    """Texts, split into words.

    Attributes:
        texts: the texts to show: after rewriting, as they were split into words.
        steps: for each text, numbers that lead from word to word, in UTF-16 units, as JavaScript counts. A negative
            number -n skips n units; any other number n is a word of n // 2 units after skipping n % 2 units.
        tokens: the words as numbers; the most frequent word is 0.
    """

    texts: list[str]
    steps: list[list[int]]
    tokens: RaggedTokens

    def ids(self) -> list[list[int]]:
        """Return the numbers of the words of each text."""
        return split(self.tokens.ids.tolist(), self.tokens.lengths.tolist())


def words_of(reader: WordReader, texts: Sequence[str]) -> Words:
    """Split texts into words as a reader does."""
    texts = list(map(str.lower, texts)) if reader.lowercase else list(texts)
    rule = rule_of(reader.tokenizer)
    words = _by_rule(rule, texts) if rule is not None else _by_tokens(reader.tokenizer, texts)
    return words._replace(tokens=_by_frequency(words.tokens))


def _by_rule(rule: Rule, texts: list[str]) -> Words:
    shown = list(rule.prepared(texts))
    steps: list[list[int]] = []
    found: list[bytes] = []
    lengths: list[int] = []
    for characters in character_chunks(shown):
        begin, end, units = rule.words(characters)
        ends, counts = characters.ends, counts_between(begin, characters.ends)
        # The position of each character in UTF-16.
        place = np.concatenate(([0], (1 + (characters.codes > 0xFFFF)).cumsum()))
        starts = place[np.concatenate(([0], ends[:-1])) + 1]
        steps += _steps(place[begin], place[end], np.repeat(starts, counts), counts)
        found += found_words(characters, begin, end, units).to_bytes()
        lengths += counts.tolist()
    ids, bound = numbered_in_order(found)
    return Words(shown, steps, RaggedTokens(torch.from_numpy(ids), host_counts(lengths), bound))


def _steps(begin: NDArray[Any], end: NDArray[Any], start: NDArray[Any], counts: NDArray[Any]) -> list[list[int]]:
    """Return the steps of each text from the positions of all words; ``start`` is where the text of a word begins."""
    gap = begin - np.maximum(start, np.concatenate((start[:1], end[:-1])))
    wide = gap > 1
    place = (wide + 1).cumsum() - 1
    steps = np.empty(int(place[-1]) + 1 if len(place) else 0, np.int64)
    steps[place] = 2 * (end - begin) + np.where(wide, 0, gap)
    steps[(place - 1)[wide]] = -gap[wide]
    owner = np.repeat(np.arange(len(counts)), counts)
    return split(steps.tolist(), np.bincount(owner, wide + 1, len(counts)).astype(np.int64).tolist())


def _by_tokens(tokenizer: Any, texts: list[str]) -> Words:
    """Return the tokens of an external tokenizer as words, with a blank between two of them."""
    tokens = batch_tokenizer(tokenizer)(texts, lambda index: f"text {index}")
    name = _token_name(tokenizer)
    shown = [[name(token) for token in of_text] for of_text in tokens]
    widths = [[len(token.encode("utf-16-le", "surrogatepass")) // 2 for token in of_text] for of_text in shown]
    steps = [[2 * width + (number > 0) for number, width in enumerate(of_text)] for of_text in widths]
    numbered = number_tokens(tokens, lambda index: f"text {index}")
    return Words([" ".join(of_text) for of_text in shown], steps, numbered)


def _token_name(tokenizer: Any) -> Callable[[Any], str]:
    """Return a function from a token to the text to show: an id becomes its token in the vocabulary."""
    by_number = getattr(tokenizer, "id_to_token", None) or getattr(tokenizer, "convert_ids_to_tokens", None)
    return lambda token: str(by_number(token) if by_number is not None and isinstance(token, int) else token)


def _by_frequency(tokens: RaggedTokens) -> RaggedTokens:
    """Renumber the words so that frequent words have small numbers."""
    ids = tokens.ids.numpy()
    number = np.empty(tokens.id_bound, np.int64)
    number[np.argsort(-np.bincount(ids, minlength=tokens.id_bound), kind="stable")] = np.arange(tokens.id_bound)
    return tokens._replace(ids=torch.from_numpy(number[ids]))


def matched(hypotheses: RaggedTokens, references: DocumentGroups) -> tuple[list[str], list[str]]:
    """Return for each hypothesis and each reference the longest matched order at each word, one digit per word."""
    found = matched_positions(RaggedSides(hypotheses, references), ORDERS)
    lengths = hypotheses.lengths.tolist(), references.tokens.lengths.tolist()
    digits = ((orders + ord("0")).to(torch.uint8).numpy().tobytes().decode("ascii") for orders in found)
    first, second = (split(text, of_side) for text, of_side in zip(digits, lengths, strict=True))
    return first, second


def split(values: Any, lengths: Sequence[int]) -> list[Any]:
    """Split a list or a text into parts of these lengths."""
    parts, start = [], 0
    for length in lengths:
        parts.append(values[start : start + length])
        start += length
    return parts
