"""Several hypotheses for each reference, as padded ids ``(sentences, samples, width)``."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import Tensor

from ngram_metrics.text.door import PaddedSentences, Sentences, plain
from ngram_metrics.text.reader import WordReader, pad_ids, refuse_negative
from ngram_metrics.text.tokenizers import shortened


class SampleReader(WordReader):
    """Reads as :class:`WordReader`, and besides a 3-D tensor of hypotheses, its samples as sentences of their own."""

    def receive(self, preds: Any, target: Any) -> Sentences | PaddedSentences:
        """Tell apart and check a batch; sample s of sentence b is sentence ``b * samples + s``."""
        samples = samples_of(preds)
        if samples is None:
            return super().receive(preds, target)
        sentences = len(preds)
        expected = f"expected references ({sentences}, width) or ({sentences}, references, width)"
        hypotheses = plain(preds, "preds")
        try:
            references = target if isinstance(target, Tensor) else plain(np.asarray(target), "target")
        except ValueError as error:
            raise ValueError(f"target is ragged beside padded samples: {expected}") from error
        if not isinstance(references, Tensor):
            raise TypeError(f"target is {shortened(target)} beside padded samples: {expected}")
        if references.dim() not in (2, 3) or len(references) != sentences:
            raise ValueError(f"preds has shape {tuple(preds.shape)} and target {tuple(references.shape)}: {expected}")
        if not isinstance(target, (Tensor, np.ndarray)):
            self._refuse_negative(references)
        repeated = references.repeat_interleave(samples, 0, output_size=samples * sentences)
        return super().receive(hypotheses.flatten(0, 1), repeated)

    def _refuse_negative(self, references: Tensor) -> None:
        """Raise for lists, which are no padded tensor though they are read as one."""
        for index, ids in enumerate(references.flatten(1).tolist()):
            refuse_negative([one for one in ids if one not in pad_ids(self.pad_id)], f"a reference of sentence {index}")


def samples_of(preds: Any) -> int | None:
    """Return how many hypotheses a sentence has in a 3-D tensor or array, None for anything else."""
    return int(preds.shape[1]) if isinstance(preds, (Tensor, np.ndarray)) and preds.ndim == 3 else None
