"""The types of ``preds``, ``target`` and ``tokenizer``."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from ngram_metrics._core.text.tokenizer_option import TokenizerName

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

#: A segment of text, tokens or ids. A str is a sequence of str, so this includes text.
Document: TypeAlias = "Sequence[Hashable] | Tensor | NDArray[np.generic]"
#: One document per segment, or one padded integer tensor or array. A single str is one segment.
Hypotheses: TypeAlias = "Sequence[Document] | Document"
#: For each segment one reference or a list of references.
References: TypeAlias = "Sequence[Document | Sequence[Document]] | Document"
#: Rows of documents, see ``_core.text.pool_reader``, or one padded integer tensor or array.
Rows: TypeAlias = "Sequence[Sequence[Document] | Document] | Document"


class FastTokenizer(Protocol):
    """A ``tokenizers.Tokenizer``."""

    def encode_batch(self, *args: Any, **kwargs: Any) -> Sequence[object]:
        """Return the encodings of texts."""


class PretrainedTokenizer(Protocol):
    """A tokenizer of ``transformers``."""

    def convert_ids_to_tokens(self, *args: Any, **kwargs: Any) -> object:
        """Return the tokens of ids."""


class SentencePiece(Protocol):
    """A ``sentencepiece.SentencePieceProcessor``."""

    def serialized_model_proto(self) -> bytes:
        """Return the model as bytes."""


#: See ``_core.text.tokenizer_option``.
Tokenizer: TypeAlias = (
    TokenizerName | Callable[[str], Sequence[Hashable]] | FastTokenizer | PretrainedTokenizer | SentencePiece
)
