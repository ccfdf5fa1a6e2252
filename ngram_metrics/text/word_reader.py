"""How metrics of words read ``preds`` and ``target``: as words, or as whole texts."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch

from ngram_metrics.basics.option_checks import pad_ids
from ngram_metrics.counting.documents import Batch, RaggedTokens, host_counts
from ngram_metrics.text.input_forms import PaddedSegments, Segments
from ngram_metrics.text.input_warnings import warn_of_unsplit_texts
from ngram_metrics.text.numbering import columns_of, number_tokens
from ngram_metrics.text.python_readers import PythonWordReader
from ngram_metrics.text.reader import Reader, batch_of
from ngram_metrics.text.single_texts import split_words
from ngram_metrics.text.tokenizer_option import rule_of
from ngram_metrics.text.word_bounds import WHITESPACE
from ngram_metrics.text.words import number_words

#: Fewer characters are split by ``str.split``, which is then faster than operations on arrays.
FEW_CHARACTERS = 1 << 14


class WordReader(PythonWordReader, Reader):
    """Reads words under the settings of ``PythonWordReader``."""

    @property
    def sample_padding(self) -> tuple[int, ...] | None:
        """The ids that are not tokens, if hypotheses may be samples."""
        return pad_ids(self.pad_id) if self.samples else None

    def _encode_text(self, segments: Segments) -> Batch:
        texts = self.texts_to_split(segments.documents, len(segments.hypotheses))
        rule = rule_of(self.tokenizer)
        if rule is None or (rule is WHITESPACE and sum(map(len, texts)) < FEW_CHARACTERS):
            tokens = number_tokens(split_words(texts, self.tokenizer, segments.name_of), segments.name_of)
        else:
            tokens = number_words(rule, texts, columns_of(segments))
        return batch_of(segments, tokens)


@dataclass(frozen=True)
class TextReader(Reader):
    """Reads a text as one token on the CPU, whose id is the index of the text in ``Batch.texts``.

    Attributes:
        splits: whether the measure splits Chinese and Japanese, which have no spaces, into characters.
    """

    splits: bool = False
    pad_id: None = field(default=None, init=False)

    def encode(self, segments: Segments | PaddedSegments) -> Batch:
        """Number checked texts.

        Raises:
            TypeError: tokens or ids.
        """
        if segments.kind != "text":
            raise TypeError(
                f"the segments are {segments.kind}, and this metric takes text only: expected each as a str, such as "
                "tokens joined by spaces, or decoded ids"
            )
        return super().encode(segments)

    def signature(self, kind: str) -> dict[str, str]:
        """Return no settings: there are none."""
        return {}

    def _text_options(self) -> dict[str, object]:
        return {}

    def _encode_text(self, segments: Segments) -> Batch:
        texts = segments.documents
        if not self.splits:
            advice = "normalized=True and asian_support=True, which split Chinese and Japanese into characters"
            warn_of_unsplit_texts(segments.hypotheses, segments.references, advice)
        indices = RaggedTokens(torch.arange(len(texts), device="cpu"), host_counts([1] * len(texts)), len(texts))
        return batch_of(segments, indices)._replace(texts=texts)
