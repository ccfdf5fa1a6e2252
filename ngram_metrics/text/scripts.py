"""The letters and digits of Han, Hiragana and Katakana, from Unicode's data and not from the names of characters.

The standard library has no data on scripts. The ranges were taken from Unicode 17.0: letters and numbers (general
category L or N) that are used with one of the three scripts (property Script_Extensions). They include the iteration
marks, the ideographic zero, the prolonged sound mark, which Hiragana and Katakana share, and all half-width forms with
their marks, even the middle dot (U+FF65).
"""

from __future__ import annotations

import sys
from bisect import bisect_right

#: First and last code point of each range, ascending.
HAN_AND_KANA_RANGES = (
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

#: The ranges that sacrebleu's ``zh`` treats as Chinese. Two of them should be beyond U+FFFF, but ``\\u`` takes four
#: digits: they are read as U+2001 to U+2A6D and U+2F81 to U+2FA1, which contain dashes, arrows and mathematics.
CHINESE_RANGES = (
    (0x2001, 0x2A6D),
    (0x2E80, 0x2EFF),
    (0x2F00, 0x2FDF),
    (0x2FF0, 0x303F),
    (0x3100, 0x312F),
    (0x31A0, 0x31BF),
    (0x31C0, 0x31EF),
    (0x3200, 0x4DB5),
    (0x4E00, 0x9FBB),
    (0xF900, 0xFA2D),
    (0xFA30, 0xFA6A),
    (0xFA70, 0xFAD9),
    (0xFE10, 0xFE1F),
    (0xFE30, 0xFE4F),
    (0xFF00, 0xFFEF),
)


def is_han_or_kana(code_point: int) -> bool:
    """Return whether a code point is a letter or digit of Han, Hiragana or Katakana."""
    return _lies_in(HAN_AND_KANA_RANGES, code_point)


def is_chinese(code_point: int) -> bool:
    """Return whether sacrebleu's ``zh`` makes a code point a word by itself."""
    return _lies_in(CHINESE_RANGES, code_point)


def _lies_in(ranges: tuple[tuple[int, int], ...], code_point: int) -> bool:
    index = bisect_right(ranges, (code_point, sys.maxunicode)) - 1
    return index >= 0 and code_point <= ranges[index][1]
