"""What callers may pass, as types; :mod:`ngram_metrics.text.door` tells them apart."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from ngram_metrics.text.tokenizer_names import TokenizerName

#: A sentence of text, of tokens or of ids. A str is a sequence of str, so this covers text too.
Document: TypeAlias = Sequence[Hashable] | Tensor | NDArray[np.generic]
#: One sentence each, or one padded integer tensor or array; a lone str is one sentence.
Hypotheses: TypeAlias = Sequence[Document] | Document
#: One reference for each sentence, or a list of them.
References: TypeAlias = Sequence[Document | Sequence[Document]] | Document
#: Groups of documents, all to be compared with each other, or one padded integer tensor or array.
Groups: TypeAlias = Sequence[Sequence[Document] | Document] | Document


class FastTokenizer(Protocol):
    """A ``tokenizers.Tokenizer``."""

    @property
    def encode_batch(self) -> Callable[..., Sequence[object]]:
        """Return the encodings of texts."""


class PretrainedTokenizer(Protocol):
    """A tokenizer of ``transformers``."""

    @property
    def convert_ids_to_tokens(self) -> Callable[..., object]:
        """Return the tokens of ids."""


class SentencePiece(Protocol):
    """A ``sentencepiece.SentencePieceProcessor``."""

    @property
    def serialized_model_proto(self) -> Callable[[], bytes]:
        """Return the model."""


#: See :mod:`ngram_metrics.text.tokenizers`.
Tokenizer: TypeAlias = (
    TokenizerName | Callable[[str], Sequence[Hashable]] | FastTokenizer | PretrainedTokenizer | SentencePiece
)
