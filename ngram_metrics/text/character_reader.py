"""How chrF reads ``preds`` and ``target``: as code points, for chrF++ also as words with punctuation split off.

Characters are code points, as in sacrebleu: an emoji of several code points is several characters. Whitespace is every
character at which ``str.split()`` splits, including the tab, the no-break space and the ideographic space.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ngram_metrics.counting.documents import Batch, RaggedTokens
from ngram_metrics.text.arrays import Integers, counts_between
from ngram_metrics.text.code_points import character_chunks
from ngram_metrics.text.inputs import Sentences
from ngram_metrics.text.messages import shortened
from ngram_metrics.text.numbering import both_to, columns_of
from ngram_metrics.text.plain_words import plain_characters
from ngram_metrics.text.reader import Reader, batch_of, pad_signature, sides_of
from ngram_metrics.text.rules import CHRF_WORDS, WHITESPACE
from ngram_metrics.text.words import concatenated, number_words


@dataclass(frozen=True)
class CharacterReader(Reader):
    """The settings for reading characters.

    Attributes:
        lowercase: whether text is lowercased.
        whitespace: whether whitespace characters are counted.
        words: whether words are read too, for chrF++.
        pad_id: for ids, which are counted as characters: the id or ids that are padding.

    The characters may also be given as tokens: each a ``str`` of one character, or another hashable.

    Raises:
        TypeError: a ``pad_id`` that is not an integer, a sequence of integers, or None.
    """

    lowercase: bool = False
    whitespace: bool = False
    words: bool = False
    pad_id: int | Sequence[int] | None = None

    def signature(self) -> dict[str, str]:
        """Return the settings that affect the score, in sacrebleu's terms."""
        fields = {"case": "lc" if self.lowercase else "mixed", "space": "yes" if self.whitespace else "no"}
        return {**fields, **pad_signature(self.pad_id)}

    def _text_options(self) -> dict[str, object]:
        return {"lowercase": self.lowercase, "whitespace": self.whitespace, "word_order": self.words}

    def _encode_tokens(self, sentences: Sentences, dropped: tuple[int, ...], device: torch.device) -> Batch:
        if sentences.kind == "tokens":
            _refuse_words(sentences)
        return super()._encode_tokens(sentences, dropped, device)

    def _plain_tokens(self, sentences: Sentences) -> list[Any] | None:
        if sentences.kind == "tokens":
            _refuse_words(sentences)
        documents = super()._plain_tokens(sentences)
        return None if documents is None else [[document] for document in documents]

    def plain(self, sentences: Sentences) -> list[Any] | None:
        """Read texts in plain Python, each as its characters and, for chrF++, its words."""
        return [plain_characters(text, self.whitespace, self.words) for text in self._texts(sentences)]

    def _texts(self, sentences: Sentences) -> Sequence[str]:
        return list(map(str.lower, sentences.documents)) if self.lowercase else sentences.documents

    def _encode_text(self, sentences: Sentences, device: torch.device) -> Batch:
        texts = self._texts(sentences)
        characters = number_characters(texts, self.whitespace)
        if not self.words:
            return batch_of(sentences, characters.to(device))
        characters, words = both_to(device, characters, number_words(CHRF_WORDS, texts, columns_of(sentences)))
        return batch_of(sentences, characters)._replace(words=sides_of(sentences, words))


def _refuse_words(sentences: Sentences) -> None:
    """Raise TypeError for a token that is a ``str`` of more or less than one character: chrF does not count words."""
    for index, document in enumerate(sentences.documents):
        for token in document:
            if isinstance(token, str) and len(token) != 1:
                raise TypeError(
                    f"{sentences.name_of(index)} has the token {shortened(token)}, but chrF counts characters: "
                    "expected text, such as words joined by blanks, or tokens of one character each"
                )


def number_characters(texts: Sequence[str], whitespace: bool) -> RaggedTokens:
    """Number the code points of texts ``0, 1, ...`` in ascending order, with or without ``whitespace``."""
    codes, counts = [], []
    for characters in character_chunks(texts):
        if whitespace:
            kept = np.ones(len(characters.codes), np.bool_)
            kept[0] = False
            kept[characters.ends] = False
        else:
            kept = WHITESPACE.classes(characters) > 0
        place = kept.nonzero()[0]
        codes.append(characters.codes.take(place))
        counts.append(counts_between(place, characters.ends))
    ids, bound = _numbered_by_table(codes)
    return RaggedTokens(torch.from_numpy(ids), torch.from_numpy(concatenated(counts)), bound)


def _numbered_by_table(codes: Sequence[NDArray[np.integer[Any]]]) -> tuple[Integers, int]:
    """Return the number of each code point of all chunks, and how many distinct ones there are."""
    occurs = np.zeros(1 + max(int(of_chunk.max(initial=0)) for of_chunk in codes), np.bool_)
    for of_chunk in codes:
        occurs[of_chunk] = True
    number = occurs.cumsum() - 1
    ids = np.empty(sum(map(len, codes)), np.int64)
    start = 0
    for of_chunk in codes:
        # Into place and unchecked: a third of the time of number[of_chunk], and no second copy.
        number.take(of_chunk, out=ids[start : start + len(of_chunk)], mode="clip")
        start += len(of_chunk)
    return ids, int(number[-1]) + 1
