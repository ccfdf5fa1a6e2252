"""From sentences to token batches on a device: the last step that sees text."""

from __future__ import annotations

import functools
import operator
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ngram_metrics.counting.token_batch import (
    DocumentGroups,
    PaddedReferences,
    PaddedTokens,
    RaggedTokens,
    drop_ids,
    owners,
    ragged_from_ids,
)
from ngram_metrics.text.door import PaddedSentences, Sentences, read
from ngram_metrics.text.tokenizers import batch_tokenizer, shortened, tokenizer_signature


class Batch(NamedTuple):
    """Hypotheses and their references in one layout, with ids of one meaning."""

    hypotheses: RaggedTokens | PaddedTokens
    references: DocumentGroups | PaddedReferences


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
        object.__setattr__(self, "pad_id", fixed_pad_id(self.pad_id))

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
            self._refuse_text_options(given)
            return Batch(*encode_padded(given, pad_ids(self.pad_id)))
        refuse_missing_pad_id(given, pad_ids(self.pad_id), preds, target)
        return self.encode(given, device)

    def encode(self, given: Sentences, device: torch.device) -> Batch:
        """Turn what came through the door into token ids; raises as :meth:`read`."""
        if given.kind == "text":
            return encode_sentences(self._tokenize(given), (), device)
        self._refuse_text_options(given)
        return encode_sentences(given, pad_ids(self.pad_id), device)

    def signature(self) -> dict[str, str]:
        """Return the settings that affect the score, in words."""
        case = "lc" if self.lowercase else "mixed"
        return {"case": case, **tokenizer_signature(self.tokenizer), **pad_signature(self.pad_id)}

    def _refuse_text_options(self, given: Sentences | PaddedSentences) -> None:
        refuse_text_options(given, tokenizer=self.tokenizer, lowercase=self.lowercase)

    def _tokenize(self, given: Sentences) -> Sentences:
        texts = given.hypotheses + given.references
        if self.lowercase:
            texts = list(map(str.lower, texts))
        tokens = list(batch_tokenizer(self.tokenizer)(texts, given.place))
        sentences = len(given.hypotheses)
        return given._replace(kind="tokens", hypotheses=tokens[:sentences], references=tokens[sentences:])


def refuse_text_options(given: Sentences | PaddedSentences, **options: Any) -> None:
    """Raise ValueError where an option for text was given together with tokens or ids."""
    for name, value in options.items():
        if value is not None and value is not False:
            raise ValueError(
                f"{name} is an option for text, but the sentences are {given.kind}: expected one or the other"
            )


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


def fixed_pad_id(pad_id: int | Sequence[int] | None) -> int | tuple[int, ...] | None:
    """Check ``pad_id``, and return several ids as a tuple, which nobody can change afterwards; raises as pad_ids."""
    ids = pad_ids(pad_id)
    return pad_id if pad_id is None else int(pad_id) if isinstance(pad_id, (int, np.integer)) else ids


def pad_signature(pad_id: int | Sequence[int] | None) -> dict[str, str]:
    """Return the ids that are no tokens in words, for a signature."""
    dropped = pad_ids(pad_id)
    return {"pad": ",".join(map(str, dropped))} if dropped else {}


def refuse_missing_pad_id(given: Sentences | PaddedSentences, dropped: tuple[int, ...], *sides: Any) -> None:
    """Raise ValueError where a side was a padded tensor or array of ids and no padding is known."""
    if given.kind != "text" and not dropped and any(map(_is_padded, sides)):
        raise ValueError("a padded tensor of ids needs pad_id, the id or ids that are no tokens; none was given")


def _is_padded(side: Any) -> bool:
    return isinstance(side, Tensor) or (isinstance(side, np.ndarray) and side.dtype.kind in "iu")


def encode_padded(given: PaddedSentences, dropped: tuple[int, ...]) -> tuple[PaddedTokens, PaddedReferences]:
    """Close the gaps of padded ids; no step depends on data."""
    refuse_missing_pad_id(given, dropped, given.hypotheses, given.references)
    hypotheses, references = drop_ids(given.hypotheses, dropped), drop_ids(given.references, dropped)
    present = references.lengths > 0
    # Where all are missing, or the only one is empty, it is one empty reference: to raise would wait for the device.
    first = torch.cat((present[:, :1] | ~present.any(1, keepdim=True), present[:, 1:]), 1)
    return hypotheses, PaddedReferences(references, first)


def encode_sentences(given: Sentences, dropped: tuple[int, ...], device: torch.device) -> Batch:
    """Number the tokens of hypotheses and references alike, and lay them end to end; of ids, leave out ``dropped``."""
    if given.kind != "ids":
        dropped = ()
    sentences = given.hypotheses + given.references
    tensors = [isinstance(sentence, Tensor) for sentence in sentences]
    if tensors and all(tensors):
        tokens = _from_tensors(sentences, dropped)
    else:
        lists = [s.tolist() if is_tensor else s for s, is_tensor in zip(sentences, tensors, strict=True)]
        if dropped:
            lists = [[token for token in sentence if token not in dropped] for sentence in lists]
        tokens = number_tokens(lists, device, given.place)
    hypotheses = len(given.hypotheses)
    return Batch(
        tokens.slice(0, hypotheses),
        DocumentGroups(tokens.slice(hypotheses, len(sentences)), host_counts(given.counts)),
    )


def number_tokens(
    documents: Sequence[Sequence[Hashable]], device: torch.device, place: Callable[[int], str]
) -> RaggedTokens:
    """Number the tokens ``0, 1, ...`` in the order in which they first appear.

    Raises:
        TypeError: a token is not hashable; ``place`` names the document of an index.
    """
    vocabulary: defaultdict[Hashable, int] = defaultdict()
    vocabulary.default_factory = vocabulary.__len__
    lengths = host_counts(list(map(len, documents)))
    numbered = map(vocabulary.__getitem__, chain.from_iterable(documents))
    try:
        ids = np.fromiter(numbered, np.int64, int(lengths.sum()))
    except TypeError:
        _name_unhashable(documents, place)
        raise
    return RaggedTokens(torch.from_numpy(ids).to(device), lengths, len(vocabulary))


def host_counts(counts: Sequence[int]) -> Tensor:
    """Return numbers as an int64 tensor on the CPU, whatever the default device."""
    return torch.tensor(counts, dtype=torch.int64, device="cpu")


def _from_tensors(sentences: list[Tensor], dropped: tuple[int, ...]) -> RaggedTokens:
    ids = torch.cat(sentences)
    lengths = host_counts(list(map(len, sentences)))
    if dropped:
        kept = functools.reduce(operator.and_, [ids != one for one in dropped])
        lengths = torch.zeros_like(lengths).index_add(0, owners(lengths), kept.cpu().long())
        ids = ids.masked_select(kept)
    return ragged_from_ids(ids, lengths)


def _name_unhashable(documents: Sequence[Sequence[Hashable]], place: Callable[[int], str]) -> None:
    """Raise a TypeError that names the document with a token that is not hashable."""
    for index, document in enumerate(documents):
        for token in document:
            try:
                hash(token)
            except TypeError as error:
                raise TypeError(
                    f"{place(index)} has the token {shortened(token)}, a {type(token).__name__}: expected a hashable"
                ) from error
