"""The letters and digits of Han, Hiragana and Katakana, by Unicode's own data rather than by their names.

The standard library knows no scripts. The ranges were taken from Unicode 17.0: what is a letter or a number (general
category L or N) and is used with one of the three scripts (property Script_Extensions). Among them are the iteration
marks, the ideographic zero, and the prolonged sound mark, which Hiragana and Katakana share. The half-width forms are
there with all their marks, the middle dot (U+FF65) included.
"""

from __future__ import annotations

from bisect import bisect_right

#: First and last code point of each range, ascending.
_RANGES = (
    (0x3005, 0x3007),
    (0x3021, 0x3029),
    (0x3031, 0x3035),
    (0x3038, 0x303C),
    (0x3041, 0x3096),
    (0x309D, 0x309F),
    (0x30A1, 0x30FA),
    (0x30FC, 0x30FF),
    (0x3192, 0x3195),
    (0x31F0, 0x31FF),
    (0x3220, 0x3229),
    (0x3280, 0x3289),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFA6D),
    (0xFA70, 0xFAD9),
    (0xFF65, 0xFF9F),
    (0x16FE3, 0x16FE3),
    (0x16FF2, 0x16FF6),
    (0x1AFF0, 0x1AFF3),
    (0x1AFF5, 0x1AFFB),
    (0x1AFFD, 0x1AFFE),
    (0x1B000, 0x1B128),
    (0x1B132, 0x1B132),
    (0x1B150, 0x1B152),
    (0x1B155, 0x1B155),
    (0x1B164, 0x1B168),
    (0x1D360, 0x1D371),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B81E),
    (0x2B820, 0x2CEAD),
    (0x2CEB0, 0x2EBE0),
    (0x2EBF0, 0x2EE5D),
    (0x2F800, 0x2FA1D),
    (0x30000, 0x3134A),
    (0x31350, 0x33479),
)
_STARTS = [first for first, _ in _RANGES]


def is_han_or_kana(code_point: int) -> bool:
    """Tell whether a code point is a letter or digit of Han, Hiragana or Katakana."""
    index = bisect_right(_STARTS, code_point) - 1
    return index >= 0 and code_point <= _RANGES[index][1]
