"""Words by rule: rouge_score's, one for every script, and Porter stems.

:func:`ascii_words` is the rule of google's rouge_score and of torchmetrics: lowercase, and every run of what is not
``a-z0-9`` parts two words. A text in any other script has no word by this rule and scores 0.
:func:`unicode_words` is ours, ``tokenizer="unicode"``: lowercase, and letters, marks and digits of every script make
words. Letters and digits of Han, Hiragana and Katakana, which no blank parts, are words by themselves; other scripts
without blanks, such as Thai, need a tokenizer that knows them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

from ngram_metrics.text.scripts import is_han_or_kana

#: From a byte to itself where it is a letter or a digit in lower case, else to a blank.
_KEPT_BYTES = bytes(one if chr(one).isascii() and chr(one).isalnum() else 0x20 for one in range(256))


def ascii_words(text: str) -> list[str]:
    """Return rouge_score's words: ``"Don't stop, Zoë!"`` gives ``don t stop zo``."""
    # Lowercase first: a few letters outside ASCII have an ASCII lower case. '?' stands for the rest, and is no letter.
    return text.lower().encode("ascii", "replace").translate(_KEPT_BYTES).decode("ascii").split()


def ascii_text(text: str) -> str:
    """Return the text that rouge_score splits into words: lowercase, a blank for every run of what is no word."""
    return re.sub("[^a-z0-9]+", " ", text.lower())


def unicode_words(text: str) -> list[str]:
    """Return the words of any script, composed (NFC): ``"Zoë's 東京!"`` gives ``zoë s 東 京``."""
    words = unicodedata.normalize("NFC", text.lower()).translate(_kept_characters).split()
    # Marks alone, such as the variation selector of an emoji, are no word.
    return [word for word in words if word.isalnum() or not all(map(_is_mark, word))]


def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] == "M"


class _KeptCharacters(dict[int, str]):
    """For ``str.translate``: what becomes of a character, found out when it is first seen."""

    def __missing__(self, code_point: int) -> str:
        character = chr(code_point)
        kept = character if unicodedata.category(character)[0] in "LMN" else " "
        if is_han_or_kana(code_point):
            kept = f" {character} "
        self[code_point] = kept
        return kept


_kept_characters = _KeptCharacters()


def porter_stemmer() -> Callable[[str], str]:
    """Return rouge_score's stemming: nltk's Porter stemmer for words of more than three characters.

    Raises:
        ModuleNotFoundError: nltk is not installed.
    """
    try:
        from nltk.stem.porter import PorterStemmer
    except ImportError as error:
        raise ModuleNotFoundError(
            "use_stemmer=True needs nltk, which is not installed: pip install 'ngram-metrics[stem]'"
        ) from error
    stem = PorterStemmer().stem

    # A stem costs as much as counting a hundred words, and words recur from batch to batch.
    @lru_cache(maxsize=1 << 16)
    def long_words_stemmed(word: str) -> str:
        return stem(word) if len(word) > 3 else word

    return long_words_stemmed
