"""The types of ``preds``, ``target`` and ``tokenizer``."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from ngram_metrics.text.tokenizer_option import TokenizerName

#: A segment of text, of tokens or of ids. A str is a sequence of str, so this covers text too.
Document: TypeAlias = Sequence[Hashable] | Tensor | NDArray[np.generic]
#: One document per segment, or one padded integer tensor or array; a single str is one segment.
Hypotheses: TypeAlias = Sequence[Document] | Document
#: One reference, or a list of references, for each segment.
References: TypeAlias = Sequence[Document | Sequence[Document]] | Document
#: Rows of documents, see ``ngram_metrics.text.groups``, or one padded integer tensor or array.
Groups: TypeAlias = Sequence[Sequence[Document] | Document] | Document


class FastTokenizer(Protocol):
    """A ``tokenizers.Tokenizer``."""

    @property
    def encode_batch(self) -> Callable[..., Sequence[object]]:
        """A function that returns the encodings of texts."""


class PretrainedTokenizer(Protocol):
    """A tokenizer of ``transformers``."""

    @property
    def convert_ids_to_tokens(self) -> Callable[..., object]:
        """A function that returns the tokens of ids."""


class SentencePiece(Protocol):
    """A ``sentencepiece.SentencePieceProcessor``."""

    @property
    def serialized_model_proto(self) -> Callable[[], bytes]:
        """A function that returns the model as bytes."""


#: See ``ngram_metrics.text.tokenizer_option``.
Tokenizer: TypeAlias = (
    TokenizerName | Callable[[str], Sequence[Hashable]] | FastTokenizer | PretrainedTokenizer | SentencePiece
)
