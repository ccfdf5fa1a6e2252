"""The tokenizers that have a name. Imports nothing, so the command line knows them before torch is there."""

from __future__ import annotations

from typing import Literal, TypeAlias

#: Those of :mod:`ngram_metrics.text.rules`, and sacrebleu's that ask MeCab.
TokenizerName: TypeAlias = Literal["13a", "char", "intl", "ja-mecab", "ko-mecab", "none", "unicode", "zh"]
