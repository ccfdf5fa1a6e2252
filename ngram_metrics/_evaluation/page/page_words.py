"""The words of the page: their positions in texts, and matched n-grams."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ngram_metrics._core.counting.batch import END_OF_REFERENCE
from ngram_metrics._core.counting.matched_orders import find_matched_orders
from ngram_metrics._core.counting.matches import SLOTS
from ngram_metrics._core.text.tokenizer_option import batch_tokenizer, rule_of
from ngram_metrics._core.text.word_rules import END_OF_TEXT

if TYPE_CHECKING:
    from ngram_metrics._core.counting.batch import Batch
    from ngram_metrics._core.text.input_types import Tokenizer
    from ngram_metrics._core.text.segments import Documents

#: The longest n-grams whose matches are shown.
ORDERS = 4
#: The number of texts that are split at a time, which limits memory.
_PORTION = 1000


class Words(NamedTuple):
    """Texts, split into words.

    Attributes:
        texts: the texts as they are shown. They contain their words in order.
        words: the words of each text, or what a tokenizer returned.
        steps: for each text the widths of the gap before each word and of the word, in UTF-16 units, which JavaScript
            counts.
    """

    texts: list[str]
    words: Documents
    steps: list[list[int]]


def split_words(tokenizer: Tokenizer | None, texts: Sequence[str]) -> Words:
    """Split texts into words. The tokens of an external tokenizer are shown with spaces between them."""
    rule = rule_of(tokenizer)
    if rule is not None:
        prepared = list(map(rule.prepare, texts))
        words = []
        for start in range(0, len(texts), _PORTION):
            portion = texts[start : start + _PORTION]
            remaining = iter(rule.words(portion))
            # Interned, so that a word of many texts takes memory once.
            words += [list(map(sys.intern, takewhile(END_OF_TEXT.__ne__, remaining))) for _ in portion]
        return Words(prepared, words, list(map(_find_steps, prepared, words)))
    tokens = batch_tokenizer(tokenizer)(texts, "text {}".format)
    by_id = getattr(tokenizer, "id_to_token", None) or getattr(tokenizer, "convert_ids_to_tokens", None) or str
    names = [[str(by_id(token) if isinstance(token, int) else token) for token in row] for row in tokens]
    joined = list(map(" ".join, names))
    return Words(joined, list(tokens), list(map(_find_steps, joined, names)))


def _find_steps(text: str, words: Iterable[str]) -> list[int]:
    """Return the steps of a text. Each word begins at its first occurrence after the word before."""
    steps = []
    end = 0
    for word in words:
        begin = text.index(word, end)
        steps += [_width(text[end:begin]), _width(word)]
        end = begin + len(word)
    return steps


def _width(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def match_words(batch: Batch) -> tuple[list[str], list[str]]:
    """Return the longest matched order at each word, as digits, for each hypothesis and for each reference."""
    documents: list[str] = []
    for part in batch.chunks(SLOTS):
        digits = find_matched_orders(part, ORDERS) + ord("0")
        digits[part.ids <= END_OF_REFERENCE] = ord("\n")
        documents += digits.astype(np.uint8).tobytes().decode("ascii").splitlines()
    hypotheses = [documents[index] for index in batch.hypothesis_documents.tolist()]
    references = [documents[index] for index in batch.reference_documents.tolist()]
    return hypotheses, references
