"""The names of tokenizers. Imports no torch, so the command line can check them before it imports torch."""

from __future__ import annotations

from typing import Literal, TypeAlias

#: The rules of :mod:`ngram_metrics.text.rules`, and sacrebleu's tokenizers that use MeCab.
TokenizerName: TypeAlias = Literal["13a", "char", "intl", "ja-mecab", "ko-mecab", "none", "unicode", "zh"]
