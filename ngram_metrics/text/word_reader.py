"""How BLEU and n-gram overlap read ``preds`` and ``target``: as words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ngram_metrics.counting.documents import Batch
from ngram_metrics.text.door import plain
from ngram_metrics.text.hints import warn_of_tokenized_texts, warn_of_unsplit_texts
from ngram_metrics.text.inputs import Hypotheses, References, Sentences, Tokenizer
from ngram_metrics.text.messages import shortened
from ngram_metrics.text.numbering import number_texts, refuse_negative
from ngram_metrics.text.plain_words import RULES
from ngram_metrics.text.reader import Reader, batch_of, pad_ids, pad_signature
from ngram_metrics.text.tokenizers import check_tokenizer, tokenizer_signature


@dataclass(frozen=True)
class WordReader(Reader):
    """The settings for reading words.

    Attributes:
        tokenizer: see ``ngram_metrics.text.tokenizers``.
        lowercase: whether text is lowercased before it is tokenized.
        pad_id: see ``ngram_metrics.text.reader.Reader``.
        samples: whether hypotheses may be padded ids ``(sentences, samples, width)``.

    Raises:
        TypeError: a tokenizer or ``pad_id`` of another type.
        ValueError: an unknown tokenizer name, or a tokenizer that truncates.
        ModuleNotFoundError: a tokenizer whose package is not installed.
    """

    tokenizer: Tokenizer | None = None
    lowercase: bool = False
    pad_id: int | Sequence[int] | None = None
    # Not compared: it changes nothing that both read.
    samples: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        """Check the options before any data."""
        check_tokenizer(self.tokenizer)
        super().__post_init__()

    def read(self, preds: Hypotheses, target: References, device: torch.device) -> Batch:
        """Turn a batch into token ids; the samples of a sentence become consecutive hypotheses."""
        if not self.samples or not isinstance(preds, (Tensor, np.ndarray)) or preds.ndim != 3:
            return super().read(preds, target, device)
        sentences, samples, _ = preds.shape
        dropped = pad_ids(self.pad_id)
        references = _references_of(preds, target)
        if not isinstance(target, (Tensor, np.ndarray)):
            # Lists are read like a padded tensor, but negative ids in them are an error.
            for index, ids in enumerate(references.flatten(1).tolist()):
                refuse_negative([token for token in ids if token not in dropped], f"a reference of sentence {index}")
        repeated = references.repeat_interleave(samples, 0, output_size=samples * sentences)
        hypotheses = plain(preds, "preds").flatten(0, 1)  # (sentences * samples, width)
        return super().read(hypotheses, repeated, device)._replace(leading_shape=(sentences, samples))

    def signature(self) -> dict[str, str]:
        """Return the settings that affect the score, by name, as strings."""
        case = "lc" if self.lowercase else "mixed"
        return {"case": case, **tokenizer_signature(self.tokenizer), **pad_signature(self.pad_id)}

    def _text_options(self) -> dict[str, object]:
        return {"tokenizer": self.tokenizer, "lowercase": self.lowercase}

    def plain(self, sentences: Sentences) -> list[Any] | None:
        """Read texts in plain Python, each as its words."""
        rule = RULES.get(self.tokenizer) if self.tokenizer is None or isinstance(self.tokenizer, str) else None
        return None if rule is None else list(map(rule, self._texts(sentences)))

    def _encode_text(self, sentences: Sentences, device: torch.device) -> Batch:
        texts = self._texts(sentences)
        return batch_of(sentences, number_texts(sentences, texts, self.tokenizer).to(device))

    def _texts(self, sentences: Sentences) -> Sequence[str]:
        """Return the texts to split into words, and warn of those that the tokenizer does not suit."""
        if self.tokenizer in (None, "none", "13a", "intl"):
            warn_of_unsplit_texts(sentences.hypotheses, sentences.references)
        if self.tokenizer == "13a":
            warn_of_tokenized_texts(sentences.hypotheses)
        return list(map(str.lower, sentences.documents)) if self.lowercase else sentences.documents


def _references_of(preds: Tensor | NDArray[np.generic], target: References) -> Tensor:
    """Return the references of samples as a padded tensor."""
    expected = f"expected references ({len(preds)}, width) or ({len(preds)}, references, width)"
    try:
        references = target if isinstance(target, Tensor) else plain(np.ma.asanyarray(target), "target")
    except ValueError as error:
        raise ValueError(f"target is ragged, but the samples are padded: {expected}") from error
    if not isinstance(references, Tensor):
        raise TypeError(f"target is {shortened(target)}, but the samples are padded: {expected}")
    if references.dim() not in (2, 3) or len(references) != len(preds):
        raise ValueError(f"preds has shape {tuple(preds.shape)} and target {tuple(references.shape)}: {expected}")
    return references
