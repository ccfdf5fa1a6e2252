"""How chrF reads ``preds`` and ``target``: as code points, for chrF++ also as words with punctuation split off.

An emoji of several code points is several characters, as in sacrebleu. Whitespace is every character at which
``str.split()`` splits, including the tab, the no-break space and the ideographic space.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ngram_metrics._core.basics.lazy import np, torch
from ngram_metrics._core.basics.option_checks import pad_signature
from ngram_metrics._core.counting.documents import Batch, RaggedTokens, even_chunks
from ngram_metrics._core.text.input_forms import Segments
from ngram_metrics._core.text.messages import NameOf, shortened
from ngram_metrics._core.text.reader import Reader, batch_of, sides_of
from ngram_metrics._core.text.single_texts import split_characters
from ngram_metrics._core.text.word_bounds import CHARACTERS, CHRF_WORDS, code_points, counts_between, text_of
from ngram_metrics._core.text.word_rules import remove_whitespace
from ngram_metrics._core.text.words import number_words

#: The numbers of code points that are not tokens, and of code points that have not occurred yet.
_NO_TOKEN, _NEW = -1, -2
#: The first texts have most of the code points; numbering this many takes a fraction of the time of a chunk.
_FEW = 64
#: Up to this number of characters, removing whitespace text by text takes less time than operations on arrays.
_FEW_CHARACTERS = 1 << 13


@dataclass(frozen=True)
class CharacterReader(Reader):
    """Reads characters, which may also be tokens: a ``str`` of one character, or another hashable.

    Ids are counted as characters. With ``words``, for chrF++, words are read too.
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

    def check_tokens(self, segments: Segments) -> None:
        """Raise TypeError for a ``str`` of more or less than one character, such as a word."""
        for index, document in enumerate(segments.documents):
            for token in document:
                if isinstance(token, str) and len(token) != 1:
                    raise TypeError(
                        f"{segments.name_of(index)} has the token {shortened(token)}, but this metric counts "
                        "characters: expected text, such as words joined by spaces, or tokens of one character each"
                    )

    def read_texts_in_python(self, texts: Sequence[str], hypotheses: int, name_of: NameOf) -> Sequence[Any]:
        """Split each text into characters and words."""
        return [split_characters(text, self.whitespace, self.words) for text in self.prepare(texts)]

    def _read_tokens_in_python(self, segments: Segments) -> Sequence[object]:
        return [[document] for document in super()._read_tokens_in_python(segments)]

    def _encode_text(self, segments: Segments) -> Batch:
        texts = self.prepare(segments.documents)
        batch = batch_of(segments, number_characters(texts, self.whitespace))
        if not self.words:
            return batch
        return batch._replace(words=sides_of(segments, number_words(CHRF_WORDS, texts, segments.columns)))


def number_characters(texts: Sequence[str], whitespace: bool) -> RaggedTokens:
    """Number the code points of texts ``0, 1, ...`` in any order, with or without ``whitespace``."""
    if sum(map(len, texts)) <= _FEW_CHARACTERS:
        return _number_few(texts, whitespace)
    sizes = np.fromiter(map(len, texts), np.int64, len(texts)) + 1  # each text with a newline after it
    numbering = _Numbering(whitespace)
    numbering.extend("".join(texts[:_FEW]))
    ids, lengths = [np.empty(0, np.int32)], [sizes[:0]]
    for start, stop in even_chunks(sizes, CHARACTERS):
        codes = code_points("\n".join((*texts[start:stop], "")))
        ends = sizes[start:stop].cumsum()
        numbers = numbering.number_of.take(codes, mode="clip")
        numbers[ends - 1] = _NO_TOKEN
        new = (numbers == _NEW).nonzero()[0]
        if len(new):
            numbering.extend(text_of(codes.take(new)))
            numbers[new] = numbering.number_of.take(codes.take(new))
        positions = (numbers != _NO_TOKEN).nonzero()[0]
        ids.append(numbers.take(positions))
        lengths.append(counts_between(positions, ends))
    tokens = torch.from_numpy(np.concatenate(ids, dtype=np.int64))
    return RaggedTokens(tokens, torch.from_numpy(np.concatenate(lengths)), numbering.distinct)


def _number_few(texts: Sequence[str], whitespace: bool) -> RaggedTokens:
    """Number the code points of a few texts in fewer steps."""
    read = texts if whitespace else list(map(remove_whitespace, texts))
    codes = code_points("".join(read))
    is_present = np.zeros(int(codes.max(initial=0)) + 1, np.bool_)
    is_present[codes] = True
    present = is_present.nonzero()[0]
    number_of = np.empty(len(is_present), np.int64)
    number_of[present] = np.arange(len(present))
    lengths = np.fromiter(map(len, read), np.int64, len(read))
    return RaggedTokens(torch.from_numpy(number_of.take(codes)), torch.from_numpy(lengths), len(present))


class _Numbering:
    """The numbers of the code points that have occurred.

    Attributes:
        number_of: ``(code points,)`` int32, the number of each, ``_NO_TOKEN`` or ``_NEW``; the last entry is ``_NEW``,
            for all code points beyond.
        distinct: how many are numbered.
    """

    def __init__(self, whitespace: bool) -> None:
        self.number_of = np.full(1, _NEW, np.int32)
        self.distinct = 0
        self._whitespace = whitespace

    def extend(self, text: str) -> None:
        """Number the characters of a text, of which none has a number yet."""
        text = "".join(sorted(set(text)))
        codes = code_points(text)
        beyond = int(codes.max(initial=0)) + 2 - len(self.number_of)
        if beyond > 0:
            self.number_of = np.concatenate((self.number_of, np.full(beyond, _NEW, np.int32)))
        self.number_of[codes] = _NO_TOKEN
        tokens = codes if self._whitespace else code_points("".join(text.split()))
        self.number_of[tokens] = np.arange(self.distinct, self.distinct + len(tokens))
        self.distinct += len(tokens)
