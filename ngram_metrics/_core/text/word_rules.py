"""What a word is: one table of rules, and the words of texts.

Each rule gives the same words as the tokenizer that it is named after. All texts are joined, with a line feed between
them. Expressions put spaces around characters that are words of their own, and ``str.split`` splits each line at
whitespace. So no word contains whitespace, and only the last step runs text by text.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import chain, groupby
from typing import NamedTuple

#: Follows the words of each text. No rule has it as a word.
END_OF_TEXT = "\n"

#: The letters and digits of Han, Hiragana and Katakana: the first and the last code point of each range. They are all
#: letters and numbers (category L or N) of Unicode 17.0 with one of these scripts in Script_Extensions. That includes
#: iteration marks, the ideographic zero and the prolonged sound mark. All half-width forms with their marks are added,
#: even the middle dot (U+FF65).
HAN_AND_KANA_RANGES = (
    (0x3005, 0x3007), (0x3021, 0x3029), (0x3031, 0x3035), (0x3038, 0x303C), (0x3041, 0x3096), (0x309D, 0x309F),
    (0x30A1, 0x30FA), (0x30FC, 0x30FF), (0x3192, 0x3195), (0x31F0, 0x31FF), (0x3220, 0x3229), (0x3280, 0x3289),
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFA6D), (0xFA70, 0xFAD9), (0xFF65, 0xFF9F), (0x16FE3, 0x16FE3),
    (0x16FF2, 0x16FF6), (0x1AFF0, 0x1AFF3), (0x1AFF5, 0x1AFFB), (0x1AFFD, 0x1AFFE), (0x1B000, 0x1B128),
    (0x1B132, 0x1B132), (0x1B150, 0x1B152), (0x1B155, 0x1B155), (0x1B164, 0x1B168), (0x1D360, 0x1D371),
    (0x20000, 0x2A6DF), (0x2A700, 0x2B81E), (0x2B820, 0x2CEAD), (0x2CEB0, 0x2EBE0), (0x2EBF0, 0x2EE5D),
    (0x2F800, 0x2FA1D), (0x30000, 0x3134A), (0x31350, 0x33479),
)  # fmt: skip

#: The letters (category L) of Thai, Lao, Burmese and Khmer. These scripts have no spaces between words, and finding
#: words in them takes a dictionary, as Unicode's rules for words (UAX 29) say.
SOUTHEAST_ASIAN_RANGES = (
    (0x0E01, 0x0E30), (0x0E32, 0x0E33), (0x0E40, 0x0E46), (0x0E81, 0x0E82), (0x0E84, 0x0E84), (0x0E86, 0x0E8A),
    (0x0E8C, 0x0EA3), (0x0EA5, 0x0EA5), (0x0EA7, 0x0EB0), (0x0EB2, 0x0EB3), (0x0EBD, 0x0EBD), (0x0EC0, 0x0EC4),
    (0x0EC6, 0x0EC6), (0x0EDC, 0x0EDF), (0x1000, 0x102A), (0x103F, 0x103F), (0x1050, 0x1055), (0x105A, 0x105D),
    (0x1061, 0x1061), (0x1065, 0x1066), (0x106E, 0x1070), (0x1075, 0x1081), (0x108E, 0x108E), (0x1780, 0x17B3),
    (0x17D7, 0x17D7), (0x17DC, 0x17DC), (0xA9E0, 0xA9E4), (0xA9E6, 0xA9EF), (0xA9FA, 0xA9FE), (0xAA60, 0xAA76),
    (0xAA7A, 0xAA7A), (0xAA7E, 0xAA7F),
)  # fmt: skip

#: The ranges that sacrebleu's ``zh`` treats as Chinese. Two of them were meant to be beyond U+FFFF. But ``\\u`` takes
#: four digits, so they are U+2001 to U+2A6D and U+2F81 to U+2FA1, with dashes, arrows and mathematics.
CHINESE_RANGES = (
    (0x2001, 0x2A6D), (0x2E80, 0x2EFF), (0x2F00, 0x2FDF), (0x2FF0, 0x303F), (0x3100, 0x312F), (0x31A0, 0x31BF),
    (0x31C0, 0x31EF), (0x3200, 0x4DB5), (0x4E00, 0x9FBB), (0xF900, 0xFA2D), (0xFA30, 0xFA6A), (0xFA70, 0xFAD9),
    (0xFE10, 0xFE1F), (0xFE30, 0xFE4F), (0xFF00, 0xFFEF),
)  # fmt: skip


class WordRule(NamedTuple):
    """A rule for what is a word.

    Attributes:
        prepare: rewrites a text. The result contains its words in order; ROUGE lowercases them later.
        set_apart: puts whitespace between the words of rewritten texts, which have a line feed before and after each.
    """

    prepare: Callable[[str], str] = str
    set_apart: Callable[[str], str] = str

    def words(self, texts: Sequence[str]) -> list[str]:
        r"""Return the words of all texts, with ``END_OF_TEXT`` after those of each text.

        For ``["a b", "c"]`` they are ``["a", "b", "\n", "c", "\n"]``.
        """
        prepared = [self.prepare(text).replace("\n", " ") for text in texts]
        words: list[str] = []
        for line in self.set_apart("\n".join(("", *prepared, ""))).split("\n")[1:-1]:
            words += line.split()
            words.append(END_OF_TEXT)
        return words


class _StopClasses(NamedTuple):
    """The characters of a rule that splits off stops such as ``.`` and ``,``, as insides of regular expression classes.

    A stop stays in a word only before a number. A single stop must also follow a number, and joins the two. In a run of
    stops the last one begins the word. mteval matches stops two characters at a time, so an odd run must follow a
    number, and an even run anything else.

    Attributes:
        symbols: are always words of their own.
        stops: are words of their own, except where numbers keep them.
        numbers: keep stops, and split off hyphens.
        hyphen: is a word of its own after a number.
        edge_is_number: whether the beginning and the end of a text count as numbers.
    """

    symbols: str
    stops: str
    numbers: str
    hyphen: str = ""
    edge_is_number: bool = False


def _set_stops_apart(classes: _StopClasses, texts: str) -> str:
    """Put spaces around symbols, around hyphens after numbers, and around stops that do not stay in a word."""
    return _set_characters_apart(_stop_expression(classes), texts)


@cache
def _stop_expression(classes: _StopClasses) -> re.Pattern[str]:
    """Return an expression for runs of characters that are words of their own."""
    symbols = _expand_categories(classes.symbols)
    stops = _expand_categories(classes.stops)
    numbers = _expand_categories(classes.numbers)
    edges = "\n" if classes.edge_is_number else ""
    symbol = f"[{symbols}]"
    stop = f"[{stops}]"
    number = f"[{numbers}{edges}]"
    other = f"[^{numbers}{edges}{stops}]"
    hyphen = f"(?<=[{numbers}]{classes.hyphen})" if classes.hyphen else "(?!)"
    return re.compile(
        rf"""([{_among_few_ranges(symbols + stops)}{classes.hyphen}](?:
            (?<={stop})(?:
                (?={other})                                       # a single stop before anything but a number
                | (?: (?<={number}.){stop} | (?<={other}.) )      # after a number the first two stops, else the first
                  (?: (?:{stop}{stop})*(?={stop}{number})         # all others but the last, which stays,
                      | {stop}* )                                 # or else all others
            )
            | (?<={symbol}){symbol}*
            | {hyphen}
        ))""",
        re.VERBOSE,
    )


def _set_scripts_apart(texts: str) -> str:
    """Put spaces around each Han and kana character and each Southeast Asian letter with its marks.

    Letters and numbers of other scripts form words, with the marks and format characters that follow them (rule WB4 of
    UAX 29), such as the zero-width joiners of Persian and Hindi. Spaces replace everything else.
    """
    others, heads, alone = _script_expressions()
    # The underscore is in \w, and the zero-width space is a format character, but both separate words.
    texts = others.sub(" ", texts.replace("_", " ").replace("\u200b", " "))
    return _set_characters_apart(alone, " ".join(heads.split(texts)))


@cache
def _script_expressions() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return expressions for what no word contains, for letters with their marks, and for runs of Han and kana."""
    alone = _class(HAN_AND_KANA_RANGES)
    heads = _class(SOUTHEAST_ASIAN_RANGES)
    marks = _expand_categories(r"\p{M}\p{F}")
    # \w has the letters and numbers of all scripts. A run of marks is replaced as a whole, unless it follows a letter.
    others = rf"[^\w\s{alone}](?:(?<![{marks}])|(?<![{marks}].)(?<![^\W{alone}].)[{marks}]*)"
    runs = f"([{_among_few_ranges(alone)}](?<=[{alone}])[{alone}]*)"
    return re.compile(others), re.compile(f"([{heads}][{marks}]*)"), re.compile(runs)


