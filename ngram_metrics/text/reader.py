"""From a batch, as the caller gave it, to token ids on a device: what all readers do; each says only what differs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from ngram_metrics.counting.batch import Batch, Kind, PaddedSides, RaggedSides
from ngram_metrics.counting.token_batch import DocumentGroups, PaddedReferences, RaggedTokens, drop_ids
from ngram_metrics.text.door import PaddedSentences, Sentences, read
from ngram_metrics.text.inputs import Hypotheses, References
from ngram_metrics.text.messages import shortened
from ngram_metrics.text.numbering import host_counts, listed_ids, number_tensors, number_tokens


class Reader(ABC):
    """How ``preds`` and ``target`` are read.

    Attributes:
        pad_id: the id or ids that are no tokens, dropped wherever they stand; a padded tensor needs it.
    """

    pad_id: int | Sequence[int] | None

    def __post_init__(self) -> None:
        """Check the options while no data has been seen yet."""
        object.__setattr__(self, "pad_id", fixed_pad_id(self.pad_id))

    def read(self, preds: Hypotheses, target: References, device: torch.device) -> Batch:
        """Turn a batch into token ids.

        Args:
            preds: hypotheses, see :mod:`ngram_metrics.text.door`.
            target: references.
            device: where text, tokens and lists of ids are counted; tensors are counted where they lie.

        Raises:
            TypeError, ValueError: as the door; options for text together with tokens or ids; a padded tensor without
                ``pad_id``; in a sequence or 1-D tensor a negative id that ``pad_id`` does not name; a token that is not
                hashable; a callable that returned something of the wrong type.
        """
        return self.encode(read(preds, target), device)

    def encode(self, sentences: Sentences | PaddedSentences, device: torch.device) -> Batch:
        """Turn what came through the door into token ids; raises as :meth:`read`."""
        if sentences.kind == "text":
            return self._encode_text(sentences, device)
        self._refuse_text_options(sentences.kind)
        dropped = pad_ids(self.pad_id) if sentences.kind == "ids" else ()
        if isinstance(sentences, PaddedSentences):
            refuse_missing_pad_id(dropped)
            return self._encode_padded(sentences, dropped)
        if any(sentences.padded):
            refuse_missing_pad_id(dropped)
        return self._encode_tokens(sentences, dropped, device)

    @property
    def _separator(self) -> int | None:
        """An id that parts sentences, and so is no padding though it may be negative."""
        return None

    @abstractmethod
    def signature(self) -> dict[str, str]:
        """Return the settings that affect the score, in words."""

    @abstractmethod
    def _text_options(self) -> dict[str, object]:
        """Return the options that are for text only, by name; None and False stand for an option not given."""

    @abstractmethod
    def _encode_text(self, sentences: Sentences, device: torch.device) -> Batch:
        """Encode texts."""

    def _encode_tokens(self, sentences: Sentences, dropped: tuple[int, ...], device: torch.device) -> Batch:
        """Encode sequences of tokens or ids, and of ids leave out ``dropped``."""
        documents = sentences.documents
        if documents and all(isinstance(document, Tensor) for document in documents):
            return batch_of(sentences, number_tensors(sentences, dropped))
        lists = listed_ids(sentences, dropped) if sentences.kind == "ids" else documents
        return batch_of(sentences, number_tokens(lists, device, sentences.place))

    def _encode_padded(self, sentences: PaddedSentences, dropped: tuple[int, ...]) -> Batch:
        """Close the gaps of padded ids; no step depends on data."""
        hypotheses, references = (drop_ids(side, dropped, self._separator) for side in sentences)
        present = references.lengths > 0
        # Where all are missing, or the only one is empty, it is one empty reference: to raise would wait for the
        # device.
        present = torch.cat((present[:, :1] | ~present.any(1, keepdim=True), present[:, 1:]), 1)
        return Batch(PaddedSides(hypotheses, PaddedReferences(references, present)), sentences.known_kind)

    def _refuse_text_options(self, kind: Kind) -> None:
        """Raise ValueError where an option for text was given together with tokens or ids."""
        for name, value in self._text_options().items():
            if value is not None and value is not False:
                raise ValueError(
                    f"{name} is an option for text, but the sentences are {kind}: expected one or the other"
                )


def batch_of(sentences: Sentences, tokens: RaggedTokens) -> Batch:
    """Return the batch of all documents' tokens."""
    return Batch(parted(sentences, tokens), sentences.known_kind)


def parted(sentences: Sentences, tokens: RaggedTokens) -> RaggedSides:
    """Part the tokens of hypotheses from those of references, which stand behind them."""
    first = len(sentences.hypotheses)
    references = DocumentGroups(tokens.slice(first, tokens.documents), host_counts(sentences.counts))
    return RaggedSides(tokens.slice(0, first), references)


def pad_ids(pad_id: int | Sequence[int] | None) -> tuple[int, ...]:
    """Return the ids to drop as a tuple.

    Raises:
        TypeError: anything but an integer, a sequence of integers, or None.
    """
    if pad_id is None:
        return ()
    ids = (pad_id,) if isinstance(pad_id, (int, np.integer)) else pad_id
    if (
        isinstance(ids, (str, bytes))
        or not isinstance(ids, Sequence)
        or not all(isinstance(token, (int, np.integer)) and not isinstance(token, bool) for token in ids)
    ):
        raise TypeError(f"pad_id is {shortened(pad_id)}: expected an integer, a sequence of integers, or None")
    return tuple(ids)


def fixed_pad_id(pad_id: int | Sequence[int] | None) -> int | tuple[int, ...] | None:
    """Check ``pad_id``, and return several ids as a tuple, which nobody can change afterwards; raises as pad_ids."""
    ids = pad_ids(pad_id)
    return pad_id if pad_id is None else int(pad_id) if isinstance(pad_id, (int, np.integer)) else ids


def pad_signature(pad_id: int | Sequence[int] | None) -> dict[str, str]:
    """Return the ids that are no tokens in words, for a signature."""
    dropped = pad_ids(pad_id)
    return {"pad": ",".join(map(str, dropped))} if dropped else {}


def refuse_missing_pad_id(dropped: tuple[int, ...]) -> None:
    """Raise ValueError where no padding is known."""
    if not dropped:
        raise ValueError("a padded tensor of ids needs pad_id, the id or ids that are no tokens; none was given")
