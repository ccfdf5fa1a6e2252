"""Porter stems, as rouge_score takes them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache


def porter_stemmer() -> Callable[[str], str]:
    """Return rouge_score's stemming: nltk's Porter stemmer for words of more than three characters.

    Raises:
        ModuleNotFoundError: nltk is not installed.
    """
    try:
        from nltk.stem.porter import PorterStemmer
    except ImportError as error:
        raise ModuleNotFoundError("use_stemmer=True needs nltk, which is not installed: pip install nltk") from error
    stem = PorterStemmer().stem

    # A stem costs as much as counting a hundred words, and words recur from batch to batch.
    @lru_cache(maxsize=1 << 16)
    def long_words_stemmed(word: str) -> str:
        return stem(word) if len(word) > 3 else word

    return long_words_stemmed
