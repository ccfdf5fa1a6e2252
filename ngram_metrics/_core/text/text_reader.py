"""How TER, which another package counts, reads ``preds`` and ``target``: as whole texts."""

from __future__ import annotations

from dataclasses import dataclass, field

from ngram_metrics._core.basics.lazy import torch
from ngram_metrics._core.counting.documents import Batch, RaggedTokens, host_counts
from ngram_metrics._core.text.input_forms import PaddedSegments, Segments
from ngram_metrics._core.text.input_warnings import warn_of_unsplit_texts
from ngram_metrics._core.text.reader import Reader, batch_of


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
