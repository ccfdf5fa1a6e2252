"""What a word is: one table of rules, and the words of a single text, by one expression for each rule.

Each rule gives the same words as the tokenizer after which it is named. Words are always split at whitespace, as by
``str.split``. ``_core.text.word_bounds`` finds the words of many texts at once by the same table.

The rules 13a, zh and intl split off stops, such as ``.`` and ``,``. A stop stays in a word only if a number follows. A
single stop must follow a number too, and joins the two. The last stop of a run begins a word instead. As mteval matches
stops two characters at a time, an odd run must then follow a number, and an even run anything else.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import chain, groupby
from typing import NamedTuple

#: The letters and digits of Han, Hiragana and Katakana: the first and the last code point of each range. They are the
#: letters and numbers (category L or N) of Unicode 17.0 that are used with one of the three scripts (property
#: Script_Extensions), such as iteration marks, the ideographic zero and the prolonged sound mark, and all half-width
#: forms with their marks, even the middle dot (U+FF65).
HAN_AND_KANA_RANGES = (
    (0x3005, 0x3007), (0x3021, 0x3029), (0x3031, 0x3035), (0x3038, 0x303C), (0x3041, 0x3096), (0x309D, 0x309F),
    (0x30A1, 0x30FA), (0x30FC, 0x30FF), (0x3192, 0x3195), (0x31F0, 0x31FF), (0x3220, 0x3229), (0x3280, 0x3289),
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFA6D), (0xFA70, 0xFAD9), (0xFF65, 0xFF9F), (0x16FE3, 0x16FE3),
    (0x16FF2, 0x16FF6), (0x1AFF0, 0x1AFF3), (0x1AFF5, 0x1AFFB), (0x1AFFD, 0x1AFFE), (0x1B000, 0x1B128),
    (0x1B132, 0x1B132), (0x1B150, 0x1B152), (0x1B155, 0x1B155), (0x1B164, 0x1B168), (0x1D360, 0x1D371),
    (0x20000, 0x2A6DF), (0x2A700, 0x2B81E), (0x2B820, 0x2CEAD), (0x2CEB0, 0x2EBE0), (0x2EBF0, 0x2EE5D),
    (0x2F800, 0x2FA1D), (0x30000, 0x3134A), (0x31350, 0x33479),
)  # fmt: skip

#: The letters (category L) of Thai, Lao, Burmese and Khmer, which have no spaces between words. To find words in these
#: scripts takes a dictionary, as Unicode's rules for words (UAX 29) say.
SOUTHEAST_ASIAN_RANGES = (
    (0x0E01, 0x0E30), (0x0E32, 0x0E33), (0x0E40, 0x0E46), (0x0E81, 0x0E82), (0x0E84, 0x0E84), (0x0E86, 0x0E8A),
    (0x0E8C, 0x0EA3), (0x0EA5, 0x0EA5), (0x0EA7, 0x0EB0), (0x0EB2, 0x0EB3), (0x0EBD, 0x0EBD), (0x0EC0, 0x0EC4),
    (0x0EC6, 0x0EC6), (0x0EDC, 0x0EDF), (0x1000, 0x102A), (0x103F, 0x103F), (0x1050, 0x1055), (0x105A, 0x105D),
    (0x1061, 0x1061), (0x1065, 0x1066), (0x106E, 0x1070), (0x1075, 0x1081), (0x108E, 0x108E), (0x1780, 0x17B3),
    (0x17D7, 0x17D7), (0x17DC, 0x17DC), (0xA9E0, 0xA9E4), (0xA9E6, 0xA9EF), (0xA9FA, 0xA9FE), (0xAA60, 0xAA76),
    (0xAA7A, 0xAA7A), (0xAA7E, 0xAA7F),
)  # fmt: skip

#: The ranges that sacrebleu's ``zh`` treats as Chinese. Two of them should be beyond U+FFFF, but ``\\u`` takes four
#: digits: they are read as U+2001 to U+2A6D and U+2F81 to U+2FA1, which contain dashes, arrows and mathematics.
CHINESE_RANGES = (
    (0x2001, 0x2A6D), (0x2E80, 0x2EFF), (0x2F00, 0x2FDF), (0x2FF0, 0x303F), (0x3100, 0x312F), (0x31A0, 0x31BF),
    (0x31C0, 0x31EF), (0x3200, 0x4DB5), (0x4E00, 0x9FBB), (0xF900, 0xFA2D), (0xFA30, 0xFA6A), (0xFA70, 0xFAD9),
    (0xFE10, 0xFE1F), (0xFE30, 0xFE4F), (0xFF00, 0xFFEF),
)  # fmt: skip


class Members(NamedTuple):
    """The characters of a class of a regular expression, and of general categories of Unicode."""

    written: str = ""
    categories: str = ""

    def has(self, character: str) -> bool:
        """Return whether a character is one of them."""
        if self.written and re.match(f"[{self.written}]", character):
            return True
        return unicodedata.category(character)[0] in self.categories

    def pattern(self) -> str:
        """Return all of them, as they are written in a class of an expression."""
        return self.written + "".join(_categories()[letter] for letter in self.categories)


class WordRule(NamedTuple):
    """A rule for what is a word. A character is of the first kind that has it, and whitespace is of none.

    Attributes:
        symbols: words by themselves.
        stops: words by themselves, except those that numbers keep, see the module.
        numbers: they keep stops, and part hyphens.
        hyphens: words by themselves after a number.
        marks: parts of a word; marks alone are not a word.
        heads: words with the marks that follow them.
        letters: the other parts of a word; if there are none, everything else is.
        edge_is_number: whether the beginning and the end of a text count as numbers.
        prepare: rewrites a text first.
    """

    symbols: Members = Members()
    stops: Members = Members()
    numbers: Members = Members()
    hyphens: Members = Members()
    marks: Members = Members()
    heads: Members = Members()
    letters: Members = Members()
    edge_is_number: bool = False
    prepare: Callable[[str], str] = str


def unescape(text: str) -> str:
    """Return a text as 13a splits it: without trailing whitespace, escapes replaced."""
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


def lower_and_compose(text: str) -> str:
    """Return a text in lower case and in Unicode's form NFC."""
    return compose(text.lower())


