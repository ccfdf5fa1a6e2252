"""How metrics of words read ``preds`` and ``target``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ngram_metrics._core.basics.option_checks import pad_signature
from ngram_metrics._core.counting.documents import Batch
from ngram_metrics._core.text.input_forms import Segments
from ngram_metrics._core.text.input_types import Tokenizer
from ngram_metrics._core.text.input_warnings import warn_of_another_tokenizer
from ngram_metrics._core.text.messages import NameOf
from ngram_metrics._core.text.numbering import number_tokens
from ngram_metrics._core.text.reader import Reader, batch_of
from ngram_metrics._core.text.single_texts import split_words
from ngram_metrics._core.text.tokenizer_option import check_tokenizer, rule_of, tokenizer_signature
from ngram_metrics._core.text.word_bounds import WHITESPACE
from ngram_metrics._core.text.word_rules import SPLITTERS, has_splitter
from ngram_metrics._core.text.words import number_words

#: Fewer characters are split by ``str.split``, which is then faster than operations on arrays.
FEW_CHARACTERS = 1 << 14


@dataclass(frozen=True)
class WordReader(Reader):
    """Reads words, after ``lowercase`` by the ``tokenizer``, see ``_core.text.tokenizer_option``, which is checked.

    With ``samples`` hypotheses may be padded ids ``(segments, samples, width)``.
    """

    tokenizer: Tokenizer | None = None
    lowercase: bool = False
    pad_id: int | Sequence[int] | None = None
    # Not compared: it changes nothing that both read.
    samples: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        check_tokenizer(self.tokenizer)
        super().__post_init__()
        object.__setattr__(self, "reads_text_in_python", has_splitter(self.tokenizer))

    def signature(self, kind: str) -> dict[str, str]:
        case = "lc" if self.lowercase else "mixed"
        return {"case": case, **tokenizer_signature(self.tokenizer, kind), **pad_signature(self.pad_id)}

    def _text_options(self) -> dict[str, object]:
        return {"tokenizer": self.tokenizer, "lowercase": self.lowercase}

    def read_texts_in_python(self, texts: Sequence[str], hypotheses: int, name_of: NameOf) -> Sequence[Any]:
        """Split each text into words."""
        return list(map(SPLITTERS[self.tokenizer], self.texts_to_split(texts, hypotheses)))

    def texts_to_split(self, texts: Sequence[str], hypotheses: int) -> Sequence[str]:
        """Return the texts to split into words, and warn of those that the tokenizer does not suit."""
        warn_of_another_tokenizer(self.tokenizer, texts[:hypotheses], texts[hypotheses:])
        return self.prepare(texts)

    def _encode_text(self, segments: Segments) -> Batch:
        texts = self.texts_to_split(segments.documents, len(segments.hypotheses))
        rule = rule_of(self.tokenizer)
        if rule is None or (rule is WHITESPACE and sum(map(len, texts)) < FEW_CHARACTERS):
            tokens = number_tokens(split_words(texts, self.tokenizer, segments.name_of), segments.name_of)
        else:
            tokens = number_words(rule, texts, segments.columns)
        return batch_of(segments, tokens)
