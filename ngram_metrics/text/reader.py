"""From sentences to token batches on a device: the last step that sees text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from ngram_metrics.counting.token_batch import (
    DocumentGroups,
    PaddedReferences,
    PaddedTokens,
    RaggedTokens,
    drop_ids,
    ragged_from_ids,
)
from ngram_metrics.text.door import PaddedSentences, Sentences, read
from ngram_metrics.text.tokenizers import batch_tokenizer, shortened, tokenizer_signature


class Batch(NamedTuple):
    """Hypotheses and their references in one layout, with ids of one meaning."""

    hypotheses: RaggedTokens | PaddedTokens
    references: DocumentGroups | PaddedReferences


BatchType = TypeVar("BatchType", bound=tuple[Any, ...])


class Reader(ABC, Generic[BatchType]):
    """How ``preds`` and ``target`` are read by a metric: first told apart on the host, then turned into token ids."""

    pad_id: int | Sequence[int] | None

    def receive(self, preds: Any, target: Any) -> Sentences | PaddedSentences:
        """Tell apart and check a batch on the host, see :mod:`ngram_metrics.text.door`; it knows its kind."""
        return read(preds, target)

    @abstractmethod
    def encode(self, given: Sentences | PaddedSentences, device: torch.device) -> BatchType:
        """Turn what came through the door into token ids.

        Args:
            given: the batch.
            device: where text, tokens and lists of ids are counted; tensors are counted where they lie.

        Raises:
            ValueError: text options together with tokens or ids; a padded tensor without ``pad_id``; in a sequence or
                1-D tensor a negative id that ``pad_id`` does not name.
            TypeError: a token that is not hashable; what a tokenizer, or another callable, returned, is of a wrong
                type.
        """

    def read(self, preds: Any, target: Any, device: torch.device) -> BatchType:
        """Turn ``preds``, the hypotheses, and ``target``, their references, into token ids.

        Raises:
            TypeError, ValueError: as the door and :meth:`encode`.
        """
        return self.encode(self.receive(preds, target), device)


@dataclass(frozen=True)
class WordReader(Reader[Batch]):
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

    def encode(self, given: Sentences | PaddedSentences, device: torch.device) -> Batch:
        """Turn what came through the door into token ids."""
        if given.kind == "text":
            return encode_ragged(self._tokenize(given), (), device)
        refuse_text_options(given, tokenizer=self.tokenizer, lowercase=self.lowercase)
        return encode_sentences(given, pad_ids(self.pad_id), device)

    def signature(self) -> dict[str, str]:
        """Return the settings that affect the score, in words."""
        case = "lc" if self.lowercase else "mixed"
        return {"case": case, **tokenizer_signature(self.tokenizer), **pad_signature(self.pad_id)}

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


def encode_sentences(given: Sentences | PaddedSentences, dropped: tuple[int, ...], device: torch.device) -> Batch:
    """Turn tokens or ids into a batch; of ids, leave out ``dropped``, and of padded ones those that are negative.

    Raises:
        ValueError: padded ids, but nothing is ``dropped``; elsewhere a negative id that is not ``dropped``.
    """
    refuse_missing_pad_id(given, dropped)
    if isinstance(given, PaddedSentences):
        return Batch(*encode_padded(given, dropped))
    return encode_ragged(given, dropped, device)


def refuse_missing_pad_id(given: Sentences | PaddedSentences, dropped: tuple[int, ...]) -> None:
    """Raise ValueError where padded ids were given and no padding is known."""
    if not dropped and (isinstance(given, PaddedSentences) or any(given.padded)):
        raise ValueError("a padded tensor of ids needs pad_id, the id or ids that are no tokens; none was given")


def encode_padded(
    given: PaddedSentences, dropped: tuple[int, ...], separator: int | None = None
) -> tuple[PaddedTokens, PaddedReferences]:
    """Close the gaps of padded ids, see :func:`drop_ids`; no step depends on data."""
    hypotheses, references = (drop_ids(side, dropped, separator) for side in given)
    present = references.lengths > 0
    # Where all are missing, or the only one is empty, it is one empty reference: to raise would wait for the device.
    first = torch.cat((present[:, :1] | ~present.any(1, keepdim=True), present[:, 1:]), 1)
    return hypotheses, PaddedReferences(references, first)


def encode_ragged(given: Sentences, dropped: tuple[int, ...], device: torch.device) -> Batch:
    """Number the tokens of hypotheses and references alike, and lay them end to end; of ids, leave out ``dropped``."""
    sentences = given.hypotheses + given.references
    if sentences and all(isinstance(sentence, Tensor) for sentence in sentences):
        tokens = _from_tensors(given, dropped)
    else:
        tokens = number_tokens(listed_ids(given, dropped) if given.kind == "ids" else sentences, device, given.place)
    hypotheses = len(given.hypotheses)
    return Batch(
        tokens.slice(0, hypotheses),
        DocumentGroups(tokens.slice(hypotheses, len(sentences)), host_counts(given.counts)),
    )


def listed_ids(given: Sentences, dropped: tuple[int, ...], separator: int | None = None) -> list[Sequence[int]]:
    """Return the ids of each sentence, hypotheses first, without those that are no tokens.

    The ``separator`` stays, also where it is negative or ``dropped``.

    Raises:
        ValueError: another negative id that is not ``dropped``, in a sentence that was no row of a padded tensor.
    """
    lists: list[Sequence[int]]
    lists = [s.tolist() if isinstance(s, Tensor) else s for s in given.hypotheses + given.references]
    without = set(dropped) - {separator}
    if without:
        lists = [[token for token in sentence if token not in without] for sentence in lists]
    if min(chain.from_iterable(lists), default=0) >= 0:
        return lists
    padded = given.padded or [False] * len(lists)
    for index, sentence in enumerate(lists):
        if padded[index]:
            lists[index] = [token for token in sentence if token >= 0 or token == separator]
        else:
            refuse_negative(sentence, given.place(index), separator)
    return lists


def refuse_negative(ids: Sequence[int], where: str, separator: int | None = None) -> None:
    """Raise ValueError for a negative id that is not the separator; ``where`` names the sentence."""
    negative = next((token for token in ids if token < 0 and token != separator), None)
    if negative is not None:
        raise ValueError(
            f"{where} has the id {negative}: expected indices of a vocabulary, which are not negative, or a pad_id "
            "that names it as no token"
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


def _from_tensors(given: Sentences, dropped: tuple[int, ...]) -> RaggedTokens:
    sentences = given.hypotheses + given.references
    ids = torch.cat(sentences)
    lengths = host_counts(list(map(len, sentences)))
    if dropped:
        kept = torch.stack([ids != one for one in dropped]).all(0)
        if any(given.padded):
            # Rows of a padded tensor beside other sentences, whose negative ids are refused below.
            is_padded = torch.repeat_interleave(torch.tensor(given.padded, device="cpu"), lengths)
            kept &= (ids >= 0) | ~is_padded.to(ids.device)
        document = torch.repeat_interleave(lengths)
        lengths = torch.zeros_like(lengths).index_add(0, document, kept.cpu().long())
        ids = ids[kept]
    # One reduction for the whole batch; what follows waits for the device as well.
    if len(ids) and int(ids.min()) < 0:
        for index, sentence in enumerate(ids.split(lengths.tolist())):
            refuse_negative(sentence.tolist(), given.place(index))
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