def _order_marks(run: re.Match[str]) -> str:
    """Return a run of marks in Unicode's canonical order, which ``unicodedata`` finds in quadratic time."""
    decomposed = chain.from_iterable(map(partial(unicodedata.normalize, "NFD"), run[0]))
    parts = groupby(decomposed, key=lambda character: unicodedata.combining(character) > 0)
    return "".join(chain.from_iterable(sorted(part, key=unicodedata.combining) for _, part in parts))


def _class(ranges: Sequence[tuple[int, int]]) -> str:
    return "".join(f"{re.escape(chr(first))}-{re.escape(chr(last))}" for first, last in ranges)


#: What 13a replaces, in this order.
_ESCAPES = (("<skipped>", ""), ("-\n", ""), ("\n", " "), ("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
#: A long run of characters that may be combining marks, which are neither ASCII nor letters, digits or spaces.
_MANY_MARKS = r"[^\w\s\x00-\x7f]{32,}"
#: The ASCII punctuation that 13a makes words by themselves: all but the apostrophe, the stops and the hyphen.
_SYMBOLS = r"!-&(-+/:-@\[-`{-~"
_MTEVAL = WordRule(Members(_SYMBOLS), Members(".,"), Members("0-9"), Members(r"\-"), prepare=unescape)
#: The rules by the names that ``tokenizer`` takes: sacrebleu's rules under sacrebleu's names, and ours.
WORD_RULES = {
    "13a": _MTEVAL,
    "intl": WordRule(Members("", "S"), Members("", "P"), Members("", "N"), edge_is_number=True, prepare=str.rstrip),
    "zh": _MTEVAL._replace(symbols=Members(_SYMBOLS + _class(CHINESE_RANGES)), edge_is_number=True, prepare=str.strip),
    "char": WordRule(Members(r"\S")),
    "none": WordRule(),
    "unicode": WordRule(
        Members(_class(HAN_AND_KANA_RANGES)),
        marks=Members("", "M"),
        heads=Members(_class(SOUTHEAST_ASIAN_RANGES)),
        letters=Members("", "LN"),
        prepare=lower_and_compose,
    ),
}
#: The rule of rouge_score.
ROUGE_RULE = WordRule(letters=Members("a-z0-9"), prepare=str.lower)


def split_rouge(text: str) -> list[str]:
    """Split as rouge_score."""
    if "\u0130" in text or "\u212a" in text:  # their lower case has a letter of ASCII
        return re.findall(f"[{ROUGE_RULE.letters.written}]+", text.lower())
    return text.encode("latin-1", "replace").translate(_rouge_bytes()).decode("ascii").split()


def rouge_text(text: str) -> str:
    """Return the text that a tokenizer of ROUGE gets: in lower case, with a space for each run of other characters."""
    return re.sub(f"[^{ROUGE_RULE.letters.written}]+", " ", text.lower())


@cache
def _rouge_bytes() -> bytes:
    """Return what replaces each byte: a space, but for letters and digits."""
    return bytes(byte if ROUGE_RULE.letters.has(chr(byte)) else ord(" ") for byte in bytes(range(256)).lower())


def split_unicode(text: str) -> list[str]:
    """Split words of all scripts, in lower case."""
    return _unicode_expression().findall(lower_and_compose(text))


def prepare_texts(texts: Sequence[str], lowercase: bool) -> Sequence[str]:
    """Return texts as they are split into words or characters."""
    return list(map(str.lower, texts)) if lowercase else texts


def remove_whitespace(text: str) -> str:
    """Return the characters without whitespace."""
    return "".join(text.split())


def split_chrf(text: str) -> list[str]:
    """Split off the last character of each word if it is punctuation, else the first."""
    words: list[str] = []
    for word in text.split():
        if len(word) > 1 and word[-1] in string.punctuation:
            words += word[:-1], word[-1]
        elif len(word) > 1 and word[0] in string.punctuation:
            words += word[0], word[1:]
        else:
            words.append(word)
    return words


def _split_13a(text: str) -> list[str]:
    """Split word by word: few words need the expression, and in this rule the end of a text is as a space."""
    words: list[str] = []
    for word in unescape(text).split():
        if word.isalnum():
            words.append(word)
        elif word[-1] in _LAST and word[:-1].isalnum():
            words += word[:-1], word[-1]
        else:
            words += _split_stops("13a", word)
    return words


#: Punctuation that is often the end of a word.
_LAST = frozenset('.,!?:;)"')


def _split_prepared(name: str, text: str) -> list[str]:
    return _split_stops(name, WORD_RULES[name].prepare(text))


def _split_stops(name: str, text: str) -> list[str]:
    """Return the words of a rule with stops, where a run of stops is found as one word and parted here."""
    words, run = _stop_expressions(name)
    runs_joined: list[str] = words.findall(text)
    if run.search(text) is None:
        return runs_joined
    return [part for word in runs_joined for part in (word if run.match(word) else (word,))]


#: How a single text is split, by the names that ``tokenizer`` takes.
SPLITTERS: dict[object, Callable[[str], Sequence[str]]] = {
    None: str.split,
    "none": str.split,
    "13a": _split_13a,
    "char": remove_whitespace,
    "intl": partial(_split_prepared, "intl"),
    "unicode": split_unicode,
    "zh": partial(_split_prepared, "zh"),
}


def has_splitter(tokenizer: object) -> bool:
    """Return whether a tokenizer is a rule of this package, and not an external tokenizer."""
    return tokenizer is None or (isinstance(tokenizer, str) and tokenizer in SPLITTERS)


@cache
def _stop_expressions(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the expression for words and runs of stops of a rule, and the one for a run of several stops."""
    rule = WORD_RULES[name]
    symbol, stop, digit, hyphen = (members.pattern() for members in rule[:4])
    if rule.edge_is_number:
        after, before = f"(?<![^{digit}])", f"(?![^{digit}])"
        after_other = f"(?<=[^{digit}{stop}])"
    else:
        after, before = f"(?<=[{digit}])", f"(?=[{digit}])"
        after_other = f"(?<![{digit}{stop}])"
    other = rf"[^\s{symbol}{stop}{hyphen}]"
    stop = f"[{stop}]"
    inside = f"{after}{stop}{before}" + (f"|(?<![{digit}]){hyphen}" if hyphen else "")
    word = f"(?:{other}+|{inside}|(?<={stop}){stop}{before})(?:{other}+|{inside})*"
    runs = f"(?:{after}{stop}|{after_other}){stop}(?:{stop}{stop})*(?={stop}{before})|{stop}+"
    return re.compile(rf"{word}|(?!\s)[{symbol}{hyphen}]|{runs}"), re.compile(f"{stop}{{2}}")


@cache
def _unicode_expression() -> re.Pattern[str]:
    rule = WORD_RULES["unicode"]
    alone, mark, head = (members.pattern() for members in (rule.symbols, rule.marks, rule.heads))
    letter = rf"[^\W_{alone}{head}]"  # \w has the letters and numbers of all scripts, and the underscore
    return re.compile(
        f"[{alone}]|[{head}][{mark}]*|(?:{letter}|(?<![{mark}])[{mark}]+{letter}){letter}*(?:[{mark}]+{letter}*)*"
    )


#: The code points that may be marks, numbers, punctuation or symbols. The others are ideographs, Hangul syllables,
#: surrogates, unassigned, or for private use.
_SCANNED = (
    range(0x3400),
    range(0x4DC0, 0x4E00),
    range(0xA000, 0xAC00),
    range(0xF900, 0x20000),
    range(0xE0000, 0xE01F0),
)


@cache
def _categories() -> dict[str, str]:
    """Return the characters by the first letters of their general categories, for a class of an expression."""
    classes = dict.fromkeys("MNPS", "")
    for codes in _SCANNED:
        categories = "".join(map(unicodedata.category, map(chr, codes)))[::2]
        for run in re.finditer(r"([MNPS])\1*", categories):
            classes[run[1]] += _class([(codes[run.start()], codes[run.end() - 1])])
    return classes
