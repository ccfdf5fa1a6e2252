"""In how many segments of a corpus of references each n-gram occurs: the table that CIDEr-D weighs n-grams by."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import torch
from torch import Tensor

from ngram_metrics._core.basics.output import open_output
from ngram_metrics._core.counting.corpus import corpus_ngrams
from ngram_metrics._core.counting.documents import DocumentGroups, copy_to, float_dtype, owners

#: The number of the layout of a file; one more for each change.
_LAYOUT = 1


@dataclass(frozen=True, eq=False, repr=False)
class DocumentFrequency:
    """A table of document frequencies, as ``ngram_metrics.functional.document_frequency`` counts it.

    Two tables with the same contents are equal. A table can be pickled, and saved with ``save``.

    Attributes:
        tokens: the distinct tokens of the corpus: words, or ids in ascending order.
        kind: ``"words"``, of texts or tokens, or ``"ids"``.
        tokenizer: how texts were split into words, as a signature writes it.
        segments: the number of segments of the corpus.
        counts: for each order ``(ngrams,)`` int64 on the CPU, the number of segments that have each n-gram.
        keys: for each order above 1 ``(ngrams,)`` int64 on the CPU, see
            ``_core.counting.weighted_matches.NgramWeights``.
    """

    tokens: Sequence[Hashable]
    kind: Literal["words", "ids"]
    tokenizer: str
    segments: int
    counts: Sequence[Tensor]
    keys: Sequence[Tensor]
    _on_device: dict[torch.device, tuple[Tensor, list[Tensor], list[Tensor]]] = field(default_factory=dict, init=False)

    @property
    def ngram(self) -> int:
        """The longest order."""
        return len(self.counts)

    @cached_property
    def numbers(self) -> dict[Hashable, int]:
        """The number of each token."""
        return {token: index for index, token in enumerate(self.tokens)}

    @cached_property
    def digest(self) -> str:
        """A digest of the contents: equal tables in any process have equal digests."""
        sha256 = hashlib.sha256(
            repr((self.kind, self.tokenizer, self.segments, list(self.tokens))).encode("utf-8", "replace")
        )
        for numbers in (*self.counts, *self.keys):
            sha256.update(numbers.numpy().tobytes())
        return sha256.hexdigest()

    def to_device(self, device: torch.device) -> tuple[Tensor, list[Tensor], list[Tensor]]:
        """Return the ids that fit int64, ascending, the keys, and the weights of ``NgramWeights``, copied only once.

        The weight of an n-gram is ln(segments / frequency), at most ln(segments).
        """
        if device not in self._on_device:
            dtype = float_dtype(device)
            most = math.log(self.segments)
            weights = []
            for counts in self.counts:
                unknown = torch.full((1,), most, dtype=torch.float64, device="cpu")
                weights.append(torch.cat((most - counts.double().log(), unknown)).to(dtype))
            # A tensor holds no larger ids; in lists they are looked up in ``numbers``.
            most_id = torch.iinfo(torch.int64).max
            ids = [token for token in self.tokens if isinstance(token, int) and token <= most_id]
            corpus_ids = torch.tensor(ids if self.kind == "ids" else (), dtype=torch.int64, device="cpu")
            corpus_ids, *keys = copy_to(device, corpus_ids, *self.keys)
            self._on_device[device] = corpus_ids, keys, copy_to(device, *weights)
        return self._on_device[device]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file of JSON, which ``load`` reads.

        Raises:
            TypeError: a token that is neither a ``str`` nor an integer; pickle the table instead.
            ValueError: an integer of more digits than Python writes, which are 4,300.
            OSError: the file could not be written. A file that was there remains.
        """
        for token in self.tokens:
            if isinstance(token, bool) or not isinstance(token, (str, int)):
                raise TypeError(f"the table has the token {token!r:.60}: expected str or int, which JSON can hold")
        parts = {name: getattr(self, name) for name in ("kind", "tokenizer", "segments")}
        numbers = {name: [tensor.tolist() for tensor in getattr(self, name)] for name in ("counts", "keys")}
        contents = {"layout": _LAYOUT, **parts, "tokens": list(self.tokens), **numbers}
        text = json.dumps(contents, ensure_ascii=False)
        # Escapes of two surrogates would be read as one character.
        with open_output(os.fsdecode(path), "surrogatepass") as write:
            write(text)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> DocumentFrequency:
        """Read a table from a file that ``save`` wrote.

        Raises:
            ValueError: a file that ``save`` did not write.
        """
        try:
            with open(path, encoding="utf-8", errors="surrogatepass") as file:
                return _read_parts(json.load(file))
        except (ValueError, RecursionError) as error:
            raise ValueError(
                f"{os.fspath(path)} is not a table of document frequencies, or one of another version: {error}"
            ) from error

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DocumentFrequency) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"DocumentFrequency({self.segments} segments, {len(self.tokens)} tokens, orders 1 to {self.ngram})"

    def __getstate__(self) -> dict[str, Any]:
        names = ("tokens", "kind", "tokenizer", "segments", "counts", "keys")
        return {"_on_device": {}, **{name: getattr(self, name) for name in names}}


