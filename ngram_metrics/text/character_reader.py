"""How chrF reads ``preds`` and ``target``: texts as code points, and as words with their punctuation split off.

Characters are code points, as sacrebleu counts them: an emoji of several code points is several characters. Whitespace
is what ``str.split()`` splits at, which includes the tab, the no-break space and the ideographic space.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from ngram_metrics.counting.batch import Batch
from ngram_metrics.counting.token_batch import RaggedTokens
from ngram_metrics.text.door import Sentences
from ngram_metrics.text.numbering import number_tokens
from ngram_metrics.text.reader import Reader, batch_of, pad_signature, parted
from ngram_metrics.text.tokenizers import shortened

_PUNCTUATION = frozenset(string.punctuation)


@dataclass(frozen=True)
class CharacterReader(Reader):
    """The settings of reading characters.

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

    def signature(self) -> dict[str, str]:
        """Return the settings that affect the score, in sacrebleu's words."""
        fields = {"case": "lc" if self.lowercase else "mixed", "space": "yes" if self.whitespace else "no"}
        return {**fields, **pad_signature(self.pad_id)}

    def _text_options(self) -> dict[str, object]:
        return {"lowercase": self.lowercase, "whitespace": self.whitespace, "word_order": self.words}

    def _encode_tokens(self, sentences: Sentences, dropped: tuple[int, ...], device: torch.device) -> Batch:
        if sentences.kind == "tokens":
            _refuse_words(sentences)
        return super()._encode_tokens(sentences, dropped, device)

    def _encode_text(self, sentences: Sentences, device: torch.device) -> Batch:
        texts = list(map(str.lower, sentences.documents)) if self.lowercase else sentences.documents
        batch = batch_of(sentences, number_characters(texts, self.whitespace, device))
        if not self.words:
            return batch
        words = number_tokens(list(map(words_and_punctuation, texts)), device, sentences.place)
        return batch._replace(words=parted(sentences, words))


def _refuse_words(sentences: Sentences) -> None:
    """Raise where a token is a ``str`` that is not one character: n-grams of words are no chrF."""
    for index, document in enumerate(sentences.documents):
        for token in document:
            if isinstance(token, str) and len(token) != 1:
                raise TypeError(
                    f"{sentences.place(index)} has the token {shortened(token)}, but chrF counts characters: expected "
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
