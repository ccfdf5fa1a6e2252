"""chrF's reading: texts as code points, and as words with their punctuation split off.

Characters are code points, as sacrebleu counts them: an emoji of several code points is several characters. Whitespace
is what ``str.split()`` splits at, which includes the tab, the no-break space and the ideographic space.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from ngram_metrics.counting.token_batch import DocumentGroups, PaddedReferences, PaddedTokens, RaggedTokens
from ngram_metrics.text.door import PaddedSentences, Sentences
from ngram_metrics.text.reader import (
    Reader,
    encode_sentences,
    fixed_pad_id,
    host_counts,
    number_tokens,
    pad_ids,
    pad_signature,
    refuse_text_options,
)
from ngram_metrics.text.tokenizers import shortened

_PUNCTUATION = frozenset(string.punctuation)


class CharacterBatch(NamedTuple):
    """Hypotheses and references as characters and, where asked for, as words."""

    hypotheses: RaggedTokens | PaddedTokens
    references: DocumentGroups | PaddedReferences
    hypothesis_words: RaggedTokens | None = None
    reference_words: DocumentGroups | None = None


@dataclass(frozen=True)
class CharacterReader(Reader[CharacterBatch]):
    """How ``preds`` and ``target`` are read by chrF.

    Attributes:
        lowercase: whether text is lowercased.
        whitespace: whether whitespace counts as characters.
        words: whether words are wanted besides, for chrF++.
        pad_id: for ids, which are then the characters: the id or ids that are none.

    Tokens may be the characters too: a ``str`` of one, or another hashable.
    """

    lowercase: bool = False
    whitespace: bool = False
    words: bool = False
    pad_id: int | Sequence[int] | None = None

    def __post_init__(self) -> None:
        """Check the options while no data has been seen yet."""
        object.__setattr__(self, "pad_id", fixed_pad_id(self.pad_id))

    def encode(self, given: Sentences | PaddedSentences, device: torch.device) -> CharacterBatch:
        """Turn what came through the door into characters; raises TypeError for tokens that are words, too."""
        if given.kind == "text":
            return self._read_text(given, device)
        refuse_text_options(given, lowercase=self.lowercase, whitespace=self.whitespace, word_order=self.words)
        if given.kind == "tokens":
            _refuse_words(given)
        return CharacterBatch(*encode_sentences(given, pad_ids(self.pad_id), device))

    def signature(self) -> dict[str, str]:
        """Return the settings that affect the score, in sacrebleu's words."""
        fields = {"case": "lc" if self.lowercase else "mixed", "space": "yes" if self.whitespace else "no"}
        return {**fields, **pad_signature(self.pad_id)}

    def _read_text(self, given: Sentences, device: torch.device) -> CharacterBatch:
        texts = given.hypotheses + given.references
        if self.lowercase:
            texts = list(map(str.lower, texts))
        first, counts = len(given.hypotheses), host_counts(given.counts)
        characters = number_characters(texts, self.whitespace, device)
        batch = CharacterBatch(characters.slice(0, first), DocumentGroups(characters.slice(first, len(texts)), counts))
        if not self.words:
            return batch
        words = number_tokens(list(map(words_and_punctuation, texts)), device, given.place)
        return batch._replace(
            hypothesis_words=words.slice(0, first),
            reference_words=DocumentGroups(words.slice(first, len(texts)), counts),
        )


def _refuse_words(given: Sentences) -> None:
    """Raise where a token is a ``str`` that is not one character: n-grams of words are no chrF."""
    for index, sentence in enumerate(given.hypotheses + given.references):
        for token in sentence:
            if isinstance(token, str) and len(token) != 1:
                raise TypeError(
                    f"{given.place(index)} has the token {shortened(token)}, but chrF counts characters: expected "
                    "text, such as words joined by blanks, or tokens of one character each"
                )


def number_characters(texts: Sequence[str], whitespace: bool, device: torch.device) -> RaggedTokens:
    """Number the code points of texts ``0, 1, ...``, in ascending order; without ``whitespace``, leave it out."""
    # surrogatepass: half a surrogate pair is a legal character of a str.
    code_points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
    # Tables up to the largest code point: over all of Unicode they would cost more than a small batch.
    bound = int(code_points.max(initial=0)) + 1
    occurs = np.zeros(bound, bool)
    occurs[code_points] = True
    if not whitespace:
        occurs[[one for one in np.flatnonzero(occurs).tolist() if chr(one).isspace()]] = False
        kept = occurs[code_points]
        ends = np.concatenate(([0], np.cumsum(kept)))[ends]
        code_points = code_points[kept]
    distinct = np.flatnonzero(occurs)
    number = np.empty(bound, np.int32)
    number[distinct] = np.arange(len(distinct), dtype=np.int32)
    ids = torch.from_numpy(number[code_points].astype(np.int64))
    return RaggedTokens(ids.to(device), torch.from_numpy(np.diff(ends, prepend=0)), len(distinct))


def words_and_punctuation(text: str) -> list[str]:
    """Return chrF++'s words: split at whitespace, with one punctuation mark split off the end, or else the beginning.

    As in sacrebleu, only one is split off: ``(hi)`` gives ``(hi`` and ``)``.
    """
    words = []
    for word in text.split():
        if len(word) == 1:
            words.append(word)
        elif word[-1] in _PUNCTUATION:
            words += (word[:-1], word[-1])
        elif word[0] in _PUNCTUATION:
            words += (word[0], word[1:])
        else:
            words.append(word)
    return words
