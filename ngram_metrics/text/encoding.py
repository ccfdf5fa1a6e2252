"""From sentences to token batches on a device: the last step that sees text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ngram_metrics.counting.token_batch import (
    PaddedReferences,
    PaddedTokens,
    RaggedReferences,
    RaggedTokens,
    drop_ids,
    ragged_from_ids,
)
from ngram_metrics.text.door import PaddedSentences, Sentences, place, read
from ngram_metrics.text.tokenizers import batch_tokenizer, shortened


class Batch(NamedTuple):
    """Hypotheses and their references in one layout, with ids of one meaning."""

    hypotheses: RaggedTokens | PaddedTokens
    references: RaggedReferences | PaddedReferences


@dataclass(frozen=True)
class WordReader:
    """How ``preds`` and ``target`` are read by a metric on words.

    Attributes:
        tokenizer: see :func:`ngram_metrics.text.tokenizers.batch_tokenizer`.
        lowercase: whether text is lowercased, before it is tokenized.
        pad_id: the id or ids that are no tokens, dropped wherever they stand; a padded tensor needs it.
    """

    tokenizer: Any = None
    lowercase: bool = False
    pad_id: int | Sequence[int] | None = None

    def __post_init__(self) -> None:
        """Check the options while no data has been seen yet."""
        batch_tokenizer(self.tokenizer)
        pad_ids(self.pad_id)

    def read(self, preds: Any, target: Any, device: torch.device) -> Batch:
        """Turn a batch into token ids.

        Args:
            preds: hypotheses, see :mod:`ngram_metrics.text.door`.
            target: references.
            device: where text, tokens and lists of ids are counted; tensors are counted where they lie.

        Raises:
            TypeError, ValueError: as the door; text options together with tokens or ids; a padded tensor without
                ``pad_id``; a token that is not hashable.
        """
        given = read(preds, target)
        if isinstance(given, PaddedSentences):
            self._refuse_text_options("ids")
            return encode_padded(given, pad_ids(self.pad_id))
        if given.kind == "text":
            return encode_tokens(self._tokenize(given), (), device)
        self._refuse_text_options(given.kind)
        if isinstance(preds, (Tensor, np.ndarray)) or isinstance(target, (Tensor, np.ndarray)):
            require_pad_id(pad_ids(self.pad_id))
        return encode_tokens(given, pad_ids(self.pad_id) if given.kind == "ids" else (), device)

    def _tokenize(self, given: Sentences) -> Sentences:
        texts = given.hypotheses + given.references
        if self.lowercase:
            texts = list(map(str.lower, texts))
        tokens = batch_tokenizer(self.tokenizer)(texts)
        sentences = len(given.hypotheses)
        return Sentences("tokens", list(tokens[:sentences]), list(tokens[sentences:]), given.counts)

    def _refuse_text_options(self, kind: str) -> None:
        if self.tokenizer is not None or self.lowercase:
            option = "lowercase" if self.tokenizer is None else "tokenizer"
            raise ValueError(f"{option} is an option for text, but the sentences are {kind}: expected one or the other")


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
        or not all(isinstance(one, (int, np.integer)) and not isinstance(one, bool) for one in ids)
    ):
        raise TypeError(f"pad_id is {shortened(pad_id)}: expected an integer, a sequence of integers, or None")
    return tuple(ids)


def require_pad_id(dropped: tuple[int, ...]) -> None:
    """Raise ValueError where no padding is known."""
    if not dropped:
        raise ValueError("a padded tensor of ids needs pad_id, the id or ids that are no tokens; none was given")


def encode_padded(given: PaddedSentences, dropped: tuple[int, ...]) -> Batch:
    """Close the gaps of padded ids; no step depends on data."""
    require_pad_id(dropped)
    hypotheses, references = drop_ids(given.hypotheses, dropped), drop_ids(given.references, dropped)
    if not given.missing:
        return Batch(hypotheses, PaddedReferences(references, torch.ones_like(references.lengths, dtype=torch.bool)))
    present = references.lengths > 0
    # Where all are missing the sentence has one empty reference: to raise would need to wait for the device.
    first = torch.cat((present[:, :1] | ~present.any(1, keepdim=True), present[:, 1:]), 1)
    return Batch(hypotheses, PaddedReferences(references, first))


def encode_tokens(given: Sentences, dropped: tuple[int, ...], device: torch.device) -> Batch:
    """Number the tokens of hypotheses and references alike, and lay them end to end."""
    sentences = given.hypotheses + given.references
    hypotheses = len(given.hypotheses)
    tensors = [isinstance(sentence, Tensor) for sentence in sentences]
    if tensors and all(tensors):
        tokens = _from_tensors(sentences, dropped)
    else:
        as_lists = [s.tolist() if is_tensor else s for s, is_tensor in zip(sentences, tensors, strict=True)]
        if dropped:
            as_lists = [[token for token in sentence if token not in dropped] for sentence in as_lists]
        tokens = _from_lists(as_lists, device, given.counts)
    return Batch(
        tokens.slice(0, hypotheses),
        RaggedReferences(
            tokens.slice(hypotheses, len(sentences)), torch.tensor(given.counts, dtype=torch.int64, device="cpu")
        ),
    )


def _from_tensors(sentences: list[Tensor], dropped: tuple[int, ...]) -> RaggedTokens:
    ids = torch.cat(sentences)
    lengths = torch.tensor([len(sentence) for sentence in sentences], dtype=torch.int64, device="cpu")
    if dropped:
        kept = torch.stack([ids != one for one in dropped]).all(0)
        document = torch.repeat_interleave(lengths)
        lengths = torch.zeros_like(lengths).index_add(0, document, kept.cpu().long())
        ids = ids[kept]
    return ragged_from_ids(ids, lengths)


def _from_lists(sentences: list[Sequence[Hashable]], device: torch.device, counts: list[int]) -> RaggedTokens:
    vocabulary: defaultdict[Hashable, int] = defaultdict()
    vocabulary.default_factory = vocabulary.__len__
    lengths = torch.tensor(list(map(len, sentences)), dtype=torch.int64, device="cpu")
    numbered = map(vocabulary.__getitem__, chain.from_iterable(sentences))
    try:
        ids = np.fromiter(numbered, np.int64, int(lengths.sum()))
    except TypeError:
        _name_unhashable(sentences, counts)
        raise
    return RaggedTokens(torch.from_numpy(ids).to(device), lengths, len(vocabulary))


def _name_unhashable(sentences: list[Sequence[Hashable]], counts: list[int]) -> None:
    """Raise a TypeError that names the sentence with a token that is not hashable."""
    hypotheses = len(counts)
    for index, sentence in enumerate(sentences):
        for token in sentence:
            try:
                hash(token)
            except TypeError as error:
                where = place(index, None) if index < hypotheses else place(index - hypotheses, counts)
                raise TypeError(
                    f"{where} has the token {shortened(token)}, a {type(token).__name__}: expected a hashable"
                ) from error