def _set_characters_apart(runs: re.Pattern[str], texts: str) -> str:
    """Put spaces around each character of the runs in the group of an expression."""
    parts = runs.split(texts)
    parts[1::2] = map(" ".join, parts[1::2])
    return " ".join(parts)


def _set_punctuation_apart(texts: str) -> str:
    """Split a punctuation character off the end of each word, or else off its beginning: chrF's words."""
    return " ".join(_CHRF_PUNCTUATION.split(texts))


def _fold_to_ascii(texts: str) -> str:
    """Lowercase ASCII letters, and put a space in place of all but these and digits: rouge_score's words."""
    if "\u0130" in texts or "\u212a" in texts:  # their lower case contains an ASCII letter
        texts = texts.lower()
    return texts.encode("latin-1", "replace").translate(_FOLDED_BYTES).decode("ascii")


def rouge_text(text: str) -> str:
    """Return the text for a tokenizer of ROUGE: in lower case, with a space for each run outside a-z and 0-9."""
    return re.sub("[^a-z0-9]+", " ", text.lower())


def _unescape(text: str) -> str:
    """Return a text as 13a splits it: with escapes replaced and without trailing whitespace."""
    text = text.rstrip()
    if "&" in text or "\n" in text or "<skipped>" in text:
        for escape, character in _ESCAPES:
            text = text.replace(escape, character)
    return text


