"""How TER reads ``preds`` and ``target``: as whole texts, which its measure splits into words itself."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch

from ngram_metrics.counting.documents import Batch, RaggedTokens, host_counts
from ngram_metrics.text.hints import warn_of_unsplit_texts
from ngram_metrics.text.inputs import PaddedSentences, Sentences
from ngram_metrics.text.reader import Reader, batch_of


@dataclass(frozen=True)
class TextReader(Reader):
    """Reads a text as one token, whose id is the place of the text in ``Batch.texts``; all stays on the CPU.

    Attributes:
        splits: whether the measure splits Chinese and Japanese, which have no blanks, into characters.
    """

    splits: bool = False
    pad_id: None = field(default=None, init=False)

    def encode(self, sentences: Sentences | PaddedSentences, device: torch.device) -> Batch:
        """Number checked texts.

        Raises:
            TypeError: tokens or ids.
        """
        if sentences.kind != "text":
            raise TypeError(
                f"the sentences are {sentences.kind}, and this metric takes text only: expected each as a str, such as "
                "tokens joined by blanks, or decoded ids"
            )
        return super().encode(sentences, device)

    def signature(self) -> dict[str, str]:
        """Return no settings: there are none."""
        return {}

    def _text_options(self) -> dict[str, object]:
        return {}

    def _encode_text(self, sentences: Sentences, device: torch.device) -> Batch:
        texts = sentences.documents
        if not self.splits:
            advice = "normalized=True and asian_support=True, which split Chinese and Japanese into characters"
            warn_of_unsplit_texts(sentences.hypotheses, sentences.references, advice)
        places = RaggedTokens(torch.arange(len(texts), device="cpu"), host_counts([1] * len(texts)), len(texts))
        return batch_of(sentences, places)._replace(texts=texts)