def counted_in_segments(
    references: DocumentGroups, ngram: int, tokens: Sequence[Hashable], kind: Literal["words", "ids"], tokenizer: str
) -> DocumentFrequency:
    """Count in how many segments each n-gram up to the order ``ngram`` occurs.

    Each id of the references is the number of a token, and each token occurs.
    """
    counts, keys = [], []
    for order, ngrams in enumerate(corpus_ngrams(references.tokens, ngram, owners(references.counts)), 1):
        counts.append(ngrams.documents())
        if order > 1:
            keys.append(ngrams.prefix * len(tokens) + ngrams.last)
    return DocumentFrequency(tuple(tokens), kind, tokenizer, len(references.counts), tuple(counts), tuple(keys))


def _read_parts(parts: Any) -> DocumentFrequency:
    """Return the table of the contents of a file, or raise ValueError with the name of a wrong key."""
    names = ["layout", "kind", "tokenizer", "segments", "tokens", "counts", "keys"]
    if not isinstance(parts, dict) or set(parts) != set(names):
        raise ValueError(f"expected an object with the keys {names}")
    kind, tokens, segments = parts["kind"], parts["tokens"], parts["segments"]
    _require(parts["layout"] == _LAYOUT, f"layout is {parts['layout']!r:.60}: expected {_LAYOUT}")
    _require(kind in ("words", "ids"), f"kind is {kind!r:.60}: expected 'words' or 'ids'")
    _require(isinstance(parts["tokenizer"], str), "tokenizer is not text")
    _require(
        type(segments) is int and segments >= 0, f"segments is {segments!r:.60}: expected an integer of at least 0"
    )
    token_type = str if kind == "words" else int
    _require(isinstance(tokens, list) and set(map(type, tokens)) <= {token_type}, f"tokens are not a list of {kind}")
    _require(len(set(tokens)) == len(tokens), "tokens has a token twice")
    _require(kind == "words" or tokens == sorted(tokens), "tokens are ids out of order")
    for name in ("counts", "keys"):
        is_list_of_lists = isinstance(parts[name], list) and all(isinstance(numbers, list) for numbers in parts[name])
        _require(is_list_of_lists, f"{name} are not a list for each order")
    counts, keys = parts["counts"], parts["keys"]
    _require(len(counts) == len(keys) + 1, f"counts has {len(counts)} orders and keys {len(keys)}: expected one more")
    _require(len(counts[0]) == len(tokens), f"counts of order 1 are {len(counts[0])}, for {len(tokens)} tokens")
    for order, numbers in enumerate(keys, 2):
        _require(len(counts[order - 1]) == len(numbers), f"counts and keys of order {order} differ in number")
    count_tensors = [_read_integers(counts[0], "counts of order 1", 1, segments)]
    key_tensors = []
    for order, numbers in enumerate(keys, 2):
        count_tensors.append(_read_integers(counts[order - 1], f"counts of order {order}", 1, segments))
        highest = len(counts[order - 2]) * len(tokens) - 1
        key_tensors.append(_read_integers(numbers, f"keys of order {order}", 0, highest))
        _require(bool((key_tensors[-1].diff() > 0).all()), f"keys of order {order} are out of order")
    return DocumentFrequency(
        tuple(tokens), kind, parts["tokenizer"], segments, tuple(count_tensors), tuple(key_tensors)
    )


def _read_integers(numbers: list[Any], name: str, lowest: int, highest: int) -> Tensor:
    """Return integers of a range as a tensor ``(numbers,)`` int64."""
    for value in numbers:
        if type(value) is not int or not lowest <= value <= highest:
            raise ValueError(f"{name} have {value!r:.60}: expected integers from {lowest} to {highest}")
    return torch.tensor(numbers, dtype=torch.int64, device="cpu")


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)