def compose(text: str) -> str:
    """Return a text in Unicode's form NFC, in linear time."""
    if unicodedata.is_normalized("NFC", text):
        return text
    return unicodedata.normalize("NFC", re.sub(_MANY_MARKS, _order_marks, text))


def _lower_and_compose(text: str) -> str:
    """Return a text in lower case and in Unicode's form NFC."""
    return compose(text.lower())


def _order_marks(run: re.Match[str]) -> str:
    """Return a run of marks in Unicode's canonical order. ``unicodedata`` would take quadratic time for it."""
    decomposed = chain.from_iterable(map(partial(unicodedata.normalize, "NFD"), run[0]))
    parts = groupby(decomposed, key=lambda character: unicodedata.combining(character) > 0)
    return "".join(chain.from_iterable(sorted(part, key=unicodedata.combining) for _, part in parts))


def _class(ranges: Sequence[tuple[int, int]]) -> str:
    return "".join(f"{re.escape(chr(first))}-{re.escape(chr(last))}" for first, last in ranges)


def _among_few_ranges(characters: str) -> str:
    """Return the inside of a larger class with few ranges, because ``re`` tries ranges beyond U+FFFF one by one."""
    return re.sub("[\U00010000-\U0010ffff]-?", "", characters) + "\U00010000-\U0010ffff"


def _expand_categories(characters: str) -> str:
    r"""Replace ``\p{...}`` in the inside of a class by all characters of that general category of Unicode.

    ``\p{F}`` is the category Cf, format characters.
    """
    return re.sub(r"\\p\{(.)\}", lambda category: _categories()[category[1]], characters)


@cache
def _categories() -> dict[str, str]:
    """Return the inside of a class for each general category, by its first letter."""
    classes = dict.fromkeys("FMNPS", "")
    for first, stop in ((0, 0x20000), (0xE0000, 0xE01F0)):  # ideographs lie between, and private use beyond
        # One letter for each code point: the first of its category, but F for Cf.
        categories = map(unicodedata.category, map(chr, range(first, stop)))
        letters = "".join("F" if category == "Cf" else category[0] for category in categories)
        for run in re.finditer(r"([FMNPS])\1*", letters):
            classes[run[1]] += _class([(first + run.start(), first + run.end() - 1)])
    return classes


#: What 13a replaces, in this order.
_ESCAPES = (("<skipped>", ""), ("-\n", ""), ("\n", " "), ("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
#: A long run of possible combining marks: characters that are not ASCII, letters, digits or spaces.
_MANY_MARKS = r"[^\w\s\x00-\x7f]{32,}"
#: The ASCII punctuation that 13a always splits off: all but the apostrophe, the stops and the hyphen.
_SYMBOLS = r"!-&(-+/:-@\[-`{-~"
_MTEVAL = _StopClasses(_SYMBOLS, ".,", "0-9", r"\-")
_CHINESE = _MTEVAL._replace(symbols=_SYMBOLS + _class(CHINESE_RANGES), edge_is_number=True)
_INTERNATIONAL = _StopClasses(r"\p{S}", r"\p{P}", r"\p{N}", edge_is_number=True)
_PUNCTUATION = re.escape(string.punctuation)
_CHRF_PUNCTUATION = re.compile(rf"([{_PUNCTUATION}](?:(?!\S)|(?<!\S.)(?=\S*[^\s{_PUNCTUATION}](?!\S))))")
_KEPT_BYTES = f"\n{string.digits}{string.ascii_lowercase}".encode()
_FOLDED_BYTES = bytes(byte if byte in _KEPT_BYTES else ord(" ") for byte in bytes(range(256)).lower())

#: The rules by the values of ``tokenizer``: sacrebleu's rules under sacrebleu's names, and ours.
RULES: dict[str | None, WordRule] = {
    None: WordRule(),
    "none": WordRule(),
    "13a": WordRule(_unescape, partial(_set_stops_apart, _MTEVAL)),
    "intl": WordRule(str.rstrip, partial(_set_stops_apart, _INTERNATIONAL)),
    "zh": WordRule(str.strip, partial(_set_stops_apart, _CHINESE)),
    "char": WordRule(set_apart=" ".join),
    "unicode": WordRule(_lower_and_compose, _set_scripts_apart),
}
#: The rules of rouge_score, and of the words of chrF++.
ROUGE_WORDS = WordRule(set_apart=_fold_to_ascii)
CHRF_WORDS = WordRule(set_apart=_set_punctuation_apart)
